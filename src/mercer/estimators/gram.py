"""Kernel matrices that the user gives, or that a function of the user's returns."""

import numpy as np
from scipy import sparse

from mercer._errors import DataError

# Asymmetry up to this, relative to the largest entry, is rounding.
SYMMETRY = 1e-5
_TILE = 1024


def require_gram(K):
    """Refuse a matrix that is not square or not symmetric."""
    if K.shape[0] != K.shape[1]:
        raise DataError(f"Precomputed matrix must be a square matrix. Input is a {K.shape[0]}x{K.shape[1]} matrix.")
    i, j, distance = _most_asymmetric(K)
    if distance > SYMMETRY * max(K.max(), -K.min()):
        raise DataError(
            f"the precomputed matrix must be symmetric, but K[{i}, {j}] = {K[i, j]:g} and "
            f"K[{j}, {i}] = {K[j, i]:g}; (K + K.T) / 2 makes it so"
        )


def _most_asymmetric(K):
    """(i, j, |K_ij - K_ji|) where it is largest, found tile by tile."""
    worst = (0, 0, 0.0)
    for top in range(0, len(K), _TILE):
        for left in range(top, len(K), _TILE):
            distance = np.abs(K[top : top + _TILE, left : left + _TILE] - K[left : left + _TILE, top : top + _TILE].T)
            i, j = divmod(int(distance.argmax()), distance.shape[1])
            if distance[i, j] > worst[2]:
                worst = (top + i, left + j, float(distance[i, j]))
    return worst


def has_room(items, max_bytes):
    """Whether the square matrix of `items` fits into `max_bytes`."""
    return 8 * _count(items) ** 2 <= max_bytes


def evaluate(function, left, right):
    """The matrix that a kernel function returns for two whole sets, as scikit-learn calls it."""
    shape = (_count(left), _count(right))
    K = function(left, right)
    K = np.asarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64, order="C")
    if K.shape != shape:
        raise DataError(f"the kernel function must return shape {shape} for these rows, got {K.shape}")
    if not np.isfinite(K).all():
        raise DataError("the kernel function must return finite numbers, got NaN or infinity")
    return K


def _count(items):
    return items.shape[0] if hasattr(items, "shape") else len(items)
