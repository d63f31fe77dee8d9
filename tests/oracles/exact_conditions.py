"""The conditions of optimality in long double, from kernel values and the numbers that a model shows.

Every machine here minimises |w|²/2 [+ b²/2] + Σ C_i loss, whose dual has a box l <= β <= u, a linear term p, a ridge R
and a kink ε (`problems.svm.signed_dual` states it; this file shares no code with it). What β asks of f = Kβ + b is an
interval for each point: f >= p - Rβ - ε where β may rise, f <= p - Rβ + ε where it may fall, with the kink on the
side of β.
"""

from dataclasses import dataclass

import numpy as np

from tests.oracles.exact_kernels import LONG

EPS = float(np.finfo(np.float64).eps)
# docs/kernels.md: an entry is off by about this, in units of the largest; docs/svc.md: a prediction by ten times it.
ENTRY, PREDICTION = 1e-12, 1e-11
# A coefficient this near to an end of its box, relative to the smaller of box and largest coefficient, is there.
AT_END = 1e-10


@dataclass(frozen=True)
class Box:
    """p, l, u, R and ε of a dual."""

    p: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    ridge: np.ndarray | float = 0.0
    kink: float = 0.0

    def outside(self, beta):
        """How far coefficients are outside."""
        return float(np.max(np.maximum(self.lower - beta, beta - self.upper), initial=0.0))

    def interval(self, beta):
        """(least, most) that f may be at each point."""
        centre = self.p - self.ridge * beta.astype(LONG)
        near = AT_END * np.minimum(self.upper - self.lower, np.abs(beta).max(initial=0.0))
        least = centre - np.where(beta < -near, -self.kink, self.kink)
        most = centre - np.where(beta > near, self.kink, -self.kink)
        can_rise, can_fall = beta < self.upper - near, beta > self.lower + near
        return np.where(can_rise, least, -np.inf), np.where(can_fall, most, np.inf)

    def violation(self, beta, f):
        """The largest distance of an f from its interval."""
        least, most = self.interval(beta)
        return float(np.max(np.maximum(least - f, f - most), initial=0.0))


def rounding(beta, doubt, values, eps=EPS, stated=ENTRY):
    """By how much sums Σ_j β_j k_ij may be off for each i, in a precision of `eps`.

    What the docs state of all entries alike, or what the numbers that a row's own are computed from make it.
    """
    sizes = np.abs(np.asarray(values, float))
    common = stated * float(sizes.max(initial=0.0)) * float(np.abs(beta).sum())
    return common + eps * ((doubt + sizes * (8.0 + 0.25 * np.sqrt(len(beta)))) @ np.abs(beta))


def hinge(signs, C, loss="hinge"):
    """The box of a classifier."""
    reach = signs * (C if loss == "hinge" else np.full(len(C), np.inf))
    ridge = 0.0 if loss == "hinge" else 0.5 / C.astype(LONG)
    return Box(signs, np.minimum(reach, 0.0), np.maximum(reach, 0.0), ridge)


def tube(targets, C, epsilon):
    """The box of a regression."""
    return Box(targets.astype(LONG), -C, C, kink=epsilon)


# Losses of the residual whose duals are quadratic programs: (bounds of beta / C, ridge times C, kink).
RESIDUAL = {
    "squared": (-np.inf, np.inf, 0.5, 0.0),
    "huber": (-2.0, 2.0, 0.5, 0.0),
    "epsilon_insensitive": (-1.0, 1.0, 0.0, 0.1),
    "squared_epsilon_insensitive": (-np.inf, np.inf, 0.5, 0.1),
    "pinball": (-0.5, 0.5, 0.0, 0.0),
}


def residual(targets, C, loss):
    """The box of a regression with one of the losses above, with its parameters as they are by default."""
    low, high, ridge, kink = RESIDUAL[loss]
    return Box(targets.astype(LONG), low * C, high * C, ridge / C.astype(LONG), kink)


def hinge_values(signs, C, beta, f, half_norm, loss="hinge"):
    """(primal, dual) of a classifier."""
    slack = np.maximum(1 - signs * f, 0)
    spent = 0 if loss == "hinge" else np.sum(beta.astype(LONG) ** 2 / (4 * C.astype(LONG)))
    losses = slack if loss == "hinge" else slack**2
    return half_norm + C.astype(LONG) @ losses, np.sum(signs * beta.astype(LONG)) - spent - half_norm
