// @ts-check
import { slider } from "../../controls.js";
import { h, heading, printed, show } from "../../dom.js";
import { stroke } from "../../drawing.js";
import { ask } from "../../link.js";
import { classColour, theme, trace } from "../../palette.js";
import { saveStep } from "../../steps.js";
import { frame, Idea, picture, stillPlane } from "./frame.js";

const TITLES = {
  zero_one: "0-1",
  perceptron: "perceptron",
  hinge: "hinge",
  ramp: "ramp",
  squared_hinge: "squared hinge",
  logistic: "logistic",
};
const COLOURS = { zero_one: null, perceptron: 4, hinge: 0, ramp: 1, squared_hinge: 2, logistic: 3 };
const DASH = {
  zero_one: [],
  perceptron: [6, 2, 2, 2, 2, 2],
  hinge: [],
  ramp: [9, 4],
  squared_hinge: [3, 3],
  logistic: [12, 3, 3, 3],
};

const colourOf = (name, t) => (COLOURS[name] === null ? t.ink : classColour(COLOURS[name]));

// The losses are computed at every hundredth.
const hundredth = (z) => Math.round(100 * Math.max(-2.5, Math.min(3, z))) / 100;

// What a point costs, by how far on the right side it is.
export class LossesIdea extends Idea {
  constructor(host) {
    super("losses", { z: -0.4 });
    const place = slider({
      label: "margin z = y f(x)",
      name: "z",
      min: -2.5,
      max: 3,
      step: 0.01,
      value: hundredth(this.settings.z),
      onchange: (v) => {
        this.settings.z = hundredth(v);
        place.put(this.settings.z);
        this.show();
        saveStep();
      },
    });
    const { body } = frame(host, {
      title: "Losses",
      about:
        "An error costs 1, and nobody can minimise that. The hinge is the least convex function above it, and pays for what is right but close; the ramp stops paying at 1, so one outlier cannot turn the plane, but it is not convex.",
      tools: [place.node],
      layout: "side",
    });
    this.part = picture(body, "");
    this.model = { points: [], window: [-2.5, 3, -0.35, 3.6] };
    this.plane = stillPlane(this.part, this.model, "Losses as functions of the margin");
    this.plane.free = true;
    this.plane.under = (...on) => this.paint(...on);
    this.plane.canvas.addEventListener("pointermove", (e) => {
      const [x] = this.plane.toWorld(...this.plane.at(e));
      this.settings.z = hundredth(x);
      place.put(this.settings.z);
      this.show();
    });
    this.side = h("section", {});
    body.append(h("aside", { class: "panel", tabindex: "0", "aria-label": "Numbers" }, this.side));
    this.drawn = [this.plane];
    ask("losses", {}, (header, arrays) => {
      this.found = { ...header, ...arrays };
      this.show();
    });
  }

  // What the server computed nearest to z.
  at() {
    return Math.round(100 * (hundredth(this.settings.z) - this.found.z[0]));
  }

  show() {
    if (!this.found) return;
    this.plane.draw();
    const n = this.found.z.length,
      k = this.at();
    this.part.foot.replaceChildren(
      `z = ${show(hundredth(this.settings.z))}`,
      h(
        "span",
        {},
        hundredth(this.settings.z) <= 0
          ? "on the wrong side"
          : hundredth(this.settings.z) < 1
            ? "right, but inside the margin"
            : "beyond the margin",
      ),
    );
    this.side.replaceChildren(
      heading("What it costs there"),
      ...this.found.losses.map(([name, formula, convex], i) =>
        h(
          "div",
          { class: "bound" },
          h(
            "div",
            { class: "top" },
            h("b", {}, TITLES[name]),
            h("span", { data: { loss: name } }, show(this.found.curves[i * n + k], 4)),
          ),
          meter(this.found.curves[i * n + k] / 3.6, name),
          h("small", {}, `${printed(formula)}${convex ? "" : " (not convex)"}`),
        ),
      ),
    );
  }

  paint(ctx, plane, t) {
    if (!this.found) return;
    const { z, curves, losses } = this.found,
      n = z.length;
    losses.forEach(([name], i) => {
      ctx.beginPath();
      let last = null;
      for (let k = 0; k < n; k++) {
        const v = curves[i * n + k];
        const jump = name === "zero_one" && last !== null && v !== last;
        ctx[k && !jump ? "lineTo" : "moveTo"](...plane.toScreen(z[k], v));
        last = v;
      }
      ctx.strokeStyle = colourOf(name, t);
      ctx.lineWidth = name === "hinge" || name === "zero_one" ? 3 : 2.2;
      ctx.setLineDash(DASH[name]);
      ctx.stroke();
      ctx.setLineDash([]);
    });
    const k = this.at(),
      [px] = plane.toScreen(z[k], 0);
    ctx.strokeStyle = t.faint;
    ctx.lineWidth = 1.2;
    stroke(ctx, [
      [px, 0],
      [px, plane.size[1]],
    ]);
    losses.forEach(([name], i) => {
      trace(ctx, "circle", ...plane.toScreen(z[k], curves[i * n + k]), 5);
      ctx.fillStyle = colourOf(name, t);
      ctx.fill();
    });
    ctx.font = "600 12.5px system-ui, sans-serif";
    ctx.textAlign = "left";
    const spots = {
      zero_one: [-2.35, 1.08],
      perceptron: [-2.35, 1.72],
      hinge: [-1.55, 2.62],
      ramp: [-1.4, 0.84],
      squared_hinge: [-0.72, 3.1],
      logistic: [-2.35, 2.1],
    };
    losses.forEach(([name]) => {
      const [x, y] = plane.toScreen(...spots[name]);
      ctx.globalAlpha = 0.85;
      ctx.fillStyle = t.plane;
      ctx.fillRect(x - 3, y - 12, ctx.measureText(TITLES[name]).width + 6, 16);
      ctx.globalAlpha = 1;
      ctx.fillStyle = colourOf(name, t);
      ctx.fillText(TITLES[name], x, y);
    });
  }
}

function meter(share, name) {
  const bar = h("i", {});
  bar.style.width = `${Math.min(100, 100 * share)}%`;
  bar.style.background = colourOf(name, theme());
  return h("div", { class: "meter" }, bar);
}
