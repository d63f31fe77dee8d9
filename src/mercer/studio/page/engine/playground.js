// @ts-check
// The playground's requests, answered in the page: see mercer/studio/views/playground.py, which this stands in for.

import { expansion, gram, kernelOf } from "./kernels.js";
import {
  classifier,
  inner,
  isAtBound,
  leastSquares,
  oneClass,
  predicted,
  product,
  Refusal,
  scores,
  tube,
} from "./machines.js";
import { fieldOf, fillRow, readScene, shaped } from "./scene.js";

/** @type {[number, number]} */
export const COARSE = [96, 72];
/** @type {[number, number]} */
const FINE = [288, 216];
const CURVE = 400;
const REST = 120; // milliseconds without a newer request after which the field is worth refining
const SLICE = 12; // milliseconds of work between two looks at what has been asked for
const [ZERO, FREE, INSIDE, WRONG, SUPPORT] = [0, 1, 2, 3, 4];
const KINDS = { hard: "classes", soft: "classes", squared: "classes", nu: "classes", oneclass: "region" };
const CURVES = { svr: tube, ridge: leastSquares };
const WITH_MARGIN = ["hard", "soft", "squared", "nu"];

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
let presets = null;

async function load() {
  presets ??= await (await fetch(new URL("presets.json", import.meta.url))).json();
  return presets;
}

async function* start() {
  const { list, states } = await load();
  yield [{ presets: list, first: states.toy }, {}];
}

async function* preset({ key }) {
  const { states } = await load();
  if (!(key in states)) throw new Refusal(`There is no preset named ${key}.`);
  yield [{ state: states[key] }, {}];
}

async function* code() {
  yield [
    { error: "Python code is written by the installed Studio: copy the link, and open it with mercer studio LINK." },
  ];
}

/** Fit the scene: first what can be drawn at once, then the field in more detail. */
async function* fit(request, job) {
  const scene = readScene(request);
  const kind = KINDS[scene.method] ?? (CURVES[scene.method] ? "curve" : null);
  if (!kind)
    throw new Refusal(
      "This method is one of the installed Studio: copy the link, and open it with mercer studio LINK.",
    );
  if (!scene.points.length) throw new Refusal("There are no points yet: click into the plane to place some.");
  const begin = performance.now();
  const found = { classes: fitClasses, region: fitRegion, curve: fitCurve }[kind](scene);
  const isDone = found.machines.every((m) => m.done);
  const header = {
    kind,
    ms: performance.now() - begin,
    status: isDone ? "OPTIMAL" : "OPTIMAL_INACCURATE",
    meaning: isDone ? "solved to the tolerance" : "as near to the optimum as this page came in its time",
    classes: found.classes ?? [],
    numbers: { ...found.numbers, ...measured(scene, found), ...counts(found.cases) },
    cases: found.cases,
  };
  const arrays = {
    alpha: shaped(found.alpha, [found.alpha.length]),
    values: shaped(found.values, [found.values.length]),
  };
  if (kind === "curve") {
    yield [header, { ...arrays, curve: curveOf(scene, found.value) }];
    return;
  }
  yield [
    { ...header, grid: COARSE },
    { ...arrays, field: fieldOf(scene.window, COARSE, found.value) },
  ];
  await pause(REST);
  const field = new Float64Array(FINE[0] * FINE[1]);
  let since = performance.now();
  for (let r = 0; r < FINE[1] && !job.isOver(); r++) {
    fillRow(field, r, scene.window, FINE, found.value);
    if (performance.now() - since > SLICE) {
      await pause(0);
      since = performance.now();
    }
  }
  if (!job.isOver()) yield [{ refined: true, grid: FINE }, { field: shaped(field, [FINE[1], FINE[0]]) }];
}

function fitClasses(scene) {
  const { points } = scene;
  const labels = points.map((p) => p[2]);
  if (new Set(labels).size < 2)
    throw new Refusal(
      `This method needs points of at least two classes, and all ${points.length} here are of one; place some of another, or choose One-class SVM.`,
    );
  const model = classifier(scene, points, labels);
  const { classes, machines } = model;
  const isPair = classes.length === 2;
  const alpha = new Float64Array(points.length);
  for (const { beta, members } of machines)
    members.forEach((k, i) => {
      alpha[k] = Math.max(alpha[k], Math.abs(beta[i]));
    });
  const value = isPair ? machines[0].decide : (x, y) => predicted(scene.method, model, x, y);
  const own = points.map(([x, y, label]) => {
    if (isPair) return label === classes[1] ? value(x, y) : -value(x, y);
    const all = scores(model, x, y);
    const mine = all.splice(classes.indexOf(label), 1)[0];
    return mine - Math.max(...all);
  });
  const wrong = points.filter(([x, y, label]) => {
    const place = isPair ? Number(value(x, y) > 0) : value(x, y);
    return classes[place] !== label;
  }).length;
  const cases = Array.from(alpha, (a, k) => {
    if (!a) return ZERO;
    if (!isPair) return SUPPORT;
    return isAtBound(a, machines[0].bound) ? (own[k] > 0 ? INSIDE : WRONG) : FREE;
  });
  return {
    classes,
    machines,
    alpha,
    value,
    values: Float64Array.from(own),
    cases,
    numbers: { training_errors: wrong },
  };
}

function fitRegion(scene) {
  const { points } = scene;
  const kernel = kernelOf(scene);
  const K = gram(kernel, points);
  const machine = oneClass(K, points.length, scene);
  const values = product(K, machine.beta).map((v) => v + machine.bias);
  const cases = Array.from(machine.beta, (b) => (!b ? ZERO : isAtBound(b, 1) ? WRONG : FREE));
  return {
    machines: [{ ...machine, K }],
    alpha: Float64Array.from(machine.beta),
    value: expansion(kernel, points, machine.beta, machine.bias),
    values,
    cases,
    numbers: { outside: values.filter((v) => v < 0).length },
  };
}

function fitCurve(scene) {
  const points = scene.points.map(([x]) => [x, 0]);
  const targets = scene.points.map((p) => p[1]);
  const kernel = kernelOf(scene);
  const K = gram(kernel, points);
  const machine = CURVES[scene.method](K, targets, scene);
  const values = product(K, machine.beta).map((v) => v + machine.bias);
  const alpha = Float64Array.from(machine.beta, Math.abs);
  const cases = Array.from(alpha, (a) =>
    !a || scene.method === "ridge" ? ZERO : isAtBound(a, machine.bound) ? WRONG : FREE,
  );
  const squares = targets.reduce((total, t, i) => total + (t - values[i]) ** 2, 0);
  return {
    machines: [{ ...machine, K }],
    alpha,
    value: expansion(kernel, points, machine.beta, machine.bias),
    values,
    cases,
    numbers: { error_rms: Math.sqrt(squares / targets.length) },
  };
}

function curveOf(scene, value) {
  const [left, right] = scene.window;
  const out = new Float64Array(2 * CURVE);
  for (let k = 0; k < CURVE; k++) {
    out[k] = left + ((right - left) * k) / (CURVE - 1);
    out[CURVE + k] = value(out[k], 0);
  }
  return shaped(out, [2, CURVE]);
}

const counts = (cases) => ({
  support: cases.filter((c) => c !== ZERO).length,
  free: cases.filter((c) => c === FREE).length,
  bounded: cases.filter((c) => c === INSIDE || c === WRONG).length,
});

/** Margin, norm, bias and objectives of one machine. */
function measured(scene, { machines }) {
  if (machines.length !== 1) return {};
  const [m] = machines;
  const K = m.K ?? gram(kernelOf(scene), scene.points);
  const numbers = { primal: m.primal, dual: m.dual, gap: m.primal - m.dual };
  if (scene.method === "ridge") return numbers;
  const norm = Math.sqrt(Math.max(0, inner(m.beta, product(K, m.beta))));
  return {
    ...numbers,
    bias: m.bias,
    norm,
    ...(WITH_MARGIN.includes(scene.method) && norm ? { margin: 1 / norm } : {}),
  };
}

export const ACTIONS = { start, preset, code, fit };
