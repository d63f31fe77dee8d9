"""Rows that are the same, found by a number for each row that depends on its contents."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._jit.splitmix import GOLDEN
from mercer._types import Array, BoolArray, FloatArray, IndexArray, Rows
from mercer.kernels.given.precomputed import Precomputed

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData


_CHUNK = 4096


def comparable_rows(data: "TrainingData", rows: IndexArray | None = None) -> Any:
    """The training rows, or some of them, if they are vectors; else None."""
    if isinstance(data.kernel, Precomputed) or getattr(getattr(data.X, "dtype", None), "kind", "O") != "f":
        return None
    return data.X if rows is None or len(rows) == data.shape[0] else data.X[rows]


def contradiction(X: Rows, keys: Array, rows: IndexArray, signs: FloatArray) -> IndexArray | None:
    """Positions in `rows` of a negative and a positive row that are equal; None if there are none."""
    ranked = np.argsort(keys[rows], kind="stable")
    own, sides = rows[ranked], signs[ranked]
    suspects = np.flatnonzero((keys[own[1:]] == keys[own[:-1]]) & (sides[1:] != sides[:-1]))
    found = suspects[are_equal(X, own[suspects], own[suspects + 1])]
    if len(found) == 0:
        return None
    pair = ranked[[found[0], found[0] + 1]]
    return pair[np.argsort(signs[pair])]


def row_keys(X: Rows) -> Array:
    """A number for each row that depends on its contents, the same for dense and sparse rows."""
    multipliers = np.random.default_rng(0).integers(1, 2**63, X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if sparse.issparse(X):
        ends = np.concatenate([[np.uint64(0)], np.cumsum(_mixed(X.data) * multipliers[X.indices], dtype=np.uint64)])
        return ends[X.indptr[1:]] - ends[X.indptr[:-1]]
    keys = np.empty(len(X), np.uint64)
    for begin in range(0, len(X), _CHUNK):
        keys[begin : begin + _CHUNK] = (_mixed(X[begin : begin + _CHUNK]) * multipliers).sum(axis=1, dtype=np.uint64)
    return keys


def _mixed(values: FloatArray) -> Array:
    """Hashed bits of the numbers; zero for zero of either sign."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(32))) * GOLDEN
    return bits ^ (bits >> np.uint64(29))


def are_equal(X: Rows, left: IndexArray, right: IndexArray) -> BoolArray:
    """Whether rows left[k] and right[k] are equal, for every k."""
    if sparse.issparse(X):
        return np.asarray(abs(X[left] - X[right]).sum(axis=1)).ravel() == 0.0
    return (X[left] == X[right]).all(axis=1)
