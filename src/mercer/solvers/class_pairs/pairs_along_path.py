"""All pairs of many classes, each along a series of boxes: one compiled loop.

A cross-validation over C solves every pair of classes for every C. Here a pair's matrix is
gathered once from that of all points, and stays in the processor's cache while its box grows; each
box begins where the last one ended. Pair steps (`pair_steps`) to the tolerance, in the precision of
the matrix, are all that a score needs. What they do not finish is left to the caller.

Cost: m^2 entries copied for a pair of m points, then the steps, of m multiplications each.
"""

import numpy as np

from mercer._jit.compile import UNBOUNDED, jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels.gram.kernel_matrix import LANES
from mercer.solvers.dual_qp.bias import common_bias
from mercer.solvers.dual_qp.pair_steps import MASK, pair_steps

# Columns of the report for each pair and box.
STEPS, ENDING, BIAS = range(3)
SOLVED, LEFT = 0, -1
# Pair steps per point before a pair is left to the caller.
MOST_STEPS = 200
# If this share of the support vectors is free, coefficients are kept when the box grows; otherwise they grow with it.
MOSTLY_FREE = 0.75


@jit
def _gather(K: Array, places: IndexArray, matrix: Array) -> None:
    """matrix[a, b] = K at the places of a pair's points a and b; the rest of a row is zero."""
    m = places.shape[0]
    for a in range(m):
        source, target = K[places[a]], matrix[a]
        for b in range(m):
            target[b] = source[places[b]]
        for b in range(m, target.shape[0]):
            target[b] = K.dtype.type(0)


@jit
def _rows_of(edges: IndexArray, i: int, j: int, rows: IndexArray) -> tuple[int, int]:
    """Write the sorted indices of the points of two classes; their number, and that of the first class."""
    own, m = edges[i + 1] - edges[i], 0
    for r in range(edges[i], edges[i + 1]):
        rows[m] = r
        m += 1
    for r in range(edges[j], edges[j + 1]):
        rows[m] = r
        m += 1
    return m, own


@jit
def _follow(matrix: Array, beta: FloatArray, before: FloatArray, product: FloatArray) -> None:
    """product += matrix (beta - before) in double precision, by one row of the symmetric matrix per coefficient that
    moved."""
    vector_loop()
    m = beta.shape[0]
    for b in range(m):
        change = beta[b] - before[b]
        if change != 0.0:
            row = matrix[b]
            for a in range(m):
                product[a] += change * row[a]


@jit
def _begin(
    rows: IndexArray, own: int, box: FloatArray, last: FloatArray, ratio: float, beta: FloatArray, product: FloatArray
) -> None:
    """Coefficients for the next box: unchanged, scaled up with it, or zero where it has shrunk."""
    free, support, shrunk = 0, 0, False
    for a in range(rows.shape[0]):
        reach = box[rows[a]]
        size = abs(beta[a])
        shrunk = shrunk or size > reach
        support += size > 0.0
        free += 0.0 < size < last[rows[a]]
    factor = 0.0 if shrunk else 1.0
    if ratio > 0.0 and (shrunk or free < MOSTLY_FREE * support):
        factor = ratio
    for a in range(rows.shape[0]):
        reach = box[rows[a]]
        was_full = abs(beta[a]) >= last[rows[a]]
        beta[a] *= factor
        product[a] *= factor
        if factor == ratio and was_full and reach < UNBOUNDED:
            beta[a] = reach if a < own else -reach


@jit
def _solve(
    matrix: Array,
    own: int,
    box: FloatArray,
    ridge: FloatArray,
    rows: IndexArray,
    tol: float,
    most_steps: int,
    beta: FloatArray,
    product: FloatArray,
    work: Array,
) -> tuple[int, bool]:
    """Pair steps from `beta`. Returns (steps, whether they converged)."""
    m, width = rows.shape[0], matrix.shape[1]
    lower, upper = np.zeros(m), np.zeros(m)
    gradient, diag, rise, fall, scores = work[0, :width], work[1, :width], work[2, :width], work[3, :width], work[4]
    for a in range(width):
        gradient[a], diag[a], rise[a], fall[a] = 0.0, 1.0, -MASK, MASK
    for a in range(m):
        reach = box[rows[a]]
        lower[a], upper[a] = (0.0, reach) if a < own else (-reach, 0.0)
        beta[a] = min(max(beta[a], lower[a]), upper[a])
        sign = 1.0 if a < own else -1.0
        gradient[a] = sign - product[a] - ridge[rows[a]] * beta[a]
        matrix[a, a] += ridge[rows[a]]
        diag[a] = matrix[a, a]
        rise[a] = 0.0 if beta[a] < upper[a] else -MASK
        fall[a] = 0.0 if beta[a] > lower[a] else MASK
    goal = matrix.dtype.type(0.9 * tol)
    steps, highest, lowest, _ = pair_steps(
        matrix, gradient, beta, lower, upper, 0.0, diag, rise, fall, goal, most_steps * m, scores[:width]
    )
    for a in range(m):
        matrix[a, a] -= ridge[rows[a]]
    return steps, highest - lowest <= tol


@jit
def _bias(
    rows: IndexArray, own: int, box: FloatArray, ridge: FloatArray, beta: FloatArray, product: FloatArray
) -> float:
    """The `bias` of one pair."""
    m = rows.shape[0]
    gradient, lower, upper = np.empty(m), np.zeros(m), np.zeros(m)
    for a in range(m):
        reach, sign = box[rows[a]], 1.0 if a < own else -1.0
        lower[a], upper[a] = (0.0, reach) if a < own else (-reach, 0.0)
        gradient[a] = sign - product[a] - ridge[rows[a]] * beta[a]
    return common_bias(beta, gradient, lower, upper)


@jit
def solve_pair_paths(
    K: Array,
    places: IndexArray,
    edges: IndexArray,
    pairs: IndexArray,
    boxes: FloatArray,
    ridges: FloatArray,
    ratios: FloatArray,
    tol: float,
    most_steps: int,
    span: tuple[int, int],
    tables: FloatArray,
    report: FloatArray,
) -> None:
    """Solve the pairs of a span, which has their first and the one after the last, for every box.

    Parameters
    ----------
    K : ndarray (at least n, at least n)
        Kernel matrix that holds the points at `places`, which stand one class after the other.
    places : ndarray of int (n,)
    edges : ndarray (n_classes + 1,)
        Where each class begins among the places.
    pairs : ndarray (n_pairs, 2)
        The classes i < j of each pair; i is positive.
    boxes, ridges : ndarray (n_boxes, n)
        Bounds of alpha, at most UNBOUNDED, and the ridge of each point.
    ratios : ndarray (n_boxes,)
        By how much each box is larger than the one before, where it is so for all points; else 0.
    most_steps : int
        Per point of a pair; a pair not solved by then has LEFT in its report.
    tables : ndarray (n_boxes, n_classes - 1, n)
        Receives the signed coefficients, laid out as dual_coef_.
    report : ndarray (n_boxes, n_pairs, 3)
        Receives STEPS, ENDING and BIAS.
    """
    largest = 0
    for c in range(edges.shape[0] - 1):
        largest = max(largest, 2 * (edges[c + 1] - edges[c]))
    width = (largest + LANES - 1) // LANES * LANES
    buffer, work = np.empty(largest * width, K.dtype), np.empty((5, width), K.dtype)
    everywhere = np.empty(largest, np.int64)
    coefficients, products, starts = np.empty(largest), np.empty(largest), np.empty(largest)
    for p in range(span[0], span[1]):
        i, j = pairs[p, 0], pairs[p, 1]
        m, own = _rows_of(edges, i, j, everywhere)
        rows, beta, product, before = everywhere[:m], coefficients[:m], products[:m], starts[:m]
        width = (m + LANES - 1) // LANES * LANES
        matrix = buffer[: m * width].reshape((m, width))
        _gather(K, places[rows], matrix)
        beta[:] = 0.0
        product[:] = 0.0
        for c in range(boxes.shape[0]):
            box, ridge = boxes[c], ridges[c]
            if c > 0:
                _begin(rows, own, box, boxes[c - 1], ratios[c], beta, product)
            before[:] = beta
            steps, solved = _solve(matrix, own, box, ridge, rows, tol, most_steps, beta, product, work)
            _follow(matrix, beta, before, product)
            report[c, p, STEPS], report[c, p, ENDING] = steps, SOLVED if solved else LEFT
            report[c, p, BIAS] = _bias(rows, own, box, ridge, beta, product)
            for a in range(m):
                if a < own:
                    tables[c, j - 1, rows[a]] = beta[a]
                else:
                    tables[c, i, rows[a]] = beta[a]
