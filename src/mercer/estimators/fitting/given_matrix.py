"""Kernel matrices given by the user, or returned by a user's function."""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._jit.threads import run_parallel
from mercer._jit.waiting import ends_in_force
from mercer._types import Array, FloatArray, Rows
from mercer.kernels.evaluation import tiles
from mercer.kernels.given.precomputed import add_mirror_residual, most_asymmetric
from mercer.kernels.gram.weighted_gram_sum import look_and_sum
from mercer.solvers.limits import SLICE_SECONDS

# Asymmetry up to this, relative to the largest entry, is rounding.
SYMMETRY = 1e-5
# Largest difference between row and column sums of a symmetric matrix, relative to the diagonal.
SAME_SUMS = 1e-9
# Items for which a user's function is called in both orders: as many as a tile has, so all of a small fit.
COMPARED = tiles.GRAM_TILE


# Rows of the first call of a user's function under a time limit.
FIRST_ROWS = 16


def require_gram(K: Any) -> None:
    """Refuse a matrix that is not square or not symmetric."""
    if K.shape[0] != K.shape[1]:
        raise DataError(f"Precomputed matrix must be a square matrix. Input is a {K.shape[0]}x{K.shape[1]} matrix.")
    if not looks_symmetric(K):
        _require_symmetric(K)


def looks_symmetric(K: Any) -> bool:
    """Whether weighted row sums equal the column sums, up to rounding; False also if one is not finite.

    With weights uniform on [-1, 1], an entry that differs by SYMMETRY from its mirror image goes unnoticed in less than
    one of 10^4 cases, whatever the others are; this takes one pass instead of comparing every pair.
    """
    residual = np.zeros(len(K))
    add_mirror_residual(_in_rows(K), 0, len(K), _spread_weights(len(K)), residual)
    return bool(_are_small(residual, K.diagonal()))


def look_symmetric(matrices: Sequence[Array], workers: int, dtype: Any = None) -> tuple[Any, Array | None]:
    """(the same for each of several matrices of one size, the sum of all of them or None).

    The sum is computed in the same pass, if its precision is given and the matrices are in C order and double
    precision; it is padded as a `StoredMatrix`.
    """
    n, are_plain = len(matrices[0]), all(K.dtype == np.float64 and K.flags.c_contiguous for K in matrices)
    if dtype is None or not are_plain:
        found = np.empty(len(matrices), dtype=bool)

        def look(place: int) -> None:
            found[place] = looks_symmetric(matrices[place])

        run_parallel(look, range(len(matrices)), workers)
        return found, None
    residuals, total = look_and_sum(matrices, _spread_weights(n), dtype, workers)
    return _are_small(residuals, np.array([K.diagonal() for K in matrices])), total


def _are_small(residuals: FloatArray, diagonals: FloatArray) -> Any:
    # A comparison with NaN is false.
    scale = np.abs(diagonals).max(axis=-1, initial=0.0)
    return np.abs(residuals).max(axis=-1, initial=0.0) <= SAME_SUMS * scale


@lru_cache(maxsize=4)
def _spread_weights(n: int) -> FloatArray:
    """Fixed for each size, so that the verdict is reproducible."""
    return np.random.default_rng(0).uniform(-1.0, 1.0, n)


def _require_symmetric(K: Any) -> None:
    i, j, distance, largest = most_asymmetric(_in_rows(K))
    if distance > SYMMETRY * largest:
        raise DataError(
            f"the precomputed matrix must be symmetric, but K[{i}, {j}] = {K[i, j]:g} and "
            f"K[{j}, {i}] = {K[j, i]:g}; pass (K + K.T) / 2"
        )


def require_symmetric_function(kernel: Any, items: Any) -> None:
    """Refuse a user's kernel that depends on the order of its two items.

    All pairs of up to COMPARED items are checked, of more those of as many evenly spaced ones: only one triangle of a
    matrix is computed, and a full check would double the calls.
    """
    places = np.unique(np.linspace(0, len(items) - 1, min(len(items), COMPARED)).astype(np.intp))
    part = items.take(places)
    K = tiles.fill(kernel, part, part, np.empty((len(places), len(places))))
    i, j, distance, largest = most_asymmetric(K)
    if distance > SYMMETRY * largest:
        first, second = places[i], places[j]
        raise DataError(
            f"the kernel function must be symmetric, but K[{first}, {second}] = {K[i, j]:g} and "
            f"K[{second}, {first}] = {K[j, i]:g}; return the mean of k(x, y) and k(y, x)"
        )


def require_not_negative(K: Any) -> None:
    """Refuse a matrix with a negative entry where entries must be densities."""
    i, j = np.unravel_index(np.argmin(K), K.shape)
    if K[i, j] < 0:
        raise DataError(f"the precomputed matrix must have no negative entry, got K[{i}, {j}] = {K[i, j]:g}")


def _in_rows(K: Array) -> Array:
    """K, or its transpose, whichever is in C order: the results are the same."""
    return K.T if K.flags.f_contiguous and not K.flags.c_contiguous else np.ascontiguousarray(K)


def has_room(items: Any, max_bytes: float) -> bool:
    """Whether the square matrix of `items` fits into `max_bytes`."""
    return 8 * count_items(items) ** 2 <= max_bytes


def evaluate(function: Callable[..., Any], left: Rows, right: Rows) -> FloatArray:
    """The matrix that a kernel function returns for two whole sets, called as in scikit-learn.

    Under a time limit it is called for some rows of `left` at a time, and not again once time is up.
    """
    ends = ends_in_force()
    if ends is None:
        return _returned(function, left, right)
    if not ends.has_deadline:
        with ends.raising_at_once():
            return _returned(function, left, right)
    parts, begin, length, n = [], 0, FIRST_ROWS, count_items(left)
    while begin < n or not parts:
        with ends.raising_at_once():
            since = time.monotonic()
            parts.append(_returned(function, left[begin : begin + length], right))
            begin += length
            length = _next_length(length, time.monotonic() - since)
    return np.concatenate(parts)


def _next_length(length: int, seconds: float) -> int:
    """As many rows as fill about one slice of time, growing gradually."""
    return max(1, int(length * min(8.0, SLICE_SECONDS / max(seconds, 1e-6))))


def _returned(function: Callable[..., Any], left: Rows, right: Rows) -> FloatArray:
    shape = (count_items(left), count_items(right))
    K = function(left, right)
    K = np.asarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64, order="C")
    if K.shape != shape:
        raise DataError(f"the kernel function must return shape {shape} for these rows, got {K.shape}")
    if not np.isfinite(K).all():
        raise DataError("the kernel function must return finite numbers, got NaN or infinity")
    return K


def count_items(items: Any) -> int:
    """Number of rows, or of items of a list; something without shape or length may yet become an array."""
    if not hasattr(items, "shape") and not hasattr(items, "__len__"):
        items = np.atleast_1d(np.asarray(items))
    return items.shape[0] if hasattr(items, "shape") else len(items)
