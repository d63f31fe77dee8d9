"""Parameters of a kernel: their checks, and scikit-learn's interface to them.

`Parameters` gives a frozen dataclass `get_params` and `replace`, so that `clone` and grid-search names such as
``kernel__gamma`` work. A kernel never changes, since several estimators and models may hold it: setting ``k1__gamma``
replaces it.
"""

import dataclasses
import math
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import FloatArray, Rows
from mercer.kernels.base.gamma_from_data import median_distance, squared_distances

# An entry raised to this power has lost six of its sixteen digits; beyond it there is little left.
LARGEST_POWER = 1_000_000
GAMMA_RULES = ("scale", "auto", "median")


def is_number(value: object) -> bool:
    """Whether `value` is a real number; True and False are not."""
    # The usual type first: checking an abstract class takes ten times as long.
    return type(value) is float or (isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)))


def require_finite(name: str, value: Any) -> None:
    """Refuse anything but a finite real number."""
    if not is_number(value) or not math.isfinite(value):
        raise ParameterError(f"{name} must be a finite number, got {value!r}")


def require_positive(name: str, value: Any) -> None:
    """Refuse anything but a finite number above zero."""
    require_finite(name, value)
    if value <= 0:
        raise ParameterError(f"{name} must be positive, got {value!r}")


def require_non_negative(name: str, value: Any) -> None:
    """Refuse anything but a finite number that is zero or above."""
    require_finite(name, value)
    if value < 0:
        raise ParameterError(f"{name} must not be negative, got {value!r}")


def require_count(name: str, value: Any) -> None:
    """Refuse anything but a whole number that is zero or above."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or value < 0:
        raise ParameterError(f"{name} must be a whole number, 0 or more, got {value!r}")


def require_power(name: str, value: Any) -> None:
    """Refuse a power of kernel values in which hardly a digit would be right."""
    if value > LARGEST_POWER:
        # There is no use in repeating a number of thousands of digits.
        told = repr(value) if value < 1e100 else "a larger number"
        raise ParameterError(
            f"{name} must be at most {LARGEST_POWER:,}, got {told}: a power multiplies rounding errors by {name}; "
            "an RBF kernel, or a larger gamma, sets items as far apart without a power"
        )


def require_flag(name: str, value: Any) -> None:
    """Refuse anything but True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} must be True or False, got {value!r}")


def require_gamma(value: Any) -> None:
    """Refuse anything but a positive number or the name of a rule."""
    if is_number(value):
        require_positive("gamma", value)
    elif not isinstance(value, str) or value not in GAMMA_RULES:
        raise ParameterError(f'gamma must be a positive number, "scale", "auto" or "median", got {value!r}')


def gamma_from_data(
    rule: str,
    X: Rows,
    weights: FloatArray | None = None,
    distances: Callable[[FloatArray], FloatArray] = squared_distances,
) -> float:
    """The value of "scale" (1 / (d var(X))), "auto" (1 / d) or "median".

    "median" is 1 / the median of `distances` between different rows.
    """
    if rule == "median":
        return 1.0 / median_distance(X, weights, distances)
    shape = X.shape if sparse.issparse(X) else np.shape(X)
    features = max(1, shape[1])
    if rule == "auto":
        return 1.0 / features
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _variance(X) if weights is None else _weighted_variance(X, weights)
    # Constant data have no scale; 1 is scikit-learn's choice.
    gamma = 1.0 / (features * variance) if variance > 0 else 1.0
    if not (np.isfinite(variance) and 0 < gamma < np.inf):
        raise DataError(f'gamma="scale" needs features of a usable size, but their variance is {variance:g}; scale X')
    return gamma


def _variance(X: Rows) -> float:
    """Variance over all entries, including the zeros of a sparse matrix."""
    if not sparse.issparse(X):
        return float(np.var(np.asarray(X), dtype=np.float64))
    entries = max(1, X.shape[0] * X.shape[1])
    total = X.sum(dtype=np.float64)
    squares = X.multiply(X).sum(dtype=np.float64)
    return float(squares / entries - (total / entries) ** 2)


def _weighted_variance(X: Rows, weights: FloatArray) -> float:
    """Variance over all entries if row i occurred weights[i] times."""
    share = weights / weights.sum()
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)
    # Moments of the columns, as numbers even where scipy gives a matrix.
    mean = float(np.mean(np.asarray(share @ X)))
    return float(np.mean(np.asarray(share @ squares))) - mean**2


class Parameters:
    """Named parameters of a frozen dataclass, with scikit-learn's interface."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep`, those of nested kernels as ``name__inner``."""
        params = {field.name: getattr(self, field.name) for field in dataclasses.fields(cast(Any, self))}
        if deep:
            for name, child in self.nested_kernels().items():
                params[name] = child
                params.update({f"{name}__{key}": value for key, value in child.get_params().items()})
        return params

    def replace(self, **params: Any) -> Self:
        """A copy with some parameters changed; ``name__inner`` addresses a nested kernel."""
        fields = self.get_params(deep=False)
        nested = self.nested_kernels()
        inner = {}
        for key, value in params.items():
            name, separator, rest = key.partition("__")
            if name not in nested and (separator or name not in fields):
                raise ParameterError(f"{type(self).__name__} has no parameter {key!r}; it has {self._names()}")
            if separator:
                inner.setdefault(name, {})[rest] = value
            elif name in nested:
                nested[name] = value
            else:
                fields[name] = value
        for name, changes in inner.items():
            nested[name] = nested[name].replace(**changes)
        return type(self)(**self._with_nested(fields, nested))

    def _names(self) -> str:
        return ", ".join(self.get_params()) or "none"

    def nested_kernels(self) -> dict[str, Any]:
        """Kernels among the parameters, by name."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(cast(Any, self))}
        return {name: value for name, value in values.items() if isinstance(value, Parameters)}

    def _with_nested(self, fields: dict[str, Any], nested: dict[str, Any]) -> dict[str, Any]:
        """Put nested kernels back among the fields."""
        return {**fields, **nested}


class GammaFromData:
    """Adds to a kernel the values of gamma that depend on training data."""

    # The distance that gamma multiplies, between two sets of rows.
    _distances = staticmethod(squared_distances)

    if TYPE_CHECKING:
        gamma: Any

    @property
    def is_bound(self) -> bool:
        return not isinstance(self.gamma, str)

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        """The kernel with "scale", "auto" or "median" replaced by its number for the rows X."""
        if self.is_bound:
            return self
        return cast(Any, self).replace(gamma=gamma_from_data(self.gamma, X, weights, self._distances))
