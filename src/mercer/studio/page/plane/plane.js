// @ts-check
// A plane with points: drawn from what the server sent, edited by mouse, touch and keyboard.

import { h, onceAFrame } from "../dom.js";
import { sharpContext } from "../drawing.js";
import { SvgContext } from "../svg_context.js";
import { listen } from "./edit.js";
import { paintPlane } from "./paint.js";

const NEAR = 13; // pixels within which a pointer means a point

/**
 * @typedef {number[]} Point x, y, class
 * @typedef {number[]} Window left, right, bottom, top
 * @typedef {{ points: Point[], window: Window }} Model what the owner of a plane keeps
 * @typedef {ReturnType<typeof import("../palette.js").theme>} Theme
 * @typedef {(ctx: CanvasRenderingContext2D, plane: Plane, t: Theme) => void} Painter
 *
 * @typedef {object} On what the owner hears
 * @property {(kind: string) => void} [change]
 * @property {(index: number, x?: number, y?: number) => void} [hover]
 * @property {(text: string) => void} [say]
 * @property {(kind: number) => void} [choose]
 *
 * @typedef {object} Answer what the server says of the points; see views/playground.py
 * @property {import("../link.js").Numbers} [field] row by row from below
 * @property {[number, number]} [grid] columns, rows
 * @property {Window} [window]
 * @property {string} [kind]
 * @property {number[]} [classes]
 * @property {ArrayLike<number>} [cases] of each point; see palette.js
 * @property {import("../link.js").Numbers} [curve]
 * @property {number} [epsilon]
 * @property {boolean} [margins]
 * @property {Float32Array[]} [outlines]
 * @property {import("../link.js").Numbers} [alpha]
 * @property {import("../link.js").Numbers} [values]
 */

export class Plane {
  hovered = -1;
  selected = -1;
  /** The point that the keyboard has picked. */
  picked = -1;
  /** @type {[number, number] | null} */
  cursor = null;
  /** The class of new points. */
  current = 0;
  tool = "add";
  /** @type {Answer | null} */
  answer = null;
  /** @type {HTMLCanvasElement | null} the field, and the colour of the paper that it was painted on */
  picture = null;
  pictureTheme = "";
  /** @type {((point: number[]) => number[]) | null} where a point may be */
  lock = null;
  /** @type {Painter | null} what is painted below the points */
  under = null;
  /** @type {Painter | null} what is painted above them */
  over = null;
  /** @type {(number | null)[] | null} of each point, drawn as an arc */
  weights = null;
  /** @type {{ k: number, px: number, py: number, moved: boolean, erase: boolean, held: number } | null} */
  drag = null;
  axes = true;
  /** Both axes with scales of their own. */
  free = false;
  small = false;
  numbered = false;
  /** @type {number[] | null} points that a sentence names, and that show their numbers */
  named = null;
  /** How many points there may be; 0 is any number. */
  most = 0;
  least = 0;

  /**
   * @param {HTMLElement} box
   * @param {Model} model
   * @param {On} on
   * @param {{ editable?: boolean, label?: string, words?: string }} options `words` is the id of the element that says
   *   what the picture shows
   */
  constructor(box, model, on = {}, { editable = true, label = "Plane of points", words } = {}) {
    this.model = model;
    this.on = on;
    this.editable = editable;
    this.nextFrame = onceAFrame(() => this.render());
    // What can be moved by keyboard is an application; what can only be looked at is a picture.
    this.canvas = h("canvas", {
      tabindex: editable ? "0" : null,
      role: editable ? "application" : "img",
      "aria-label": label,
      "aria-describedby": words,
    });
    box.prepend(this.canvas);
    this.box = box;
    this.sight = new ResizeObserver(() => this.draw());
    this.sight.observe(box);
    if (editable) listen(this);
    this.canvas.addEventListener("pointermove", (e) => {
      if (!this.drag) this.hover(this.nearest(...this.at(e)), ...this.at(e));
    });
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
  }

  // --- geometry ------------------------------------------------------------------------------

  /** @returns {[number, number]} */
  get size() {
    return [this.box.clientWidth || 10, this.box.clientHeight || 10];
  }

  // The window, widened so that both axes have one scale and the box is filled.
  get view() {
    const [left, right, bottom, top] = this.model.window;
    const [w, hgt] = this.size;
    if (this.free) return [left, right, bottom, top];
    const scale = Math.max((right - left) / w, (top - bottom) / hgt);
    const [cx, cy] = [(left + right) / 2, (bottom + top) / 2];
    return [cx - (scale * w) / 2, cx + (scale * w) / 2, cy - (scale * hgt) / 2, cy + (scale * hgt) / 2];
  }

  /** @type {(x: number, y: number) => [number, number]} */
  toScreen(x, y) {
    const [left, right, bottom, top] = this.view;
    const [w, hgt] = this.size;
    return [((x - left) / (right - left)) * w, hgt - ((y - bottom) / (top - bottom)) * hgt];
  }

  /** @type {(px: number, py: number) => [number, number]} */
  toWorld(px, py) {
    const [left, right, bottom, top] = this.view;
    const [w, hgt] = this.size;
    return [left + (px / w) * (right - left), bottom + ((hgt - py) / hgt) * (top - bottom)];
  }

  /** @type {(event: MouseEvent) => [number, number]} */
  at(event) {
    const r = this.canvas.getBoundingClientRect();
    return [event.clientX - r.left, event.clientY - r.top];
  }

  /** @type {(px: number, py: number) => number} the point that a place on the screen means; -1 if it means none */
  nearest(px, py) {
    let best = -1,
      distance = NEAR;
    this.model.points.forEach(([x, y], k) => {
      const [a, b] = this.toScreen(x, y);
      const d = Math.hypot(a - px, b - py);
      if (d < distance) {
        best = k;
        distance = d;
      }
    });
    return best;
  }

  // --- what is shown -------------------------------------------------------------------------

  /** @type {(k: number, px?: number, py?: number) => void} k is a point, or -1 */
  hover(k, px, py) {
    if (k === this.hovered && k < 0) return;
    this.hovered = k;
    const [onPoint, beside] = this.tool === "delete" ? ["not-allowed", "default"] : ["grab", "crosshair"];
    this.canvas.style.cursor = !this.editable ? "default" : k >= 0 ? onPoint : beside;
    this.on.hover?.(k, px, py);
    this.draw();
  }

  /** @param {Answer | null} answer */
  show(answer) {
    this.answer = answer;
    this.picture = null;
    this.draw();
  }

  /** Take away what was marked on the points of an earlier answer. */
  unmark() {
    this.weights = this.named = this.under = this.over = null;
  }

  // In the next frame, once, however often it is asked for.
  draw() {
    this.nextFrame();
  }

  render() {
    paintPlane(this, sharpContext(this.canvas, ...this.size));
  }

  toSvg() {
    const [w, hgt] = this.size;
    const ctx = new SvgContext(w, hgt);
    const { hovered, picked, cursor } = this;
    Object.assign(this, { hovered: -1, picked: -1, cursor: null });
    ctx.beginPath();
    ctx.rect(0, 0, w, hgt);
    ctx.save();
    ctx.clip();
    paintPlane(this, ctx.asCanvas);
    ctx.restore();
    Object.assign(this, { hovered, picked, cursor });
    return ctx.toString();
  }

  close() {
    this.nextFrame.cancel();
    this.sight.disconnect();
    this.canvas.remove();
  }
}
