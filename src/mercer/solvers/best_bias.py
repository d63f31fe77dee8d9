"""The biases that minimise a smooth risk for given projections: Newton's method with halved steps.

Cost of a step: one pass over the values for each function.
"""

import numpy as np

# What is left of the equality of the dual, as a share of all C.
EXACTLY = 1e-14
MOST_STEPS = 100
# A step this short means that rounding errors decide.
SHORTEST = 1e-8


def best_bias(problem, image, start, share=EXACTLY):
    """The b, one for each function, that minimise the risk of ``image + b``; zeros where b is not free.

    Parameters
    ----------
    problem : KernelRisk or Multinomial
    image : ndarray (n, k)
        Projections.
    start : ndarray (k,)
    share : float
        The sum of what the losses ask for may differ from zero by this share of all C.
    """
    if problem.bias != "free":
        return np.zeros(len(start))
    b, total = start.copy(), float(problem.C.sum())
    now = problem.risk(flat(image + b))
    for _ in range(MOST_STEPS):
        values = flat(image + b)
        pull = problem.response(values).reshape(image.shape).sum(axis=0)
        if np.abs(pull).max() <= share * total:
            break
        step, length = _step(problem, values, pull), 1.0
        while not (after := problem.risk(flat(image + b + length * step))) <= now and length > SHORTEST:
            length *= 0.5
        if length <= SHORTEST or (after == now and length < 1.0):
            break
        b, now = b + length * step, after
    return b


def flat(values):
    """As a problem takes it: without a column where there is one function."""
    return values[:, 0] if values.shape[1] == 1 else values


def _step(problem, values, pull):
    total = problem.root(values).total
    if len(pull) == 1:
        return pull / total[0, 0] if total[0, 0] > 0 else pull / float(problem.C.sum())
    return np.linalg.pinv(total, rcond=1e-12, hermitian=True) @ pull
