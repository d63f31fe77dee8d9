// @ts-check
// What can be chosen for a scene: methods, kernels, and their numbers.

import { chips, segmented, select, slider } from "../controls.js";
import { h } from "../dom.js";
import { isAlone } from "../link.js";

const ALL_METHODS = [
  ["perceptron", "Perceptron"],
  ["hard", "Hard-SVM"],
  ["soft", "Soft-SVM"],
  ["squared", "Soft-SVM, squared hinge"],
  ["ramp", "Ramp loss"],
  ["nu", "ν-SVM"],
  ["logistic", "Kernel logistic regression"],
  ["fisher", "Fisher discriminant"],
  ["oneclass", "One-class SVM"],
  ["svr", "SVR on a curve"],
  ["ridge", "Kernel ridge on a curve"],
];
// What the engine of the page itself can fit (engine/machines.js, engine/kernels.js).
const FITTED_HERE = ["hard", "soft", "squared", "nu", "oneclass", "svr", "ridge"];
const EVALUATED_HERE = ["linear", "poly", "rbf", "laplacian", "matern", "rational", "second", "cosine"];

export const METHODS = ALL_METHODS.filter(([key]) => !isAlone || FITTED_HERE.includes(key));
export const USES = {
  perceptron: ["bias"],
  hard: ["bias"],
  soft: ["C", "bias"],
  squared: ["C", "bias"],
  ramp: ["C", "bias"],
  nu: ["nu"],
  logistic: ["C", "bias"],
  fisher: ["alpha"],
  oneclass: ["nu"],
  svr: ["C", "epsilon", "bias"],
  ridge: ["alpha"],
};
export const ABOUT = {
  perceptron: "Adds y·x to w at every mistake, until there is none.",
  hard: "The widest street between two classes, or the proof that there is none.",
  soft: "A wide street, and a price C for every point that it does not keep out.",
  squared: "As Soft-SVM, with the square of what a point falls short.",
  ramp: "No point can cost more than 1, so outliers lose their pull.",
  nu: "ν bounds the share of margin errors from above, of support vectors from below.",
  logistic: "The log-likelihood in the place of the hinge: probabilities.",
  fisher: "Class means far apart, beside the spread within the classes.",
  oneclass: "A region that leaves out at most the share ν of the points.",
  svr: "A tube of width ε around a curve; only points outside of it count.",
  ridge: "Least squares with a penalty: every point pulls.",
};
const ALL_KERNELS = [
  ["linear", "Linear  ⟨x, x′⟩"],
  ["poly", "Polynomial  (γ⟨x, x′⟩ + r)ᵈ"],
  ["rbf", "Gaussian  exp(−γ|x−x′|²)"],
  ["laplacian", "Laplacian  exp(−γ|x−x′|₁)"],
  ["matern", "Matérn 3/2"],
  ["rational", "Rational quadratic"],
  ["second", "Second-order transform"],
  ["cosine", "Cosine"],
  ["sigmoid", "Sigmoid (indefinite)"],
  ["chi2", "χ² (for counts ≥ 0)"],
  ["expression", "An expression…"],
];
export const KERNELS = ALL_KERNELS.filter(([key]) => !isAlone || EVALUATED_HERE.includes(key));
export const KERNEL_USES = {
  poly: ["degree", "gamma", "coef0"],
  rbf: ["gamma"],
  laplacian: ["gamma"],
  matern: ["length_scale"],
  rational: ["length_scale"],
  sigmoid: ["gamma", "coef0"],
  chi2: ["gamma"],
  expression: ["expression"],
};
const EXAMPLES = ["rbf(gamma=1) + 0.5*linear()", "poly(degree=2, coef0=1) * rbf(gamma=0.2)", "linear()**2 + linear()"];

/** @typedef {typeof import("../state.js").state.scene} Scene */

/**
 * The controls of a scene, by what of it they show. `put` makes them show a scene that was replaced.
 * @param {Scene} scene
 * @param {() => void} layout called after choices that other controls depend on, before `changed`
 * @param {() => void} changed called after every change
 */
export function sceneControls(scene, layout, changed) {
  const set =
    (name, isShown = false) =>
    (value) => {
      scene[name] = value;
      if (isShown) layout();
      changed();
    };
  const number = (label, name, min, max, log, step) =>
    slider({ label, name, min, max, value: scene[name], log, step, onchange: set(name) });
  const bias = segmented(
    "Bias",
    [
      ["free", "free", "b is not penalised"],
      ["penalized", "penalized", "b² is penalised like w"],
      ["none", "none", "the plane goes through the origin"],
    ],
    scene.bias,
    set("bias"),
  );
  /** @type {Record<string, import("../controls.js").Control>} */
  const controls = {
    method: select("Method", METHODS, scene.method, set("method", true), "method"),
    kernel: select("Kernel", KERNELS, scene.kernel, set("kernel", true), "kernel"),
    bias: { node: h("div", { class: "field" }, h("span", { class: "label" }, "Bias b"), bias.node), put: bias.put },
    C: number("C, price of errors", "C", 1e-3, 1e5, true),
    gamma: number("γ, how local", "gamma", 1e-3, 1e3, true),
    degree: number("Degree d", "degree", 1, 8, false, 1),
    coef0: number("r, the constant", "coef0", -3, 3, false),
    length_scale: number("Length scale", "length_scale", 1e-2, 1e2, true),
    nu: number("ν, share of errors", "nu", 0.01, 1, false, 0.005),
    epsilon: number("ε, width of the tube", "epsilon", 0, 2, false, 0.01),
    alpha: number("Penalty λ", "alpha", 1e-6, 1e3, true),
    expression: expressionBox(scene.expression, set("expression")),
  };
  return {
    nodes: (/** @type {string[]} */ ...names) => names.map((name) => controls[name].node),
    put: () => Object.entries(controls).forEach(([name, control]) => control.put(scene[name])),
  };
}

/**
 * A box to write a kernel into, with examples below it.
 * @param {string} value
 * @param {(text: string) => void} onchange
 * @returns {import("../controls.js").Control}
 */
function expressionBox(value, onchange) {
  const box = h("textarea", {
    rows: 2,
    spellcheck: false,
    "aria-label": "Kernel expression",
    data: { name: "expression" },
    oninput: () => onchange(box.value),
  });
  // Not while it says the same already: the cursor would jump to its end.
  const put = (/** @type {string} */ text) => {
    if (box.value !== text) box.value = text;
  };
  const example = (/** @type {string} */ text) => {
    put(text);
    onchange(text);
  };
  put(value);
  const examples = chips(
    "Examples",
    "example",
    example,
    EXAMPLES.map((text) => [text, text]),
    "chip long",
  );
  return { node: h("div", { class: "field" }, box, examples.node), put };
}
