// @ts-check
// How points stand to what was learnt, and whether anything was.

import { CASES } from "../../palette.js";

const REGION = { 0: "inside, α = 0", 1: "on the edge, 0 < α < bound", 3: "outside, α at its bound" };
const CURVE = { 0: "inside the tube, α = 0", 1: "on the tube, 0 < α < C", 3: "outside the tube, α = C" };
// An optimum nearer to 0 than this is 0 and rounding.
const NOTHING = 1e-9;

/**
 * Whether a method leaves any point out: least squares do not, so that none is a support vector, or all are.
 * @param {string} method
 */
export const hasSupport = (method) => !["fisher", "ridge"].includes(method);

/**
 * @param {string} kind what is learnt: classes, a region or a curve
 * @param {number} kase
 */
export function standing(kind, kase) {
  const own = kind === "region" ? REGION : kind === "curve" ? CURVE : {};
  return own[kase] ?? CASES[kase][1];
}

/**
 * Why the best is w = 0, which separates nothing from nothing; empty where it is not.
 * @param {{ numbers: { primal?: number } }} header
 * @param {{ method: string, nu: number }} request
 */
export function nothingLearnt(header, request) {
  const { primal } = header.numbers;
  if (primal === undefined || Math.abs(primal) > NOTHING) return "";
  if (request.method === "nu")
    return `ν = ${request.nu} is too small here: more points than that are on the wrong side of every boundary, and the best is w = 0. Raise ν, or choose a kernel that bends more.`;
  if (request.method === "oneclass")
    return "The best is w = 0: the origin of the feature space is among the points, so that no region keeps it out. Choose the Gaussian kernel, or raise ν.";
  return "";
}
