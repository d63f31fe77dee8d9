"""Rules for values in a model file: small checks, the same for writing and for reading.

A rule is a function of one value that raises `Refused` with the end of a sentence ("must be ...").
Compiled code has no bounds checks, so everything it will see has a rule.
"""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from scipy import sparse

from mercer._types import Array

if TYPE_CHECKING:
    Rule: TypeAlias = Callable[[Any], None]
    """Raises `Refused` if a value is not what it must be."""

# Numbers processed together, so that checking a large array needs little memory.
_STRETCH = 2**18


class Refused(Exception):
    """A value breaks a rule; the text is the end of a sentence that the catcher begins."""


def anything(_value: Any) -> None:
    """Anything that can be stored."""


def flag(value: Any) -> None:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise Refused(f"must be True or False, got {_shown(value)}")


def text(value: Any) -> None:
    """A str."""
    if not isinstance(value, str):
        raise Refused(f"must be a text, got {_shown(value)}")


def integer(least: int | None = None) -> "Rule":
    """A whole number, not below `least`."""

    def rule(value: Any) -> None:
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
            raise Refused(f"must be a whole number, got {_shown(value)}")
        if least is not None and value < least:
            raise Refused(f"must be at least {least}, got {value}")

    return rule


def number(finite: bool = True) -> "Rule":
    """A real number; NaN and infinity only if they are allowed."""

    def rule(value: Any) -> None:
        is_real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not is_real or (finite and not math.isfinite(value)):
            raise Refused(f"must be a {'finite ' if finite else ''}number, got {_shown(value)}")

    return rule


def optional(inner: "Rule") -> "Rule":
    """None, or a value that the inner rule allows."""

    def rule(value: Any) -> None:
        if value is not None:
            inner(value)

    return rule


def either(*rules: "Rule") -> "Rule":
    """A value that one of the rules allows."""

    def rule(value: Any) -> None:
        reasons = []
        for one in rules:
            try:
                return one(value)
            except Refused as refused:
                reasons.append(str(refused))
        raise Refused(", or ".join(reasons))

    return rule


def list_of(inner: "Rule", kind: type | tuple[type, ...] = (list, tuple)) -> "Rule":
    """A list or tuple whose entries the inner rule allows."""

    def rule(value: Any) -> None:
        if not isinstance(value, kind):
            raise Refused(f"must be a list, got {_shown(value)}")
        if inner is not anything:
            for entry in cast(Iterable[Any], value):
                inner(entry)

    return rule


def dict_of(value: Any) -> None:
    """A dict."""
    if not isinstance(value, dict):
        raise Refused(f"must be a dict, got {_shown(value)}")


def instance(*names: str) -> "Rule":
    """An object of a class with one of these names, or derived from one."""

    def rule(value: Any) -> None:
        if not any(base.__name__ in names for base in type(value).__mro__):
            raise Refused(f"must be a {' or '.join(names)}, got {_shown(value)}")

    return rule


def array(
    kinds: str = "f", ndim: int | tuple[int, ...] | None = None, finite: bool = True, least: int | None = None
) -> "Rule":
    """An array of numbers of some kinds (of `numpy.dtype.kind`)."""

    def rule(value: Any) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            raise Refused(f"must be an array of kind {kinds!r}, got {_shown(value)}")
        if ndim is not None and value.ndim not in np.atleast_1d(ndim):
            raise Refused(f"must have {ndim} dimensions, got shape {value.shape}")
        if finite and not is_finite(value):
            raise Refused("must be finite, but contains NaN or infinity")
        if least is not None and value.size and value.min() < least:
            raise Refused(f"must not be below {least}, got {value.min()}")

    return rule


def csr(value: Any) -> None:
    """A CSR matrix of finite numbers; its indices are checked when it is created."""
    if not sparse.issparse(value) or value.format != "csr":
        raise Refused(f"must be a CSR matrix, got {_shown(value)}")
    if not is_finite(value.data):
        raise Refused("must be finite, but contains NaN or infinity")


def labels(value: Any) -> None:
    """Class labels: a one-dimensional array of numbers, booleans or texts."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "iufbUO":
        raise Refused(f"must be an array of labels, got {_shown(value)}")
    if not is_finite(value):
        raise Refused("must be finite, but contains NaN or infinity")


def names(value: Any) -> None:
    """A one-dimensional array of texts."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or not all(isinstance(one, str) for one in value.tolist()):
        raise Refused(f"must be an array of texts, got {_shown(value)}")


def is_finite(values: Array) -> bool:
    """Whether there is no NaN or infinity, using little memory."""
    if values.dtype.kind != "f":
        return True
    flat = values.reshape(-1) if values.flags.c_contiguous else values.T.reshape(-1)
    return all(np.isfinite(flat[begin : begin + _STRETCH]).all() for begin in range(0, flat.size, _STRETCH))


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of dtype {value.dtype} and shape {value.shape}"
    shown = repr(value) if isinstance(value, (bool, int, float, str, type(None))) else type(value).__name__
    return shown if len(shown) <= 60 else shown[:57] + "..."


floats = array("f")
floats1 = array("f", ndim=1)
floats2 = array("f", ndim=2)
indices = array("iu", ndim=1, least=0)
