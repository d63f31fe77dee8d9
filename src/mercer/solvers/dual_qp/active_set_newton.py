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
def _group(groups: IndexArray | None, i: int) -> int:
    """The group of a coordinate; there is only one without `groups`."""
    if groups is None:
        return 0
    return groups[i]


@jit
def _write_system(
    matrix: Array, places: IndexArray, f: int, groups: IndexArray | None, added: float, ridge: float, room: FloatArray
) -> None:
    """The lower triangle of Q_FF + added 11' + ridge I, with a vector of ones per group."""
    for i in range(f):
        source, row, group = matrix[places[i]], room[i], _group(groups, places[i])
        for j in range(i):
            row[j] = source[places[j]] + (added if _group(groups, places[j]) == group else 0.0)
        row[i] = source[places[i]] + added + ridge


@jit
def _direction(
    matrix: Array,
    places: IndexArray,
    f: int,
    gradient: Array,
    groups: IndexArray | None,
    n_groups: int,
    room: FloatArray,
) -> bool:
    """Write the Newton step of the free coordinates behind the system in `room`; False if it cannot be solved."""
    mean, n = 0.0, matrix.shape[0]
    for i in range(f):
        mean += matrix[places[i], places[i]] / f
    # For steps that sum to zero this changes nothing, but it makes the system well conditioned.
    added = mean if n_groups > 0 else 0.0
    ridge = FIRST_RIDGE
    while True:
        _write_system(matrix, places, f, groups, added, ridge * f * mean, room)
        if factorise(room, f):
            break
        ridge *= 1000.0
        if ridge > LAST_RIDGE or mean <= 0.0:
            return False
    step = room[n]
    for i in range(f):
        step[i] = gradient[places[i]]
    for g in range(n_groups):
        _take_off_mean(places, f, groups, g, step)
        ones = room[n + 1 + g]
        for i in range(f):
            ones[i] = 1.0 if _group(groups, places[i]) == g else 0.0
    for k in range(n, n + 1 + n_groups):
        substitute(room, f, room[k])
    if groups is not None:
        _keep_two_sums(places, f, groups, step, room[n + 1], room[n + 2])
    elif n_groups > 0:
        _keep_sum(f, step, room[n + 1])
    return True


@jit
def _take_off_mean(places: IndexArray, f: int, groups: IndexArray | None, g: int, values: Array) -> None:
    """Subtract the mean of a group from each of its values.

    The bias absorbs the common part of the gradients anyway. Left in, it would dominate the step where kernel values
    are small, and by cancellation the rest would no longer sum to zero.
    """
    total, count = 0.0, 0.0
    for i in range(f):
        if _group(groups, places[i]) == g:
            total += values[i]
            count += 1.0
    for i in range(f):
        if _group(groups, places[i]) == g:
            values[i] -= total / count


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
def _keep_two_sums(
    places: IndexArray, f: int, groups: IndexArray, step: FloatArray, first: FloatArray, second: FloatArray
) -> None:
    """Subtract multiples of `first` and `second` from the step so that it sums to zero in each group."""
    total, by_first, by_second, other_total, other_by_first, other_by_second = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(f):
        if groups[places[i]] == 0:
            total += step[i]
            by_first += first[i]
            by_second += second[i]
        else:
            other_total += step[i]
            other_by_first += first[i]
            other_by_second += second[i]
    bias, other_bias = 0.0, 0.0
    if other_by_second == 0.0:  # the group has no free coordinate
        bias = total / by_first
    elif by_first == 0.0:
        other_bias = other_total / other_by_second
    else:
        determinant = by_first * other_by_second - by_second * other_by_first
        bias = (total * other_by_second - by_second * other_total) / determinant
        other_bias = (by_first * other_total - total * other_by_first) / determinant
    for i in range(f):
        step[i] -= bias * first[i] + other_bias * second[i]


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
def _gradient_of_group(
    beta: FloatArray,
    gradient: Array,
    lower: FloatArray,
    upper: FloatArray,
    free: BoolArray,
    groups: IndexArray,
    group: int,
) -> float:
    """The bias of one of two groups; the middle of the allowed interval without free coordinates."""
    total, count, highest, lowest = 0.0, 0.0, -UNBOUNDED, UNBOUNDED
    for i in range(beta.shape[0]):
        if groups[i] != group:
            continue
        if free[i]:
            total += gradient[i]
            count += 1.0
        if beta[i] < upper[i]:
            highest = max(highest, gradient[i])
        if beta[i] > lower[i]:
            lowest = min(lowest, gradient[i])
    if count > 0.0:
        return total / count
    if highest > -UNBOUNDED and lowest < UNBOUNDED:
        return 0.5 * (highest + lowest)
    return highest if highest > -UNBOUNDED else (lowest if lowest < UNBOUNDED else 0.0)


@jit
def _violations(
    beta: FloatArray,
    gradient: Array,
    lower: FloatArray,
    upper: FloatArray,
    free: BoolArray,
    groups: IndexArray | None,
    bias: float,
    other_bias: float,
) -> tuple[float, float, int]:
    """Largest violation among the free coordinates and among the bounded ones, and the index of the latter."""
    unequal, worst, which = 0.0, 0.0, 0
    for i in range(beta.shape[0]):
        above = gradient[i] - (bias if _group(groups, i) == 0 else other_bias)
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
    groups: IndexArray | None,
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
    groups : ndarray (n,) of int, or None
        Which of two fixed sums each coordinate belongs to; None if there is one or none. Then code for two is not
        compiled.
    n_groups : int
        How many sums are fixed: 0, 1 or 2.
    least : float
        A violation that counts as none.

    Returns
    -------
    int
        EXACT, NO_STEP (indefinite, or nothing is free), or UNFINISHED.
    """
    n = beta.shape[0]
    # The system, and below it the step and a vector of ones for each group, in one array: every form of allocation
    # takes time to compile.
    places, room = np.empty(n, np.int64), np.empty((n + 1 + n_groups, n))
    largest, bias, other_bias = 0.0, 0.0, 0.0
    for i in range(n):
        largest = max(largest, matrix[i, i])
    corrections = 0
    for _ in range(max_steps):
        f = _free_places(free, places)
        if f < 1 + n_groups:
            return NO_STEP
        if not _direction(matrix, places, f, gradient, groups, n_groups, room):
            return NO_STEP
        at_bound = _move(matrix, places, f, room[n], beta, gradient, lower, upper)
        size = 0.0
        for i in range(n):
            size += abs(beta[i])
        if size > DIVERGED:
            return NO_STEP
        if at_bound >= 0:
            free[at_bound] = False
            continue
        if groups is not None:
            bias = _gradient_of_group(beta, gradient, lower, upper, free, groups, 0)
            other_bias = _gradient_of_group(beta, gradient, lower, upper, free, groups, 1)
        elif n_groups > 0:
            bias = _common_gradient(gradient, places, f)
        unequal, worst, which = _violations(beta, gradient, lower, upper, free, groups, bias, other_bias)
        rounding = max(least, 4.0 * EPSILON * largest * size)
        if worst > rounding:
            free[which] = True
            continue
        # The remaining violation of the free coordinates is due to the ridge; repeating the step removes it.
        corrections += 1
        if unequal <= rounding or corrections == CORRECTIONS:
            return EXACT
    return UNFINISHED
