// @ts-check
import { h, numbersList, printed, show, slider } from "../../dom.js";
import { ask } from "../../link.js";
import { Plane } from "../../plane.js";
import { kept } from "../../state.js";
import { saveStep } from "../../steps.js";
import { complain, frame, picture } from "./frame.js";

// What theory promises for a machine on these points, while they move.
export class BoundsIdea {
  constructor(host) {
    this.settings = kept("bounds", { points: [], C: 1, gamma: 0.5 });
    const price = slider({
      label: "C, price of errors",
      name: "C",
      min: 1e-3,
      max: 1e4,
      value: this.settings.C,
      log: true,
      onchange: (v) => {
        this.settings.C = v;
        this.ask();
      },
    });
    const local = slider({
      label: "γ of the Gaussian",
      name: "gamma",
      min: 1e-2,
      max: 1e2,
      value: this.settings.gamma,
      log: true,
      onchange: (v) => {
        this.settings.gamma = v;
        this.ask();
      },
    });
    const { body } = frame(host, {
      title: "Bounds",
      about:
        "Each number bounds an error: of new points, or when one is left out. A bound of 1 or more says nothing, and says so. Drag points, and watch which bounds notice.",
      tools: [price.node, local.node],
      layout: "side",
    });
    this.part = picture(body, "");
    this.model = { points: this.settings.points, window: [-4, 4, -3, 3] };
    this.plane = new Plane(
      this.part.box,
      this.model,
      {
        change: () => this.ask(),
        choose: (k) => {
          this.plane.current = k % 2;
        },
      },
      { label: "Points of two classes", words: this.part.words },
    );
    this.side = h("section", {});
    this.measured = h("section", {});
    body.append(h("aside", { class: "panel", tabindex: "0", "aria-label": "Numbers" }, this.side, this.measured));
    if (this.model.points.length) this.ask();
    else
      ask("preset", { key: "rings" }, (header) => {
        this.settings.points = this.model.points = header.state.points;
        this.ask();
      });
  }

  ask() {
    const window = this.plane.view;
    ask(
      "bounds",
      { ...this.settings, window, kernel: "rbf", bias: "penalized" },
      (header, arrays) => this.answered(header, arrays, window),
      { sticky: true },
    );
    saveStep();
  }

  answered(header, arrays, window) {
    if (complain(this.part.notice, header)) return;
    const cases = this.model.points.map((_, i) => (header.support.includes(i) ? 4 : 0));
    this.plane.show({ field: arrays.field, grid: header.grid, window, classes: [0, 1], cases });
    this.side.replaceChildren(
      h("h2", { class: "heading" }, "Bounds on the error"),
      ...header.findings.map((found) => this.bound(found)),
    );
    this.measured.replaceChildren(
      h("h2", { class: "heading" }, "Measured"),
      numbersList([
        ["Points m", String(header.m)],
        ["Norm |w|", show(header.norm, 4)],
        ["Largest norm ρ", show(header.rho, 4)],
        ["ρ²|w|²", show(header.rho ** 2 * header.norm ** 2, 4)],
        ["Smallest ball R", show(header.ball_radius, 4)],
        ["Mean hinge loss", show(header.hinge, 4)],
        ["Training error", show(header.training_error, 4)],
      ]),
    );
    this.part.foot.replaceChildren(
      `Soft-SVM with a penalised bias, ${header.support.length} support vectors of ${header.m} points`,
    );
  }

  bound(found) {
    const kind = !found.applies ? "not" : found.value >= 1 ? "vacuous" : "holds";
    const bar = h("i", {});
    bar.style.width = `${found.value === null ? 0 : Math.min(100, 100 * found.value)}%`;
    const words =
      kind === "not"
        ? `does not apply: ${found.unmet.join("; ")}`
        : kind === "vacuous"
          ? `says nothing: ${found.says}`
          : found.says;
    return h(
      "div",
      { class: "bound", data: { bound: found.key, kind } },
      h("div", { class: "top" }, h("b", {}, printed(found.name)), h("span", {}, show(found.value, 3))),
      h("div", { class: "meter", data: { kind } }, bar),
      h("small", {}, printed(words)),
      found.source ? h("small", { class: "source" }, found.source) : null,
    );
  }

  svg() {
    return this.plane.toSvg();
  }
  close() {
    this.plane.close();
  }
}
