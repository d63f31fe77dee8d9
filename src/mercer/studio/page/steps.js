// @ts-check
// Steps that can be taken back. The browser's own history is the list of them: Back undoes, and does not leave the page
// before there is nothing left to undo; Ctrl+Z and the buttons go the same way.

import { fragment } from "./state.js";
import { recall, remember } from "./storage.js";

const QUIET = 250; // milliseconds without a change after which what happened is one step

let place = history.state?.place ?? 0;
let top = Math.max(place, Number(recall("sessionStorage", "mercer-top") ?? 0));
let waiting = 0;
let isStep = false;
let isHeld = false; // while a button of the mouse or a finger is down, a step is not over
let isTouched = false; // what happens before a person has done something is no step
let tell = () => {};

function write() {
  clearTimeout(waiting);
  waiting = 0;
  const next = `#${fragment()}`;
  if (next !== location.hash) {
    const pushes = isStep && isTouched;
    if (pushes) place += 1;
    if (pushes) top = place;
    history[pushes ? "pushState" : "replaceState"]({ place }, "", next);
  }
  isStep = false;
  remember("sessionStorage", "mercer-top", String(top));
  tell();
}

function later() {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (!isHeld) write();
  }, QUIET);
}

/** Something has changed that a person may want back. */
export function saveStep() {
  isStep = true;
  later();
}

/** Something has changed that the link has to know, such as how far a film has run. */
export function saveLink() {
  later();
}

/** Write down at once what is waiting to be. */
export function settle() {
  if (waiting) write();
}

export const canUndo = () => place > 0 || (isStep && isTouched);
export const canRedo = () => place < top && !isStep;

export function undo() {
  settle();
  if (place > 0) history.back();
}

export function redo() {
  settle();
  if (place < top) history.forward();
}

/**
 * @param {() => void} moved called when the address has another state than the page
 * @param {() => void} changed called when there is more or less to undo
 */
export function followSteps(moved, changed) {
  tell = changed;
  const touch = () => {
    if (!isTouched) settle();
    isTouched = true;
  };
  for (const kind of ["keydown", "drop"]) document.addEventListener(kind, touch, { capture: true });
  document.addEventListener(
    "pointerdown",
    () => {
      touch();
      settle(); // what a click has done is a step of its own, however soon the next one comes
      isHeld = true;
    },
    { capture: true },
  );
  for (const kind of ["pointerup", "pointercancel"])
    document.addEventListener(
      kind,
      () => {
        isHeld = false;
        if (waiting || isStep) later();
      },
      { capture: true },
    );
  window.addEventListener("popstate", (event) => {
    clearTimeout(waiting);
    waiting = 0;
    isStep = false;
    if (event.state) place = event.state.place ?? 0;
    else {
      // A link that somebody put into the address bar is a step of its own.
      place += 1;
      top = place;
      history.replaceState({ place }, "");
    }
    moved();
    tell();
  });
  document.addEventListener("keydown", (event) => {
    const types = event.target instanceof Element && event.target.matches("textarea, input[type=text]");
    if (types || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "z" || key === "y") {
      event.preventDefault();
      if (key === "y" || event.shiftKey) redo();
      else undo();
    }
  });
  tell();
}
