"""Compiled steps of sequential minimal optimisation on a working set held in memory.

Pairs (i, j) are chosen by second-order information (Fan, Chen & Lin 2005): i has the largest
gradient that may rise, j the largest guaranteed gain with it. Without an equality constraint
one coordinate moves at a time, the one of largest gain.

Cost of a step: two passes over the working set, reading two rows of its matrix (or one row and
one pass). Box membership enters as additive masks: 0 where a move is allowed, -/+ MASK where
it is not. A search for a maximum first finds its value, in a loop that vectorises, and then
where it stands; ties go to the smallest index, so results are reproducible. Arrays are padded
with entries that no mask allows.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop

MASK = 1e30
# Curvature below this is treated as this (LIBSVM's tau), so that a step is never infinite.
SMALLEST_CURVATURE = 1e-12
_BLOCK = 256


@jit
def _contains(values, wanted):
    """1 if any value equals `wanted`, else 0."""
    vector_loop()
    one, found = values.dtype.type(1), values.dtype.type(0)
    for k in range(values.shape[0]):
        here = one if values[k] == wanted else values.dtype.type(0)
        found = here if here > found else found
    return found


@jit
def _index_of(values, wanted):
    """The first index at which `wanted` stands."""
    start = 0
    while start + _BLOCK < values.shape[0] and _contains(values[start : start + _BLOCK], wanted) == 0:
        start += _BLOCK
    for k in range(start, values.shape[0]):
        if values[k] == wanted:
            return k
    return 0


@jit
def _move_pair(row_i, row_j, step, gradient, rise, scores):
    """Update the gradient after beta_i += step, beta_j -= step; the largest that may rise.

    `scores` receives the masked gradient, in which `_index_of` finds the next i.
    """
    vector_loop()
    highest = gradient.dtype.type(-2.0 * MASK)
    for k in range(gradient.shape[0]):
        updated = gradient[k] - step * (row_i[k] - row_j[k])
        gradient[k] = updated
        score = updated + rise[k]
        scores[k] = score
        highest = score if score > highest else highest
    return highest


@jit
def _pair_gains(row, diag, gradient, fall, highest, own_diag, scores):
    """Gain of each partner for i into `scores`; the best gain, and the smallest gradient
    that may fall."""
    vector_loop()
    zero, two = gradient.dtype.type(0), gradient.dtype.type(2)
    tiny = gradient.dtype.type(SMALLEST_CURVATURE)
    best, lowest = zero, gradient.dtype.type(2.0 * MASK)
    for k in range(gradient.shape[0]):
        value = gradient[k] + fall[k]
        lowest = value if value < lowest else lowest
        drop = highest - value
        drop = drop if drop > zero else zero
        curvature = own_diag + diag[k] - two * row[k]
        curvature = curvature if curvature > tiny else tiny
        gain = drop * drop / curvature
        scores[k] = gain
        best = gain if gain > best else best
    return best, lowest


@jit
def _set_masks(k, beta, lower, upper, rise, fall):
    rise[k] = 0.0 if beta[k] < upper[k] else -MASK
    fall[k] = 0.0 if beta[k] > lower[k] else MASK


@jit
def pair_steps(matrix, gradient, beta, lower, upper, diag, rise, fall, tol, max_steps, scores):
    """Take pair steps until the violation is at most `tol` or `max_steps` are done.

    Returns (steps, highest, lowest, smallest curvature seen relative to the diagonal).
    """
    steps, worst_curvature = 0, 1.0
    highest = _move_pair(matrix[0], matrix[0], gradient.dtype.type(0), gradient, rise, scores)
    while True:
        i = _index_of(scores, highest)
        gain, lowest = _pair_gains(matrix[i], diag, gradient, fall, highest, diag[i], scores)
        if highest - lowest <= tol or steps >= max_steps:
            return steps, highest, lowest, worst_curvature
        j = _index_of(scores, gain)
        scale = np.float64(diag[i]) + np.float64(diag[j])
        curvature = scale - 2.0 * np.float64(matrix[i, j])
        worst_curvature = min(worst_curvature, curvature / max(abs(scale), 1e-300))
        step = (np.float64(gradient[i]) - np.float64(gradient[j])) / max(curvature, SMALLEST_CURVATURE)
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        step = min(step, room_i, room_j)
        # A coordinate that reaches its bound is set to it exactly.
        beta[i] = upper[i] if step >= room_i else beta[i] + step
        beta[j] = lower[j] if step >= room_j else beta[j] - step
        _set_masks(i, beta, lower, upper, rise, fall)
        _set_masks(j, beta, lower, upper, rise, fall)
        highest = _move_pair(matrix[i], matrix[j], gradient.dtype.type(step), gradient, rise, scores)
        steps += 1


@jit
def _move_one(row, step, diag, gradient, rise, fall, scores):
    """Update the gradient after beta_i += step; gains of single moves into `scores`.

    Returns the best gain and the largest violation.
    """
    vector_loop()
    zero = gradient.dtype.type(0)
    tiny = gradient.dtype.type(SMALLEST_CURVATURE)
    best, violation = zero, zero
    for k in range(gradient.shape[0]):
        updated = gradient[k] - step * row[k]
        gradient[k] = updated
        upward, downward = updated + rise[k], -updated - fall[k]
        push = upward if upward > downward else downward
        push = push if push > zero else zero
        violation = push if push > violation else violation
        curvature = diag[k] if diag[k] > tiny else tiny
        gain = push * push / curvature
        scores[k] = gain
        best = gain if gain > best else best
    return best, violation


@jit
def single_steps(matrix, gradient, beta, lower, upper, diag, rise, fall, tol, max_steps, scores):
    """As `pair_steps`, without an equality constraint: one coordinate at a time.

    Returns (steps, violation, 0, smallest curvature), so that highest - lowest is the violation.
    """
    steps, worst_curvature = 0, 1.0
    zero = gradient.dtype.type(0)
    gain, violation = _move_one(matrix[0], zero, diag, gradient, rise, fall, scores)
    while violation > tol and steps < max_steps:
        i = _index_of(scores, gain)
        worst_curvature = min(worst_curvature, np.float64(diag[i]))
        step = np.float64(gradient[i]) / max(np.float64(diag[i]), SMALLEST_CURVATURE)
        room_up, room_down = upper[i] - beta[i], lower[i] - beta[i]
        moved = min(max(step, room_down), room_up)
        beta[i] = upper[i] if step >= room_up else (lower[i] if step <= room_down else beta[i] + step)
        _set_masks(i, beta, lower, upper, rise, fall)
        gain, violation = _move_one(matrix[i], gradient.dtype.type(moved), diag, gradient, rise, fall, scores)
        steps += 1
    return steps, violation, zero, worst_curvature
