// @ts-check
// Systems with a positive semidefinite matrix: Cholesky with the largest pivot first (Higham 2002, section 10.3), which
// ends where what is left is rounding.

const RANK = 1e-13;
const SEEN = 1e-9;

/**
 * A solution of A x = b, zero along the directions that A does not see; and, where b has a part along those, that part:
 * a direction in which x' A x / 2 - b' x falls for ever.
 * @param {Float64Array} A n by n, row by row; overwritten
 * @param {Float64Array} b
 * @returns {{ x: Float64Array, drift: Float64Array | null }}
 */
export function solve(A, b) {
  const n = b.length;
  const { order, rank } = factorise(A, n);
  const x = new Float64Array(n);
  // Forwards over the whole of L: what is left of b beyond the rank is what A cannot give.
  for (let k = 0; k < n; k++) {
    const p = order[k];
    let sum = b[p];
    for (let j = 0; j < Math.min(k, rank); j++) sum -= A[p * n + order[j]] * x[order[j]];
    x[p] = k < rank ? sum / A[p * n + p] : sum;
  }
  const rest = order.slice(rank);
  const drift = new Float64Array(n);
  for (const i of rest) [drift[i], x[i]] = [x[i], 0];
  backwards(A, n, order, rank, x);
  const size = Math.max(0, ...b.map(Math.abs));
  if (!rest.some((i) => Math.abs(drift[i]) > SEEN * size)) return { x, drift: null };
  for (let k = 0; k < rank; k++) drift[order[k]] = -rest.reduce((t, i) => t + A[i * n + order[k]] * drift[i], 0);
  backwards(A, n, order, rank, drift);
  return { x, drift };
}

// L, with its rows in the places of the rows of A.
function factorise(A, n) {
  const order = Array.from({ length: n }, (_, k) => k);
  const diagonal = Float64Array.from(order, (k) => A[k * n + k]);
  const enough = RANK * n * Math.max(0, ...diagonal);
  let rank = 0;
  for (; rank < n; rank++) {
    let at = rank;
    for (let k = rank + 1; k < n; k++) if (diagonal[order[k]] > diagonal[order[at]]) at = k;
    const p = order[at];
    if (!(diagonal[p] > enough)) break;
    [order[rank], order[at]] = [p, order[rank]];
    const root = Math.sqrt(diagonal[p]);
    A[p * n + p] = root;
    for (let k = rank + 1; k < n; k++) {
      const i = order[k];
      let sum = A[i * n + p];
      for (let j = 0; j < rank; j++) sum -= A[i * n + order[j]] * A[p * n + order[j]];
      sum /= root;
      A[i * n + p] = sum;
      diagonal[i] -= sum * sum;
    }
  }
  return { order, rank };
}

function backwards(A, n, order, rank, x) {
  for (let k = rank - 1; k >= 0; k--) {
    const p = order[k];
    let sum = x[p];
    for (let j = k + 1; j < rank; j++) sum -= A[order[j] * n + p] * x[order[j]];
    x[p] = sum / A[p * n + p];
  }
}
