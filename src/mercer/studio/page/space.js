// @ts-check
// Three dimensions on a flat canvas: a camera that turns, and things drawn from far to near.

import { h, onceAFrame } from "./dom.js";
import { sharpContext, stroke } from "./drawing.js";
import { theme } from "./palette.js";
import { SvgContext } from "./svg_context.js";

/**
 * @typedef {number[]} Point3 x, y, z
 * @typedef {(point: Point3) => Point3} Project to pixels and depth
 * @typedef {ReturnType<typeof theme>} Theme
 * @typedef {object} Thing
 * @property {Point3} at for its depth
 * @property {number} [layer] in the place of its depth
 * @property {(ctx: CanvasRenderingContext2D, project: Project, t: Theme) => void} draw
 */

export class Space {
  /** @type {(t: Theme) => Thing[]} */
  things = () => [];
  /** @type {[number, number] | null} */
  held = null;

  /**
   * @param {HTMLElement} box
   * @param {{ label: string, words?: string, azimuth?: number, height?: number, zoom?: number }} options
   */
  constructor(box, { label, words, azimuth = -0.6, height = 0.35, zoom = 1 }) {
    this.box = box;
    this.azimuth = azimuth;
    this.height = height;
    this.zoom = zoom;
    this.nextFrame = onceAFrame(() => this.render());
    this.canvas = h("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label": `${label}. Drag or use the arrow keys to turn it.`,
      "aria-describedby": words,
    });
    this.canvas.style.cursor = "grab";
    box.prepend(this.canvas);
    this.canvas.addEventListener("pointerdown", (e) => {
      this.held = [e.clientX, e.clientY];
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener("pointermove", (e) => {
      if (this.held) {
        this.turn((e.clientX - this.held[0]) * 0.01, (e.clientY - this.held[1]) * 0.01);
        this.held = [e.clientX, e.clientY];
      }
    });
    this.canvas.addEventListener("pointerup", () => {
      this.held = null;
    });
    this.canvas.addEventListener(
      "wheel",
      (e) => {
        this.zoom = Math.max(0.4, Math.min(4, this.zoom * Math.exp(-e.deltaY * 0.001)));
        this.draw();
        e.preventDefault();
      },
      { passive: false },
    );
    this.canvas.addEventListener("keydown", (e) => {
      const turn = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[e.key];
      if (turn) {
        this.turn(...turn);
        e.preventDefault();
      }
    });
    this.sight = new ResizeObserver(() => this.draw());
    this.sight.observe(box);
  }

  turn(dx, dy) {
    this.azimuth += dx;
    this.height = Math.max(-1.5, Math.min(1.5, this.height + dy));
    this.canvas.dataset.azimuth = this.azimuth.toFixed(3);
    this.draw();
  }

  /**
   * Coordinates of about -1 .. 1 in; pixels and depth out (larger is nearer).
   * @param {Point3} point
   * @returns {Point3}
   */
  project([x, y, z]) {
    const [w, hgt] = [this.box.clientWidth, this.box.clientHeight];
    const [ca, sa, ch, sh] = [
      Math.cos(this.azimuth),
      Math.sin(this.azimuth),
      Math.cos(this.height),
      Math.sin(this.height),
    ];
    const u = ca * x + sa * y,
      v = -sa * x + ca * y;
    const up = ch * z + sh * v,
      near = -ch * v + sh * z;
    const scale = (0.36 * Math.min(w, hgt) * this.zoom) / (1 - 0.16 * near);
    return [w / 2 + u * scale, hgt / 2 - up * scale, near];
  }

  draw() {
    this.nextFrame();
  }

  render() {
    const [w, hgt] = [this.box.clientWidth || 10, this.box.clientHeight || 10];
    this.paint(sharpContext(this.canvas, w, hgt), w, hgt);
  }

  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {number} w
   * @param {number} hgt
   */
  paint(ctx, w, hgt) {
    const t = theme();
    ctx.fillStyle = t.plane;
    ctx.fillRect(0, 0, w, hgt);
    const project = (p) => this.project(p);
    const list = this.things(t).map((thing) => ({ depth: thing.layer ?? this.project(thing.at)[2], thing }));
    list.sort((a, b) => a.depth - b.depth);
    for (const { thing } of list) {
      ctx.save();
      thing.draw(ctx, project, t);
      ctx.restore();
    }
  }

  toSvg() {
    const [w, hgt] = [this.box.clientWidth, this.box.clientHeight];
    const ctx = new SvgContext(w, hgt);
    this.paint(ctx.asCanvas, w, hgt);
    return ctx.toString();
  }

  close() {
    this.nextFrame.cancel();
    this.sight.disconnect();
    this.canvas.remove();
  }
}

/** @type {(points: Point3[]) => Point3} */
export const mean = (points) => points.reduce((m, p) => m.map((v, k) => v + p[k] / points.length), [0, 0, 0]);
/** @type {(at: Point3, words: string, style?: string) => Thing} */
export const text3 = (at, words, style = "soft") => ({
  at,
  layer: 9,
  draw: (ctx, project, t) => {
    const [x, y] = project(at);
    ctx.font = "12px system-ui, sans-serif";
    ctx.fillStyle = t[style];
    ctx.textAlign = "center";
    ctx.fillText(words, x, y);
  },
});
/** @type {(a: Point3, b: Point3, style?: string, width?: number, dash?: number[]) => Thing} */
export const line3 = (a, b, style = "line", width = 1, dash = []) => ({
  at: mean([a, b]),
  draw: (ctx, project, t) => {
    ctx.strokeStyle = t[style] ?? style;
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    stroke(ctx, [project(a), project(b)]);
  },
});
