"""Checks of the parameters that the estimators share, each with its remedy."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import ArrayLike, FloatArray


def require_number(
    name: str,
    value: Any,
    *,
    above: float = -np.inf,
    below: float = np.inf,
    least: float = -np.inf,
    most: float = np.inf,
) -> None:
    """A finite real number, larger than `above`, smaller than `below`, `least` or more, `most` or less."""
    if type(value) is not float and (not isinstance(value, Real) or isinstance(value, (bool, np.bool_))):
        fine = False
    else:
        fine = above < cast(float, value) < below and least <= cast(float, value) <= most
    if not fine:
        bounds = {f" above {above:g}": above, f", {least:g} or more": least}
        bounds |= {f" below {below:g}": below, f" at most {most:g}": most}
        told = " and".join(text for text, bound in bounds.items() if np.isfinite(bound))
        raise ParameterError(f"{name} must be a finite number{told}, got {value!r}")


def require_numbers(name: str, values: ArrayLike) -> FloatArray:
    """An array of numbers in double precision, of any shape and size."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must be numbers, got {values!r}") from error


def require_optional_number(name: str, value: Any, *, above: float) -> None:
    """None, or a number above a bound."""
    if value is not None:
        require_number(name, value, above=above)


def require_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name} must be one of {allowed}, got {value!r}")


def require_max_iter(value: Any) -> None:
    """-1 for no limit, or a positive count."""
    if isinstance(value, bool) or not isinstance(value, Integral) or (value != -1 and value < 1):
        raise ParameterError(f"max_iter must be -1 (no limit) or a positive integer, got {value!r}")


def require_count(name: str, value: Any, least: int = 1) -> None:
    """A whole number, `least` or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(f"{name} must be a whole number, {least} or more, got {value!r}")


def require_flag(name: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} must be True or False, got {value!r}")


def require_n_jobs(value: Any) -> None:
    """None, or a non-zero integer in joblib's convention."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value == 0):
        raise ParameterError(f"n_jobs must be None or a non-zero integer, got {value!r}")


def require_callbacks(value: Any) -> None:
    """None, or callables."""
    if value is not None and (not hasattr(value, "__iter__") or not all(callable(each) for each in value)):
        raise ParameterError(f"callbacks must be None or a list of functions, got {value!r}")
