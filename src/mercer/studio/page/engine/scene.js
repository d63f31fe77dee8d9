// @ts-check
// What is on the screen, read from a request and checked, as mercer.studio.playground.scene does.

import { MOST_POINTS, Refusal } from "./machines.js";

const MOST_CLASSES = 8;
const LARGEST = 1e6;
/** @type {Record<string, [number, number, number]>} smallest, largest, and what it is if it is not said */
const NUMBERS = {
  C: [1e-6, 1e9, 1],
  gamma: [1e-6, 1e6, 1],
  degree: [1, 12, 2],
  coef0: [-100, 100, 1],
  length_scale: [1e-6, 1e6, 1],
  nu: [1e-4, 1, 0.2],
  epsilon: [0, 1e6, 0.1],
  alpha: [1e-12, 1e9, 0.1],
};

/**
 * @param {Record<string, any>} request
 * @returns {Record<string, any>}
 */
export function readScene(request) {
  const points = request.points ?? [];
  if (points.length > MOST_POINTS)
    throw new Refusal(
      `There are ${points.length} points, and this page fits at most ${MOST_POINTS} by itself. The installed Studio takes more: copy the link, and open it with mercer studio LINK.`,
    );
  for (const [x, y, label] of points) {
    if (!(Math.abs(x) <= LARGEST && Math.abs(y) <= LARGEST))
      throw new Refusal(`Coordinates must be finite and at most ${LARGEST} in size.`);
    if (!(Number.isInteger(label) && label >= 0 && label < MOST_CLASSES))
      throw new Refusal(`Classes must be whole numbers from 0 to ${MOST_CLASSES - 1}.`);
  }
  /** @type {Record<string, any>} */
  const scene = { ...request, points, bias: request.bias ?? "free", window: request.window ?? [-4, 4, -3, 3] };
  for (const [name, [low, high, usual]] of Object.entries(NUMBERS)) {
    scene[name] = request[name] ?? usual;
    if (!(typeof scene[name] === "number" && scene[name] >= low && scene[name] <= high))
      throw new Refusal(`${name} must be a number from ${low} to ${high}, got ${request[name]}.`);
  }
  scene.degree = Math.floor(scene.degree);
  return scene;
}

/** Signs of the points of two classes; the larger label is +1. */
export function twoClasses(scene) {
  const classes = [...new Set(scene.points.map((p) => p[2]))].sort((a, b) => a - b);
  if (classes.length !== 2)
    throw new Refusal(`This needs points of two classes, and there are ${classes.length} here.`);
  return scene.points.map((p) => (p[2] === classes[1] ? 1 : -1));
}

/**
 * A function of the plane at the nodes of a grid over the window, row by row from below.
 * @param {number[]} window
 * @param {[number, number]} grid columns, rows
 * @param {(x: number, y: number) => number} value
 */
export function fieldOf([left, right, bottom, top], [columns, rows], value) {
  const out = new Float64Array(columns * rows);
  for (let r = 0; r < rows; r++) fillRow(out, r, [left, right, bottom, top], [columns, rows], value);
  return shaped(out, [rows, columns]);
}

/**
 * @param {Float64Array} out
 * @param {number} r
 * @param {number[]} window
 * @param {[number, number]} grid
 * @param {(x: number, y: number) => number} value
 */
export function fillRow(out, r, [left, right, bottom, top], [columns, rows], value) {
  const y = bottom + ((top - bottom) * r) / (rows - 1);
  for (let c = 0; c < columns; c++) out[r * columns + c] = value(left + ((right - left) * c) / (columns - 1), y);
}

/**
 * @param {Float64Array} values
 * @param {number[]} shape
 * @returns {import("../link.js").Numbers}
 */
export const shaped = (values, shape) => Object.assign(values, { shape });
