"""Compiled steps of sequential minimal optimisation on a working set held in memory.

Pairs (i, j) are chosen by second-order information (Fan, Chen & Lin 2005): i has the largest
gradient that may rise, j the largest guaranteed gain with it. Without an equality constraint
one coordinate moves at a time, the one of largest gain.

Cost of a step: two passes over one row of the working set's matrix (pairs: three rows read).
LLVM does not vectorise a maximum carried through a loop, so each search keeps LANES partial
maxima and folds them at the end. Box membership enters as additive masks: 0 where a move is
allowed, -/+ MASK where it is not. Arrays are padded to a multiple of LANES with entries that
no mask allows.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer.kernels.matrix import LANES

MASK = 1e30
# Curvature below this is treated as this (LIBSVM's tau), so that a step is never infinite.
SMALLEST_CURVATURE = 1e-12


@jit
def _fold(best, block):
    """Index of the best lane; ties go to the smallest position, so results are reproducible."""
    winner = 0
    for lane in range(1, LANES):
        if best[lane] > best[winner] or (best[lane] == best[winner] and block[lane] < block[winner]):
            winner = lane
    return winner


@jit
def _highest(gradient, rise, best, block):
    """Position and value of the largest gradient that may rise."""
    for lane in range(LANES):
        best[lane] = gradient[lane] + rise[lane]
        block[lane] = 0
    for k in range(1, gradient.shape[0] // LANES):
        start = k * LANES
        for lane in range(LANES):
            value = gradient[start + lane] + rise[start + lane]
            better = value > best[lane]
            best[lane] = value if better else best[lane]
            block[lane] = k if better else block[lane]
    winner = _fold(best, block)
    return block[winner] * LANES + winner, best[winner]


@jit
def _partner(row, diag, gradient, fall, highest, own_diag, best, block, least):
    """The j of largest gain with i, and the smallest gradient that may fall."""
    zero = best.dtype.type(0)
    two = best.dtype.type(2)
    tiny = best.dtype.type(SMALLEST_CURVATURE)
    for lane in range(LANES):
        best[lane] = zero
        block[lane] = 0
        least[lane] = gradient[lane] + fall[lane]
    for k in range(gradient.shape[0] // LANES):
        start = k * LANES
        for lane in range(LANES):
            value = gradient[start + lane] + fall[start + lane]
            least[lane] = value if value < least[lane] else least[lane]
            drop = highest - value
            drop = drop if drop > zero else zero
            curvature = own_diag + diag[start + lane] - two * row[start + lane]
            curvature = curvature if curvature > tiny else tiny
            gain = drop * drop / curvature
            better = gain > best[lane]
            best[lane] = gain if better else best[lane]
            block[lane] = k if better else block[lane]
    winner = _fold(best, block)
    lowest = least[0]
    for lane in range(1, LANES):
        lowest = least[lane] if least[lane] < lowest else lowest
    return block[winner] * LANES + winner, lowest


@jit
def _move_pair(row_i, row_j, step, gradient, rise, best, block):
    """Update the gradient after beta_i += step, beta_j -= step; find the next i."""
    for lane in range(LANES):
        best[lane] = best.dtype.type(-2.0 * MASK)
        block[lane] = 0
    for k in range(gradient.shape[0] // LANES):
        start = k * LANES
        for lane in range(LANES):
            updated = gradient[start + lane] - step * (row_i[start + lane] - row_j[start + lane])
            gradient[start + lane] = updated
            value = updated + rise[start + lane]
            better = value > best[lane]
            best[lane] = value if better else best[lane]
            block[lane] = k if better else block[lane]
    winner = _fold(best, block)
    return block[winner] * LANES + winner, best[winner]


@jit
def _set_masks(k, beta, lower, upper, rise, fall):
    rise[k] = 0.0 if beta[k] < upper[k] else -MASK
    fall[k] = 0.0 if beta[k] > lower[k] else MASK


@jit
def pair_steps(matrix, gradient, beta, lower, upper, diag, rise, fall, tol, max_steps, best, block, least):
    """Take pair steps until the violation is at most `tol` or `max_steps` are done.

    Returns (steps, highest, lowest, smallest curvature seen, relative to the diagonal).
    """
    steps = 0
    worst_curvature = 1.0
    i, highest = _highest(gradient, rise, best, block)
    while True:
        j, lowest = _partner(matrix[i], diag, gradient, fall, highest, diag[i], best, block, least)
        if highest - lowest <= tol or steps >= max_steps:
            return steps, highest, lowest, worst_curvature
        scale = np.float64(diag[i]) + np.float64(diag[j])
        curvature = scale - 2.0 * np.float64(matrix[i, j])
        if curvature < worst_curvature * abs(scale):
            worst_curvature = curvature / max(abs(scale), 1e-300)
        curvature = max(curvature, SMALLEST_CURVATURE)
        step = (np.float64(gradient[i]) - np.float64(gradient[j])) / curvature
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        step = min(step, room_i, room_j)
        # A coordinate that reaches its bound is set to it exactly.
        beta[i] = upper[i] if step >= room_i else beta[i] + step
        beta[j] = lower[j] if step >= room_j else beta[j] - step
        _set_masks(i, beta, lower, upper, rise, fall)
        _set_masks(j, beta, lower, upper, rise, fall)
        i, highest = _move_pair(matrix[i], matrix[j], gradient.dtype.type(step), gradient, rise, best, block)
        steps += 1


@jit
def _move_one(row, step, diag, gradient, rise, fall, best, block, most):
    """Update the gradient after beta_i += step; find the coordinate of largest gain."""
    zero = best.dtype.type(0)
    tiny = best.dtype.type(SMALLEST_CURVATURE)
    for lane in range(LANES):
        best[lane] = best.dtype.type(-1.0)
        block[lane] = 0
        most[lane] = zero
    for k in range(gradient.shape[0] // LANES):
        start = k * LANES
        for lane in range(LANES):
            updated = gradient[start + lane] - step * row[start + lane]
            gradient[start + lane] = updated
            upward = updated + rise[start + lane]
            downward = -updated - fall[start + lane]
            push = upward if upward > downward else downward
            push = push if push > zero else zero
            most[lane] = push if push > most[lane] else most[lane]
            curvature = diag[start + lane] if diag[start + lane] > tiny else tiny
            gain = push * push / curvature
            better = gain > best[lane]
            best[lane] = gain if better else best[lane]
            block[lane] = k if better else block[lane]
    winner = _fold(best, block)
    violation = most[0]
    for lane in range(1, LANES):
        violation = most[lane] if most[lane] > violation else violation
    return block[winner] * LANES + winner, violation


@jit
def single_steps(matrix, gradient, beta, lower, upper, diag, rise, fall, tol, max_steps, best, block, most):
    """As `pair_steps`, without an equality constraint: one coordinate at a time.

    Returns (steps, violation, 0, smallest curvature), so that highest - lowest is the violation.
    """
    steps = 0
    zero = gradient.dtype.type(0)
    worst_curvature = 1.0
    i, violation = _move_one(matrix[0], zero, diag, gradient, rise, fall, best, block, most)
    while violation > tol and steps < max_steps:
        worst_curvature = min(worst_curvature, np.float64(diag[i]))
        curvature = max(np.float64(diag[i]), SMALLEST_CURVATURE)
        step = np.float64(gradient[i]) / curvature
        room_up, room_down = upper[i] - beta[i], lower[i] - beta[i]
        moved = min(max(step, room_down), room_up)
        beta[i] = upper[i] if step >= room_up else (lower[i] if step <= room_down else beta[i] + step)
        _set_masks(i, beta, lower, upper, rise, fall)
        i, violation = _move_one(
            matrix[i], gradient.dtype.type(moved), diag, gradient, rise, fall, best, block, most
        )
        steps += 1
    return steps, violation, zero, worst_curvature
