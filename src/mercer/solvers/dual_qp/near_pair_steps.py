"""Pair steps that read only the entries of the matrix that are not nearly zero (`NearRows`).

A step is chosen as in `pair_steps`: the best partner among those that are not near is the one of the lowest gradient.
Cost of a step: one pass over the coordinates, and the near entries of two rows.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray
from mercer.kernels.gram.near_rows import NearRows
from mercer.solvers.dual_qp.pair_steps import DIVERGED, MASK, _index_of, _step_pair
from mercer.solvers.tolerances import SMALLEST_CURVATURE


@jit
def _extremes(gradient: Array, rise: Array, fall: Array, upward: Array, downward: Array) -> tuple[float, float]:
    """Write the gradient where it may rise and where it may fall; the largest of the one, the smallest of the other."""
    vector_loop()
    highest, lowest = gradient.dtype.type(-2.0 * MASK), gradient.dtype.type(2.0 * MASK)
    for k in range(gradient.shape[0]):
        up, down = gradient[k] + rise[k], gradient[k] + fall[k]
        upward[k], downward[k] = up, down
        highest = up if up > highest else highest
        lowest = down if down < lowest else lowest
    return highest, lowest


@jit
def _entry(rows: NearRows, i: int, j: int) -> float:
    """The entry of two rows; zero if they are not near."""
    found = rows.entries.dtype.type(0)
    for p in range(np.uint64(rows.begins[i]), np.uint64(rows.begins[i + 1])):
        if rows.columns[p] == j:
            found = rows.entries[p]
    return found


@jit
def _best_partner(rows: NearRows, downward: Array, diag: Array, highest: float, i: int, far: int) -> tuple[int, float]:
    """(the partner of i, their entry): the row near to i of the largest gain, or `far`, of the lowest gradient."""
    tiny, zero = diag.dtype.type(SMALLEST_CURVATURE), diag.dtype.type(0)
    j, entry, most = far, _entry(rows, i, far), highest - downward[far]
    best, least = most * most, max(diag[i] + diag[j] - (entry + entry), tiny)
    for p in range(np.uint64(rows.begins[i]), np.uint64(rows.begins[i + 1])):
        k = rows.columns[p]
        drop = max(highest - downward[k], zero)
        curvature = max(diag[i] + diag[k] - (rows.entries[p] + rows.entries[p]), tiny)
        # The gain, drop^2 / curvature, is larger: compared without a division.
        if drop * drop * least > best * curvature:
            j, entry, best, least = k, rows.entries[p], drop * drop, curvature
    return j, entry


@jit
def _add_row(rows: NearRows, i: int, step: float, gradient: Array) -> None:
    for p in range(np.uint64(rows.begins[i]), np.uint64(rows.begins[i + 1])):
        gradient[rows.columns[p]] += step * rows.entries[p]


@jit
def near_pair_steps(
    rows: NearRows,
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
    """As `pair_steps`, of which it returns the same."""
    steps, worst_curvature, last = 0, 1.0, beta.shape[0] - 1
    downward = np.empty_like(scores)
    while True:
        highest, lowest = _extremes(gradient, rise, fall, scores, downward)
        has_diverged = not (abs(highest) < DIVERGED and abs(lowest) < DIVERGED)
        if highest - lowest <= tol or steps >= max_steps or has_diverged:
            return steps, highest, lowest, worst_curvature
        i = min(_index_of(scores, highest), last)
        far = min(_index_of(downward, lowest), last)
        j, entry = _best_partner(rows, downward, diag, highest, i, far)
        moved, curvature = _step_pair(entry, gradient, beta, lower, upper, kink, diag, rise, fall, i, j)
        worst_curvature = min(worst_curvature, curvature)
        step = gradient.dtype.type(moved)
        gradient[i] -= step * diag[i]
        gradient[j] += step * diag[j]
        steps += 1
        _add_row(rows, i, -step, gradient)
        _add_row(rows, j, step, gradient)
