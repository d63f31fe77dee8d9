"""All pairs of a few small classes at once: one compiled loop, no Python for each pair.

A fit of ten classes is 45 problems; where each has a few dozen points, setting one up in
Python takes far longer than solving it. Here the points are sorted by class, so that a pair
is two blocks of the one kernel matrix, and its coefficients are two pieces of rows of the
table that scikit-learn calls dual_coef_. Pairs of larger classes come one by one, each with a
matrix of its own. What `solve_plain` or `step_plain` do not finish is left to the caller.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array, FloatArray, IndexArray
from mercer.solvers.dual_qp.block_steps import solve_in_precision

# Rows of a pair's matrix are padded to this many entries, whole vectors even for small classes.
LANES = 32
# Columns of the report for each pair.
STEPS, ENDING, VIOLATION, BIAS, DUAL = range(5)


@jit
def pair_matrix(
    K: Array,
    pair: tuple[int, int, int, int],
    box: FloatArray,
    ridge: FloatArray,
    buffer: Array,
    signs: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> Array:
    """The matrix of a pair, stored in `buffer`; its signs and bounds are written."""
    first, last, other_first, other_last = pair
    own, m = last - first, last - first + other_last - other_first
    width = (m + LANES - 1) // LANES * LANES
    matrix = buffer[: m * width].reshape((m, width))
    for k in range(m):
        is_first = k < own
        r = first + k if is_first else other_first + k - own
        source, target = K[r], matrix[k]
        for c in range(own):
            target[c] = source[first + c]
        for c in range(own, m):
            target[c] = source[other_first - own + c]
        for c in range(m, width):
            target[c] = 0
        target[k] += ridge[r]
        reach = box[r]
        signs[k] = 1.0 if is_first else -1.0
        lower[k] = 0.0 if is_first else -reach
        upper[k] = reach if is_first else 0.0
    return matrix


@jit
def _write_down(
    pair: tuple[int, int, int, int],
    i: int,
    j: int,
    beta: FloatArray,
    signs: FloatArray,
    gradient: FloatArray,
    table: FloatArray,
) -> float:
    """Write a pair's coefficients into the table; its dual objective."""
    first, last, other_first, _ = pair
    own, dual = last - first, 0.0
    for k in range(beta.shape[0]):
        dual += 0.5 * beta[k] * (signs[k] + gradient[k])
        if k < own:
            table[j - 1, first + k] = beta[k]
        else:
            table[i, other_first + k - own] = beta[k]
    return dual


@jit
def room_for_pairs(edges: IndexArray) -> tuple[int, int]:
    """Number of points of the largest pair, and the row length of its matrix."""
    largest = 0
    for c in range(edges.shape[0] - 1):
        largest = max(largest, 2 * (edges[c + 1] - edges[c]))
    return largest, (largest + LANES - 1) // LANES * LANES


@jit
def solve_class_pairs(
    K: Array,
    edges: IndexArray,
    pairs: IndexArray,
    box: FloatArray,
    ridge: FloatArray,
    convex: bool,
    tol: float,
    max_iter: int,
    begin: int,
    end: int,
    table: FloatArray,
    report: FloatArray,
) -> None:
    """Solve the pairs begin..end of classes whose points stand one class after the other.

    Parameters
    ----------
    K : ndarray (n, at least n)
        Kernel matrix of the sorted points. In double precision pairs are solved to rounding error, in single
        to the tolerance.
    edges : ndarray (n_classes + 1,)
        Where each class begins.
    pairs : ndarray (n_pairs, 2)
        The classes i < j of each pair; i is positive.
    box, ridge : ndarray (n,)
        Bound of alpha, finite, and the ridge, for each point.
    convex : bool
        Whether the kernel is known to be positive semidefinite.
    max_iter : int
        Bound on the pair steps of each pair; -1 for none.
    table : ndarray (n_classes - 1, n)
        Receives the signed coefficients, laid out as dual_coef_.
    report : ndarray (n_pairs, 5)
        Receives STEPS, ENDING, VIOLATION, BIAS and DUAL objective.
    """
    largest, width = room_for_pairs(edges)
    buffer, gradient = np.empty(largest * width, K.dtype), np.empty(width)
    beta, signs, lower, upper = np.empty(largest), np.empty(largest), np.empty(largest), np.empty(largest)
    for p in range(begin, end):
        i, j = pairs[p, 0], pairs[p, 1]
        pair = (edges[i], edges[i + 1], edges[j], edges[j + 1])
        matrix = pair_matrix(K, pair, box, ridge, buffer, signs, lower, upper)
        m, padded = matrix.shape
        steps, ending, violation, bias = solve_in_precision(
            matrix, signs[:m], lower[:m], upper[:m], convex, tol, max_iter, beta[:m], gradient[:padded]
        )
        dual = _write_down(pair, i, j, beta[:m], signs, gradient, table)
        report[p, STEPS], report[p, ENDING], report[p, VIOLATION] = steps, ending, violation
        report[p, BIAS], report[p, DUAL] = bias, dual


@jit
def solve_class_pair(
    matrix: Array,
    own: int,
    box: FloatArray,
    ridge: FloatArray,
    convex: bool,
    tol: float,
    max_iter: int,
    beta: FloatArray,
    report: FloatArray,
) -> None:
    """Solve one pair, as `solve_class_pairs` does, over its own matrix.

    Parameters
    ----------
    matrix : ndarray (m, at least m)
        Rows padded with zeros, the points of the positive class first; the ridge is added to it.
    own : int
        How many points are positive.
    box, ridge : ndarray (m,)
    beta : ndarray (m,)
        Receives the signed coefficients.
    report : ndarray (5,)
    """
    m, width = matrix.shape
    signs, lower, upper, gradient = np.empty(m), np.zeros(m), np.zeros(m), np.empty(width)
    for k in range(m):
        matrix[k, k] += ridge[k]
        if k < own:
            signs[k], upper[k] = 1.0, box[k]
        else:
            signs[k], lower[k] = -1.0, -box[k]
    steps, ending, violation, bias = solve_in_precision(
        matrix, signs, lower, upper, convex, tol, max_iter, beta, gradient
    )
    dual = 0.0
    for k in range(m):
        dual += 0.5 * beta[k] * (signs[k] + gradient[k])
    report[STEPS], report[ENDING], report[VIOLATION], report[BIAS], report[DUAL] = steps, ending, violation, bias, dual
