"""All pairs of a few small classes at once: one compiled loop, no Python for each pair.

A fit of ten classes is 45 problems; where each has a few dozen points, setting one up in
Python takes far longer than solving it. Here the points are sorted by class, so that a pair
is two blocks of the one kernel matrix, and its coefficients are two pieces of rows of the
table that scikit-learn calls dual_coef_. Pairs of larger classes come one by one, each with a
matrix of its own. What `solve_plain` or `step_plain` do not finish is left to the caller.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.solvers.dual_qp.block_steps import solve_in_precision

# Rows of a pair's matrix are padded to this many entries, whole vectors even for small classes.
LANES = 32
# Columns of the report for each pair.
STEPS, ENDING, VIOLATION, BIAS, DUAL = range(5)


@jit
def _gathered(K: Array, pair: tuple[int, int, int, int], room: Array) -> Array:
    """The entries of a pair, rows padded with zeros, in `room`: fresh memory for each would take longer to touch than
    they take to copy."""
    vector_loop()
    first, last, other_first, other_last = pair
    own, m = last - first, last - first + other_last - other_first
    width = (m + LANES - 1) // LANES * LANES
    matrix = room[: m * width].reshape(m, width)
    for k in range(m):
        source, target = K[first + k if k < own else other_first + k - own], matrix[k]
        _copy(source[first:last], target[:own])
        _copy(source[other_first:other_last], target[own:m])
        target[m:] = 0
    return matrix


@jit
def _copy(source: Array, target: Array) -> None:
    for c in range(target.shape[0]):
        target[c] = source[c]


@jit
def _of_pair(values: FloatArray, pair: tuple[int, int, int, int]) -> FloatArray:
    """The values of a pair's points."""
    first, last, other_first, other_last = pair
    own = last - first
    out = np.empty(own + other_last - other_first)
    for k in range(out.shape[0]):
        out[k] = values[first + k if k < own else other_first + k - own]
    return out


@jit
def _set_up(
    matrix: Array,
    own: int,
    box: FloatArray,
    ridge: FloatArray,
    signs: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> None:
    """Write the signs and bounds of a pair, and add its ridge to the matrix."""
    for k in range(matrix.shape[0]):
        matrix[k, k] += ridge[k]
        signs[k] = 1.0 if k < own else -1.0
        lower[k] = 0.0 if k < own else -box[k]
        upper[k] = box[k] if k < own else 0.0


@jit
def pair_matrix(
    K: Array,
    pair: tuple[int, int, int, int],
    box: FloatArray,
    ridge: FloatArray,
    signs: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> Array:
    """The matrix of a pair; its signs and bounds are written."""
    m = pair[1] - pair[0] + pair[3] - pair[2]
    matrix = _gathered(K, pair, np.empty(m * (m + LANES), K.dtype))
    _set_up(matrix, pair[1] - pair[0], _of_pair(box, pair), _of_pair(ridge, pair), signs, lower, upper)
    return matrix


@jit
def largest_pair(edges: IndexArray) -> int:
    """More points than any pair has: twice those of the largest class."""
    largest = 0
    for c in range(edges.shape[0] - 1):
        largest = max(largest, 2 * (edges[c + 1] - edges[c]))
    return largest


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
    """Solve one pair over its own matrix.

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
    signs, lower, upper, gradient = np.empty(m), np.empty(m), np.empty(m), np.empty(width)
    _set_up(matrix, own, box, ridge, signs, lower, upper)
    steps, ending, violation, bias = solve_in_precision(
        matrix, signs, lower, upper, convex, tol, max_iter, beta, gradient
    )
    dual = 0.0
    for k in range(m):
        dual += 0.5 * beta[k] * (signs[k] + gradient[k])
    report[STEPS], report[ENDING], report[VIOLATION], report[BIAS], report[DUAL] = steps, ending, violation, bias, dual


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
    most = 2 * int((edges[1:] - edges[:-1]).max())
    room = scratch("pair", (most * (most + LANES),), K.dtype)
    problems = K, edges, pairs, box, ridge
    _solve_class_pairs(problems, convex, tol, max_iter, begin, end, table, report, room)


@jit
def _solve_class_pairs(
    problems: tuple[Array, IndexArray, IndexArray, FloatArray, FloatArray],
    convex: bool,
    tol: float,
    max_iter: int,
    begin: int,
    end: int,
    table: FloatArray,
    report: FloatArray,
    room: Array,
) -> None:
    K, edges, pairs, box, ridge = problems
    coefficients = np.empty(largest_pair(edges))
    for p in range(begin, end):
        i, j = pairs[p, 0], pairs[p, 1]
        pair = (edges[i], edges[i + 1], edges[j], edges[j + 1])
        matrix, own = _gathered(K, pair, room), pair[1] - pair[0]
        beta = coefficients[: matrix.shape[0]]
        solve_class_pair(
            matrix, own, _of_pair(box, pair), _of_pair(ridge, pair), convex, tol, max_iter, beta, report[p]
        )
        for k in range(own):
            table[j - 1, pair[0] + k] = beta[k]
        for k in range(own, beta.shape[0]):
            table[i, pair[2] + k - own] = beta[k]
