"""Out-of-fold decision values of all pairs of small classes, in one compiled loop.

A pair without a fold has nearly the same support vectors as the whole pair. So only the remaining
points within or near the margin of the whole solution are solved at first; the gradient of all then
tells whether the others would have mattered, and if so they are solved too. A pair that does not
converge is left to the caller.

Cost of a fold: the square of its support vectors, and one pass over the rows of these.
"""

from typing import NamedTuple

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array, BoolArray, FloatArray, IndexArray
from mercer.solvers.class_pairs.solve_pairs import ENDING, LANES, largest_pair, pair_matrix
from mercer.solvers.dual_qp.block_steps import LEFT, OPTIMAL, gradient_afresh, margin, solve_in_precision


class Goal(NamedTuple):
    """Solver options: whether the kernel is positive semidefinite, the tolerance, the most steps."""

    convex: bool
    tol: float
    max_iter: int


# Points farther beyond the margin than this are left out at first.
NEAR = 0.5


@jit
def _taking_part(folds: IndexArray, fold: int, is_near: BoolArray, places: IndexArray) -> int:
    """Write the indices of the points outside the fold (only those near the margin, if asked); their number."""
    count = 0
    for k in range(folds.shape[0]):
        if folds[k] != fold and is_near[k]:
            places[count] = k
            count += 1
    return count


@jit
def _submatrix(matrix: Array, places: IndexArray) -> Array:
    """The rows and columns at `places`, rows padded with zeros."""
    m = places.shape[0]
    out = np.empty((m, (m + LANES - 1) // LANES * LANES), matrix.dtype)
    for a in range(m):
        source, target = matrix[places[a]], out[a]
        for b in range(m):
            target[b] = source[places[b]]
        for b in range(m, target.shape[0]):
            target[b] = 0
    return out


@jit
def _solve_some(
    pair: tuple[Array, FloatArray, FloatArray, FloatArray],
    places: IndexArray,
    goal: Goal,
    beta: FloatArray,
) -> int:
    """Solve the points at `places` among themselves, with the other coefficients zero; the ending."""
    (matrix, signs, lower, upper), f = pair, places.shape[0]
    few = _submatrix(matrix, places)
    some, gradient = np.empty(f), np.empty(few.shape[1])
    _, ending, _, _ = solve_in_precision(
        few, signs[places], lower[places], upper[places], goal.convex, goal.tol, goal.max_iter, some, gradient
    )
    for k in range(beta.shape[0]):
        beta[k] = 0.0
    for a in range(f):
        beta[places[a]] = some[a]
    return ending


@jit
def _without(
    fold: int,
    folds: IndexArray,
    pair: tuple[Array, FloatArray, FloatArray, FloatArray],
    near: BoolArray,
    goal: Goal,
    beta: FloatArray,
    gradient: FloatArray,
) -> tuple[int, float]:
    """(ending, bias) of a pair, given its matrix, signs and bounds, without a fold; `gradient` is set for all
    points."""
    (matrix, signs, lower, upper), m = pair, beta.shape[0]
    places, everything = np.empty(m, np.int64), np.ones(m, np.bool_)
    # The held-out points get an empty box, so that they cannot violate anything.
    closed_below, closed_above = lower.copy(), upper.copy()
    for k in range(m):
        if folds[k] == fold:
            closed_below[k] = closed_above[k] = 0.0
    bias = 0.0
    for attempt in range(2):
        f = _taking_part(folds, fold, near if attempt == 0 else everything, places)
        if f == 0:
            continue
        ending = _solve_some(pair, places[:f], goal, beta)
        gradient_afresh(matrix, signs, beta, gradient)
        violation, bias = margin(beta, gradient, closed_below, closed_above)
        if ending == OPTIMAL and violation <= goal.tol:
            return OPTIMAL, bias
    return LEFT, bias


@jit
def left_out_class_pairs(
    problems: tuple[Array, IndexArray, IndexArray, FloatArray, FloatArray],
    folds: IndexArray,
    n_folds: int,
    goal: Goal,
    begin: int,
    end: int,
    table: FloatArray,
    report: FloatArray,
    scores: FloatArray,
) -> None:
    """Decision values of the points of the pairs begin..end, each by a solution without its fold.

    Parameters
    ----------
    problems : tuple
        K, edges, pairs, box and ridge, as `solve_class_pairs` takes them.
    goal : Goal
    folds : ndarray (n,)
        The fold of each sorted point; -1 where it takes part in all of them.
    table, report
        As written by `solve_class_pairs`. ENDING becomes LEFT if a fold did not converge.
    scores : ndarray (n, n_pairs)
        Receives the values; those of points of other classes are not touched.
    """
    K, edges, pairs, box, ridge = problems
    largest = largest_pair(edges)
    signs, lower, upper = np.empty(largest), np.empty(largest), np.empty(largest)
    beta, gradient, near = np.empty(largest), np.empty(largest), np.empty(largest, np.bool_)
    rows, own_folds = np.empty(largest, np.int64), np.empty(largest, np.int64)
    for p in range(begin, end):
        i, j = pairs[p, 0], pairs[p, 1]
        pair = (edges[i], edges[i + 1], edges[j], edges[j + 1])
        matrix = pair_matrix(K, pair, box, ridge, signs, lower, upper)
        m, own = matrix.shape[0], pair[1] - pair[0]
        for k in range(m):
            rows[k] = pair[0] + k if k < own else pair[2] + k - own
            beta[k] = table[j - 1 if k < own else i, rows[k]]
            own_folds[k] = folds[rows[k]]
        gradient_afresh(matrix, signs[:m], beta[:m], gradient[:m])
        _, bias = margin(beta[:m], gradient[:m], lower[:m], upper[:m])
        for k in range(m):
            near[k] = beta[k] != 0.0 or signs[k] * (gradient[k] - bias) > -NEAR
        for fold in range(-1, n_folds):
            if fold >= 0:
                own_pair = (matrix, signs[:m], lower[:m], upper[:m])
                ending, bias = _without(fold, own_folds[:m], own_pair, near[:m], goal, beta[:m], gradient[:m])
                if ending == LEFT:
                    report[p, ENDING] = LEFT
            for k in range(m):
                if own_folds[k] == fold:
                    scores[rows[k], p] = signs[k] - gradient[k] + bias
