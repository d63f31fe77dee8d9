// @ts-check
// The settings of the playground: points, method, kernel.

import { chips, segmented } from "../../controls.js";
import { gap, h, keyboardSection, section } from "../../dom.js";
import { icon } from "../../drawing.js";
import { classColour, SHAPES, trace } from "../../palette.js";
import { ABOUT, KERNEL_USES, sceneControls, USES } from "../choices.js";

const MOST_CLASSES = 8;
const KEYS = [
  ["arrows", "move the cross or the point"],
  ["Enter", "place a point, or let it go"],
  ["n, p", "pick the next, the previous"],
  ["1 – 8", "its class, or that of new points"],
  ["Del", "remove it"],
  ["Shift", "smaller steps"],
  ["Ctrl+Z", "undo; with Shift, redo"],
];

/**
 * @typedef {object} On what the view hears
 * @property {() => void} changed the scene is another
 * @property {(key: string) => void} load points to begin with
 * @property {(label: number) => void} choose the class of new points
 * @property {(tool: string) => void} use a tool
 */

export class Settings {
  about = h("p", { class: "quiet" });
  lesson = h("p", { class: "lesson", data: { name: "lesson" } });
  methodParameters = h("div", {});
  kernelParameters = h("div", {});
  /** @type {Record<string, string> | null} by the preset, when they have arrived */
  lessons = null;

  /**
   * @param {import("../choices.js").Scene} scene
   * @param {On} on
   */
  constructor(scene, on) {
    this.scene = scene;
    this.controls = sceneControls(scene, () => this.layout(), on.changed);
    this.presets = chips("Points to begin with", "preset", on.load);
    this.classes = chips("Class of new points", "class", (key) => on.choose(Number(key)), [], "chip swatch");
    const tool = segmented(
      "What a click does",
      [
        ["add", "Add", "Place points, drag them"],
        ["class", "Class", "Give a point the chosen class"],
        ["delete", "Delete", "Remove points"],
      ],
      "add",
      on.use,
    );
    this.node = h(
      "aside",
      { class: "panel", "aria-label": "Settings" },
      section("Points", this.presets.node, this.lesson, gap(), this.classes.node, gap(), tool.node),
      section("Method", this.controls.nodes("method"), this.about, gap(), this.methodParameters),
      section("Kernel", this.controls.nodes("kernel"), this.kernelParameters),
      keyboardSection(KEYS),
    );
    this.showClasses(0);
    this.layout();
  }

  /** @param {[key: string, title: string, short: string, lesson: string][]} presets */
  offer(presets) {
    this.lessons = Object.fromEntries(presets.map(([key, , , lesson]) => [key, lesson]));
    this.presets.fill(presets.map(([key, title, short]) => [key, short, title]));
    this.showPreset();
  }

  showPreset() {
    const { preset, points } = this.scene;
    this.presets.put(preset);
    // A lesson stays while its points are moved: that is what it asks for.
    const lesson = this.lessons?.[preset];
    if (lesson || !points.length) this.lesson.textContent = lesson ?? "";
  }

  /**
   * The classes that points have, and one more.
   * @param {number} current that of new points
   */
  showClasses(current) {
    const used = Math.max(1, ...this.scene.points.map((p) => p[2]));
    const count = Math.min(MOST_CLASSES, Math.max(used + 2, current + 1));
    if (this.classes.node.children.length !== count)
      this.classes.fill(Array.from({ length: count }, (_, k) => [String(k), [swatch(k), `${k + 1}`]]));
    this.classes.put(String(current));
  }

  /** @param {number} current the same, in the colours of another theme */
  repaint(current) {
    this.classes.fill([]);
    this.showClasses(current);
  }

  /** @param {number} current after the scene was replaced: every control shows it */
  put(current) {
    this.controls.put();
    this.showPreset();
    this.showClasses(current);
    this.layout();
  }

  layout() {
    const { method, kernel } = this.scene;
    this.about.textContent = ABOUT[method] ?? "";
    this.methodParameters.replaceChildren(...this.controls.nodes(...(USES[method] ?? [])));
    this.kernelParameters.replaceChildren(...this.controls.nodes(...(KERNEL_USES[kernel] ?? [])));
  }
}

function swatch(k) {
  const mark = icon(16, 16, (ctx) => {
    trace(ctx, SHAPES[k], 8, 8, 5);
    ctx.fillStyle = classColour(k);
    ctx.fill();
  });
  mark.style.width = mark.style.height = "16px";
  return mark;
}
