// @ts-check
// What was learnt, in numbers and in words.

import { h, heading, numbersList, show, statusBadge, statusWords } from "../../dom.js";
import { icon } from "../../drawing.js";
import { CASES, drawMark, theme } from "../../palette.js";
import { KERNELS, METHODS } from "../choices.js";
import { hasSupport, standing } from "./standing.js";

/**
 * @typedef {import("../../link.js").Header} Header
 * @typedef {import("../choices.js").Scene} Scene
 */

/** @param {number} n */
export const counted = (n) => `${n} point${n === 1 ? "" : "s"}`;

export class Results {
  hero = h("section", { class: "hero" });
  status = h("section", {});
  legend = h("section", {});
  list = h("section", {});
  node = h(
    "aside",
    { class: "panel", tabindex: "0", "aria-label": "Results" },
    this.hero,
    this.status,
    this.legend,
    this.list,
  );

  /** That there is no model. */
  fail() {
    this.hero.replaceChildren(...largest("Nothing to show", "–"));
    this.status.replaceChildren(h("span", { class: "status", data: { kind: "bad" } }, "No model"));
    this.legend.replaceChildren();
    this.list.replaceChildren();
  }

  /**
   * @param {Header} header
   * @param {Scene} request
   */
  show(header, request) {
    const first = mostTelling(header);
    this.hero.replaceChildren(...largest(...first));
    this.status.replaceChildren(statusBadge(header.status), h("p", { class: "quiet" }, header.meaning));
    this.legend.replaceChildren(...legend(header, request));
    this.list.replaceChildren(
      heading("Numbers"),
      numbersList(numbers(header, request).filter(([, , key]) => key !== first[2])),
      header.numbers.gap === undefined
        ? ""
        : h("p", { class: "quiet" }, "dual ≤ optimum ≤ primal: the gap is the proof."),
    );
  }
}

const largest = (name, value, number = "") => [
  h("div", { class: "what" }, name),
  h("div", { class: "big", data: number ? { number } : {} }, value),
];

/** @type {(header: Header) => [string, string, string]} the number shown above all others: name, value, key */
function mostTelling({ kind, numbers: n }) {
  if (n.margin !== undefined && n.margin !== null) return ["Margin  1/|w|", show(n.margin, 5), "margin"];
  if (kind === "curve") return ["Root mean square error", show(n.error_rms, 4), "error_rms"];
  if (kind === "region") return ["Points outside", String(n.outside), "outside"];
  return ["Training errors", `${n.training_errors}`, "training_errors"];
}

/** @type {(header: Header, request: Scene) => any[][]} */
function numbers({ kind, numbers: n }, { method }) {
  const row = (name, key, word) => [name, n[key] === undefined ? undefined : word(n[key]), key];
  const digits = (count) => (value) => show(value, count);
  const isCounted = hasSupport(method) && !(n.support === 0 && kind === "region");
  return [
    ...(isCounted ? [row("Support vectors", "support", String)] : []),
    row("Training errors", "training_errors", String),
    row("Updates", "updates", String),
    row("Norm |w|", "norm", digits(5)),
    row("Bias b", "bias", digits(4)),
    row("Primal", "primal", digits(6)),
    row("Dual", "dual", digits(6)),
    row("Gap", "gap", (gap) => show(Math.max(0, gap), 2)),
  ];
}

/** @type {(header: Header, request: Scene) => HTMLElement[]} how many points stand how, in the words of KKT */
function legend({ kind, cases }, { method }) {
  if (!hasSupport(method)) return [];
  const counts = CASES.map((_, kase) => cases.filter((c) => c === kase).length);
  const t = theme();
  const items = counts.map((count, kase) => {
    if (!count) return null;
    const mark = icon(24, 22, (ctx) => drawMark(ctx, 12, 11, 0, kase, t, { r: 4 }));
    return h("li", { data: { case: CASES[kase][0] } }, mark, standing(kind, kase), h("b", {}, String(count)));
  });
  return [heading("How points stand (KKT)"), h("ul", { class: "legend" }, items)];
}

/**
 * The picture in a sentence, for those who cannot see it.
 * @param {Header} header
 * @param {Scene} request
 */
export function described({ kind, status, numbers: n }, { method, kernel, points }) {
  const titled = (options, key) => (options.find(([name]) => name === key) ?? ["", key])[1];
  const classes = new Set(points.map((p) => p[2])).size;
  const parts = [
    kind === "classes" ? `${counted(points.length)} of ${classes} classes` : counted(points.length),
    `${titled(METHODS, method)}, ${titled(KERNELS, kernel).split("  ")[0].toLowerCase()} kernel: ${statusWords(status)}`,
    n.support ? `${n.support} support vectors` : null,
    n.margin ? `margin ${show(n.margin, 4)}` : null,
    n.training_errors === undefined ? null : `${n.training_errors} training errors`,
    n.outside === undefined ? null : `${n.outside} points outside of the region`,
    n.error_rms === undefined ? null : `root mean square error ${show(n.error_rms, 4)}`,
  ];
  return `${parts.filter(Boolean).join("; ")}.`;
}
