// @ts-check
import { complain, h, show } from "../../dom.js";
import { path, polygon } from "../../drawing.js";
import { classColour, trace } from "../../palette.js";
import { mean, Space, text3 } from "../../space.js";
import { drawLine, frame, Idea, picture, twoClassPlane } from "./frame.js";

const MARKS = { "ball centre": ["circle", 4], "analytic centre": ["triangle", 2], "centre of mass": ["diamond", 3] };

// Every line that classifies the points correctly is a point of the sphere; three points leave a triangle.
export class VersionSpaceIdea extends Idea {
  constructor(host) {
    super("version", {
      points: [
        [-1.1, 0.7, 0],
        [0.9, 1.1, 1],
        [0.5, -1.2, 1],
      ],
    });
    const { body } = frame(host, {
      title: "Version space",
      about:
        "A line of the plane is (w₁, w₂, b), a direction in space, a point of the sphere. Each labelled point forbids half of it. What three points leave is a triangle: every point of it classifies them correctly. Its centres are the better bets: of the largest ball (the margin), of the product of distances, and of mass (the Bayes point).",
    });
    this.left = picture(body, "Lines that the centres stand for");
    this.right = picture(body, "The sphere of all lines; drag to turn");
    this.model = { points: this.settings.points, window: [-2.6, 2.6, -2, 2] };
    this.plane = twoClassPlane(this.left, this.model, "Labelled points", () => this.ask());
    this.plane.numbered = true;
    this.plane.most = 12;
    this.plane.least = 3;
    this.plane.under = (ctx, plane) => this.paintLines(ctx, plane);
    this.space = new Space(this.right.box, { label: "Sphere of weight vectors", words: this.right.words, zoom: 1.22 });
    this.space.things = () => this.things();
    this.drawn = [this.space, this.plane];
    this.ask();
  }

  ask() {
    this.request("version_space", { points: this.model.points, window: this.plane.view });
  }

  answered(header, arrays) {
    if (complain(this.left.notice, header.error)) {
      this.found = null;
      this.space.draw();
      this.plane.draw();
      return;
    }
    const first = !this.found;
    this.found = { ...header, ...arrays };
    if (first) {
      // begin with the triangle in front
      const [x, y, z] = header.centres["centre of mass"];
      this.space.azimuth = Math.atan2(x, -y) + 0.3;
      this.space.height = Math.max(-1.2, Math.min(1.2, Math.asin(z) + 0.2));
    }
    this.space.draw();
    this.plane.draw();
    this.left.foot.replaceChildren(
      ...Object.keys(MARKS).map((name) =>
        h("span", {}, `${{ circle: "●", triangle: "▲", diamond: "◆" }[MARKS[name][0]]} ${name}`),
      ),
    );
    this.right.foot.replaceChildren(
      h("span", { data: { number: "area" } }, `${show(100 * header.area, 3)}% of the sphere`),
      h("span", {}, `${header.corners} corners`),
      h("span", { class: "spring" }),
      `radius of the ball ${show(header.radius, 4)}`,
    );
  }

  /** @returns {import("../../space.js").Thing[]} */
  things() {
    const found = this.found;
    const rim = Array.from({ length: 97 }, (_, k) => [Math.cos((k * Math.PI) / 48), Math.sin((k * Math.PI) / 48)]);
    /** @type {import("../../space.js").Thing[]} */
    const out = [
      {
        layer: -9,
        at: [0, 0, 0],
        draw: (ctx, project, t) => {
          const [cx, cy] = project([0, 0, 0]);
          const r = 0.36 * Math.min(this.right.box.clientWidth, this.right.box.clientHeight) * this.space.zoom;
          path(
            ctx,
            rim.map(([a, b]) => [cx + r * a, cy + r * b]),
          );
          ctx.fillStyle = t.ink;
          ctx.globalAlpha = 0.05;
          ctx.fill();
          ctx.globalAlpha = 0.5;
          ctx.strokeStyle = t.line;
          ctx.stroke();
        },
      },
    ];
    for (let k = -2; k <= 2; k++) {
      const z = Math.sin((k * Math.PI) / 6),
        s = Math.cos((k * Math.PI) / 6);
      out.push(
        ...this.arcs(
          rim.map(([a, b]) => [s * a, s * b, z]),
          (t) => t.line,
          0.8,
          0.35,
        ),
      );
    }
    if (!found) return out;
    const rows = (array) =>
      Array.from({ length: array.length / 3 }, (_, k) => [array[3 * k], array[3 * k + 1], array[3 * k + 2]]);
    const outline = rows(found.outline);
    const front = this.space.project(mean(outline))[2] > 0;
    out.push({
      layer: front ? 3 : -5,
      at: [0, 0, 0],
      draw: (ctx, project, t) => polygon(ctx, outline.map(project), t.accent, front ? 0.3 : 0.1, front ? 1 : 0.3, 2),
    });
    const per = found.walls.shape[1];
    found.signs.forEach((sign, i) =>
      out.push(
        ...this.arcs(
          rows(found.walls.subarray(3 * per * i, 3 * per * (i + 1))),
          () => classColour(sign > 0 ? 1 : 0),
          1.8,
          0.95,
        ),
      ),
    );
    out.push(...this.arcs(rows(found.ball), (t) => t.ink, 1.4, 1, [4, 4]));
    for (const [name, [shape, colour]] of Object.entries(MARKS)) {
      const p = found.centres[name];
      out.push({
        layer: this.space.project(p)[2] > 0 ? 5 : -4,
        at: p,
        draw: (ctx, project, t) => {
          const [x, y, near] = project(p);
          ctx.globalAlpha = near > 0 ? 1 : 0.25;
          trace(ctx, shape, x, y, 6.5);
          ctx.fillStyle = classColour(colour);
          ctx.fill();
          ctx.strokeStyle = t.plane;
          ctx.lineWidth = 1.4;
          ctx.stroke();
        },
      });
    }
    out.push(text3([1.17, 0, 0], "w₁"), text3([0, 1.17, 0], "w₂"), text3([0, 0, 1.14], "b"));
    return out;
  }

  // A line on the sphere, its front half strong and its back half faint.
  arcs(points, colour, width, alpha, dash = []) {
    return [false, true].map((front) => ({
      layer: front ? 2 : -6,
      at: [0, 0, 0],
      draw: (ctx, project, t) => {
        ctx.beginPath();
        let down = false;
        for (const p of points) {
          const [x, y, near] = project(p);
          const on = near >= 0 === front;
          if (on) ctx[down ? "lineTo" : "moveTo"](x, y);
          down = on;
        }
        ctx.strokeStyle = colour(t);
        ctx.globalAlpha = front ? alpha : alpha * 0.28;
        ctx.lineWidth = width;
        ctx.setLineDash(dash);
        ctx.stroke();
      },
    }));
  }

  paintLines(ctx, plane) {
    if (!this.found) return;
    for (const [name, [, colour]] of Object.entries(MARKS)) {
      const [w1, w2, b] = this.found.centres[name];
      if (Math.hypot(w1, w2) < 1e-9) continue;
      ctx.strokeStyle = classColour(colour);
      ctx.lineWidth = 2.4;
      drawLine(ctx, plane, [w1, w2], b);
    }
  }
}
