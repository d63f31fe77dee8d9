"""The losses of the sources as functions of the margin z = y f(x), and how fast each can change."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._errors import ParameterError
from mercer.problems.losses import Hinge, SquaredHinge
from mercer.theory.arguments import require_not_negative


@dataclass(frozen=True)
class Loss:
    """A loss of the margin z = y f(x).

    Attributes
    ----------
    name, formula : str
    value : callable
        The loss at each margin of an array.
    slope : callable
        ``slope(reach)``, the Lipschitz constant over margins of size at most `reach`; it may be
        infinite, and so may `reach`.
    is_convex : bool
        Whether minimising its mean has no local minima.
    bounds_error : bool
        Whether it is nowhere below the 0-1 loss, so that a bound on it is a bound on the error.
    """

    name: str
    formula: str
    value: Callable
    slope: Callable
    is_convex: bool = True
    bounds_error: bool = True

    def lipschitz(self, rho=1.0, B=math.inf):
        """Lipschitz constant of w -> loss(y <w, x>) over norm(x) <= rho and norm(w) <= B.

        Claim 15.6 of Shalev-Shwartz & Ben-David (2014) is the case of the hinge: rho, whatever B is.
        In general it is rho times the constant over the margins that are possible, of size at most
        rho B. The 0-1 loss has none; the squared losses and the exponential need a bound on w.

        Examples
        --------
        >>> from mercer import theory
        >>> theory.LOSSES["hinge"].lipschitz(rho=3.0), theory.LOSSES["ramp"].lipschitz(rho=3.0)
        (3.0, 3.0)
        >>> squared = theory.LOSSES["squared_hinge"]
        >>> squared.lipschitz(rho=3.0), squared.lipschitz(rho=3.0, B=1.0)
        (inf, 24.0)
        """
        require_not_negative(rho=rho)
        if not B >= 0:
            raise ParameterError(f"B must not be negative, got {B!r}")
        return 0.0 if rho == 0 else float(rho * self.slope(rho * B))


def _zero_one(z):
    return np.where(np.asarray(z) <= 0.0, 1.0, 0.0)


def _ramp(z):
    return np.minimum(1.0, Hinge.value(np.asarray(z)))


def _logistic(z):
    return np.logaddexp(0.0, -np.asarray(z))


def _one(_reach):
    return 1.0


def _of_a_square(reach):
    """The slope of (1 - z)^2 at z = -reach."""
    return 2.0 * (1.0 + reach)


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("zero_one", "1 if z <= 0 else 0", _zero_one, lambda _reach: math.inf, is_convex=False),
        Loss("hinge", "max(0, 1 - z)", Hinge.value, _one),
        Loss("squared_hinge", "max(0, 1 - z)^2", SquaredHinge.value, _of_a_square),
        Loss("ramp", "min(1, max(0, 1 - z))", _ramp, _one, is_convex=False),
        # In natural units it is log 2 at z = 0; divided by log 2 it bounds the error too.
        Loss("logistic", "log(1 + exp(-z))", _logistic, lambda r: 1.0 / (1.0 + np.exp(-r)), bounds_error=False),
        Loss("exponential", "exp(-z)", lambda z: np.exp(-np.asarray(z)), np.exp),
        Loss("squared", "(1 - z)^2", lambda z: (1.0 - np.asarray(z)) ** 2, _of_a_square),
    )
}
