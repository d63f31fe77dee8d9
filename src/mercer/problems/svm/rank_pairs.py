"""Sums over pairs of rows that are to be ordered, without a list of the pairs.

Row i is to come before row j where both belong to one query and i has the higher grade. A pair is
*active* where :math:`f_i - f_j` falls short of a margin. What a solver needs of the pairs are sums of
some values over the active partners of each row, better and worse ones apart. Rows sorted by f and
a Fenwick tree over the grades give all of them in n log n steps and linear memory, however many
pairs there are (Airola, Pahikkala & Salakoski 2011; Lee & Lin 2014).
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array, FloatArray, IndexArray


@jit
def _sweep(
    order: IndexArray,
    edges: IndexArray,
    f: FloatArray,
    grades: IndexArray,
    sign: float,
    margin: float,
    values: FloatArray,
    out: FloatArray,
) -> None:
    """out[i] = sum of values[j] over the active partners j of i with a lower grade than i.

    `order` has the rows of each query by falling sign * f; `edges` says where queries begin; grades are
    1, 2, ... within a query. With sign = -1 and grades reversed the partners are the better ones.
    """
    n_values, largest = values.shape[1], 0
    for i in range(grades.shape[0]):
        largest = max(largest, grades[i])
    tree = np.zeros((largest + 1, n_values))
    for q in range(edges.shape[0] - 1):
        begin, end = edges[q], edges[q + 1]
        highest = 0
        for k in range(begin, end):
            highest = max(highest, grades[order[k]])
        tree[: highest + 1] = 0.0
        added = begin
        for k in range(begin, end):
            i = order[k]
            while added < end and sign * (f[i] - f[order[added]]) < margin:
                j = order[added]
                g = grades[j]
                while g <= highest:
                    for m in range(n_values):
                        tree[g, m] += values[j, m]
                    g += g & -g
                added += 1
            for m in range(n_values):
                out[i, m] = 0.0
            g = grades[i] - 1
            while g > 0:
                for m in range(n_values):
                    out[i, m] += tree[g, m]
                g -= g & -g


class GradedPairs:
    """All pairs of rows of one query with different grades.

    Parameters
    ----------
    y : ndarray (n,)
        Grades: higher comes first.
    queries : ndarray of int (n,)
        Which query each row belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems.svm.rank_pairs import GradedPairs
    >>> pairs = GradedPairs(np.array([2.0, 1.0, 1.0]), np.zeros(3, int))
    >>> worse, better = pairs.active(np.array([0.0, 0.5, -3.0]), margin=1.0).sums(np.ones((3, 1)))
    >>> worse[:, 0], better[:, 0]
    (array([1., 0., 0.]), array([0., 1., 0.]))
    """

    def __init__(self, y: FloatArray, queries: IndexArray) -> None:
        by_query = np.lexsort((y, queries))
        self.queries = queries
        own = queries[by_query]
        starts = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]]))
        self.edges = np.concatenate([starts, [len(y)]]).astype(np.int64)
        risen = np.concatenate([[True], (y[by_query][1:] != y[by_query][:-1]) | (own[1:] != own[:-1])])
        count = np.cumsum(risen)
        lengths = np.diff(self.edges)
        levels = count - np.repeat(count[starts] - 1, lengths)
        self.grades = np.empty(len(y), np.int64)
        self.grades[by_query] = levels
        tops = np.empty(len(y), np.int64)
        tops[by_query] = np.repeat(levels[self.edges[1:] - 1], lengths)
        self.reversed = tops + 1 - self.grades

    def active(self, f: FloatArray, margin: float = 1.0) -> "_ActiveGrades":
        """The pairs whose f_i - f_j is below `margin`."""
        return _ActiveGrades(self, f, margin)


class _ActiveGrades:
    def __init__(self, pairs: GradedPairs, f: FloatArray, margin: float) -> None:
        self.pairs, self.f, self.margin = pairs, np.ascontiguousarray(f, dtype=np.float64), margin
        self._falling = np.lexsort((-self.f, pairs.queries))
        self._rising = np.lexsort((self.f, pairs.queries))

    def sums(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(over worse partners, over better partners) of each row, shape (n, m) each."""
        pairs, values = self.pairs, np.ascontiguousarray(values, dtype=np.float64)
        worse, better = np.empty_like(values), np.empty_like(values)
        _sweep(self._falling, pairs.edges, self.f, pairs.grades, 1.0, self.margin, values, worse)
        _sweep(self._rising, pairs.edges, self.f, pairs.reversed, -1.0, self.margin, values, better)
        return worse, better


class GivenPairs:
    """Pairs that somebody listed: row better[k] is to come before row worse[k]."""

    def __init__(self, better: IndexArray, worse: IndexArray) -> None:
        self.better, self.worse = better, worse

    def active(self, f: FloatArray, margin: float = 1.0) -> "_ActiveList":
        """As `GradedPairs.active`."""
        chosen = f[self.better] - f[self.worse] < margin
        return _ActiveList(self.better[chosen], self.worse[chosen], len(f))


class _ActiveList:
    def __init__(self, better: IndexArray, worse: IndexArray, n: int) -> None:
        self.better, self.worse, self.n = better, worse, n

    def sums(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        def summed(at: IndexArray, partners: IndexArray) -> Array:
            return np.stack([np.bincount(at, column[partners], minlength=self.n) for column in values.T], axis=1)

        return summed(self.better, self.worse), summed(self.worse, self.better)
