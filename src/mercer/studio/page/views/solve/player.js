// @ts-check
// The film of a solver: played, paused, and moved step by step.

import { button, select } from "../../controls.js";
import { h } from "../../dom.js";

const PLAY = "M4 2.5v11l9-5.5z",
  PAUSE = "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  NEXT = "M3 2.5v11l7-5.5zM11 2.5h2.2v11H11z",
  BACK = "M13 2.5v11L6 8zM2.8 2.5H5v11H2.8z",
  FIRST = "M8.5 8l6-5v10zM1.5 3h2v10h-2zM3.5 8l5-5v10z";
const SPEEDS = [
  ["2", "slow"],
  ["8", "medium"],
  ["30", "fast"],
];

function svgIcon(path) {
  const make = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const svg = make("svg", { viewBox: "0 0 16 16", width: "16", height: "16", "aria-hidden": "true" });
  svg.append(make("path", { d: path, fill: "currentColor" }));
  return svg;
}

export class Player {
  /** The last step; -1 while there is no film. */
  last = -1;
  /** The timer of a film that plays, or 0. */
  timer = 0;

  /**
   * @param {number} at the step to begin with
   * @param {(at: number) => void} show
   */
  constructor(at, show) {
    this.at = at;
    this.show = show;
    this.range = h("input", {
      type: "range",
      min: "0",
      max: "0",
      step: "1",
      "aria-label": "Step",
      data: { name: "step" },
      oninput: () => this.stopAt(Number(this.range.value)),
    });
    this.count = h("span", { class: "count" });
    this.speed = select("Speed", SPEEDS, "8", () => this.keepPace(), "speed").box;
    this.speed.style.width = "108px";
    this.speed.setAttribute("aria-label", "Speed");
    const tool = (name, path, label, act) =>
      button(name, svgIcon(path), act, { class: "tool icon", title: label, "aria-label": label });
    this.playButton = tool("play", PLAY, "Play or pause", () => this.toggle());
    this.node = h(
      "div",
      { class: "transport" },
      tool("first", FIRST, "To the beginning", () => this.stopAt(0)),
      tool("back", BACK, "One step back", () => this.stopAt(this.at - 1)),
      this.playButton,
      tool("next", NEXT, "One step forward", () => this.stopAt(this.at + 1)),
      this.range,
      this.count,
      this.speed,
    );
    // On the document: a click on a tab leaves the keyboard there, and the film must go on.
    this.keys = (event) => this.press(event);
    document.addEventListener("keydown", this.keys);
  }

  /**
   * A film of so many steps; 0 where there is none.
   * @param {number} steps
   */
  load(steps) {
    this.last = steps - 1;
    if (!steps) return;
    this.range.max = String(this.last);
    this.go(this.at);
  }

  go(at) {
    if (this.last < 0) return;
    this.at = Math.max(0, Math.min(this.last, at));
    this.range.value = String(this.at);
    this.count.textContent = `${this.at} / ${this.last}`;
    this.show(this.at);
  }

  stopAt(at) {
    this.pause();
    this.go(at);
  }

  play() {
    if (this.last < 0) return;
    if (this.at >= this.last) this.go(0);
    this.playButton.replaceChildren(svgIcon(PAUSE));
    this.timer = setInterval(
      () => {
        if (this.at >= this.last) this.pause();
        else this.go(this.at + 1);
      },
      1000 / Number(this.speed.value),
    );
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.playButton.replaceChildren(svgIcon(PLAY));
  }

  toggle() {
    if (this.timer) this.pause();
    else this.play();
  }

  // After another speed was chosen.
  keepPace() {
    if (!this.timer) return;
    this.pause();
    this.play();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
    // What is typed into a box, and what moves another slider, is not meant for the film.
    const target = /** @type {Partial<Element>} */ (event.target);
    if (target.matches?.("textarea, select, input:not([data-name=step])")) return;
    if (target.matches?.("button, canvas") && event.key === " ") return;
    const act = {
      " ": () => this.toggle(),
      ".": () => this.stopAt(this.at + 1),
      ",": () => this.stopAt(this.at - 1),
      Home: () => this.go(0),
      End: () => this.go(Infinity),
    }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    this.pause();
  }
}
