// @ts-check
// Elements without markup: what comes from data is always text, never HTML.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} props attributes; `class`, `data` and `on...` are what they say
 * @param {any[]} children nodes and texts, also in lists; null, undefined and false are left out
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, props = {}, ...children) {
  /** @type {any} */
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.className = value;
    else if (key === "data") Object.assign(node.dataset, value);
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key in node && typeof value !== "string") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/**
 * A function that has `paint` called in the next frame: once, however often it is called itself.
 * @param {() => void} paint
 */
export function onceAFrame(paint) {
  let asked = 0;
  const ask = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      paint();
    });
  };
  const cancel = () => {
    cancelAnimationFrame(asked);
    asked = 0;
  };
  return Object.assign(ask, { cancel });
}

/**
 * A number for people: four digits, a true minus sign, powers of ten where they help.
 * @param {number | null | undefined} value
 */
export function show(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  let text;
  if (Number.isInteger(value) && size < 1e6) text = String(value);
  else if (size >= 1e5 || size < 1e-3) text = value.toExponential(1).replace("e+", "e");
  else text = String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

/**
 * Formulas that were written for a terminal, as a book prints them.
 * @param {string} text
 */
export function printed(text) {
  const letters = { lambda: "λ", gamma: "γ", rho: "ρ", delta: "δ", sqrt: "√" };
  return text
    .replaceAll("<=", "≤")
    .replaceAll(">=", "≥")
    .replaceAll("^2", "²")
    .replace(/\b(lambda|gamma|rho|delta|sqrt)\b/g, (name) => letters[name])
    .replace(/(^|[\s(,])-(?=[\d\sa-z])/g, "$1−");
}

let ids = 0;
/** @param {string} kind of element whose id is to be its own */
export const newId = (kind) => `${kind}-${++ids}`;

/** @param {string} text */
export const heading = (text) => h("h2", { class: "heading" }, text);

/** @type {(title: string, ...content: any[]) => HTMLElement} a part of a panel */
export const section = (title, ...content) => h("section", {}, heading(title), ...content);

/** Room between two controls. */
export const gap = () => h("div", { class: "field" });

/** @param {string[][]} keys and what they do */
export function keyboardSection(keys) {
  const node = section(
    "Keyboard",
    h(
      "dl",
      { class: "keys" },
      keys.flatMap(([key, act]) => [h("dt", {}, key), h("dd", {}, act)]),
    ),
  );
  node.className = "by-keyboard";
  return node;
}

/** @param {any[][]} rows name, value (undefined: left out), and the key by which tests find it */
export function numbersList(rows) {
  const list = h("dl", { class: "numbers" });
  for (const [name, value, key] of rows) {
    if (value === undefined) continue;
    list.append(h("dt", {}, name), h("dd", { data: key ? { number: key } : {} }, value));
  }
  return list;
}

/** @param {string} status as the library names it */
export const statusWords = (status) => status.replaceAll("_", " ").toLowerCase();

const NEARLY_GOOD = ["OPTIMAL_INACCURATE", "ITERATION_LIMIT", "INTERRUPTED"];
/** @param {string} status */
export function statusBadge(status) {
  const kind = status === "OPTIMAL" ? "good" : NEARLY_GOOD.includes(status) ? "warn" : "bad";
  return h("span", { class: "status", data: { kind, status } }, statusWords(status));
}

/** @type {(notice: HTMLElement, error?: string | null) => boolean} show what is wrong, if anything is */
export function complain(notice, error) {
  notice.hidden = !error;
  notice.textContent = error ?? "";
  return Boolean(error);
}

let hiding = 0;
/** @param {string} text */
export function toast(text) {
  const node = document.getElementById("toast");
  node.textContent = text;
  node.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => {
    node.hidden = true;
  }, 2600);
}

/**
 * @param {string} name
 * @param {Blob | string} content
 * @param {string} type
 */
export function saveFile(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 4000);
}
