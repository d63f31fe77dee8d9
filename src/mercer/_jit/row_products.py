"""Products of a matrix, seen by its rows, with vectors: on all cores, in double precision.

Rows are cut into chunks of about as many entries each, one for a core. Sums over rows are
collected in a vector for each chunk and added in the order of the chunks, so results depend neither
on which thread came first nor on how many there are.
"""

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.row_views import DenseRows, SparseRows, row_add, row_dot, row_square
from mercer._jit.threads import run_parallel, thread_count
from mercer._types import Array, FloatArray, IndexArray, Rows

if TYPE_CHECKING:
    from mercer._jit.row_views import RowView

# Below this many entries a second thread costs more than it saves.
WORTH_A_THREAD = 200_000
# Entries for each feature from which on sums over rows are worth a vector for each thread.
ADDED_APART = 2


@jit
def _dots(rows: "RowView", w: FloatArray, out: FloatArray, begin: int, end: int) -> None:
    for i in range(begin, end):
        out[i] = row_dot(rows, i, w)


@jit
def _combine(rows: "RowView", factors: FloatArray, out: FloatArray, begin: int, end: int) -> None:
    for i in range(begin, end):
        if factors[i] != 0.0:
            row_add(rows, i, factors[i], out)


@jit
def _squares(rows: "RowView", out: FloatArray, begin: int, end: int) -> None:
    for i in range(begin, end):
        out[i] = row_square(rows, i)


@jit
def _is_increasing(indices: IndexArray, indptr: IndexArray, begin: int, end: int) -> bool:
    """Whether the features of each of these rows stand in order, no two the same."""
    for i in range(begin, end):
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        falls = 0
        for k in range(first + np.uint64(1), last):
            falls += indices[k] <= indices[k - np.uint64(1)]
        if falls > 0:
            return False
    return True


@jit
def _find_duplicate(indices: IndexArray, indptr: IndexArray, seen: Array, begin: int, end: int) -> int:
    """The first row in [begin, end) that has two entries for one feature, or -1.

    `seen` has a byte for each feature, the number of the last row that had it: rows are counted from 1 to 255, and
    then it is wiped. A number that does not wrap would need four times the memory, more than the cache has.
    """
    stamp = np.uint8(0)
    for i in range(begin, end):
        if stamp == 255:
            seen[:] = 0
            stamp = np.uint8(0)
        stamp = np.uint8(stamp + 1)
        repeated = 0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            repeated += seen[indices[k]] == stamp
            seen[indices[k]] = stamp
        if repeated > 0:
            return i
    return -1


def has_duplicates(X: Rows) -> bool:
    """Whether a row of a CSR matrix has two entries for one feature; its indices need not be sorted."""
    if _is_increasing(X.indices, X.indptr, 0, X.shape[0]):
        return False
    if len(X.indices) < WORTH_A_THREAD:
        return _has_duplicates_in(X, 0, X.shape[0])
    middle, found = int(np.searchsorted(X.indptr, len(X.indices) // 2)), []
    halves = [(0, middle), (middle, X.shape[0])]
    run_parallel(lambda half: found.append(_has_duplicates_in(X, *half)), halves, thread_count(None))
    return any(found)


def _has_duplicates_in(X: Rows, begin: int, end: int) -> bool:
    return _find_duplicate(X.indices, X.indptr, np.zeros(X.shape[1], np.uint8), begin, end) >= 0


class RowProducts:
    """A matrix X with what solvers ask of it: X w, X^T c and |x_i|^2.

    Parameters
    ----------
    rows : DenseRows or SparseRows
    n_features : int
    n_jobs : int or None
        Threads; all cores by default.
    """

    if TYPE_CHECKING:
        _squares: FloatArray | None

    def __init__(self, rows: "RowView", n_features: int, n_jobs: int | None = None) -> None:
        self.rows, self.n_features = rows, n_features
        self.n = rows.n_rows
        self.is_dense = isinstance(rows, DenseRows)
        self.n_entries = rows.n_entries
        # A thread that adds up rows needs a vector of its own, which must be little beside them.
        self.adds_apart = self.n_entries >= ADDED_APART * n_features
        self.chunks = self._chunks(max(1, min(thread_count(None), self.n_entries // WORTH_A_THREAD)))
        self.workers = min(thread_count(n_jobs), len(self.chunks))
        self._squares = None

    def _chunks(self, count: int) -> list[tuple[int, int]]:
        bounds = np.linspace(0, self.n, count + 1).astype(np.int64)
        if not self.is_dense and count > 1:
            goals = np.linspace(0, self.n_entries, count + 1)[1:-1]
            bounds[1:-1] = np.searchsorted(cast(SparseRows, self.rows).indptr, goals)
        return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))

    def run(self, work: Callable[[int, int], object]) -> None:
        """work(begin, end) for each chunk, side by side."""
        if self.workers == 1:
            for chunk in self.chunks:
                work(*chunk)
        else:
            run_parallel(lambda chunk: work(*chunk), self.chunks, self.workers)

    def dots(self, w: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """X w for every row."""
        out = np.empty(self.n) if out is None else out
        self.run(lambda begin, end: _dots(self.rows, w, out, begin, end))
        return out

    def combination(self, factors: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """X^T factors, added to `out` where that is given; rows of factor zero cost nothing."""
        out = np.zeros(self.n_features) if out is None else out
        if len(self.chunks) == 1 or not self.adds_apart:
            _combine(self.rows, factors, out, 0, self.n)
            return out
        parts = {chunk: np.zeros(self.n_features) if k else out for k, chunk in enumerate(self.chunks)}
        self.run(lambda begin, end: _combine(self.rows, factors, parts[begin, end], begin, end))
        for chunk in self.chunks[1:]:
            out += parts[chunk]
        return out

    def squares(self) -> FloatArray:
        """|x_i|^2 for every row; computed once."""
        if self._squares is None:
            out = np.empty(self.n)
            self.run(lambda begin, end: _squares(self.rows, out, begin, end))
            self._squares = out
        return self._squares

    def alone(self) -> Self:
        """The same for use in one thread, beside others that have their own."""
        twin = copy.copy(self)
        twin.workers, twin.chunks = 1, [(0, self.n)]
        return twin
