"""Compiled steps of sequential minimal optimisation on a working set held in memory.

Pairs (i, j) are chosen by second-order information (Fan, Chen & Lin 2005): i has the largest
gradient that may rise, j the largest guaranteed gain with it. Without an equality constraint
one coordinate moves at a time, the one of largest gain.

Cost of a step: two passes over the working set, reading two rows of its matrix (or one row and
one pass). Box membership enters as additive masks: 0 where a move is allowed, -/+ MASK where
it is not. So does a kink at zero (regression): a coordinate gains g - eps by rising from
zero or above, g + eps from below, and a step ends at the kink. A search for a maximum first finds
its value, in a loop that vectorises, and then its position; ties go to the smallest index, so
results are reproducible. Arrays are padded with entries that no mask allows.
"""

from typing import NamedTuple

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray
from mercer.solvers.dual_qp.copied_rows import CopiedRows, row_of
from mercer.solvers.tolerances import SMALLEST_CURVATURE

MASK = 1e30
# Larger gradients cannot be told from masks. They arise from an indefinite kernel in an unbounded box, and steps end
# there: the next one would move a padding entry, which has no coefficient.
DIVERGED = 0.5 * MASK
# The gain of a larger violation may be infinite in single precision, or no number at all.
NO_ROOM = 1e12
# Entries compared at once in a search: one by one, they would take as long as the rest of a step.
_AT_ONCE = 512


@jit
def _contains(values: Array, wanted: float) -> float:
    """1 if any value equals `wanted`, else 0."""
    vector_loop()
    one, found = values.dtype.type(1), values.dtype.type(0)
    for k in range(values.shape[0]):
        here = one if values[k] == wanted else values.dtype.type(0)
        found = here if here > found else found
    return found


@jit
def _first(values: Array, wanted: float) -> int:
    """The first index with the value `wanted`, or the number of values: without a branch that could be mispredicted."""
    vector_loop()
    none = np.int32(values.shape[0])
    found = none
    for k in range(values.shape[0]):
        place = np.int32(k) if values[k] == wanted else none
        found = place if place < found else found
    return int(found)


@jit
def _index_of(values: Array, wanted: float) -> int:
    """The first index with the value `wanted`."""
    start, n = 0, values.shape[0]
    while start + _AT_ONCE < n and _contains(values[start : start + _AT_ONCE], wanted) == 0:
        start += _AT_ONCE
    found = start + _first(values[start : min(start + _AT_ONCE, n)], wanted)
    return found if found < n else 0


@jit
def _move_pair(row_i: Array, row_j: Array, step: float, gradient: Array, rise: Array, scores: Array) -> float:
    """Update the gradient after beta_i += step, beta_j -= step; the largest gradient that may rise.

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
def _pair_gains(
    row: Array, diag: Array, gradient: Array, fall: Array, highest: float, own_diag: float, scores: Array
) -> tuple[float, float]:
    """Write the gain of each partner of i to `scores`; the best gain, and the smallest gradient that may fall."""
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
def _lowest(gradient: Array, fall: Array) -> int:
    """The index of the smallest gradient that may fall."""
    found, least = 0, gradient[0] + fall[0]
    for k in range(1, gradient.shape[0]):
        value = gradient[k] + fall[k]
        if value < least:
            found, least = k, value
    return found


@jit
def _partner(scores: Array, gain: float, gradient: Array, fall: Array, highest: float) -> int:
    """The coordinate of the best gain, or the lowest gradient if the gains cannot tell.

    In single precision the square of a large drop overflows and that of a small one underflows. The coordinate found
    may then gain nothing, or be unable to move, and a step with it would leave the box.
    """
    j = _index_of(scores, gain)
    return j if gradient[j] + fall[j] < highest else _lowest(gradient, fall)


@jit
def set_masks(
    k: int, beta: FloatArray, lower: FloatArray, upper: FloatArray, kink: float, rise: Array, fall: Array
) -> None:
    """The masks added to the gradient of a coordinate for rising and for falling."""
    rise[k] = (kink if beta[k] < 0.0 else -kink) if beta[k] < upper[k] else -MASK
    fall[k] = (-kink if beta[k] > 0.0 else kink) if beta[k] > lower[k] else MASK


@jit
def _end_up(beta: float, upper: float, kink: float) -> float:
    """Where a rising coordinate has to stop: at its bound, or at a kink before it."""
    return 0.0 if kink > 0.0 and beta < 0.0 else upper


@jit
def _end_down(beta: float, lower: float, kink: float) -> float:
    return 0.0 if kink > 0.0 and beta > 0.0 else lower


@jit
def _step_pair(
    entry: float,
    gradient: Array,
    beta: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    diag: Array,
    rise: Array,
    fall: Array,
    i: int,
    j: int,
) -> tuple[float, float]:
    """Move beta_i up and beta_j down by the optimal step; (step, curvature relative to the diagonal).

    `entry` is that of i and j in the matrix.
    """
    scale = np.float64(diag[i]) + np.float64(diag[j])
    curvature = scale - 2.0 * np.float64(entry)
    push = (np.float64(gradient[i]) + np.float64(rise[i])) - (np.float64(gradient[j]) + np.float64(fall[j]))
    step = push / max(curvature, SMALLEST_CURVATURE)
    end_i, end_j = _end_up(beta[i], upper[i], kink), _end_down(beta[j], lower[j], kink)
    room_i, room_j = end_i - beta[i], beta[j] - end_j
    # Rounding may reverse a tiny step.
    step = max(0.0, min(step, room_i, room_j))
    # A coordinate that reaches its bound is set to it exactly.
    beta[i] = end_i if step >= room_i else beta[i] + step
    beta[j] = end_j if step >= room_j else beta[j] - step
    set_masks(i, beta, lower, upper, kink, rise, fall)
    set_masks(j, beta, lower, upper, kink, rise, fall)
    return step, curvature / max(abs(scale), 1e-300)


@jit
def pair_steps(
    matrix: Array | CopiedRows,
    gradient: Array,
    beta: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    diag: Array,
    rise: Array,
    fall: Array,
    tol: float,
    max_steps: int,
    scores: Array,
) -> tuple[int, float, float, float]:
    """Take pair steps until the violation is at most `tol`, `max_steps` are done or the gradient diverges.

    Returns (steps, highest, lowest, smallest curvature seen relative to the diagonal).
    """
    steps, worst_curvature, last = 0, 1.0, beta.shape[0] - 1
    first = row_of(matrix, 0)
    highest = _move_pair(first, first, gradient.dtype.type(0), gradient, rise, scores)
    while True:
        # If nothing may rise and gradients are as large as the mask, the highest score is that of the padding.
        i = min(_index_of(scores, highest), last)
        gain, lowest = _pair_gains(row_of(matrix, i), diag, gradient, fall, highest, diag[i], scores)
        has_diverged = not (abs(highest) < DIVERGED and abs(lowest) < DIVERGED)
        if highest - lowest <= tol or steps >= max_steps or has_diverged:
            return steps, highest, lowest, worst_curvature
        j = _partner(scores, gain, gradient, fall, highest)
        entry = row_of(matrix, i)[j]
        step, curvature = _step_pair(entry, gradient, beta, lower, upper, kink, diag, rise, fall, i, j)
        worst_curvature = min(worst_curvature, curvature)
        highest = _move_pair(row_of(matrix, i), row_of(matrix, j), gradient.dtype.type(step), gradient, rise, scores)
        steps += 1


@jit
def _best_partner(
    matrix: Array, gradient: Array, diag: Array, fall: Array, scores: Array, begin: int, end: int, highest: float
) -> tuple[int, float, float]:
    """(i, gain, lowest) of the group begin..end whose largest gradient that may rise is `highest`."""
    if not highest > -MASK:  # nothing of the group may rise, or none of it is here
        return 0, gradient.dtype.type(0), gradient.dtype.type(2.0 * MASK)
    i = begin + _index_of(scores[begin:end], highest)
    gain, lowest = _pair_gains(
        matrix[i][begin:end],
        diag[begin:end],
        gradient[begin:end],
        fall[begin:end],
        highest,
        diag[i],
        scores[begin:end],
    )
    return i, gain, lowest


class Groups(NamedTuple):
    """Two groups, 0..split and split.., with the highest and lowest gradient of each in `extremes` (2, 2)."""

    split: int
    extremes: np.ndarray


@jit
def grouped_pair_steps(
    matrix: Array,
    gradient: Array,
    beta: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    kink: float,
    diag: Array,
    rise: Array,
    fall: Array,
    groups: Groups,
    tol: float,
    max_steps: int,
    scores: Array,
) -> tuple[int, float, float, float]:
    """`pair_steps` for two `Groups` with fixed sums: both ends of a pair are in one group. `bounds` is (lower, upper).

    Returns (steps, violation, 0, smallest curvature).
    """
    (lower, upper), split, extremes = bounds, groups.split, groups.extremes
    width, zero = gradient.shape[0], gradient.dtype.type(0)
    steps, worst_curvature, row_i, row_j, step = 0, 1.0, 0, 0, zero
    while True:
        first, second = matrix[row_i], matrix[row_j]
        high_0 = _move_pair(first[:split], second[:split], step, gradient[:split], rise[:split], scores[:split])
        high_1 = _move_pair(first[split:], second[split:], step, gradient[split:], rise[split:], scores[split:])
        i_0, gain_0, low_0 = _best_partner(matrix, gradient, diag, fall, scores, 0, split, high_0)
        i_1, gain_1, low_1 = _best_partner(matrix, gradient, diag, fall, scores, split, width, high_1)
        open_0, open_1 = high_0 - low_0, high_1 - low_1
        violation = max(open_0, open_1)
        if violation <= tol or steps >= max_steps or not violation < DIVERGED:
            extremes[0, 0], extremes[0, 1] = high_0, low_0
            extremes[1, 0], extremes[1, 1] = high_1, low_1
            return steps, violation, zero, worst_curvature
        if gain_0 > gain_1 or (gain_0 == gain_1 and open_0 >= open_1):
            row_i, row_j = i_0, _partner(scores[:split], gain_0, gradient[:split], fall[:split], high_0)
        else:
            row_i, row_j = i_1, split + _partner(scores[split:], gain_1, gradient[split:], fall[split:], high_1)
        entry = matrix[row_i][row_j]
        moved, curvature = _step_pair(entry, gradient, beta, lower, upper, kink, diag, rise, fall, row_i, row_j)
        worst_curvature = min(worst_curvature, curvature)
        step = gradient.dtype.type(moved)
        steps += 1


@jit
def _move_one(
    row: Array, step: float, diag: Array, gradient: Array, rise: Array, fall: Array, scores: Array
) -> tuple[float, float]:
    """Update the gradient after beta_i += step; write the gains of single moves to `scores`.

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
def _most_pushed(gradient: Array, rise: Array, fall: Array) -> int:
    """The index of the largest violation."""
    found, most = 0, gradient.dtype.type(0)
    for k in range(gradient.shape[0]):
        push = max(gradient[k] + rise[k], -gradient[k] - fall[k])
        if push > most:
            found, most = k, push
    return found


@jit
def single_steps(
    matrix: Array,
    gradient: Array,
    beta: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    diag: Array,
    rise: Array,
    fall: Array,
    tol: float,
    max_steps: int,
    scores: Array,
) -> tuple[int, float, float, float]:
    """`pair_steps` without an equality constraint: one coordinate at a time.

    Returns (steps, violation, 0, smallest curvature), so that highest - lowest is the violation.
    """
    steps, worst_curvature = 0, 1.0
    zero = gradient.dtype.type(0)
    gain, violation = _move_one(matrix[0], zero, diag, gradient, rise, fall, scores)
    while tol < violation < DIVERGED and steps < max_steps:
        i = _index_of(scores, gain)
        if violation > NO_ROOM or not max(gradient[i] + rise[i], -gradient[i] - fall[i]) > zero:
            i = _most_pushed(gradient, rise, fall)  # as in `_partner`
        worst_curvature = min(worst_curvature, np.float64(diag[i]))
        upward, downward = np.float64(gradient[i]) + rise[i], np.float64(gradient[i]) + fall[i]
        step = (upward if upward > -downward else downward) / max(np.float64(diag[i]), SMALLEST_CURVATURE)
        end_up, end_down = _end_up(beta[i], upper[i], kink), _end_down(beta[i], lower[i], kink)
        room_up, room_down = end_up - beta[i], end_down - beta[i]
        moved = min(max(step, room_down), room_up)
        beta[i] = end_up if step >= room_up else (end_down if step <= room_down else beta[i] + step)
        set_masks(i, beta, lower, upper, kink, rise, fall)
        gain, violation = _move_one(matrix[i], gradient.dtype.type(moved), diag, gradient, rise, fall, scores)
        steps += 1
    return steps, violation, zero, worst_curvature
