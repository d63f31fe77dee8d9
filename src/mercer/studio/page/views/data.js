// @ts-check
// Your data: open, train with live progress, look, explain, tune, download; or open a model.

import { curves } from "../curves.js";
import { h, numbersList, select, show, slider, toast } from "../dom.js";
import { address, ask, stop } from "../link.js";
import { classColour, drawMark, theme } from "../palette.js";
import { Plane } from "../plane.js";
import { state } from "../state.js";
import { saveStep } from "../steps.js";

const KERNELS = [
  ["", "By what the data hold"],
  ["columns", "One for each column"],
  ["linear()", "Linear"],
  ["rbf()", "Gaussian"],
  ["poly(degree=2, coef0=1)", "Polynomial, degree 2"],
  ["laplacian()", "Laplacian"],
  ["?", "An expression…"],
];

export class DataView {
  constructor(stage) {
    const kept = state.data;
    this.settings = {
      set: kept.set ?? null,
      target: kept.target ?? null,
      left: kept.left ?? [],
      kernel: kept.kernel ?? "",
      expression: kept.expression ?? "",
      C: kept.C ?? 1,
    };
    this.controls = h("aside", { class: "panel", "aria-label": "Data and settings" });
    this.cards = h("div", { class: "cards", role: "region", "aria-label": "Results", tabindex: "0" });
    this.node = h("div", { class: "view data", data: { view: "data" } }, this.controls, this.cards);
    stage.replaceChildren(this.node);
    this.build();
    this.empty();
    ask("resume", {}, (header, arrays) => {
      if (header.opened) this.opened(header.opened);
      else if (this.settings.set) this.open({ set: this.settings.set });
      if (header.record) this.finished(header, arrays);
      this.node.dataset.resumed = "true";
    });
  }

  // --- the left side -------------------------------------------------------------------------

  build() {
    this.input = h("input", {
      type: "file",
      "aria-label": "Choose a file",
      data: { name: "file" },
      onchange: () => {
        if (this.input.files[0]) this.upload(this.input.files[0]);
        this.input.value = "";
      },
    });
    this.drop = h(
      "label",
      { class: "drop" },
      h("b", {}, "Drop a file here, or choose one"),
      "CSV, .xlsx, .ods, Parquet, Arrow, JSON lines, svmlight, trees, a zip of TU graphs, or a .mercer model",
      this.input,
    );
    for (const kind of ["dragover", "dragenter"])
      this.drop.addEventListener(kind, (e) => {
        e.preventDefault();
        this.drop.classList.add("over");
      });
    for (const kind of ["dragleave", "drop"])
      this.drop.addEventListener(kind, () => this.drop.classList.remove("over"));
    this.drop.addEventListener("drop", (e) => {
      e.preventDefault();
      if (e.dataTransfer.files[0]) this.upload(e.dataTransfer.files[0]);
    });
    this.sets = h("div", { class: "chips" });
    this.choices = h("section", { hidden: true });
    this.notice = h("div", { role: "alert", hidden: true, class: "inline-notice", data: { name: "data-notice" } });
    this.controls.replaceChildren(
      h(
        "section",
        {},
        h("h2", { class: "heading" }, "Data"),
        this.drop,
        h("div", { class: "field" }),
        h("p", { class: "label" }, "Or one that is here"),
        h("div", { class: "field" }),
        this.sets,
        this.notice,
      ),
      this.choices,
    );
    ask("shipped", {}, (header) =>
      this.sets.replaceChildren(
        ...header.sets.map(([key, title, about]) =>
          h(
            "button",
            {
              class: "chip",
              type: "button",
              title: about,
              data: { set: key },
              "aria-pressed": String(key === this.settings.set),
              onclick: () => this.open({ set: key }),
            },
            title,
          ),
        ),
      ),
    );
  }

  complain(text) {
    this.notice.hidden = !text;
    this.notice.textContent = text ?? "";
    this.node.dataset.error = text ? "true" : "false";
  }

  async upload(file) {
    this.complain(null);
    this.node.dataset.busy = "upload";
    try {
      const answer = await fetch(address("/upload", { name: file.name }), { method: "POST", body: file });
      const found = await answer.json().catch(() => ({ error: `The server said ${answer.status}.` }));
      if (found.error) {
        this.complain(found.error);
        this.node.dataset.busy = "";
        return;
      }
      if (/\.mercer$/i.test(file.name)) this.inspect(found.file);
      else this.open({ file: found.file });
    } catch {
      this.complain(
        "The file could not be sent: the connection was lost, or the file is larger than the studio takes.",
      );
      this.node.dataset.busy = "";
    }
  }

  open(what) {
    this.complain(null);
    this.node.dataset.busy = "open";
    ask(
      "open",
      what,
      (header) => {
        this.node.dataset.busy = "";
        if (header.error) {
          this.complain(header.error);
          return;
        }
        const same = what.set && what.set === this.settings.set;
        this.settings.set = what.set ?? null;
        for (const chip of this.sets.children)
          chip.setAttribute(
            "aria-pressed",
            String(/** @type {HTMLElement} */ (chip).dataset.set === this.settings.set),
          );
        // What names the rows teaches nothing about the next ones: as the command, leave it out unless somebody ticks it.
        const idle = (header.columns ?? []).filter((c) => c.left_out).map((c) => c.name);
        const others = (header.columns ?? []).some((c) => !c.left_out && c.name !== header.target);
        if (!same) Object.assign(this.settings, { target: null, left: others ? idle : [] });
        this.heat = this.result = null;
        this.opened(header);
      },
      { once: true },
    );
  }

  opened(header) {
    this.data = header;
    if (header.columns && !header.columns.some((c) => c.name === this.settings.target))
      this.settings.target = header.target;
    this.node.dataset.rows = String(header.rows);
    this.layout();
    this.preview();
    this.keep();
  }

  keep() {
    state.data = { ...this.settings };
    saveStep();
  }

  layout() {
    const s = this.settings,
      data = this.data,
      parts = [h("h2", { class: "heading" }, "Learn")];
    if (data.columns) {
      parts.push(
        select(
          "Predict",
          data.columns.map((c) => [
            c.name,
            `${c.name} (${c.task === "regression" ? "quantity" : `${c.distinct} values`})`,
          ]),
          s.target,
          (v) => {
            s.target = v;
            this.layout();
            this.keep();
          },
          "target",
        ).node,
      );
      const boxes = data.columns
        .filter((c) => c.name !== s.target)
        .map((c) =>
          h(
            "label",
            {
              class: "check",
              title: c.constant
                ? "the same in every row: it cannot help"
                : `${c.kind}, ${c.distinct} values${c.missing ? `, ${c.missing} missing` : ""}`,
            },
            h("input", {
              type: "checkbox",
              checked: !s.left.includes(c.name),
              onchange: (e) => {
                s.left = e.target.checked ? s.left.filter((n) => n !== c.name) : [...s.left, c.name];
                this.keep();
              },
            }),
            h("span", {}, c.name),
            c.left_out
              ? h("em", {}, c.left_out)
              : c.constant
                ? h("em", {}, "constant")
                : c.missing
                  ? h("em", {}, `${c.missing} missing`)
                  : null,
          ),
        );
      parts.push(
        h(
          "div",
          { class: "field" },
          h("span", { class: "label" }, "From these columns"),
          h("div", { class: "checks" }, boxes),
        ),
      );
    } else
      parts.push(
        h(
          "p",
          { class: "quiet" },
          `${data.rows} ${data.kind}${data.labels ? `, labelled ${Object.keys(data.labels).slice(0, 6).join(", ")}` : ", without labels"}.`,
        ),
      );
    const usable = data.columns
      ? KERNELS
      : KERNELS.filter(([key]) => key === "" || key === "?" || (data.kind === "vectors" && key !== "columns"));
    if (!usable.some(([key]) => key === s.kernel)) s.kernel = "";
    const known = s.kernel;
    parts.push(
      select(
        "Kernel",
        usable,
        known,
        (v) => {
          s.kernel = v;
          this.layout();
          this.keep();
        },
        "data-kernel",
      ).node,
    );
    if (known === "?")
      parts.push(
        h(
          "div",
          { class: "field" },
          h(
            "textarea",
            {
              rows: 2,
              spellcheck: false,
              "aria-label": "Kernel expression",
              placeholder: "rbf(gamma=0.1) + 2*spectrum(k=3)@text",
              data: { name: "data-expression" },
              oninput: (e) => {
                s.expression = e.target.value;
                this.keep();
              },
            },
            s.expression,
          ),
        ),
      );
    parts.push(
      slider({
        label: "C, price of errors",
        name: "data-C",
        min: 1e-3,
        max: 1e5,
        value: s.C,
        log: true,
        onchange: (v) => {
          s.C = v;
          this.keep();
        },
      }).node,
    );
    this.trainButton = h(
      "button",
      { class: "primary", type: "button", data: { name: "train" }, onclick: () => this.train() },
      "Train",
    );
    this.tuneButton = h(
      "button",
      {
        class: "tool",
        type: "button",
        data: { name: "tune" },
        title: "Cross-validate C against gamma",
        onclick: () => this.tune(),
      },
      "Tune",
    );
    this.stopButton = h(
      "button",
      {
        class: "tool",
        type: "button",
        data: { name: "stop" },
        disabled: true,
        title: "End now, and keep the best model so far",
        onclick: () => stop(this.running),
      },
      "Stop",
    );
    parts.push(h("div", { class: "row" }, this.trainButton, this.tuneButton, this.stopButton));
    this.choices.replaceChildren(...parts);
    this.choices.hidden = false;
  }

  // --- the right side ------------------------------------------------------------------------

  empty() {
    this.cards.replaceChildren(
      h(
        "div",
        { class: "card span-12 empty" },
        h(
          "div",
          {},
          h("h2", {}, "Bring your own data"),
          h(
            "p",
            {},
            "Nothing leaves this machine: the page talks to the program that you started, and to nobody else.",
          ),
          h("p", {}, "Open a file or one of the sets on the left, choose what to predict, and train."),
        ),
      ),
    );
  }

  card(span, title, ...content) {
    return h("section", { class: `card span-${span}` }, h("h3", {}, title), ...content);
  }

  preview() {
    const data = this.data,
      names = data.columns ? data.columns.map((c) => c.name) : Object.keys(data.preview[0] ?? {});
    const table = h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          names.map((n) => h("th", { scope: "col" }, n)),
        ),
      ),
      h(
        "tbody",
        {},
        data.preview.map((row) =>
          h(
            "tr",
            {},
            names.map((n) => h("td", {}, row[n] ?? "")),
          ),
        ),
      ),
    );
    this.cards.replaceChildren(
      this.card(
        12,
        `${data.name}: ${data.rows.toLocaleString("en")} rows, ${data.format}`,
        h("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": "First rows" }, table),
      ),
    );
  }

  request() {
    const s = this.settings;
    const kernel = s.kernel === "?" ? s.expression : s.kernel;
    return {
      target: s.target,
      columns: this.data.columns
        ? this.data.columns.map((c) => c.name).filter((n) => n !== s.target && !s.left.includes(n))
        : null,
      kernel,
      C: s.C,
    };
  }

  begin(what, title) {
    this.complain(null);
    this.running = what;
    this.node.dataset.busy = what;
    this.node.dataset.status = "";
    this.trainButton.disabled = this.tuneButton.disabled = true;
    this.stopButton.disabled = false;
    this.progressText = h("p", { class: "quiet", "aria-live": "off" }, "beginning…");
    this.chart = h("div", { class: "chart" });
    this.trace = { seconds: [], dual: [], violation: [] };
    this.cards.replaceChildren(
      this.card(12, title, h("div", { class: "progress" }, h("i", {})), this.progressText, this.chart),
    );
  }

  end() {
    this.node.dataset.busy = "";
    this.running = null;
    this.trainButton.disabled = this.tuneButton.disabled = false;
    this.stopButton.disabled = true;
    this.plot?.destroy();
    this.plot = null;
  }

  train() {
    this.heat = null;
    this.begin("train", "Training");
    ask(
      "train",
      this.request(),
      (header, arrays) => (header.progress ? this.progress(header.progress) : this.finished(header, arrays)),
      { once: true },
    );
  }

  progress(p) {
    this.progressText.textContent = `${show(p.seconds, 3)} s${p.iterations ? `, ${p.iterations.toLocaleString("en")} steps, largest violation ${show(p.violation, 3)}, working set ${p.working_set} of ${p.active}` : `, ${p.rows ?? ""} rows`}`;
    if (p.dual === undefined) return;
    this.trace.seconds.push(p.seconds);
    this.trace.dual.push(p.dual);
    this.trace.violation.push(Math.max(p.violation, 1e-9));
    if (this.trace.seconds.length > 1) {
      this.plot?.destroy();
      this.plot = curves(this.chart, {
        x: this.trace.seconds,
        series: [this.trace.violation],
        names: ["violation of the optimality conditions"],
        colours: [classColour(4)],
        xlabel: "seconds",
        height: 220,
        log: true,
      });
    }
  }

  finished(header, arrays) {
    this.end();
    if (header.error) {
      this.complain(header.error);
      this.preview();
      return;
    }
    this.result = { header, arrays };
    this.node.dataset.status = header.record.model.status;
    this.report();
  }

  report() {
    const { header, arrays } = this.result,
      r = header.record,
      scores = r.scores,
      model = r.model;
    const big = !scores
      ? ["Learnt from", `${r.data.learnt_from} rows`, ""]
      : scores.accuracy !== undefined
        ? [
            "Accuracy on rows held out",
            `${(100 * scores.accuracy).toFixed(1)}%`,
            `${scores.correct} of ${scores.rows} right; 95% interval ${(100 * scores.interval[0]).toFixed(1)} to ${(100 * scores.interval[1]).toFixed(1)}%; always the commonest: ${(100 * scores.baseline).toFixed(1)}%`,
          ]
        : [
            "R² on rows held out",
            show(scores.r2, 3),
            `mean absolute error ${show(scores.mean_absolute_error, 4)}; of always the median: ${show(scores.baseline, 4)}`,
          ];
    const kind = model.status === "OPTIMAL" ? "good" : model.status === "INTERRUPTED" ? "warn" : "bad";
    const cert = model.certificate;
    const cards = [
      h(
        "section",
        { class: "card span-5" },
        h(
          "div",
          { class: "hero bare" },
          h("div", { class: "what" }, big[0]),
          h("div", { class: "big", data: { number: "score" } }, big[1]),
        ),
        h("p", { class: "quiet" }, big[2]),
        h(
          "p",
          {},
          h(
            "span",
            { class: "status", data: { kind, status: model.status } },
            model.status.replaceAll("_", " ").toLowerCase(),
          ),
          " ",
          h("span", { class: "quiet" }, model.meaning),
        ),
        h(
          "div",
          { class: "row downloads" },
          h(
            "a",
            {
              class: "primary",
              href: address("/download", { what: "model" }),
              download: "model.mercer",
              data: { name: "download-model" },
            },
            "Model file",
          ),
          h(
            "a",
            {
              class: "tool",
              href: address("/download", { what: "report" }),
              download: "report.html",
              data: { name: "download-report" },
            },
            "HTML report",
          ),
        ),
      ),
      this.card(
        7,
        "The machine",
        numbersList([
          ["Machine", [...model.steps, model.estimator].join(" → ")],
          ["Support vectors", `${model.n_support} of ${r.data.learnt_from}`],
          ["Fit", `${show(r.seconds.fit, 3)} s`],
          ["Relative gap", cert ? show(Math.max(0, cert.relative_gap), 2) : undefined],
          ["KKT violation", cert ? show(cert.kkt_violation, 2) : undefined],
        ]),
        h("p", { class: "quiet mono kernel-words", tabindex: "0", "aria-label": "Kernel" }, model.kernel ?? ""),
        ...r.notes.map((note) => h("p", { class: "quiet" }, note)),
      ),
    ];
    if (scores?.confusion && scores.confusion.labels.length <= 26)
      cards.push(this.card(5, "Confusion", confusion(scores.confusion)));
    if (arrays?.places) {
      this.mapBox = h("div", { class: "map-box" });
      cards.push(this.card(7, "As the kernel sees the rows (kernel PCA); rings are support vectors", this.mapBox));
    }
    const bounds = r.bounds.filter((b) => b.applies && b.value !== null && b.value < 1);
    cards.push(this.rowsCard(header.list, scores));
    this.explanation = this.card(
      5,
      "Why?",
      h("p", { class: "quiet" }, "Choose a row to see what its decision is made of."),
    );
    cards.push(this.explanation);
    if (bounds.length)
      cards.push(
        this.card(
          12,
          "What theory promises",
          ...bounds.map((b) =>
            h("p", { class: "quiet" }, `${b.name}: at most ${show(b.value, 3)}. ${b.says}. ${b.source}.`),
          ),
        ),
      );
    if (this.heat) cards.splice(2, 0, this.card(12, "Tuning", this.heatBox));
    this.cards.replaceChildren(...cards);
    if (this.mapBox && arrays?.places) this.drawMap(arrays, header.map_classes);
  }

  rowsCard(list, scores) {
    const body = h(
      "tbody",
      {},
      list.map((row) =>
        h(
          "tr",
          {
            class: "pick",
            tabindex: "0",
            data: { row: String(row.row) },
            onclick: () => this.explain(row.row),
            onkeydown: (e) => {
              if (e.key === "Enter" || e.key === " ") {
                this.explain(row.row);
                e.preventDefault();
              }
            },
          },
          h("td", { class: "num" }, String(row.row)),
          h("td", {}, row.said),
          h("td", {}, row.truth),
          h("td", {}, row.said === row.truth ? "✓" : scores?.accuracy === undefined ? "" : "✗"),
          h("td", {}, row.item),
        ),
      ),
    );
    return this.card(
      7,
      scores ? "Rows held out, the wrong ones first" : "Rows",
      h(
        "div",
        { class: "table-box" },
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ["row", "said", "true", "right", "what it is"].map((t) => h("th", { scope: "col" }, t)),
            ),
          ),
          body,
        ),
      ),
    );
  }

  explain(row) {
    for (const tr of this.cards.querySelectorAll("tr.pick"))
      tr.setAttribute("aria-selected", String(/** @type {HTMLElement} */ (tr).dataset.row === String(row)));
    ask(
      "explain",
      { row },
      (header) => {
        if (header.error) {
          this.explanation.replaceChildren(h("h3", {}, "Why?"), h("p", { class: "quiet" }, header.error));
          return;
        }
        const largest = Math.max(1e-12, ...header.contributions.map(([, v]) => Math.abs(v)));
        const bars = header.contributions.map(([name, value]) => {
          const bar = h("i", {});
          bar.style.width = `${(50 * Math.abs(value)) / largest}%`;
          bar.style[value < 0 ? "right" : "left"] = "50%";
          bar.style.background = classColour(value < 0 ? 0 : 1);
          return h(
            "div",
            { class: "contribution" },
            h("span", { title: name }, name),
            h("div", { class: "two-way" }, bar),
            h("b", {}, show(value, 3)),
          );
        });
        this.explanation.replaceChildren(
          h("h3", {}, `Why row ${header.row} is said to be ${header.said}`),
          h(
            "p",
            { class: "quiet" },
            `Decision value ${show(header.decision, 4)} for “${header.of}”: the sum of these (by ${{ term: "part of the kernel", feature: "feature", position: "position" }[header.kind] ?? header.kind}) and of ${show(header.intercept, 3)}.`,
          ),
          header.text ? coloured(header.text, header.words) : "",
          h("div", { data: { name: "contributions" } }, bars),
          header.rest ? h("p", { class: "quiet" }, `and ${header.rest} smaller ones`) : "",
        );
      },
      { once: true },
    );
  }

  drawMap(arrays, names) {
    const n = arrays.groups.length,
      points = Array.from({ length: n }, (_, k) => [arrays.places[2 * k], arrays.places[2 * k + 1], arrays.groups[k]]);
    const xs = points.map((p) => p[0]),
      ys = points.map((p) => p[1]);
    const pad = (v) => {
      const a = Math.min(...v),
        b = Math.max(...v),
        m = 0.08 * (b - a) || 1;
      return [a - m, b + m];
    };
    this.map?.close();
    this.map = new Plane(
      this.mapBox,
      { points, window: [...pad(xs), ...pad(ys)] },
      {},
      {
        editable: false,
        label: `Map of ${n} rows by kernel PCA${names.length ? `, classes ${names.join(", ")}` : ""}`,
      },
    );
    this.map.free = true;
    this.map.answer = { cases: Array.from(arrays.support, (s) => (s ? 4 : 0)) };
    this.map.small = true;
    this.map.draw();
    if (names.length) {
      const t = theme();
      this.mapBox.append(
        h(
          "div",
          { class: "map-legend" },
          names.slice(0, 10).map((name, k) => {
            const icon = h("canvas", { width: 28, height: 28 });
            const ctx = icon.getContext("2d");
            ctx.setTransform(2, 0, 0, 2, 0, 0);
            drawMark(ctx, 7, 7, k, 0, t, { r: 4.5 });
            icon.className = "swatch-mark";
            return h("span", {}, icon, name);
          }),
        ),
      );
    }
  }

  // --- tuning --------------------------------------------------------------------------------

  tune() {
    this.begin("tune", "Tuning: five folds for each kernel and C");
    this.heat = null;
    this.heatBox = h("div", { class: "heat-box" });
    this.cards.firstElementChild.append(this.heatBox);
    ask(
      "tune",
      this.request(),
      (header, arrays) => {
        if (header.heat) this.fillHeat(header.heat, arrays.scores, arrays.rows);
        else this.finished(header, arrays);
      },
      { once: true },
    );
  }

  fillHeat(heat, scores, rows) {
    this.heat = heat;
    const columns = heat.Cs.length,
      finite = [...scores].filter(Number.isFinite),
      low = Math.min(...finite),
      high = Math.max(...finite);
    this.progressText.textContent = `${heat.done} of about ${heat.total} fits, ${show(heat.seconds, 3)} s; best ${heat.score} ${show(heat.best[0], 4)}`;
    this.node.dataset.heat = String(heat.done);
    const cells = [
      h("span", { class: "heat-head" }, "kernel \\ C"),
      ...heat.Cs.map((C) => h("span", { class: "heat-head" }, show(C, 2))),
    ];
    heat.kernels.forEach((kernel, r) => {
      cells.push(h("span", { class: "heat-head", title: kernel }, kernel));
      for (let c = 0; c < columns; c++) {
        const v = scores[r * columns + c],
          judges = rows[r * columns + c],
          isBest = r === heat.best[1] && c === heat.best[2],
          isEarly = judges < heat.rows;
        const cell = h(
          "span",
          {
            class: `heat-cell${isBest ? " best" : ""}${isEarly ? " early" : ""}`,
            title: Number.isFinite(v)
              ? `${heat.score} ${show(v, 4)} with C = ${show(heat.Cs[c], 3)}, ${kernel}${isEarly ? `; judged on ${judges} rows only, then given up` : ""}`
              : "not tried yet",
          },
          Number.isFinite(v) ? show(v, 3) : "",
        );
        if (Number.isFinite(v))
          cell.style.setProperty("--share", `${Math.round(8 + 62 * ((v - low) / (high - low || 1)) ** 2)}%`);
        cells.push(cell);
      }
    });
    const grid = h(
      "div",
      { class: "heat", role: "img", "aria-label": `Heat map of the ${heat.score}; best ${show(heat.best[0], 4)}` },
      cells,
    );
    grid.style.gridTemplateColumns = `minmax(72px, 180px) repeat(${columns}, minmax(0, 1fr))`;
    this.heatBox.replaceChildren(grid);
  }

  // --- a model file --------------------------------------------------------------------------

  inspect(file) {
    this.node.dataset.busy = "inspect";
    ask(
      "inspect",
      { file },
      (header) => {
        this.node.dataset.busy = "";
        if (header.error) {
          this.complain(header.error);
          return;
        }
        const m = header.model,
          about = header.file,
          meta = about.metadata ?? {};
        const cert = m.certificate;
        this.node.dataset.inspected = header.name;
        this.cards.replaceChildren(
          this.card(
            6,
            header.name,
            numbersList([
              ["Machine", [...m.steps, m.estimator].join(" → ")],
              ["Support vectors", m.n_support === null ? undefined : String(m.n_support)],
              ["Status", m.status ?? undefined],
              ["Features", m.n_features === null ? undefined : String(m.n_features)],
              ["Task", meta.task ?? undefined],
              ["Target", meta.target ?? undefined],
              ["Source", meta.source ?? undefined],
              ["Written", about.created],
              ["By Mercer", about.mercer],
            ]),
          ),
          this.card(
            6,
            "Kernel and parameters",
            h("p", { class: "mono" }, m.kernel ?? "–"),
            numbersList(Object.entries(m.parameters).map(([k, v]) => [k, v === null ? "–" : String(v)])),
          ),
          cert
            ? this.card(
                6,
                "Certificate",
                numbersList([
                  ["Problems", String(cert.problems)],
                  ["Primal", show(cert.primal, 6)],
                  ["Dual", show(cert.dual, 6)],
                  ["Gap", show(cert.gap, 2)],
                  ["KKT violation", show(cert.kkt_violation, 2)],
                  ["Free, bounded, zero", `${cert.n_free}, ${cert.n_bounded}, ${cert.n_zero}`],
                ]),
              )
            : "",
          m.classes ? this.card(6, "Classes", h("p", {}, m.classes.slice(0, 40).join(", "))) : "",
          m.columns ? this.card(12, "Columns", h("p", { class: "mono" }, m.columns.slice(0, 200).join(", "))) : "",
        );
      },
      { once: true },
    );
  }

  svg() {
    if (this.map) return this.map.toSvg();
    toast("Train a model first: its map is the picture.");
    return "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>";
  }
  repaint() {
    if (this.result && !this.running) this.report();
  }
  close() {
    this.plot?.destroy();
    this.map?.close();
  }
}

function confusion({ labels, counts }) {
  const most = Math.max(1, ...counts.flat());
  const head = h(
    "tr",
    {},
    h("th", {}, "true \\ said"),
    labels.map((l) => h("th", { scope: "col" }, String(l))),
  );
  const rows = counts.map((row, i) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, String(labels[i])),
      row.map((count, j) => {
        const cell = h("td", { class: `num ${i === j ? "right" : count ? "wrong" : ""}` }, String(count));
        cell.style.setProperty("--share", `${Math.round((70 * count) / most)}%`);
        return cell;
      }),
    ),
  );
  return h("div", { class: "table-box confusion" }, h("table", {}, h("thead", {}, head), h("tbody", {}, rows)));
}

// The text with each word on the colour of what it speaks for; longer features share theirs out.
function coloured(text, words) {
  const of = new Map();
  for (const [name, value] of Object.entries(words ?? {})) {
    const parts = name.split(/\s+/);
    for (const part of parts) of.set(part, (of.get(part) ?? 0) + value / parts.length);
  }
  const reach = Math.max(1e-12, ...[...of.values()].map(Math.abs));
  return h(
    "p",
    { class: "coloured" },
    text.split(/(\s+)/).map((piece) => {
      const v = (of.get(piece) ?? 0) / reach;
      return Math.abs(v) < 0.08
        ? piece
        : h("mark", { class: v > 0 ? "for" : "against", title: show(v * reach, 3) }, piece);
    }),
  );
}
