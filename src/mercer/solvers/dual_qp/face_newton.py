"""Newton steps on the face of the box that contains the free coordinates.

Pair steps are slow if the matrix is badly conditioned (unscaled features, very large C). With
the bounded coordinates fixed, the free ones solve a linear system; the step towards its
solution ends where the first of them meets a bound, which then leaves the face.

Cost of a step: f^3/3 for f free coordinates. Used only when pair steps have stopped helping.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dposv

from mercer._types import Array, FloatArray, IndexArray

LARGEST_FACE = 1000
MOST_STEPS = 50
# Ridge relative to the mean of the diagonal: a kernel with few features is singular.
JITTER = 1e-13


def newton_on_face(
    values: Array,
    gradient: Array,
    beta: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    has_equality: bool,
    stop: Callable[[], bool],
) -> float:
    """Move the free coordinates to the optimum of their face, or to its boundary.

    `beta` and the padded `gradient` are updated; `stop` is called between steps. Returns the increase of the dual.
    """
    gain = 0.0
    for _ in range(MOST_STEPS):
        free = np.flatnonzero((beta > lower) & (beta < upper))
        if not 1 < len(free) <= LARGEST_FACE or stop():
            return gain
        direction = _direction(values[np.ix_(free, free)].astype(np.float64), gradient[free], has_equality)
        if direction is None:
            return gain
        start, slope = beta[free], gradient[free].astype(np.float64)
        length = _advance(beta, lower, upper, free, direction)
        step = beta[free] - start
        gradient -= (step @ values[free]).astype(gradient.dtype)
        gain += 0.5 * float(step @ (slope + gradient[free]))
        if length == 1.0:
            return gain
    return gain


def _direction(matrix: FloatArray, gradient: Array, has_equality: bool) -> FloatArray | None:
    """Solution of K d = g (minus a constant, so that d sums to zero), or None."""
    matrix.flat[:: len(matrix) + 1] += JITTER * np.abs(matrix.diagonal()).mean()
    sides = np.ones((len(matrix), 1 + has_equality), order="F")
    sides[:, 0] = gradient
    # Factors and solves in one call; the matrix is symmetric, so its memory order does not matter.
    _, solved, failure = dposv(matrix.T, sides, lower=True, overwrite_a=True, overwrite_b=True)
    if failure:
        return None
    direction = solved[:, 0]
    if has_equality:
        ones = solved[:, 1]
        direction -= ones * (direction.sum() / ones.sum())
        direction -= direction.mean()
    return direction if np.isfinite(direction).all() else None


def _advance(beta: FloatArray, lower: FloatArray, upper: FloatArray, free: IndexArray, direction: FloatArray) -> float:
    """Move along `direction` as far as the box allows, at most a full step; the fraction taken."""
    room = np.where(direction > 0, upper[free] - beta[free], lower[free] - beta[free])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lengths = np.where(direction != 0, room / direction, np.inf)
    first = int(np.argmin(lengths))
    length = float(min(1.0, lengths[first]))
    beta[free] = np.clip(beta[free] + length * direction, lower[free], upper[free])
    if length < 1.0:
        beta[free[first]] = upper[free[first]] if direction[first] > 0 else lower[free[first]]
    return length
