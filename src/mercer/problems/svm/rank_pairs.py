r"""Sums over pairs of rows to be ordered, without a list of the pairs.

Row i should come before row j if both belong to one query and i has the higher grade. A pair is
*active* if :math:`f_i - f_j` falls short of a margin. A solver needs sums of
some values over the active partners of each row, better and worse ones separately. Rows sorted by f and
a Fenwick tree over the grades give all of them in n log n steps and linear memory, however many
pairs there are (Airola, Pahikkala & Salakoski 2011; Lee & Lin 2014).

The squares by which pairs fall short come from such sums too, as :math:`\sum_j u_j (c + f_j)^2` with
:math:`c = 1 - f_i`. If heavy rows fall short by little, their terms cancel to the last digit; so these sums are
carried in pairs of numbers, the second of which has what was rounded off the first (Dekker 1971).
"""

from typing import cast

import numpy as np

from mercer._jit.compile import jit, jit_in_order
from mercer._types import Array, FloatArray, IndexArray

# Halves of a number have this many bits fewer.
_SPLIT = 2.0**27 + 1.0


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


@jit_in_order
def _sum(a: float, b: float) -> tuple[float, float]:
    """a + b and its rounding error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@jit_in_order
def _product(a: float, b: float) -> tuple[float, float]:
    """a b and its rounding error."""
    p, x, y = a * b, _SPLIT * a, _SPLIT * b
    a_high, b_high = x - (x - a), y - (y - b)
    a_low, b_low = a - a_high, b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@jit_in_order
def _times(high: float, low: float, factor: float, factor_low: float) -> tuple[float, float]:
    """(high + low) (factor + factor_low), as such a pair."""
    p, rest = _product(high, factor)
    return _sum(p, rest + (high * factor_low + low * factor))


@jit_in_order
def _squares(
    order: IndexArray,
    edges: IndexArray,
    f: FloatArray,
    grades: IndexArray,
    margin: float,
    weights: FloatArray,
    out: FloatArray,
) -> None:
    """out[i] = sum of weights[j] (1 - f_i + f_j)^2 over the active partners j of i with a lower grade than i.

    As `_sweep`, with sign = 1. The tree has sums of u, u f and u f^2, each in two numbers.
    """
    largest = 0
    for i in range(grades.shape[0]):
        largest = max(largest, grades[i])
    tree = np.zeros((largest + 1, 3, 2))
    added_terms, found = np.zeros((3, 2)), np.zeros((3, 2))
    for q in range(edges.shape[0] - 1):
        begin, end = edges[q], edges[q + 1]
        highest = 0
        for k in range(begin, end):
            highest = max(highest, grades[order[k]])
        tree[: highest + 1] = 0.0
        added = begin
        for k in range(begin, end):
            i = order[k]
            while added < end and f[i] - f[order[added]] < margin:
                j = order[added]
                added_terms[0, 0], added_terms[0, 1] = weights[j], 0.0
                for m in range(1, 3):
                    high, low = _times(added_terms[m - 1, 0], added_terms[m - 1, 1], f[j], 0.0)
                    added_terms[m, 0], added_terms[m, 1] = high, low
                g = grades[j]
                while g <= highest:
                    for m in range(3):
                        high, rest = _sum(tree[g, m, 0], added_terms[m, 0])
                        tree[g, m, 0] = high
                        tree[g, m, 1] += rest + added_terms[m, 1]
                    g += g & -g
                added += 1
            found[:] = 0.0
            g = grades[i] - 1
            while g > 0:
                for m in range(3):
                    high, rest = _sum(found[m, 0], tree[g, m, 0])
                    found[m, 0] = high
                    found[m, 1] += rest + tree[g, m, 1]
                g -= g & -g
            # (c S_0 + 2 S_1) c + S_2
            c, c_low = _sum(1.0, -f[i])
            high, low = _times(found[0, 0], found[0, 1], c, c_low)
            high, rest = _sum(high, 2.0 * found[1, 0])
            high, low = _times(high, rest + low + 2.0 * found[1, 1], c, c_low)
            high, rest = _sum(high, found[2, 0])
            out[i] = max(0.0, high + (rest + low + found[2, 1]))


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

    def squares(self, weights: FloatArray) -> FloatArray:
        """For each row, the squares by which active pairs fall short of 1, weighted by their worse rows."""
        out, weights = np.empty(len(self.f)), np.ascontiguousarray(weights, dtype=np.float64)
        _squares(self._falling, self.pairs.edges, self.f, self.pairs.grades, self.margin, weights, out)
        return out


class GivenPairs:
    """Listed pairs: row better[k] should come before row worse[k]."""

    def __init__(self, better: IndexArray, worse: IndexArray) -> None:
        self.better, self.worse = better, worse

    def active(self, f: FloatArray, margin: float = 1.0) -> "_ActiveList":
        """As `GradedPairs.active`."""
        chosen = f[self.better] - f[self.worse] < margin
        return _ActiveList(self.better[chosen], self.worse[chosen], f)


class _ActiveList:
    def __init__(self, better: IndexArray, worse: IndexArray, f: FloatArray) -> None:
        self.better, self.worse, self.f, self.n = better, worse, f, len(f)

    def sums(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        def summed(at: IndexArray, partners: IndexArray) -> Array:
            return np.stack([np.bincount(at, column[partners], minlength=self.n) for column in values.T], axis=1)

        return summed(self.better, self.worse), summed(self.worse, self.better)

    def squares(self, weights: FloatArray) -> FloatArray:
        """As `_ActiveGrades.squares`."""
        short = 1.0 - (self.f[self.better] - self.f[self.worse])
        return cast(FloatArray, np.bincount(self.better, weights[self.worse] * short**2, minlength=self.n))
