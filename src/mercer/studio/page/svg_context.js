// @ts-check
// What the drawing code needs of a canvas context, written down as SVG: one code, two pictures.

const number = (v) => (Math.round(v * 100) / 100).toString();
const escape = (text) =>
  String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

export class SvgContext {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "12px sans-serif";
  textAlign = "left";
  textBaseline = "alphabetic";
  lineJoin = "miter";
  lineCap = "butt";
  /** @type {string[]} */
  parts = [];
  /** @type {string[]} */
  path = [];
  /** @type {number[]} */
  dash = [];
  stack = [];
  clips = 0;
  open = 0;

  /**
   * @param {number} width
   * @param {number} height
   */
  constructor(width, height) {
    this.width = width;
    this.height = height;
  }

  /** This, in the place of a canvas context: it has all that the page draws with, and no more. */
  get asCanvas() {
    return /** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (this));
  }
  save() {
    this.stack.push({
      fillStyle: this.fillStyle,
      strokeStyle: this.strokeStyle,
      lineWidth: this.lineWidth,
      globalAlpha: this.globalAlpha,
      font: this.font,
      textAlign: this.textAlign,
      textBaseline: this.textBaseline,
      dash: this.dash,
      lineJoin: this.lineJoin,
      lineCap: this.lineCap,
      open: this.open,
    });
  }
  restore() {
    const before = this.stack.pop();
    while (this.open > before.open) {
      this.parts.push("</g>");
      this.open -= 1;
    }
    Object.assign(this, before);
  }
  beginPath() {
    this.path = [];
  }
  closePath() {
    this.path.push("Z");
  }
  moveTo(x, y) {
    this.path.push(`M${number(x)} ${number(y)}`);
  }
  lineTo(x, y) {
    this.path.push(`${this.path.length ? "L" : "M"}${number(x)} ${number(y)}`);
  }
  rect(x, y, w, h) {
    this.path.push(`M${number(x)} ${number(y)}h${number(w)}v${number(h)}h${number(-w)}Z`);
  }
  arc(x, y, r, from, to) {
    const whole = Math.abs(to - from) >= 2 * Math.PI - 1e-6;
    const [a, b] = [x + r * Math.cos(from), y + r * Math.sin(from)];
    if (whole) {
      this.path.push(
        `M${number(x - r)} ${number(y)}a${number(r)} ${number(r)} 0 1 0 ${number(2 * r)} 0a${number(r)} ${number(r)} 0 1 0 ${number(-2 * r)} 0Z`,
      );
      return;
    }
    const [c, d] = [x + r * Math.cos(to), y + r * Math.sin(to)];
    this.path.push(
      `${this.path.length ? "L" : "M"}${number(a)} ${number(b)}A${number(r)} ${number(r)} 0 ${to - from > Math.PI ? 1 : 0} 1 ${number(c)} ${number(d)}`,
    );
  }
  setLineDash(dash) {
    this.dash = dash;
  }
  fill() {
    this.parts.push(`<path d="${this.path.join("")}" fill="${this.fillStyle}"${this.alpha()}/>`);
  }
  stroke() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.parts.push(
      `<path d="${this.path.join("")}" fill="none" stroke="${this.strokeStyle}" stroke-width="${number(this.lineWidth)}" stroke-linejoin="${this.lineJoin}" stroke-linecap="${this.lineCap}"${dash}${this.alpha()}/>`,
    );
  }
  clip() {
    this.clips += 1;
    this.parts.push(
      `<clipPath id="c${this.clips}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#c${this.clips})">`,
    );
    this.open += 1;
  }
  alpha() {
    return this.globalAlpha < 1 ? ` opacity="${number(this.globalAlpha)}"` : "";
  }
  fillRect(x, y, w, h) {
    this.parts.push(
      `<rect x="${number(x)}" y="${number(y)}" width="${number(w)}" height="${number(h)}" fill="${this.fillStyle}"${this.alpha()}/>`,
    );
  }
  strokeRect(x, y, w, h) {
    this.beginPath();
    this.rect(x, y, w, h);
    this.stroke();
  }
  clearRect() {}
  setTransform() {}
  measureText(text) {
    return { width: 6.2 * text.length };
  }
  fillText(text, x, y) {
    const anchor = { left: "start", start: "start", center: "middle", right: "end", end: "end" }[this.textAlign];
    const size = Number(this.font.match(/([\d.]+)px/)?.[1] ?? 12);
    const shift = { middle: 0.34, top: 0.8, bottom: -0.2 }[this.textBaseline] ?? 0;
    const weight = /\b(6\d\d|bold)\b/.test(this.font) ? ' font-weight="600"' : "";
    this.parts.push(
      `<text x="${number(x)}" y="${number(y + shift * size)}" font-size="${size}"${weight} text-anchor="${anchor}" fill="${this.fillStyle}"${this.alpha()}>${escape(text)}</text>`,
    );
  }
  drawImage(image, x, y, w, h) {
    this.parts.push(
      `<image x="${number(x)}" y="${number(y)}" width="${number(w)}" height="${number(h)}" preserveAspectRatio="none" href="${image.toDataURL("image/png")}"/>`,
    );
  }
  toString() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="system-ui, sans-serif">${this.parts.join("\n")}</svg>`;
  }
}
