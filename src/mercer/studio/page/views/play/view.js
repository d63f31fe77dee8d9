// @ts-check
// The playground: points, a method, a kernel; everything else follows from them.

import { button } from "../../controls.js";
import { h, show } from "../../dom.js";
import { ask, connection } from "../../link.js";
import { Plane } from "../../plane/plane.js";
import { commonPointPainter, hullsPainter, proofWeights, proofWords } from "../../proof.js";
import { state } from "../../state.js";
import { saveStep } from "../../steps.js";
import { counted, described, Results } from "./results.js";
import { Settings } from "./settings.js";
import { nothingLearnt } from "./standing.js";
import { showTip } from "./tip.js";

const PATIENCE = 400; // milliseconds after which a reader is told that numbers are still those of before
const WITH_MARGINS = ["hard", "soft", "squared", "ramp", "nu"];

export class PlayView {
  constructor(stage) {
    this.scene = state.scene;
    this.words = h("p", { class: "sr", id: "play-words" });
    this.said = h("div", { class: "sr", "aria-live": "polite" });
    this.notice = h("div", { class: "notice", role: "alert", hidden: true });
    this.timing = h("span", { class: "timing" });
    const tip = h("div", { class: "tip", hidden: true });
    const corner = h(
      "div",
      { class: "corner" },
      button("fit-view", "Fit", () => this.fitView(), { title: "Show all points" }),
      button("clear", "Clear", () => this.clear(), { title: "Remove all points" }),
    );
    const box = h("div", { class: "canvas-box" }, tip, this.said, this.words, corner);
    const foot = h(
      "div",
      { class: "foot" },
      this.timing,
      h("span", { class: "spring" }),
      h("span", { class: "hint" }, "click: place · drag: move · right-click: delete"),
    );
    this.settings = new Settings(this.scene, {
      changed: () => this.refit(),
      load: (key) => this.load(key),
      choose: (k) => this.chooseClass(k),
      use: (tool) => {
        this.plane.tool = tool;
      },
    });
    this.results = new Results();
    this.node = h(
      "div",
      { class: "view", data: { view: "play" } },
      h("div", { class: "work" }, box, this.notice, foot),
      this.settings.node,
      this.results.node,
    );
    stage.replaceChildren(this.node);
    this.plane = new Plane(
      box,
      this.scene,
      {
        change: (kind) => this.edited(kind),
        hover: (k, px, py) => showTip(tip, this.plane, this.scene.method, k, px, py),
        say: (text) => this.say(text),
        choose: (k) => this.chooseClass(k),
      },
      {
        words: this.words.id,
        label:
          "Plane of points. Arrow keys move a cross, Enter places a point, n picks the next point, digits set its class, Delete removes it.",
      },
    );
    ask("start", {}, (header) => {
      this.settings.offer(header.presets);
      if (!this.scene.points.length && this.scene.preset) this.take(header.first);
    });
    this.sight = new ResizeObserver(() => this.refit());
    this.sight.observe(box);
    this.refit();
  }

  say(text) {
    this.said.textContent = text;
  }

  // --- points --------------------------------------------------------------------------------

  edited(kind) {
    this.scene.preset = null;
    this.refit();
    if (kind !== "moving") this.say(`Point ${kind}; ${this.scene.points.length} points.`);
    this.settings.showPreset();
    this.settings.showClasses(this.plane.current);
  }

  chooseClass(k) {
    this.plane.current = k;
    this.settings.showClasses(k);
    this.say(`New points are of class ${k + 1}.`);
  }

  clear() {
    this.scene.points.length = 0;
    this.scene.preset = null;
    this.settings.showPreset();
    this.refit();
  }

  fitView() {
    const { points } = this.scene;
    const span = (values) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const room = Math.max(0.5, 0.18 * (high - low));
      return [low - room, high + room];
    };
    this.scene.window = points.length
      ? [...span(points.map((p) => p[0])), ...span(points.map((p) => p[1]))]
      : [-4, 4, -3, 3];
    this.refit();
  }

  load(key) {
    this.await(null);
    ask("preset", { key }, (header) => this.take(header.state));
  }

  take(found) {
    const { title, lesson, ...settings } = found;
    Object.assign(this.scene, settings);
    this.restored();
  }

  // The scene was replaced.
  restored() {
    this.plane.picked = this.plane.selected = -1;
    this.settings.put(this.plane.current);
    this.plane.answer = null;
    this.refit();
  }

  // --- fitting -------------------------------------------------------------------------------

  request() {
    return { ...this.scene, window: this.plane.view };
  }

  refit() {
    if (this.firstPointsAreOnTheirWay()) return;
    const at = performance.now();
    this.plane.draw();
    this.node.dataset.refined = "false"; // until the answer to this request is
    const request = this.request();
    this.await(request);
    this.waiting ||= setTimeout(() => this.wait(), PATIENCE);
    ask("fit", request, (header, arrays, asked) => this.answered(header, arrays, request, asked), { sticky: true, at });
    saveStep();
  }

  // On a new page the first preset arrives a moment after the plane: until then "no points" would be a flash of an error.
  firstPointsAreOnTheirWay() {
    return !this.settings.lessons && !this.scene.points.length && Boolean(this.scene.preset);
  }

  // `pending` is about the last thing asked for: an answer to what was asked before does not end it.
  await(request) {
    this.asked = request;
    this.node.dataset.pending = "true";
  }

  settle(request, number) {
    this.node.dataset.answered = String(number);
    if (request === this.asked) this.node.dataset.pending = "false";
  }

  // Numbers of what was there before must not be taken for those of what is there now.
  wait() {
    this.node.dataset.waiting = "true";
    this.timing.textContent = connection.warm ? "fitting…" : "compiling, the first time only; this takes a minute…";
  }

  arrived() {
    clearTimeout(this.waiting);
    this.waiting = 0;
    this.node.dataset.waiting = "false";
  }

  answered(header, arrays, request, asked) {
    this.arrived();
    if (header.error) {
      this.failed(header.error, header, request);
      return;
    }
    const nothing = header.refined ? "" : nothingLearnt(header, request);
    if (nothing) {
      this.failed(nothing, header, request);
      this.learntNothing = request;
      return;
    }
    if (header.refined && request === this.learntNothing) return;
    this.notice.hidden = true;
    this.plane.unmark();
    if (header.refined) {
      this.plane.show({ ...this.plane.answer, field: arrays.field, grid: header.grid, outlines: undefined });
      this.node.dataset.refined = "true";
      return;
    }
    this.plane.show({
      ...header,
      ...arrays,
      window: request.window,
      epsilon: request.method === "svr" ? request.epsilon : 0,
      margins: WITH_MARGINS.includes(request.method),
    });
    this.words.textContent = described(header, request);
    this.results.show(header, request);
    requestAnimationFrame(() => {
      const pixels = performance.now() - asked;
      this.timing.textContent = `fit ${show(header.ms, 2)} ms · on screen after ${Math.round(pixels)} ms · ${counted(request.points.length)}`;
      Object.assign(this.node.dataset, { pixels: pixels.toFixed(1), ms: header.ms.toFixed(2) });
      this.settle(request, header.n);
    });
  }

  failed(error, { proof, n }, request) {
    const { points } = request;
    this.plane.answer = null;
    this.plane.unmark();
    if (proof) this.showProof(proof, points);
    this.notice.textContent = proof
      ? `No hyperplane separates these classes: their convex hulls share a point${proof.point ? "" : " of the feature space"}. ${proofWords(proof)}`
      : error;
    this.notice.hidden = false;
    this.notice.classList.toggle("calm", !points.length);
    this.timing.textContent = counted(points.length);
    this.plane.draw();
    this.settle(request, n);
    this.words.textContent = `${counted(points.length)}. ${this.notice.textContent}`;
    this.results.fail();
  }

  showProof(proof, points) {
    this.plane.named = proof.indices;
    this.plane.weights = proofWeights(proof, points.length);
    if (!proof.point || proof.bias !== "free") return;
    this.plane.under = hullsPainter(proof, points);
    this.plane.over = commonPointPainter(proof.point);
  }

  // --- what the bar asks for -----------------------------------------------------------------

  svg() {
    return this.plane.toSvg();
  }
  code(then) {
    ask("code", this.request(), then);
  }
  repaint() {
    this.plane.picture = null;
    this.settings.repaint(this.plane.current);
    this.refit();
  }
  close() {
    this.arrived();
    this.sight.disconnect();
    this.plane.close();
  }
}
