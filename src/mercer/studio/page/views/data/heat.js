// @ts-check
// The scores of a search, for each kernel and C.

import { h, show } from "../../dom.js";

/**
 * @param {Record<string, any>} heat kernels, Cs, and what is the best of them so far; see views/tuning.py
 * @param {ArrayLike<number>} scores kernel by kernel; what is not finite was not tried yet
 * @param {ArrayLike<number>} rows on which each was judged
 */
export function heatMap(heat, scores, rows) {
  const columns = heat.Cs.length,
    finite = Array.from(scores).filter(Number.isFinite),
    low = Math.min(...finite),
    high = Math.max(...finite);
  const [best, bestRow, bestColumn] = heat.best;
  const head = (text, title) => h("span", { class: "heat-head", title }, text);
  const cell = (r, c) => {
    const score = scores[r * columns + c],
      judges = rows[r * columns + c];
    if (!Number.isFinite(score)) return h("span", { class: "heat-cell", title: "not tried yet" });
    const isBest = r === bestRow && c === bestColumn,
      isEarly = judges < heat.rows;
    const words = `${heat.score} ${show(score, 4)} with C = ${show(heat.Cs[c], 3)}, ${heat.kernels[r]}`;
    const node = h(
      "span",
      {
        class: `heat-cell${isBest ? " best" : ""}${isEarly ? " early" : ""}`,
        title: isEarly ? `${words}; judged on ${judges} rows only, then given up` : words,
      },
      show(score, 3),
    );
    node.style.setProperty("--share", `${Math.round(8 + 62 * ((score - low) / (high - low || 1)) ** 2)}%`);
    return node;
  };
  const grid = h(
    "div",
    { class: "heat", role: "img", "aria-label": `Heat map of the ${heat.score}; best ${show(best, 4)}` },
    head("kernel \\ C"),
    heat.Cs.map((C) => head(show(C, 2))),
    heat.kernels.flatMap((kernel, r) => [head(kernel, kernel), ...heat.Cs.map((_, c) => cell(r, c))]),
  );
  grid.style.gridTemplateColumns = `minmax(72px, 180px) repeat(${columns}, minmax(0, 1fr))`;
  return grid;
}
