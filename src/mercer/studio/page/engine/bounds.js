// @ts-check
// What theory promises for the machine of the idea, Soft-SVM with a Gaussian kernel and a penalised bias: see
// mercer/theory/findings.py, whose numbers and words these are.

import { expansion, gram, kernelOf } from "./kernels.js";
import { inner, product, softMargin } from "./machines.js";
import { COARSE } from "./playground.js";
import { fieldOf, readScene, twoClasses } from "./scene.js";
import { minimise } from "./smo.js";

const DELTA = 0.05;
const SLACK = 1e-2; // a slack up to this is the tolerance of a solver
const BOOK = "Shalev-Shwartz & Ben-David, Understanding Machine Learning (2014)";

const plain = (value, digits) => {
  const text = value.toPrecision(digits);
  const size = Math.abs(value);
  if (size && (size < 1e-4 || size >= 10 ** digits)) {
    const [base, power] = value.toExponential(digits - 1).split("e");
    return `${Number(base)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }
  return String(Number(text));
};

// Radius of the smallest ball around the points of the feature space.
function smallestBall(K, n) {
  const diagonal = Float64Array.from({ length: n }, (_, i) => K[i * n + i]);
  const start = new Float64Array(n);
  start[0] = 1;
  const found = minimise({
    Q: K,
    p: diagonal.map((v) => 0.5 * v),
    lower: new Float64Array(n),
    upper: new Float64Array(n).fill(1),
    groups: new Uint8Array(n),
    start,
  });
  const centre = product(K, found.beta);
  const square = inner(found.beta, centre);
  return Math.sqrt(Math.max(...diagonal.map((v, i) => v - 2 * centre[i] + square)));
}

// log of the sum of binomials of n over i, up to d.
function growth(n, d) {
  if (d >= n) return n * Math.log(2);
  let [log, total, largest] = [0, 0, 0];
  const logs = [0];
  for (let i = 1; i <= d; i++) {
    log += Math.log(n - i + 1) - Math.log(i);
    logs.push(log);
    largest = Math.max(largest, log);
  }
  for (const each of logs) total += Math.exp(each - largest);
  return largest + Math.log(total);
}

function finding(key, name, value, says, { assumes = "", unmet = [], source = "" } = {}) {
  return { key, name, value, says, assumes, unmet, source, applies: value !== null && !unmet.length };
}

function* bounds(request) {
  /** @type {Record<string, any>} */
  const scene = { ...readScene(request), kernel: "rbf", bias: "penalized" };
  const signs = twoClasses(scene);
  const kernel = kernelOf(scene);
  const K = gram(kernel, scene.points);
  const machine = softMargin(K, signs, { C: scene.C, bias: scene.bias });
  const m = signs.length;
  const projections = product(K, machine.beta);
  const margins = signs.map((s, i) => s * (projections[i] + machine.bias));
  const slack = margins.map((v) => Math.max(0, 1 - v));
  const mean = (values) => values.reduce((a, b) => a + b, 0) / m;
  const all = {
    m,
    C: scene.C,
    alpha: Array.from(machine.beta, Math.abs),
    slack,
    hinge: mean(slack),
    smallest: Math.min(...margins),
    norm: Math.sqrt(Math.max(0, inner(machine.beta, projections))),
    rho: 1, // of a Gaussian kernel
    ball: smallestBall(K, m),
    bias: machine.bias,
  };
  yield [
    {
      m,
      norm: all.norm,
      intercept: machine.bias,
      rho: all.rho,
      ball_radius: all.ball,
      hinge: all.hinge,
      training_error: mean(margins.map((v) => Number(v <= 0))),
      findings: findingsOf(all),
      grid: COARSE,
      support: all.alpha.flatMap((a, i) => (a ? [i] : [])),
    },
    { field: fieldOf(scene.window, COARSE, expansion(kernel, scene.points, machine.beta, machine.bias)) },
  ];
}

function findingsOf(all) {
  return [theorem(all), corollary(all), corollaryForNorm(all), marginVc(all), vc(), supportVectors(all), xiAlpha(all)];
}

// rho and |w| once the bias is the weight of a feature that is 1.
const homogeneous = ({ rho, norm, bias }) => [Math.hypot(rho, 1), Math.hypot(norm, bias)];

function theorem(all) {
  const { m, smallest, slack } = all;
  const [rho, norm] = homogeneous(all);
  let [value, says] = [null, `error of Hard-SVM, with probability ${1 - DELTA}`];
  if (smallest > 0) {
    const ratio = rho / (smallest / norm);
    value = (2 * ratio) / Math.sqrt(m) + Math.sqrt((2 * Math.log(2 / DELTA)) / m);
    const rows = Math.ceil((8 / 0.01) * (2 * ratio * ratio + Math.log(2 / DELTA)));
    says += `; m(0.1, ${DELTA}) = ${rows} rows for an error of 0.1`;
  }
  const unmet =
    smallest <= 0
      ? ["the model does not separate its training rows"]
      : Math.max(...slack) > SLACK
        ? ["some rows lie inside the margin: this is not the Hard-SVM solution"]
        : [];
  const assumes = "new rows also have norm at most rho and margin at least gamma";
  const source = `${BOOK}, section 15.1.2, page 171`;
  return finding("theorem_15_4", "Theorem 15.4, separable data", value, says, { assumes, unmet, source });
}

function corollary(all) {
  const [rho, norm] = homogeneous(all);
  const lambda = 1 / (2 * all.C * all.m);
  const value = all.hinge + lambda * norm ** 2 + (2 * rho ** 2) / (lambda * all.m);
  const B = Math.sqrt((2 * rho ** 2) / all.m) / lambda;
  const says = `expected error <= hinge loss + lambda |w|^2 + 2 rho^2 / (lambda m); lambda is that for B = ${plain(B, 3)}`;
  const assumes = "new rows also have norm at most rho; w was fixed in advance, with this mean hinge loss";
  const source = `${BOOK}, section 15.2.1, page 172 (208 in the authors' online copy)`;
  return finding("corollary_15_7", "Corollary 15.7, the lambda of the fit", value, says, { assumes, source });
}

function corollaryForNorm(all) {
  const [rho, norm] = homogeneous(all);
  const name = "Corollary 15.7 with B = |w|";
  const source = `${BOOK}, section 15.2.1, page 172 (208 in the authors' online copy)`;
  if (!norm) return finding("norm", name, null, "", { unmet: ["w or every row is 0"], source });
  const lambda = Math.sqrt((2 * rho ** 2) / (norm ** 2 * all.m));
  const own = 1 / (2 * all.C * all.m);
  const unmet =
    own >= 0.99 * lambda && own <= 1.01 * lambda
      ? []
      : [`it is about a different model, with lambda = ${plain(lambda, 3)}`];
  const assumes = "B was chosen before the rows were seen, and some w of this norm has this hinge loss on new ones";
  const says = "hinge loss + sqrt(8 rho^2 B^2 / m): error of Soft-SVM in expectation";
  const value = all.hinge + Math.sqrt((8 * rho ** 2 * norm ** 2) / all.m);
  return finding("norm", name, value, says, { assumes, unmet, source });
}

function marginVc(all) {
  const name = "VC bound of hyperplanes with margin gamma";
  const source =
    "Magdon-Ismail, Learning From Data, lecture 25; Vapnik & Chervonenkis, Theory of Probability and its Applications 16 (1971), pages 264-280";
  const gamma = all.norm > 0 ? all.smallest / all.norm : 0;
  if (!(gamma > 0))
    return finding("margin_vc", name, null, "", { unmet: ["the model does not separate its training rows"], source });
  const d = Math.ceil((all.ball / gamma) ** 2 * (1 - 1e-12)) + 1;
  const value = Math.sqrt((8 / all.m) * (Math.log(4 / DELTA) + growth(2 * all.m, Math.min(d, 2 * all.m))));
  const says = `d_vc(gamma) <= min(ceil(R^2 / gamma^2), d) + 1 = ${d}; error with probability ${1 - DELTA}`;
  return finding("margin_vc", name, value, says, {
    assumes: "gamma and R were known before the rows were seen",
    source,
  });
}

const vc = () =>
  finding("vc", "VC bound of all halfspaces", null, "", {
    unmet: ["no finite dimension of the feature space is known"],
    source: "Vapnik & Chervonenkis, Theory of Probability and its Applications 16 (1971), pages 264-280",
  });

function supportVectors({ alpha, m }) {
  const count = alpha.filter((a) => a > 0).length;
  const says = `leave-one-out error is at most this: ${count} support vectors of ${m}`;
  const source = "Vapnik, The Nature of Statistical Learning Theory (1995), chapter 5";
  return finding("support_vectors", "Support vectors over rows", count / m, says, { source });
}

function xiAlpha({ alpha, slack, m, rho }) {
  const spread = rho ** 2 + 1;
  const counted = alpha.filter((a, i) => a > 0 && a * spread + slack[i] >= 1 - 1e-9).length;
  const source = "Joachims, ICML (2000), pages 431-438; Jaakkola & Haussler, AISTATS (1999)";
  return finding("xi_alpha", "xi-alpha estimate (Joachims 2000)", counted / m, "leave-one-out error is at most this", {
    source,
  });
}

export const ACTIONS = { bounds };
