// @ts-check
import { blend, contour, shade } from "../../contour.js";
import { h, show, slider } from "../../dom.js";
import { ask } from "../../link.js";
import { classColour, isDark, rgb } from "../../palette.js";
import { Plane } from "../../plane.js";
import { kept } from "../../state.js";
import { saveStep } from "../../steps.js";
import { complain, drawStreet, frame, picture } from "./frame.js";

// Two points, two alphas: the dual is a hill, the box is where one may walk.
export class DualBoxIdea {
  constructor(host) {
    this.settings = kept("box", {
      points: [
        [-0.9, 0.5, 0],
        [0.8, 0.7, 1],
      ],
      C: 1,
    });
    const price = slider({
      label: "C, the box",
      name: "C",
      min: 0.05,
      max: 5,
      value: this.settings.C,
      log: true,
      onchange: (v) => {
        this.settings.C = v;
        this.ask();
      },
    });
    const { body } = frame(host, {
      title: "The dual's box",
      about:
        "Two points and no bias: the dual is a hill over (α₁, α₂), and C says how far one may walk. Where the top is inside, both points are on the margin; where the walk ends at a wall, a point is at its bound. The steps are those of the solver.",
      tools: [price.node],
    });
    this.left = picture(body, "The dual over its box");
    this.right = picture(body, "The two points");
    this.model = { points: this.settings.points, window: [-2, 2, -1.6, 1.6] };
    this.box = { points: [], window: [-0.08, 1.25, -0.08, 1.25] };
    this.hill = new Plane(
      this.left.box,
      this.box,
      {},
      { editable: false, label: "Field of the dual", words: this.left.words },
    );
    this.hill.overlay = (ctx, plane, t, layer) => {
      if (layer === "below") this.paint(ctx, plane, t);
    };
    this.plane = new Plane(
      this.right.box,
      this.model,
      { change: () => this.ask() },
      { label: "Two points", words: this.right.words },
    );
    this.plane.most = 2;
    this.plane.least = 2;
    this.plane.numbered = true;
    this.plane.overlay = (ctx, plane, t, layer) => {
      if (layer === "below") this.paintLine(ctx, plane, t);
    };
    this.ask();
  }

  ask() {
    ask(
      "dual_box",
      { points: this.model.points, C: this.settings.C, window: [-2, 2, -2, 2] },
      (header, arrays) => this.answered(header, arrays),
      { sticky: true },
    );
    saveStep();
  }

  answered(header, arrays) {
    if (complain(this.right.notice, header)) return;
    this.found = { ...header, ...arrays };
    const r = header.reach;
    this.box.window = [-0.07 * r, 1.03 * r, -0.07 * r, 1.03 * r];
    this.picture = null;
    this.plane.answer = { cases: header.where.map((w) => (w === "at 0" ? 0 : w === "free" ? 1 : 2)) };
    this.hill.draw();
    this.plane.draw();
    this.left.foot.replaceChildren(
      h("span", { data: { number: "alpha" } }, `α = (${header.alpha.map((v) => show(v, 4)).join(", ")})`),
      h("span", {}, header.where.map((w, k) => `α${"₁₂"[k]} ${w}`).join(", ")),
      h("span", { class: "spring" }),
      `${header.path.length - 1} steps`,
    );
    this.right.foot.replaceChildren(`primal ${show(header.primal, 5)}`, h("span", {}, `dual ${show(header.dual, 5)}`));
  }

  paint(ctx, plane, t) {
    const found = this.found;
    if (!found) return;
    const [columns, rows] = found.grid,
      [x0, y1] = plane.toScreen(0, 0),
      [x1, y0] = plane.toScreen(found.reach, found.reach);
    const low = Math.min(...found.field),
      high = Math.max(...found.field);
    if (!this.picture || this.pictureTheme !== t.plane) {
      const [paper, top] = [rgb(t.plane), rgb(classColour(0))];
      this.picture = shade(found.field, columns, rows, (v) =>
        blend(
          paper,
          top,
          (isDark() ? 0.55 : 0.6) *
            (Math.max(0, v - Math.max(low, high - 3 * Math.abs(high) - 1)) /
              (high - Math.max(low, high - 3 * Math.abs(high) - 1) || 1)) **
              2,
        ),
      );
      this.pictureTheme = t.plane;
    }
    ctx.drawImage(this.picture, x0, y0, x1 - x0, y1 - y0);
    const sx = (x1 - x0) / (columns - 1),
      sy = (y1 - y0) / (rows - 1);
    ctx.strokeStyle = t.ink;
    for (let k = 1; k < 14; k++) {
      const level = high - (high - Math.max(low, high - 3 * Math.abs(high) - 1)) * (k / 14) ** 2;
      ctx.globalAlpha = 0.25;
      ctx.lineWidth = 1;
      ctx.beginPath();
      contour(found.field, columns, rows, level, (points) =>
        points.forEach(([c, r], i) => ctx[i ? "lineTo" : "moveTo"](x0 + c * sx, y1 - r * sy)),
      );
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
    const [bx, by] = plane.toScreen(found.C, found.C);
    ctx.fillStyle = t.plane;
    ctx.globalAlpha = 0.6;
    ctx.fillRect(bx, y0 - 20, x1 - bx + 20, y1 - y0 + 20);
    ctx.fillRect(x0, y0 - 20, bx - x0, by - y0 + 20);
    ctx.globalAlpha = 1;
    ctx.lineWidth = 2.2;
    ctx.strokeRect(x0, by, bx - x0, y1 - by);
    ctx.font = "600 13px system-ui, sans-serif";
    ctx.fillStyle = t.ink;
    ctx.textAlign = "center";
    ctx.fillText("C", bx, y1 + 17);
    ctx.fillText("C", x0 - 13, by + 4);
    ctx.fillText("α₁", (x0 + bx) / 2, y1 + 17);
    ctx.fillText("α₂", x0 - 15, (y1 + by) / 2);
    ctx.strokeStyle = ctx.fillStyle = t.accent;
    ctx.lineWidth = 2.4;
    ctx.beginPath();
    found.path.forEach((p, i) => ctx[i ? "lineTo" : "moveTo"](...plane.toScreen(...p)));
    ctx.stroke();
    for (const p of found.path) {
      const [px, py] = plane.toScreen(...p);
      ctx.beginPath();
      ctx.arc(px, py, 3, 0, 7);
      ctx.fill();
    }
    const [px, py] = plane.toScreen(...found.alpha);
    ctx.beginPath();
    ctx.arc(px, py, 7, 0, 7);
    ctx.fillStyle = t.bad;
    ctx.fill();
    ctx.strokeStyle = t.plane;
    ctx.stroke();
  }

  paintLine(ctx, plane, t) {
    if (!this.found) return;
    const weights = this.found.weights;
    if (Math.hypot(...weights)) drawStreet(ctx, plane, weights, 0, t.ink);
  }

  svg() {
    return this.hill.toSvg();
  }
  close() {
    this.hill.close();
    this.plane.close();
  }
}
