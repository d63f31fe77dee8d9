"""A kernel matrix whose entries are computed on demand, tile by tile.

Rows are kept only if an entry costs more than a read from memory.
"""

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.once import computed_once
from mercer._jit.scratch import scratch
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import KernelTiles, Prepare, Prepared, Stop
from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.row_cache import RowCache, add_weighted_rows, gather_rows, scatter_symmetric
from mercer.kernels.evaluation.symmetric_product import symmetric_product
from mercer.kernels.gram.kernel_matrix import (
    KernelMatrix,
    StoredMatrix,
    borrowed,
    filled_square,
    is_ordered,
    padded_square,
)

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


# An entry that costs more than this many multiplications is worth keeping in memory.
# (First touch of a page costs about one nanosecond an entry, a product term a hundredth.)
WORTH_KEEPING = 150
# From this many on, an entry is fetched from the kept rows sooner than recomputed for the matrix of a working set.
WORTH_FETCHING = 250
# Largest number of values of all items up to which they are also kept in double precision.
FEW = 2**20
# Columns of a product in double precision that are prepared at a time.
FEW_AT_ONCE = 4096


class EvaluatedMatrix(KernelMatrix):
    """K(x_i, x_j) computed on demand.

    Parameters
    ----------
    kernel : Kernel
        Bound to its training data.
    prepare : callable
        ``prepare(dtype, indices=None)`` gives the kernel's prepared form of the items.
    dtype : float32 or float64
    cache_bytes : int
        Bound on the rows kept; rows are kept only if an entry is expensive.
    far : float, optional
        If |x|^2 of an item is larger, its entries may err by more than a solver's tolerance.
    n : int, optional
        Number of items; without it they are prepared at once.
    """

    def __init__(
        self,
        kernel: "Kernel",
        prepare: Prepare,
        dtype: DTypeLike,
        cache_bytes: int = 0,
        n_jobs: int | None = None,
        far: float | None = None,
        n: int | None = None,
    ) -> None:
        self.far = far
        self.kernel = kernel
        self.prepare = prepare
        self.dtype = np.dtype(dtype)
        super().__init__(len(self.items) if n is None else n, dtype, n_jobs)
        self.cache_bytes = cache_bytes
        self._cache = None
        self._groups = {}
        self._lock = threading.RLock()

    @computed_once
    def items(self) -> Any:
        """The items as the kernel prepares them; those of a view that is never used are never copied."""
        return self.prepare(self.dtype)

    @property
    def diag(self) -> FloatArray:
        return self.kernel.diag_of(self.items)

    @property
    def entry_cost(self) -> float:
        """Multiplications that one entry takes, roughly."""
        return entry_cost(self.kernel, self.items)

    @property
    def cache(self) -> RowCache | Any:
        """The kept rows, or None if computing is as fast as reading."""
        if self._cache is None and self.entry_cost > WORTH_KEEPING:
            self._cache = RowCache(self.n, self.dtype, self.cache_bytes)
        return self._cache

    @property
    def is_rough(self) -> bool:
        return self.far is not None

    def rough_rows(self) -> IndexArray:
        return np.flatnonzero(self.items.norms > self.far) if self.is_rough else np.arange(0)

    def longest(self, indices: IndexArray, count: int) -> IndexArray:
        if not self.kernel.is_dot_product_form:
            return indices[:0]
        return indices[np.argsort(self.items.norms[indices], kind="stable")[-count:]]

    @property
    def keeps_nothing(self) -> bool:
        return self.cache is None

    def stored(self, stop: Stop | None = None) -> StoredMatrix:
        return StoredMatrix(self._gram(self.kernel, self.items, self.dtype, stop), self.n_jobs, self)

    def _gram(self, kernel: KernelTiles, items: Prepared, dtype: DTypeLike, stop: Stop | None) -> Array:
        return filled_square(self.n, dtype, lambda values: tiles.gram(kernel, items, values, self.n_jobs, stop))

    def stored_in_single(self, stop: Stop | None = None) -> StoredMatrix:
        """Like `stored`, with entries computed in double precision and then rounded: half the memory, and
        errors relative only to the entries' own size, where products in single precision would cancel."""
        double = self.in_double()
        values = self._gram(_RoundedTiles(self.kernel), double.items, np.float32, stop)
        return StoredMatrix(values, self.n_jobs, double)

    def stored_pair(self, first: IndexArray, second: IndexArray, stop: Stop | None = None) -> StoredMatrix:
        """The stored matrix of two groups of items; a group's own block is computed once
        for all the pairs in which it takes part."""
        (left, left_block), (right, right_block) = self._group(first, stop), self._group(second, stop)
        n, m = len(left), len(right)
        values = padded_square(n + m, self.dtype, borrowed)
        values[:n, :n] = left_block
        values[n:, n : n + m] = right_block
        tiles.fill(self.kernel, left, right, values, self.n_jobs, stop, corner=(0, n), mirrored=True)
        return StoredMatrix(values, self.n_jobs, self.view(np.concatenate([first, second])))

    def _group(self, indices: IndexArray, stop: Stop | None) -> tuple[Prepared, Array]:
        key = indices.tobytes()
        with self._lock:
            if key not in self._groups:
                items = self.items.take(indices)
                block = np.empty((len(items), len(items)), self.dtype)
                self._groups[key] = items, tiles.gram(self.kernel, items, block, self.n_jobs, stop)
            return self._groups[key]

    def rows(self, indices: IndexArray, stop: Stop | None = None) -> Array:
        out = np.empty((len(indices), self.n), self.dtype)
        return tiles.fill(self.kernel, self.items.take(indices), self.items, out, self.n_jobs, stop)

    def submatrix(self, indices: IndexArray, out: Array, stop: Stop | None = None) -> Array:
        if self.cache is None or self.entry_cost < WORTH_FETCHING:
            return tiles.gram(self.kernel, self.items.take(indices), out, self.n_jobs, stop)
        with self._lock:
            return self._submatrix_with_cache(indices, out, stop)

    def _submatrix_with_cache(self, indices: IndexArray, out: Array, stop: Stop | None) -> Array:
        slots = self.cache.slot[indices]
        known, unknown = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        if len(known) == 0:
            return tiles.gram(self.kernel, self.items.take(indices), out, self.n_jobs, stop)
        gather_rows(self.cache.store, slots[known], indices, out, known, self._workers)
        if len(unknown):
            block = scratch("unknown rows", (len(unknown), len(unknown)), self.dtype)
            tiles.gram(self.kernel, self.items.take(indices[unknown]), block, self.n_jobs, stop)
            scatter_symmetric(block, unknown, known, out, self._workers)
        return out

    def product(
        self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray | None = None, stop: Stop | None = None
    ) -> FloatArray:
        if self.cache is None:
            return self._evaluate_product(columns, coefficients, rows, stop)
        with self._lock:
            # A row is kept when it is computed in full; late in a fit only a few entries are needed.
            if rows is None or 2 * len(rows) > self.n:
                self._remember(columns, stop)
            return self._product_with_cache(columns, coefficients, rows, stop)

    def products(self, coefficients: FloatArray, stop: Stop | None = None) -> FloatArray:
        if self.cache is not None:
            everything = np.arange(self.n)
            return np.stack([self.product(everything, column, stop=stop) for column in coefficients.T], axis=1)
        return tiles.product(self.kernel, self.items, self.items, coefficients, self.n_jobs, stop)

    def _evaluate_product(
        self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray | None, stop: Stop | None
    ) -> FloatArray:
        if rows is None and 2 * len(columns) > self.n and is_ordered(columns):
            return self._product_of_most(columns, coefficients, stop)
        left = self.items if rows is None else self.items.take(rows)
        columns, coefficients = _whole_vectors(columns, coefficients)
        return tiles.product(self.kernel, left, self.items.take(columns), coefficients, self.n_jobs, stop)

    def _product_of_most(self, columns: IndexArray, coefficients: FloatArray, stop: Stop | None) -> FloatArray:
        """Like `_evaluate_product`, with all rows: each pair of the columns is evaluated once."""
        own, others = self.items.take(columns), np.delete(np.arange(self.n), columns)
        out = np.empty(self.n)
        out[columns] = symmetric_product(self.kernel, own, coefficients[:, None], self.n_jobs, stop)[:, 0]
        out[others] = tiles.product(self.kernel, self.items.take(others), own, coefficients, self.n_jobs, stop)
        return out

    def _remember(self, indices: IndexArray, stop: Stop | None) -> None:
        slots = self.cache.slot[indices]
        self.cache.touch(indices[slots >= 0])
        missing = indices[slots < 0]
        if len(missing):
            kept, places = self.cache.reserve(missing)
            try:
                self._fill_slots(kept, places, stop)
            except BaseException:
                # An interruption must not leave empty slots.
                self.cache.forget(kept)
                raise

    def _fill_slots(self, indices: IndexArray, places: IndexArray, stop: Stop | None) -> None:
        """Compute rows directly into the cache if their slots are consecutive, else a few at a time beside it."""
        if len(places) == 0:
            return
        first = int(places[0])
        if (np.diff(places) == 1).all():
            target = self.cache.store[first : first + len(places)]
            tiles.fill(self.kernel, self.items.take(indices), self.items, target, self.n_jobs, stop)
            return
        for part in tiles.spans(len(places)):
            self.cache.store[places[slice(*part)]] = self.rows(indices[slice(*part)], stop)

    def _product_with_cache(
        self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray | None, stop: Stop | None
    ) -> FloatArray:
        slots = self.cache.slot[columns]
        known = slots >= 0
        out = np.zeros(self.n)
        add_weighted_rows(self.cache.store, slots[known], coefficients[known], out, self._workers)
        out = out if rows is None else out[rows]
        if not known.all():
            out += self._evaluate_product(columns[~known], coefficients[~known], rows, stop)
        return out

    def view(self, indices: IndexArray) -> "EvaluatedMatrix":
        def prepare(dtype: DTypeLike, chosen: IndexArray | None = None) -> Any:
            places = indices if chosen is None else indices[chosen]
            if dtype == self.dtype:
                return self.items.take(places)
            return self._few_in_double.take(places) if self._has_few_numbers else self.prepare(dtype, places)

        return EvaluatedMatrix(self.kernel, prepare, self.dtype, self.cache_bytes, self.n_jobs, self.far, len(indices))

    @property
    def _has_few_numbers(self) -> bool:
        return self.kernel.is_dot_product_form and not self.items.is_sparse and self.n * self.items.n_features <= FEW

    @computed_once
    def _few_in_double(self) -> Any:
        """All items in double precision, prepared once for the many small problems that use some of them."""
        return self.prepare(np.float64)

    def in_double(self) -> "EvaluatedMatrix":
        if self.dtype == np.float64:
            return self
        return EvaluatedMatrix(self.kernel, self.prepare, np.float64, self.cache_bytes, self.n_jobs)

    def product_in_double(self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray) -> FloatArray:
        # Few columns at a time: all support vectors in double precision can take more memory than the rest of a fit.
        left, out = self._in_double(rows), np.zeros((len(rows), *coefficients.shape[1:]))
        for begin, end in tiles.spans(len(columns), FEW_AT_ONCE):
            right = self._in_double(columns[begin:end])
            out += tiles.product(self.kernel, left, right, coefficients[begin:end], self.n_jobs)
        return out

    def rows_in_double(self, indices: IndexArray) -> FloatArray:
        """Like `rows`, with entries in double precision."""
        return self.in_double().rows(indices)

    def _in_double(self, indices: IndexArray) -> Prepared:
        if self.dtype == np.float64:
            return self.items.take(indices)
        return self.prepare(np.float64, indices)


class _RoundedTiles:
    """A kernel whose tiles are rounded to the precision of where they are written."""

    def __init__(self, kernel: "Kernel") -> None:
        self.kernel, self.is_dot_product_form = kernel, kernel.is_dot_product_form

    def tile(self, left: Prepared, right: Prepared, out: Array, top: int, first: int) -> None:
        """K(left, right) into out, from row `top` and column `first` on."""
        block = scratch("rounded tile", (len(left), len(right)), left.dtype)
        self.kernel.tile(left, right, block, 0, 0)
        out[top : top + len(left), first : first + len(right)] = block


def _whole_vectors(columns: IndexArray, coefficients: FloatArray) -> tuple[IndexArray, FloatArray]:
    """Up to fifteen columns with coefficient zero added: the remainder of whole vector
    instructions is computed one entry at a time, and takes longer."""
    spare = -len(columns) % 16
    if spare == 0 or len(columns) == 0:
        return columns, coefficients
    return np.append(columns, np.repeat(columns[-1], spare)), np.append(coefficients, np.zeros(spare))


def entry_cost(kernel: "Kernel", items: Any) -> float:
    """Multiplications that one kernel entry takes, roughly; infinite if unknown."""
    return items.product_cost if kernel.is_dot_product_form else np.inf
