"""Squared distances from inner products, for kernels that NumPy evaluates."""

import numpy as np

from mercer._types import Array


def squared_distances(dots: Array, left_norms: Array, right_norms: Array, out: Array) -> Array:
    """|x|^2 + |y|^2 - 2 x.y, never below zero, written to `out`."""
    np.subtract(left_norms[:, None], dots, out=out)
    out -= dots
    out += right_norms
    return np.maximum(out, 0, out=out)
