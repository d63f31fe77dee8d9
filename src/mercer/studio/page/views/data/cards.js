// @ts-check
// What cards are made of, and those that need no result.

import { h } from "../../dom.js";

/**
 * @param {number} span columns, of 12
 * @param {string} title
 * @param {any[]} content
 */
export const card = (span, title, ...content) =>
  h("section", { class: `card span-${span}` }, h("h3", {}, title), ...content);

/** @param {any} text */
export const quiet = (text) => h("p", { class: "quiet" }, text);

/**
 * @param {HTMLElement[]} head cells
 * @param {HTMLElement[]} rows
 */
export const table = (head, rows) => h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows));

/** @param {any} title of a column */
export const columnHead = (title) => h("th", { scope: "col" }, title);

export const invitation = () =>
  h(
    "div",
    { class: "card span-12 empty" },
    h(
      "div",
      {},
      h("h2", {}, "Bring your own data"),
      h("p", {}, "Nothing leaves this machine: the page talks to the program that you started, and to nobody else."),
      h("p", {}, "Open a file or one of the sets on the left, choose what to predict, and train."),
    ),
  );

/**
 * The first rows of a file.
 * @param {import("../../link.js").Header} data
 */
export function previewCard(data) {
  const names = data.columns?.map((c) => c.name) ?? Object.keys(data.preview[0] ?? {});
  const cells = (row) => names.map((name) => h("td", {}, row[name] ?? ""));
  const rows = data.preview.map((row) => h("tr", {}, cells(row)));
  return card(
    12,
    `${data.name}: ${data.rows.toLocaleString("en")} rows, ${data.format}`,
    h(
      "div",
      { class: "table-box", tabindex: "0", role: "region", "aria-label": "First rows" },
      table(names.map(columnHead), rows),
    ),
  );
}
