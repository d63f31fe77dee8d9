"""Rows of `Blocks` as a kernel takes them: read when they are needed, kept where they have room, in pieces."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.out_of_core.progress import Progress
from mercer.kernels._types import Prepared, Stop
from mercer.kernels.evaluation import tiles
from mercer.solvers.blocks.source import LocalBlocks, tree_sum

if TYPE_CHECKING:
    from mercer.io.blocks.blocks import Blocks
    from mercer.kernels.base.kernel import Kernel


class KeptBlocks(LocalBlocks):
    """Rows of numbers, block by block: the last few that were read, and as many others as have room.

    Parameters
    ----------
    blocks : Blocks
    kept_bytes : int
        Bytes for rows kept from one pass to the next.
    told : Progress
    n_jobs : int or None

    Attributes
    ----------
    rows_read : int
        Rows that were read from their source.
    """

    def __init__(self, blocks: "Blocks", kept_bytes: int, told: Progress, n_jobs: int | None) -> None:
        super().__init__(self._block, blocks.sizes, blocks.n_columns, n_jobs, told.stop)
        self.blocks, self.told, self.passes, self.rows_read = blocks, told, 0, 0
        self._left, self._recent_count = kept_bytes, n_jobs or 2
        self._kept: dict[int, Any] = {}
        # Several threads process pieces of the same block, and one of them reads it.
        self._recent: OrderedDict[int, Any] = OrderedDict()
        self._locks = [threading.Lock() for _ in blocks.sizes]

    def begin_pass(self) -> None:
        """Called before a pass over all rows."""
        self.passes += 1
        self.told.begin(self.passes)

    def block(self, i: int) -> Any:
        """The rows of block i as they come: an array, or a CSR matrix."""
        with self._locks[i]:
            found = self._kept.get(i)
            found = self._recent.get(i) if found is None else found
            return self._read_block(i) if found is None else found

    def _block(self, i: int, _dtype: DTypeLike) -> Any:
        return self.block(i)

    def _read_block(self, i: int) -> Any:
        found = self.blocks.matrix(i)
        self.rows_read += self.sizes[i]
        size = found.data.nbytes
        if size <= self._left:
            self._left -= size
            self._kept[i] = found
            return found
        self._recent[i] = found
        while len(self._recent) > self._recent_count:
            self._recent.popitem(last=False)
        return found

    def reader(self) -> Callable[[int, DTypeLike], Any]:
        return partial(_read, self.blocks)

    def at(self, indices: IndexArray) -> Rows:
        """The rows at some positions, in their order, read block by block."""
        order = np.argsort(indices, kind="stable")
        wanted, spans = np.asarray(indices)[order], self.spans()
        ends = np.searchsorted(wanted, [span.stop for span in spans])
        parts, begin = [], 0
        for i, (span, end) in enumerate(zip(spans, ends.tolist(), strict=True)):
            if end > begin:
                tiles.unless(self.stop)
                parts.append(self.block(i)[wanted[begin:end] - span.start])
            begin = end
        back = np.empty(len(order), np.intp)
        back[order] = np.arange(len(order))
        return _stacked(parts)[back]


class Pieces:
    """Rows of `KeptBlocks` in the kernel's prepared form, some thousand at a time: `RowBlocks`.

    Parameters
    ----------
    source : KeptBlocks
    kernel : Kernel
    origin : ndarray or None
    length : int
        Most rows of a piece.
    kept_bytes : int
        Bytes for pieces in single precision that are kept from one pass to the next.
    """

    def __init__(self, source: KeptBlocks, kernel: "Kernel", origin: Any, length: int, kept_bytes: int = 0) -> None:
        self.source, self.kernel, self.origin = source, kernel, origin
        self.places = [(i, *span) for i, n in enumerate(source.sizes) for span in tiles.spans(n, length)]
        self.sizes = [end - begin for _, begin, end in self.places]
        self._kept: dict[int, Any] = {}
        self._left, self._lock = kept_bytes, threading.Lock()

    def ready(self, dtype: DTypeLike) -> None:
        self.source.begin_pass()

    def rows(self, place: int, dtype: DTypeLike) -> Any:
        is_single = np.dtype(dtype) == np.float32
        if is_single and place in self._kept:
            return self._kept[place]
        i, begin, end = self.places[place]
        found = self.kernel.prepare(self.source.block(i)[begin:end], dtype, origin=self.origin, check=False)
        if is_single:
            self._keep(place, found)
        return found

    def _keep(self, place: int, rows: Any) -> None:
        values = getattr(rows, "values", None)
        if not isinstance(values, np.ndarray):
            return
        size = _bytes(rows)
        with self._lock:
            if size <= self._left:
                self._left -= size
                self._kept[place] = rows

    def forget(self) -> None:
        """Give back the memory of the pieces that are kept: the steps are done."""
        with self._lock:
            self._left += sum(_bytes(rows) for rows in self._kept.values())
            self._kept.clear()

    def done(self, place: int) -> None:
        self.source.told.done += self.sizes[place]

    def reader(self) -> Callable[[int, DTypeLike], Any]:
        return _PieceReader(self.source.blocks, self.kernel, self.origin, self.places)


def _bytes(rows: Any) -> int:
    return int(rows.values.nbytes + rows.norms.nbytes)


class ReadSupport(LocalBlocks):
    """Rows with non-zero coefficients, read on demand: `SupportRows`.

    Parameters
    ----------
    pieces : Pieces
    indices : ndarray of int
        Their places among all rows, in order.
    largest : float
        A bound of k(x, x).
    n_jobs : int or None
    """

    are_read = True

    def __init__(self, pieces: Pieces, indices: IndexArray, largest: float, n_jobs: int | None) -> None:
        super().__init__(pieces.rows, pieces.sizes, 0, n_jobs, pieces.source.stop)
        self.pieces, self.indices, self._largest = pieces, indices, largest
        spans = self.spans()
        ends = np.searchsorted(indices, [span.stop for span in spans])
        self._mine = [slice(int(begin), int(end)) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
        self._within = [indices[mine] - span.start for mine, span in zip(self._mine, spans, strict=True)]

    def __len__(self) -> int:
        return len(self.indices)

    def reader(self) -> Callable[[int, DTypeLike], Any]:
        return self.pieces.reader()

    def diagonal(self, reads: bool) -> FloatArray:
        if reads and not np.isfinite(self._largest):
            own = [(places,) for places in self._within]
            return np.concatenate(list(self._pass(_diagonal, (self.pieces.kernel,), own)))
        return np.full(len(self.indices), self._largest)

    def take(self, places: IndexArray) -> Prepared:
        rows = self.pieces.source.at(self.indices[places])
        return self.pieces.kernel.prepare(rows, np.float64, origin=self.pieces.origin, check=False)

    def product(self, some: Prepared, beta: FloatArray, _stop: Stop | None) -> FloatArray:
        own = [(places, beta[mine]) for places, mine in zip(self._within, self._mine, strict=True)]
        return tree_sum(self._pass(_product, (self.pieces.kernel, some), own), owns=True)

    def single(self) -> None:
        return None

    def image(self, beta: FloatArray, stop: Stop | None) -> FloatArray:
        own, parts = list(zip(self._within, self._mine, strict=True)), []
        for place, (places, mine) in enumerate(own):
            if mine.stop > mine.start:
                some = self.pieces.rows(place, np.float64).take(places)
                parts.append(self.product(some, beta, stop))
        return np.concatenate(parts)

    def _pass(self, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]]) -> Any:
        self.pieces.ready(np.float64)
        for place, answer in enumerate(self.map(work, shared, own, np.float64)):
            self.pieces.done(place)
            yield answer


class _PieceReader:
    """Pieces of blocks, read elsewhere; the last block is kept for its next piece."""

    def __init__(self, blocks: "Blocks", kernel: "Kernel", origin: Any, places: list[tuple[int, int, int]]) -> None:
        self.blocks, self.kernel, self.origin, self.places = blocks, kernel, origin, places
        self._last: tuple[int, Any] = (-1, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_last": (-1, None)}

    def __call__(self, place: int, dtype: DTypeLike) -> Any:
        i, begin, end = self.places[place]
        number, rows = self._last
        if number != i:
            rows = self.blocks.matrix(i)
            self._last = i, rows
        return self.kernel.prepare(rows[begin:end], dtype, origin=self.origin, check=False)


def _read(blocks: "Blocks", i: int, _dtype: DTypeLike) -> Any:
    return blocks.matrix(i)


def _stacked(parts: list[Any]) -> Any:
    if hasattr(parts[0], "indptr"):
        from scipy import sparse

        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


def _diagonal(rows: Prepared, kernel: "Kernel", places: IndexArray) -> FloatArray:
    return kernel.diag_of(rows.take(places)) if len(places) else np.zeros(0)


def _product(rows: Prepared, kernel: "Kernel", some: Prepared, places: IndexArray, beta: FloatArray) -> FloatArray:
    if not len(places):
        return np.zeros((len(some), beta.shape[1]))
    return tiles.product(kernel, some, rows.take(places), beta, 1)
