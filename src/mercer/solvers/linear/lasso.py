"""The lasso that a proximal Newton step leaves, where the matrix of its smooth part has been formed.

Cyclic coordinate descent (Friedman, Hastie & Tibshirani 2010) alternates with Newton steps on the weights that are
not zero, which end however correlated the features are.
"""

from collections.abc import Callable

import numpy as np

from mercer._jit.compile import jit
from mercer._types import BoolArray, FloatArray

# Newton steps between passes, each with fewer weights than the last, and the passes.
MOST_FACES, PASSES = 12, 3
# Most alternations, and the share of its first violation that is left.
MOST_ROUNDS, SHARE = 50, 0.05


@jit
def _gram_pass(G: FloatArray, prices: FloatArray, fall: FloatArray, x: FloatArray) -> None:
    """One cyclic pass of coordinate descent on x'Gx / 2 + prices'|x|, whose smooth part falls by `fall` at x."""
    for j in range(x.shape[0]):
        h = G[j, j]
        if h <= 0.0:
            continue
        wish, cut = x[j] + fall[j] / h, prices[j] / h
        wish = wish - cut if wish > cut else (wish + cut if wish < -cut else 0.0)
        step = wish - x[j]
        if step != 0.0:
            x[j] = wish
            for k in range(x.shape[0]):
                fall[k] -= step * G[j, k]


def violation(prices: FloatArray, fall: FloatArray, x: FloatArray) -> float:
    """How far 0 is from the subdifferential of the model."""
    at_zero = np.maximum(np.abs(fall) - prices, 0.0)
    return float(np.max(np.where(x == 0, at_zero, np.abs(fall - prices * np.sign(x))), initial=0.0))


def least(
    G: FloatArray, prices: FloatArray, fall: FloatArray, start: FloatArray, stop: Callable[[], bool]
) -> FloatArray:
    """Near the least point of the model whose smooth part has the Hessian G and falls by `fall` at `start`."""
    x, fall = start.copy(), fall.copy()
    goal = SHARE * violation(prices, fall, x)
    for _ in range(MOST_ROUNDS):
        for _ in range(PASSES):
            _gram_pass(G, prices, fall, x)
        if violation(prices, fall, x) <= goal or stop():
            break
        face = np.flatnonzero((x != 0) | (prices == 0))
        move = within_signs(G[np.ix_(face, face)], fall[face] - (prices * np.sign(x))[face], x[face], prices[face] != 0)
        fall -= G[:, face] @ (move - x[face])
        x[face] = move
    return x


def within_signs(H: FloatArray, fall: FloatArray, start: FloatArray, is_signed: BoolArray) -> FloatArray:
    """Near the least point of the quadratic with Hessian H and slope -fall at `start`, with no sign changed.

    Newton steps in which weights that would change sign become zero and take no part in those that follow; if the
    quadratic rises on that way, only up to the first of them.
    """
    firm = H.copy()
    firm[np.diag_indices(len(H))] += 1e-12 * (H.diagonal() + H.diagonal().max(initial=0.0)) + 1e-300
    x, free = start, np.ones(len(start), bool)
    for _ in range(MOST_FACES):
        step = np.zeros(len(x))
        step[free] = np.linalg.solve(firm[np.ix_(free, free)], fall[free])
        crosses = (x * step < 0) & (np.abs(step) > np.abs(x)) & is_signed
        if not crosses.any():
            return x + step
        ahead = np.where(crosses, 0.0, x + step)
        move = ahead - x
        if 0.5 * move @ (firm @ move) >= fall @ move:
            ratios = np.where(crosses, -x / np.where(crosses, step, 1.0), np.inf)
            ahead = np.where(ratios <= ratios.min(), 0.0, x + ratios.min() * step)
        fall = fall - firm @ (ahead - x)
        x, free = ahead, free & ((ahead != 0) | ~is_signed)
        if not free.any():
            break
    return x
