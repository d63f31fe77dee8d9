// @ts-check
import { segmented } from "../../controls.js";
import { complain, h, show } from "../../dom.js";
import { polygon } from "../../drawing.js";
import { ask } from "../../link.js";
import { classColour, drawMark } from "../../palette.js";
import { line3, mean, Space, text3 } from "../../space.js";
import { frame, Idea, picture, twoClassPlane } from "./frame.js";

// The plane bent into a cone of three dimensions, in which a flat cut is a conic below.
export class LiftPlaneIdea extends Idea {
  constructor(host) {
    super("plane", { points: [] });
    const sets = segmented(
      "Points",
      [
        ["rings", "Rings"],
        ["xor", "XOR"],
      ],
      "rings",
      (key) => this.load(key),
    );
    const { body } = frame(host, {
      title: "Lift the plane",
      about:
        "The kernel ⟨x, x′⟩² is an inner product of (x₁², √2 x₁x₂, x₂²). In that space the plane is a bent sheet, the machine is a flat cut through it, and what the cut leaves of the sheet is an ellipse, or a hyperbola, below. Turn it.",
      tools: [h("div", { class: "field" }, sets.node)],
    });
    this.left = picture(body, "The plane");
    this.right = picture(body, "Feature space; drag to turn");
    this.model = { points: this.settings.points, window: [-3.2, 3.2, -2.6, 2.6] };
    this.plane = twoClassPlane(this.left, this.model, "Points of the plane", () => this.ask());
    this.space = new Space(this.right.box, {
      label: "Quadratic feature space",
      words: this.right.words,
      azimuth: 0.5,
      height: 0.3,
      zoom: 1.15,
    });
    this.space.things = (t) => this.things(t);
    this.drawn = [this.space, this.plane];
    if (this.model.points.length) this.ask();
    else this.load("rings");
  }

  load(key) {
    ask("preset", { key }, (header) => {
      this.settings.points = this.model.points = header.state.points.filter((_, k) => k % 2 === 0);
      this.ask();
    });
  }

  ask() {
    this.request("lift_plane", { points: this.model.points, window: this.plane.view });
  }

  answered(header, arrays, { window }) {
    if (complain(this.left.notice, header.error)) return;
    this.found = { ...header, ...arrays };
    const cases = this.model.points.map((_, i) => (header.support.includes(i) ? 1 : 0));
    this.plane.show({ field: arrays.field, grid: header.grid, window, classes: [0, 1], cases });
    this.reach = 0.82 * arrays.features.reduce((m, v) => Math.max(m, Math.abs(v)), 1e-9);
    this.space.draw();
    this.left.foot.replaceChildren(header.hard ? "separated by a conic" : "not separated: soft margin");
    this.right.foot.replaceChildren(
      h(
        "span",
        { data: { number: "plane" } },
        `cut: ${header.weights.map((v) => show(v, 3)).join(", ")} · ψ + ${show(header.bias, 3)} = 0`,
      ),
      h("span", { class: "spring" }),
      `margin ${show(header.margin, 4)}`,
    );
  }

  // The sheet is a cone around the axis of (1, 0, 1): that axis is drawn upwards. Only the camera is
  // turned by this; lengths and angles are those of the feature space.
  /** @param {number[]} point */
  scale([a, b, c]) {
    const r = this.reach;
    return [((a - c) * Math.SQRT1_2) / r, b / r, ((a + c) * Math.SQRT1_2) / r - 0.62];
  }

  things(t) {
    if (!this.found) return [];
    const {
      features,
      sheet,
      sheet_grid: [columns, rows],
      weights: w,
      bias,
    } = this.found;
    const out = [];
    const at = (array, k) => [array[3 * k], array[3 * k + 1], array[3 * k + 2]];
    const f = (p) => w[0] * p[0] + w[1] * p[1] + w[2] * p[2] + bias;
    for (let r = 0; r < rows - 1; r += 1)
      for (let c = 0; c < columns - 1; c += 1) {
        const corners = [r * columns + c, r * columns + c + 1, (r + 1) * columns + c + 1, (r + 1) * columns + c].map(
          (k) => at(sheet, k),
        );
        const quad = corners.map((p) => this.scale(p)),
          colour = classColour(f(mean(corners)) > 0 ? 1 : 0);
        out.push({
          at: mean(quad),
          draw: (ctx, project) => polygon(ctx, quad.map(project), colour, 0.17, 0.3, 0.7),
        });
      }
    out.push(...this.cut(w, bias));
    for (let k = 0; k < features.length / 3; k++) {
      const p = this.scale(at(features, k)),
        label = this.model.points[k]?.[2] ?? 0,
        isSupport = this.found.support.includes(k);
      out.push({
        at: [p[0], p[1], p[2] + 0.001],
        draw: (ctx, project) => {
          const [x, y, near] = project(p);
          drawMark(ctx, x, y, label, isSupport ? 1 : 0, t, { r: 4.6 + 0.9 * near });
        },
      });
    }
    const r = this.reach,
      apex = this.scale([0, 0, 0]);
    for (const { end, words } of [
      { end: [1.12 * r, 0, 0], words: "x₁²" },
      { end: [0, 0, 1.12 * r], words: "x₂²" },
      { end: [0, 1.12 * r, 0], words: "√2 x₁x₂" },
    ]) {
      out.push(line3(apex, this.scale(end), "faint", 1.6), text3(this.scale(end.map((v) => 1.07 * v)), words));
    }
    return out;
  }

  // The part of the cut that the cone reaches: patches over the two axes that it is least steep against.
  cut(w, bias) {
    const turned = [(w[0] - w[2]) * Math.SQRT1_2, w[1], (w[0] + w[2]) * Math.SQRT1_2];
    const main = [0, 1, 2].reduce((best, k) => (Math.abs(turned[k]) > Math.abs(turned[best]) ? k : best), 0);
    if (!turned[main]) return [];
    const others = [0, 1, 2].filter((k) => k !== main),
      n = 14,
      r = this.reach,
      patches = [];
    const range = (k) => (k === 2 ? [0, 1.5 * r] : [-r, r]);
    const isNear = (p) =>
      p[2] >= -0.05 * r && p[2] <= 1.55 * r && Math.hypot(p[0], p[1]) <= Math.max(0.42 * r, 1.12 * p[2]);
    const point = (i, j) => {
      const p = [0, 0, 0];
      others.forEach((k, e) => {
        const [a, b] = range(k);
        p[k] = a + ((b - a) * (e ? j : i)) / n;
      });
      p[main] = -(bias + turned[others[0]] * p[others[0]] + turned[others[1]] * p[others[1]]) / turned[main];
      return p;
    };
    const put = (p) => [p[0] / r, p[1] / r, p[2] / r - 0.62];
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        const corners = [point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)];
        if (!corners.some(isNear)) continue;
        const quad = corners.map(put);
        patches.push({
          at: mean(quad),
          draw: (ctx, project, t) => polygon(ctx, quad.map(project), t.ink, 0.13, 0.3, 0.7),
        });
      }
    return patches;
  }
}
