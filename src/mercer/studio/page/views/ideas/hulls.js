// @ts-check
import { segmented } from "../../controls.js";
import { complain, h, show } from "../../dom.js";
import { polygon, stroke } from "../../drawing.js";
import { classColour, trace } from "../../palette.js";
import { commonPointPainter, proofWeights, proofWords } from "../../proof.js";
import { drawStreet, frame, Idea, picture, twoClassPlane } from "./frame.js";

const APART = [
  [-2.2, 0.9, 0],
  [-1.2, -1.1, 0],
  [-0.9, 0.8, 0],
  [-2.6, -0.5, 0],
  [1.1, 0.2, 1],
  [2.3, 1.3, 1],
  [1.9, -1.2, 1],
  [2.9, 0.1, 1],
];
const MEETING = [
  [-2.2, 0.9, 0],
  [-1.2, -1.1, 0],
  [1.0, 0.5, 0],
  [-2.6, -0.5, 0],
  [0.1, 0.1, 1],
  [2.3, 1.3, 1],
  [1.9, -1.2, 1],
  [2.9, 0.1, 1],
];

// Hard margin, seen as two hulls: their nearest points, or the point that they share.
export class HullsIdea extends Idea {
  constructor(host) {
    super("hulls", { points: APART.map((p) => [...p]) });
    const sets = segmented(
      "Points",
      [
        ["apart", "Apart"],
        ["meeting", "Meeting"],
      ],
      "apart",
      (key) => {
        this.settings.points = this.model.points = (key === "apart" ? APART : MEETING).map((p) => [...p]);
        this.ask();
      },
    );
    const { body } = frame(host, {
      title: "Two hulls",
      about:
        "The widest street between two classes is halfway between the nearest points of their convex hulls. Drag a point into the other hull: then no street exists, and the proof is a point that is a weighted mean of either class. Arcs show the weights.",
      tools: [h("div", { class: "field" }, sets.node)],
      layout: "one",
    });
    this.part = picture(body, "");
    this.model = { points: this.settings.points, window: [-4, 4, -2.2, 2.2] };
    this.plane = twoClassPlane(this.part, this.model, "Points of two classes", () => this.ask());
    this.plane.under = (...on) => this.paintHulls(...on);
    this.plane.over = (...on) => this.paintPoint(...on);
    this.drawn = [this.plane];
    this.ask();
  }

  ask() {
    this.request("hulls", { points: this.model.points, window: this.plane.view });
  }

  answered(header) {
    if (complain(this.part.notice, header.error)) {
      this.found = null;
      this.plane.draw();
      return;
    }
    this.found = header;
    this.plane.weights = header.separable ? null : proofWeights(header, this.model.points.length);
    this.plane.answer = {
      cases: this.model.points.map((_, i) => (header.separable && header.support.includes(i) ? 1 : 0)),
    };
    this.plane.draw();
    const words = header.separable
      ? `separable, with margin ${show(header.margin, 5)}: half the distance of the hulls`
      : `not separable: ${proofWords({ ...header, bias: "free" })}`;
    this.plane.named = header.separable ? null : header.indices;
    this.part.foot.replaceChildren(
      h("span", { data: { number: "verdict", separable: String(header.separable) } }, words),
    );
  }

  paintHulls(ctx, plane, t) {
    const found = this.found;
    if (!found) return;
    found.hulls.forEach((hull, k) => {
      const corners = hull.map((p) => plane.toScreen(...p));
      polygon(ctx, corners, classColour(k), 0.16, 0.8, 1.6);
    });
    if (!found.separable) return;
    drawStreet(ctx, plane, found.weights, found.bias, t.ink);
    const [a, c] = found.nearest.map((p) => plane.toScreen(...p));
    ctx.strokeStyle = t.accent;
    ctx.lineWidth = 3;
    stroke(ctx, [a, c]);
    for (const p of [a, c]) {
      trace(ctx, "circle", p[0], p[1], 4.5);
      ctx.fillStyle = t.accent;
      ctx.fill();
    }
  }

  paintPoint(ctx, plane, t) {
    if (!this.found || this.found.separable || !this.found.point) return;
    const [px, py] = plane.toScreen(...this.found.point);
    commonPointPainter(this.found.point)(ctx, plane, t);
    ctx.font = "600 12.5px system-ui, sans-serif";
    ctx.fillStyle = t.bad;
    ctx.textAlign = "left";
    ctx.fillText("in both hulls", px + 14, py + 4);
  }
}
