"""Weighted sums of matrices in memory, and a single pass over several given ones.

Reading memory is slower than adding: matrices are processed four at a time, by panels of rows up to the
diagonal, and given matrices are summed while they are checked.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.threads import run_parallel
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Span
from mercer.kernels.evaluation import tiles
from mercer.kernels.given.precomputed import add_mirror_residual
from mercer.kernels.gram.kernel_matrix import borrowed, padded_square

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_family import SeveralKernels
    from mercer.kernels.gram.kernel_matrix import StoredMatrix

# Rows of a sum that are computed together, up to the diagonal.
PANEL = 64
# Rows that are still in the cache when they are read again.
NEAR = 16


@jit
def _add_four(
    first: Array,
    second: Array,
    third: Array,
    fourth: Array,
    weights: Array,
    out: Array,
    begin: int,
    end: int,
    is_first: bool,
) -> None:
    """Add a weighted sum of four matrices to the rows begin..end of `out`; the first four begin the sums.

    Rows end with the panel of their diagonal. Four together, because a sum is then loaded and stored
    a quarter as often.
    """
    vector_loop()
    a, b, c, d = weights[0], weights[1], weights[2], weights[3]
    for i in range(begin, end):
        length = min((i // PANEL + 1) * PANEL, out.shape[0])
        target = out[i, :length]
        one, two, three, four = first[i, :length], second[i, :length], third[i, :length], fourth[i, :length]
        if is_first:
            for j in range(length):
                target[j] = (a * one[j] + b * two[j]) + (c * three[j] + d * four[j])
        else:
            for j in range(length):
                target[j] += (a * one[j] + b * two[j]) + (c * three[j] + d * four[j])


@jit
def _mirror(out: Array, begin: int, end: int) -> None:
    """Copy what is left of the panels on the diagonal to the other side of it."""
    for top in range(begin, end, PANEL):
        tiles.transpose(out, top, min(top + PANEL, end), 0, top)


@jit
def _add_rows(matrix: Array, rows: IndexArray, coefficients: Array, out: Array) -> None:
    """Add matrix[rows] @ coefficients to `out`."""
    vector_loop()
    for place in range(rows.shape[0]):
        row, total = matrix[rows[place]], 0.0
        for j in range(coefficients.shape[0]):
            total += row[j] * coefficients[j]
        out[place] += total


@jit
def _look_at_four(
    first: Array,
    second: Array,
    third: Array,
    fourth: Array,
    count: int,
    weights: Array,
    spread: Array,
    residuals: Array,
    out: Array,
    begin: int,
    end: int,
    is_first: bool,
) -> None:
    """As `_add_four`, and add to the residuals of the first `count` matrices (`add_mirror_residual`)."""
    for top in range(begin, end, NEAR):
        bottom = min(top + NEAR, end)
        add_mirror_residual(first, top, bottom, spread, residuals[0])
        if count > 1:
            add_mirror_residual(second, top, bottom, spread, residuals[1])
        if count > 2:
            add_mirror_residual(third, top, bottom, spread, residuals[2])
        if count > 3:
            add_mirror_residual(fourth, top, bottom, spread, residuals[3])
        _add_four(first, second, third, fourth, weights, out, top, bottom, is_first)


def _in_fours(matrices: Sequence[FloatArray], weights: FloatArray) -> Iterator[tuple[Array, ...]]:
    """Groups of four matrices and their weights; the last group is filled up with matrices of weight zero."""
    used = [(matrix, weight) for matrix, weight in zip(matrices, weights, strict=True) if weight != 0.0]
    # One of the same group, because its rows are in the cache.
    used += [(matrix, 0.0) for matrix, _ in used[-1:]] * (-len(used) % 4)
    for k in range(0, len(used), 4):
        group, own = zip(*used[k : k + 4], strict=True)
        yield *group, np.array(own)


def weighted_sum(matrices: Sequence[FloatArray], weights: FloatArray, dtype: DTypeLike, workers: int) -> Array:
    """The sum of square C-ordered matrices in double precision, by their lower halves; padded as a `StoredMatrix`."""
    n = len(matrices[0])
    out, groups = padded_square(n, dtype, borrowed), list(_in_fours(matrices, weights))

    def rows(span: Span) -> None:
        for place, group in enumerate(groups):
            _add_four(*group, out, *span, place == 0)
        _mirror(out, *span)

    # The last panels are the longest.
    run_parallel(rows, reversed(tiles.spans(n, n if workers == 1 else PANEL)), workers)
    if not groups:
        out[:] = 0.0
    return out


def look_and_sum(
    matrices: Sequence[FloatArray], spread: FloatArray, dtype: DTypeLike, workers: int
) -> tuple[FloatArray, Array]:
    """(K_m v - K_m'v for each matrix, shape (M, n); the sum of all): both from one pass.

    Parameters
    ----------
    matrices : list of ndarray (n, n)
        In C order and double precision, not necessarily finite.
    spread : ndarray (n,)
        v.
    dtype : float32 or float64
        Of the sum, which is padded as a `StoredMatrix`.
    workers : int
    """
    n, count = len(matrices[0]), len(matrices)
    spans = tiles.spans(n, n if workers == 1 else 2 * PANEL)
    out, groups = padded_square(n, dtype, borrowed), list(_in_fours(matrices, np.ones(count)))
    residuals = np.zeros((len(spans), count, n))

    def rows(place: int) -> None:
        for k, (*group, weights) in enumerate(groups):
            own = residuals[place, 4 * k : 4 * k + 4]
            _look_at_four(*group, len(own), weights, spread, own, out, *spans[place], k == 0)
        _mirror(out, *spans[place])

    run_parallel(rows, range(len(spans)), workers)
    return residuals.sum(axis=0), out


class UnroundedSum:
    """The source of a weighted sum in single precision: kept matrices in double precision.

    Parameters
    ----------
    several : SeveralKernels
    weights : ndarray (M,)
    ridge : ndarray (n,) or None
        Added to the diagonal.
    index : ndarray of int, optional
        The items; all of them by default.
    """

    is_rough = False
    # Each takes as long as one of every matrix.
    rows_to_compare = 16

    def __init__(
        self,
        several: "SeveralKernels",
        weights: FloatArray,
        ridge: FloatArray | None = None,
        index: IndexArray | None = None,
    ) -> None:
        self.several, self.weights, self.ridge = several, weights, ridge
        self.index = np.arange(several.n) if index is None else index

    def view(self, indices: IndexArray) -> "UnroundedSum":
        """The same for some of the items."""
        return UnroundedSum(self.several, self.weights, self.ridge, self.index[indices])

    def rough_rows(self) -> IndexArray:
        return np.arange(0)

    def longest(self, indices: IndexArray, count: int) -> IndexArray:
        """None: entries are rounded once, each relative to its own size."""
        return indices[:0]

    def in_double(self) -> "StoredMatrix":
        """All of it, in double precision."""
        whole = self.several.weighted(self.weights, ridge=self.ridge)
        return whole if len(self.index) == whole.n else whole.view(self.index)

    def rows_in_double(self, indices: IndexArray) -> FloatArray:
        return self._part(indices, np.arange(len(self.index)))

    def product_in_double(self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray) -> FloatArray:
        spread, left = np.zeros(self.several.n), self.index[rows]
        spread[self.index[columns]] = coefficients
        out = np.zeros(len(left)) if self.ridge is None else self.ridge[left] * spread[left]
        for factor, matrix in zip(self.weights * self.several.factors, self.several.matrices, strict=True):
            _add_rows(matrix, left, factor * spread, out)
        return out

    def _part(self, rows: IndexArray, columns: IndexArray) -> FloatArray:
        left, right = self.index[rows], self.index[columns]
        places, factors = np.ix_(left, right), self.weights * self.several.factors
        total = sum(factor * matrix[places] for factor, matrix in zip(factors, self.several.matrices, strict=True))
        if self.ridge is not None:
            total += np.where(left[:, None] == right, self.ridge[right], 0.0)
        return cast(FloatArray, total)
