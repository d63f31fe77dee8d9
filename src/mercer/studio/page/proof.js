// @ts-check
// The proof that no hyperplane separates two classes: a point that is a weighted mean of either.

import { show } from "./dom.js";
import { polygon } from "./drawing.js";
import { trace } from "./palette.js";

/**
 * The weighted means that are one point, with the points by the numbers that the plane shows.
 * @param {{ indices: number[], weights: number[], signs: number[], bias: string }} proof
 */
export function proofWords({ indices, weights, signs, bias }) {
  const mean = (sign) =>
    indices
      .flatMap((i, k) => (!sign || signs[k] === sign ? [`${show(weights[k], 3)} of point ${i + 1}`] : []))
      .join(" + ");
  return bias === "free" ? `${mean(1)} = ${mean(-1)}.` : `The mean ${mean(0)}, each with its sign, is the origin.`;
}

/**
 * The weight of every point in its class's mean; null for those that have none.
 * @type {(proof: { indices: number[], weights: number[] }, n: number) => (number | null)[]}
 */
export function proofWeights({ indices, weights }, n) {
  const all = new Array(n).fill(null);
  indices.forEach((i, k) => {
    all[i] = weights[k];
  });
  return all;
}

/** @typedef {import("./plane/plane.js").Painter} Painter */

/**
 * The hulls of the points that have weights.
 * @type {(proof: { indices: number[], signs: number[] }, points: number[][]) => Painter}
 */
export const hullsPainter = (proof, points) => (ctx, plane, t) => {
  ctx.save();
  for (const sign of [1, -1]) {
    const corners = proof.indices
      .filter((_, k) => proof.signs[k] === sign)
      .map((i) => plane.toScreen(points[i][0], points[i][1]));
    const [mx, my] = [0, 1].map((axis) => corners.reduce((m, p) => m + p[axis] / corners.length, 0));
    const angle = ([x, y]) => Math.atan2(y - my, x - mx);
    ctx.setLineDash(sign > 0 ? [] : [6, 4]);
    const around = corners.sort((a, b) => angle(a) - angle(b));
    polygon(ctx, around, t.accent, 0.12, 0.9, 1.6);
  }
  ctx.restore();
};

/** @type {(point: [number, number]) => Painter} where the weighted means of both classes meet */
export const commonPointPainter = (point) => (ctx, plane, t) => {
  trace(ctx, "cross", ...plane.toScreen(...point), 9);
  ctx.fillStyle = t.bad;
  ctx.fill();
  ctx.strokeStyle = t.plane;
  ctx.lineWidth = 1.5;
  ctx.stroke();
};
