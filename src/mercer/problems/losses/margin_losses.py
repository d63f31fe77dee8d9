r"""Losses of one number: the cost of a prediction f(x).

A loss is a function :math:`\varphi(z)` of the margin z = y f(x), with y = ±1, or of the residual
z = f(x) - y. Its conjugate :math:`\varphi^*(a) = \sup_z a z - \varphi(z)` is its cost in the dual. If
that is

.. math:: \varphi^*(a) = c\,a + \varepsilon |a| + \tfrac q2 a^2 \quad\text{for } a_- \le a \le a_+,

the dual is the quadratic program of `mercer.problems.svm.signed_dual`, and `form` has its coefficients.
Other losses have a derivative and a curvature, for Newton's method.
"""

from dataclasses import dataclass
from math import inf, isinf
from numbers import Real
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, FloatArray


@dataclass(frozen=True)
class QuadraticForm:
    """c, epsilon, q and the interval [a-, a+] of a conjugate that is quadratic on each side of 0."""

    linear: float = 0.0
    tube: float = 0.0
    curvature: float = 0.0
    lower: float = -inf
    upper: float = inf

    def value(self, a: FloatArray) -> FloatArray:
        """The conjugate at each a; infinite outside the interval, up to rounding."""
        reach = 1e-12 * np.maximum(1.0, np.abs(a))
        inside = (a >= self.lower - reach) & (a <= self.upper + reach)
        return np.where(inside, self.linear * a + self.tube * np.abs(a) + 0.5 * self.curvature * a**2, np.inf)


class Loss:
    """A loss of the margin z = y f(x), or of the residual z = f(x) - y.

    Attributes
    ----------
    name, formula : str
        What it is called, and the loss as a function of z.
    of : {"margin", "residual"}
        What z is.
    is_convex : bool
        Whether minimising its mean has no local minima.
    bounds_error : bool
        Whether it is nowhere below the 0-1 loss, so that a bound on it is a bound on the error.
    form : QuadraticForm or None
        The conjugate, where the dual is a quadratic program.
    domain : (float, float)
        Where the conjugate is finite.

    Methods
    -------
    value(z), derivative(z), curvature(z)
        The loss and its first and second derivatives at each z of an array; at a kink, the derivative is one
        of those between the two sides.
    conjugate(a)
        sup over z of a z - loss(z).
    slope(reach)
        The Lipschitz constant over z of size at most `reach`; it may be infinite, and so may `reach`.
    box(C), ridge(C), bounds(signs, C)
        What a dual in signed form needs of it, given the weight of each point.
    """

    name: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    of: ClassVar[str] = "margin"
    is_convex: ClassVar[bool] = True
    bounds_error: ClassVar[bool] = False
    form: QuadraticForm | None = None

    if TYPE_CHECKING:
        # Each loss overrides these; the 0-1 loss and the ramp have no derivative to follow.
        def value(self, z: ArrayLike) -> Array: ...
        def derivative(self, z: ArrayLike) -> Array: ...
        def curvature(self, z: ArrayLike) -> Array: ...
        def slope(self, reach: float, /) -> float: ...

    def conjugate(self, a: ArrayLike) -> Array:
        """Where there is a quadratic form, it is that."""
        return cast(QuadraticForm, self.form).value(np.asarray(a))

    @property
    def domain(self) -> tuple[float, float]:
        """Where the conjugate is finite; a loss without a quadratic form says so itself."""
        return (-inf, inf) if self.form is None else (self.form.lower, self.form.upper)

    def box(self, C: FloatArray) -> FloatArray:
        """The largest |beta|."""
        return _times(C, max(-self.domain[0], self.domain[1]))

    def ridge(self, C: FloatArray) -> FloatArray | None:
        """Diagonal added to the kernel matrix; C = inf is the hard margin, which admits no slack and has no ridge."""
        curvature = cast(QuadraticForm, self.form).curvature
        return curvature / C if curvature else None

    def bounds(self, signs: FloatArray, C: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(lower, upper) bounds of the coefficients beta = -s C a, where a is in the domain of the conjugate."""
        low, high = self.domain
        end = signs * _times(C, -low)
        other = 0.0 if high == 0.0 else signs * _times(C, -high)
        return np.minimum(end, other), np.maximum(end, other)

    def lipschitz(self, rho: float = 1.0, B: float = inf) -> float:
        """Lipschitz constant of w -> loss(y <w, x>) over norm(x) <= rho and norm(w) <= B.

        Claim 15.6 of Shalev-Shwartz & Ben-David (2014) is the case of the hinge: rho, whatever B is.
        In general it is rho times the constant over the possible margins, of absolute value at most
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
        if not isinstance(rho, Real) or isinstance(rho, bool) or not 0.0 <= rho < inf:
            raise ParameterError(f"rho must be a finite, nonnegative number, got {rho!r}")
        if not B >= 0:
            raise ParameterError(f"B must not be negative, got {B!r}")
        return 0.0 if rho == 0 else float(rho * self.slope(rho * B))


def _times(C: FloatArray, end: float) -> FloatArray:
    """C times the end of an interval; infinity where that is, also of no weight."""
    return np.full_like(C, end) if isinf(end) else C * end


def _at_most_one(_reach: float) -> float:
    return 1.0


class ZeroOne(Loss):
    """The error itself."""

    name, formula = "zero_one", "1 if z <= 0 else 0"
    is_convex, bounds_error = False, True

    @staticmethod
    def value(z: ArrayLike) -> Array:
        return np.where(np.asarray(z) <= 0.0, 1.0, 0.0)

    @staticmethod
    def slope(_reach: float) -> float:
        return inf


class Hinge(Loss):
    r"""max(0, 1 - z). Dual: 0 <= alpha_i <= C_i."""

    name, formula, bounds_error = "hinge", "max(0, 1 - z)", True
    form = QuadraticForm(linear=1.0, lower=-1.0, upper=0.0)
    slope = staticmethod(_at_most_one)

    @staticmethod
    def value(z: ArrayLike) -> Array:
        return np.maximum(0.0, 1.0 - np.asarray(z))

    @staticmethod
    def derivative(z: ArrayLike) -> Array:
        return np.where(np.asarray(z) < 1.0, -1.0, 0.0)


class PerceptronLoss(Loss):
    """max(0, -z): the perceptron's rule is gradient descent on it, adding y x to w at a mistake.

    It is not above the error, and 0 at w = 0: with a penalty on w, w = 0 would be the minimiser. So it
    suits an update rule, and no kernel model offers it.
    """

    name, formula = "perceptron", "max(0, -z)"
    form = QuadraticForm(lower=-1.0, upper=0.0)
    slope = staticmethod(_at_most_one)

    @staticmethod
    def value(z: ArrayLike) -> Array:
        return np.maximum(0.0, -np.asarray(z, dtype=np.float64))

    @staticmethod
    def derivative(z: ArrayLike) -> Array:
        # The rule also makes a step at 0.
        return np.where(np.asarray(z) <= 0.0, -1.0, 0.0)


def _slope_of_a_square(reach: float) -> float:
    """The slope of (1 - z)^2 at z = -reach."""
    return 2.0 * (1.0 + reach)


class SquaredHinge(Loss):
    r"""max(0, 1 - z)^2. Dual: alpha_i >= 0, with 1 / (2 C_i) added to the diagonal."""

    name, formula, bounds_error = "squared_hinge", "max(0, 1 - z)^2", True
    form = QuadraticForm(linear=1.0, curvature=0.5, upper=0.0)
    slope = staticmethod(_slope_of_a_square)

    @staticmethod
    def value(z: ArrayLike) -> Array:
        return np.maximum(0.0, 1.0 - np.asarray(z)) ** 2

    @staticmethod
    def derivative(z: ArrayLike) -> Array:
        return -2.0 * np.maximum(0.0, 1.0 - np.asarray(z))

    @staticmethod
    def curvature(z: ArrayLike) -> Array:
        return np.where(np.asarray(z) < 1.0, 2.0, 0.0)


class Ramp(Loss):
    """A hinge that stops at one; not convex (see `mercer.problems.svm.ramp`)."""

    name, formula = "ramp", "min(1, max(0, 1 - z))"
    is_convex, bounds_error = False, True
    slope = staticmethod(_at_most_one)

    @staticmethod
    def value(z: ArrayLike) -> Array:
        return np.minimum(1.0, Hinge.value(z))


class Logistic(Loss):
    """log(1 + exp(-z)), whose minimiser gives the probability of a label.

    In natural units it is log 2 at z = 0; divided by log 2 it bounds the error too.
    """

    name, formula = "logistic", "log(1 + exp(-z))"
    domain = (-1.0, 0.0)

    @staticmethod
    def value(z: ArrayLike) -> Array:
        return np.logaddexp(0.0, -np.asarray(z))

    @staticmethod
    def derivative(z: ArrayLike) -> Array:
        return -_sigmoid(-np.asarray(z))

    @staticmethod
    def curvature(z: ArrayLike) -> Array:
        return _sigmoid(z) * _sigmoid(-np.asarray(z))

    @staticmethod
    def conjugate(a: ArrayLike) -> Array:
        """Minus the entropy of a coin that comes up heads with probability -a."""
        share = -np.asarray(a, dtype=np.float64)
        inside = (share >= -1e-12) & (share <= 1.0 + 1e-12)
        share = np.clip(share, 0.0, 1.0)
        return np.where(inside, _times_log(share) + _times_log(1.0 - share), np.inf)

    @staticmethod
    def slope(reach: float) -> float:
        return 1.0 / (1.0 + np.exp(-reach))


def _sigmoid(z: ArrayLike) -> FloatArray:
    # Half a tanh does not overflow, but loses digits near zero; so each side is written out.
    z = np.asarray(z, dtype=np.float64)
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0, small) / (1.0 + small)


def _times_log(share: FloatArray) -> FloatArray:
    return share * np.log(np.where(share > 0, share, 1.0))


class Exponential(Loss):
    """exp(-z), the loss of boosting."""

    name, formula, bounds_error = "exponential", "exp(-z)", True
    domain = (-inf, 0.0)

    @staticmethod
    def value(z: ArrayLike) -> Array:
        return np.exp(-np.asarray(z))

    @staticmethod
    def derivative(z: ArrayLike) -> Array:
        return -np.exp(-np.asarray(z))

    curvature = value

    @staticmethod
    def conjugate(a: ArrayLike) -> Array:
        share = -np.asarray(a, dtype=np.float64)
        return np.where(share >= 0.0, _times_log(np.maximum(share, 0.0)) - share, np.inf)

    @staticmethod
    def slope(reach: float) -> float:
        return np.exp(reach)


class SquaredMargin(Loss):
    """(1 - z)^2: the squared residual, in terms of the margin."""

    name, formula, bounds_error = "squared", "(1 - z)^2", True
    form = QuadraticForm(linear=1.0, curvature=0.5)
    slope = staticmethod(_slope_of_a_square)

    @staticmethod
    def value(z: ArrayLike) -> Array:
        return (1.0 - np.asarray(z)) ** 2

    @staticmethod
    def derivative(z: ArrayLike) -> Array:
        return -2.0 * (1.0 - np.asarray(z))

    @staticmethod
    def curvature(z: ArrayLike) -> Array:
        return np.full(np.shape(z), 2.0)


LOSSES_OF_MARGINS = {
    loss.name: loss()
    for loss in (ZeroOne, PerceptronLoss, Hinge, SquaredHinge, Ramp, Logistic, Exponential, SquaredMargin)
}
# The two that a support vector classifier minimises.
MARGIN_LOSSES = {name: LOSSES_OF_MARGINS[name] for name in ("hinge", "squared_hinge")}
