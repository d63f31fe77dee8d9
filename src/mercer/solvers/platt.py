r"""Platt's sigmoid: from a decision value to a probability.

:math:`p(f) = 1 / (1 + e^{A f + B})`, with A and B that maximise the likelihood of scores whose labels are
known, by the algorithm of Lin, Lin & Weng (2007): Newton's method with halved steps on a convex
function of two numbers, written so that nothing overflows. Targets are not 0 and 1 but
:math:`1 / (N_- + 2)` and :math:`(N_+ + 1) / (N_+ + 2)` (Platt 2000), which keeps A finite where
scores separate the labels. A is at most 0: a higher score never means a lower probability.

Cost: a few passes over the scores.
"""

import numpy as np

MOST_STEPS = 100
SHORTEST = 1e-10
RIDGE = 1e-12
ACCURATE = 1e-10


def smoothed_targets(is_positive, weights):
    """What stands for 1 and 0, given how many there are of both."""
    positive, negative = float(weights[is_positive].sum()), float(weights[~is_positive].sum())
    return np.where(is_positive, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))


def fit_sigmoid(scores, is_positive, weights):
    """(A, B).

    Parameters
    ----------
    scores : ndarray (n,)
    is_positive : ndarray of bool (n,)
    weights : ndarray (n,)
        How many copies of each score there are.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.platt import fit_sigmoid
    >>> A, B = fit_sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, True, False, True]), np.ones(4))
    >>> A < 0, abs(B) < 1e-9
    (True, True)
    """
    targets = smoothed_targets(is_positive, weights)
    positive, negative = float(weights[is_positive].sum()), float(weights[~is_positive].sum())
    level = np.log((negative + 1.0) / (positive + 1.0))
    # In units of their own size scores of any size are alike.
    scale = float(np.abs(scores).max(initial=0.0))
    if not scale > 0:
        return 0.0, float(level)
    A, B = _newton(scores / scale, targets, weights, level)
    if A > 0:
        share = float(weights @ targets) / float(weights.sum())
        return 0.0, float(np.log((1.0 - share) / share))
    return A / scale, B


def _newton(scores, targets, weights, level):
    A, B = 0.0, float(level)
    now = _objective(A * scores + B, targets, weights)
    for _ in range(MOST_STEPS):
        p, q = sigmoid(scores, A, B)
        slope, bend = weights * (targets - p), weights * p * q
        gradient = np.array([scores @ slope, slope.sum()])
        if np.abs(gradient).max() <= ACCURATE * float(weights.sum()):
            break
        cross = float(scores @ bend)
        hessian = np.array([[scores**2 @ bend + RIDGE, cross], [cross, bend.sum() + RIDGE]])
        step = -np.linalg.solve(hessian, gradient)
        length, expected = 1.0, float(gradient @ step)
        while length >= SHORTEST:
            after = _objective((A + length * step[0]) * scores + B + length * step[1], targets, weights)
            if after < now + 1e-4 * length * expected:
                break
            length *= 0.5
        else:
            break
        A, B, now = A + length * step[0], B + length * step[1], after
    return float(A), float(B)


def _objective(u, targets, weights):
    return float(weights @ (np.logaddexp(0.0, u) - (1.0 - targets) * u))


def sigmoid(scores, A, B):
    """(p, 1 - p), each accurate also where it is tiny."""
    u = A * scores + B
    small = np.exp(-np.abs(u))
    low, high = small / (1.0 + small), 1.0 / (1.0 + small)
    return np.where(u >= 0, low, high), np.where(u >= 0, high, low)
