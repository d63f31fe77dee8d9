"""A symmetric matrix as one triangle, which is what goes from a worker of a cluster to another process."""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array


def triangle_of(H: Array) -> Array:
    """The entries on and below the diagonal of a symmetric matrix, row by row."""
    out = np.empty(len(H) * (len(H) + 1) // 2, H.dtype)
    _pack(H, out)
    return out


def matrix_of(triangle: Array) -> Array:
    """Inverse of `triangle_of`."""
    n = (int(np.sqrt(8 * len(triangle) + 1)) - 1) // 2
    H = np.empty((n, n), triangle.dtype)
    # What comes over a network may begin at any byte.
    _unpack(triangle if triangle.flags.aligned and triangle.flags.writeable else triangle.copy(), H)
    return H


@jit
def _pack(H: Array, out: Array) -> None:
    k = 0
    for i in range(H.shape[0]):
        for j in range(i + 1):
            out[k] = H[i, j]
            k += 1


@jit
def _unpack(triangle: Array, H: Array) -> None:
    k = 0
    for i in range(H.shape[0]):
        for j in range(i + 1):
            H[i, j] = triangle[k]
            H[j, i] = triangle[k]
            k += 1
