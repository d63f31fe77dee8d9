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

/** @param {string} path */
export function svgIcon(path, size = 16) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("width", String(size));
  svg.setAttribute("height", String(size));
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", path);
  shape.setAttribute("fill", "currentColor");
  svg.append(shape);
  return svg;
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

/** @param {any[][]} rows name, value, and the key by which tests find it */
export function numbersList(rows) {
  const list = h("dl", { class: "numbers" });
  for (const [name, value, key] of rows) {
    if (value === undefined) continue;
    list.append(h("dt", {}, name), h("dd", { data: key ? { number: key } : {} }, value));
  }
  return list;
}

/**
 * A slider with its value in a box beside it; on a logarithmic scale if asked for.
 * @param {{ label: string, name: string, min: number, max: number, value: number, log?: boolean, step?: number,
 *   onchange: (value: number) => void }} options
 */
export function slider({ label, name, min, max, value, log = false, step, onchange }) {
  const to = (v) => (log ? Math.log10(v) : v);
  const from = (v) => (log ? 10 ** v : v);
  const id = `slider-${name}-${Math.random().toString(36).slice(2, 7)}`;
  const range = h("input", {
    type: "range",
    id,
    min: String(to(min)),
    max: String(to(max)),
    step: String(step ?? (log ? 0.02 : (max - min) / 200)),
    data: { name },
  });
  const box = h("input", {
    type: "text",
    inputmode: "decimal",
    "aria-label": `${label}, as a number`,
    data: { name: `${name}-box` },
  });
  const said = h("p", { class: "field-error", id: `${id}-said`, role: "alert", hidden: true });
  const isWhole = step !== undefined && Number.isInteger(step);
  // All digits that are used: what the box says is what is computed with.
  const word = (v) => String(Number(v.toPrecision(6)));
  let now = value;
  const say = (text) => {
    said.hidden = !text;
    said.textContent = text;
    box.setAttribute("aria-invalid", String(Boolean(text)));
    if (text) box.setAttribute("aria-describedby", said.id);
    else box.removeAttribute("aria-describedby");
  };
  const put = (v) => {
    now = v;
    range.value = String(to(v));
    range.setAttribute("aria-valuetext", show(v, 3));
    box.value = word(v);
    say("");
  };
  range.addEventListener("input", () => {
    const v = from(Number(range.value));
    put(isWhole ? Math.round(v) : Number(v.toPrecision(4)));
    onchange(now);
  });
  // What cannot be taken stays in the box, with a word beside it: nothing that was typed vanishes.
  box.addEventListener("change", () => {
    const typed = box.value.trim();
    const v = Number(typed.replace("−", "-").replace(",", "."));
    const stays = `it stays ${show(now, 6)}.`;
    if (!typed || Number.isNaN(v)) say(`“${typed}” is no number: ${stays}`);
    else if (v < min) say(`${typed} is less than ${show(min)}, the least here: ${stays}`);
    else if (v > max) say(`${typed} is more than ${show(max)}, the most here: ${stays}`);
    else if (isWhole && !Number.isInteger(v)) say(`${typed} is no whole number: ${stays}`);
    else {
      put(v);
      onchange(v);
    }
  });
  const node = h("div", { class: "slider" }, h("label", { for: id }, label), box, range, said);
  put(value);
  return { node, put };
}

/**
 * @param {string} label
 * @param {string[][]} options key, text, title
 * @param {string} value
 * @param {(key: string) => void} onchange
 */
export function segmented(label, options, value, onchange) {
  const buttons = options.map(([key, text, title]) =>
    h(
      "button",
      {
        type: "button",
        title,
        data: { key },
        onclick: () => {
          put(key);
          onchange(key);
        },
      },
      text,
    ),
  );
  const put = (key) => buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.key === key)));
  put(value);
  return { node: h("div", { class: "segmented", role: "group", "aria-label": label }, buttons), put };
}

/**
 * @param {string} label
 * @param {string[][]} options key, text
 * @param {string} value
 * @param {(key: string) => void} onchange
 * @param {string} [name]
 */
export function select(label, options, value, onchange, name) {
  const id = `select-${name}-${Math.random().toString(36).slice(2, 7)}`;
  const box = h(
    "select",
    { id, data: { name }, onchange: () => onchange(box.value) },
    options.map(([key, text]) => h("option", { value: key }, text)),
  );
  box.value = value;
  return {
    node: h("div", { class: "field" }, h("label", { for: id }, label), box),
    put: (v) => {
      box.value = v;
    },
    box,
  };
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
