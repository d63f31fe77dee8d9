// @ts-check
import { h, segmented, show } from "../../dom.js";
import { ask } from "../../link.js";
import { classColour, trace } from "../../palette.js";
import { Plane } from "../../plane.js";
import { proofWords } from "../../proof.js";
import { kept } from "../../state.js";
import { saveStep } from "../../steps.js";
import { complain, drawStreet, frame, picture } from "./frame.js";

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
export class HullsIdea {
  constructor(host) {
    this.settings = kept("hulls", { points: APART.map((p) => [...p]) });
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
    this.plane = new Plane(
      this.part.box,
      this.model,
      {
        change: () => this.ask(),
        choose: (k) => {
          this.plane.current = k % 2;
        },
      },
      { label: "Points of two classes", words: this.part.words },
    );
    this.plane.overlay = (ctx, plane, t, layer) =>
      layer === "below" ? this.paintHulls(ctx, plane, t) : this.paintPoint(ctx, plane, t);
    this.ask();
  }

  ask() {
    ask("hulls", { points: this.model.points, window: this.plane.view }, (header) => this.answered(header), {
      sticky: true,
    });
    saveStep();
  }

  answered(header) {
    if (complain(this.part.notice, header)) {
      this.found = null;
      this.plane.draw();
      return;
    }
    this.found = header;
    this.plane.weights = null;
    if (!header.separable) {
      this.plane.weights = new Array(this.model.points.length).fill(null);
      header.indices.forEach((i, k) => {
        this.plane.weights[i] = header.weights[k];
      });
    }
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
      ctx.beginPath();
      hull.forEach((p, i) => ctx[i ? "lineTo" : "moveTo"](...plane.toScreen(...p)));
      ctx.closePath();
      ctx.fillStyle = ctx.strokeStyle = classColour(k);
      ctx.globalAlpha = 0.16;
      ctx.fill();
      ctx.globalAlpha = 0.8;
      ctx.lineWidth = 1.6;
      ctx.stroke();
      ctx.globalAlpha = 1;
    });
    if (!found.separable) return;
    drawStreet(ctx, plane, found.weights, found.bias, t.ink);
    const [a, c] = found.nearest.map((p) => plane.toScreen(...p));
    ctx.beginPath();
    ctx.moveTo(...a);
    ctx.lineTo(...c);
    ctx.strokeStyle = t.accent;
    ctx.lineWidth = 3;
    ctx.stroke();
    for (const p of [a, c]) {
      ctx.beginPath();
      ctx.arc(p[0], p[1], 4.5, 0, 7);
      ctx.fillStyle = t.accent;
      ctx.fill();
    }
  }

  paintPoint(ctx, plane, t) {
    if (!this.found || this.found.separable || !this.found.point) return;
    const [px, py] = plane.toScreen(...this.found.point);
    trace(ctx, "cross", px, py, 9);
    ctx.fillStyle = t.bad;
    ctx.fill();
    ctx.strokeStyle = t.plane;
    ctx.lineWidth = 1.5;
    ctx.stroke();
    ctx.font = "600 12.5px system-ui, sans-serif";
    ctx.fillStyle = t.bad;
    ctx.textAlign = "left";
    ctx.fillText("in both hulls", px + 14, py + 4);
  }

  svg() {
    return this.plane.toSvg();
  }
  close() {
    this.plane.close();
  }
}
