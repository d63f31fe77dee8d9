// @ts-check
import { blend, shade, strokeContour } from "../../contour.js";
import { complain, h, show } from "../../dom.js";
import { stroke } from "../../drawing.js";
import { classColour, isDark, rgb, trace } from "../../palette.js";
import { Plane } from "../../plane/plane.js";
import { drawStreet, frame, Idea, picture, stillPlane } from "./frame.js";

// Two points, two alphas: the dual is a hill, the box is where one may walk.
export class DualBoxIdea extends Idea {
  constructor(host) {
    super("box", {
      points: [
        [-0.9, 0.5, 0],
        [0.8, 0.7, 1],
      ],
      C: 1,
    });
    const { body } = frame(host, {
      title: "The dual's box",
      about:
        "Two points and no bias: the dual is a hill over (α₁, α₂), and C says how far one may walk. Where the top is inside, both points are on the margin; where the walk ends at a wall, a point is at its bound. The steps are those of the solver.",
      tools: [this.slider("C, the box", "C", 0.05, 5)],
    });
    this.left = picture(body, "The dual over its box");
    this.right = picture(body, "The two points");
    this.model = { points: this.settings.points, window: [-2, 2, -1.6, 1.6] };
    this.box = { points: [], window: [-0.08, 1.25, -0.08, 1.25] };
    this.hill = stillPlane(this.left, this.box, "Field of the dual");
    this.hill.under = (...on) => this.paint(...on);
    this.plane = new Plane(
      this.right.box,
      this.model,
      { change: () => this.ask() },
      { label: "Two points", words: this.right.words },
    );
    this.plane.most = 2;
    this.plane.least = 2;
    this.plane.numbered = true;
    this.plane.under = (...on) => this.paintLine(...on);
    this.drawn = [this.hill, this.plane];
    this.ask();
  }

  ask() {
    this.request("dual_box", { points: this.model.points, C: this.settings.C, window: [-2, 2, -2, 2] });
  }

  answered(header, arrays) {
    if (complain(this.right.notice, header.error)) return;
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
    const high = Math.max(...found.field),
      low = Math.max(Math.min(...found.field), high - 3 * Math.abs(high) - 1),
      depth = high - low;
    if (!this.picture || this.pictureTheme !== t.plane) {
      const [paper, top] = [rgb(t.plane), rgb(classColour(0))];
      const strength = isDark() ? 0.55 : 0.6;
      this.picture = shade(found.field, columns, rows, (v) =>
        blend(paper, top, strength * (Math.max(0, v - low) / (depth || 1)) ** 2),
      );
      this.pictureTheme = t.plane;
    }
    ctx.drawImage(this.picture, x0, y0, x1 - x0, y1 - y0);
    const nodes = { x0, y0: y1, dx: (x1 - x0) / (columns - 1), dy: (y1 - y0) / (rows - 1) };
    ctx.strokeStyle = t.ink;
    ctx.globalAlpha = 0.25;
    ctx.lineWidth = 1;
    for (let k = 1; k < 14; k++) strokeContour(ctx, found.field, found.grid, high - depth * (k / 14) ** 2, nodes);
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
    stroke(
      ctx,
      found.path.map((p) => plane.toScreen(...p)),
    );
    for (const p of found.path) {
      trace(ctx, "circle", ...plane.toScreen(...p), 3);
      ctx.fill();
    }
    trace(ctx, "circle", ...plane.toScreen(...found.alpha), 7);
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
}
