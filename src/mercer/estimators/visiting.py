"""Which points a perceptron visits, in which order, and how often.

Where the order is drawn at random anyway, it is drawn for rows sorted by what they hold, and rows
that are the same (and have the same label) are one point with the sum of their weights. So the
order in which a table lists its rows does not matter, and a row of weight two is a row listed twice.
"""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from mercer.solvers.perceptron import Schedule

_CHUNK = 4096
_MIX = np.uint64(0x9E3779B97F4A7C15)


def visiting_plan(estimator, X, codes, copies):
    """The `Schedule` of a fit to points of given weights; `X` is None for items that cannot be compared."""
    order, seed = np.flatnonzero(copies > 0), None
    if estimator.shuffle:
        seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
        if X is not None:
            order, copies = distinct_rows(X, codes, copies, order)
    return Schedule(order, copies, seed, estimator.max_iter, estimator.tol, estimator.n_iter_no_change)


def distinct_rows(X, codes, copies, chosen):
    """(one of each group of equal rows with equal labels, the weight of its group).

    The rows are in an order that depends on their contents alone.
    """
    keys = row_keys(X)
    ranked = chosen[np.lexsort((codes[chosen], keys[chosen]))]
    keys = keys[ranked]
    candidates = np.flatnonzero((keys[1:] == keys[:-1]) & (codes[ranked[1:]] == codes[ranked[:-1]]))
    same = candidates[_are_equal(X, ranked[candidates], ranked[candidates + 1])]
    begins = np.ones(len(ranked), bool)
    begins[same + 1] = False
    first = ranked[begins]
    summed = np.zeros(len(copies))
    summed[first] = np.add.reduceat(copies[ranked], np.flatnonzero(begins))
    return first, summed


def row_keys(X):
    """A number for each row that depends on its contents, the same for dense and sparse rows."""
    multipliers = np.random.default_rng(0).integers(1, 2**63, X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if sparse.issparse(X):
        ends = np.concatenate([[np.uint64(0)], np.cumsum(_mixed(X.data) * multipliers[X.indices], dtype=np.uint64)])
        return ends[X.indptr[1:]] - ends[X.indptr[:-1]]
    keys = np.empty(len(X), np.uint64)
    for begin in range(0, len(X), _CHUNK):
        keys[begin : begin + _CHUNK] = (_mixed(X[begin : begin + _CHUNK]) * multipliers).sum(axis=1, dtype=np.uint64)
    return keys


def _mixed(values):
    """Bits of the numbers, stirred; zero for zero, of either sign."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(32))) * _MIX
    return bits ^ (bits >> np.uint64(29))


def _are_equal(X, left, right):
    if sparse.issparse(X):
        return np.asarray(abs(X[left] - X[right]).sum(axis=1)).ravel() == 0.0
    return (X[left] == X[right]).all(axis=1)
