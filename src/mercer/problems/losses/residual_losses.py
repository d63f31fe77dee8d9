"""Losses of the residual z = f(x) - y, and user-defined losses."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Real

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, FloatArray
from mercer.problems.losses.margin_losses import LOSSES_OF_MARGINS, Loss, QuadraticForm

# Where a user's loss is tried before it is accepted.
_PROBES = np.concatenate([-np.geomspace(100.0, 1e-3, 60), [0.0], np.geomspace(1e-3, 100.0, 60)])
# Bisections until an interval is rounding error; a derivative is not searched for beyond this.
_HALVINGS = 150
_FARTHEST = 1e20


def _require(name: str, value: float, low: float, high: float, told: str) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not low < value < high:
        raise ParameterError(f"{name} must be {told}, got {value!r}")


class Squared(Loss):
    """z^2, the loss of least squares."""

    name, formula, of = "squared", "z^2", "residual"
    form = QuadraticForm(curvature=0.5)

    @staticmethod
    def value(z: ArrayLike) -> Array:
        return np.asarray(z) ** 2

    @staticmethod
    def derivative(z: ArrayLike) -> Array:
        return 2.0 * np.asarray(z)

    @staticmethod
    def curvature(z: ArrayLike) -> Array:
        return np.full(np.shape(z), 2.0)

    @staticmethod
    def slope(reach: float) -> float:
        return 2.0 * reach


@dataclass(frozen=True)
class Huber(Loss):
    """z^2 up to delta, then linear: an outlier pulls no harder than a residual of delta.

    Examples
    --------
    >>> from mercer import Huber
    >>> Huber(delta=1.0).value([0.5, 1.0, 3.0])
    array([0.25, 1.  , 5.  ])
    """

    delta: float = 1.0

    name, formula, of = "huber", "z^2 if |z| <= delta else 2 delta |z| - delta^2", "residual"

    def __post_init__(self) -> None:
        _require("delta", self.delta, 0.0, inf, "a positive, finite number")

    @property
    def form(self) -> QuadraticForm:  # type: ignore[override]
        return QuadraticForm(curvature=0.5, lower=-2.0 * self.delta, upper=2.0 * self.delta)

    def value(self, z: ArrayLike) -> Array:
        size = np.abs(z)
        near = np.minimum(size, self.delta)
        return near**2 + 2.0 * self.delta * (size - near)

    def derivative(self, z: ArrayLike) -> Array:
        return 2.0 * np.clip(z, -self.delta, self.delta)

    def curvature(self, z: ArrayLike) -> Array:
        return np.where(np.abs(z) <= self.delta, 2.0, 0.0)

    def slope(self, reach: float) -> float:
        return 2.0 * min(self.delta, reach)


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """max(0, |z| - epsilon): residuals within the tube cost nothing.

    Examples
    --------
    >>> from mercer import EpsilonInsensitive
    >>> EpsilonInsensitive(epsilon=0.5).value([-0.25, 0.5, 2.0])
    array([0. , 0. , 1.5])
    """

    epsilon: float = 0.1

    name, formula, of = "epsilon_insensitive", "max(0, |z| - epsilon)", "residual"

    def __post_init__(self) -> None:
        _require("epsilon", self.epsilon, -5e-324, inf, "a finite number, 0 or more")

    @property
    def form(self) -> QuadraticForm:  # type: ignore[override]
        return QuadraticForm(tube=self.epsilon, lower=-1.0, upper=1.0)

    def value(self, z: ArrayLike) -> Array:
        return np.maximum(0.0, np.abs(z) - self.epsilon)

    def derivative(self, z: ArrayLike) -> Array:
        return np.where(np.abs(z) > self.epsilon, np.sign(z), 0.0)

    def slope(self, reach: float) -> float:
        return 1.0 if reach > self.epsilon else 0.0


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(EpsilonInsensitive):
    """max(0, |z| - epsilon)^2."""

    name, formula = "squared_epsilon_insensitive", "max(0, |z| - epsilon)^2"

    @property
    def form(self) -> QuadraticForm:  # type: ignore[override]
        return QuadraticForm(tube=self.epsilon, curvature=0.5)

    def value(self, z: ArrayLike) -> Array:
        return super().value(z) ** 2

    def derivative(self, z: ArrayLike) -> Array:
        return 2.0 * np.sign(z) * super().value(z)

    def curvature(self, z: ArrayLike) -> Array:
        return np.where(np.abs(z) > self.epsilon, 2.0, 0.0)

    def slope(self, reach: float) -> float:
        return 2.0 * max(0.0, reach - self.epsilon)


@dataclass(frozen=True)
class Pinball(Loss):
    """quantile |z| if f lies below y, (1 - quantile) |z| if above: its minimiser is a quantile.

    Examples
    --------
    >>> from mercer import Pinball
    >>> Pinball(quantile=0.75).value([-1.0, 1.0])
    array([0.75, 0.25])
    """

    quantile: float = 0.5

    name, formula, of = "pinball", "max(-quantile z, (1 - quantile) z)", "residual"

    def __post_init__(self) -> None:
        _require("quantile", self.quantile, 0.0, 1.0, "strictly between 0 and 1")

    @property
    def form(self) -> QuadraticForm:  # type: ignore[override]
        return QuadraticForm(lower=-self.quantile, upper=1.0 - self.quantile)

    def value(self, z: ArrayLike) -> Array:
        z = np.asarray(z)
        return np.maximum(-self.quantile * z, (1.0 - self.quantile) * z)

    def derivative(self, z: ArrayLike) -> Array:
        return np.where(np.asarray(z) < 0.0, -self.quantile, 1.0 - self.quantile)

    def slope(self, _reach: float) -> float:
        return max(self.quantile, 1.0 - self.quantile)


@dataclass(frozen=True)
class CustomLoss(Loss):
    """A convex loss with a continuous derivative, given by functions of an array.

    The functions are tried on 121 numbers between -100 and 100. NaN, a derivative that
    does not match the value, or one that decreases, is refused.

    Parameters
    ----------
    function : callable
        The loss at each z.
    slope_of : callable
        Its derivative.
    of : {"residual", "margin"}, default="residual"
        Whether z is f(x) - y or y f(x), with y = ±1.
    second : callable, optional
        Its second derivative; by default differences of the first.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import CustomLoss
    >>> loss = CustomLoss(lambda z: np.log(np.cosh(z)), np.tanh)
    >>> loss.derivative(np.array([0.0, 20.0])).tolist()
    [0.0, 1.0]
    >>> round(float(loss.conjugate(np.array([0.5]))[0]), 4)  # found from the derivative
    0.1308
    """

    function: Callable
    slope_of: Callable
    of: str = "residual"  # type: ignore[misc]
    second: Callable | None = None

    name, formula = "custom", "given by the user"

    def __post_init__(self) -> None:
        if self.of not in ("residual", "margin"):
            raise ParameterError(f"of must be 'residual' or 'margin', got {self.of!r}")
        given = ["function", "slope_of"] if self.second is None else ["function", "slope_of", "second"]
        for name in given:
            if not callable(getattr(self, name)):
                raise ParameterError(f"{name} must be a function of an array, got {getattr(self, name)!r}")
        with np.errstate(over="ignore", invalid="ignore"):
            for name in given:
                self._require_numbers(name)
            self._require_convex()

    def _require_numbers(self, name: str) -> None:
        """Far from zero values may overflow, but some must be finite, and near zero all must be numbers."""
        found = self._evaluated(name, _PROBES)
        missing = np.flatnonzero(np.isnan(found) & (np.abs(_PROBES) <= 1.0))
        if len(missing):
            raise ParameterError(f"{name} must return numbers, got nan at z = {_PROBES[missing[0]]:.4g}")
        if not np.isfinite(found).any():
            raise ParameterError(f"{name} must return finite numbers, got none for z between -100 and 100")

    def _require_convex(self) -> None:
        values, slopes = self.value(_PROBES), self.derivative(_PROBES)
        known = np.isfinite(values) & np.isfinite(slopes)
        z, values, slopes = _PROBES[known], values[known], slopes[known]
        scale = 1e-6 * max(1.0, float(np.abs(slopes).max(initial=0.0)))
        falls = np.flatnonzero(np.diff(slopes) < -scale)
        if len(falls):
            raise ParameterError(f"the loss must be convex, but its derivative falls near z = {z[falls[0]]:.4g}")
        # For a convex function, every chord is as steep as the derivative is somewhere between its ends.
        chords = np.diff(values) / np.diff(z)
        slack = scale + 1e-9 * np.abs(values[1:]) / np.diff(z)
        wrong = np.flatnonzero((chords < slopes[:-1] - slack) | (chords > slopes[1:] + slack))
        if len(wrong):
            raise ParameterError(f"slope_of must be the derivative of function, but is not near z = {z[wrong[0]]:.4g}")

    def value(self, z: ArrayLike) -> Array:
        return self._evaluated("function", z)

    def derivative(self, z: ArrayLike) -> Array:
        return self._evaluated("slope_of", z)

    def _evaluated(self, name: str, z: ArrayLike) -> Array:
        z = np.asarray(z, dtype=np.float64)
        found = getattr(self, name)(z)
        try:
            found = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{name} must return one number for each z, got {type(found).__name__}") from error
        if found.shape != z.shape:
            raise ParameterError(f"{name} must return one number for each z: shape {z.shape}, got {found.shape}")
        return found

    def curvature(self, z: ArrayLike) -> Array:
        z = np.asarray(z, dtype=np.float64)
        if self.second is not None:
            return np.maximum(0.0, self._evaluated("second", z))
        step = 1e-5 * np.maximum(1.0, np.abs(z))
        return np.maximum(0.0, (self.derivative(z + step) - self.derivative(z - step)) / (2.0 * step))

    def conjugate(self, a: ArrayLike) -> Array:
        """a z - loss(z) where the derivative is a, found by bisection; infinite if it never is."""
        a = np.asarray(a, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = self._bracket(a)
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                below = self.derivative(middle) < a
                low, high = np.where(below, middle, low), np.where(below, high, middle)
            found = np.maximum(a * low - self.value(low), a * high - self.value(high))
        return np.where(np.maximum(np.abs(low), np.abs(high)) < _FARTHEST, found, np.inf)

    def _bracket(self, a: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends between which the derivative passes a, if it does so before `_FARTHEST`."""
        low, high = np.full(a.shape, -1.0), np.full(a.shape, 1.0)
        while True:
            too_high = (self.derivative(low) > a) & (low > -_FARTHEST)
            too_low = (self.derivative(high) < a) & (high < _FARTHEST)
            if not (too_high | too_low).any():
                return low, high
            low, high = np.where(too_high, 4.0 * low, low), np.where(too_low, 4.0 * high, high)

    def slope(self, reach: float) -> float:
        ends = np.array([-min(reach, _FARTHEST), min(reach, _FARTHEST)])
        return float(np.abs(self.derivative(ends)).max())


# The two of linear support vector regression.
TUBE_LOSSES = {loss.name: loss for loss in (EpsilonInsensitive, SquaredEpsilonInsensitive)}

CONVEX_LOSSES = {
    **{name: LOSSES_OF_MARGINS[name] for name in ("hinge", "squared_hinge", "logistic", "exponential")},
    **{loss.name: loss for loss in (Squared(), Huber(), EpsilonInsensitive(), SquaredEpsilonInsensitive(), Pinball())},
}


def resolve_loss(loss: str | Loss) -> Loss:
    """The loss of this name, or a loss given by the user."""
    if isinstance(loss, Loss) and loss.is_convex:
        return loss
    if isinstance(loss, str) and loss in CONVEX_LOSSES:
        return CONVEX_LOSSES[loss]
    names = ", ".join(repr(name) for name in CONVEX_LOSSES)
    raise ParameterError(f"loss must be one of {names}, or a convex Loss such as Huber(delta=0.5), got {loss!r}")
