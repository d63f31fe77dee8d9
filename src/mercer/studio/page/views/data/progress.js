// @ts-check
// A fit or a search while it runs.

import { curves } from "../../curves.js";
import { h, show } from "../../dom.js";
import { classColour } from "../../palette.js";
import { card } from "./cards.js";

export class Progress {
  text = h("p", { class: "quiet", "aria-live": "off" }, "beginning…");
  chart = h("div", { class: "chart" });
  /** @type {number[]} */
  seconds = [];
  /** @type {number[]} */
  violations = [];

  /**
   * @param {string} title
   * @param {HTMLElement | null} below
   */
  constructor(title, below = null) {
    this.node = card(12, title, h("div", { class: "progress" }, h("i", {})), this.text, this.chart, below);
  }

  /** @param {Record<string, any>} now see views/training.py */
  fitting(now) {
    const words = now.iterations
      ? `${now.iterations.toLocaleString("en")} steps, largest violation ${show(now.violation, 3)}, working set ${now.working_set} of ${now.active}`
      : `${now.rows ?? ""} rows`;
    this.text.textContent = `${show(now.seconds, 3)} s, ${words}`;
    if (now.dual === undefined) return;
    this.seconds.push(now.seconds);
    this.violations.push(Math.max(now.violation, 1e-9));
    if (this.seconds.length < 2) return;
    this.close();
    this.plot = curves(this.chart, {
      x: this.seconds,
      series: [this.violations],
      names: ["violation of the optimality conditions"],
      colours: [classColour(4)],
      xlabel: "seconds",
      height: 220,
      log: true,
    });
  }

  /** @param {Record<string, any>} heat */
  searching({ done, total, seconds, score, best }) {
    this.text.textContent = `${done} of about ${total} fits, ${show(seconds, 3)} s; best ${score} ${show(best[0], 4)}`;
  }

  close() {
    this.plot?.destroy();
    this.plot = null;
  }
}
