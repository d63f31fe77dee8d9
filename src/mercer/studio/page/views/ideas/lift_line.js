// @ts-check
import { complain, h, show } from "../../dom.js";
import { stroke } from "../../drawing.js";
import { classColour } from "../../palette.js";
import { frame, Idea, picture, stillPlane, twoClassPlane } from "./frame.js";

const START = [
  [-2.4, 0, 1],
  [-1.9, 0, 1],
  [-1.5, 0, 1],
  [-0.8, 0, 0],
  [-0.3, 0, 0],
  [0.2, 0, 0],
  [0.7, 0, 0],
  [1.4, 0, 1],
  [1.8, 0, 1],
  [2.3, 0, 1],
];

// On the line no threshold will do; on the parabola a straight line does.
export class LiftLineIdea extends Idea {
  constructor(host) {
    super("line", { points: START.map((p) => [...p]) });
    const { body } = frame(host, {
      title: "Lift the line",
      about:
        "No single threshold separates these points of the line. Give each a second coordinate, its square, and a straight line does: its crossings with the parabola are two thresholds. Drag the points, click to add, right-click to delete.",
    });
    this.left = picture(body, "The line");
    this.right = picture(body, "Lifted: (x, x²)");
    this.line = { points: this.settings.points, window: [-3, 3, -2, 2] };
    this.lifted = { points: [], window: [-3, 3, -0.8, 7.5] };
    this.below = twoClassPlane(this.left, this.line, "Points of a line", () => this.ask());
    this.below.lock = ([x]) => [Math.max(-2.9, Math.min(2.9, x)), 0];
    this.below.current = 1;
    this.below.axes = false;
    this.below.under = (...on) => this.paintLine(...on);
    this.above = stillPlane(this.right, this.lifted, "The points on the parabola");
    this.above.free = true;
    this.above.under = (...on) => this.paintParabola(...on);
    this.drawn = [this.above, this.below];
    this.ask();
  }

  ask() {
    this.request("lift_line", { points: this.line.points, window: [-3, 3, -2, 2] });
  }

  answered(header, arrays) {
    if (complain(this.left.notice, header.error)) return;
    this.found = { ...header, ...arrays };
    this.lifted.points = this.line.points.map(([x, , k], i) => [x, arrays.lifted[2 * i + 1], k]);
    this.above.answer = {
      cases: this.line.points.map((_, i) => (header.support.includes(i) ? (header.hard ? 1 : 4) : 0)),
    };
    const top = Math.max(4, ...this.lifted.points.map((p) => p[1]));
    this.lifted.window = [-3, 3, -0.12 * top, top * 1.15];
    this.below.draw();
    this.above.draw();
    this.left.foot.replaceChildren(
      `Best single threshold: ${header.flat_errors} error${header.flat_errors === 1 ? "" : "s"}`,
    );
    this.right.foot.replaceChildren(
      h(
        "span",
        { data: { number: "roots" } },
        header.roots.length === 2
          ? `Thresholds at x = ${show(header.roots[0], 3)} and ${show(header.roots[1], 3)}`
          : "One threshold is enough",
      ),
      h("span", { class: "spring" }),
      header.hard ? `margin ${show(header.margin, 4)}` : "cannot be separated: soft margin",
    );
  }

  paintLine(ctx, plane, t) {
    const [w] = plane.size,
      [, py] = plane.toScreen(0, 0);
    const { along, values, roots } = this.found ?? { along: [], values: [], roots: [] };
    const last = along.length - 2;
    ctx.globalAlpha = 0.2;
    for (let k = 0; k <= last; k++) {
      // The line goes on beyond what was asked for, and so does what is said of it.
      const left = k ? plane.toScreen(along[k], 0)[0] : 0,
        right = k < last ? plane.toScreen(along[k + 1], 0)[0] : w;
      ctx.fillStyle = classColour(values[k] > 0 ? 1 : 0);
      ctx.fillRect(left, py - 26, right - left + 0.6, 52);
    }
    ctx.globalAlpha = 1;
    ctx.strokeStyle = t.ink;
    ctx.lineWidth = 2.2;
    for (const root of roots) {
      const [px] = plane.toScreen(root, 0);
      stroke(ctx, [
        [px, py - 38],
        [px, py + 38],
      ]);
    }
    ctx.lineWidth = 1.5;
    stroke(ctx, [
      [0, py],
      [w, py],
    ]);
  }

  paintParabola(ctx, plane, t) {
    ctx.strokeStyle = t.faint;
    ctx.lineWidth = 1.6;
    const xs = Array.from({ length: 161 }, (_, k) => -3 + (6 * k) / 160);
    stroke(
      ctx,
      xs.map((x) => plane.toScreen(x, x * x)),
    );
    if (!this.found || this.found.weights[1] === 0) return;
    const [w1, w2, b] = this.found.weights;
    const height = (x, level) => (level - b - w1 * x) / w2;
    for (const [level, width, dash] of [
      [0, 2.4, []],
      [1, 1.2, [5, 5]],
      [-1, 1.2, [5, 5]],
    ]) {
      ctx.strokeStyle = t.ink;
      ctx.lineWidth = width;
      ctx.setLineDash(dash);
      stroke(
        ctx,
        [-3, 3].map((x) => plane.toScreen(x, height(x, level))),
      );
      ctx.setLineDash([]);
    }
    ctx.setLineDash([2, 4]);
    ctx.strokeStyle = t.accent;
    ctx.lineWidth = 1.4;
    for (const root of this.found.roots) stroke(ctx, [plane.toScreen(root, root * root), plane.toScreen(root, -9)]);
    ctx.setLineDash([]);
  }
}
