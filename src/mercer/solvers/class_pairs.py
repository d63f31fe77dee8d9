"""All pairs of a few small classes at once: one compiled loop, no Python for each pair.

A fit of ten classes is 45 problems; where each has a few dozen points, setting one up in
Python takes far longer than solving it. Here the points are sorted by class, so that a pair
is two blocks of the one kernel matrix, and its coefficients are two pieces of rows of the
table that scikit-learn calls dual_coef_. A pair is solved as in `small`: pair steps, then
Newton steps to rounding error; what they do not finish is left to the caller.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer.kernels.matrix import LANES
from mercer.solvers.newton_steps import EXACT, newton_steps
from mercer.solvers.small import NEWTON_SLICE, PAIR_STEPS, ROUNDING
from mercer.solvers.smo import INACCURATE, NEGATIVE_CURVATURE, NEVER_BINDS
from mercer.solvers.smo_steps import MASK, pair_steps
from mercer.solvers.working_set import UNBOUNDED

UNDERFLOW = 1e-290
# Columns of the report on each pair.
STEPS, ENDING, VIOLATION, BIAS, DUAL = range(5)
# Endings: values of `Status`, or left to the caller.
OPTIMAL, OPTIMAL_INACCURATE, ITERATION_LIMIT, STALLED, NOT_CONVEX, LEFT = 0, 1, 2, 5, 6, -1


@jit
def _gather(K, rows, begin, end, offset, ridge, matrix):
    """Write the rows begin..end of K, at the columns of the pair, from row `offset` on."""
    first, last, other_first, other_last = rows
    own = last - first
    for r in range(begin, end):
        source, target = K[r], matrix[offset + r - begin]
        for c in range(own):
            target[c] = source[first + c]
        for c in range(other_last - other_first):
            target[own + c] = source[other_first + c]
        for c in range(own + other_last - other_first, target.shape[0]):
            target[c] = 0.0
        target[offset + r - begin] += ridge[r]


@jit
def _begin(matrix, signs, lower, upper, beta, gradient, diag, rise, fall):
    """The state of `pair_steps` at beta = 0."""
    m = matrix.shape[0]
    for i in range(m):
        beta[i], gradient[i], diag[i] = 0.0, signs[i], matrix[i, i]
        rise[i] = 0.0 if upper[i] > 0.0 else -MASK
        fall[i] = 0.0 if lower[i] < 0.0 else MASK
    for i in range(m, matrix.shape[1]):
        gradient[i], diag[i], rise[i], fall[i] = 0.0, 1.0, -MASK, MASK


@jit
def _gradient(matrix, signs, beta, gradient):
    """gradient = signs - matrix beta, afresh; the largest |beta|."""
    largest = 0.0
    for i in range(beta.shape[0]):
        row, total = matrix[i], signs[i]
        for k in range(beta.shape[0]):
            total -= row[k] * beta[k]
        gradient[i] = total
        largest = max(largest, abs(beta[i]))
    return largest


@jit
def _margin(beta, gradient, lower, upper):
    """(violation, bias) of a pair: as `DualProblem.violation` and `DualProblem.bias`."""
    highest, lowest, total, free = -UNBOUNDED, UNBOUNDED, 0.0, 0
    for i in range(beta.shape[0]):
        if beta[i] < upper[i]:
            highest = max(highest, gradient[i])
        if beta[i] > lower[i]:
            lowest = min(lowest, gradient[i])
        if lower[i] < beta[i] < upper[i]:
            total += gradient[i]
            free += 1
    # A pair has points of both classes, so something may rise and something may fall.
    bias = total / free if free > 0 else 0.5 * (highest + lowest)
    # Kernel values that underflow leave a remainder of their own size.
    return max(0.0, highest - lowest), bias if abs(bias) > UNDERFLOW else 0.0


@jit
def _solve_pair(matrix, signs, lower, upper, convex, tol, max_iter, beta, gradient):
    """Solve one pair from zero. Returns (steps, ending, violation, bias)."""
    m, width = matrix.shape
    diag, scores, rise, fall = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    _begin(matrix, signs, lower, upper, beta, gradient, diag, rise, fall)
    allowed = PAIR_STEPS * m if max_iter < 0 else min(PAIR_STEPS * m, max_iter)
    steps, highest, lowest, curvature = pair_steps(
        matrix, gradient, beta, lower, upper, 0.0, diag, rise, fall, 0.9 * tol, allowed, scores
    )
    largest = _gradient(matrix, signs, beta, gradient)
    violation, bias = _margin(beta, gradient, lower, upper)
    solved = highest - lowest <= tol
    if not solved and steps == max_iter:
        return steps, ITERATION_LIMIT, violation, bias
    if not largest < NEVER_BINDS or not (solved or convex):
        return steps, LEFT, violation, bias
    if not convex and curvature < NEGATIVE_CURVATURE:
        return steps, NOT_CONVEX, violation, bias
    if violation <= ROUNDING:
        return steps, OPTIMAL, violation, bias
    better, moved, free = np.empty(m), np.empty(width), np.empty(m, np.bool_)
    for i in range(width):
        moved[i] = gradient[i]
    reach = 0.0
    for i in range(m):
        better[i], free[i] = beta[i], lower[i] < beta[i] < upper[i]
        reach = max(reach, upper[i] - lower[i])
    groups = np.zeros(m, np.int64)
    exact = newton_steps(matrix, better, moved, lower, upper, free, groups, 1, ROUNDING, NEWTON_SLICE) == EXACT
    if _gradient(matrix, signs, better, moved) < NEVER_BINDS:
        improved, its_bias = _margin(better, moved, lower, upper)
        if improved <= violation:
            violation, bias = improved, its_bias
            for i in range(m):
                beta[i], gradient[i] = better[i], moved[i]
    if violation <= tol:
        return steps, OPTIMAL, violation, bias
    if not exact or reach > NEVER_BINDS:
        return steps, LEFT, violation, bias
    return steps, OPTIMAL_INACCURATE if violation <= INACCURATE else STALLED, violation, bias


@jit
def solve_class_pairs(K, edges, pairs, box, ridge, convex, tol, max_iter, begin, end, table, report):
    """Solve the pairs begin..end of classes whose points stand one class after the other.

    Parameters
    ----------
    K : ndarray (n, at least n)
        Kernel matrix of the sorted points.
    edges : ndarray (n_classes + 1,)
        Where each class begins.
    pairs : ndarray (n_pairs, 2)
        The classes i < j of each pair; i is positive.
    box, ridge : ndarray (n,)
        Bound of alpha, and what is added to the diagonal, for each point.
    convex : bool
        Whether the kernel is known to be positive semidefinite.
    max_iter : int
        Bound on the pair steps of each pair; -1 for none.
    table : ndarray (n_classes - 1, n)
        Receives the signed coefficients, laid out as dual_coef_.
    report : ndarray (n_pairs, 5)
        Receives STEPS, ENDING, VIOLATION, BIAS and DUAL objective.
    """
    largest = 0
    for c in range(edges.shape[0] - 1):
        largest = max(largest, 2 * (edges[c + 1] - edges[c]))
    width = (largest + LANES - 1) // LANES * LANES
    buffer = np.empty(largest * width)
    beta, gradient = np.empty(largest), np.empty(width)
    signs, lower, upper = np.empty(largest), np.empty(largest), np.empty(largest)
    for p in range(begin, end):
        i, j = pairs[p, 0], pairs[p, 1]
        rows = (edges[i], edges[i + 1], edges[j], edges[j + 1])
        own = rows[1] - rows[0]
        m = own + rows[3] - rows[2]
        width = (m + LANES - 1) // LANES * LANES
        matrix = buffer[: m * width].reshape((m, width))
        _gather(K, rows, rows[0], rows[1], 0, ridge, matrix)
        _gather(K, rows, rows[2], rows[3], own, ridge, matrix)
        for k in range(m):
            reach = min(box[rows[0] + k] if k < own else box[rows[2] + k - own], UNBOUNDED)
            signs[k] = 1.0 if k < own else -1.0
            lower[k] = 0.0 if k < own else -reach
            upper[k] = reach if k < own else 0.0
        steps, ending, violation, bias = _solve_pair(
            matrix, signs[:m], lower[:m], upper[:m], convex, tol, max_iter, beta[:m], gradient[:width]
        )
        dual = 0.0
        for k in range(m):
            dual += 0.5 * beta[k] * (signs[k] + gradient[k])
            if k < own:
                table[j - 1, rows[0] + k] = beta[k]
            else:
                table[i, rows[2] + k - own] = beta[k]
        report[p, STEPS], report[p, ENDING], report[p, VIOLATION] = steps, ending, violation
        report[p, BIAS], report[p, DUAL] = bias, dual
