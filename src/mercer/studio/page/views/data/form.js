// @ts-check
// What is to be learnt: the file, the column to predict, the columns to predict it from, the kernel and C.

import { select, slider } from "../../controls.js";
import { h } from "../../dom.js";
import { quiet } from "./cards.js";

/**
 * @typedef {import("../../link.js").Header} Data what the server says of a file or a set
 * @typedef {{ set: string | null, target: string | null, left: string[], kernel: string, expression: string, C: number }}
 *   Settings `left` are the columns that are left out
 */

const WRITTEN = "?"; // the kernel that somebody writes down
const KERNELS = [
  ["", "By what the data hold"],
  ["columns", "One for each column"],
  ["linear()", "Linear"],
  ["rbf()", "Gaussian"],
  ["poly(degree=2, coef0=1)", "Polynomial, degree 2"],
  ["laplacian()", "Laplacian"],
  [WRITTEN, "An expression…"],
];

/**
 * Where a file is dropped or chosen.
 * @param {(file: File) => void} take
 */
export function fileDrop(take) {
  const input = h("input", {
    type: "file",
    "aria-label": "Choose a file",
    data: { name: "file" },
    onchange: () => {
      if (input.files[0]) take(input.files[0]);
      input.value = "";
    },
  });
  const node = h(
    "label",
    { class: "drop" },
    h("b", {}, "Drop a file here, or choose one"),
    "CSV, .xlsx, .ods, Parquet, Arrow, JSON lines, svmlight, trees, a zip of TU graphs, or a .mercer model",
    input,
  );
  for (const kind of ["dragover", "dragenter"])
    node.addEventListener(kind, (e) => {
      e.preventDefault();
      node.classList.add("over");
    });
  for (const kind of ["dragleave", "drop"]) node.addEventListener(kind, () => node.classList.remove("over"));
  node.addEventListener("drop", (e) => {
    e.preventDefault();
    if (e.dataTransfer.files[0]) take(e.dataTransfer.files[0]);
  });
  return node;
}

/** @param {Data} data */
const kernelsFor = (data) =>
  KERNELS.filter(
    ([key]) => data.columns || key === "" || key === WRITTEN || (data.kind === "vectors" && key !== "columns"),
  );

/**
 * Settings that are possible for the data: those that were there, as far as they are.
 * @param {Settings} settings
 * @param {Data} data
 */
export function fitSettings(settings, data) {
  if (data.columns && !data.columns.some((c) => c.name === settings.target)) settings.target = data.target;
  if (!kernelsFor(data).some(([key]) => key === settings.kernel)) settings.kernel = "";
}

/**
 * @param {Settings} settings
 * @param {Data} data
 */
export function requestOf({ target, left, kernel, expression, C }, data) {
  return {
    target,
    columns: data.columns?.map((c) => c.name).filter((name) => name !== target && !left.includes(name)) ?? null,
    kernel: kernel === WRITTEN ? expression : kernel,
    C,
  };
}

/**
 * @param {Data} data
 * @param {Settings} settings
 * @param {(name: keyof Settings, value: any) => void} set
 */
export function learnForm(data, settings, set) {
  return [
    ...(data.columns ? columnFields(data, settings, set) : [quiet(describedItems(data))]),
    select("Kernel", kernelsFor(data), settings.kernel, (v) => set("kernel", v), "data-kernel").node,
    settings.kernel === WRITTEN ? expressionField(settings, set) : "",
    slider({
      label: "C, price of errors",
      name: "data-C",
      min: 1e-3,
      max: 1e5,
      value: settings.C,
      log: true,
      onchange: (v) => set("C", v),
    }).node,
  ];
}

/** @type {(data: Data, settings: Settings, set: (name: keyof Settings, value: any) => void) => HTMLElement[]} */
function columnFields({ columns }, settings, set) {
  const options = columns.map(({ name, task, distinct }) => [
    name,
    `${name} (${task === "regression" ? "quantity" : `${distinct} values`})`,
  ]);
  return [
    select("Predict", options, settings.target, (v) => set("target", v), "target").node,
    h(
      "div",
      { class: "field" },
      h("span", { class: "label" }, "From these columns"),
      h(
        "div",
        { class: "checks" },
        columns.filter((c) => c.name !== settings.target).map((c) => columnBox(c, settings, set)),
      ),
    ),
  ];
}

function columnBox({ name, kind, distinct, missing, constant, left_out: leftOut }, settings, set) {
  const gaps = missing ? `${missing} missing` : "";
  const warning = leftOut || (constant ? "constant" : gaps);
  return h(
    "label",
    {
      class: "check",
      title: constant ? "the same in every row: it cannot help" : `${kind}, ${distinct} values${gaps && `, ${gaps}`}`,
    },
    h("input", {
      type: "checkbox",
      checked: !settings.left.includes(name),
      onchange: (e) =>
        set("left", e.target.checked ? settings.left.filter((n) => n !== name) : [...settings.left, name]),
    }),
    h("span", {}, name),
    warning && h("em", {}, warning),
  );
}

/** @type {(data: Data) => string} */
function describedItems({ rows, kind, labels }) {
  const words = labels ? `labelled ${Object.keys(labels).slice(0, 6).join(", ")}` : "without labels";
  return `${rows} ${kind}, ${words}.`;
}

function expressionField({ expression }, set) {
  return h(
    "div",
    { class: "field" },
    h(
      "textarea",
      {
        rows: 2,
        spellcheck: false,
        "aria-label": "Kernel expression",
        placeholder: "rbf(gamma=0.1) + 2*spectrum(k=3)@text",
        data: { name: "data-expression" },
        oninput: (e) => set("expression", e.target.value),
      },
      expression,
    ),
  );
}
