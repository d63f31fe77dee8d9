"""A number that changes when an array does, at the speed of memory."""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array


@jit
def _weighted_sum(words: Array) -> np.uint64:
    """Each word times its own odd number, modulo 2^64."""
    vector_loop()
    total = np.uint64(0)
    for i in range(words.shape[0]):
        total += np.uint64(words[i]) * np.uint64(2 * i + 1)
    return total


def mark(array: Array) -> int:
    """A number for the bits of an array of numbers of four or eight bytes.

    Odd numbers have an inverse modulo 2^64, so a change of any one number changes it for certain, and others, such as
    rows that change places, in all but one of 2^64 cases; who wants to deceive it can.
    """
    words = np.ascontiguousarray(array).reshape(-1)
    return int(_weighted_sum(words.view(np.uint64 if words.itemsize == 8 else np.uint32)))
