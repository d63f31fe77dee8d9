import { h, segmented, show } from "../../dom.js";
import { ask } from "../../link.js";
import { classColour, drawMark } from "../../palette.js";
import { Plane } from "../../plane.js";
import { line3, mean, path, Space, text3 } from "../../space.js";
import { complain, frame, picture } from "./frame.js";

// The plane bent into a cone of three dimensions, in which a flat cut is a conic below.
export class LiftPlaneIdea {
  constructor(host) {
    const sets = segmented("Points", [["rings", "Rings"], ["xor", "XOR"]], "rings", (key) => this.load(key));
    const { body } = frame(host, { title: "Lift the plane", about: "The kernel ⟨x, x′⟩² is an inner product of (x₁², √2 x₁x₂, x₂²). In that space the plane is a bent sheet, the machine is a flat cut through it, and what the cut leaves of the sheet is an ellipse, or a hyperbola, below. Turn it.", tools: [h("div", { class: "field" }, sets.node)] });
    this.left = picture(body, "The plane");
    this.right = picture(body, "Feature space; drag to turn");
    this.model = { points: [], window: [-3.2, 3.2, -2.6, 2.6] };
    this.plane = new Plane(this.left.box, this.model, { change: () => this.ask(), choose: (k) => { this.plane.current = k % 2; } }, { label: "Points of the plane" });
    this.space = new Space(this.right.box, { label: "Quadratic feature space", azimuth: 0.75, height: 0.42, zoom: 1.1 });
    this.space.things = (t) => this.things(t);
    this.load("rings");
  }

  load(key) { ask("preset", { key }, (header) => { this.model.points = header.state.points.filter((_, k) => k % 2 === 0); this.ask(); }); }
  ask() { const window = this.plane.view; ask("lift_plane", { points: this.model.points, window }, (header, arrays) => this.answered(header, arrays, window), { sticky: true }); }

  answered(header, arrays, window) {
    if (complain(this.left.notice, header)) return;
    this.found = { ...header, ...arrays };
    const cases = this.model.points.map((_, i) => (header.support.includes(i) ? 1 : 0));
    this.plane.show({ field: arrays.field, grid: header.grid, window, classes: [0, 1], cases });
    this.reach = arrays.features.reduce((m, v) => Math.max(m, Math.abs(v)), 1e-9);
    this.space.draw();
    this.left.foot.replaceChildren(header.hard ? "separated by a conic" : "not separated: soft margin");
    this.right.foot.replaceChildren(h("span", { data: { number: "plane" } }, `cut: ${header.weights.map((v) => show(v, 3)).join(", ")} · ψ + ${show(header.bias, 3)} = 0`), h("span", { class: "spring" }), `margin ${show(header.margin, 4)}`);
  }

  // psi = (a, b, c) with a, c >= 0 up to `reach`; the middle of it becomes the origin.
  scale(p) { const r = this.reach; return [(2 * p[0]) / r - 0.9, (2 * p[2]) / r - 0.9, (1.2 * p[1]) / r]; }

  things(t) {
    if (!this.found) return [];
    const { features, sheet, sheet_grid: [columns, rows], weights: w, bias } = this.found;
    const out = [];
    const at = (array, k) => [array[3 * k], array[3 * k + 1], array[3 * k + 2]];
    const f = (p) => w[0] * p[0] + w[1] * p[1] + w[2] * p[2] + bias;
    const limit = 1.08 * this.reach;
    for (let r = 0; r < rows - 1; r += 1) for (let c = 0; c < columns - 1; c += 1) {
      const corners = [r * columns + c, r * columns + c + 1, (r + 1) * columns + c + 1, (r + 1) * columns + c].map((k) => at(sheet, k));
      if (corners.some((p) => p[0] > limit || p[2] > limit || Math.abs(p[1]) > limit * 1.2)) continue;
      const middle = mean(corners);
      const quad = corners.map((p) => this.scale(p));
      const colour = classColour(f(middle) > 0 ? 1 : 0);
      out.push({ at: mean(quad), draw: (ctx, project) => { path(ctx, quad.map(project)); ctx.closePath(); ctx.fillStyle = colour; ctx.globalAlpha = 0.2; ctx.fill(); ctx.globalAlpha = 0.28; ctx.strokeStyle = colour; ctx.lineWidth = 0.7; ctx.stroke(); } });
    }
    out.push(...this.cut(w, bias, t));
    for (let k = 0; k < features.length / 3; k++) {
      const p = this.scale(at(features, k)), label = this.model.points[k]?.[2] ?? 0, isSupport = this.found.support.includes(k);
      out.push({ at: [p[0], p[1], p[2] + 0.001], draw: (ctx, project) => { const [x, y, near] = project(p); drawMark(ctx, x, y, label, isSupport ? 1 : 0, t, { r: 4.6 + 0.9 * near }); } });
    }
    const o = [-0.9, -0.9, 0];
    out.push(line3(o, [1.25, -0.9, 0], "line", 1.4), line3(o, [-0.9, 1.25, 0], "line", 1.4), line3([-0.9, -0.9, -0.9], [-0.9, -0.9, 0.9], "line", 1.4));
    out.push(text3([1.36, -0.9, 0], "x₁²"), text3([-0.9, 1.36, 0], "x₂²"), text3([-0.9, -0.9, 1.0], "√2 x₁x₂"));
    return out;
  }

  // The part of the cut inside the picture: a patch of a grid over two of the axes.
  cut(w, bias) {
    const main = [0, 1, 2].reduce((best, k) => (Math.abs(w[k]) > Math.abs(w[best]) ? k : best), 0);
    if (!w[main]) return [];
    const others = [0, 1, 2].filter((k) => k !== main), n = 8, patches = [];
    const range = (k) => (k === 1 ? [-this.reach * 0.75, this.reach * 0.75] : [0, this.reach]);
    const inside = (p) => p.every((v, k) => { const [a, b] = range(k); return v >= a - 0.12 * this.reach && v <= b + 0.12 * this.reach; });
    const point = (i, j) => {
      const p = [0, 0, 0];
      others.forEach((k, e) => { const [a, b] = range(k); p[k] = a + ((b - a) * (e ? j : i)) / n; });
      p[main] = -(bias + w[others[0]] * p[others[0]] + w[others[1]] * p[others[1]]) / w[main];
      return p;
    };
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
      const corners = [point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)];
      if (!corners.every(inside)) continue;
      const quad = corners.map((p) => this.scale(p));
      patches.push({ at: mean(quad), draw: (ctx, project, t) => { path(ctx, quad.map(project)); ctx.closePath(); ctx.fillStyle = t.ink; ctx.globalAlpha = 0.16; ctx.fill(); ctx.globalAlpha = 0.35; ctx.strokeStyle = t.ink; ctx.lineWidth = 0.8; ctx.stroke(); } });
    }
    return patches;
  }

  svg() { return this.space.toSvg(); }
  close() { this.plane.close(); this.space.close(); }
}
