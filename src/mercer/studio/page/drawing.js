// @ts-check
// What pictures are drawn with.

import { h } from "./dom.js";

/** @typedef {CanvasRenderingContext2D} Context */

/** @type {(ctx: Context, points: number[][]) => void} */
export const path = (ctx, points) => {
  ctx.beginPath();
  points.forEach((p, k) => ctx[k ? "lineTo" : "moveTo"](p[0], p[1]));
};

/** @type {(ctx: Context, points: number[][]) => void} */
export const stroke = (ctx, points) => {
  path(ctx, points);
  ctx.stroke();
};

/**
 * @type {(ctx: Context, corners: number[][], colour: string, fill: number, line: number, width: number) => void} `fill`
 *   and `line` are opacities
 */
export const polygon = (ctx, corners, colour, fill, line, width) => {
  path(ctx, corners);
  ctx.closePath();
  ctx.fillStyle = ctx.strokeStyle = colour;
  ctx.globalAlpha = fill;
  ctx.fill();
  ctx.globalAlpha = line;
  ctx.lineWidth = width;
  ctx.stroke();
  ctx.globalAlpha = 1;
};

/**
 * A small picture, twice as fine as it is shown.
 * @type {(width: number, height: number, draw: (ctx: Context) => void) => HTMLCanvasElement}
 */
export function icon(width, height, draw) {
  const canvas = h("canvas", { width: 2 * width, height: 2 * height });
  const ctx = canvas.getContext("2d");
  ctx.setTransform(2, 0, 0, 2, 0, 0);
  draw(ctx);
  return canvas;
}

/**
 * A context in which a pixel of the page is 1, however many the screen has for it.
 * @type {(canvas: HTMLCanvasElement, w: number, hgt: number) => CanvasRenderingContext2D}
 */
export function sharpContext(canvas, w, hgt) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(w * ratio), Math.round(hgt * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  return ctx;
}
