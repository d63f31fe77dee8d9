"""A bounded store of rows of a kernel matrix that evicts the least recently used."""

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.lasting import lasting_empty
from mercer._jit.threads import run_parallel
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Span
from mercer.kernels.evaluation.tiles import SERIAL_ENTRIES


@jit
def weighted_rows(store: Array, slots: IndexArray, weights: FloatArray, out: Array, begin: int, end: int) -> None:
    """out[begin:end] += sum_k weights[k] * store[slots[k], begin:end], four rows at a time."""
    vector_loop()
    # Slices from zero: an index that might be negative would keep the loops from becoming vector instructions.
    n, part = slots.shape[0], out[begin:end]
    k = 0
    while k + 4 <= n:
        first, second = store[slots[k], begin:end], store[slots[k + 1], begin:end]
        third, fourth = store[slots[k + 2], begin:end], store[slots[k + 3], begin:end]
        a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        for i in range(part.shape[0]):
            part[i] += (a * first[i] + b * second[i]) + (c * third[i] + d * fourth[i])
        k += 4
    while k < n:
        first, a = store[slots[k], begin:end], weights[k]
        for i in range(part.shape[0]):
            part[i] += a * first[i]
        k += 1


@jit
def gather(store: Array, slots: IndexArray, columns: IndexArray, out: Array, places: IndexArray) -> None:
    """out[places[a], :] = store[slots[a], columns]."""
    for a in range(slots.shape[0]):
        source, target = store[slots[a]], out[places[a]]
        for b in range(columns.shape[0]):
            target[b] = source[columns[b]]


@jit
def scatter(block: Array, unknown: IndexArray, known: IndexArray, out: Array, begin: int, end: int) -> None:
    """The rows unknown[begin:end] of what `scatter_symmetric` does, sixteen at a time: an entry
    of a known row brings its neighbours with it into the cache."""
    for first in range(begin, end, 16):
        last = min(first + 16, end)
        for a in range(first, last):
            target, source = out[unknown[a]], block[a]
            for b in range(unknown.shape[0]):
                target[unknown[b]] = source[b]
        for b in range(known.shape[0]):
            source, column = out[known[b]], known[b]
            for a in range(first, last):
                out[unknown[a], column] = source[unknown[a]]


def split(n: int, parts: int) -> list[Span]:
    """Spans that divide n items among `parts` workers."""
    edges = np.linspace(0, n, parts + 1).astype(np.int64)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def add_weighted_rows(store: Array, slots: IndexArray, weights: FloatArray, out: Array, workers: int) -> None:
    """Parallel form of `weighted_rows` over the whole length of `out`, if that is worth a second thread."""
    # Weights in double precision: the sum of thousands of products must not drift.
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if workers == 1 or len(slots) * len(out) < 8 * SERIAL_ENTRIES:
        weighted_rows(store, slots, weights, out, 0, len(out))
        return
    run_parallel(lambda span: weighted_rows(store, slots, weights, out, *span), split(len(out), 4 * workers), workers)


def gather_rows(
    store: Array, slots: IndexArray, columns: IndexArray, out: Array, places: IndexArray, workers: int
) -> None:
    """Parallel form of `gather` over the rows."""
    run_parallel(
        lambda span: gather(store, slots[slice(*span)], columns, out, places[slice(*span)]),
        split(len(slots), 4 * workers),
        workers,
    )


def scatter_symmetric(block: Array, unknown: IndexArray, known: IndexArray, out: Array, workers: int) -> None:
    """Complete a symmetric `out` of which the rows `known` are already there: out[unknown, unknown]
    from `block`, out[unknown, known] from the known rows."""
    run_parallel(lambda span: scatter(block, unknown, known, out, *span), split(len(unknown), 4 * workers), workers)


class RowCache:
    """At most `max_bytes` of rows of length n, found by index.

    The store is requested from the system at once and touched row by row, so pages that no row
    needs are never allocated. If more rows are requested than fit, some are kept.
    """

    def __init__(self, n: int, dtype: DTypeLike, max_bytes: int) -> None:
        self.n = n
        row_bytes = max(1, n * np.dtype(dtype).itemsize)
        self.store = _allocate(min(n, int(max_bytes // row_bytes)), n, dtype)
        self.capacity = len(self.store)
        self.slot = np.full(n, -1, np.int64)
        self._owner = np.full(self.capacity, -1, np.int64)
        self._used_at = np.zeros(self.capacity, np.int64)
        self._clock = 0
        self._count = 0

    @property
    def nbytes(self) -> int:
        """Bytes of rows held now."""
        return self._count * self.n * self.store.itemsize

    def reserve(self, indices: IndexArray) -> tuple[IndexArray, IndexArray]:
        """Slots for as many of `indices` (none cached yet) as fit; evicts the oldest.

        Returns (kept, slots): the caller fills ``store[slots]`` with the rows of ``kept``.
        """
        self._clock += 1
        kept = indices[: self.capacity]
        fresh = np.arange(self._count, min(self.capacity, self._count + len(kept)))
        slots = np.concatenate([fresh, self._evict(len(kept) - len(fresh))])
        self._count += len(fresh)
        self._owner[slots], self._used_at[slots] = kept, self._clock
        self.slot[kept] = slots
        return kept, slots

    def touch(self, indices: IndexArray) -> None:
        """Mark cached rows as just used, so that they are evicted last."""
        self._clock += 1
        self._used_at[self.slot[indices]] = self._clock

    def forget(self, indices: IndexArray) -> None:
        """Drop rows; their slots are reused when the store is full."""
        slots = self.slot[indices]
        self._used_at[slots] = 0
        self.slot[indices] = -1
        self._owner[slots] = -1

    def _evict(self, count: int) -> IndexArray:
        if count <= 0:
            return np.empty(0, np.int64)
        oldest = np.argsort(self._used_at[: self._count], kind="stable")[:count]
        owners = self._owner[oldest]
        self.slot[owners[owners >= 0]] = -1
        return oldest


def _allocate(rows: int, n: int, dtype: DTypeLike) -> Array:
    """An empty store, halved until the system grants it."""
    while True:
        try:
            return lasting_empty((rows, n), dtype)
        except MemoryError:
            rows //= 2
