"""The dual vector of a perceptron's convex program, for every training row."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.estimators.online.visit_order import shared_out

if TYPE_CHECKING:
    from mercer.solvers.stochastic.perceptron import Schedule


def dual_vectors(learnt: Sequence[Any], plan: "Schedule", copies: FloatArray) -> FloatArray | None:
    """a of each two-class problem (n_problems, n); None where there are no dual variables.

    Parameters
    ----------
    learnt : list of Trained
    plan : Schedule
        Which points were visited, and for which others they stand.
    copies : ndarray (n,)
        The weight of each row.
    """
    if any(each.multipliers is None for each in learnt):
        return None
    return np.stack([shared_out(each.multipliers, plan, copies) for each in learnt])
