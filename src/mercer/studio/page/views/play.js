// @ts-check
// The playground: points, a method, a kernel; everything else follows from them.

import { h, numbersList, segmented, select, show } from "../dom.js";
import { ask, connection } from "../link.js";
import { CASES, classColour, drawMark, SHAPES, theme, trace } from "../palette.js";
import { Plane } from "../plane.js";
import { drawProof, proofWords } from "../proof.js";
import { state } from "../state.js";
import { saveStep } from "../steps.js";
import { ABOUT, EXAMPLES, KERNEL_USES, KERNELS, makeSliders, METHODS, USES } from "./choices.js";
import { hasSupport, nothingLearnt, standing } from "./standing.js";

const PATIENCE = 400; // milliseconds after which a reader is told that numbers are still those of before

export class PlayView {
  constructor(stage) {
    this.scene = state.scene;
    this.controls = h("aside", { class: "panel", "aria-label": "Settings" });
    this.box = h("div", { class: "canvas-box" });
    this.words = h("p", { class: "sr", id: "play-words" });
    this.tip = h("div", { class: "tip", hidden: true });
    this.notice = h("div", { class: "notice", role: "alert", hidden: true });
    this.said = h("div", { class: "sr", "aria-live": "polite" });
    const corner = h(
      "div",
      { class: "corner" },
      h(
        "button",
        {
          class: "tool",
          type: "button",
          data: { name: "fit-view" },
          title: "Show all points",
          onclick: () => this.fitView(),
        },
        "Fit",
      ),
      h(
        "button",
        {
          class: "tool",
          type: "button",
          data: { name: "clear" },
          title: "Remove all points",
          onclick: () => this.clear(),
        },
        "Clear",
      ),
    );
    this.box.append(this.tip, this.said, this.words);
    this.timing = h("span", { class: "timing" });
    this.foot = h(
      "div",
      { class: "foot" },
      this.timing,
      h("span", { class: "spring" }),
      h("span", { class: "hint" }, "click: place · drag: move · right-click: delete"),
    );
    this.side = h("aside", { class: "panel", tabindex: "0", "aria-label": "Results" });
    this.node = h(
      "div",
      { class: "view", data: { view: "play" } },
      h("div", { class: "work" }, this.box, this.notice, this.foot),
      this.controls,
      this.side,
    );
    stage.replaceChildren(this.node);
    this.buildSide();
    this.plane = new Plane(
      this.box,
      this.scene,
      {
        change: (kind) => {
          this.scene.preset = null;
          this.refit();
          if (kind !== "moving") this.sayCount(kind);
          this.markPreset();
          this.placeClasses();
        },
        hover: (k, x, y) => this.hint(k, x, y),
        say: (text) => {
          this.said.textContent = text;
        },
        choose: (k) => this.chooseClass(k),
      },
      {
        words: this.words.id,
        label:
          "Plane of points. Arrow keys move a cross, Enter places a point, n picks the next point, digits set its class, Delete removes it.",
      },
    );
    this.box.append(corner);
    this.build();
    this.sight = new ResizeObserver(() => this.refit());
    this.sight.observe(this.box);
    this.refit();
  }

  sayCount(kind) {
    this.said.textContent = `Point ${kind}; ${this.scene.points.length} points.`;
  }

  // --- settings ------------------------------------------------------------------------------

  build() {
    const scene = this.scene;
    const changed = () => {
      this.layout();
      this.refit();
    };
    this.sliders = makeSliders(scene, () => this.refit());
    this.methodSelect = select(
      "Method",
      METHODS,
      scene.method,
      (v) => {
        scene.method = v;
        changed();
      },
      "method",
    );
    this.about = h("p", { class: "quiet" });
    this.kernelSelect = select(
      "Kernel",
      KERNELS,
      scene.kernel,
      (v) => {
        scene.kernel = v;
        changed();
      },
      "kernel",
    );
    this.bias = segmented(
      "Bias",
      [
        ["free", "free", "b is not penalised"],
        ["penalized", "penalized", "b² is penalised like w"],
        ["none", "none", "the plane goes through the origin"],
      ],
      scene.bias,
      (v) => {
        scene.bias = v;
        this.refit();
      },
    );
    this.biasField = h("div", { class: "field" }, h("span", { class: "label" }, "Bias b"), this.bias.node);
    this.expression = h("textarea", {
      rows: 2,
      spellcheck: false,
      "aria-label": "Kernel expression",
      data: { name: "expression" },
      oninput: () => {
        scene.expression = this.expression.value;
        this.refit();
      },
    });
    this.expressionField = h(
      "div",
      { class: "field" },
      this.expression,
      h(
        "div",
        { class: "chips" },
        EXAMPLES.map((text) =>
          h(
            "button",
            {
              class: "chip long",
              type: "button",
              onclick: () => {
                scene.expression = text;
                this.expression.value = text;
                this.refit();
              },
            },
            text,
          ),
        ),
      ),
    );
    this.presets = h("div", { class: "chips", role: "group", "aria-label": "Points to begin with" });
    this.lesson = h("p", { class: "lesson", data: { name: "lesson" } });
    this.classes = h("div", { class: "chips", role: "group", "aria-label": "Class of new points" });
    this.tool = segmented(
      "What a click does",
      [
        ["add", "Add", "Place points, drag them"],
        ["class", "Class", "Give a point the chosen class"],
        ["delete", "Delete", "Remove points"],
      ],
      "add",
      (v) => {
        this.plane.tool = v;
      },
    );
    this.methodParameters = h("div", {});
    this.kernelParameters = h("div", {});
    this.controls.replaceChildren(
      h(
        "section",
        {},
        h("h2", { class: "heading" }, "Points"),
        this.presets,
        this.lesson,
        h("div", { class: "field" }),
        this.classes,
        h("div", { class: "field" }),
        this.tool.node,
      ),
      h(
        "section",
        {},
        h("h2", { class: "heading" }, "Method"),
        this.methodSelect.node,
        this.about,
        h("div", { class: "field" }),
        this.methodParameters,
      ),
      h("section", {}, h("h2", { class: "heading" }, "Kernel"), this.kernelSelect.node, this.kernelParameters),
      h(
        "section",
        { class: "by-keyboard" },
        h("h2", { class: "heading" }, "Keyboard"),
        h(
          "dl",
          { class: "keys" },
          ...[
            ["arrows", "move the cross or the point"],
            ["Enter", "place a point, or let it go"],
            ["n, p", "pick the next, the previous"],
            ["1 – 8", "its class, or that of new points"],
            ["Del", "remove it"],
            ["Shift", "smaller steps"],
            ["Ctrl+Z", "undo; with Shift, redo"],
          ].flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]),
        ),
      ),
    );
    this.placeClasses();
    ask("start", {}, (header) => {
      this.lessons = Object.fromEntries(header.presets.map(([key, , , lesson]) => [key, lesson]));
      this.presets.replaceChildren(
        ...header.presets.map(([key, title, short]) =>
          h(
            "button",
            { class: "chip", type: "button", data: { preset: key }, title, onclick: () => this.load(key) },
            short,
          ),
        ),
      );
      this.markPreset();
      if (!this.scene.points.length && this.scene.preset) this.take(header.first);
    });
    this.layout();
  }

  clear() {
    this.scene.points.length = 0;
    this.scene.preset = null;
    this.markPreset();
    this.refit();
  }

  fitView() {
    const xs = this.scene.points.map((p) => p[0]),
      ys = this.scene.points.map((p) => p[1]);
    if (!xs.length) this.scene.window = [-4, 4, -3, 3];
    else {
      const pad = (a, b) => {
        const m = Math.max(0.5, 0.18 * (b - a));
        return [a - m, b + m];
      };
      this.scene.window = [...pad(Math.min(...xs), Math.max(...xs)), ...pad(Math.min(...ys), Math.max(...ys))];
    }
    this.refit();
  }

  markPreset() {
    for (const chip of this.presets?.children ?? [])
      chip.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (chip).dataset.preset === this.scene.preset));
    // A lesson stays while its points are moved: that is what it asks for.
    const lesson = this.lessons?.[this.scene.preset];
    if (lesson || !this.scene.points.length) this.lesson.textContent = lesson ?? "";
  }

  placeClasses() {
    const used = Math.max(1, ...this.scene.points.map((p) => p[2]));
    const count = Math.min(8, Math.max(2, used + 2, (this.plane?.current ?? 0) + 1));
    if (this.classes.children.length === count) {
      [...this.classes.children].forEach((c, k) =>
        c.setAttribute("aria-pressed", String(k === (this.plane?.current ?? 0))),
      );
      return;
    }
    this.classes.replaceChildren(
      ...Array.from({ length: count }, (_, k) => {
        const icon = h("canvas", { width: 32, height: 32 });
        icon.style.width = icon.style.height = "16px";
        const ctx = icon.getContext("2d");
        trace(ctx, SHAPES[k], 16, 16, 10);
        ctx.fillStyle = classColour(k);
        ctx.fill();
        return h(
          "button",
          {
            class: "chip swatch",
            type: "button",
            "aria-pressed": String(k === (this.plane?.current ?? 0)),
            data: { class: String(k) },
            onclick: () => this.chooseClass(k),
          },
          icon,
          `${k + 1}`,
        );
      }),
    );
  }

  chooseClass(k) {
    this.plane.current = k;
    this.placeClasses();
    this.said.textContent = `New points are of class ${k + 1}.`;
  }

  layout() {
    const scene = this.scene;
    this.about.textContent = ABOUT[scene.method] ?? "";
    this.methodParameters.replaceChildren(
      ...(USES[scene.method] ?? []).map((name) => (name === "bias" ? this.biasField : this.sliders[name].node)),
    );
    const kernel =
      scene.kernel === "expression"
        ? [this.expressionField]
        : (KERNEL_USES[scene.kernel] ?? []).map((name) => this.sliders[name].node);
    this.kernelParameters.replaceChildren(...kernel);
    if (this.expression.value !== scene.expression) this.expression.value = scene.expression;
  }

  load(key) {
    this.await(null);
    ask("preset", { key }, (header) => this.take(header.state));
  }

  take(found) {
    const { title, lesson, ...settings } = found;
    Object.assign(this.scene, settings);
    this.put();
  }

  restored() {
    this.put();
  }

  // After the scene was replaced: every control shows it.
  put() {
    const scene = this.scene;
    for (const [name, s] of Object.entries(this.sliders)) s.put(scene[name]);
    this.methodSelect.put(scene.method);
    this.kernelSelect.put(scene.kernel);
    this.bias.put(scene.bias);
    this.plane.picked = this.plane.selected = -1;
    this.markPreset();
    this.placeClasses();
    this.layout();
    this.plane.answer = null;
    this.refit();
  }

  // --- fitting -------------------------------------------------------------------------------

  request() {
    return { ...this.scene, window: this.plane.view };
  }

  refit() {
    if (!this.plane || this.firstPointsAreOnTheirWay()) return;
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
    return !this.lessons && !this.scene.points.length && Boolean(this.scene.preset);
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
      this.failed(header, request);
      return;
    }
    const nothing = header.refined ? "" : nothingLearnt(header, request);
    if (nothing) {
      this.failed({ ...header, error: nothing }, request);
      this.learntNothing = request;
      return;
    }
    if (header.refined && request === this.learntNothing) return;
    this.notice.hidden = true;
    this.plane.weights = null;
    this.plane.named = null;
    this.plane.overlay = null;
    if (header.refined) {
      this.plane.show({ ...this.plane.answer, field: arrays.field, grid: header.grid, outlines: undefined });
      this.node.dataset.refined = "true";
      return;
    }
    const margins = ["hard", "soft", "squared", "ramp", "nu"].includes(request.method);
    this.plane.show({
      ...header,
      ...arrays,
      window: request.window,
      epsilon: request.method === "svr" ? request.epsilon : 0,
      margins,
    });
    this.results(header, arrays, request);
    requestAnimationFrame(() => {
      const pixels = performance.now() - asked;
      this.timing.textContent = `fit ${show(header.ms, 2)} ms · on screen after ${Math.round(pixels)} ms · ${counted(request.points.length)}`;
      Object.assign(this.node.dataset, {
        pixels: pixels.toFixed(1),
        ms: header.ms.toFixed(2),
      });
      this.settle(request, header.n);
    });
  }

  failed(header, request) {
    const proof = header.proof;
    this.notice.textContent = header.error;
    this.notice.hidden = false;
    this.notice.classList.toggle("calm", !request.points.length);
    this.plane.answer = null;
    this.plane.weights = null;
    this.plane.named = null;
    this.plane.overlay = null;
    this.timing.textContent = counted(request.points.length);
    if (proof) {
      this.notice.textContent = `No hyperplane separates these classes: their convex hulls share a point${proof.point ? "" : " of the feature space"}. ${proofWords(proof)}`;
      this.plane.named = proof.indices;
      const weights = new Array(request.points.length).fill(null);
      proof.indices.forEach((i, k) => {
        weights[i] = proof.weights[k];
      });
      this.plane.weights = weights;
      if (proof.point && proof.bias === "free")
        this.plane.overlay = (ctx, plane, t, layer) => drawProof(ctx, plane, t, layer, proof, request.points);
    }
    this.plane.draw();
    this.settle(request, header.n);
    this.words.textContent = `${counted(request.points.length)}. ${this.notice.textContent}`;
    this.results(null, null, request, header.error);
  }

  // --- numbers -------------------------------------------------------------------------------

  buildSide() {
    this.hero = h("section", { class: "hero" });
    this.statusBox = h("section", {});
    this.list = h("section", {});
    this.legend = h("section", {});
    this.side.replaceChildren(this.hero, this.statusBox, this.legend, this.list);
  }

  results(header, arrays, request, error) {
    if (!header) {
      this.hero.replaceChildren(h("div", { class: "what" }, "Nothing to show"), h("div", { class: "big" }, "–"));
      this.statusBox.replaceChildren(
        h("span", { class: "status", data: { kind: "bad" } }, error ? "No model" : "Waiting"),
      );
      this.legend.replaceChildren();
      this.list.replaceChildren();
      return;
    }
    const n = header.numbers;
    this.words.textContent = this.described(header, request);
    const big =
      n.margin !== undefined && n.margin !== null
        ? ["Margin  1/|w|", show(n.margin, 5), "margin"]
        : header.kind === "curve"
          ? ["Root mean square error", show(n.error_rms, 4), "error_rms"]
          : header.kind === "region"
            ? ["Points outside", String(n.outside), "outside"]
            : ["Training errors", `${n.training_errors}`, "training_errors"];
    this.hero.replaceChildren(
      h("div", { class: "what" }, big[0]),
      h("div", { class: "big", data: { number: big[2] } }, big[1]),
    );
    const kind =
      header.status === "OPTIMAL"
        ? "good"
        : header.status === "ITERATION_LIMIT" || header.status === "OPTIMAL_INACCURATE"
          ? "warn"
          : "bad";
    this.statusBox.replaceChildren(
      h(
        "span",
        { class: "status", data: { kind, status: header.status } },
        header.status.replaceAll("_", " ").toLowerCase(),
      ),
      h("p", { class: "quiet" }, header.meaning),
    );
    this.listCases(header, request);
    const rows = [
      [
        "Support vectors",
        !hasSupport(request.method) || (n.support === 0 && header.kind === "region") ? undefined : String(n.support),
        "support",
      ],
      [
        "Training errors",
        big[2] === "training_errors" || n.training_errors === undefined ? undefined : String(n.training_errors),
        "training_errors",
      ],
      ["Updates", n.updates === undefined ? undefined : String(n.updates), "updates"],
      ["Norm |w|", n.norm === undefined ? undefined : show(n.norm, 5), "norm"],
      ["Bias b", n.bias === undefined ? undefined : show(n.bias, 4), "bias"],
      ["Primal", n.primal === undefined ? undefined : show(n.primal, 6), "primal"],
      ["Dual", n.dual === undefined ? undefined : show(n.dual, 6), "dual"],
      ["Gap", n.gap === undefined ? undefined : show(Math.max(0, n.gap), 2), "gap"],
    ];
    const proof =
      n.gap === undefined ? null : h("p", { class: "quiet" }, "dual ≤ optimum ≤ primal: the gap is the proof.");
    this.list.replaceChildren(h("h2", { class: "heading" }, "Numbers"), numbersList(rows), proof ?? "");
  }

  // The picture in a sentence, for those who cannot see it.
  described(header, request) {
    const [, method] = METHODS.find(([key]) => key === request.method) ?? ["", request.method];
    const [, kernel] = KERNELS.find(([key]) => key === request.kernel) ?? ["", request.kernel];
    const n = header.numbers;
    const classes = new Set(request.points.map((p) => p[2])).size;
    const parts = [
      header.kind === "classes"
        ? `${counted(request.points.length)} of ${classes} classes`
        : counted(request.points.length),
      `${method}, ${kernel.split("  ")[0].toLowerCase()} kernel: ${header.status.replaceAll("_", " ").toLowerCase()}`,
      n.support ? `${n.support} support vectors` : null,
      n.margin ? `margin ${show(n.margin, 4)}` : null,
      n.training_errors === undefined ? null : `${n.training_errors} training errors`,
      n.outside === undefined ? null : `${n.outside} points outside of the region`,
      n.error_rms === undefined ? null : `root mean square error ${show(n.error_rms, 4)}`,
    ];
    return `${parts.filter(Boolean).join("; ")}.`;
  }

  listCases(header, request) {
    this.legend.replaceChildren();
    if (!hasSupport(request.method)) return;
    const counts = [0, 0, 0, 0, 0];
    header.cases.forEach((c) => {
      counts[c] += 1;
    });
    const t = theme();
    const items = counts.map((count, c) => {
      if (!count) return null;
      const icon = h("canvas", { width: 48, height: 44 });
      const ctx = icon.getContext("2d");
      ctx.setTransform(2, 0, 0, 2, 0, 0);
      drawMark(ctx, 12, 11, 0, c, t, { r: 4 });
      return h("li", { data: { case: CASES[c][0] } }, icon, standing(header.kind, c), h("b", {}, String(count)));
    });
    this.legend.replaceChildren(
      h("h2", { class: "heading" }, "How points stand (KKT)"),
      h("ul", { class: "legend" }, items),
    );
  }

  hint(k, px, py) {
    const answer = this.plane?.answer;
    if (k < 0 || k === undefined || this.plane.drag) {
      this.tip.hidden = true;
      return;
    }
    const [x, y, c] = this.scene.points[k];
    const lines = [
      h("b", {}, `Point ${k + 1}, class ${c + 1}`),
      h("div", { class: "math" }, `x = (${show(x)}, ${show(y)})`),
    ];
    if (answer?.alpha?.length > k)
      lines.push(h("div", { class: "math", data: { alpha: String(answer.alpha[k]) } }, `α = ${show(answer.alpha[k])}`));
    if (answer?.values?.length > k)
      lines.push(
        h(
          "div",
          { class: "math" },
          answer.kind === "curve"
            ? `f(x) = ${show(answer.values[k])}`
            : answer.kind === "region"
              ? `f(x) = ${show(answer.values[k])}`
              : `y f(x) = ${show(answer.values[k])}`,
        ),
      );
    if (answer?.cases?.length > k && hasSupport(this.scene.method))
      lines.push(h("div", {}, standing(answer.kind, answer.cases[k])));
    this.tip.replaceChildren(...lines);
    this.tip.hidden = false;
    const [w, hgt] = this.plane.size;
    this.tip.style.left = `${Math.min(px + 16, w - 230)}px`;
    this.tip.style.top = `${Math.min(py + 14, hgt - 112)}px`;
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
    this.classes.replaceChildren();
    this.placeClasses();
    this.refit();
  }
  close() {
    this.arrived();
    this.sight.disconnect();
    this.plane.close();
  }
}

export const counted = (n) => `${n} point${n === 1 ? "" : "s"}`;
