// @ts-check
// The machines of the playground, as mercer fits them: mercer.SVC, HardMarginSVC, NuSVC, OneClassSVM, SVR and
// KernelRidge, in the notation of docs/notation.md. tests/browser/test_static_page.py compares every one with the library.

import { expansion, gram, kernelOf } from "./kernels.js";
import { solve } from "./semidefinite.js";
import { minimise } from "./smo.js";

export const MOST_POINTS = 500;
const AT_BOUND = 1e-11; // as a share of the box
const TOUCHING = 1e-7; // a distance of hulls, as a share of the radius of the data, that is none
const NOTHING = 1e-14; // a squared norm below this share of what it could be is rounding
const BORDER = 1e-10; // by this share the border of a region is moved out: it belongs to the inside

/** What no machine can do; it becomes a sentence on the page. */
export class Refusal extends Error {
  /**
   * @param {string} words
   * @param {Record<string, any>} more
   */
  constructor(words, more = {}) {
    super(words);
    this.more = more;
  }
}

/**
 * @typedef {object} TwoClass one machine of two classes
 * @property {Float64Array} beta signed coefficients, of the points it was fitted to
 * @property {number} bias
 * @property {number} bound of |beta|; infinite where there is none
 * @property {number} primal
 * @property {number} dual
 * @property {boolean} done
 */

const sum = (values) => values.reduce((a, b) => a + b, 0);

export function product(K, beta) {
  const n = beta.length;
  const out = new Float64Array(n);
  for (let j = 0; j < n; j++) if (beta[j]) for (let i = 0; i < n; i++) out[i] += K[j * n + i] * beta[j];
  return out;
}

export const inner = (a, b) => {
  let out = 0;
  for (let i = 0; i < a.length; i++) out += a[i] * b[i];
  return out;
};

// Whether w is zero but for rounding: next to nothing for what its coefficients could make it.
function isNothing(K, beta) {
  const n = beta.length;
  let reach = 0;
  for (let i = 0; i < n; i++) reach += Math.abs(beta[i]) * Math.sqrt(Math.max(0, K[i * n + i]));
  return !(inner(beta, product(K, beta)) > NOTHING * reach * reach);
}

// K + shift + ridge on the diagonal.
function quadratic(K, n, shift, ridge) {
  const Q = new Float64Array(K);
  if (shift) for (let k = 0; k < Q.length; k++) Q[k] += shift;
  for (let i = 0; i < n; i++) Q[i * n + i] += ridge;
  return Q;
}

// The objectives of a machine with losses, from its coefficients alone: what a certificate has.
function objectives(K, beta, bias, { penalised, cost, dual }) {
  const projections = product(K, beta);
  const half = 0.5 * inner(beta, projections) + (penalised ? 0.5 * bias * bias : 0);
  return { primal: half + cost(projections), dual: dual(half) };
}

/**
 * Soft-SVM with the hinge or its square.
 * @returns {TwoClass}
 */
export function softMargin(K, signs, { C, bias, isSquared = false }) {
  const n = signs.length;
  const ridge = isSquared ? 1 / (2 * C) : 0;
  const reach = isSquared ? Infinity : C;
  const found = minimise({
    Q: quadratic(K, n, bias === "penalized" ? 1 : 0, ridge),
    p: Float64Array.from(signs),
    lower: Float64Array.from(signs, (s) => (s > 0 ? 0 : -reach)),
    upper: Float64Array.from(signs, (s) => (s > 0 ? reach : 0)),
    groups: bias === "free" ? new Uint8Array(n) : null,
    start: new Float64Array(n),
  });
  const { beta } = found;
  const b = bias === "free" ? found.bias[0] : bias === "penalized" ? sum(Array.from(beta)) : 0;
  const short = (f) => Math.max(0, 1 - f);
  const values = objectives(K, beta, b, {
    penalised: bias === "penalized",
    cost: (w) => C * sum(signs.map((s, i) => (isSquared ? short(s * (w[i] + b)) ** 2 : short(s * (w[i] + b))))),
    dual: (half) => sum(Array.from(beta, Math.abs)) - half - 0.5 * ridge * inner(beta, beta),
  });
  return { beta, bias: b, bound: reach, done: found.done, ...values };
}

/**
 * Hard-SVM, as the nearest points of two hulls; or the point that they share.
 * @returns {TwoClass}
 */
export function hardMargin(K, signs, { bias }) {
  const n = signs.length;
  const isFree = bias === "free";
  const signed = (i, j) => (isFree ? 1 : signs[i] * signs[j]);
  const shift = bias === "penalized" ? 1 : 0;
  const Q = Float64Array.from(K, (v, k) => signed(Math.floor(k / n), k % n) * (v + shift));
  const first = [signs.findIndex((s) => s > 0), signs.findIndex((s) => s < 0)];
  const start = new Float64Array(n);
  if (isFree) [start[first[0]], start[first[1]]] = [1, -1];
  else start[0] = 1;
  const scale = Math.max(1e-300, ...signs.map((_, i) => Q[i * n + i]));
  const found = minimise(
    {
      Q,
      p: new Float64Array(n),
      lower: Float64Array.from(signs, (s) => (isFree && s < 0 ? -Infinity : 0)),
      upper: Float64Array.from(signs, (s) => (isFree && s < 0 ? 0 : Infinity)),
      groups: isFree ? Uint8Array.from(signs, (s) => (s > 0 ? 0 : 1)) : new Uint8Array(n),
      start,
    },
    { tol: 1e-13 * scale },
  );
  const square = inner(found.beta, product(Q, found.beta));
  if (!(square > TOUCHING ** 2 * radius2(K, signs.length, isFree)))
    throw new Refusal("no hyperplane separates the classes", { proof: proofOf(found.beta, signs, bias) });
  const times = (isFree ? 2 : 1) / square;
  const beta = found.beta.map((v, i) => times * v * (isFree ? 1 : signs[i]));
  // With a free bias it is halfway between the hulls, as seen along w.
  const [low, high] = found.bias;
  const b = isFree ? (low + high) / square : bias === "penalized" ? sum(Array.from(beta)) : 0;
  const half = 0.5 * times * times * square;
  const dual = sum(Array.from(beta, Math.abs)) - half;
  const projections = product(K, beta);
  const shortest = Math.min(...signs.map((s, i) => s * (projections[i] + b)));
  return { beta, bias: b, bound: Infinity, done: found.done, primal: half / Math.min(1, shortest) ** 2, dual };
}

// The square of the largest norm of a point, from their mean if the bias is free.
function radius2(K, n, isFree) {
  const mean = isFree ? K.reduce((a, v) => a + v, 0) / (n * n) : 0;
  let most = 1e-300;
  for (let i = 0; i < n; i++) {
    let across = 0;
    if (isFree) for (let j = 0; j < n; j++) across += K[i * n + j] / n;
    most = Math.max(most, K[i * n + i] - 2 * across + mean);
  }
  return most;
}

function proofOf(beta, signs, bias) {
  const indices = signs.flatMap((_, i) => (beta[i] ? [i] : []));
  return {
    indices,
    weights: indices.map((i) => Math.abs(beta[i])),
    signs: indices.map((i) => signs[i]),
    bias,
    point: null,
    says: "",
  };
}

/**
 * nu-SVM: reduced hulls, then everything divided by the margin.
 * @returns {TwoClass}
 */
export function nuMargin(K, signs, { nu }) {
  const n = signs.length;
  const side = 0.5 * nu * n;
  const counts = [signs.filter((s) => s > 0).length, signs.filter((s) => s < 0).length];
  if (side > Math.min(...counts) * (1 + 1e-12))
    throw new Refusal(
      `ν must be at most ${((2 * Math.min(...counts)) / n).toPrecision(3)} for classes of ${Math.max(...counts)} and ${Math.min(...counts)} points, got ${nu}.`,
    );
  const left = [side, side];
  const start = Float64Array.from(signs, (s) => {
    const g = s > 0 ? 0 : 1;
    const take = Math.min(1, left[g]);
    left[g] -= take;
    return s * take;
  });
  const found = minimise({
    Q: K,
    p: new Float64Array(n),
    lower: Float64Array.from(signs, (s) => (s > 0 ? 0 : -1)),
    upper: Float64Array.from(signs, (s) => (s > 0 ? 1 : 0)),
    groups: Uint8Array.from(signs, (s) => (s > 0 ? 0 : 1)),
    start,
  });
  const [low, high] = found.bias;
  const rho = 0.5 * (high - low);
  if (!(rho > 0) || isNothing(K, found.beta))
    throw new Refusal(
      "The margin is zero: ν allows so few margin errors that no hyperplane has a margin here. Raise ν, or choose a kernel that separates the classes better.",
    );
  const b = 0.5 * (low + high);
  const values = objectives(K, found.beta, b, {
    penalised: false,
    cost: (w) => -2 * side * rho + sum(signs.map((s, i) => Math.max(0, rho - s * (w[i] + b)))),
    dual: (half) => -half,
  });
  return { beta: found.beta.map((v) => v / rho), bias: b / rho, bound: 1 / rho, done: found.done, ...values };
}

/** A region that leaves out at most the share nu. */
export function oneClass(K, n, { nu }) {
  const total = nu * n;
  let left = total;
  const start = Float64Array.from({ length: n }, () => {
    const take = Math.min(1, left);
    left -= take;
    return take;
  });
  const found = minimise({
    Q: K,
    p: new Float64Array(n),
    lower: new Float64Array(n),
    upper: new Float64Array(n).fill(1),
    groups: new Uint8Array(n),
    start,
  });
  if (isNothing(K, found.beta))
    throw new Refusal(
      "There is no half-space: the origin of the feature space is among the points. Use a kernel with positive values only, such as the Gaussian, or a larger ν.",
    );
  const bias = found.bias[0] + BORDER * Math.abs(found.bias[0]);
  const values = objectives(K, found.beta, bias, {
    penalised: false,
    cost: (w) => total * bias + sum(Array.from(w, (v) => Math.max(0, -v - bias))),
    dual: (half) => -half,
  });
  return { beta: found.beta, bias, bound: 1, done: found.done, ...values };
}

/** A curve in a tube. */
export function tube(K, targets, { C, epsilon, bias }) {
  const n = targets.length;
  const found = minimise({
    Q: quadratic(K, n, bias === "penalized" ? 1 : 0, 0),
    p: Float64Array.from(targets),
    lower: new Float64Array(n).fill(-C),
    upper: new Float64Array(n).fill(C),
    kink: epsilon,
    groups: bias === "free" ? new Uint8Array(n) : null,
    start: new Float64Array(n),
  });
  const { beta } = found;
  const b = bias === "free" ? found.bias[0] : bias === "penalized" ? sum(Array.from(beta)) : 0;
  const values = objectives(K, beta, b, {
    penalised: bias === "penalized",
    cost: (w) => C * sum(targets.map((t, i) => Math.max(0, Math.abs(t - w[i] - b) - epsilon))),
    dual: (half) => inner(targets, beta) - epsilon * sum(Array.from(beta, Math.abs)) - half,
  });
  return { beta, bias: b, bound: C, done: found.done, ...values };
}

/** Least squares with a penalty: (K + alpha) c = y. */
export function leastSquares(K, targets, { alpha }) {
  const n = targets.length;
  const beta = solve(quadratic(K, n, 0, alpha), Float64Array.from(targets)).x;
  const w = product(K, beta);
  // What a second pass over the same system still finds is added.
  const rest = Float64Array.from(targets, (t, i) => t - w[i] - alpha * beta[i]);
  const more = solve(quadratic(K, n, 0, alpha), rest).x;
  const found = beta.map((v, i) => v + more[i]);
  const fitted = product(K, found);
  const energy = 0.5 * alpha * inner(found, fitted);
  const primal = 0.5 * sum(targets.map((t, i) => (t - fitted[i]) ** 2)) + energy;
  const dual = alpha * inner(targets, found) - 0.5 * alpha * alpha * inner(found, found) - energy;
  return { beta: found, bias: 0, bound: Infinity, done: true, primal, dual };
}

const BUILDERS = {
  hard: hardMargin,
  soft: softMargin,
  squared: (K, signs, scene) => softMargin(K, signs, { ...scene, isSquared: true }),
  nu: nuMargin,
};

/** Machines of all pairs of classes, and what they say together. */
export function classifier(scene, points, labels) {
  const build = BUILDERS[scene.method];
  const classes = [...new Set(labels)].sort((a, b) => a - b);
  const kernel = kernelOf(scene);
  const machines = [];
  for (let i = 0; i < classes.length; i++)
    for (let j = i + 1; j < classes.length; j++) {
      // With two classes the second is the positive one; of a pair, the first.
      const [plus, minus] = classes.length === 2 ? [classes[1], classes[0]] : [classes[i], classes[j]];
      const members = labels.flatMap((label, k) => (label === plus || label === minus ? [k] : []));
      const own = members.map((k) => points[k]);
      const signs = members.map((k) => (labels[k] === plus ? 1 : -1));
      try {
        const found = build(gram(kernel, own), signs, scene);
        const decide = expansion(kernel, own, found.beta, found.bias);
        machines.push({ ...found, i, j, members, signs, kernel, decide });
      } catch (error) {
        if (error instanceof Refusal && error.more.proof) locate(error.more.proof, members, own, scene);
        throw error;
      }
    }
  return { classes, machines };
}

// The rows of a proof in the numbers of the whole, and the point where the plane itself can show it.
function locate(proof, members, own, scene) {
  if (scene.kernel === "linear" && proof.bias === "free")
    proof.point = [0, 1].map((c) => 0.5 * sum(proof.indices.map((i, k) => proof.weights[k] * own[i][c])));
  proof.indices = proof.indices.map((i) => members[i]);
}

/** Votes of the pairs, ties broken by confidence: estimators/fitting/tasks.py, ovr_from_ovo. */
export function scores({ classes, machines }, x, y) {
  const votes = classes.map(() => 0);
  const confidence = classes.map(() => 0);
  for (const { i, j, decide } of machines) {
    const value = decide(x, y);
    votes[value >= 0 ? i : j] += 1;
    confidence[i] += value;
    confidence[j] -= value;
  }
  return votes.map((v, k) => v + confidence[k] / (3 * (Math.abs(confidence[k]) + 1)));
}

/** The place of the class with the most votes; a zero is a win of the second, a tie of the first. */
function elected({ classes, machines }, x, y) {
  const votes = classes.map(() => 0);
  for (const { i, j, decide } of machines) votes[decide(x, y) > 0 ? i : j] += 1;
  return votes.indexOf(Math.max(...votes));
}

/** The place of the class that a machine predicts: as in the library, Hard-SVM breaks ties by confidence. */
export function predicted(method, model, x, y) {
  if (method !== "hard") return elected(model, x, y);
  const all = scores(model, x, y);
  return all.indexOf(Math.max(...all));
}

export const isAtBound = (alpha, bound) => alpha >= bound * (1 - AT_BOUND);
