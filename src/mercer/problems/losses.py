r"""Losses as functions of the margin z = y f(x).

Each has its value, a Lipschitz constant and what makes it easy or hard to minimise. As a function
of w, with z = y <w, x>, a loss with constant L is L |x|-Lipschitz (Claim 15.6 of Shalev-Shwartz &
Ben-David 2014 for the hinge, L = 1). Those that support vector machines minimise through a dual
also have the box and the ridge of it, and are listed in `MARGIN_LOSSES`.
"""

import numpy as np


class Loss:
    """A loss of the margin: its name, its value, and how fast it can change.

    Attributes
    ----------
    name : str
    is_convex : bool
        Whether minimising it has no local minima.
    bounds_zero_one : bool
        Whether it is nowhere below the 0-1 loss, so that a bound on it is one on the error.
    """

    name = ""
    is_convex = True
    bounds_zero_one = True

    @staticmethod
    def value(margins):
        """The loss at each margin."""
        raise NotImplementedError

    @staticmethod
    def lipschitz(reach=np.inf):
        """The smallest L with abs(loss(z) - loss(z')) <= L abs(z - z') for margins of size at most `reach`."""
        raise NotImplementedError


class Hinge(Loss):
    r"""max(0, 1 - z). Dual: 0 <= alpha_i <= C_i."""

    name = "hinge"

    @staticmethod
    def value(margins):
        return np.maximum(0.0, 1.0 - margins)

    @staticmethod
    def lipschitz(reach=np.inf):
        return 1.0

    @staticmethod
    def box(C):
        """Upper bounds of alpha."""
        return C

    @staticmethod
    def ridge(C):
        """Diagonal added to the kernel matrix."""
        return None


class SquaredHinge(Loss):
    r"""max(0, 1 - z)^2. Dual: alpha_i >= 0, with 1 / (2 C_i) added to the diagonal."""

    name = "squared_hinge"

    @staticmethod
    def value(margins):
        return np.maximum(0.0, 1.0 - margins) ** 2

    @staticmethod
    def lipschitz(reach=np.inf):
        return 2.0 * (1.0 + reach)

    @staticmethod
    def box(C):
        return np.full_like(C, np.inf)

    @staticmethod
    def ridge(C):
        # C = inf is the hard margin: no slack, no ridge.
        return 1.0 / (2.0 * C)


class ZeroOne(Loss):
    """1 where z <= 0, else 0: the error itself, which jumps and so has no Lipschitz constant."""

    name = "zero_one"
    is_convex = False

    @staticmethod
    def value(margins):
        return np.where(np.asarray(margins) <= 0.0, 1.0, 0.0)

    @staticmethod
    def lipschitz(reach=np.inf):
        return np.inf


class Ramp(Loss):
    """min(1, max(0, 1 - z)): the hinge, but no row costs more than an error (section 15.2.3)."""

    name = "ramp"
    is_convex = False

    @staticmethod
    def value(margins):
        return np.clip(1.0 - np.asarray(margins), 0.0, 1.0)

    @staticmethod
    def lipschitz(reach=np.inf):
        return 1.0


class Logistic(Loss):
    """log(1 + exp(-z)), in natural units: divided by log 2 it is nowhere below the 0-1 loss."""

    name = "logistic"
    bounds_zero_one = False

    @staticmethod
    def value(margins):
        return np.logaddexp(0.0, -np.asarray(margins))

    @staticmethod
    def lipschitz(reach=np.inf):
        # The slope at z = -reach, the steepest.
        return float(1.0 / (1.0 + np.exp(-reach)))


class Exponential(Loss):
    """exp(-z), the loss of boosting."""

    name = "exponential"

    @staticmethod
    def value(margins):
        return np.exp(-np.asarray(margins))

    @staticmethod
    def lipschitz(reach=np.inf):
        return float(np.exp(reach))


class Squared(Loss):
    """(1 - z)^2 = (y - f(x))^2: least squares on the labels, which also punishes being too right."""

    name = "squared"

    @staticmethod
    def value(margins):
        return (1.0 - np.asarray(margins)) ** 2

    @staticmethod
    def lipschitz(reach=np.inf):
        return 2.0 * (1.0 + reach)


# Those whose dual is the quadratic program of `mercer.problems.dual`.
MARGIN_LOSSES = {loss.name: loss for loss in (Hinge, SquaredHinge)}
LOSSES = {loss.name: loss for loss in (Hinge, SquaredHinge, Ramp, Logistic, Exponential, Squared, ZeroOne)}
