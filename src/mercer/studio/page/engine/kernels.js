// @ts-check
// The kernels of the plane as functions of two points. Formulas are those of mercer.kernels.

/** @typedef {(ax: number, ay: number, bx: number, by: number) => number} Kernel */

const squared = (ax, ay, bx, by) => (ax - bx) * (ax - bx) + (ay - by) * (ay - by);
const dot = (ax, ay, bx, by) => ax * bx + ay * by;

const power = (base, degree) => {
  let out = 1;
  for (let k = 0; k < degree; k++) out *= base;
  return out;
};

/** @type {Record<string, (scene: Record<string, any>) => Kernel>} */
const KERNELS = {
  linear: () => dot,
  poly:
    ({ degree, gamma, coef0 }) =>
    (ax, ay, bx, by) =>
      power(gamma * (ax * bx + ay * by) + coef0, degree),
  rbf:
    ({ gamma }) =>
    (ax, ay, bx, by) =>
      Math.exp(-gamma * ((ax - bx) * (ax - bx) + (ay - by) * (ay - by))),
  laplacian:
    ({ gamma }) =>
    (ax, ay, bx, by) =>
      Math.exp(-gamma * (Math.abs(ax - bx) + Math.abs(ay - by))),
  matern:
    ({ length_scale: scale }) =>
    (...at) => {
      const r = Math.sqrt(3 * squared(...at)) / scale;
      return (1 + r) * Math.exp(-r);
    },
  rational:
    ({ length_scale: scale }) =>
    (...at) =>
      1 / (1 + squared(...at) / (2 * scale * scale)),
  // (x1, x2, x1^2, sqrt2 x1 x2, x2^2)
  second:
    () =>
    (...at) => {
      const d = dot(...at);
      return d + d * d;
    },
  cosine: () => (ax, ay, bx, by) => {
    const lengths = Math.hypot(ax, ay) * Math.hypot(bx, by);
    return lengths ? dot(ax, ay, bx, by) / lengths : 0;
  },
};

export const KERNEL_NAMES = Object.keys(KERNELS);

/**
 * @param {Record<string, any>} scene
 * @returns {Kernel}
 */
export function kernelOf(scene) {
  const make = KERNELS[scene.kernel];
  if (!make)
    throw new RangeError(
      `The kernel “${scene.kernel}” is one of the installed Studio: copy the link, and open it with mercer studio LINK.`,
    );
  return make(scene);
}

/**
 * @param {Kernel} kernel
 * @param {number[][]} points
 */
export function gram(kernel, points) {
  const n = points.length;
  const K = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++)
      K[i * n + j] = K[j * n + i] = kernel(points[i][0], points[i][1], points[j][0], points[j][1]);
  return K;
}

/**
 * f(x) = sum_j c_j k(x_j, x) + b, as a function of the plane; points without a coefficient cost nothing.
 * @param {Kernel} kernel
 * @param {number[][]} points
 * @param {ArrayLike<number>} coefficients
 * @param {number} bias
 */
export function expansion(kernel, points, coefficients, bias) {
  const kept = points.flatMap((p, j) => (coefficients[j] ? [[p[0], p[1], coefficients[j]]] : []));
  const [xs, ys, cs] = [0, 1, 2].map((c) => Float64Array.from(kept, (each) => each[c]));
  return (x, y) => {
    let sum = bias;
    for (let j = 0; j < cs.length; j++) sum += cs[j] * kernel(xs[j], ys[j], x, y);
    return sum;
  };
}
