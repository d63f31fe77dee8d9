// @ts-check
// Curves by uPlot, in the colours of the theme.

import { theme } from "./palette.js";

/**
 * @param {HTMLElement} box
 * @param {{ height?: number, x: ArrayLike<number>, series: ArrayLike<number>[], names: string[], colours: string[],
 *   xlabel: string, log?: boolean, dash?: number[][], most?: number }} options `most` is where the axis ends
 */
export function curves(box, { height = 190, x, series, names, colours, xlabel, log = false, dash = [], most }) {
  const t = theme();
  const axis = {
    stroke: t.soft,
    grid: { stroke: t.grid, width: 1 },
    ticks: { stroke: t.grid, width: 1 },
    font: "11px system-ui",
    labelFont: "12px system-ui",
  };
  // A little room above and below, and never further than asked.
  const range = (_u, low, high) => {
    const top = Math.min(high, most ?? high);
    const room = 0.06 * (top - low || 1);
    return [low - room, top + room];
  };
  const options = {
    width: Math.max(120, box.clientWidth),
    height,
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    legend: { show: true, live: true },
    scales: { x: { time: false }, y: log ? { distr: 3 } : { range } },
    axes: [
      { ...axis, label: xlabel, labelSize: 18, size: 34 },
      {
        ...axis,
        size: 54,
        values: (_u, ticks) =>
          ticks.map((v) =>
            v === null
              ? ""
              : Math.abs(v) >= 1e4 || (v !== 0 && Math.abs(v) < 1e-3)
                ? v.toExponential(0)
                : String(Number(v.toPrecision(4))),
          ),
      },
    ],
    series: [
      { label: xlabel },
      ...names.map((label, k) => ({
        label,
        stroke: colours[k],
        width: 2,
        dash: dash[k],
        points: { show: false },
        value: (_u, v) => (v === null || v === undefined ? "–" : Number(v.toPrecision(5)).toString()),
      })),
    ],
  };
  box.replaceChildren();
  // From vendor/, which has no types.
  const { uPlot } = /** @type {any} */ (window);
  return new uPlot(options, [x, ...series], box);
}
