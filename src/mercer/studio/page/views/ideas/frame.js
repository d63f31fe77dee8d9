// @ts-check
// What every idea has: a heading with a sentence, and a place for pictures.

import { h } from "../../dom.js";

const FAR = 40; // beyond every window

/**
 * The line <w, x> + b = 0 and the two at distance one over the norm: the street of a linear machine.
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("../../plane.js").Plane} plane
 * @param {number[]} w
 * @param {number} b
 * @param {string} colour
 */
export function drawStreet(ctx, plane, [w1, w2], b, colour) {
  const norm = Math.hypot(w1, w2);
  for (const level of [0, 1, -1]) {
    const [cx, cy] = [(w1 * (level - b)) / norm ** 2, (w2 * (level - b)) / norm ** 2];
    ctx.beginPath();
    ctx.moveTo(...plane.toScreen(cx - (FAR * w2) / norm, cy + (FAR * w1) / norm));
    ctx.lineTo(...plane.toScreen(cx + (FAR * w2) / norm, cy - (FAR * w1) / norm));
    ctx.strokeStyle = colour;
    ctx.lineWidth = level ? 1.2 : 2.4;
    ctx.setLineDash(level ? [5, 5] : []);
    ctx.stroke();
    ctx.setLineDash([]);
  }
}

export function frame(host, { title, about, tools = [], layout = "" }) {
  const body = h("div", { class: `idea-body ${layout}` });
  const words = h("p", {}, about);
  host.append(
    h("div", { class: "idea-head" }, h("div", {}, h("h2", {}, title), words), h("span", { class: "spring" }), ...tools),
    body,
  );
  return { body, words };
}

let pictures = 0;

// The line below a picture says what it shows; `words` is its id, for those who cannot see the picture.
export function picture(body, caption) {
  const words = `picture-${++pictures}`;
  const box = h("div", { class: "canvas-box" });
  const cap = h("div", { class: "cap" }, caption);
  const notice = h("div", { class: "notice", role: "alert", hidden: true });
  const foot = h("div", { class: "foot", id: words });
  box.append(cap);
  const work = h("div", { class: "work" }, box, notice, foot);
  body.append(work);
  return { box, cap, notice, foot, work, words };
}

export function complain(notice, header) {
  notice.hidden = !header.error;
  if (header.error) notice.textContent = header.error;
  return Boolean(header.error);
}
