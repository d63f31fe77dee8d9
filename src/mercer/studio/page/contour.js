// @ts-check
// Lines of equal value through a field (marching squares), and its shading. The field is row by row
// from below; positions are in units of the grid: 0 .. columns - 1, 0 .. rows - 1.

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {ArrayLike<number>} field
 * @param {number[]} grid columns and rows
 * @param {number} level
 * @param {{ x0: number, y0: number, dx: number, dy: number }} nodes where the first is, at the left and below, and how
 *   far they are apart
 */
export function strokeContour(ctx, field, [columns, rows], level, { x0, y0, dx, dy }) {
  ctx.beginPath();
  contour(field, columns, rows, level, (points) =>
    points.forEach(([c, r], k) => ctx[k ? "lineTo" : "moveTo"](x0 + c * dx, y0 - r * dy)),
  );
  ctx.stroke();
}

// Calls path(points) for each line, whole: dashes run on, and corners are joined.
function contour(field, columns, rows, level, path) {
  const ends = new Map(); // where a line under way begins or ends -> that line
  const key = (p) => Math.round(p[0] * 1024) * 4194304 + Math.round(p[1] * 1024);
  const lines = new Set();
  const join = (p, q) => {
    const [a, b] = [key(p), key(q)];
    if (a === b) return;
    const first = ends.get(a),
      second = ends.get(b);
    if (first && second && first !== second) {
      ends.delete(a);
      ends.delete(b);
      if (key(first[0]) === a) first.reverse();
      if (key(second.at(-1)) === b) second.reverse();
      for (const each of second) first.push(each);
      lines.delete(second);
      ends.set(key(first[0]), first);
      ends.set(key(first.at(-1)), first);
    } else if (first && first === second) {
      first.push(first[0]); // closed
      ends.delete(a);
      ends.delete(b);
    } else if (first || second) {
      const line = first ?? second,
        [old, fresh, point] = first ? [a, b, q] : [b, a, p];
      ends.delete(old);
      if (key(line[0]) === old) line.unshift(point);
      else line.push(point);
      ends.set(fresh, line);
    } else {
      const line = [p, q];
      lines.add(line);
      ends.set(a, line);
      ends.set(b, line);
    }
  };
  march(field, columns, rows, level, join);
  lines.forEach(path);
}

function march(field, columns, rows, level, line) {
  const cut = (a, b) => (level - a) / (b - a);
  for (let r = 0; r < rows - 1; r++) {
    for (let c = 0; c < columns - 1; c++) {
      const at = r * columns + c;
      const a = field[at],
        b = field[at + 1],
        d = field[at + columns],
        e = field[at + columns + 1];
      const kind = Number(a > level) + 2 * Number(b > level) + 4 * Number(e > level) + 8 * Number(d > level);
      if (kind === 0 || kind === 15) continue;
      const bottom = () => [c + cut(a, b), r],
        right = () => [c + 1, r + cut(b, e)];
      const top = () => [c + cut(d, e), r + 1],
        left = () => [c, r + cut(a, d)];
      if (kind === 1 || kind === 14) line(left(), bottom());
      else if (kind === 2 || kind === 13) line(bottom(), right());
      else if (kind === 3 || kind === 12) line(left(), right());
      else if (kind === 4 || kind === 11) line(right(), top());
      else if (kind === 6 || kind === 9) line(bottom(), top());
      else if (kind === 7 || kind === 8) line(left(), top());
      else {
        const middle = (a + b + d + e) / 4 > level;
        if ((kind === 5) === middle) {
          line(left(), top());
          line(bottom(), right());
        } else {
          line(left(), bottom());
          line(right(), top());
        }
      }
    }
  }
}

/**
 * Where a class is, as a field that falls off over two cells, so that its outline is smooth.
 * @param {ArrayLike<number>} field
 * @param {number} columns
 * @param {number} rows
 * @param {number} k
 */
export function indicator(field, columns, rows, k) {
  let out = Float32Array.from(field, (v) => (Math.round(v) === k ? 1 : 0));
  for (let pass = 0; pass < 2; pass++) {
    const next = new Float32Array(out.length);
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        let sum = 0,
          count = 0;
        for (let dr = -1; dr <= 1; dr++)
          for (let dc = -1; dc <= 1; dc++) {
            const rr = r + dr,
              cc = c + dc;
            if (rr >= 0 && rr < rows && cc >= 0 && cc < columns) {
              sum += out[rr * columns + cc];
              count += 1;
            }
          }
        next[r * columns + c] = sum / count;
      }
    }
    out = next;
  }
  return out;
}

/**
 * A small picture of the field, to be drawn enlarged.
 * @param {ArrayLike<number>} field
 * @param {number} columns
 * @param {number} rows
 * @param {(value: number) => number[]} colour red, green and blue
 */
export function shade(field, columns, rows, colour) {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const ctx = canvas.getContext("2d");
  const image = ctx.createImageData(columns, rows);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const [red, green, blue] = colour(field[r * columns + c]);
      const to = 4 * ((rows - 1 - r) * columns + c);
      image.data[to] = red;
      image.data[to + 1] = green;
      image.data[to + 2] = blue;
      image.data[to + 3] = 255;
    }
  }
  ctx.putImageData(image, 0, 0);
  return canvas;
}

export const blend = (a, b, share) => [
  a[0] + share * (b[0] - a[0]),
  a[1] + share * (b[1] - a[1]),
  a[2] + share * (b[2] - a[2]),
];
