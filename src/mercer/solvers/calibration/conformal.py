"""Which answers a conformal predictor cannot rule out: ranks among the scores of left-out rows.

A score says how badly an answer suits a row; larger is worse. Among the scores of m rows that are exchangeable
with a new one, that of its true answer has every rank with the same probability, so it is at most the
ceil(c (m + 1))-th smallest with probability c or more (Vovk, Gammerman & Shafer 2005; Lei et al. 2018). With one
model per fold, a new row is scored by the model that has not seen the row it is compared with: CV+ and the
jackknife+ (Barber et al. 2021), and for classes Romano, Sesia & Candès (2020).

Cost: a sort of the scores, and for each new row a binary search in each fold, or for quantities a pass over the scores.
"""

import math
from fractions import Fraction

import numpy as np

from mercer._types import BoolArray, FloatArray, IndexArray

# Entries processed together where each new row has its own bounds.
_STRETCH = 2**22


def rank_of(coverage: float, m: int) -> int:
    """The rank of the largest score that conforms, among m: ceil(c (m + 1)); above m, nothing is ruled out.

    Examples
    --------
    >>> from mercer.solvers.calibration.conformal import rank_of
    >>> rank_of(0.9, 99), rank_of(0.9, 8)
    (90, 9)
    """
    # From the decimal as typed: 0.55 * 100 exceeds 55 in double precision.
    return math.ceil(Fraction(repr(float(coverage))) * (m + 1))


def bounds(
    values: FloatArray, columns: IndexArray, residuals: FloatArray, coverage: float
) -> tuple[FloatArray, FloatArray]:
    """(lower, upper) ends of intervals, infinite where there are too few residuals.

    Parameters
    ----------
    values : ndarray (n, k)
        The predictions of k machines for each new row.
    columns : ndarray of int (m,)
        The machine that has not seen a row left out.
    residuals : ndarray (m,)
        How far that machine is from the target of that row.
    coverage : float
        Above 0 and below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.calibration.conformal import bounds
    >>> residuals = np.array([0.5, 0.1, 0.3, 0.2])
    >>> low, high = bounds(np.array([[10.0]]), np.zeros(4, int), residuals, coverage=0.6)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([9.7], [10.3])
    """
    n, m = len(values), len(residuals)
    rank = rank_of(coverage, m)
    if rank > m:
        return np.full(n, -np.inf), np.full(n, np.inf)
    lower, upper = np.empty(n), np.empty(n)
    for begin in range(0, n, max(1, _STRETCH // m)):
        rows = slice(begin, begin + max(1, _STRETCH // m))
        own = values[rows][:, columns]
        lower[rows] = np.partition(own - residuals, m - rank, axis=1)[:, m - rank]
        upper[rows] = np.partition(own + residuals, rank - 1, axis=1)[:, rank - 1]
    return lower, upper


def conforms(candidates: FloatArray, columns: IndexArray, scores: FloatArray, coverage: float) -> BoolArray:
    """Whether an answer is in the set: fewer than c (m + 1) rows left out have a smaller score.

    Parameters
    ----------
    candidates : ndarray (n, k)
        The score of the answer for each new row, by each of k machines.
    columns, scores, coverage
        As for `bounds`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.calibration.conformal import conforms
    >>> scores = np.array([0.5, 0.1, 0.3, 0.2])
    >>> conforms(np.array([[0.25], [0.3], [0.31]]), np.zeros(4, int), scores, coverage=0.6).tolist()
    [True, True, False]
    """
    smaller = np.zeros(len(candidates), np.intp)
    for k in np.unique(columns):
        smaller += np.searchsorted(np.sort(scores[columns == k]), candidates[:, k], side="left")
    return smaller < rank_of(coverage, len(scores))


def adaptive_scores(probabilities: FloatArray) -> FloatArray:
    """The probability of a class and of all that are more probable, for each row and class (Romano et al. 2020).

    Without their random number: a set is then a little larger than it must be where few rows were left out, and the
    same each time.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.calibration.conformal import adaptive_scores
    >>> adaptive_scores(np.array([[0.25, 0.625, 0.125]])).tolist()
    [[0.875, 0.625, 1.0]]
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, sums, axis=1)
    return scores
