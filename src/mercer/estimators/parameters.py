"""Checks of the parameters that the estimators share, each with its remedy."""

from numbers import Integral, Real

import numpy as np

from mercer._errors import ParameterError


def require_number(name, value, *, above=-np.inf):
    """A finite real number, larger than `above`."""
    if type(value) is not float and (not isinstance(value, Real) or isinstance(value, (bool, np.bool_))):
        fine = False
    else:
        fine = above < value < np.inf
    if not fine:
        bound = "" if above == -np.inf else f" above {above:g}"
        raise ParameterError(f"{name} must be a finite number{bound}, got {value!r}")


def require_optional_number(name, value, *, above):
    """None, or a number above a bound."""
    if value is not None:
        require_number(name, value, above=above)


def require_choice(name, value, choices):
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name} must be one of {allowed}, got {value!r}")


def require_max_iter(value):
    """-1 for no limit, or a positive count."""
    if isinstance(value, bool) or not isinstance(value, Integral) or (value != -1 and value < 1):
        raise ParameterError(f"max_iter must be -1 (no limit) or a positive integer, got {value!r}")


def require_flag(name, value):
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} must be True or False, got {value!r}")


def require_n_jobs(value):
    """None, or a non-zero integer in joblib's convention."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value == 0):
        raise ParameterError(f"n_jobs must be None or a non-zero integer, got {value!r}")


def require_callbacks(value):
    """None, or callables."""
    if value is not None and (not hasattr(value, "__iter__") or not all(callable(each) for each in value)):
        raise ParameterError(f"callbacks must be None or a list of functions, got {value!r}")


def require_count(name, value):
    """A positive integer."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < 1:
        raise ParameterError(f"{name} must be a positive integer, got {value!r}")
