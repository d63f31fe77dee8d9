// @ts-check
// The cards of a model that was saved to a file.

import { h, numbersList, show } from "../../dom.js";
import { card } from "./cards.js";
import { machineWords } from "./result.js";

// A number that may be missing: then it is left out.
const some = (value) => (value === null || value === undefined ? undefined : String(value));

/** @param {import("../../link.js").Header} header */
export function modelFileCards({ name, model, file }) {
  const about = file.metadata ?? {};
  const { certificate, classes, columns } = model;
  const cards = [
    card(
      6,
      name,
      numbersList([
        ["Machine", machineWords(model)],
        ["Support vectors", some(model.n_support)],
        ["Status", some(model.status)],
        ["Features", some(model.n_features)],
        ["Task", some(about.task)],
        ["Target", some(about.target)],
        ["Source", some(about.source)],
        ["Written", file.created],
        ["By Mercer", file.mercer],
      ]),
    ),
    card(
      6,
      "Kernel and parameters",
      h("p", { class: "mono" }, model.kernel ?? "–"),
      numbersList(Object.entries(model.parameters).map(([key, value]) => [key, some(value) ?? "–"])),
    ),
  ];
  if (certificate)
    cards.push(
      card(
        6,
        "Certificate",
        numbersList([
          ["Problems", String(certificate.problems)],
          ["Primal", show(certificate.primal, 6)],
          ["Dual", show(certificate.dual, 6)],
          ["Gap", show(certificate.gap, 2)],
          ["KKT violation", show(certificate.kkt_violation, 2)],
          ["Free, bounded, zero", `${certificate.n_free}, ${certificate.n_bounded}, ${certificate.n_zero}`],
        ]),
      ),
    );
  if (classes) cards.push(card(6, "Classes", h("p", {}, classes.slice(0, 40).join(", "))));
  if (columns) cards.push(card(12, "Columns", h("p", { class: "mono" }, columns.slice(0, 200).join(", "))));
  return cards;
}
