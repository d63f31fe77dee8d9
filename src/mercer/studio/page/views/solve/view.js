// @ts-check
// Watch it solve: the steps of a real solver, forwards, backwards and one at a time.

import { chips } from "../../controls.js";
import { complain, gap, h, keyboardSection, section } from "../../dom.js";
import { stroke } from "../../drawing.js";
import { ask } from "../../link.js";
import { trace } from "../../palette.js";
import { Plane } from "../../plane/plane.js";
import { state } from "../../state.js";
import { saveLink, saveStep } from "../../steps.js";
import { KERNEL_USES, sceneControls } from "../choices.js";
import { filmOf, pictureOf } from "./film.js";
import { StatePanel } from "./panel.js";
import { Player } from "./player.js";

/** @type {[key: string, title: string][]} */
const SOLVERS = [
  ["perceptron", "Perceptron"],
  ["smo", "SMO"],
  ["pegasos", "Pegasos"],
  ["chunking", "Chunking"],
];
const ABOUT = {
  perceptron:
    "Visits the points one by one. A point on the wrong side is added to w, with its sign; nothing else ever happens.",
  smo: "Sequential minimal optimisation: the pair of points that violates the KKT conditions most, solved exactly, again and again. Without a free bias one point is enough.",
  pegasos:
    "Stochastic gradient descent: a random point pulls w if it falls short of the margin, and steps shrink as 1/t. A free bias counts as a penalised one here. The dual curve is the best bound so far.",
  chunking:
    "Solves a chunk of points by itself, keeps its support vectors, lets the worst violators join, and begins anew.",
};
/** @type {[key: string, title: string][]} */
const PRESETS = [
  ["toy", "Toy"],
  ["noisy", "Halves"],
  ["xor", "XOR"],
  ["rings", "Rings"],
  ["moons", "Moons"],
];
const KEYS = [
  ["space", "play or pause"],
  [", and .", "one step back, one forward"],
  ["Home, End", "first, last step"],
];
const MOST_NUMBERED = 20;

export class SolveView {
  /** @type {import("./film.js").Film | null} */
  film = null;

  constructor(stage) {
    this.scene = state.scene;
    const box = h("div", { class: "canvas-box" });
    this.notice = h("div", { class: "notice", role: "alert", hidden: true });
    this.player = new Player(state.step, (at) => this.show(at));
    this.panel = new StatePanel();
    this.node = h(
      "div",
      { class: "view wide-right", data: { view: "solve" } },
      h("div", { class: "work" }, box, this.notice, this.player.node),
      this.settings(),
      this.panel.node,
    );
    stage.replaceChildren(this.node);
    this.plane = new Plane(
      box,
      this.scene,
      {
        change: () => {
          this.scene.preset = null;
          this.record();
        },
      },
      { label: "Points that the solver works on; they can be moved", words: this.panel.numbers.id },
    );
    this.plane.under = (...on) => this.paintWorking(...on);
    if (this.scene.points.length) this.restored();
    else
      ask("preset", { key: "toy" }, (header) => {
        const { title, lesson, ...settings } = header.state;
        Object.assign(this.scene, settings);
        this.restored();
      });
  }

  // --- settings ------------------------------------------------------------------------------

  settings() {
    this.controls = sceneControls(
      this.scene,
      () => this.layout(),
      () => this.record(),
    );
    this.about = h("p", { class: "quiet" });
    this.solvers = chips("Solver", "solver", (key) => this.choose(key), SOLVERS);
    this.presets = chips("Points to begin with", "preset", (key) => this.load(key), PRESETS);
    this.parameters = h("div", {});
    return h(
      "aside",
      { class: "panel", "aria-label": "Settings" },
      section("Solver", this.solvers.node, gap(), this.about),
      section(
        "Points",
        this.presets.node,
        h("p", { class: "quiet" }, "Or those of the playground. Drag them here, too."),
      ),
      section("Problem", this.parameters),
      keyboardSection(KEYS),
    );
  }

  layout() {
    this.solvers.put(state.solver);
    this.about.textContent = ABOUT[state.solver] ?? "";
    const price = state.solver === "perceptron" ? [] : ["C"];
    const names = [...price, "bias", "kernel", ...(KERNEL_USES[this.scene.kernel] ?? [])];
    this.parameters.replaceChildren(...this.controls.nodes(...names));
  }

  choose(solver) {
    state.solver = solver;
    this.player.at = 0;
    this.layout();
    this.record();
  }

  load(key) {
    ask("preset", { key }, (header) => {
      const { title, lesson, method, ...settings } = header.state;
      Object.assign(this.scene, settings);
      state.step = 0;
      this.forget();
      this.restored();
    });
  }

  // Another link, an undone step, or other points: everything shows what the state holds.
  restored() {
    this.player.at = state.step;
    this.controls.put();
    this.layout();
    this.record();
  }

  // --- the film ------------------------------------------------------------------------------

  record() {
    this.presets.put(this.scene.preset);
    this.plane.numbered = this.scene.points.length <= MOST_NUMBERED;
    this.plane.draw();
    const request = { ...this.scene, window: this.plane.view, solver: state.solver };
    this.node.dataset.recording = "true";
    this.asked = request;
    ask(
      "record",
      request,
      (header, arrays) => {
        this.recorded(header, arrays, request);
        this.node.dataset.recording = String(request !== this.asked);
      },
      { sticky: true },
    );
    saveStep();
  }

  recorded(header, arrays, request) {
    if (complain(this.notice, header.error)) {
      this.forget();
      this.node.dataset.steps = "0";
      return;
    }
    this.film = filmOf(header, arrays, request);
    this.node.dataset.steps = String(this.film.steps);
    this.panel.load(this.film);
    this.player.load(this.film.steps);
  }

  forget() {
    this.film = null;
    this.player.load(0);
    this.plane.show(null);
  }

  show(at) {
    state.step = at;
    this.node.dataset.step = String(at);
    this.plane.show(pictureOf(this.film, at));
    this.panel.show(this.film, at);
    saveLink();
  }

  // The points that a step changes.
  paintWorking(ctx, plane, t) {
    const places = (this.film?.working[this.player.at] ?? []).map((i) => {
      const [x, y] = this.scene.points[i] ?? [0, 0];
      return plane.toScreen(x, y);
    });
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = t.accent;
    ctx.globalAlpha = 0.28;
    for (const [px, py] of places) {
      trace(ctx, "circle", px, py, 17);
      ctx.fill();
    }
    ctx.globalAlpha = 1;
    if (places.length === 2) {
      ctx.lineWidth = 2;
      ctx.setLineDash([3, 4]);
      stroke(ctx, places);
    }
    ctx.restore();
  }

  // --- what the bar asks for -----------------------------------------------------------------

  svg() {
    return this.plane.toSvg();
  }
  repaint() {
    if (!this.film) return;
    this.panel.load(this.film);
    this.player.go(this.player.at);
  }
  close() {
    this.player.close();
    this.panel.close();
    this.plane.close();
  }
}
