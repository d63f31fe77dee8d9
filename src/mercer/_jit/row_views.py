"""Rows of a matrix as compiled code sees them: dense or CSR behind the same few questions.

A view is a named tuple of the user's own arrays; nothing is copied, whatever the floating
point type and the width of the indices. Sums are in double precision, because the other
operand is. What a row does (`row_dot`, `row_add`, ...) is chosen by the type of the view when
the caller is compiled, so a solver is written once.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
from numba.core import types
from numba.extending import overload

from mercer._jit.compile import FAST
from mercer._jit.prefetch import LINE, prefetch
from mercer._types import FloatArray, Rows

Place: TypeAlias = int | np.integer[Any]
"""Which row; without a sign where its sign would cost something."""

_OPTIONS = {"fastmath": set(FAST)}


class DenseRows(NamedTuple):
    """Rows of a two-dimensional array in C order."""

    values: np.ndarray

    @property
    def n_rows(self) -> int:
        return self.values.shape[0]

    @property
    def n_entries(self) -> int:
        return self.values.size


class SparseRows(NamedTuple):
    """Rows of a CSR matrix: row i has entries indptr[i] to indptr[i + 1]."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_entries(self) -> int:
        return int(self.indptr[-1])


if TYPE_CHECKING:
    RowView: TypeAlias = DenseRows | SparseRows
    """What the questions below are asked of."""


def view_rows(X: Rows) -> "RowView":
    """The view of a checked float32 or float64 array in C order, or of a sound CSR matrix."""
    if hasattr(X, "indptr"):
        return SparseRows(X.data, X.indices, X.indptr)
    return DenseRows(X)


def _is_dense(rows: Any) -> bool:
    return isinstance(rows, cast(Any, types).BaseNamedTuple) and rows.instance_class is DenseRows


def _unsigned(rows: Any) -> Any:
    """An index type without a sign, so that compiled code does not ask whether to count from the end."""
    return np.uint32 if rows.types[1].dtype == types.int32 else np.uint64


def row_dot(rows: "RowView", i: Place, w: FloatArray) -> Any:
    """<x_i, w>."""


def row_dot_fresh(rows: "RowView", i: int, w: FloatArray) -> Any:
    """<x_i, w> where w has just been written.

    Loads one by one see a store that is still on its way; a vector gather would wait for it.
    """


def row_add(rows: "RowView", i: Place, step: float, w: FloatArray) -> None:
    """w += step x_i."""


def row_square(rows: "RowView", i: int) -> Any:
    """|x_i|^2."""


def row_square_add(rows: "RowView", i: int, step: float, w: FloatArray) -> None:
    """w += step x_i^2, feature by feature."""


def row_outer(rows: "RowView", i: int, step: float, H: FloatArray) -> None:
    """The lower triangle of H += step x_i x_i^T."""


def row_weighted_square(rows: "RowView", i: int, weights: FloatArray) -> Any:
    """The sum of weights x_i^2 over the features."""


def row_weighted_add(rows: "RowView", i: int, step: float, weights: FloatArray, w: FloatArray) -> None:
    """w += step weights x_i, feature by feature."""


def row_dots(rows: "RowView", i: int, W: FloatArray, out: FloatArray) -> None:
    """out += x_i W for a matrix W with a row for each feature."""


def row_adds(rows: "RowView", i: int, steps: FloatArray, W: FloatArray) -> None:
    """W += x_i steps^T."""


def row_announce(rows: "RowView", i: int) -> None:
    """Ask for the place where row i stands; well before `row_prefetch`."""


def row_prefetch(rows: "RowView", i: int) -> None:
    """Ask for the entries of row i; well before they are used."""


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
    unsigned = _unsigned(rows)

    def sparse(rows, i, w):
        total = 0.0
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            total += rows.data[k] * w[unsigned(rows.indices[k])]
        return total

    return sparse


@overload(row_dot_fresh, inline="always", jit_options=_OPTIONS)
def _row_dot_fresh(rows, i, w):
    if _is_dense(rows):
        return lambda rows, i, w: row_dot(rows, i, w)
    unsigned = _unsigned(rows)

    def sparse(rows, i, w):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        k, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
        one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
        while k + four <= end:
            a += rows.data[k] * w[unsigned(rows.indices[k])]
            b += rows.data[k + one] * w[unsigned(rows.indices[k + one])]
            c += rows.data[k + two] * w[unsigned(rows.indices[k + two])]
            d += rows.data[k + three] * w[unsigned(rows.indices[k + three])]
            k += four
        while k < end:
            a += rows.data[k] * w[unsigned(rows.indices[k])]
            k += one
        return (a + b) + (c + d)

    return sparse


@overload(row_add, inline="always", jit_options=_OPTIONS)
def _row_add(rows, i, step, w):
    if _is_dense(rows):

        def dense(rows, i, step, w):
            row = rows.values[i]
            for j in range(row.shape[0]):
                w[j] += step * row[j]

        return dense
    unsigned = _unsigned(rows)

    def sparse(rows, i, step, w):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            w[unsigned(rows.indices[k])] += step * rows.data[k]

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
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            total += np.float64(rows.data[k]) * np.float64(rows.data[k])
        return total

    return sparse


@overload(row_square_add, inline="always", jit_options=_OPTIONS)
def _row_square_add(rows, i, step, w):
    if _is_dense(rows):

        def dense(rows, i, step, w):
            row = rows.values[i]
            for j in range(row.shape[0]):
                w[j] += step * row[j] * row[j]

        return dense
    unsigned = _unsigned(rows)

    def sparse(rows, i, step, w):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            w[unsigned(rows.indices[k])] += step * rows.data[k] * rows.data[k]

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
    unsigned = _unsigned(rows)

    def sparse(rows, i, step, H):
        begin, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
        for j in range(begin, end):
            scaled, row = step * rows.data[j], unsigned(rows.indices[j])
            for k in range(begin, j + np.uint64(1)):
                column = unsigned(rows.indices[k])
                H[max(row, column), min(row, column)] += scaled * rows.data[k]

    return sparse


@overload(row_announce, inline="always", jit_options=_OPTIONS)
def _row_announce(rows, i):
    if _is_dense(rows):
        return lambda rows, i: None
    return lambda rows, i: prefetch(rows.indptr, i)


@overload(row_prefetch, inline="always", jit_options=_OPTIONS)
def _row_prefetch(rows, i):
    # Of a long row the beginning is enough: the processor sees by itself where it goes on.
    if _is_dense(rows):
        step = LINE // (rows.types[0].dtype.bitwidth // 8)

        def dense(rows, i):
            row = rows.values[i]
            for j in range(0, min(row.shape[0], 16 * step), step):
                prefetch(row, j)

        return dense
    wide = LINE // (rows.types[0].dtype.bitwidth // 8)
    narrow = LINE // (rows.types[1].dtype.bitwidth // 8)

    def sparse(rows, i):
        begin, end = rows.indptr[i], rows.indptr[i + 1]
        for k in range(begin, min(end, begin + 16 * wide), wide):
            prefetch(rows.data, k)
        for k in range(begin, min(end, begin + 16 * narrow), narrow):
            prefetch(rows.indices, k)

    return sparse


@overload(row_weighted_square, inline="always", jit_options=_OPTIONS)
def _row_weighted_square(rows, i, weights):
    if _is_dense(rows):

        def dense(rows, i, weights):
            total = 0.0
            row = rows.values[i]
            for j in range(row.shape[0]):
                total += weights[j] * row[j] * row[j]
            return total

        return dense
    unsigned = _unsigned(rows)

    def sparse(rows, i, weights):
        total = 0.0
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            total += weights[unsigned(rows.indices[k])] * rows.data[k] * rows.data[k]
        return total

    return sparse


@overload(row_weighted_add, inline="always", jit_options=_OPTIONS)
def _row_weighted_add(rows, i, step, weights, w):
    if _is_dense(rows):

        def dense(rows, i, step, weights, w):
            row = rows.values[i]
            for j in range(row.shape[0]):
                w[j] += step * weights[j] * row[j]

        return dense
    unsigned = _unsigned(rows)

    def sparse(rows, i, step, weights, w):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            j = unsigned(rows.indices[k])
            w[j] += step * weights[j] * rows.data[k]

    return sparse


@overload(row_dots, inline="always", jit_options=_OPTIONS)
def _row_dots(rows, i, W, out):
    if _is_dense(rows):

        def dense(rows, i, W, out):
            row = rows.values[i]
            for j in range(row.shape[0]):
                value, weights = row[j], W[j]
                for m in range(out.shape[0]):
                    out[m] += value * weights[m]

        return dense
    unsigned = _unsigned(rows)

    def sparse(rows, i, W, out):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            value, weights = rows.data[k], W[unsigned(rows.indices[k])]
            for m in range(out.shape[0]):
                out[m] += value * weights[m]

    return sparse


@overload(row_adds, inline="always", jit_options=_OPTIONS)
def _row_adds(rows, i, steps, W):
    if _is_dense(rows):

        def dense(rows, i, steps, W):
            row = rows.values[i]
            for j in range(row.shape[0]):
                value, weights = row[j], W[j]
                for m in range(steps.shape[0]):
                    weights[m] += value * steps[m]

        return dense
    unsigned = _unsigned(rows)

    def sparse(rows, i, steps, W):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            value, weights = rows.data[k], W[unsigned(rows.indices[k])]
            for m in range(steps.shape[0]):
                weights[m] += value * steps[m]

    return sparse
