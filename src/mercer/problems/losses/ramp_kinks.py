r"""Concave kinks of the ramp loss, and whether a point on one is a minimum.

The ramp is the smaller of a constant and a hinge, so the ramp objective J is the smallest of many convex
functions, one for each set of rows treated as outliers. If a margin is exactly at s, the row may be
counted either way, and several of these functions touch J. A point is stationary only if it minimises each of
them: a point between two slopes that both lead down is a minimum of neither, and may be a local maximum of J.

At margin s < 1 a row that is not an outlier has the coefficient :math:`y_i C_i`, an outlier has 0. So a row that
changes sides moves the gradient by :math:`C_i\psi(x_i)`. Only rows with a margin of exactly 1, whose coefficients may
be anywhere in their box, can compensate for that. What they leave is the length of the shortest gradient on
the other side, which is the steepest slope down there: a bounded least squares problem.
"""

from itertools import chain, combinations

import numpy as np
from scipy.optimize import lsq_linear

from mercer._types import BoolArray, FloatArray

# Up to this many rows at a kink, all combinations of sides are tried; otherwise each row alone, and all of them.
MOST_COMBINED, MOST_ALONE = 4, 100
# Rows at a margin of 1 that may compensate for a change of sides: more are left out, which errs on the safe side.
MOST_AT_MARGIN = 300


def changes_of_side(places: list[int], outliers: BoolArray) -> list[list[int]]:
    """Sets of the rows at `places` that change sides together, the smallest sets first."""
    if len(places) <= MOST_COMBINED:
        return [list(some) for some in chain(*(combinations(places, k + 1) for k in range(len(places))))]
    whole = [[i for i in places if not outliers[i]], [i for i in places if outliers[i]], list(places)]
    return [*([i] for i in places[:MOST_ALONE]), *(some for some in whole if len(some) > 1)]


def steepest_slope(gram: FloatArray, moved: FloatArray, room: tuple[FloatArray, FloatArray]) -> float:
    """The length of the shortest gradient, as a fraction of the largest that the rows changing sides could cause.

    Parameters
    ----------
    gram : ndarray (m + k, m + k)
        Kernel values, with 1 added for a bias, of the m rows on the margin and the k that change sides.
    moved : ndarray (k,)
        By how much the coefficients of the latter change.
    room : (ndarray (m,), ndarray (m,))
        How far the coefficients of the former may fall and rise; the first is nonpositive.
    """
    m, largest = len(room[0]), float(np.max(np.abs(moved) * np.sqrt(np.maximum(gram.diagonal()[len(room[0]) :], 0.0))))
    if largest == 0.0:
        return 0.0
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    short = root[:, m:] @ moved
    free = np.flatnonzero(room[1] > room[0])
    if len(free):
        found = lsq_linear(root[:, free], -short, (room[0][free], room[1][free]), method="bvls")
        return float(np.sqrt(2.0 * max(found.cost, 0.0))) / largest
    return float(np.linalg.norm(short)) / largest
