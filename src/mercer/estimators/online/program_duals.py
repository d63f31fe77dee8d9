"""The dual vector of a perceptron's convex program, for every training row."""

import numpy as np

from mercer.estimators.online.visit_order import shared_out


def dual_vectors(learnt, plan, copies):
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


def only_of_programs(estimator):
    """The dual vector of a fitted model: one, or one a class."""
    found = vars(estimator).get("_multipliers")
    if found is None:
        raise AttributeError(f'multipliers_ is known after a fit with method="lp", got {estimator.method!r}')
    return found[0] if len(found) == 1 else found
