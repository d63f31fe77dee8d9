r"""Platt's sigmoid: from a decision value to a probability.

:math:`p(f) = 1 / (1 + e^{A f + B})`, with the A and B that maximise the likelihood of scores with known labels,
by the algorithm of Lin, Lin & Weng (2007): Newton's method with halved steps on a convex
function of two numbers, written so that nothing overflows. Targets are not 0 and 1 but
:math:`1 / (N_- + 2)` and :math:`(N_+ + 1) / (N_+ + 2)` (Platt 2000), which keeps A finite if
scores separate the labels. A is at most 0: a higher score never means a lower probability.

Cost: a few passes over the scores.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import BoolArray, FloatArray

MOST_STEPS = 100
SHORTEST = 1e-10
RIDGE = 1e-12
ACCURATE = 1e-10
# Weights above this act as infinite, and products of their sums do not overflow.
MOST_COPIES = 2.0**200


def bounded_copies(weights: FloatArray) -> FloatArray:
    """The weights, all divided by one power of two if one is so large that their sum would overflow."""
    largest = float(weights.max(initial=0.0))
    if largest <= MOST_COPIES:
        return weights
    return np.ldexp(weights, int(np.log2(MOST_COPIES)) - int(np.ceil(np.log2(largest))))


def smoothed_targets(is_positive: BoolArray, weights: FloatArray) -> FloatArray:
    """Platt's smoothed targets for 1 and 0, given both counts."""
    positive, negative = float(weights[is_positive].sum()), float(weights[~is_positive].sum())
    return np.where(is_positive, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))


def fit_sigmoid(scores: FloatArray, is_positive: BoolArray, weights: FloatArray) -> tuple[float, float]:
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
    >>> from mercer.solvers.calibration.platt import fit_sigmoid
    >>> A, B = fit_sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, True, False, True]), np.ones(4))
    >>> A < 0, abs(B) < 1e-9
    (True, True)
    """
    weights = bounded_copies(weights)
    targets = smoothed_targets(is_positive, weights)
    positive, negative = float(weights[is_positive].sum()), float(weights[~is_positive].sum())
    level = np.log((negative + 1.0) / (positive + 1.0))
    # Rescaled, so that the result does not depend on the unit of the scores.
    scale = float(np.abs(scores).max(initial=0.0))
    if not scale > 0:
        return 0.0, float(level)
    numbers = (np.ascontiguousarray(values, np.float64) for values in (scores / scale, targets, weights))
    A, B = _newton(*numbers, float(level))
    if A > 0:
        share = float(weights @ targets) / float(weights.sum())
        return 0.0, float(np.log((1.0 - share) / share))
    return A / scale, B


@jit
def _newton(scores: FloatArray, targets: FloatArray, weights: FloatArray, level: float) -> tuple[float, float]:
    """(A, B). Compiled, because ten classes have 45 pairs of a few hundred scores each."""
    A, B, total = 0.0, level, weights.sum()
    now = _objective(scores, targets, weights, A, B)
    for _ in range(MOST_STEPS):
        along, up, bent, cross, high = _derivatives(scores, targets, weights, A, B)
        if max(abs(along), abs(up)) <= ACCURATE * total:
            break
        bent, high = bent + RIDGE, high + RIDGE
        area = max(bent * high - cross * cross, RIDGE * (bent + high))
        step, rise = (cross * up - high * along) / area, (cross * along - bent * up) / area
        length, expected, after = 1.0, along * step + up * rise, now
        while length >= SHORTEST:
            after = _objective(scores, targets, weights, A + length * step, B + length * rise)
            if after < now + 1e-4 * length * expected:
                break
            length *= 0.5
        if length < SHORTEST:
            break
        A, B, now = A + length * step, B + length * rise, after
    return A, B


@jit
def _objective(scores: FloatArray, targets: FloatArray, weights: FloatArray, A: float, B: float) -> float:
    total = 0.0
    for i in range(scores.shape[0]):
        u = A * scores[i] + B
        total += weights[i] * (max(u, 0.0) + np.log1p(np.exp(-abs(u))) - (1.0 - targets[i]) * u)
    return total


@jit
def _derivatives(
    scores: FloatArray, targets: FloatArray, weights: FloatArray, A: float, B: float
) -> tuple[float, float, float, float, float]:
    """The gradient in (A, B), and the entries AA, AB and BB of the Hessian."""
    along = up = bent = cross = high = 0.0
    for i in range(scores.shape[0]):
        u = A * scores[i] + B
        small = np.exp(-abs(u))
        p = (small if u >= 0 else 1.0) / (1.0 + small)
        slope = weights[i] * (targets[i] - p)
        bend = weights[i] * small / (1.0 + small) ** 2
        along += scores[i] * slope
        up += slope
        bent += scores[i] ** 2 * bend
        cross += scores[i] * bend
        high += bend
    return along, up, bent, cross, high


def sigmoid(scores: FloatArray, A: float, B: float) -> tuple[FloatArray, FloatArray]:
    """(p, 1 - p), each accurate even where it is tiny."""
    u = A * scores + B
    small = np.exp(-np.abs(u))
    low, high = small / (1.0 + small), 1.0 / (1.0 + small)
    return np.where(u >= 0, low, high), np.where(u >= 0, high, low)
