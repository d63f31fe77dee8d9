// @ts-check
// The ideas' requests, answered in the page: see mercer/studio/views/ideas.py, which this stands in for.

import { expansion, gram, kernelOf } from "./kernels.js";
import { hardMargin, Refusal, softMargin } from "./machines.js";
import { COARSE } from "./playground.js";
import { fieldOf, readScene, shaped, twoClasses } from "./scene.js";

const PRICE = 10;
const CURVE = 301;
/** @type {[number, number]} */
const SHEET = [41, 13];
/** @type {[number, number]} */
const BOX_GRID = [81, 81];
const even = (from, to, n) => Float64Array.from({ length: n }, (_, k) => from + ((to - from) * k) / (n - 1));
const places = (beta) => Array.from(beta).flatMap((b, i) => (b ? [i] : []));

// The hard-margin machine, or where there is none a soft one.
function separated(K, signs) {
  try {
    return { ...hardMargin(K, signs, { bias: "free" }), isHard: true };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...softMargin(K, signs, { C: PRICE, bias: "free" }), isHard: false };
  }
}

const weighted = (beta, rows, c) => rows.reduce((total, row, i) => total + beta[i] * row[c], 0);

function* liftLine(request) {
  const scene = readScene(request);
  const signs = twoClasses(scene);
  const linear = kernelOf({ kernel: "linear" });
  const lifted = scene.points.map(([x]) => [x, x * x]);
  const machine = separated(gram(linear, lifted), signs);
  const [w1, w2, b] = [weighted(machine.beta, lifted, 0), weighted(machine.beta, lifted, 1), machine.bias];
  const onLine = scene.points.map(([x]) => [x, 0]);
  const flat = separated(gram(linear, onLine), signs);
  const w = weighted(flat.beta, onLine, 0);
  const along = even(scene.window[0], scene.window[1], CURVE);
  yield [
    {
      weights: [w1, w2, b],
      hard: machine.isHard,
      roots: roots(w2, w1, b),
      margin: 1 / Math.hypot(w1, w2),
      flat_errors: onLine.filter(([x], i) => (w * x + flat.bias > 0 ? 1 : -1) !== signs[i]).length,
      support: places(machine.beta),
    },
    {
      lifted: shaped(Float64Array.from(lifted.flat()), [lifted.length, 2]),
      along: shaped(along, [CURVE]),
      values: shaped(
        along.map((x) => w1 * x + w2 * x * x + b),
        [CURVE],
      ),
    },
  ];
}

// Real roots of a x^2 + b x + c.
function roots(a, b, c) {
  const inside = b * b - 4 * a * c;
  if (!a || inside < 0) return [];
  const q = -0.5 * (b + (b < 0 ? -1 : 1) * Math.sqrt(inside));
  return [q / a, c / q].sort((x, y) => x - y);
}

const features = ([x, y]) => [x * x, Math.SQRT2 * x * y, y * y];

function* liftPlane(request) {
  /** @type {Record<string, any>} */
  const scene = { ...readScene(request), kernel: "poly", degree: 2, gamma: 1, coef0: 0 };
  const signs = twoClasses(scene);
  const kernel = kernelOf(scene);
  const machine = separated(gram(kernel, scene.points), signs);
  const rows = scene.points.map(features);
  const w = [0, 1, 2].map((c) => weighted(machine.beta, rows, c));
  const radius = 1.04 * Math.max(...scene.points.map(([x, y]) => Math.hypot(x, y)));
  const sheet = [];
  for (let r = 0; r < SHEET[1]; r++)
    for (let c = 0; c < SHEET[0]; c++) {
      const [at, angle] = [(radius * r) / (SHEET[1] - 1), (Math.PI * c) / (SHEET[0] - 1)];
      sheet.push(features([at * Math.cos(angle), at * Math.sin(angle)]));
    }
  const norm = Math.hypot(...w);
  yield [
    {
      weights: w,
      bias: machine.bias,
      hard: machine.isHard,
      margin: norm ? 1 / norm : null,
      support: places(machine.beta),
      grid: COARSE,
      sheet_grid: SHEET,
    },
    {
      features: shaped(Float64Array.from(rows.flat()), [rows.length, 3]),
      field: fieldOf(scene.window, COARSE, expansion(kernel, scene.points, machine.beta, machine.bias)),
      sheet: shaped(Float64Array.from(sheet.flat()), [sheet.length, 3]),
    },
  ];
}

// Corners of the convex hull, in order (Andrew 1979).
export function hullOf(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => {
    const out = [];
    for (const p of list) {
      while (out.length >= 2 && turn(out.at(-2), out.at(-1), p) <= 0) out.pop();
      out.push(p);
    }
    return out.slice(0, -1);
  };
  if (sorted.length < 3) return sorted;
  return [...half(sorted), ...half(sorted.reverse())];
}

function* hulls(request) {
  const scene = readScene(request);
  const signs = twoClasses(scene);
  const points = scene.points.map(([x, y]) => [x, y]);
  const shapes = [-1, 1].map((sign) => hullOf(points.filter((_, i) => signs[i] === sign)));
  let machine;
  try {
    machine = hardMargin(gram(kernelOf({ kernel: "linear" }), points), signs, { bias: "free" });
  } catch (error) {
    if (!(error instanceof Refusal && error.more.proof)) throw error;
    const { proof } = error.more;
    const point = [0, 1].map((c) => 0.5 * proof.indices.reduce((t, i, k) => t + proof.weights[k] * points[i][c], 0));
    yield [{ separable: false, hulls: shapes, ...proof, point }, {}];
    return;
  }
  const w = [0, 1].map((c) => weighted(machine.beta, points, c));
  const nearest = [-1, 1].map((sign) => {
    const own = machine.beta.map((b) => (Math.sign(b) === sign ? Math.abs(b) : 0));
    const total = own.reduce((a, b) => a + b, 0);
    return [0, 1].map((c) => weighted(own, points, c) / total);
  });
  yield [
    {
      separable: true,
      hulls: shapes,
      nearest,
      margin: 1 / Math.hypot(...w),
      weights: w,
      bias: machine.bias,
      support: places(machine.beta),
    },
    {},
  ];
}

// Two points without a bias: one coordinate at a time, the one that gains more first.
function* dualBox(request) {
  const scene = readScene(request);
  const signs = twoClasses(scene);
  if (signs.length !== 2)
    throw new Refusal(`The box of two alphas is drawn for two points, and there are ${signs.length} here.`);
  const { C } = scene;
  const Q = gram(kernelOf({ kernel: "linear" }), scene.points).map((v, k) => v * signs[k >> 1] * signs[k & 1]);
  const slope = (a, i) => 1 - Q[2 * i] * a[0] - Q[2 * i + 1] * a[1];
  const path = [[0, 0]];
  for (let k = 0; k < 60; k++) {
    const a = [...path.at(-1)];
    const steps = [0, 1].map((i) => {
      const curvature = Math.max(1e-12, Q[3 * i]);
      return Math.max(-a[i], Math.min(C - a[i], slope(a, i) / curvature));
    });
    const gains = steps.map((s, i) => s * (slope(a, i) - 0.5 * Q[3 * i] * s));
    const i = gains[1] > gains[0] ? 1 : 0;
    if (!(gains[i] > 1e-14)) break;
    a[i] = steps[i] >= C - a[i] ? C : a[i] + steps[i];
    path.push(a);
  }
  const alpha = path.at(-1);
  const value = (x, y) => x + y - 0.5 * (Q[0] * x * x + 2 * Q[1] * x * y + Q[3] * y * y);
  const half = alpha[0] + alpha[1] - value(alpha[0], alpha[1]);
  const short = [0, 1].map((i) => Math.max(0, slope(alpha, i)));
  yield [
    {
      grid: BOX_GRID,
      reach: 1.25 * C,
      C,
      alpha,
      where: alpha.map((a) => (a === 0 ? "at 0" : a >= C ? "at C" : "free")),
      primal: half + C * (short[0] + short[1]),
      dual: value(alpha[0], alpha[1]),
      path,
      weights: [0, 1].map((c) => weighted([signs[0] * alpha[0], signs[1] * alpha[1]], scene.points, c)),
    },
    { field: fieldOf([0, 1.25 * C, 0, 1.25 * C], BOX_GRID, value) },
  ];
}

/** @type {[name: string, formula: string, convex: boolean, value: (z: number) => number][]} */
const LOSSES = [
  ["zero_one", "1 if z <= 0 else 0", false, (z) => (z <= 0 ? 1 : 0)],
  ["perceptron", "max(0, -z)", true, (z) => Math.max(0, -z)],
  ["hinge", "max(0, 1 - z)", true, (z) => Math.max(0, 1 - z)],
  ["ramp", "min(1, max(0, 1 - z))", false, (z) => Math.min(1, Math.max(0, 1 - z))],
  ["squared_hinge", "max(0, 1 - z)^2", true, (z) => Math.max(0, 1 - z) ** 2],
  ["logistic", "log(1 + exp(-z))", true, (z) => Math.log1p(Math.exp(-z))],
];

function* losses() {
  const z = Float64Array.from({ length: 551 }, (_, k) => (k - 250) / 100);
  const curves = Float64Array.from(LOSSES.flatMap(([, , , value]) => Array.from(z, value)));
  yield [
    { losses: LOSSES.map(([name, formula, convex]) => [name, formula, convex]) },
    { z: shaped(z, [z.length]), curves: shaped(curves, [LOSSES.length, z.length]) },
  ];
}

export const ACTIONS = { lift_line: liftLine, lift_plane: liftPlane, hulls, dual_box: dualBox, losses };
