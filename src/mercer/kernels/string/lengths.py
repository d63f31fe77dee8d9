"""The lengths of the substrings or subsequences that a string kernel compares."""

import numbers
from typing import Any, cast

import numpy as np

from mercer._errors import ParameterError


def is_length(value: Any) -> bool:
    """Whether `value` is a positive whole number."""
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)) and cast(int, value) > 0


def require_length(length: Any) -> None:
    """Refuse anything but a positive whole number, or a pair (shortest, longest) of them."""
    pair = length if isinstance(length, (tuple, list)) else (length, length)
    if len(pair) != 2 or not all(is_length(value) for value in pair) or pair[0] > pair[1]:
        raise ParameterError(
            f"length must be a positive whole number or a pair (shortest, longest) of them, got {length!r}"
        )


def length_range(length: int | tuple[int, int]) -> tuple[int, int]:
    """(shortest, longest)."""
    return (int(length[0]), int(length[1])) if isinstance(length, (tuple, list)) else (int(length), int(length))
