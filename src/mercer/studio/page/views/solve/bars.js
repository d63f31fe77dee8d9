// @ts-check
// Small bar charts of one value for each point: alpha in its box, the gradient about its threshold.

import { h } from "../../dom.js";
import { sharpContext, stroke } from "../../drawing.js";
import { classColour, theme } from "../../palette.js";

export class Bars {
  constructor(height) {
    this.canvas = h("canvas", { class: "bars", role: "img", "aria-label": "Bars, not drawn yet" });
    this.canvas.style.height = `${height}px`;
    this.height = height;
  }

  /**
   * @param {{ values: ArrayLike<number>, labels: number[], low: number, high: number, working?: number[],
   *   lines?: [value: number, text: string][], label: string }} what
   */
  draw({ values, labels, low, high, working = [], lines = [], label }) {
    const w = this.canvas.clientWidth || 300,
      hgt = this.height,
      t = theme();
    this.canvas.setAttribute("aria-label", label);
    const ctx = sharpContext(this.canvas, w, hgt);
    ctx.clearRect(0, 0, w, hgt);
    const top = 8,
      bottom = hgt - 8,
      span = high - low || 1;
    const at = (v) => bottom - ((Math.max(low, Math.min(high, v)) - low) / span) * (bottom - top);
    const step = w / Math.max(values.length, 1),
      width = Math.max(1, Math.min(16, step * 0.72));
    ctx.font = "11px system-ui, sans-serif";
    for (const [value, text] of lines) {
      ctx.strokeStyle = t.line;
      ctx.lineWidth = 1;
      ctx.setLineDash([4, 4]);
      stroke(ctx, [
        [0, at(value)],
        [w, at(value)],
      ]);
      ctx.setLineDash([]);
      ctx.fillStyle = t.faint;
      ctx.textAlign = "right";
      ctx.fillText(text, w - 2, at(value) - 3);
    }
    const zero = at(Math.max(low, Math.min(high, 0)));
    for (let k = 0; k < values.length; k++) {
      const x = (k + 0.5) * step - width / 2,
        y = at(values[k]);
      ctx.fillStyle = classColour(labels[k]);
      ctx.globalAlpha = working.length && !working.includes(k) ? 0.55 : 1;
      ctx.fillRect(x, Math.min(y, zero), width, Math.max(1, Math.abs(y - zero)));
      ctx.globalAlpha = 1;
      if (working.includes(k)) {
        ctx.strokeStyle = t.ink;
        ctx.lineWidth = 1.6;
        ctx.strokeRect(x - 1, Math.min(y, zero) - 1, width + 2, Math.max(1, Math.abs(y - zero)) + 2);
      }
    }
  }
}
