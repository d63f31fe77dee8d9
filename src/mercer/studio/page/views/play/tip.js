// @ts-check
// What a point under the pointer says of itself.

import { h, show } from "../../dom.js";
import { hasSupport, standing } from "./standing.js";

// Pixels that a tip takes at most.
const [WIDTH, HEIGHT] = [230, 112];

/**
 * @param {HTMLElement} tip
 * @param {import("../../plane/plane.js").Plane} plane
 * @param {string} method
 * @param {number} k the point, or -1
 * @param {number} [px] where the pointer is
 * @param {number} [py]
 */
export function showTip(tip, plane, method, k, px, py) {
  tip.hidden = k < 0 || Boolean(plane.drag);
  if (tip.hidden) return;
  const [x, y, label] = plane.model.points[k];
  const { alpha, values, cases, kind } = plane.answer ?? {};
  const math = (text, data = {}) => h("div", { class: "math", data }, text);
  const value = kind === "curve" || kind === "region" ? "f(x)" : "y f(x)";
  tip.replaceChildren(
    h("b", {}, `Point ${k + 1}, class ${label + 1}`),
    math(`x = (${show(x)}, ${show(y)})`),
    alpha?.length > k ? math(`α = ${show(alpha[k])}`, { alpha: String(alpha[k]) }) : "",
    values?.length > k ? math(`${value} = ${show(values[k])}`) : "",
    cases?.length > k && hasSupport(method) ? h("div", {}, standing(kind, cases[k])) : "",
  );
  const [w, hgt] = plane.size;
  tip.style.left = `${Math.min(px + 16, w - WIDTH)}px`;
  tip.style.top = `${Math.min(py + 14, hgt - HEIGHT)}px`;
}
