"""Rows of a matrix as compiled code sees them: dense or CSR behind the same few questions.

A view is a named tuple of the user's own arrays; nothing is copied, whatever the floating
point type and the width of the indices. Sums are in double precision, because the other
operand is. What a row does (`row_dot`, `row_add`, ...) is chosen by the type of the view when
the caller is compiled, so a solver is written once.
"""

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload

from mercer._jit.compile import FAST

_OPTIONS = {"fastmath": set(FAST)}


class DenseRows(NamedTuple):
    """Rows of a two-dimensional array in C order."""

    values: np.ndarray

    @property
    def n_rows(self):
        return self.values.shape[0]

    @property
    def n_entries(self):
        return self.values.size


class SparseRows(NamedTuple):
    """Rows of a CSR matrix: row i has entries indptr[i] to indptr[i + 1]."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray

    @property
    def n_rows(self):
        return len(self.indptr) - 1

    @property
    def n_entries(self):
        return int(self.indptr[-1])


def view_rows(X):
    """The view of a checked float32 or float64 array in C order, or of a sound CSR matrix."""
    if hasattr(X, "indptr"):
        return SparseRows(X.data, X.indices, X.indptr)
    return DenseRows(X)


def _is_dense(rows):
    return isinstance(rows, types.BaseNamedTuple) and rows.instance_class is DenseRows


def row_dot(rows, i, w):
    """<x_i, w>."""


def row_add(rows, i, step, w):
    """w += step x_i."""


def row_square(rows, i):
    """|x_i|^2."""


def row_outer(rows, i, step, H):
    """The lower triangle of H += step x_i x_i^T; CSR rows have sorted indices."""


@overload(row_dot, inline="always", jit_options=_OPTIONS)
def _row_dot(rows, i, w):
    if _is_dense(rows):

        def dense(rows, i, w):
            total = 0.0
            row = rows.values[i]
            for j in range(row.shape[0]):
                total += row[j] * w[j]
            return total

        return dense

    def sparse(rows, i, w):
        total = 0.0
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            total += rows.data[k] * w[rows.indices[k]]
        return total

    return sparse


@overload(row_add, inline="always", jit_options=_OPTIONS)
def _row_add(rows, i, step, w):
    if _is_dense(rows):

        def dense(rows, i, step, w):
            row = rows.values[i]
            for j in range(row.shape[0]):
                w[j] += step * row[j]

        return dense

    def sparse(rows, i, step, w):
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            w[rows.indices[k]] += step * rows.data[k]

    return sparse


@overload(row_square, inline="always", jit_options=_OPTIONS)
def _row_square(rows, i):
    if _is_dense(rows):

        def dense(rows, i):
            total = 0.0
            row = rows.values[i]
            for j in range(row.shape[0]):
                total += np.float64(row[j]) * np.float64(row[j])
            return total

        return dense

    def sparse(rows, i):
        total = 0.0
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            total += np.float64(rows.data[k]) * np.float64(rows.data[k])
        return total

    return sparse


@overload(row_outer, inline="always", jit_options=_OPTIONS)
def _row_outer(rows, i, step, H):
    if _is_dense(rows):

        def dense(rows, i, step, H):
            row = rows.values[i]
            for j in range(row.shape[0]):
                scaled, target = step * row[j], H[j]
                for k in range(j + 1):
                    target[k] += scaled * row[k]

        return dense

    def sparse(rows, i, step, H):
        begin, end = rows.indptr[i], rows.indptr[i + 1]
        for j in range(begin, end):
            scaled, target = step * rows.data[j], H[rows.indices[j]]
            for k in range(begin, j + 1):
                target[rows.indices[k]] += scaled * rows.data[k]

    return sparse
