"""Which points a perceptron visits, in which order, and how often.

Where the order is drawn at random anyway, it is drawn for rows sorted by what they hold, and rows
that are the same (and have the same label) are one point with the sum of their weights. So the
order in which a table lists its rows does not matter, and a row of weight two is a row listed twice.
"""

from typing import TYPE_CHECKING, cast

import numpy as np

from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.fitting.equal_rows import are_equal, row_keys
from mercer.estimators.fitting.seeds import generator_of
from mercer.solvers.stochastic.perceptron import Schedule

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# Stands for an unlimited number of epochs.
NO_LIMIT = 2**62


def visiting_plan(estimator: "BaseEstimator", X: Rows, codes: IndexArray, copies: FloatArray) -> Schedule:
    """The `Schedule` of a fit to weighted points; `X` is None for items that cannot be compared."""
    order, seed = cast(IndexArray, np.flatnonzero(copies > 0)), None
    stands_for = cast(IndexArray, np.full(len(copies), -1))
    stands_for[order] = np.arange(len(order))
    if estimator.shuffle:
        seed = int(generator_of(estimator.random_state).randint(2**31 - 1))
        if X is not None:
            order, copies, stands_for = distinct_rows(X, codes, copies, order)
    ends = NO_LIMIT if estimator.max_iter < 0 else estimator.max_iter, estimator.tol, estimator.n_iter_no_change
    return Schedule(order, copies, seed, *ends, stands_for=stands_for)


def distinct_rows(
    X: Rows, codes: IndexArray, copies: FloatArray, chosen: IndexArray
) -> tuple[IndexArray, FloatArray, IndexArray]:
    """(one of each group of equal rows with equal labels, the weight of its group, the group of each row).

    The rows are in an order that depends on their contents alone.
    """
    keys = row_keys(X)
    ranked = chosen[np.lexsort((codes[chosen], keys[chosen]))]
    keys = keys[ranked]
    candidates = np.flatnonzero((keys[1:] == keys[:-1]) & (codes[ranked[1:]] == codes[ranked[:-1]]))
    same = candidates[are_equal(X, ranked[candidates], ranked[candidates + 1])]
    begins = np.ones(len(ranked), bool)
    begins[same + 1] = False
    first = ranked[begins]
    summed = np.zeros(len(copies))
    summed[first] = np.add.reduceat(copies[ranked], np.flatnonzero(begins))
    group = np.full(len(copies), -1)
    group[ranked] = np.cumsum(begins) - 1
    return first, summed, group


def shared_out(values: FloatArray, plan: Schedule, copies: FloatArray) -> FloatArray:
    """Values of the visited points, divided by weight among the equal points that each represents."""
    whole = plan.copies[plan.order][plan.stands_for] if len(plan.order) else 1.0
    # The share first, so that a value at its bound stays there.
    return np.where(cast(IndexArray, plan.stands_for) >= 0, (values[plan.stands_for] / whole) * copies, 0.0)
