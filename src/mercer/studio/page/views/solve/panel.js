// @ts-check
// The state of a solver beside its picture: numbers, curves, and a bar for every point.

import { curves } from "../../curves.js";
import { h, heading, numbersList, section, show } from "../../dom.js";
import { classColour, theme } from "../../palette.js";
import { Bars } from "./bars.js";
import { rowOf } from "./film.js";

/** @typedef {import("./film.js").Film} Film */

export class StatePanel {
  note = h("p", { class: "note", "aria-live": "polite", data: { name: "note" } });
  numbers = h("div", { id: "solve-numbers" });
  chart = h("div", { class: "chart", role: "img", "aria-label": "Curves, not drawn yet" });
  alphas = new Bars(92);
  gradients = new Bars(92);
  chartTitle = heading("Primal and dual");
  gradientTitle = heading("Gradient of the dual");
  node = h(
    "aside",
    { class: "panel", tabindex: "0", "aria-label": "State of the solver" },
    section("This step", this.note, this.numbers),
    h("section", {}, this.chartTitle, this.chart),
    section("Alpha of every point", this.alphas.canvas),
    h("section", {}, this.gradientTitle, this.gradients.canvas),
  );

  /**
   * A new film, or another theme.
   * @param {Film} film
   */
  load(film) {
    const { isPerceptron, steps } = film;
    this.chartTitle.textContent = isPerceptron ? "Loss, updates and their bound" : "Primal and dual";
    this.gradientTitle.textContent = isPerceptron ? "y − f of every point" : "Gradient of the dual";
    const lines = linesOf(film);
    this.plot?.destroy();
    this.plot = curves(this.chart, {
      x: Array.from({ length: steps }, (_, k) => k),
      series: lines.map((line) => line.values),
      names: lines.map((line) => line.name),
      colours: lines.map((line) => line.colour),
      dash: lines.map((line) => line.dash),
      xlabel: "step",
      height: 176,
      most: isPerceptron ? undefined : ceiling(film.dual),
    });
    const words = lines.map(
      ({ name, values }) => `${name}: ${show(values[0])} at first, ${show(values.at(-1))} at the end`,
    );
    this.chart.setAttribute("aria-label", `${words.join("; ")}; ${steps - 1} steps`);
  }

  /**
   * @param {Film} film
   * @param {number} at
   */
  show(film, at) {
    this.note.textContent = film.notes[at] || "–";
    this.numbers.replaceChildren(numbersList(numbersOf(film, at)));
    this.drawBars(film, at);
    this.plot.setCursor({ left: this.plot.valToPos(at, "x"), top: 10 }, false);
    this.plot.setLegend({ idx: at }, false);
  }

  drawBars(film, at) {
    const { C, highestAlpha, steepest, n } = film;
    const labels = film.request.points.map((p) => p[2]),
      working = film.working[at];
    const alpha = rowOf(film, "alpha", at),
      gradient = rowOf(film, "gradient", at);
    const box = C && highestAlpha <= 1.5 * C ? C : null;
    this.alphas.draw({
      values: alpha,
      labels,
      low: 0,
      high: box ? Math.max(box * 1.08, highestAlpha) : highestAlpha * 1.08,
      working,
      lines: box ? [[box, "C"]] : [],
      label: `Alpha of every point: ${alpha.filter((a) => a > 0).length} of ${n} above 0, the largest ${show(Math.max(...alpha))}`,
    });
    this.gradients.draw({
      values: gradient,
      labels,
      low: -steepest,
      high: steepest,
      working,
      lines: ["perceptron", "pegasos"].includes(film.solver) ? [[0, "0"]] : [[film.bias[at], "b"]],
      label: `Gradient of every point: from ${show(Math.min(...gradient))} to ${show(Math.max(...gradient))}`,
    });
  }

  close() {
    this.plot?.destroy();
  }
}

/** @type {(film: Film, at: number) => any[][]} */
function numbersOf({ isPerceptron, updates, bias, primal, dual, bound, steps, finished }, at) {
  const own = isPerceptron
    ? [
        ["Bound (ρ/γ)²", bound === null ? "not separable" : show(bound, 4), "bound"],
        ["Loss of mistakes", show(primal[at]), "primal"],
      ]
    : [
        ["Primal", show(primal[at], 6), "primal"],
        ["Dual", show(dual[at], 6), "dual"],
        ["Gap", show(primal[at] - dual[at], 3), "gap"],
      ];
  return [
    ["Coefficient changes", String(updates[at]), "updates"],
    ["Bias b", show(bias[at]), "bias"],
    ...own,
    ["", at < steps - 1 ? undefined : finished ? "solved" : "more steps than shown", "end"],
  ];
}

/** @type {(film: Film) => { name: string, values: any, colour: string, dash?: number[] }[]} */
function linesOf({ isPerceptron, primal, dual, updates, bound, steps }) {
  const finite = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : null));
  const first = { name: isPerceptron ? "loss" : "primal", values: finite(primal), colour: classColour(4) };
  if (!isPerceptron) return [first, { name: "dual", values: finite(dual), colour: classColour(0) }];
  const limit = { name: "(ρ/γ)²", values: Array(steps).fill(bound), colour: theme().faint, dash: [5, 5] };
  return [first, { name: "updates", values: updates, colour: classColour(0) }, ...(bound === null ? [] : [limit])];
}

// Early primal values may be thousands of times the optimum; the eye wants to see the curves close, so the axis ends
// here. The values themselves stay what they are, in the legend as in the table.
function ceiling(dual) {
  const last = dual.at(-1) ?? 0;
  return last + Math.max(Math.abs(last) * 6, 1e-9);
}
