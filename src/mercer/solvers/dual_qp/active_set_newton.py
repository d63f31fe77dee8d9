"""Compiled Newton steps of a primal active-set method, on a matrix held in memory.

The free coordinates minimise the quadratic while the others stay at their bounds: with the
Cholesky factor of their matrix, d = Q_FF^-1 (g_F - b), where b keeps the sum of a step zero,
or one b for each of two groups whose sums are fixed.
A step that meets a bound ends there and its coordinate is no longer free; after a full step,
the bounded coordinate that violates the KKT conditions most is freed (Nocedal & Wright
2006, section 16.5).

Cost of a step: f^3 / 6 multiplications for f free coordinates, and n f for the gradient.
"""

import numpy as np

from mercer._jit.compile import UNBOUNDED, jit
from mercer._types import Array, BoolArray, FloatArray, IndexArray
from mercer.solvers.linalg.compiled_cholesky import factorise, substitute

EXACT, NO_STEP, UNFINISHED = 0, 1, 2
EPSILON = 2.0**-52
# Ridge relative to the mean of the diagonal: repeated rows make the system singular.
FIRST_RIDGE = 1e-14
LAST_RIDGE = 1e-8
# Most full steps that only remove the error due to the ridge.
CORRECTIONS = 3
# Coefficients that grow beyond this show that the dual is unbounded.
DIVERGED = 1e100


@jit
def _free_places(free: BoolArray, places: IndexArray) -> int:
    """Write the indices of the free coordinates to `places`; their number."""
    f = 0
    for i in range(free.shape[0]):
        if free[i]:
            places[f] = i
            f += 1
    return f


@jit
def _write_system(
    matrix: Array, places: IndexArray, f: int, groups: IndexArray, added: float, ridge: float, system: FloatArray
) -> None:
    """The lower triangle of Q_FF + added 11' + ridge I, with a vector of ones per group."""
    for i in range(f):
        source, row, group = matrix[places[i]], system[i], groups[places[i]]
        for j in range(i):
            row[j] = source[places[j]] + (added if groups[places[j]] == group else 0.0)
        row[i] = source[places[i]] + added + ridge


@jit
def _direction(
    matrix: Array,
    places: IndexArray,
    f: int,
    gradient: Array,
    groups: IndexArray,
    n_groups: int,
    system: FloatArray,
    step: FloatArray,
    ones: FloatArray,
) -> bool:
    """Write the Newton step of the free coordinates to `step`; False if the system cannot be solved."""
    mean = 0.0
    for i in range(f):
        mean += matrix[places[i], places[i]] / f
    # For steps that sum to zero this changes nothing, but it makes the system well conditioned.
    added = mean if n_groups > 0 else 0.0
    ridge = FIRST_RIDGE
    _write_system(matrix, places, f, groups, added, ridge * f * mean, system)
    while not factorise(system, f):
        ridge *= 1000.0
        if ridge > LAST_RIDGE or mean <= 0.0:
            return False
        _write_system(matrix, places, f, groups, added, ridge * f * mean, system)
    for i in range(f):
        step[i] = gradient[places[i]]
    if n_groups > 0:
        _take_off_means(places, f, groups, step)
    substitute(system, f, step)
    for g in range(n_groups):
        for i in range(f):
            ones[g, i] = 1.0 if groups[places[i]] == g else 0.0
        substitute(system, f, ones[g])
    if n_groups == 1:
        _keep_sum(f, step, ones[0])
    elif n_groups == 2:
        _keep_two_sums(places, f, groups, step, ones)
    return True


@jit
def _take_off_means(places: IndexArray, f: int, groups: IndexArray, values: Array) -> None:
    """Subtract the mean of its group from each value.

    The bias absorbs the common part of the gradients anyway. Left in, it would dominate the step where kernel values
    are small, and by cancellation the rest would no longer sum to zero.
    """
    total, count = np.zeros(2), np.zeros(2)
    for i in range(f):
        g = groups[places[i]]
        total[g] += values[i]
        count[g] += 1.0
    for i in range(f):
        g = groups[places[i]]
        values[i] -= total[g] / count[g]


@jit
def _keep_sum(f: int, step: FloatArray, ones: FloatArray) -> None:
    """Subtract a multiple of `ones` from the step so that it sums to zero."""
    total, towards_bias = 0.0, 0.0
    for i in range(f):
        total += step[i]
        towards_bias += ones[i]
    for i in range(f):
        step[i] -= total / towards_bias * ones[i]


@jit
def _keep_two_sums(places: IndexArray, f: int, groups: IndexArray, step: FloatArray, ones: FloatArray) -> None:
    """Subtract multiples of both rows of `ones` from the step so that it sums to zero in each group."""
    total, by_bias, bias = np.zeros(2), np.zeros((2, 2)), np.zeros(2)
    for i in range(f):
        g = groups[places[i]]
        by_bias[g, 0] += ones[0, i]
        by_bias[g, 1] += ones[1, i]
        total[g] += step[i]
    if by_bias[1, 1] == 0.0:  # the group has no free coordinate
        bias[0] = total[0] / by_bias[0, 0]
    elif by_bias[0, 0] == 0.0:
        bias[1] = total[1] / by_bias[1, 1]
    else:
        determinant = by_bias[0, 0] * by_bias[1, 1] - by_bias[0, 1] * by_bias[1, 0]
        bias[0] = (total[0] * by_bias[1, 1] - by_bias[0, 1] * total[1]) / determinant
        bias[1] = (by_bias[0, 0] * total[1] - total[0] * by_bias[1, 0]) / determinant
    for i in range(f):
        step[i] -= bias[0] * ones[0, i] + bias[1] * ones[1, i]


@jit
def _move(
    matrix: Array,
    places: IndexArray,
    f: int,
    step: FloatArray,
    beta: FloatArray,
    gradient: Array,
    lower: FloatArray,
    upper: FloatArray,
) -> int:
    """Take the step, or as much as the box allows; the coordinate that limits it, or -1."""
    length, first, end = 1.0, -1, 0.0
    for i in range(f):
        p = places[i]
        bound = upper[p] if step[i] > 0.0 else lower[p]
        # Written without a quotient, so that a zero step is harmless.
        if abs(bound - beta[p]) < length * abs(step[i]):
            length, first, end = (bound - beta[p]) / step[i], p, bound
    for i in range(f):
        p = places[i]
        row, change = matrix[p], length * step[i]
        beta[p] += change
        for k in range(gradient.shape[0]):
            gradient[k] -= change * row[k]
    if first >= 0:
        beta[first] = end
    return first


@jit
def _common_gradient(gradient: Array, places: IndexArray, f: int) -> float:
    """The bias: the mean gradient of the free coordinates."""
    total = 0.0
    for i in range(f):
        total += gradient[places[i]]
    return total / f


@jit
def _common_gradients(
    beta: FloatArray,
    gradient: Array,
    lower: FloatArray,
    upper: FloatArray,
    free: BoolArray,
    groups: IndexArray,
    bias: FloatArray,
) -> None:
    """The bias of each of two groups; the middle of the allowed interval for one without free coordinates."""
    total, count, highest, lowest = np.zeros(2), np.zeros(2), np.full(2, -UNBOUNDED), np.full(2, UNBOUNDED)
    for i in range(beta.shape[0]):
        g = groups[i]
        if free[i]:
            total[g] += gradient[i]
            count[g] += 1.0
        if beta[i] < upper[i]:
            highest[g] = max(highest[g], gradient[i])
        if beta[i] > lower[i]:
            lowest[g] = min(lowest[g], gradient[i])
    for g in range(2):
        if count[g] > 0.0:
            bias[g] = total[g] / count[g]
        elif highest[g] > -UNBOUNDED and lowest[g] < UNBOUNDED:
            bias[g] = 0.5 * (highest[g] + lowest[g])
        else:
            bias[g] = highest[g] if highest[g] > -UNBOUNDED else (lowest[g] if lowest[g] < UNBOUNDED else 0.0)


@jit
def _violations(
    beta: FloatArray,
    gradient: Array,
    lower: FloatArray,
    upper: FloatArray,
    free: BoolArray,
    groups: IndexArray,
    bias: FloatArray,
) -> tuple[float, float, int]:
    """Largest violation among the free coordinates and among the bounded ones, and the index of the latter."""
    unequal, worst, which = 0.0, 0.0, 0
    for i in range(beta.shape[0]):
        above = gradient[i] - bias[groups[i]]
        if free[i]:
            unequal = max(unequal, abs(above))
        elif above > worst and beta[i] < upper[i]:
            worst, which = above, i
        elif -above > worst and beta[i] > lower[i]:
            worst, which = -above, i
    return unequal, worst, which


@jit
def newton_steps(
    matrix: Array,
    beta: FloatArray,
    gradient: Array,
    lower: FloatArray,
    upper: FloatArray,
    free: BoolArray,
    groups: IndexArray,
    n_groups: int,
    least: float,
    max_steps: int,
) -> int:
    """Take Newton steps until the violation is rounding error or `max_steps` are done.

    Parameters
    ----------
    matrix, gradient
        K + s 11' + R and its negative gradient, padded as in `pair_steps`.
    beta, free : ndarray (n,)
        The point, and which coordinates are free; both are changed.
    groups : ndarray (n,) of int
        The fixed sum that each coordinate belongs to, of `n_groups` (0, 1 or 2; zeros if there is none).
    least : float
        A violation that counts as none.

    Returns
    -------
    int
        EXACT, NO_STEP (indefinite, or nothing is free), or UNFINISHED.
    """
    n = beta.shape[0]
    places, system = np.empty(n, np.int64), np.empty((n, n))
    step, ones, bias = np.empty(n), np.empty((2, n)), np.zeros(2)
    largest = 0.0
    for i in range(n):
        largest = max(largest, matrix[i, i])
    corrections = 0
    for _ in range(max_steps):
        f = _free_places(free, places)
        if f < 1 + n_groups:
            return NO_STEP
        if not _direction(matrix, places, f, gradient, groups, n_groups, system, step, ones):
            return NO_STEP
        at_bound = _move(matrix, places, f, step, beta, gradient, lower, upper)
        size = 0.0
        for i in range(n):
            size += abs(beta[i])
        if size > DIVERGED:
            return NO_STEP
        if at_bound >= 0:
            free[at_bound] = False
            continue
        if n_groups == 1:
            bias[0] = _common_gradient(gradient, places, f)
        elif n_groups == 2:
            _common_gradients(beta, gradient, lower, upper, free, groups, bias)
        unequal, worst, which = _violations(beta, gradient, lower, upper, free, groups, bias)
        rounding = max(least, 4.0 * EPSILON * largest * size)
        if worst > rounding:
            free[which] = True
            continue
        # The remaining violation of the free coordinates is due to the ridge; repeating the step removes it.
        corrections += 1
        if unequal <= rounding or corrections == CORRECTIONS:
            return EXACT
    return UNFINISHED
