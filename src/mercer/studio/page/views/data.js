import { h } from "../dom.js";

export class DataView {
  constructor(stage) { stage.replaceChildren(h("div", { class: "view data", data: { view: "data" } })); }
}
