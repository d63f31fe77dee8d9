// @ts-check
// The rows of a set as the kernel sees them.

import { h } from "../../dom.js";
import { icon } from "../../drawing.js";
import { drawMark, theme } from "../../palette.js";
import { Plane } from "../../plane/plane.js";
import { card } from "./cards.js";

const MOST_NAMES = 10;

/**
 * @param {Record<string, import("../../link.js").Numbers>} arrays places, groups and whether rows are support vectors
 * @param {string[]} names of the groups
 */
export function mapCard({ places, groups, support }, names) {
  const points = Array.from(groups, (group, k) => [places[2 * k], places[2 * k + 1], group]);
  const box = h("div", { class: "map-box" }, names.length ? legend(names) : null);
  const plane = new Plane(
    box,
    { points, window: [...span(points.map((p) => p[0])), ...span(points.map((p) => p[1]))] },
    {},
    {
      editable: false,
      label: `Map of ${points.length} rows by kernel PCA${names.length ? `, classes ${names.join(", ")}` : ""}`,
    },
  );
  plane.free = plane.small = true;
  plane.show({ cases: Array.from(support, (isSupport) => (isSupport ? 4 : 0)) });
  return { plane, node: card(7, "As the kernel sees the rows (kernel PCA); rings are support vectors", box) };
}

// From the least value to the largest, with some room.
function span(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = 0.08 * (high - low) || 1;
  return [low - room, high + room];
}

function legend(names) {
  const t = theme();
  const entry = (name, k) => {
    const mark = icon(14, 14, (ctx) => drawMark(ctx, 7, 7, k, 0, t, { r: 4.5 }));
    mark.className = "swatch-mark";
    return h("span", {}, mark, name);
  };
  return h("div", { class: "map-legend" }, names.slice(0, MOST_NAMES).map(entry));
}
