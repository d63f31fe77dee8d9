// @ts-check
// What every idea has: settings, a heading with a sentence, pictures, and a question about them.

import { slider } from "../../controls.js";
import { h, newId } from "../../dom.js";
import { stroke } from "../../drawing.js";
import { ask } from "../../link.js";
import { Plane } from "../../plane/plane.js";
import { kept } from "../../state.js";
import { saveStep } from "../../steps.js";

const FAR = 40; // beyond every window

/** @template {Record<string, any>} T */
export class Idea {
  /** @type {{ toSvg: () => string, close: () => void }[]} what is drawn; the first of them is the picture to export */
  drawn = [];

  /**
   * @param {string} key
   * @param {T} start what the idea shows at first
   */
  constructor(key, start) {
    this.settings = kept(key, start);
  }

  /** @type {(label: string, name: string, min: number, max: number) => HTMLElement} a slider of a setting */
  slider(label, name, min, max) {
    const onchange = (value) => {
      Object.assign(this.settings, { [name]: value });
      this.ask();
    };
    return slider({ label, name, min, max, value: this.settings[name], log: true, onchange }).node;
  }

  /** Ask for what the pictures show: after every change. */
  ask() {}

  /** @type {(what: string, request: Record<string, any>) => void} */
  request(what, request) {
    ask(what, request, (header, arrays) => this.answered(header, arrays, request), { sticky: true });
    saveStep();
  }

  /** @type {(header: any, arrays: any, request: any) => void} */
  answered() {}

  svg() {
    return this.drawn[0].toSvg();
  }
  close() {
    this.drawn.forEach((each) => each.close());
  }
}

/** @typedef {CanvasRenderingContext2D} Context */

/** @type {(ctx: Context, plane: Plane, w: number[], b: number, level?: number) => void} the line <w, x> + b = level */
export function drawLine(ctx, plane, [w1, w2], b, level = 0) {
  const norm = Math.hypot(w1, w2);
  const [cx, cy] = [(w1 * (level - b)) / norm ** 2, (w2 * (level - b)) / norm ** 2];
  stroke(ctx, [
    plane.toScreen(cx - (FAR * w2) / norm, cy + (FAR * w1) / norm),
    plane.toScreen(cx + (FAR * w2) / norm, cy - (FAR * w1) / norm),
  ]);
}

/**
 * The line <w, x> + b = 0 and the two at distance one over the norm: the street of a linear machine.
 * @type {(ctx: Context, plane: Plane, w: number[], b: number, colour: string) => void}
 */
export function drawStreet(ctx, plane, w, b, colour) {
  ctx.strokeStyle = colour;
  for (const level of [0, 1, -1]) {
    ctx.lineWidth = level ? 1.2 : 2.4;
    ctx.setLineDash(level ? [5, 5] : []);
    drawLine(ctx, plane, w, b, level);
  }
  ctx.setLineDash([]);
}

export function frame(host, { title, about, tools = [], layout = "" }) {
  const body = h("div", { class: `idea-body ${layout}` });
  const words = h("p", {}, about);
  host.append(
    h("div", { class: "idea-head" }, h("div", {}, h("h2", {}, title), words), h("span", { class: "spring" }), ...tools),
    body,
  );
  return { body, words };
}

// The line below a picture says what it shows; `words` is its id, for those who cannot see the picture.
export function picture(body, caption) {
  const words = newId("picture");
  const box = h("div", { class: "canvas-box" });
  const cap = h("div", { class: "cap" }, caption);
  const notice = h("div", { class: "notice", role: "alert", hidden: true });
  const foot = h("div", { class: "foot", id: words });
  box.append(cap);
  const work = h("div", { class: "work" }, box, notice, foot);
  body.append(work);
  return { box, cap, notice, foot, work, words };
}

/**
 * @typedef {ReturnType<typeof picture>} Part
 * @typedef {import("../../plane/plane.js").Model} Model
 */

/** @type {(part: Part, model: Model, label: string) => Plane} a plane that can only be looked at */
export const stillPlane = ({ box, words }, model, label) =>
  new Plane(box, model, {}, { editable: false, label, words });

/**
 * A plane whose points are of two classes, so that digits choose one of two.
 * @type {(part: Part, model: Model, label: string, change: () => void) => Plane}
 */
export function twoClassPlane({ box, words }, model, label, change) {
  const choose = (k) => {
    plane.current = k % 2;
  };
  const plane = new Plane(box, model, { change, choose }, { label, words });
  return plane;
}
