// @ts-check
// A plane with points: drawn from what the server sent, edited by mouse, touch and keyboard.

import { blend, contour, indicator, shade } from "./contour.js";
import { onceAFrame } from "./dom.js";
import { classColour, drawMark, isDark, rgb, theme } from "./palette.js";
import { SvgContext } from "./svg_context.js";

const NEAR = 13; // pixels within which a pointer means a point
const CLICK = 4; // pixels a pointer may travel and still be a click

/**
 * @typedef {number[]} Point x, y, class
 * @typedef {number[]} Window left, right, bottom, top
 * @typedef {{ points: Point[], window: Window }} Model what the owner of a plane keeps
 * @typedef {ReturnType<typeof theme>} Theme
 *
 * @typedef {object} On what the owner hears
 * @property {(kind: string) => void} [change]
 * @property {(index: number, x?: number, y?: number) => void} [hover]
 * @property {(text: string) => void} [say]
 * @property {(kind: number) => void} [choose]
 *
 * @typedef {object} Answer what the server says of the points; see views/playground.py
 * @property {import("./link.js").Numbers} [field] row by row from below
 * @property {[number, number]} [grid] columns, rows
 * @property {Window} [window]
 * @property {string} [kind]
 * @property {number[]} [classes]
 * @property {ArrayLike<number>} [cases] of each point; see palette.js
 * @property {import("./link.js").Numbers} [curve]
 * @property {number} [epsilon]
 * @property {boolean} [margins]
 * @property {number} [reach]
 * @property {Float32Array[]} [outlines]
 * @property {import("./link.js").Numbers} [alpha]
 * @property {import("./link.js").Numbers} [values]
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
  /** @type {HTMLCanvasElement | null} */
  picture = null;
  /** @type {((point: number[]) => number[]) | null} where a point may be */
  lock = null;
  /** @type {((ctx: CanvasRenderingContext2D, plane: Plane, t: Theme, layer: "below" | "above") => void) | null} */
  overlay = null;
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
    this.canvas = document.createElement("canvas");
    // What can be moved by keyboard is an application; what can only be looked at is a picture.
    if (editable) this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", editable ? "application" : "img");
    this.canvas.setAttribute("aria-label", label);
    if (words) this.canvas.setAttribute("aria-describedby", words);
    box.prepend(this.canvas);
    this.box = box;
    this.sight = new ResizeObserver(() => this.draw());
    this.sight.observe(box);
    if (editable) this.listen();
    this.canvas.addEventListener("pointermove", (e) => this.move(e));
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
  }

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

  // --- editing -------------------------------------------------------------------------------

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (e) => this.down(e));
    canvas.addEventListener("pointerup", (e) => this.up(e));
    canvas.addEventListener("pointercancel", () => {
      this.drag = null;
    });
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("dblclick", (e) => e.preventDefault());
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("blur", () => {
      this.cursor = null;
      this.draw();
    });
  }

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

  /** @type {(event: MouseEvent) => [number, number]} */
  at(event) {
    const r = this.canvas.getBoundingClientRect();
    return [event.clientX - r.left, event.clientY - r.top];
  }

  down(event) {
    const [px, py] = this.at(event);
    const k = this.nearest(px, py);
    this.canvas.setPointerCapture(event.pointerId);
    this.cursor = null;
    const erase = event.button === 2 || event.altKey || this.tool === "delete";
    this.drag = { k, px, py, moved: false, erase, held: 0 };
    if (k >= 0) this.selected = k;
    if (event.pointerType === "touch" && k >= 0) this.drag.held = setTimeout(() => this.hold(), 600);
    this.draw();
  }

  hold() {
    if (this.drag && !this.drag.moved && this.drag.k >= 0) {
      const k = this.drag.k;
      this.drag = null;
      this.remove(k);
    }
  }

  move(event) {
    const [px, py] = this.at(event);
    if (!this.drag) {
      this.hover(this.nearest(px, py), px, py);
      return;
    }
    if (Math.hypot(px - this.drag.px, py - this.drag.py) > CLICK && !this.drag.moved) {
      this.drag.moved = true;
      clearTimeout(this.drag.held);
    }
    if (this.drag.moved && this.drag.k >= 0 && !this.drag.erase) this.place(this.drag.k, ...this.toWorld(px, py));
  }

  up(event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    clearTimeout(drag.held);
    if (drag.erase && drag.k >= 0) this.remove(drag.k);
    else if (!drag.moved && drag.k < 0 && this.tool !== "delete" && event.button !== 2)
      this.add(...this.toWorld(drag.px, drag.py));
    else if (!drag.moved && drag.k >= 0 && this.tool === "class") this.relabel(drag.k, this.current);
    else if (drag.moved && drag.k >= 0) this.changed("moved");
  }

  round(v) {
    const [left, right] = this.view;
    const digits = Math.max(0, 3 - Math.floor(Math.log10(right - left)));
    return Number(v.toFixed(Math.min(8, digits)));
  }

  fixed(x, y) {
    const p = [this.round(x), this.round(y)];
    return this.lock ? this.lock(p) : p;
  }

  add(x, y) {
    if (this.most && this.model.points.length >= this.most) {
      this.on.say?.(`There is room for ${this.most} points.`);
      return;
    }
    this.model.points.push([...this.fixed(x, y), this.current]);
    this.selected = this.model.points.length - 1;
    this.changed("added");
  }

  place(k, x, y) {
    const [a, b] = this.fixed(x, y);
    this.model.points[k][0] = a;
    this.model.points[k][1] = b;
    this.changed("moving");
  }

  remove(k) {
    if (this.least && this.model.points.length <= this.least) {
      this.on.say?.(`At least ${this.least} points stay.`);
      return;
    }
    this.model.points.splice(k, 1);
    this.selected = Math.min(this.selected, this.model.points.length - 1);
    this.hovered = -1;
    this.hover(-1);
    this.changed("removed");
  }

  relabel(k, label) {
    this.model.points[k][2] = label;
    this.changed("relabelled");
  }

  changed(kind) {
    this.answerIsOld = true;
    this.draw();
    this.on.change?.(kind);
  }

  // The keyboard moves a cross, or the point that it has picked.
  key(event) {
    const [left, right, bottom, top] = this.view;
    const step = (right - left) / (event.shiftKey ? 400 : 50);
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    const points = this.model.points;
    if (event.key in moves) {
      const [dx, dy] = moves[event.key];
      if (this.picked >= 0 && points[this.picked])
        this.place(this.picked, points[this.picked][0] + dx, points[this.picked][1] + dy);
      else {
        this.cursor ??= [(left + right) / 2, (bottom + top) / 2];
        this.cursor = [this.cursor[0] + dx, this.cursor[1] + dy];
        this.draw();
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.cursor ??= [(left + right) / 2, (bottom + top) / 2];
      if (this.picked >= 0) {
        this.picked = -1;
        this.draw();
      } else this.add(...this.cursor);
    } else if (event.key === "n" || event.key === "p") {
      const n = points.length;
      if (n) {
        this.picked = (this.picked + (event.key === "n" ? 1 : n - (this.picked >= 0 ? 1 : 0)) + n) % n;
        this.selected = this.picked;
        const [x, y, c] = points[this.picked];
        this.hover(this.picked, ...this.toScreen(x, y));
        this.on.say?.(`Point ${this.picked + 1} of ${n}, class ${c + 1}, at ${x}, ${y}`);
        this.draw();
      }
    } else if (event.key === "Delete" || event.key === "Backspace") {
      const k = this.picked >= 0 ? this.picked : this.selected;
      if (k >= 0 && points[k]) {
        this.picked = -1;
        this.remove(k);
      }
    } else if (/^[1-8]$/.test(event.key)) {
      const label = Number(event.key) - 1;
      if (this.picked >= 0) this.relabel(this.picked, label);
      else this.on.choose?.(label);
    } else if (event.key === "Escape") {
      this.picked = -1;
      this.hover(-1);
      this.draw();
    } else return;
    event.preventDefault();
  }

  hover(k, px, py) {
    if (k === this.hovered && k < 0) return;
    this.hovered = k;
    this.canvas.style.cursor = this.editable
      ? k >= 0
        ? this.tool === "delete"
          ? "not-allowed"
          : "grab"
        : this.tool === "delete"
          ? "default"
          : "crosshair"
      : "default";
    this.on.hover?.(k, px, py);
    this.draw();
  }

  // --- drawing -------------------------------------------------------------------------------

  /** @param {Answer} answer */
  show(answer) {
    this.answer = answer;
    this.answerIsOld = false;
    this.picture = null;
    this.draw();
  }

  // In the next frame, once, however often it is asked for.
  draw() {
    this.nextFrame();
  }

  render() {
    const [w, hgt] = this.size;
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(hgt * ratio)) {
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(hgt * ratio);
    }
    const ctx = this.canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint(ctx, w, hgt);
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
    const answer = this.answer;
    if (answer?.field) this.paintField(ctx, answer, t);
    if (this.axes) this.paintAxes(ctx, w, hgt, t);
    if (answer?.field) this.paintLines(ctx, answer, t);
    if (answer?.curve) this.paintCurve(ctx, answer, t);
    this.overlay?.(ctx, this, t, "below");
    this.paintPoints(ctx, t);
    this.overlay?.(ctx, this, t, "above");
    if (this.cursor && document.activeElement === this.canvas && !(this.picked >= 0)) this.paintCursor(ctx, t);
  }

  colouring(answer, t) {
    const paper = rgb(t.plane);
    const strength = isDark() ? 0.42 : 0.4;
    if (answer.classes?.length > 2) {
      const shades = answer.classes.map((k) => blend(paper, rgb(classColour(k)), strength * 0.8));
      return (v) => shades[Math.max(0, Math.min(shades.length - 1, Math.round(v)))];
    }
    const [a, b] =
      answer.kind === "region"
        ? [rgb(isDark() ? "#8a929a" : "#9aa2a8"), rgb(classColour(0))]
        : [0, 1].map((k) => rgb(classColour(answer.classes?.[k] ?? k)));
    const scale = answer.kind === "region" ? answer.reach || 1 : 2;
    return (v) => {
      const share = Math.min(1, Math.abs(v) / scale) ** 0.75;
      return blend(paper, v < 0 ? a : b, strength * (0.22 + 0.78 * share));
    };
  }

  box4(answer) {
    const [left, right, bottom, top] = answer.window;
    const [x0, y1] = this.toScreen(left, bottom);
    const [x1, y0] = this.toScreen(right, top);
    return [x0, y0, x1, y1];
  }

  paintField(ctx, answer, t) {
    const [columns, rows] = answer.grid;
    if (!this.picture || this.pictureTheme !== t.plane) {
      if (answer.kind === "region")
        answer.reach = Math.max(
          1e-9,
          answer.field.reduce((m, v) => Math.max(m, v), 0),
        );
      this.picture = shade(answer.field, columns, rows, this.colouring(answer, t));
      this.pictureTheme = t.plane;
    }
    const [x0, y0, x1, y1] = this.box4(answer);
    // Values stand at the nodes of the grid; a pixel of the picture is centred on its node.
    const [dx, dy] = [(x1 - x0) / (columns - 1), (y1 - y0) / (rows - 1)];
    ctx.imageSmoothingEnabled = true;
    ctx.imageSmoothingQuality = "low"; // bilinear: values between nodes are what the eye expects, and it is quick
    ctx.drawImage(this.picture, x0 - dx / 2, y0 - dy / 2, x1 - x0 + dx, y1 - y0 + dy);
  }

  line(ctx, answer, level, field = answer.field) {
    const [columns, rows] = answer.grid;
    const [x0, y0, x1, y1] = this.box4(answer);
    const sx = (x1 - x0) / (columns - 1),
      sy = (y1 - y0) / (rows - 1);
    ctx.beginPath();
    contour(field, columns, rows, level, (points) =>
      points.forEach(([c, r], k) => ctx[k ? "lineTo" : "moveTo"](x0 + c * sx, y1 - r * sy)),
    );
    ctx.stroke();
  }

  paintLines(ctx, answer, t) {
    ctx.save();
    ctx.lineJoin = "round";
    ctx.lineCap = "round";
    ctx.strokeStyle = t.ink;
    ctx.lineWidth = 2.2;
    if (answer.classes?.length > 2) {
      answer.outlines ??= answer.classes.map((_, k) => indicator(answer.field, answer.grid[0], answer.grid[1], k));
      for (const outline of answer.outlines) this.line(ctx, answer, 0.5, outline);
    } else {
      this.line(ctx, answer, 0);
      if (answer.margins !== false && answer.kind !== "region") {
        ctx.lineWidth = 1.25;
        ctx.setLineDash([5, 5]);
        this.line(ctx, answer, 1);
        this.line(ctx, answer, -1);
      }
    }
    ctx.restore();
  }

  paintCurve(ctx, answer, t) {
    const n = answer.curve.shape[1];
    const at = (k, shift) => this.toScreen(answer.curve[k], answer.curve[n + k] + shift);
    ctx.save();
    if (answer.epsilon) {
      ctx.beginPath();
      for (let k = 0; k < n; k++) ctx[k ? "lineTo" : "moveTo"](...at(k, answer.epsilon));
      for (let k = n - 1; k >= 0; k--) ctx.lineTo(...at(k, -answer.epsilon));
      ctx.closePath();
      ctx.fillStyle = t.accent;
      ctx.globalAlpha = 0.14;
      ctx.fill();
      ctx.globalAlpha = 1;
      ctx.setLineDash([5, 5]);
      ctx.lineWidth = 1.1;
      ctx.strokeStyle = t.ink;
      for (const shift of [answer.epsilon, -answer.epsilon]) {
        ctx.beginPath();
        for (let k = 0; k < n; k++) ctx[k ? "lineTo" : "moveTo"](...at(k, shift));
        ctx.stroke();
      }
      ctx.setLineDash([]);
    }
    ctx.beginPath();
    for (let k = 0; k < n; k++) ctx[k ? "lineTo" : "moveTo"](...at(k, 0));
    ctx.lineWidth = 2.4;
    ctx.strokeStyle = t.ink;
    ctx.stroke();
    ctx.restore();
  }

  paintAxes(ctx, w, hgt, t) {
    const [left, right, bottom, top] = this.view;
    const nice = (span) => {
      const raw = span / 8,
        p = 10 ** Math.floor(Math.log10(raw));
      return [1, 2, 5, 10].map((m) => m * p).find((s) => s >= raw);
    };
    const [sx, sy] = [nice(right - left), nice(top - bottom)];
    ctx.save();
    ctx.lineWidth = 1;
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = t.faint;
    const label = (v, s) => String(Number(v.toFixed(Math.max(0, -Math.floor(Math.log10(s)))))).replace("-", "−");
    ctx.strokeStyle = t.ink;
    for (let x = Math.ceil(left / sx) * sx; x <= right; x += sx) {
      const [px] = this.toScreen(x, 0);
      ctx.globalAlpha = Math.abs(x) < sx / 2 ? 0.22 : 0.07;
      ctx.beginPath();
      ctx.moveTo(px, 0);
      ctx.lineTo(px, hgt);
      ctx.stroke();
      ctx.globalAlpha = 1;
      ctx.textAlign = "center";
      if (px > 26 && px < w - 14) ctx.fillText(label(x, sx), px, hgt - 7);
    }
    for (let y = Math.ceil(bottom / sy) * sy; y <= top; y += sy) {
      const [, py] = this.toScreen(0, y);
      ctx.globalAlpha = Math.abs(y) < sy / 2 ? 0.22 : 0.07;
      ctx.beginPath();
      ctx.moveTo(0, py);
      ctx.lineTo(w, py);
      ctx.stroke();
      ctx.globalAlpha = 1;
      ctx.textAlign = "left";
      if (py > 44 && py < hgt - 20) ctx.fillText(label(y, sy), 7, py - 4);
    }
    ctx.restore();
  }

  paintPoints(ctx, t) {
    const cases = this.answer?.cases;
    const many = this.small || this.model.points.length > 400;
    this.model.points.forEach(([x, y, k], i) => {
      const [px, py] = this.toScreen(x, y);
      drawMark(ctx, px, py, k, cases?.length === this.model.points.length ? cases[i] : 0, t, {
        r: many ? 4 : 5.5,
        weight: this.weights?.[i] ?? null,
      });
      if (i === this.hovered || i === this.picked) {
        ctx.beginPath();
        ctx.arc(px, py, 14, 0, 2 * Math.PI);
        ctx.strokeStyle = t.accent;
        ctx.lineWidth = i === this.picked ? 3 : 2;
        ctx.stroke();
      }
      if (this.numbered || this.named?.includes(i)) {
        ctx.fillStyle = t.ink;
        ctx.font = "600 12px system-ui, sans-serif";
        ctx.textAlign = "left";
        ctx.fillText(String(i + 1), px + 10, py - 9);
      }
    });
  }

  paintCursor(ctx, t) {
    const [px, py] = this.toScreen(...this.cursor);
    ctx.save();
    ctx.strokeStyle = t.accent;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(px - 12, py);
    ctx.lineTo(px + 12, py);
    ctx.moveTo(px, py - 12);
    ctx.lineTo(px, py + 12);
    ctx.stroke();
    ctx.restore();
  }

  toSvg() {
    const [w, hgt] = this.size;
    const ctx = new SvgContext(w, hgt);
    const [hovered, picked, cursor] = [this.hovered, this.picked, this.cursor];
    Object.assign(this, { hovered: -1, picked: -1, cursor: null });
    ctx.beginPath();
    ctx.rect(0, 0, w, hgt);
    ctx.save();
    ctx.clip();
    this.paint(ctx.asCanvas, w, hgt);
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
