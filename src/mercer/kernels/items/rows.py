"""The user's data as prepared by a kernel, once, so that evaluation sees only arrays.

`Rows` is the dot-product form: dense or sparse rows with their squared norms. Dense and
sparse rows support the same three operations (a slice, a subset, the inner products with another
`Rows`), so nothing above this file knows which it has.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from mercer._jit.compile import jit
from mercer._jit.once import computed_once
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Sparse, T
from mercer.kernels.evaluation.exact_distances import negative_half_squares
from mercer.kernels.items.column_statistics import squared_lengths

# A sparse right-hand tile is expanded to (features, SPREAD) so that one sparse row
# updates SPREAD products at a time with vector instructions.
SPREAD = 256


@jit
def _place_features(indptr: IndexArray, indices: IndexArray, position: IndexArray) -> int:
    """Number the features that occur in some CSR rows, in order; all others get the number after
    the last, which is returned. `position` comes full of -1."""
    for k in range(indptr[0], indptr[-1]):
        position[indices[k]] = 0
    count = 0
    for feature in range(position.shape[0]):
        if position[feature] == 0:
            position[feature] = count
            count += 1
    for feature in range(position.shape[0]):
        if position[feature] < 0:
            position[feature] = count
    return count


@jit
def _spread(indptr: IndexArray, indices: IndexArray, data: Array, position: IndexArray, spread: Array) -> None:
    """Write CSR rows as the columns of `spread`; position maps a feature to its row."""
    for j in range(indptr.shape[0] - 1):
        for k in range(indptr[j], indptr[j + 1]):
            spread[position[indices[k]], j] += data[k]


@jit
def _sparse_dots(
    indptr: IndexArray, indices: IndexArray, data: Array, position: IndexArray, spread: Array, out: Array, column: int
) -> None:
    """out[i, column:column+width] = (sparse row i) times `spread`.

    Four terms at a time, so that a product is loaded and stored once for four updates.
    """
    vector_loop()
    width = spread.shape[1]
    for i in range(indptr.shape[0] - 1):
        target = out[i, column : column + width]
        k, end = indptr[i], indptr[i + 1]
        for j in range(width):
            target[j] = 0
        while k + 4 <= end:
            first, second = spread[position[indices[k]]], spread[position[indices[k + 1]]]
            third, fourth = spread[position[indices[k + 2]]], spread[position[indices[k + 3]]]
            a, b, c, d = data[k], data[k + 1], data[k + 2], data[k + 3]
            for j in range(width):
                target[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])
            k += 4
        while k < end:
            first, a = spread[position[indices[k]]], data[k]
            for j in range(width):
                target[j] += a * first[j]
            k += 1


@jit
def _take_rows(
    indptr: IndexArray,
    indices: IndexArray,
    data: Array,
    chosen: IndexArray,
    new_indptr: IndexArray,
    new_indices: IndexArray,
    new_data: Array,
) -> None:
    """Copy the chosen CSR rows, one after the other."""
    for i in range(chosen.shape[0]):
        source, target = indptr[chosen[i]], new_indptr[i]
        for k in range(new_indptr[i + 1] - target):
            new_indices[target + k] = indices[source + k]
            new_data[target + k] = data[source + k]


class SparseRows:
    """The three arrays of a CSR matrix; slicing shares them and copies nothing."""

    def __init__(self, indptr: IndexArray, indices: IndexArray, data: Array, n_features: int) -> None:
        self.indptr, self.indices, self.data = indptr, indices, data
        self.shape = (len(indptr) - 1, n_features)
        self.dtype = data.dtype

    @classmethod
    def from_scipy(cls, matrix: Sparse) -> Self:
        """From a scipy CSR matrix with sorted indices and no duplicates."""
        return cls(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])

    def to_scipy(self) -> Sparse:
        start, stop = self.indptr[0], self.indptr[-1]
        arrays = (self.data[start:stop], self.indices[start:stop], self.indptr - start)
        return sparse.csr_matrix(arrays, shape=self.shape)

    def take(self, chosen: IndexArray) -> "SparseRows":
        chosen = np.asarray(chosen)
        lengths = (self.indptr[1:] - self.indptr[:-1])[chosen]
        indptr = np.zeros(len(chosen) + 1, self.indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        indices = np.empty(indptr[-1], self.indices.dtype)
        data = np.empty(indptr[-1], self.dtype)
        _take_rows(self.indptr, self.indices, self.data, chosen, indptr, indices, data)
        return SparseRows(indptr, indices, data, self.shape[1])

    def slice(self, start: int, stop: int) -> "SparseRows":
        return SparseRows(self.indptr[start : stop + 1], self.indices, self.data, self.shape[1])

    @computed_once
    def spread_tiles(self) -> list[tuple[int, IndexArray, Array]]:
        """(first column, position of each feature, transposed dense block) for each tile."""
        return [(start, *self._spread_tile(start)) for start in range(0, self.shape[0], SPREAD)]

    def _spread_tile(self, start: int) -> tuple[IndexArray, Array]:
        part = self.slice(start, min(start + SPREAD, self.shape[0]))
        # Features absent from this tile map to the last row, which stays zero; so does the extra
        # position for features of the other side that these rows do not have at all.
        position = np.full(self.shape[1] + 1, -1, np.int32)
        present = _place_features(part.indptr, part.indices, position)
        spread = np.zeros((present + 1, part.shape[0]), self.dtype)
        _spread(part.indptr, part.indices, part.data, position, spread)
        return position, spread

    def dots(self, right: "SparseRows") -> Array:
        tile = scratch("dots", (self.shape[0], right.shape[0]), self.dtype)
        for column, position, spread in right.spread_tiles:
            _sparse_dots(self.indptr, self.indices, self.data, position, spread, tile, column)
        return tile

    def squared_norms(self) -> FloatArray:
        """|x|^2 of each row, summed row by row in double precision."""
        inside = slice(self.indptr[0], self.indptr[-1])
        row = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        with np.errstate(over="ignore"):  # lengths that are infinite are refused where they are looked at
            squares = self.data[inside].astype(np.float64) ** 2
        squares = np.bincount(row, weights=squares, minlength=self.shape[0])
        return squares.astype(np.float64)  # of no entries at all NumPy counts in integers


class Rows:
    """Rows of numbers, dense (C order) or sparse, with their squared norms.

    Parameters
    ----------
    values : ndarray of shape (n, d) in C order, scipy CSR with sorted indices, or SparseRows
        The rows, float32 or float64, already checked to be finite.
    norms : ndarray of shape (n,), optional
        Squared norms, if they are already known.
    by_differences : bool
        Whether the rows are so far from the origin that inner products lose their distances.
    """

    if TYPE_CHECKING:
        values: Any  # an array, or `SparseRows` where `is_sparse`

    by_differences = False

    def __init__(self, values: Any, norms: Array | None = None, by_differences: bool = False) -> None:
        self.by_differences = by_differences
        self.values = SparseRows.from_scipy(values) if sparse.issparse(values) else values
        self.is_sparse = isinstance(self.values, SparseRows)
        self._whole, self._span, self._panels = None, None, {}
        if norms is not None:
            self.norms = norms

    @computed_once
    def norms(self) -> Array:
        """Squared norms |x|^2, accumulated in double precision."""
        if self.is_sparse:
            return self.values.squared_norms().astype(self.dtype)
        return squared_lengths(self.values).astype(self.dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @property
    def n_features(self) -> int:
        return self.values.shape[1]

    @property
    def product_cost(self) -> float:
        """Approximate number of single-precision multiplications in an inner product."""
        return len(self.values.data) / max(1, len(self)) if self.is_sparse else self.n_features

    def __len__(self) -> int:
        return self.values.shape[0]

    def take(self, indices: IndexArray) -> "Rows":
        """The rows at `indices`, copied."""
        taken = self.values.take(indices) if self.is_sparse else self.values[indices]
        return Rows(taken, self.norms[indices], self.by_differences)

    def slice(self, start: int, stop: int) -> "Rows":
        """Rows start..stop, without a copy."""
        part = self.values.slice(start, stop) if self.is_sparse else self.values[start:stop]
        rows = Rows(part, self.norms[start:stop], self.by_differences)
        rows._whole, rows._span = self, (start, stop)
        return rows

    def dense(self) -> Array:
        """The rows as a dense C-ordered array."""
        return self.values.to_scipy().toarray() if self.is_sparse else self.values

    def products(self, right: "Rows", of_distances: bool = False) -> tuple[Array, Array, Array]:
        """The arguments of a kernel in dot-product form: (<x, y>, |x|^2, |y|^2) of these rows and of `right`.

        A kernel of distances gets them by differences if the rows are far away.
        """
        if of_distances and (self.by_differences or right.by_differences):
            nothing = np.zeros(max(len(self), len(right)), self.dtype)
            return negative_half_squares(self, right), nothing[: len(self)], nothing[: len(right)]
        return self.dots(right), self.norms, right.norms

    def dots(self, right: "Rows") -> Array:
        """Inner products of these rows with those of `right`: a C-ordered tile, in a buffer
        that the next call in this thread reuses."""
        if self.is_sparse and right.is_sparse:
            return self.values.dots(right.values)
        if self.is_sparse or right.is_sparse:
            return np.dot(self.dense(), right.dense().T)
        return np.dot(self.values, right.transposed, out=scratch("dots", (len(self), len(right)), self.dtype))

    @property
    def transposed(self) -> Array:
        """The transpose in C order, for many features: beside few rows BLAS takes up to half as long again with
        a view. The rows from which these were sliced keep it."""
        if self.n_features <= 64:
            return self.values.T
        return self._remembered("transposed", lambda: np.ascontiguousarray(self.values.T))

    def _remembered(self, form: str, make: Callable[[], T]) -> T:
        """These rows in the form of a right-hand side of products, kept by those they are part of."""
        if self._whole is None:
            return make()
        known, key = self._whole._panels, (form, self._span)
        if key not in known:
            known[key] = make()
        return known[key]
