// @ts-check
// The frame of the page: views, theme, links and exports.

import { h, saveFile, toast } from "./dom.js";
import { address, ask, connect, connection, drop, isAlone, onState } from "./link.js";
import { fragment, restore, state } from "./state.js";
import { recall, remember } from "./storage.js";
import { canRedo, canUndo, followSteps, redo, saveStep, settle, undo } from "./steps.js";

/** @type {[key: string, title: string, load: () => Promise<new (stage: HTMLElement) => any>][]} */
const ALL_VIEWS = [
  ["play", "Playground", () => import("./views/play/view.js").then((m) => m.PlayView)],
  ["solve", "Watch it solve", () => import("./views/solve/view.js").then((m) => m.SolveView)],
  ["idea", "See the idea", () => import("./views/ideas/view.js").then((m) => m.IdeaView)],
  ["data", "Your data", () => import("./views/data/view.js").then((m) => m.DataView)],
];
// Without a program behind it the page fits machines itself, and has the views that need no more.
const VIEWS = ALL_VIEWS.filter(([key]) => !isAlone || key === "play" || key === "idea");
/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);
const stage = byId("stage");
let view = null;

const tabs = VIEWS.map(([key, title]) =>
  h("button", { type: "button", role: "tab", data: { view: key }, onclick: () => open(key) }, title),
);
const tabList = /** @type {HTMLElement} */ (document.querySelector(".tabs"));
tabList.append(...tabs);
tabList.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
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
  saveStep();
}

document.querySelector(".skip").addEventListener("click", () => {
  (stage.querySelector("canvas[tabindex]") ?? stage).focus();
});

// --- connection ------------------------------------------------------------------------------

const live = /** @type {HTMLElement} */ (document.querySelector(".live"));
onState((now) => {
  live.dataset.state = now === "on" ? (connection.warm ? "on" : "wait") : now === "wait" ? "wait" : "off";
  live.querySelector(".live-text").textContent = {
    on: isAlone ? "in this page" : connection.warm ? "live" : "compiling, the first time only",
    wait: "connecting",
    off: "reconnecting",
    refused: isAlone
      ? "the solver could not be loaded: reload the page"
      : "not let in: open the address that mercer studio printed",
  }[now];
});

// --- theme -----------------------------------------------------------------------------------

byId("theme").addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  remember("localStorage", "mercer-theme", next);
  view?.repaint?.();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
  if (recall("localStorage", "mercer-theme")) return;
  document.documentElement.dataset.theme = event.matches ? "dark" : "light";
  view?.repaint?.();
});

// --- steps and links -------------------------------------------------------------------------

byId("undo").addEventListener("click", undo);
byId("redo").addEventListener("click", redo);

function showSteps() {
  byId("undo").disabled = !canUndo();
  byId("redo").disabled = !canRedo();
}

// Show what the address holds: the view that is open takes it over, if it can, or the right one is opened.
function follow() {
  const before = state.view;
  begin(location.hash);
  if (before === state.view && view?.restored) view.restored();
  else open(state.view);
}

const linkDialog = byId("link-dialog");
byId("link").addEventListener("click", () => {
  settle();
  byId("link-text").value = isAlone ? `${location.href.split("#")[0]}#${fragment()}` : `mercer:${fragment()}`;
  byId("link-error").hidden = true;
  byId("link-paste").value = "";
  linkDialog.showModal();
  byId("link-copy").focus();
});
byId("link-copy").addEventListener("click", async () => {
  byId("link-text").select();
  try {
    await navigator.clipboard.writeText(byId("link-text").value);
    toast("The link is copied.");
    linkDialog.close();
  } catch {
    toast("Press Ctrl+C to copy what is selected.");
  }
});
byId("link-form").addEventListener("submit", (event) => {
  event.preventDefault();
  try {
    restore(byId("link-paste").value);
  } catch {
    byId("link-error").textContent =
      "That is no link of Mercer Studio: one begins with mercer: or has play=… behind a #.";
    byId("link-error").hidden = false;
    return;
  }
  linkDialog.close();
  open(state.view);
});

// --- exports ---------------------------------------------------------------------------------

const menuButton = byId("export");
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

const dialog = byId("code-dialog");
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
    byId("code-text").textContent = header.code;
    if (!dialog.open) dialog.showModal();
  });
}
for (const each of [dialog, linkDialog])
  each.querySelector("[data-close]").addEventListener("click", () => each.close());
byId("code-copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(byId("code-text").textContent);
    toast("Copied.");
  } catch {
    toast("Select the text to copy it.");
  }
});
byId("code-save").addEventListener("click", () =>
  saveFile("mercer_studio.py", byId("code-text").textContent, "text/x-python"),
);

// --- begin -----------------------------------------------------------------------------------

function begin(link) {
  if (!link) return;
  try {
    restore(link);
  } catch {
    toast("This link holds no state that the studio can read; it begins anew.");
  }
}
begin(location.hash);
connect();
open(state.view).then(() => followSteps(follow, showSteps));
// What tests need to see and to break.
/** @type {any} */ (window).mercerStudio = { state, connection, drop, address, ask };
