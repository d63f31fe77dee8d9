// @ts-check
// Why a row was said to be what it was said to be.

import { h, show } from "../../dom.js";
import { classColour } from "../../palette.js";
import { card, quiet } from "./cards.js";

const KINDS = { term: "part of the kernel", feature: "feature", position: "position" };
const FAINT = 0.08; // of the strongest word; what is weaker has no colour

export const whyCard = (title = "Why?", ...content) =>
  card(5, title, ...(content.length ? content : [quiet("Choose a row to see what its decision is made of.")]));

/** @param {import("../../link.js").Header} header */
export function explanationCard(header) {
  if (header.error) return whyCard("Why?", quiet(header.error));
  const { row, said, decision, of, kind, intercept, contributions, rest, text, words } = header;
  const largest = Math.max(1e-12, ...contributions.map(([, value]) => Math.abs(value)));
  return whyCard(
    `Why row ${row} is said to be ${said}`,
    quiet(
      `Decision value ${show(decision, 4)} for “${of}”: the sum of these (by ${KINDS[kind] ?? kind}) and of ${show(intercept, 3)}.`,
    ),
    text && colouredText(text, words),
    h(
      "div",
      { data: { name: "contributions" } },
      contributions.map(([name, value]) => contribution(name, value, largest)),
    ),
    rest ? quiet(`and ${rest} smaller ones`) : null,
  );
}

function contribution(name, value, largest) {
  const bar = h("i", {});
  bar.style.width = `${(50 * Math.abs(value)) / largest}%`;
  bar.style[value < 0 ? "right" : "left"] = "50%";
  bar.style.background = classColour(value < 0 ? 0 : 1);
  return h(
    "div",
    { class: "contribution" },
    h("span", { title: name }, name),
    h("div", { class: "two-way" }, bar),
    h("b", {}, show(value, 3)),
  );
}

// The text with each word on the colour of what it speaks for; longer features share theirs out.
function colouredText(text, words) {
  const weights = new Map();
  for (const [name, value] of Object.entries(words ?? {})) {
    const parts = name.split(/\s+/);
    for (const part of parts) weights.set(part, (weights.get(part) ?? 0) + value / parts.length);
  }
  const largest = Math.max(1e-12, ...[...weights.values()].map(Math.abs));
  const coloured = (piece) => {
    const weight = weights.get(piece) ?? 0;
    if (Math.abs(weight) < FAINT * largest) return piece;
    return h("mark", { class: weight > 0 ? "for" : "against", title: show(weight, 3) }, piece);
  };
  return h("p", { class: "coloured" }, text.split(/(\s+)/).map(coloured));
}
