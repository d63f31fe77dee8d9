// @ts-check
// How a plane is painted: the field of what was learnt, its lines, the axes, the points.

import { blend, indicator, shade, strokeContour } from "../contour.js";
import { path, stroke } from "../drawing.js";
import { classColour, drawMark, isDark, rgb, theme, trace } from "../palette.js";

const DASH = [5, 5];
const MANY = 400; // points beyond which marks are small

/**
 * @param {import("./plane.js").Plane} plane
 * @param {CanvasRenderingContext2D} ctx
 */
export function paintPlane(plane, ctx) {
  const t = theme();
  const { answer } = plane;
  ctx.fillStyle = t.plane;
  ctx.fillRect(0, 0, ...plane.size);
  if (answer?.field) paintField(plane, ctx, answer, t);
  if (plane.axes) paintAxes(plane, ctx, t);
  if (answer?.field) paintLines(plane, ctx, answer, t);
  if (answer?.curve) paintCurve(plane, ctx, answer, t);
  plane.under?.(ctx, plane, t);
  paintPoints(plane, ctx, t);
  plane.over?.(ctx, plane, t);
  if (plane.cursor && document.activeElement === plane.canvas && !(plane.picked >= 0)) paintCursor(plane, ctx, t);
}

function paintField(plane, ctx, answer, t) {
  const [columns, rows] = answer.grid;
  if (!plane.picture || plane.pictureTheme !== t.plane) {
    plane.picture = shade(answer.field, columns, rows, colouring(answer, t));
    plane.pictureTheme = t.plane;
  }
  const { x0, y0, x1, y1, dx, dy } = nodesOf(plane, answer);
  // Values stand at the nodes of the grid; a pixel of the picture is centred on its node.
  ctx.imageSmoothingEnabled = true;
  ctx.imageSmoothingQuality = "low"; // bilinear: values between nodes are what the eye expects, and it is quick
  ctx.drawImage(plane.picture, x0 - dx / 2, y1 - dy / 2, x1 - x0 + dx, y0 - y1 + dy);
}

// The colour of a value, for every kind of field.
function colouring({ kind, classes, field }, t) {
  const paper = rgb(t.plane);
  const strength = isDark() ? 0.42 : 0.4;
  if (classes?.length > 2) {
    const shades = classes.map((k) => blend(paper, rgb(classColour(k)), strength * 0.8));
    return (v) => shades[Math.max(0, Math.min(shades.length - 1, Math.round(v)))];
  }
  const isRegion = kind === "region";
  const [below, above] = isRegion
    ? [rgb(isDark() ? "#8a929a" : "#9aa2a8"), rgb(classColour(0))]
    : [0, 1].map((k) => rgb(classColour(classes?.[k] ?? k)));
  const scale = isRegion ? field.reduce((m, v) => Math.max(m, v), 1e-9) : 2;
  return (v) => {
    const share = Math.min(1, Math.abs(v) / scale) ** 0.75;
    return blend(paper, v < 0 ? below : above, strength * (0.22 + 0.78 * share));
  };
}

// Where the first and the last node of the grid are on the screen, and how far nodes are apart.
function nodesOf(plane, { grid: [columns, rows], window: [left, right, bottom, top] }) {
  const [x0, y0] = plane.toScreen(left, bottom);
  const [x1, y1] = plane.toScreen(right, top);
  return { x0, y0, x1, y1, dx: (x1 - x0) / (columns - 1), dy: (y0 - y1) / (rows - 1) };
}

function paintLines(plane, ctx, answer, t) {
  const [columns, rows] = answer.grid;
  const nodes = nodesOf(plane, answer);
  const line = (level, field = answer.field) => strokeContour(ctx, field, answer.grid, level, nodes);
  ctx.save();
  ctx.lineJoin = "round";
  ctx.lineCap = "round";
  ctx.strokeStyle = t.ink;
  ctx.lineWidth = 2.2;
  if (answer.classes?.length > 2) {
    answer.outlines ??= answer.classes.map((_, k) => indicator(answer.field, columns, rows, k));
    for (const outline of answer.outlines) line(0.5, outline);
  } else {
    line(0);
    if (answer.margins !== false && answer.kind !== "region") {
      ctx.lineWidth = 1.25;
      ctx.setLineDash(DASH);
      line(1);
      line(-1);
    }
  }
  ctx.restore();
}

function paintCurve(plane, ctx, answer, t) {
  const { curve, epsilon } = answer;
  const n = curve.shape[1];
  const shifted = (shift) => Array.from({ length: n }, (_, k) => plane.toScreen(curve[k], curve[n + k] + shift));
  ctx.save();
  ctx.strokeStyle = t.ink;
  if (epsilon) {
    const [upper, lower] = [shifted(epsilon), shifted(-epsilon)];
    path(ctx, [...upper, ...[...lower].reverse()]);
    ctx.closePath();
    ctx.fillStyle = t.accent;
    ctx.globalAlpha = 0.14;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.setLineDash(DASH);
    ctx.lineWidth = 1.1;
    stroke(ctx, upper);
    stroke(ctx, lower);
    ctx.setLineDash([]);
  }
  ctx.lineWidth = 2.4;
  stroke(ctx, shifted(0));
  ctx.restore();
}

// Round numbers between two others, about eight of them, as they are written.
function* ticks(low, high) {
  const raw = (high - low) / 8,
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  for (let at = Math.ceil(low / step) * step; at <= high; at += step)
    yield { at, isZero: Math.abs(at) < step / 2, text: String(Number(at.toFixed(digits))).replace("-", "−") };
}

function paintAxes(plane, ctx, t) {
  const [left, right, bottom, top] = plane.view;
  const [w, hgt] = plane.size;
  ctx.save();
  ctx.lineWidth = 1;
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = t.faint;
  ctx.strokeStyle = t.ink;
  const rule = (points, isZero) => {
    ctx.globalAlpha = isZero ? 0.22 : 0.07;
    stroke(ctx, points);
    ctx.globalAlpha = 1;
  };
  ctx.textAlign = "center";
  for (const { at, isZero, text } of ticks(left, right)) {
    const [px] = plane.toScreen(at, 0);
    rule(
      [
        [px, 0],
        [px, hgt],
      ],
      isZero,
    );
    if (px > 26 && px < w - 14) ctx.fillText(text, px, hgt - 7);
  }
  ctx.textAlign = "left";
  for (const { at, isZero, text } of ticks(bottom, top)) {
    const [, py] = plane.toScreen(0, at);
    rule(
      [
        [0, py],
        [w, py],
      ],
      isZero,
    );
    if (py > 44 && py < hgt - 20) ctx.fillText(text, 7, py - 4);
  }
  ctx.restore();
}

function paintPoints(plane, ctx, t) {
  const { points } = plane.model;
  const cases = plane.answer?.cases?.length === points.length ? plane.answer.cases : null;
  const r = plane.small || points.length > MANY ? 4 : 5.5;
  points.forEach(([x, y, label], i) => {
    const [px, py] = plane.toScreen(x, y);
    drawMark(ctx, px, py, label, cases?.[i] ?? 0, t, { r, weight: plane.weights?.[i] ?? null });
    if (i === plane.hovered || i === plane.picked) {
      trace(ctx, "circle", px, py, 14);
      ctx.strokeStyle = t.accent;
      ctx.lineWidth = i === plane.picked ? 3 : 2;
      ctx.stroke();
    }
    if (plane.numbered || plane.named?.includes(i)) {
      ctx.fillStyle = t.ink;
      ctx.font = "600 12px system-ui, sans-serif";
      ctx.textAlign = "left";
      ctx.fillText(String(i + 1), px + 10, py - 9);
    }
  });
}

function paintCursor(plane, ctx, t) {
  const [px, py] = plane.toScreen(...plane.cursor);
  ctx.save();
  ctx.strokeStyle = t.accent;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(px - 12, py);
  ctx.lineTo(px + 12, py);
  ctx.moveTo(px, py - 12);
  ctx.lineTo(px, py + 12);
  ctx.stroke();
  ctx.restore();
}
