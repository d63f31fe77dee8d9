// @ts-check
// The recorded steps of a solver.

/**
 * @typedef {import("../../link.js").Header} Header
 * @typedef {Record<string, any>} Film what the server has recorded (see views/solving.py), and what is drawn from it
 */

/**
 * @param {Header} header
 * @param {Record<string, import("../../link.js").Numbers>} arrays
 * @param {Header} request
 * @returns {Film}
 */
export function filmOf(header, arrays, request) {
  return {
    ...header,
    ...arrays,
    request,
    n: request.points.length,
    steps: header.notes.length,
    isPerceptron: header.solver === "perceptron",
    highestAlpha: Math.max(1e-9, ...arrays.alpha),
    steepest: Array.from(arrays.gradient).reduce((m, v) => Math.max(m, Math.abs(v)), 0.1),
  };
}

/**
 * What is known of every point at a step: alpha, gradient or values.
 * @param {Film} film
 * @param {"alpha" | "gradient" | "values"} name
 * @param {number} at
 */
export const rowOf = (film, name, at) => film[name].subarray(at * film.n, (at + 1) * film.n);

/**
 * A step as a plane shows it.
 * @param {Film} film
 * @param {number} at
 * @returns {import("../../plane/plane.js").Answer}
 */
export function pictureOf(film, at) {
  const { grid, request, solver, isPerceptron } = film;
  const size = grid[0] * grid[1];
  const values = rowOf(film, "values", at);
  const bound = (film.C ?? Infinity) * (1 - 1e-6);
  const hasBox = solver === "smo" || solver === "chunking";
  const standing = (alpha, i) => (alpha <= 0 ? 0 : !hasBox ? 4 : alpha < bound ? 1 : values[i] > 0 ? 2 : 3);
  return {
    field: film.fields.subarray(at * size, (at + 1) * size),
    grid,
    window: request.window,
    classes: [...new Set(request.points.map((p) => p[2]))].sort(),
    cases: Array.from(rowOf(film, "alpha", at), standing),
    margins: !isPerceptron,
  };
}
