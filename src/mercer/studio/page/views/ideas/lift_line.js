// @ts-check
import { h, show } from "../../dom.js";
import { ask } from "../../link.js";
import { classColour } from "../../palette.js";
import { Plane } from "../../plane.js";
import { kept } from "../../state.js";
import { saveStep } from "../../steps.js";
import { complain, frame, picture } from "./frame.js";

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
export class LiftLineIdea {
  constructor(host) {
    this.settings = kept("line", { points: START.map((p) => [...p]) });
    const { body } = frame(host, {
      title: "Lift the line",
      about:
        "No single threshold separates these points of the line. Give each a second coordinate, its square, and a straight line does: its crossings with the parabola are two thresholds. Drag the points, click to add, right-click to delete.",
    });
    this.left = picture(body, "The line");
    this.right = picture(body, "Lifted: (x, x²)");
    this.line = { points: this.settings.points, window: [-3, 3, -2, 2] };
    this.lifted = { points: [], window: [-3, 3, -0.8, 7.5] };
    this.below = new Plane(
      this.left.box,
      this.line,
      {
        change: () => this.ask(),
        choose: (k) => {
          this.below.current = k % 2;
        },
      },
      { label: "Points of a line", words: this.left.words },
    );
    this.below.lock = ([x]) => [Math.max(-2.9, Math.min(2.9, x)), 0];
    this.below.current = 1;
    this.below.axes = false;
    this.below.overlay = (ctx, plane, t, layer) => this.paintLine(ctx, plane, t, layer);
    this.above = new Plane(
      this.right.box,
      this.lifted,
      {},
      { editable: false, label: "The points on the parabola", words: this.right.words },
    );
    this.above.free = true;
    this.above.overlay = (ctx, plane, t, layer) => {
      if (layer === "below") this.paintParabola(ctx, plane, t);
    };
    this.ask();
  }

  ask() {
    ask(
      "lift_line",
      { points: this.line.points, window: [-3, 3, -2, 2] },
      (header, arrays) => this.answered(header, arrays),
      { sticky: true },
    );
    saveStep();
  }

  answered(header, arrays) {
    if (complain(this.left.notice, header)) return;
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

  paintLine(ctx, plane, t, layer) {
    const [w] = plane.size,
      [, py] = plane.toScreen(0, 0);
    if (layer === "below") {
      if (this.found) {
        const { along, values } = this.found,
          n = along.length;
        for (let k = 0; k < n - 1; k++) {
          // The line goes on beyond what was asked for, and so does what is said of it.
          const a = k ? plane.toScreen(along[k], 0)[0] : 0,
            b = k < n - 2 ? plane.toScreen(along[k + 1], 0)[0] : w;
          ctx.fillStyle = classColour(values[k] > 0 ? 1 : 0);
          ctx.globalAlpha = 0.2;
          ctx.fillRect(a, py - 26, b - a + 0.6, 52);
        }
        ctx.globalAlpha = 1;
        ctx.strokeStyle = t.ink;
        ctx.lineWidth = 2.2;
        for (const root of this.found.roots) {
          const [px] = plane.toScreen(root, 0);
          ctx.beginPath();
          ctx.moveTo(px, py - 38);
          ctx.lineTo(px, py + 38);
          ctx.stroke();
        }
      }
      ctx.strokeStyle = t.ink;
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      ctx.moveTo(0, py);
      ctx.lineTo(w, py);
      ctx.stroke();
    }
  }

  paintParabola(ctx, plane, t) {
    ctx.strokeStyle = t.faint;
    ctx.lineWidth = 1.6;
    ctx.beginPath();
    for (let k = 0; k <= 160; k++) {
      const x = -3 + (6 * k) / 160;
      ctx[k ? "lineTo" : "moveTo"](...plane.toScreen(x, x * x));
    }
    ctx.stroke();
    if (!this.found || this.found.weights[1] === 0) return;
    const [w1, w2, b] = this.found.weights;
    const height = (x, level) => (level - b - w1 * x) / w2;
    for (const [level, width, dash] of [
      [0, 2.4, []],
      [1, 1.2, [5, 5]],
      [-1, 1.2, [5, 5]],
    ]) {
      ctx.beginPath();
      ctx.moveTo(...plane.toScreen(-3, height(-3, level)));
      ctx.lineTo(...plane.toScreen(3, height(3, level)));
      ctx.strokeStyle = t.ink;
      ctx.lineWidth = width;
      ctx.setLineDash(dash);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    ctx.setLineDash([2, 4]);
    ctx.strokeStyle = t.accent;
    ctx.lineWidth = 1.4;
    for (const root of this.found.roots) {
      ctx.beginPath();
      ctx.moveTo(...plane.toScreen(root, root * root));
      ctx.lineTo(...plane.toScreen(root, -9));
      ctx.stroke();
    }
    ctx.setLineDash([]);
  }

  svg() {
    return this.above.toSvg();
  }
  close() {
    this.below.close();
    this.above.close();
  }
}
