// What every idea has: a heading with a sentence, and a place for pictures.

import { h } from "../../dom.js";

export function frame(host, { title, about, tools = [], layout = "" }) {
  const body = h("div", { class: `idea-body ${layout}` });
  const words = h("p", {}, about);
  host.append(h("div", { class: "idea-head" }, h("div", {}, h("h2", {}, title), words), h("span", { class: "spring" }), ...tools), body);
  return { body, words };
}

export function picture(body, caption) {
  const box = h("div", { class: "canvas-box" });
  const cap = h("div", { class: "cap" }, caption);
  const notice = h("div", { class: "notice", role: "alert", hidden: true });
  const foot = h("div", { class: "foot" });
  box.append(cap, notice);
  const work = h("div", { class: "work" }, box, foot);
  body.append(work);
  return { box, cap, notice, foot, work };
}

export function complain(notice, header) {
  notice.hidden = !header.error;
  if (header.error) notice.textContent = header.error;
  return Boolean(header.error);
}
