// @ts-check
// Your data: open, train with live progress, look, explain, tune, download; or open a model.

import { button, chips } from "../../controls.js";
import { complain, gap, h, heading, section, toast } from "../../dom.js";
import { address, ask, stop } from "../../link.js";
import { state } from "../../state.js";
import { saveStep } from "../../steps.js";
import { card, invitation, previewCard } from "./cards.js";
import { explanationCard, whyCard } from "./explanation.js";
import { fileDrop, fitSettings, learnForm, requestOf } from "./form.js";
import { heatMap } from "./heat.js";
import { mapCard } from "./map.js";
import { modelFileCards } from "./model_file.js";
import { Progress } from "./progress.js";
import { boundsCard, confusionCard, machineCard, rowsCard, scoreCard } from "./result.js";

/** @type {import("./form.js").Settings} */
const START = { set: null, target: null, left: [], kernel: "", expression: "", C: 1 };

export class DataView {
  /** @type {import("../../link.js").Header | null} the file or the set that is open */
  data = null;
  /** @type {{ header: import("../../link.js").Header, arrays: Record<string, any> } | null} */
  result = null;
  /** What is at work: train, tune or nothing. */
  running = "";
  /** @type {Progress | null} of the last that was or is */
  progress = null;
  /** @type {import("../../plane/plane.js").Plane | null} */
  map = null;
  /** What a search has filled in; empty where there was none. */
  heat = h("div", { class: "heat-box" });

  constructor(stage) {
    this.settings = /** @type {typeof START} */ (
      Object.fromEntries(Object.entries(START).map(([name, value]) => [name, state.data[name] ?? value]))
    );
    this.cards = h("div", { class: "cards", role: "region", "aria-label": "Results", tabindex: "0" }, invitation());
    this.node = h("div", { class: "view data", data: { view: "data" } }, this.controls(), this.cards);
    stage.replaceChildren(this.node);
    ask("shipped", {}, (header) => {
      this.sets.fill(header.sets);
      this.sets.put(this.settings.set);
    });
    ask("resume", {}, (header, arrays) => {
      if (header.opened) this.opened(header.opened);
      else if (this.settings.set) this.open({ set: this.settings.set });
      if (header.record) this.finished(header, arrays);
      this.node.dataset.resumed = "true";
    });
  }

  controls() {
    this.sets = chips("Sets that are here", "set", (set) => this.open({ set }));
    this.notice = h("div", { role: "alert", hidden: true, class: "inline-notice", data: { name: "data-notice" } });
    this.choices = h("section", { hidden: true });
    this.buttons = {
      train: button("train", "Train", () => this.train(), { class: "primary" }),
      tune: button("tune", "Tune", () => this.tune(), { title: "Cross-validate C against gamma" }),
      stop: button("stop", "Stop", () => stop(this.running), {
        disabled: true,
        title: "End now, and keep the best model so far",
      }),
    };
    return h(
      "aside",
      { class: "panel", "aria-label": "Data and settings" },
      section(
        "Data",
        fileDrop((file) => this.upload(file)),
        gap(),
        h("p", { class: "label" }, "Or one that is here"),
        gap(),
        this.sets.node,
        this.notice,
      ),
      this.choices,
    );
  }

  layout() {
    const { train, tune, stop: end } = this.buttons;
    this.choices.replaceChildren(
      heading("Learn"),
      ...learnForm(this.data, this.settings, (name, value) => this.set(name, value)),
      h("div", { class: "row" }, train, tune, end),
    );
    this.choices.hidden = false;
  }

  set(name, value) {
    Object.assign(this.settings, { [name]: value });
    if (name === "target" || name === "kernel") this.layout();
    this.keep();
  }

  keep() {
    state.data = { ...this.settings };
    saveStep();
  }

  complain(error) {
    this.node.dataset.error = String(complain(this.notice, error));
  }

  // Ask for something that is done once; `then` hears what is no error.
  once(what, request, then) {
    this.complain(null);
    this.node.dataset.busy = what;
    ask(
      what,
      request,
      (header) => {
        this.node.dataset.busy = "";
        if (header.error) this.complain(header.error);
        else then(header);
      },
      { once: true },
    );
  }

  // --- files ---------------------------------------------------------------------------------

  async upload(file) {
    this.complain(null);
    this.node.dataset.busy = "upload";
    let found;
    try {
      const answer = await fetch(address("/upload", { name: file.name }), { method: "POST", body: file });
      found = await answer.json().catch(() => ({ error: `The server said ${answer.status}.` }));
    } catch {
      const error = "The file could not be sent: the connection was lost, or the file is larger than the studio takes.";
      found = { error };
    }
    if (found.error) {
      this.complain(found.error);
      this.node.dataset.busy = "";
    } else if (/\.mercer$/i.test(file.name)) this.inspect(found.file);
    else this.open({ file: found.file });
  }

  inspect(file) {
    this.once("inspect", { file }, (header) => {
      this.node.dataset.inspected = header.name;
      this.cards.replaceChildren(...modelFileCards(header));
    });
  }

  open(what) {
    this.once("open", what, (header) => {
      const isAnother = !what.set || what.set !== this.settings.set;
      this.settings.set = what.set ?? null;
      this.sets.put(this.settings.set);
      // What names the rows teaches nothing about the next ones: as the command, leave it out unless somebody ticks it.
      const columns = header.columns ?? [];
      const idle = columns.filter((c) => c.left_out).map((c) => c.name);
      const hasOthers = columns.some((c) => !c.left_out && c.name !== header.target);
      if (isAnother) Object.assign(this.settings, { target: null, left: hasOthers ? idle : [] });
      this.result = null;
      this.heat.replaceChildren();
      this.opened(header);
    });
  }

  opened(header) {
    this.data = header;
    fitSettings(this.settings, header);
    this.node.dataset.rows = String(header.rows);
    this.layout();
    this.preview();
    this.keep();
  }

  preview() {
    this.cards.replaceChildren(previewCard(this.data));
  }

  // --- training and tuning -------------------------------------------------------------------

  train() {
    this.begin("train", "Training");
    this.follow("train", (header) => {
      if (header.progress) this.progress.fitting(header.progress);
      return header.progress;
    });
  }

  tune() {
    this.begin("tune", "Tuning: five folds for each kernel and C");
    this.follow("tune", ({ heat }, { scores, rows }) => {
      if (!heat) return false;
      this.heat.replaceChildren(heatMap(heat, scores, rows));
      this.progress.searching(heat);
      this.node.dataset.heat = String(heat.done);
      return true;
    });
  }

  begin(what, title) {
    this.complain(null);
    Object.assign(this.node.dataset, { busy: what, status: "" });
    this.run(what);
    this.heat.replaceChildren();
    this.progress = new Progress(title, this.heat);
    this.cards.replaceChildren(this.progress.node);
  }

  // Ask for a model; `onTheWay` hears every answer, and says whether it is not the last one.
  follow(what, onTheWay) {
    ask(
      what,
      requestOf(this.settings, this.data),
      (header, arrays) => {
        if (!onTheWay(header, arrays)) this.finished(header, arrays);
      },
      { once: true },
    );
  }

  run(what) {
    this.running = what;
    const { train, tune, stop: end } = this.buttons;
    train.disabled = tune.disabled = Boolean(what);
    end.disabled = !what;
  }

  finished(header, arrays) {
    this.node.dataset.busy = "";
    this.run("");
    this.progress?.close();
    if (header.error) {
      this.complain(header.error);
      this.preview();
      return;
    }
    this.result = { header, arrays };
    this.node.dataset.status = header.record.model.status;
    this.report();
  }

  // --- what was learnt -----------------------------------------------------------------------

  report() {
    const { header, arrays } = this.result,
      { record } = header;
    this.map?.close();
    const map = arrays.places ? mapCard(arrays, header.map_classes) : null;
    this.map = map?.plane ?? null;
    this.why = whyCard();
    const cards = [
      scoreCard(record),
      machineCard(record),
      this.heat.hasChildNodes() ? card(12, "Tuning", this.heat) : null,
      confusionCard(record),
      map?.node,
      rowsCard(header.list, record.scores, (row) => this.explain(row)),
      this.why,
      boundsCard(record),
    ];
    this.cards.replaceChildren(...cards.filter(Boolean));
  }

  explain(row) {
    for (const tr of /** @type {NodeListOf<HTMLElement>} */ (this.cards.querySelectorAll("tr.pick")))
      tr.setAttribute("aria-selected", String(tr.dataset.row === String(row)));
    ask(
      "explain",
      { row },
      (header) => {
        const before = this.why;
        this.why = explanationCard(header);
        before.replaceWith(this.why);
      },
      { once: true },
    );
  }

  // --- what the bar asks for -----------------------------------------------------------------

  svg() {
    if (this.map) return this.map.toSvg();
    toast("Train a model first: its map is the picture.");
    return "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>";
  }
  repaint() {
    if (this.result && !this.running) this.report();
  }
  close() {
    this.progress?.close();
    this.map?.close();
  }
}
