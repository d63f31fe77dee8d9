// @ts-check
// The frame of the page: views, theme, links and exports.

import { h, saveFile, toast } from "./dom.js";
import { address, connect, connection, drop, onState } from "./link.js";
import { readHash, saveLink, state, toHash } from "./state.js";

/** @type {[key: string, title: string, load: () => Promise<new (stage: HTMLElement) => any>][]} */
const VIEWS = [
  ["play", "Playground", () => import("./views/play.js").then((m) => m.PlayView)],
  ["solve", "Watch it solve", () => import("./views/solve.js").then((m) => m.SolveView)],
  ["idea", "See the idea", () => import("./views/idea.js").then((m) => m.IdeaView)],
  ["data", "Your data", () => import("./views/data.js").then((m) => m.DataView)],
];
const stage = document.getElementById("stage");
let view = null;

const tabs = VIEWS.map(([key, title]) =>
  h("button", { type: "button", role: "tab", data: { view: key }, onclick: () => open(key) }, title),
);
const tabList = /** @type {HTMLElement} */ (document.querySelector(".tabs"));
tabList.append(...tabs);
tabList.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = (VIEWS.findIndex(([key]) => key === state.view) + step + VIEWS.length) % VIEWS.length;
  open(VIEWS[next][0]).then(() => tabs[next].focus());
});

async function open(key) {
  const found = VIEWS.find(([name]) => name === key) ?? VIEWS[0];
  const View = await found[2]();
  view?.close?.();
  state.view = found[0];
  tabs.forEach((tab) => {
    const on = tab.dataset.view === state.view;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
  });
  document.title = `${found[1]} · Mercer Studio`;
  view = new View(stage);
  saveLink();
}

// --- connection ------------------------------------------------------------------------------

const live = /** @type {HTMLElement} */ (document.querySelector(".live"));
onState((now) => {
  live.dataset.state = now === "on" ? (connection.warm ? "on" : "wait") : now === "wait" ? "wait" : "off";
  live.querySelector(".live-text").textContent = {
    on: connection.warm ? "live" : "compiling, the first time only",
    wait: "connecting",
    off: "reconnecting",
    refused: "not let in: open the address that mercer studio printed",
  }[now];
});

// --- theme -----------------------------------------------------------------------------------

document.getElementById("theme").addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("mercer-theme", next);
  } catch {
    /* storage may be off */
  }
  view?.repaint?.();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("mercer-theme");
  } catch {
    /* storage may be off */
  }
  if (chosen) return;
  document.documentElement.dataset.theme = event.matches ? "dark" : "light";
  view?.repaint?.();
});

// --- link and exports ------------------------------------------------------------------------

document.getElementById("copy-link").addEventListener("click", async () => {
  history.replaceState(null, "", toHash());
  try {
    await navigator.clipboard.writeText(location.href);
    toast("The link to this state is copied.");
  } catch {
    toast("The link is in the address bar.");
  }
});

const menuButton = document.getElementById("export");
const menu = /** @type {HTMLElement} */ (document.querySelector(".menu-items"));
const toggle = (on) => {
  menu.hidden = !on;
  menuButton.setAttribute("aria-expanded", String(on));
  if (on) menu.querySelector("button").focus();
};
menuButton.addEventListener("click", () => toggle(menu.hidden));
document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element && event.target.closest(".menu"))) toggle(false);
});
menu.addEventListener("keydown", (event) => {
  const items = [...menu.querySelectorAll("button")];
  const at = items.findIndex((item) => item === document.activeElement);
  if (event.key === "Escape") {
    toggle(false);
    menuButton.focus();
  }
  if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
  if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length].focus();
});
menu.addEventListener("click", (event) => {
  const what = event.target instanceof HTMLElement ? event.target.dataset.export : null;
  if (!what) return;
  toggle(false);
  if (what === "code") exportCode();
  else if (!view?.svg) toast("This view has no picture to export.");
  else if (what === "svg") saveFile("mercer-studio.svg", view.svg(), "image/svg+xml");
  else exportPng();
});

function exportPng() {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([view.svg()], { type: "image/svg+xml" }));
  image.onload = () => {
    const canvas = h("canvas", { width: image.naturalWidth * 2, height: image.naturalHeight * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      saveFile("mercer-studio.png", blob, "image/png");
      URL.revokeObjectURL(url);
    });
  };
  image.src = url;
}

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("code-dialog"));
function exportCode() {
  if (!view?.code) {
    toast("This view has no code of its own; the playground has.");
    return;
  }
  view.code((header) => {
    if (header.error) {
      toast(header.error);
      return;
    }
    document.getElementById("code-text").textContent = header.code;
    if (!dialog.open) dialog.showModal();
  });
}
dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
document.getElementById("code-copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(document.getElementById("code-text").textContent);
    toast("Copied.");
  } catch {
    toast("Select the text to copy it.");
  }
});
document
  .getElementById("code-save")
  .addEventListener("click", () =>
    saveFile("mercer_studio.py", document.getElementById("code-text").textContent, "text/x-python"),
  );

// --- begin -----------------------------------------------------------------------------------

function begin() {
  try {
    readHash();
  } catch {
    toast("This link holds no state that the studio can read; it begins anew.");
  }
}
window.addEventListener("hashchange", () => {
  begin();
  open(state.view);
});
begin();
connect();
open(state.view);
// What tests need to see and to break.
/** @type {any} */ (window).mercerStudio = { state, connection, drop, address };
