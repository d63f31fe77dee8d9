// @ts-check
import { complain, h, heading, numbersList, printed, show } from "../../dom.js";
import { ask } from "../../link.js";
import { frame, Idea, picture, twoClassPlane } from "./frame.js";

// What theory promises for a machine on these points, while they move.
export class BoundsIdea extends Idea {
  constructor(host) {
    super("bounds", { points: [], C: 1, gamma: 0.5 });
    const { body } = frame(host, {
      title: "Bounds",
      about:
        "Each number bounds an error: of new points, or when one is left out. A bound of 1 or more says nothing, and says so. Drag points, and watch which bounds notice.",
      tools: [this.slider("C, price of errors", "C", 1e-3, 1e4), this.slider("γ of the Gaussian", "gamma", 1e-2, 1e2)],
      layout: "side",
    });
    this.part = picture(body, "");
    this.model = { points: this.settings.points, window: [-4, 4, -3, 3] };
    this.plane = twoClassPlane(this.part, this.model, "Points of two classes", () => this.ask());
    this.side = h("section", {});
    this.measured = h("section", {});
    body.append(h("aside", { class: "panel", tabindex: "0", "aria-label": "Numbers" }, this.side, this.measured));
    this.drawn = [this.plane];
    if (this.model.points.length) this.ask();
    else
      ask("preset", { key: "rings" }, (header) => {
        this.settings.points = this.model.points = header.state.points;
        this.ask();
      });
  }

  ask() {
    this.request("bounds", { ...this.settings, window: this.plane.view, kernel: "rbf", bias: "penalized" });
  }

  answered(header, arrays, { window }) {
    if (complain(this.part.notice, header.error)) return;
    const cases = this.model.points.map((_, i) => (header.support.includes(i) ? 4 : 0));
    this.plane.show({ field: arrays.field, grid: header.grid, window, classes: [0, 1], cases });
    this.side.replaceChildren(heading("Bounds on the error"), ...header.findings.map((found) => this.bound(found)));
    this.measured.replaceChildren(
      heading("Measured"),
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
}
