"""Statistics of all dense rows before a fit, in one pass each where NumPy takes several.

Twenty thousand images are sixty megabytes; reading them ten times, with every number copied to
double precision, took a fifth of their fit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.lasting import lasting_empty
from mercer._jit.vectors import vector_loop
from mercer._types import Array, ArrayLike, FloatArray

# As dtypes, with which another one is compared at once.
COMPILED_FOR = (np.dtype(np.float64), np.dtype(np.float32))


class Summary(NamedTuple):
    """The mean, smallest and largest value of each column, and the mean |x|^2 of the rows."""

    means: np.ndarray
    least: np.ndarray
    greatest: np.ndarray
    mean_square: float


@jit
def _add_up(X: Array, totals: Array, least: Array, greatest: Array) -> float:
    """Sums and extremes of each column; the sum of all squares."""
    vector_loop()
    squares = 0.0
    for i in range(X.shape[0]):
        row, own = X[i], 0.0
        for k in range(X.shape[1]):
            value = row[k]
            totals[k] += value
            least[k] = value if value < least[k] else least[k]
            greatest[k] = value if value > greatest[k] else greatest[k]
            own += np.float64(value) * np.float64(value)
        squares += own
    return squares


@jit
def _move(X: Array, origin: Array, out: Array) -> None:
    """out = X - origin, computed in double precision."""
    vector_loop()
    for i in range(X.shape[0]):
        row, target = X[i], out[i]
        for k in range(X.shape[1]):
            target[k] = row[k] - origin[k]


@jit
def to_scale(numbers: FloatArray, mean: float, factor: float, out: Array) -> float:
    """out = (numbers - mean) * factor, in the precision of `out`; its sum, to which NaN and infinity propagate."""
    total = 0.0
    for i in range(numbers.shape[0]):
        value = (numbers[i] - mean) * factor
        out[i] = value
        total += value
    return total


@jit
def mean_and_squares(numbers: FloatArray) -> tuple[float, float]:
    """The mean of at least one number, and the sum of squared distances from it; NaN and infinity propagate.

    The second pass corrects the first (Chan, Golub & LeVeque 1983, eq. 1.7).
    """
    n = numbers.shape[0]
    total = 0.0
    for i in range(n):
        total += numbers[i]
    mean, rest, squares = total / n, 0.0, 0.0
    for i in range(n):
        apart = numbers[i] - mean
        rest += apart
        squares += apart * apart
    return mean + rest / n, squares - rest * (rest / n)


@jit
def _square(X: Array, norms: Array) -> None:
    """norms[i] = |x_i|^2, added up in double precision."""
    vector_loop()
    for i in range(X.shape[0]):
        row, total = X[i], 0.0
        for k in range(X.shape[1]):
            total += np.float64(row[k]) * np.float64(row[k])
        norms[i] = total


def plain(X: Array) -> Array:
    """`X` in the form that compiled code takes: itself, unless its dtype or order is unusual."""
    return np.ascontiguousarray(X, X.dtype if X.dtype in COMPILED_FOR else np.float64)


def summary(X: Array) -> Summary:
    """The `Summary` of a matrix of finite numbers with at least one row."""
    X = plain(X)
    totals, least, greatest = np.zeros(X.shape[1]), X[0].copy(), X[0].copy()
    squares = _add_up(X, totals, least, greatest)
    return Summary(totals / len(X), least.astype(np.float64), greatest.astype(np.float64), squares / len(X))


def moved(X: Array, origin: ArrayLike, dtype: DTypeLike) -> Array:
    """X - origin in `dtype`."""
    out = lasting_empty(X.shape, dtype)
    _move(plain(X), np.asarray(origin, np.float64), out)
    return out


def squared_lengths(X: Array) -> FloatArray:
    """|x|^2 of each row, in double precision."""
    norms = np.empty(len(X))
    _square(plain(X), norms)
    return norms
