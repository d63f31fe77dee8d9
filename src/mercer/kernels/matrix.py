"""The kernel matrix as a dual solver sees it: a few questions, never the data.

Two answers to the same questions. `EvaluatedMatrix` computes what is asked, tile by tile,
and keeps rows only where an entry costs more than a read from memory. `StoredMatrix` holds
the whole matrix: small problems, precomputed kernels. Both can show a subset of themselves
(`view`), so the pairs of a one-vs-one, folds and paths share one matrix.
"""

import threading
from abc import ABC, abstractmethod

import numpy as np

from mercer._jit.scratch import borrow, give_back, scratch
from mercer._jit.threads import run_parallel, thread_count
from mercer.kernels import engine
from mercer.kernels.forms import computed_once
from mercer.kernels.row_cache import RowCache, add_weighted_rows, gather_rows, scatter_symmetric

# An entry that costs more than this many multiplications is worth keeping in memory.
# (First touch of a page costs about one nanosecond an entry, a product term a hundredth.)
WORTH_KEEPING = 250


class KernelMatrix(ABC):
    """A symmetric matrix K of kernel values between n items."""

    # Whether some entries may err by more than a solver's tolerance: its answer must then be
    # checked with entries in double precision, everywhere.
    is_rough = False
    # Whether every entry that is asked for is computed then and there.
    keeps_nothing = False

    def __init__(self, n, dtype, n_jobs=None):
        self.n = n
        self.dtype = np.dtype(dtype)
        self.n_jobs = n_jobs

    @property
    @abstractmethod
    def diag(self):
        """k(x_i, x_i), float64."""

    @abstractmethod
    def rows(self, indices, stop=None):
        """The rows at `indices`, shape (k, n), in the matrix's dtype."""

    @abstractmethod
    def submatrix(self, indices, out, stop=None):
        """Write K[indices, indices] to the upper left corner of the C-ordered `out`."""

    @abstractmethod
    def product(self, columns, coefficients, rows=None, stop=None):
        """K[rows, columns] @ coefficients in float64; all rows when `rows` is None."""

    @abstractmethod
    def products(self, coefficients, stop=None):
        """K @ coefficients, shape (n, k), in the precision of the matrix: for methods that correct themselves."""

    @abstractmethod
    def view(self, indices):
        """The matrix of a subset of the items."""

    @abstractmethod
    def stored(self, stop=None):
        """All of it in memory, as a `StoredMatrix`."""

    @abstractmethod
    def in_double(self):
        """The same matrix evaluated in float64."""

    @abstractmethod
    def product_in_double(self, columns, coefficients, rows):
        """As `product`, but with every entry evaluated in float64: for checks."""

    def rough_rows(self):
        """Items some of whose entries may err by more than a solver's tolerance: none, or, where it
        is not known which, all."""
        return np.arange(self.n if self.is_rough else 0)

    @property
    def _workers(self):
        return thread_count(self.n_jobs)


LANES = 64


def padded(n):
    """Row length with room for whole vectors of LANES entries.

    A multiple of 1024 is avoided: rows a multiple of 4096 bytes apart fall into the same
    places of the first-level cache and push each other out.
    """
    width = -(-n // LANES) * LANES
    return width + LANES if width % 1024 == 0 else width


def padded_square(n, dtype, create=np.empty):
    """An n by padded(n) array whose padding is zero and whose rest is arbitrary."""
    values = create((n, padded(n)), dtype)
    values[:, n:] = 0
    return values


def _borrowed(shape, dtype):
    return borrow("stored matrix", shape, dtype)


class StoredMatrix(KernelMatrix):
    """The whole matrix in memory.

    Parameters
    ----------
    values : ndarray of shape (n, padded(n)), C order
        Rows padded with zeros, as `padded_square` makes them.
    source : EvaluatedMatrix, optional
        Where `values` were computed; it can give them in float64.
    """

    def __init__(self, values, n_jobs=None, source=None):
        super().__init__(len(values), values.dtype, n_jobs)
        self.values = values
        self._source = source
        self.is_rough = source is not None and source.is_rough

    @classmethod
    def of(cls, matrix, n_jobs=None):
        """From a square array, which is copied."""
        values = padded_square(len(matrix), matrix.dtype)
        values[:, : len(matrix)] = matrix
        return cls(values, n_jobs)

    def stored(self, stop=None):
        """Itself: it is in memory already."""
        return self

    def release(self):
        """Hand the memory to the next matrix; this one must not be used again."""
        give_back("stored matrix", self.values)

    def rough_rows(self):
        return np.arange(0) if self._source is None else self._source.rough_rows()

    @property
    def diag(self):
        return self.values.diagonal().astype(np.float64)

    def rows(self, indices, stop=None):
        return self.values[indices, : self.n]

    def submatrix(self, indices, out, stop=None):
        gather_rows(self.values, indices, indices, out, np.arange(len(indices)), self._row_workers(len(indices)))
        return out

    def product(self, columns, coefficients, rows=None, stop=None):
        out = np.zeros(self.n)
        add_weighted_rows(self.values, columns, coefficients, out, self._workers)
        return out if rows is None else out[rows]

    def products(self, coefficients, stop=None):
        out = np.empty(coefficients.shape)
        factors = np.ascontiguousarray(coefficients, self.dtype)

        def rows(span):
            out[span[0] : span[1]] = self.values[span[0] : span[1], : self.n] @ factors

        spans = [(begin, min(begin + engine.TILE, self.n)) for begin in range(0, self.n, engine.TILE)]
        run_parallel(rows, spans, self._row_workers(self.n), stop)
        return out

    def _row_workers(self, count):
        return 1 if count * self.n < engine.SERIAL_ENTRIES * 8 else self._workers

    def view(self, indices):
        part = padded_square(len(indices), self.dtype)
        self.submatrix(indices, part)
        return StoredMatrix(part, self.n_jobs, None if self._source is None else self._source.view(indices))

    def in_double(self):
        if self.dtype == np.float64:
            return self
        if self._source is not None:
            return self._source.in_double().stored()
        return StoredMatrix(self.values.astype(np.float64), self.n_jobs)

    def product_in_double(self, columns, coefficients, rows):
        if self.dtype == np.float32 and self._source is not None:
            return self._source.product_in_double(columns, coefficients, rows)
        return self.values[np.ix_(rows, columns)].astype(np.float64) @ coefficients

    def rows_in_double(self, indices):
        """As `rows`, of entries in double precision where they can be computed."""
        if self.dtype == np.float32 and self._source is not None:
            return self._source.rows_in_double(indices)
        return self.rows(indices).astype(np.float64)


class EvaluatedMatrix(KernelMatrix):
    """K(x_i, x_j) computed when asked for.

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
        Where |x|^2 of an item is larger, its entries may err by more than a solver's tolerance.
    n : int, optional
        How many items there are; without it they are prepared at once.
    """

    def __init__(self, kernel, prepare, dtype, cache_bytes=0, n_jobs=None, far=None, n=None):
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
    def items(self):
        """The items as the kernel wants them; those of a view that is never asked are never copied."""
        return self.prepare(self.dtype)

    @property
    def diag(self):
        return self.kernel.diag_of(self.items)

    @property
    def entry_cost(self):
        """Multiplications that one entry takes, roughly."""
        return entry_cost(self.kernel, self.items)

    @property
    def cache(self):
        """The rows kept, or None where computing is as fast as reading."""
        if self._cache is None and self.entry_cost > WORTH_KEEPING:
            self._cache = RowCache(self.n, self.dtype, self.cache_bytes)
        return self._cache

    @property
    def is_rough(self):
        return self.far is not None

    def rough_rows(self):
        return np.flatnonzero(self.items.norms > self.far) if self.is_rough else np.arange(0)

    @property
    def keeps_nothing(self):
        return self.cache is None

    def stored(self, stop=None):
        values = padded_square(self.n, self.dtype, _borrowed)
        engine.gram(self.kernel, self.items, values, self.n_jobs, stop)
        return StoredMatrix(values, self.n_jobs, self)

    def stored_in_single(self, stop=None):
        """As `stored`, with entries computed in double precision and then rounded: half the memory, and
        errors of the entries' own size only, where products in single precision would cancel."""
        double = self.in_double()
        values = padded_square(self.n, np.float32, _borrowed)
        engine.gram(_RoundedTiles(self.kernel), double.items, values, self.n_jobs, stop)
        return StoredMatrix(values, self.n_jobs, double)

    def stored_pair(self, first, second, stop=None):
        """The stored matrix of two groups of items; a group's own block is computed once
        for all the pairs in which it takes part."""
        (left, left_block), (right, right_block) = self._group(first, stop), self._group(second, stop)
        n, m = len(left), len(right)
        values = padded_square(n + m, self.dtype, _borrowed)
        values[:n, :n] = left_block
        values[n:, n : n + m] = right_block
        engine.fill(self.kernel, left, right, values, self.n_jobs, stop, corner=(0, n), mirrored=True)
        return StoredMatrix(values, self.n_jobs, self.view(np.concatenate([first, second])))

    def _group(self, indices, stop):
        key = (int(indices[0]), len(indices))
        if key not in self._groups:
            items = self.items.take(indices)
            block = np.empty((len(items), len(items)), self.dtype)
            self._groups[key] = items, engine.gram(self.kernel, items, block, self.n_jobs, stop)
        return self._groups[key]

    def rows(self, indices, stop=None):
        out = np.empty((len(indices), self.n), self.dtype)
        return engine.fill(self.kernel, self.items.take(indices), self.items, out, self.n_jobs, stop)

    def submatrix(self, indices, out, stop=None):
        if self.cache is None:
            return engine.gram(self.kernel, self.items.take(indices), out, self.n_jobs, stop)
        with self._lock:
            return self._submatrix_with_cache(indices, out, stop)

    def _submatrix_with_cache(self, indices, out, stop):
        slots = self.cache.slot[indices]
        known, unknown = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        if len(known) == 0:
            return engine.gram(self.kernel, self.items.take(indices), out, self.n_jobs, stop)
        gather_rows(self.cache.store, slots[known], indices, out, known, self._workers)
        if len(unknown):
            block = np.empty((len(unknown), len(unknown)), self.dtype)
            engine.gram(self.kernel, self.items.take(indices[unknown]), block, self.n_jobs, stop)
            scatter_symmetric(block, unknown, known, out, self._workers)
        return out

    def product(self, columns, coefficients, rows=None, stop=None):
        if self.cache is None:
            return self._evaluate_product(columns, coefficients, rows, stop)
        with self._lock:
            # A row is kept when it is computed in full; late in a fit only few places are asked for.
            if rows is None or 2 * len(rows) > self.n:
                self._remember(columns, stop)
            return self._product_with_cache(columns, coefficients, rows, stop)

    def products(self, coefficients, stop=None):
        if self.cache is not None:
            everything = np.arange(self.n)
            return np.stack([self.product(everything, column, stop=stop) for column in coefficients.T], axis=1)
        return engine.product(self.kernel, self.items, self.items, coefficients, self.n_jobs, stop)

    def _evaluate_product(self, columns, coefficients, rows, stop):
        left = self.items if rows is None else self.items.take(rows)
        columns, coefficients = _whole_vectors(columns, coefficients)
        return engine.product(self.kernel, left, self.items.take(columns), coefficients, self.n_jobs, stop)

    def _remember(self, indices, stop):
        slots = self.cache.slot[indices]
        self.cache.touch(indices[slots >= 0])
        missing = indices[slots < 0]
        if len(missing):
            kept, places = self.cache.reserve(missing)
            try:
                self._fill_slots(kept, places, stop)
            except BaseException:
                # An interruption must not leave slots that hold nothing.
                self.cache.forget(kept)
                raise

    def _fill_slots(self, indices, places, stop):
        """Compute rows straight into the cache where their places follow each other."""
        if len(places) == 0:
            return
        items, first = self.items.take(indices), int(places[0])
        if (np.diff(places) == 1).all():
            target = self.cache.store[first : first + len(places)]
            engine.fill(self.kernel, items, self.items, target, self.n_jobs, stop)
        else:
            self.cache.store[places] = self.rows(indices, stop)

    def _product_with_cache(self, columns, coefficients, rows, stop):
        slots = self.cache.slot[columns]
        known = slots >= 0
        out = np.zeros(self.n)
        add_weighted_rows(self.cache.store, slots[known], coefficients[known], out, self._workers)
        out = out if rows is None else out[rows]
        if not known.all():
            out += self._evaluate_product(columns[~known], coefficients[~known], rows, stop)
        return out

    def view(self, indices):
        def prepare(dtype, chosen=None):
            places = indices if chosen is None else indices[chosen]
            return self.items.take(places) if dtype == self.dtype else self.prepare(dtype, places)

        return EvaluatedMatrix(self.kernel, prepare, self.dtype, self.cache_bytes, self.n_jobs, self.far, len(indices))

    def in_double(self):
        if self.dtype == np.float64:
            return self
        return EvaluatedMatrix(self.kernel, self.prepare, np.float64, self.cache_bytes, self.n_jobs)

    def product_in_double(self, columns, coefficients, rows):
        left, right = (self._in_double(indices) for indices in (rows, columns))
        return engine.product(self.kernel, left, right, coefficients, self.n_jobs)

    def rows_in_double(self, indices):
        """As `rows`, of entries in double precision."""
        left, right = self._in_double(indices), self._in_double(np.arange(self.n))
        return engine.fill(self.kernel, left, right, np.empty((len(left), self.n)), self.n_jobs)

    def _in_double(self, indices):
        if self.dtype == np.float64:
            return self.items.take(indices)
        return self.prepare(np.float64, indices)


class _RoundedTiles:
    """A kernel whose tiles are rounded to the precision of where they are written."""

    def __init__(self, kernel):
        self.kernel, self.is_dot_product_form = kernel, kernel.is_dot_product_form

    def tile(self, left, right, out, top, first):
        """K(left, right) into out, from row `top` and column `first` on."""
        block = scratch("rounded tile", (len(left), len(right)), left.dtype)
        self.kernel.tile(left, right, block, 0, 0)
        out[top : top + len(left), first : first + len(right)] = block


def _whole_vectors(columns, coefficients):
    """Up to fifteen columns with coefficient zero added: what is left over from whole vector
    instructions is computed one entry at a time, and takes longer."""
    spare = -len(columns) % 16
    if spare == 0 or len(columns) == 0:
        return columns, coefficients
    return np.append(columns, np.repeat(columns[-1], spare)), np.append(coefficients, np.zeros(spare))


def entry_cost(kernel, items):
    """Multiplications that one kernel entry takes, roughly; infinite where nothing is known."""
    if not kernel.is_dot_product_form:
        return np.inf
    values = items.values
    return len(values.data) / max(1, len(items)) if items.is_sparse else values.shape[1]
