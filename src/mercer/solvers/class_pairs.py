"""All pairs of a few small classes at once: one compiled loop, no Python for each pair.

A fit of ten classes is 45 problems; where each has a few dozen points, setting one up in
Python takes far longer than solving it. Here the points are sorted by class, so that a pair
is two blocks of the one kernel matrix, and its coefficients are two pieces of rows of the
table that scikit-learn calls dual_coef_. What `solve_plain` does not finish is left
to the caller.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer.kernels.matrix import LANES
from mercer.solvers.small_steps import solve_plain
from mercer.solvers.working_set import UNBOUNDED

# Columns of the report on each pair.
STEPS, ENDING, VIOLATION, BIAS, DUAL = range(5)


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
        steps, ending, violation, bias = solve_plain(
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
