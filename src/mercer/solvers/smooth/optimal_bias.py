"""The biases that minimise a smooth risk for given projections: Newton's method with halved steps.

A step whose gain is below the rounding of the risk is judged by the residual of the dual equality instead: the risk
determines b to only half of the digits, its derivative to all.

Cost of a step: one pass over the values for each function.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.tolerances import SHORTEST, UNSEEN

if TYPE_CHECKING:
    from mercer.solvers._types import SmoothRisk

# Residual of the dual equality, as a share of the sum of C.
EXACTLY = 1e-14
MOST_STEPS = 100


def best_bias(problem: "SmoothRisk", image: FloatArray, start: FloatArray, share: float = EXACTLY) -> FloatArray:
    """The b, one for each function, that minimise the risk of ``image + b``; zeros where b is not free.

    Parameters
    ----------
    problem : KernelRisk or Multinomial
    image : ndarray (n, k)
        Projections.
    start : ndarray (k,)
    share : float
        The responses may sum to at most this share of the sum of C.
    """
    if problem.bias != "free":
        return np.zeros(len(start))
    b, goal = start.copy(), share * float(problem.C.sum())
    now, pull = problem.risk(flat(image + b)), _pull(problem, image, b)
    for _ in range(MOST_STEPS):
        if np.abs(pull).max() <= goal:
            break
        step = _step(problem, flat(image + b), pull)
        if (moved := _moved(problem, image, b, step, now, pull)) is None:
            break
        b, now, pull = moved
    return b


def _moved(
    problem: "SmoothRisk", image: FloatArray, b: FloatArray, step: FloatArray, now: float, pull: FloatArray
) -> tuple[FloatArray, float, FloatArray] | None:
    """(b, risk, pull) after a step, halved until it is no worse; None if no length is."""
    is_hidden, length = float(pull @ step) <= UNSEEN * abs(now), 1.0
    while length > SHORTEST:
        tried = b + length * step
        after, left = problem.risk(flat(image + tried)), _pull(problem, image, tried)
        if np.abs(left).max() < np.abs(pull).max() if is_hidden else after <= now:
            return tried, after, left
        length *= 0.5
    return None


def _pull(problem: "SmoothRisk", image: FloatArray, b: FloatArray) -> FloatArray:
    """Column sums of the responses, which vanish at the optimal b."""
    return problem.response(flat(image + b)).reshape(image.shape).sum(axis=0)


def flat(values: FloatArray) -> FloatArray:
    """In the problem's shape: without a column for a single function."""
    return values[:, 0] if values.shape[1] == 1 else values


def _step(problem: "SmoothRisk", values: FloatArray, pull: FloatArray) -> FloatArray:
    total = problem.root(values).total
    if len(pull) == 1:
        return pull / total[0, 0] if total[0, 0] > 0 else pull / float(problem.C.sum())
    return np.linalg.pinv(total, rcond=1e-12, hermitian=True) @ pull
