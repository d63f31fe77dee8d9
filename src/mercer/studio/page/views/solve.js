// @ts-check
// Watch it solve: the steps of a real solver, forwards, backwards and one at a time.

import { Bars } from "../bars.js";
import { curves } from "../curves.js";
import { h, numbersList, segmented, select, show, svgIcon } from "../dom.js";
import { ask } from "../link.js";
import { classColour, theme } from "../palette.js";
import { Plane } from "../plane.js";
import { state } from "../state.js";
import { saveLink, saveStep } from "../steps.js";
import { KERNEL_USES, KERNELS, makeSliders } from "./choices.js";

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
const PLAY = "M4 2.5v11l9-5.5z",
  PAUSE = "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  NEXT = "M3 2.5v11l7-5.5zM11 2.5h2.2v11H11z",
  BACK = "M13 2.5v11L6 8zM2.8 2.5H5v11H2.8z",
  FIRST = "M8.5 8l6-5v10zM1.5 3h2v10h-2zM3.5 8l5-5v10z";

export class SolveView {
  constructor(stage) {
    this.scene = state.scene;
    this.box = h("div", { class: "canvas-box" });
    this.notice = h("div", { class: "notice", role: "alert", hidden: true });
    this.range = h("input", {
      type: "range",
      min: "0",
      max: "0",
      step: "1",
      "aria-label": "Step",
      data: { name: "step" },
      oninput: () => {
        this.pause();
        this.go(Number(this.range.value));
      },
    });
    this.count = h("span", { class: "count" });
    const button = (icon, label, name, act) =>
      h(
        "button",
        { class: "tool icon", type: "button", title: label, "aria-label": label, data: { name }, onclick: act },
        svgIcon(icon),
      );
    this.playButton = button(PLAY, "Play or pause", "play", () => (this.timer ? this.pause() : this.play()));
    this.speed = select(
      "Speed",
      [
        ["2", "slow"],
        ["8", "medium"],
        ["30", "fast"],
      ],
      "8",
      () => {
        if (this.timer) {
          this.pause();
          this.play();
        }
      },
      "speed",
    );
    this.transport = h(
      "div",
      { class: "transport" },
      button(FIRST, "To the beginning", "first", () => {
        this.pause();
        this.go(0);
      }),
      button(BACK, "One step back", "back", () => {
        this.pause();
        this.go(this.at - 1);
      }),
      this.playButton,
      button(NEXT, "One step forward", "next", () => {
        this.pause();
        this.go(this.at + 1);
      }),
      this.range,
      this.count,
      this.speed.box,
    );
    this.speed.box.style.width = "108px";
    this.speed.box.setAttribute("aria-label", "Speed");
    this.note = h("p", { class: "note", "aria-live": "polite", data: { name: "note" } });
    this.alphaBars = new Bars(92);
    this.gradientBars = new Bars(92);
    this.chart = h("div", { class: "chart" });
    this.numbers = h("div", { id: "solve-numbers" });
    this.alphaTitle = h("h2", { class: "heading" }, "Alpha of every point");
    this.gradientTitle = h("h2", { class: "heading" }, "Gradient of the dual");
    this.chartTitle = h("h2", { class: "heading" }, "Primal and dual");
    const side = h(
      "aside",
      { class: "panel", tabindex: "0", "aria-label": "State of the solver" },
      h("section", {}, h("h2", { class: "heading" }, "This step"), this.note, this.numbers),
      h("section", {}, this.chartTitle, this.chart),
      h("section", {}, this.alphaTitle, this.alphaBars.canvas),
      h("section", {}, this.gradientTitle, this.gradientBars.canvas),
    );
    this.controls = h("aside", { class: "panel", "aria-label": "Settings" });
    this.node = h(
      "div",
      { class: "view wide-right", data: { view: "solve" } },
      h("div", { class: "work" }, this.box, this.notice, this.transport),
      this.controls,
      side,
    );
    stage.replaceChildren(this.node);
    this.plane = new Plane(
      this.box,
      this.scene,
      {
        change: () => {
          this.scene.preset = null;
          this.record();
        },
      },
      { label: "Points that the solver works on; they can be moved", words: this.numbers.id },
    );
    this.plane.numbered = this.scene.points.length <= 20;
    this.plane.overlay = (ctx, plane, t, layer) => {
      if (layer === "below") this.drawWorking(ctx, plane, t);
    };
    this.at = state.step;
    this.build();
    this.keys = (event) => this.key(event);
    // On the document: a click on a tab leaves the keyboard there, and the film must go on.
    document.addEventListener("keydown", this.keys);
    if (!this.scene.points.length)
      ask("preset", { key: "toy" }, (header) => {
        const { title, lesson, ...settings } = header.state;
        Object.assign(this.scene, settings);
        this.put();
        this.record();
      });
    else this.record();
  }

  build() {
    const changed = () => this.record();
    this.sliders = makeSliders(this.scene, changed);
    this.about = h("p", { class: "quiet" });
    const solver = (this.chips = h(
      "div",
      { class: "chips", role: "group", "aria-label": "Solver" },
      SOLVERS.map(([key, title]) =>
        h(
          "button",
          {
            class: "chip",
            type: "button",
            "aria-pressed": String(key === state.solver),
            data: { solver: key },
            onclick: (e) => {
              state.solver = key;
              this.at = 0;
              for (const c of e.currentTarget.parentNode.children)
                c.setAttribute("aria-pressed", String(c === e.currentTarget));
              this.layout();
              this.record();
            },
          },
          title,
        ),
      ),
    ));
    this.presets = h(
      "div",
      { class: "chips", role: "group", "aria-label": "Points to begin with" },
      [
        ["toy", "Toy"],
        ["noisy", "Halves"],
        ["xor", "XOR"],
        ["rings", "Rings"],
        ["moons", "Moons"],
      ].map(([key, title]) =>
        h(
          "button",
          {
            class: "chip",
            type: "button",
            data: { preset: key },
            onclick: () =>
              ask("preset", { key }, (header) => {
                const { title: _, lesson, method, ...rest } = header.state;
                Object.assign(this.scene, rest, { method: this.scene.method });
                this.put();
                this.at = 0;
                this.run = null;
                this.plane.show(null);
                this.record();
              }),
          },
          title,
        ),
      ),
    );
    this.kernel = select(
      "Kernel",
      KERNELS,
      this.scene.kernel,
      (v) => {
        this.scene.kernel = v;
        this.layout();
        this.record();
      },
      "kernel",
    );
    this.bias = segmented(
      "Bias",
      [
        ["free", "free"],
        ["penalized", "penalized"],
        ["none", "none"],
      ],
      this.scene.bias,
      (v) => {
        this.scene.bias = v;
        this.record();
      },
    );
    this.parameters = h("div", {});
    this.controls.replaceChildren(
      h("section", {}, h("h2", { class: "heading" }, "Solver"), solver, h("div", { class: "field" }), this.about),
      h(
        "section",
        {},
        h("h2", { class: "heading" }, "Points"),
        this.presets,
        h("p", { class: "quiet" }, "Or those of the playground. Drag them here, too."),
      ),
      h("section", {}, h("h2", { class: "heading" }, "Problem"), this.parameters),
      h(
        "section",
        { class: "by-keyboard" },
        h("h2", { class: "heading" }, "Keyboard"),
        h(
          "dl",
          { class: "keys" },
          ...[
            ["space", "play or pause"],
            [", and .", "one step back, one forward"],
            ["Home, End", "first, last step"],
          ].flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]),
        ),
      ),
    );
    this.layout();
  }

  put() {
    for (const [name, s] of Object.entries(this.sliders)) s.put(this.scene[name]);
    this.kernel.put(this.scene.kernel);
    this.bias.put(this.scene.bias);
    this.layout();
    this.plane.numbered = this.scene.points.length <= 20;
  }

  layout() {
    this.about.textContent = ABOUT[state.solver] ?? "";
    const price = state.solver === "perceptron" ? [] : [this.sliders.C.node];
    this.parameters.replaceChildren(
      ...price,
      h("div", { class: "field" }, h("span", { class: "label" }, "Bias b"), this.bias.node),
      this.kernel.node,
      ...(KERNEL_USES[this.scene.kernel] ?? []).map((name) => this.sliders[name].node),
    );
  }

  record() {
    for (const chip of this.presets.children)
      chip.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (chip).dataset.preset === this.scene.preset));
    this.plane.draw();
    const request = { ...this.scene, window: this.plane.view, solver: state.solver };
    this.node.dataset.recording = "true";
    const number = (this.asked = (this.asked ?? 0) + 1);
    ask(
      "record",
      request,
      (header, arrays) => {
        this.recorded(header, arrays, request);
        this.node.dataset.recording = String(number !== this.asked);
      },
      { sticky: true },
    );
    saveStep();
  }

  restored() {
    this.at = state.step;
    for (const chip of this.chips.children)
      chip.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (chip).dataset.solver === state.solver));
    this.put();
    this.record();
  }

  recorded(header, arrays, request) {
    this.notice.hidden = !header.error;
    if (header.error) {
      this.notice.textContent = header.error;
      this.run = null;
      this.plane.show(null);
      this.node.dataset.steps = "0";
      return;
    }
    const n = request.points.length;
    this.run = { ...header, ...arrays, n, steps: header.notes.length, request };
    this.range.max = String(this.run.steps - 1);
    this.node.dataset.steps = String(this.run.steps);
    this.plane.numbered = n <= 20;
    this.alphaTop = Math.max(1e-9, ...arrays.alpha);
    this.slope = arrays.gradient.reduce((m, v) => Math.max(m, Math.abs(v)), 0.1);
    this.drawChart();
    this.go(Math.min(this.at, this.run.steps - 1));
  }

  row(name, k) {
    return this.run[name].subarray(k * this.run.n, (k + 1) * this.run.n);
  }

  go(k) {
    if (!this.run) return;
    this.at = state.step = Math.max(0, Math.min(this.run.steps - 1, k));
    const run = this.run,
      at = this.at,
      [columns, rows] = run.grid;
    this.range.value = String(at);
    this.count.textContent = `${at} / ${run.steps - 1}`;
    const field = run.fields.subarray(at * columns * rows, (at + 1) * columns * rows);
    const values = this.row("values", at),
      alpha = this.row("alpha", at);
    const top = run.C ?? Infinity;
    const isBox = run.solver === "smo" || run.solver === "chunking";
    const cases = Array.from(alpha, (a, i) =>
      a <= 0 ? 0 : !isBox ? 4 : a >= top * (1 - 1e-6) ? (values[i] > 0 ? 2 : 3) : 1,
    );
    this.plane.show({
      field,
      grid: run.grid,
      window: run.request.window,
      classes: [...new Set(run.request.points.map((p) => p[2]))].sort(),
      cases,
      margins: run.solver !== "perceptron",
    });
    this.note.textContent = run.notes[at] || "–";
    this.node.dataset.step = String(at);
    this.drawBars();
    const rowsOf = [
      ["Coefficient changes", String(run.updates[at]), "updates"],
      ["Bias b", show(run.bias[at]), "bias"],
    ];
    if (run.solver === "perceptron") {
      rowsOf.push(
        ["Bound (ρ/γ)²", run.bound === null ? "not separable" : show(run.bound, 4), "bound"],
        ["Loss of mistakes", show(run.primal[at]), "primal"],
      );
    } else
      rowsOf.push(
        ["Primal", show(run.primal[at], 6), "primal"],
        ["Dual", show(run.dual[at], 6), "dual"],
        ["Gap", show(run.primal[at] - run.dual[at], 3), "gap"],
      );
    if (at === run.steps - 1) rowsOf.push(["", run.finished ? "solved" : "more steps than shown", "end"]);
    this.numbers.replaceChildren(numbersList(rowsOf));
    this.chartAt?.(at);
    saveLink();
  }

  drawBars() {
    const run = this.run,
      labels = run.request.points.map((p) => p[2]),
      working = run.working[this.at];
    const box = run.C && this.alphaTop <= 1.5 * run.C ? run.C : null;
    this.alphaBars.draw({
      values: this.row("alpha", this.at),
      labels,
      low: 0,
      high: box ? Math.max(box * 1.08, this.alphaTop) : this.alphaTop * 1.08,
      working,
      lines: box ? [[box, "C"]] : [],
      label: `Alpha of every point: ${this.row("alpha", this.at).filter((a) => a > 0).length} of ${run.n} above 0, the largest ${show(Math.max(...this.row("alpha", this.at)))}`,
    });
    this.gradientBars.draw({
      values: this.row("gradient", this.at),
      labels,
      low: -this.slope,
      high: this.slope,
      working,
      lines: run.solver === "perceptron" || run.solver === "pegasos" ? [[0, "0"]] : [[run.bias[this.at], "b"]],
      label: `Gradient of every point: from ${show(Math.min(...this.row("gradient", this.at)))} to ${show(Math.max(...this.row("gradient", this.at)))}`,
    });
    this.gradientTitle.textContent = run.solver === "perceptron" ? "y − f of every point" : "Gradient of the dual";
  }

  drawChart() {
    const run = this.run,
      t = theme();
    const x = Array.from({ length: run.steps }, (_, k) => k);
    const finite = (a) => Array.from(a, (v) => (Number.isFinite(v) ? v : null));
    const isPerceptron = run.solver === "perceptron";
    this.chartTitle.textContent = isPerceptron ? "Loss, updates and their bound" : "Primal and dual";
    const series = isPerceptron
      ? [finite(run.primal), run.updates, ...(run.bound === null ? [] : [x.map(() => run.bound)])]
      : [finite(run.primal), finite(run.dual)];
    const names = isPerceptron ? ["loss", "updates", ...(run.bound === null ? [] : ["(ρ/γ)²"])] : ["primal", "dual"];
    const colours = isPerceptron ? [classColour(4), classColour(0), t.faint] : [classColour(4), classColour(0)];
    this.uplot?.destroy();
    this.uplot = curves(this.chart, {
      x,
      series,
      names,
      colours,
      xlabel: "step",
      height: 176,
      most: isPerceptron ? undefined : ceiling(run.dual),
      dash: isPerceptron ? [undefined, undefined, [5, 5]] : [undefined, undefined],
    });
    const ends = (a) => `${show(a[0])} at first, ${show(a.at(-1))} at the end`;
    this.chart.setAttribute("role", "img");
    this.chart.setAttribute(
      "aria-label",
      `${names.map((name, k) => `${name}: ${ends(series[k])}`).join("; ")}; ${run.steps - 1} steps`,
    );
    this.chartAt = (at) => {
      this.uplot.setCursor({ left: this.uplot.valToPos(at, "x"), top: 10 }, false);
      this.uplot.setLegend({ idx: at }, false);
    };
  }

  drawWorking(ctx, plane, t) {
    if (!this.run) return;
    const working = this.run.working[this.at] ?? [];
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = t.accent;
    const places = working.map((i) => plane.toScreen(...(this.scene.points[i]?.slice(0, 2) ?? [0, 0])));
    for (const [px, py] of places) {
      ctx.globalAlpha = 0.28;
      ctx.beginPath();
      ctx.arc(px, py, 17, 0, 2 * Math.PI);
      ctx.fill();
      ctx.globalAlpha = 1;
    }
    if (places.length === 2) {
      ctx.lineWidth = 2;
      ctx.setLineDash([3, 4]);
      ctx.beginPath();
      ctx.moveTo(...places[0]);
      ctx.lineTo(...places[1]);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    ctx.restore();
  }

  play() {
    if (!this.run) return;
    if (this.at >= this.run.steps - 1) this.go(0);
    this.playButton.replaceChildren(svgIcon(PAUSE));
    this.node.dataset.playing = "true";
    this.timer = setInterval(
      () => {
        if (!this.run || this.at >= this.run.steps - 1) this.pause();
        else this.go(this.at + 1);
      },
      1000 / Number(this.speed.box.value),
    );
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.node.dataset.playing = "false";
    this.playButton.replaceChildren(svgIcon(PLAY));
  }

  key(event) {
    if (document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
    // What is typed into a box, and what moves another slider, is not meant for the film.
    if (event.target.matches?.("textarea, select, input:not([data-name=step])")) return;
    if (event.target.matches?.("button, canvas") && event.key === " ") return;
    const act = {
      " ": () => (this.timer ? this.pause() : this.play()),
      ".": () => {
        this.pause();
        this.go(this.at + 1);
      },
      ",": () => {
        this.pause();
        this.go(this.at - 1);
      },
      Home: () => this.go(0),
      End: () => this.go(Infinity),
    }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  }

  svg() {
    return this.plane.toSvg();
  }
  repaint() {
    this.plane.picture = null;
    this.drawChart?.();
    this.go(this.at);
  }
  close() {
    document.removeEventListener("keydown", this.keys);
    this.pause();
    this.uplot?.destroy();
    this.plane.close();
  }
}

// Early primal values may be thousands of times the optimum; the eye wants to see the curves close, so the axis ends
// here. The values themselves stay what they are, in the legend as in the table.
function ceiling(dual) {
  const last = dual.at(-1) ?? 0;
  return last + Math.max(Math.abs(last) * 6, 1e-9);
}
