// @ts-check
// The proof that no hyperplane separates two classes: a point that is a weighted mean of either.

import { show } from "./dom.js";
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

// The hulls' common point: where the weighted means of both classes meet.
export function drawProof(ctx, plane, t, layer, proof, points) {
  if (layer === "below") {
    ctx.save();
    for (const sign of [1, -1]) {
      const rows = proof.indices
        .filter((_, k) => proof.signs[k] === sign)
        .map((i) => plane.toScreen(points[i][0], points[i][1]));
      const middle = rows.reduce((m, p) => [m[0] + p[0] / rows.length, m[1] + p[1] / rows.length], [0, 0]);
      rows.sort(
        (a, b) => Math.atan2(a[1] - middle[1], a[0] - middle[0]) - Math.atan2(b[1] - middle[1], b[0] - middle[0]),
      );
      ctx.beginPath();
      rows.forEach((p, k) => ctx[k ? "lineTo" : "moveTo"](...p));
      ctx.closePath();
      ctx.strokeStyle = ctx.fillStyle = t.accent;
      ctx.globalAlpha = 0.12;
      ctx.fill();
      ctx.globalAlpha = 0.9;
      ctx.lineWidth = 1.6;
      ctx.setLineDash(sign > 0 ? [] : [6, 4]);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    ctx.restore();
    return;
  }
  const [px, py] = plane.toScreen(...proof.point);
  ctx.save();
  trace(ctx, "cross", px, py, 9);
  ctx.fillStyle = t.bad;
  ctx.fill();
  ctx.strokeStyle = t.plane;
  ctx.lineWidth = 1.5;
  ctx.stroke();
  ctx.restore();
}
