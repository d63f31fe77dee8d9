// @ts-check
// The version space of points of the plane, a polygon on the sphere: see mercer/problems/version_space, which this
// stands in for.

import { hullOf } from "./ideas.js";
import { hardMargin, Refusal } from "./machines.js";
import { readScene, shaped, twoClasses } from "./scene.js";
import { solve } from "./semidefinite.js";

const MOST_WALLS = 40;
const [CIRCLE, EDGE] = [181, 24];

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((v) => v / Math.hypot(...a));
const angle = (a, b) => Math.atan2(Math.hypot(...cross(a, b)), dot(a, b));
const combined = (weights, rows) => [0, 1, 2].map((c) => rows.reduce((t, row, i) => t + weights[i] * row[c], 0));

// Two unit vectors that with the direction form a right-handed system.
function tangents(direction) {
  const axis = unit(direction);
  const sizes = axis.map(Math.abs);
  const least = [0, 0, 0];
  least[sizes.indexOf(Math.min(...sizes))] = 1;
  const first = unit(cross(least, axis));
  return [first, cross(axis, first)];
}

// Damped Newton steps for -sum log <w, z_i> + n/2 |w|^2, from a point inside (Nesterov & Nemirovskii 1994).
function analyticCentre(normals, start) {
  const n = normals.length;
  let w = start;
  for (let k = 0; k < 200; k++) {
    const distances = normals.map((z) => dot(w, z));
    const slope = [0, 1, 2].map((c) => normals.reduce((t, z, i) => t + z[c] / distances[i], 0) - n * w[c]);
    const H = new Float64Array(9);
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++)
        H[3 * a + b] = (a === b ? n : 0) + normals.reduce((t, z, i) => t + (z[a] * z[b]) / distances[i] ** 2, 0);
    const step = Array.from(solve(H, Float64Array.from(slope)).x);
    const decrement = Math.sqrt(Math.max(0, dot(slope, step)));
    const share = decrement < 0.25 ? 1 : 1 / (1 + decrement);
    w = w.map((v, c) => v + share * step[c]);
    if (decrement < 1e-12) break;
  }
  return unit(w);
}

// The walls that matter, in order: corners of the hull of all normals, seen from inside.
function polygonOf(normals, inside) {
  const [first, second] = tangents(inside);
  const flat = normals.map((z, i) => [dot(z, first) / dot(z, inside), dot(z, second) / dot(z, inside), i]);
  const order = hullOf(flat).map((p) => p[2]);
  if (order.length < 3) throw new Refusal("The version space has fewer than three corners; more points give it some.");
  const walls = order.map((i) => normals[i]);
  const next = (k) => walls[(k + 1) % walls.length];
  const corners = walls.map((z, k) => unit(cross(z, next(k))));
  const edges = corners.map((corner, k) => angle(corners[(k + corners.length - 1) % corners.length], corner));
  return {
    corners,
    area: 2 * Math.PI - walls.reduce((t, z, k) => t + angle(z, next(k)), 0),
    mass: unit(combined(edges, walls)),
  };
}

const greatCircle = (normal) => {
  const [a, b] = tangents(normal);
  return Array.from({ length: CIRCLE }, (_, k) => {
    const t = (2 * Math.PI * k) / (CIRCLE - 1);
    return [0, 1, 2].map((c) => Math.cos(t) * a[c] + Math.sin(t) * b[c]);
  });
};

function* versionSpace(request) {
  const scene = readScene(request);
  const signs = twoClasses(scene);
  const n = signs.length;
  if (n > MOST_WALLS)
    throw new Refusal(`The version space is drawn for at most ${MOST_WALLS} points, and there are ${n} here.`);
  const normals = scene.points.map(([x, y], i) => unit([x, y, 1]).map((v) => signs[i] * v));
  const gram = Float64Array.from(normals.flatMap((a) => normals.map((b) => dot(a, b))));
  let ball;
  try {
    ball = hardMargin(gram, new Array(n).fill(1), { bias: "none" });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal("No line classifies all of these points correctly: there is no version space to draw.");
  }
  const middle = unit(combined(ball.beta, normals));
  const radius = Math.min(...normals.map((z) => dot(z, middle)));
  const analytic = analyticCentre(normals, middle);
  const polygon = polygonOf(normals, analytic);
  const ring = greatCircle(middle).map((p) =>
    p.map((v, c) => Math.sqrt(Math.max(0, 1 - radius ** 2)) * middle[c] + radius * v),
  );
  const outline = polygon.corners.flatMap((begin, k) => {
    const end = polygon.corners[(k + 1) % polygon.corners.length];
    return Array.from({ length: EDGE }, (_, e) => unit(begin.map((v, c) => (1 - e / EDGE) * v + (e / EDGE) * end[c])));
  });
  const flat = (rows, shape) => shaped(Float64Array.from(rows.flat(2)), shape);
  yield [
    {
      signs,
      area: polygon.area / (4 * Math.PI),
      corners: polygon.corners.length,
      radius,
      centres: { "ball centre": middle, "analytic centre": analytic, "centre of mass": polygon.mass },
    },
    {
      outline: flat(outline, [outline.length, 3]),
      walls: flat(normals.map(greatCircle), [n, CIRCLE, 3]),
      ball: flat(ring, [CIRCLE, 3]),
    },
  ];
}

export const ACTIONS = { version_space: versionSpace };
