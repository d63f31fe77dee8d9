// @ts-check
// See the idea: one picture for each, that can be moved.

import { h } from "../../dom.js";
import { state } from "../../state.js";
import { saveStep } from "../../steps.js";
import { BoundsIdea } from "./bounds.js";
import { DualBoxIdea } from "./dual_box.js";
import { HullsIdea } from "./hulls.js";
import { LiftLineIdea } from "./lift_line.js";
import { LiftPlaneIdea } from "./lift_plane.js";
import { LossesIdea } from "./losses.js";
import { VersionSpaceIdea } from "./version_space.js";

/** @type {[key: string, title: string, about: string, Idea: new (host: HTMLElement) => any][]} */
const IDEAS = [
  ["line", "Lift the line", "x to (x, x²)", LiftLineIdea],
  ["plane", "Lift the plane", "quadratic features, in 3-d", LiftPlaneIdea],
  ["hulls", "Two hulls", "the margin, or the proof", HullsIdea],
  ["box", "The dual's box", "two alphas and their C", DualBoxIdea],
  ["version", "Version space", "all that is consistent", VersionSpaceIdea],
  ["losses", "Losses", "hinge, ramp, 0-1", LossesIdea],
  ["bounds", "Bounds", "numbers that move", BoundsIdea],
];

export class IdeaView {
  constructor(stage) {
    this.list = h(
      "div",
      { class: "panel idea-list", role: "tablist", "aria-label": "Ideas", "aria-orientation": "vertical" },
      IDEAS.map(([key, title, about]) =>
        h(
          "button",
          { type: "button", role: "tab", data: { idea: key }, onclick: () => this.open(key) },
          h("b", {}, title),
          h("span", {}, about),
        ),
      ),
    );
    this.list.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const at = (IDEAS.findIndex(([key]) => key === state.idea) + step + IDEAS.length) % IDEAS.length;
      this.open(IDEAS[at][0]);
      /** @type {HTMLElement} */ (this.list.children[at]).focus();
      event.preventDefault();
    });
    this.host = h("div", { class: "idea", role: "tabpanel", "aria-label": "Idea" });
    this.node = h("div", { class: "view ideas", data: { view: "idea" } }, this.list, this.host);
    stage.replaceChildren(this.node);
    this.open(state.idea);
  }

  open(key) {
    const found = IDEAS.find(([name]) => name === key) ?? IDEAS[0];
    this.idea?.close();
    state.idea = found[0];
    this.node.dataset.idea = found[0];
    for (const b of this.list.querySelectorAll("button")) {
      const on = b.dataset.idea === found[0];
      b.setAttribute("aria-selected", String(on));
      b.tabIndex = on ? 0 : -1;
    }
    this.host.setAttribute("aria-label", found[1]);
    this.host.replaceChildren();
    this.idea = new found[3](this.host);
    saveStep();
  }

  restored() {
    this.open(state.idea);
  }
  svg() {
    return this.idea.svg();
  }
  repaint() {
    this.open(state.idea);
  }
  close() {
    this.idea?.close();
  }
}
