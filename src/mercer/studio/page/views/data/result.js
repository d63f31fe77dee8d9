// @ts-check
// The cards of what was learnt: its score, the machine, confusion, rows and bounds.

import { h, numbersList, show, statusBadge } from "../../dom.js";
import { address } from "../../link.js";
import { card, columnHead, quiet, table } from "./cards.js";

const MOST_LABELS = 26; // of a table of confusion

/** @typedef {import("../../link.js").Header} FitRecord see report/record.py */

const percent = (share) => (100 * share).toFixed(1);

/** @param {FitRecord} record */
export function scoreCard({ scores, model, data }) {
  const [what, big, more] = !scores
    ? ["Learnt from", `${data.learnt_from} rows`, ""]
    : scores.accuracy !== undefined
      ? [
          "Accuracy on rows held out",
          `${percent(scores.accuracy)}%`,
          `${scores.correct} of ${scores.rows} right; 95% interval ${percent(scores.interval[0])} to ${percent(scores.interval[1])}%; always the commonest: ${percent(scores.baseline)}%`,
        ]
      : [
          "R² on rows held out",
          show(scores.r2, 3),
          `mean absolute error ${show(scores.mean_absolute_error, 4)}; of always the median: ${show(scores.baseline, 4)}`,
        ];
  const download = (kind, name, file, title) =>
    h(
      "a",
      { class: kind, href: address("/download", { what: name }), download: file, data: { name: `download-${name}` } },
      title,
    );
  return h(
    "section",
    { class: "card span-5" },
    h(
      "div",
      { class: "hero bare" },
      h("div", { class: "what" }, what),
      h("div", { class: "big", data: { number: "score" } }, big),
    ),
    quiet(more),
    h("p", {}, statusBadge(model.status), " ", h("span", { class: "quiet" }, model.meaning)),
    h(
      "div",
      { class: "row downloads" },
      download("primary", "model", "model.mercer", "Model file"),
      download("tool", "report", "report.html", "HTML report"),
    ),
  );
}

/** @param {FitRecord} model */
export const machineWords = ({ steps, estimator }) => [...steps, estimator].join(" → ");

/** @param {FitRecord} record */
export function machineCard({ model, data, seconds, notes }) {
  const { certificate } = model;
  return card(
    7,
    "The machine",
    numbersList([
      ["Machine", machineWords(model)],
      ["Support vectors", `${model.n_support} of ${data.learnt_from}`],
      ["Fit", `${show(seconds.fit, 3)} s`],
      ["Relative gap", certificate ? show(Math.max(0, certificate.relative_gap), 2) : undefined],
      ["KKT violation", certificate ? show(certificate.kkt_violation, 2) : undefined],
    ]),
    h("p", { class: "quiet mono kernel-words", tabindex: "0", "aria-label": "Kernel" }, model.kernel ?? ""),
    notes.map(quiet),
  );
}

/**
 * How often each class was taken for each; null where that cannot be shown.
 * @param {FitRecord} record
 */
export function confusionCard({ scores }) {
  const { labels, counts } = scores?.confusion ?? { labels: [] };
  if (!labels.length || labels.length > MOST_LABELS) return null;
  const most = Math.max(1, ...counts.flat());
  const cell = (count, isRight) => {
    const node = h("td", { class: `num ${isRight ? "right" : count ? "wrong" : ""}` }, String(count));
    node.style.setProperty("--share", `${Math.round((70 * count) / most)}%`);
    return node;
  };
  const rows = counts.map((row, i) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, String(labels[i])),
      row.map((count, j) => cell(count, i === j)),
    ),
  );
  const head = [h("th", {}, "true \\ said"), ...labels.map((label) => columnHead(String(label)))];
  return card(5, "Confusion", h("div", { class: "table-box confusion" }, table(head, rows)));
}

/**
 * @param {FitRecord[]} list
 * @param {FitRecord | null} scores
 * @param {(row: number) => void} explain
 */
export function rowsCard(list, scores, explain) {
  const rows = list.map(({ row, said, truth, item }) =>
    h(
      "tr",
      {
        class: "pick",
        tabindex: "0",
        data: { row: String(row) },
        onclick: () => explain(row),
        onkeydown: (e) => {
          if (e.key !== "Enter" && e.key !== " ") return;
          explain(row);
          e.preventDefault();
        },
      },
      h("td", { class: "num" }, String(row)),
      h("td", {}, said),
      h("td", {}, truth),
      h("td", {}, said === truth ? "✓" : scores?.accuracy === undefined ? "" : "✗"),
      h("td", {}, item),
    ),
  );
  const head = ["row", "said", "true", "right", "what it is"].map(columnHead);
  return card(
    7,
    scores ? "Rows held out, the wrong ones first" : "Rows",
    h("div", { class: "table-box" }, table(head, rows)),
  );
}

/**
 * What theory promises; null if that is nothing.
 * @param {FitRecord} record
 */
export function boundsCard({ bounds }) {
  const telling = bounds.filter((b) => b.applies && b.value !== null && b.value < 1);
  if (!telling.length) return null;
  const words = telling.map((b) => `${b.name}: at most ${show(b.value, 3)}. ${b.says}. ${b.source}.`);
  return card(12, "What theory promises", words.map(quiet));
}
