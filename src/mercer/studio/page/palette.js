// @ts-check
// Colours that stay apart for colour-blind readers (Okabe & Ito 2008), and shapes that say the same.

const LIGHT = ["#0072B2", "#D98A00", "#009E73", "#B8588C", "#C44A00", "#3C93C6", "#8C7A00", "#5B6168"];
const DARK = ["#56B4E9", "#E69F00", "#2FC79B", "#DD8FBB", "#F07A3C", "#8CCBF0", "#E8DC4A", "#A0A8AF"];
export const SHAPES = ["circle", "square", "triangle", "diamond", "down", "plus", "cross", "hexagon"];
export const isDark = () => document.documentElement.dataset.theme === "dark";
export const classColour = (k) => (isDark() ? DARK : LIGHT)[k % 8];
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

export function theme() {
  return {
    ink: css("ink"),
    soft: css("soft"),
    faint: css("faint"),
    plane: css("plane"),
    grid: css("grid"),
    accent: css("accent"),
    bad: css("bad"),
    good: css("good"),
    line: css("line-strong"),
    warn: css("warn"),
  };
}

// The outline of a mark of radius r around (x, y).
export function trace(ctx, shape, x, y, r) {
  ctx.beginPath();
  if (shape === "circle") {
    ctx.arc(x, y, r, 0, 2 * Math.PI);
    return;
  }
  const polygon = (corners, turn, size = r) => {
    for (let k = 0; k < corners; k++) {
      const a = turn + (2 * Math.PI * k) / corners;
      ctx[k ? "lineTo" : "moveTo"](x + size * Math.cos(a), y + size * Math.sin(a));
    }
    ctx.closePath();
  };
  if (shape === "square") polygon(4, Math.PI / 4, r * 1.22);
  else if (shape === "triangle") polygon(3, -Math.PI / 2, r * 1.28);
  else if (shape === "down") polygon(3, Math.PI / 2, r * 1.28);
  else if (shape === "diamond") polygon(4, 0, r * 1.3);
  else if (shape === "hexagon") polygon(6, 0, r * 1.1);
  else {
    // A plus is three corners, four times; a cross is a plus that is turned.
    const [a, b] = [r * 0.42, r * 1.15];
    const arm = [
      [-a, -b],
      [a, -b],
      [a, -a],
    ];
    for (let k = 0; k < 12; k++) {
      const [p, q] = arm[k % 3];
      const turn = Math.floor(k / 3) * (Math.PI / 2) + (shape === "cross" ? Math.PI / 4 : 0);
      const [c, s] = [Math.cos(turn), Math.sin(turn)];
      ctx[k ? "lineTo" : "moveTo"](x + c * p - s * q, y + s * p + c * q);
    }
    ctx.closePath();
  }
}

// Kinds of points in the words of the KKT conditions: see playground.py.
export const CASES = [
  ["zero", "not a support vector, α = 0"],
  ["free", "on the margin, 0 < α < C"],
  ["inside", "inside the margin, α = C"],
  ["wrong", "on the wrong side, α = C"],
  ["support", "support vector, α > 0"],
];

export function drawMark(ctx, x, y, k, kase, colours, { r = 5.5, dim = false, weight = null } = {}) {
  const t = colours;
  ctx.globalAlpha = dim ? 0.45 : 1;
  trace(ctx, SHAPES[k % 8], x, y, r);
  ctx.fillStyle = classColour(k);
  ctx.fill();
  ctx.lineWidth = 1.2;
  ctx.strokeStyle = t.plane;
  ctx.stroke();
  ctx.globalAlpha = 1;
  if (kase === 1 || kase === 4) {
    ctx.lineWidth = 1.8;
    ctx.strokeStyle = t.ink;
    trace(ctx, "circle", x, y, r + 4.6);
    ctx.stroke();
  } else if (kase === 2) {
    ctx.lineWidth = 1.6;
    ctx.strokeStyle = t.ink;
    trace(ctx, "diamond", x, y, r + 4.4);
    ctx.stroke();
  } else if (kase === 3) {
    ctx.lineWidth = 2;
    ctx.strokeStyle = t.bad;
    trace(ctx, "diamond", x, y, r + 4.4);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - 3, y - 3);
    ctx.lineTo(x + 3, y + 3);
    ctx.moveTo(x + 3, y - 3);
    ctx.lineTo(x - 3, y + 3);
    ctx.strokeStyle = t.plane;
    ctx.lineWidth = 1.6;
    ctx.stroke();
  }
  if (weight !== null && weight > 0) {
    ctx.lineWidth = 3;
    ctx.strokeStyle = t.accent;
    ctx.beginPath();
    ctx.arc(x, y, r + 5, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * Math.min(1, weight));
    ctx.stroke();
  }
}
