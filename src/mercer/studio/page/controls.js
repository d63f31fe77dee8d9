// @ts-check
// What settings are made with. Every control has a node, and `put` to show another value than a person has chosen.

import { h, newId, show } from "./dom.js";

/** @typedef {{ node: HTMLElement, put: (value: any) => void }} Control */

/** @type {(name: string, content: string | Node, onclick: () => void, props?: Record<string, any>) => HTMLButtonElement} */
export const button = (name, content, onclick, props = {}) =>
  h("button", { class: "tool", type: "button", data: { name }, onclick, ...props }, content);

/**
 * A slider with its value in a box beside it; on a logarithmic scale if asked for.
 * @param {{ label: string, name: string, min: number, max: number, value: number, log?: boolean, step?: number,
 *   onchange: (value: number) => void }} options
 */
export function slider({ label, name, min, max, value, log = false, step, onchange }) {
  const to = (v) => (log ? Math.log10(v) : v);
  const from = (v) => (log ? 10 ** v : v);
  const id = newId(`slider-${name}`);
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
  const id = newId(`select-${name}`);
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

/**
 * Chips of which one may be pressed.
 * @param {string} label
 * @param {string} name of the data attribute that tells them apart
 * @param {(key: string) => void} onclick
 * @param {[key: string, content: any, title?: string][]} options
 */
export function chips(label, name, onclick, options = [], kind = "chip") {
  const node = h("div", { class: "chips", role: "group", "aria-label": label });
  const fill = (given) =>
    node.replaceChildren(
      ...given.map(([key, content, title]) =>
        h(
          "button",
          { class: kind, type: "button", title, data: { [name]: key }, onclick: () => onclick(key) },
          content,
        ),
      ),
    );
  const put = (key) => {
    for (const chip of /** @type {Iterable<HTMLElement>} */ (node.children))
      chip.setAttribute("aria-pressed", String(chip.dataset[name] === key));
  };
  fill(options);
  return { node, put, fill };
}
