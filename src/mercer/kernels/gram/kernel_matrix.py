"""The kernel matrix as a dual solver sees it: a few operations, never the data.

There are two implementations. `StoredMatrix` holds the whole matrix: small problems,
precomputed kernels. `EvaluatedMatrix`, in its own file, computes on demand. Both can show a
subset of themselves (`view`), so the pairs of one-vs-one, folds and paths share one matrix.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.once import computed_once
from mercer._jit.scratch import borrow, give_back
from mercer._jit.threads import run_parallel, thread_count
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Source, Span, Stop
from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.row_cache import add_weighted_rows, gather_rows
from mercer.kernels.gram.near_rows import NearRows, near_rows


class KernelMatrix(ABC):
    """A symmetric matrix K of kernel values between n items."""

    # Whether some entries may err by more than a solver's tolerance: its answer must then be
    # checked with entries in double precision, everywhere.
    is_rough = False
    # Rows on which single precision is compared with double.
    rows_to_compare = 128
    # Whether all of it is in memory.
    is_stored = False
    # Multiplications that an entry takes: none if it is in memory.
    entry_cost: float = 0.0
    # Whether every requested entry is computed on the spot.
    keeps_nothing = False

    def __init__(self, n: int, dtype: DTypeLike, n_jobs: int | None = None) -> None:
        self.n = n
        self.dtype = np.dtype(dtype)
        self.n_jobs = n_jobs

    @property
    @abstractmethod
    def diag(self) -> FloatArray:
        """k(x_i, x_i), float64."""

    @abstractmethod
    def rows(self, indices: IndexArray, stop: Stop | None = None) -> Array:
        """The rows at `indices`, shape (k, n), in the matrix's dtype."""

    @abstractmethod
    def submatrix(self, indices: IndexArray, out: Array, stop: Stop | None = None) -> Array:
        """Write K[indices, indices] to the upper left corner of the C-ordered `out`."""

    @abstractmethod
    def product(
        self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray | None = None, stop: Stop | None = None
    ) -> FloatArray:
        """K[rows, columns] @ coefficients in float64; all rows if `rows` is None."""

    @abstractmethod
    def products(self, coefficients: FloatArray, stop: Stop | None = None) -> FloatArray:
        """K @ coefficients, shape (n, k), in the precision of the matrix: for methods that correct themselves."""

    @abstractmethod
    def view(self, indices: IndexArray) -> "KernelMatrix":
        """The matrix of a subset of the items."""

    @abstractmethod
    def stored(self, stop: Stop | None = None) -> "StoredMatrix":
        """All of it in memory, as a `StoredMatrix`."""

    @abstractmethod
    def in_double(self) -> "KernelMatrix":
        """The same matrix evaluated in float64."""

    @abstractmethod
    def product_in_double(self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray) -> FloatArray:
        """Like `product`, but with every entry evaluated in float64: for checks."""

    def rough_rows(self) -> IndexArray:
        """Items some of whose entries may err by more than a solver's tolerance: none or, if it
        is not known which, all."""
        return np.arange(self.n if self.is_rough else 0)

    def longest(self, indices: IndexArray, count: int) -> IndexArray:
        """The `count` items among `indices` whose entries suffer most from rounding, if their norms show which."""
        return indices[:0]

    @property
    def _workers(self) -> int:
        return thread_count(self.n_jobs)


LANES = 64


def padded(n: int) -> int:
    """Row length with room for whole vectors of LANES entries.

    A multiple of 1024 is avoided: rows a multiple of 4096 bytes apart map to the same
    lines of the first-level cache and evict each other.
    """
    width = -(-n // LANES) * LANES
    return width + LANES if width % 1024 == 0 else width


def is_ordered(indices: IndexArray) -> bool:
    """Whether indices increase, so that all of them, or most, may be taken in order."""
    return bool((indices[1:] > indices[:-1]).all())


def padded_square(n: int, dtype: DTypeLike, create: Callable[[tuple[int, int], DTypeLike], Array] = np.empty) -> Array:
    """An n by padded(n) array whose padding is zero and whose rest is arbitrary."""
    values = create((n, padded(n)), dtype)
    values[:, n:] = 0
    return values


def filled_square(n: int, dtype: DTypeLike, fill: Callable[[Array], object]) -> Array:
    """Like `padded_square`, in borrowed memory and after ``fill(values)``, which may be ended early.

    New memory is slow when it is first touched, and the padding alone touches all of it if
    pages are large, so it comes last.
    """
    values = borrowed((n, padded(n)), dtype)
    fill(values)
    values[:, n:] = 0
    return values


def borrowed(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Like `np.empty`, in memory that `StoredMatrix.release` gave back, if there is some."""
    return borrow("stored matrix", shape, dtype)


class StoredMatrix(KernelMatrix):
    """The whole matrix in memory.

    Parameters
    ----------
    values : ndarray of shape (n, padded(n)), C order
        Rows padded with zeros, as `padded_square` makes them.
    source : EvaluatedMatrix, optional
        Where `values` were computed, and can be computed in float64.
    """

    is_stored = True

    def __init__(self, values: Array, n_jobs: int | None = None, source: Source | None = None) -> None:
        super().__init__(len(values), values.dtype, n_jobs)
        self.values = values
        self._source = source
        self.is_rough = source is not None and source.is_rough
        if source is not None:
            self.rows_to_compare = source.rows_to_compare

    @classmethod
    def of(cls, matrix: Array, n_jobs: int | None = None) -> Self:
        """From a square array, which is copied."""
        values = padded_square(len(matrix), matrix.dtype)
        values[:, : len(matrix)] = matrix
        return cls(values, n_jobs)

    def stored(self, stop: Stop | None = None) -> "StoredMatrix":
        """Itself, since it is in memory already."""
        return self

    def release(self) -> None:
        """Hand the memory to the next matrix; this one must not be used again."""
        give_back("stored matrix", self.values)

    def rough_rows(self) -> IndexArray:
        return np.arange(0) if self._source is None else self._source.rough_rows()

    def longest(self, indices: IndexArray, count: int) -> IndexArray:
        return indices[:0] if self._source is None else self._source.longest(indices, count)

    @computed_once
    def near_rows(self) -> NearRows | None:
        """The entries that are not nearly zero, if they are few."""
        return near_rows(self.values[:, : self.n])

    @property
    def diag(self) -> FloatArray:
        return self.values.diagonal().astype(np.float64)

    def rows(self, indices: IndexArray, stop: Stop | None = None) -> Array:
        return self.values[indices, : self.n]

    def block(self, rows: IndexArray, columns: IndexArray) -> Array:
        """K[rows, columns], in the matrix's dtype."""
        out = np.empty((len(rows), len(columns)), self.dtype)
        gather_rows(self.values, rows, columns, out, np.arange(len(rows)), self._row_workers(len(rows)))
        return out

    def submatrix(self, indices: IndexArray, out: Array, stop: Stop | None = None) -> Array:
        gather_rows(self.values, indices, indices, out, np.arange(len(indices)), self._row_workers(len(indices)))
        return out

    def product(
        self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray | None = None, stop: Stop | None = None
    ) -> FloatArray:
        out = np.zeros(self.n)
        add_weighted_rows(self.values, columns, coefficients, out, self._workers)
        return out if rows is None else out[rows]

    def products(self, coefficients: FloatArray, stop: Stop | None = None) -> FloatArray:
        out = np.empty(coefficients.shape)
        factors = np.ascontiguousarray(coefficients, self.dtype)

        def rows(span: Span) -> None:
            out[span[0] : span[1]] = self.values[span[0] : span[1], : self.n] @ factors

        spans = [(begin, min(begin + tiles.TILE, self.n)) for begin in range(0, self.n, tiles.TILE)]
        run_parallel(rows, spans, self._row_workers(self.n), stop)
        return out

    def _row_workers(self, count: int) -> int:
        return 1 if count * self.n < tiles.SERIAL_ENTRIES * 8 else self._workers

    def view(self, indices: IndexArray) -> "StoredMatrix":
        part = padded_square(len(indices), self.dtype, borrowed)
        self.submatrix(indices, part)
        return StoredMatrix(part, self.n_jobs, None if self._source is None else self._source.view(indices))

    def in_double(self) -> "StoredMatrix":
        if self.dtype == np.float64:
            return self
        if self._source is not None:
            return self._source.in_double().stored()
        return StoredMatrix(self.values.astype(np.float64), self.n_jobs)

    def product_in_double(self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray) -> FloatArray:
        if self.dtype == np.float32 and self._source is not None:
            return self._source.product_in_double(columns, coefficients, rows)
        return self.block(rows, columns).astype(np.float64) @ coefficients

    def rows_in_double(self, indices: IndexArray) -> FloatArray:
        """Like `rows`, with entries in double precision if they can be computed."""
        if self.dtype == np.float32 and self._source is not None:
            return self._source.rows_in_double(indices)
        return self.rows(indices).astype(np.float64)
