"""Kernel values between rows and landmarks as blocks of features: kept where they have room, else computed again."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.scratch import scratch
from mercer._types import Array
from mercer.kernels._types import Stop
from mercer.kernels.evaluation import tiles
from mercer.solvers.blocks.source import LocalBlocks

if TYPE_CHECKING:
    from mercer.solvers.low_rank.basis import Basis

# Rows of a block: about so many blocks, but none shorter or longer than that.
BLOCKS, SHORTEST, LONGEST = 8, 2048, 16384


class KernelBlocks(LocalBlocks):
    """k(x, z) for all rows x and landmarks z.

    Parameters
    ----------
    basis : Basis
    prepare : callable
        ``prepare(dtype)`` gives the rows in the kernel's prepared form.
    n : int
        How many rows there are.
    memory : int
        Bytes that values in single precision, or in double where that is asked for, may take.
    n_jobs : int or None
    stop : callable, optional
    """

    def __init__(
        self,
        basis: "Basis",
        prepare: Callable[[DTypeLike], Any],
        n: int,
        memory: int,
        n_jobs: int | None = None,
        stop: Stop | None = None,
    ) -> None:
        length = min(LONGEST, max(SHORTEST, -(-n // BLOCKS)))
        self._spans = tiles.spans(n, length)
        super().__init__(self._read, [end - begin for begin, end in self._spans], basis.size, n_jobs, stop)
        self.basis, self._prepare, self._memory = basis, prepare, memory
        self._rows: dict[Any, Any] = {}
        self._kept: dict[Any, tuple[Array | None, Array]] = {}

    def rows(self, dtype: DTypeLike) -> Any:
        """The rows in the kernel's own form; made once for each precision."""
        if dtype not in self._rows:
            self._rows[dtype] = self._prepare(dtype)
        return self._rows[dtype]

    def map(
        self, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]], dtype: DTypeLike
    ) -> Iterator[Any]:
        # Made here, by one thread.
        dtype = np.dtype(dtype)
        self.rows(dtype)
        self.basis.landmarks(dtype)
        self._reserve(dtype)
        return super().map(work, shared, own, dtype)

    def _reserve(self, dtype: np.dtype[Any]) -> None:
        """Room for all values of the precision that is asked for first, where there is any.

        Others are asked for at the end, once or twice: to compute them takes no longer than to touch new memory.
        """
        if dtype in self._kept:
            return
        size = self.n * self.basis.size * dtype.itemsize
        has_room = size <= self._memory and not self._kept
        self._memory -= size if has_room else 0
        values = np.empty((self.n, self.basis.size), dtype) if has_room else None
        self._kept[dtype] = values, np.zeros(len(self._spans), dtype=bool)

    def _read(self, place: int, dtype: DTypeLike) -> Array:
        dtype = np.dtype(dtype)
        (begin, end), (values, is_there) = self._spans[place], self._kept[dtype]
        if values is not None and is_there[place]:
            return values[begin:end]
        # A block is done with before its thread reads the next.
        out = values[begin:end] if values is not None else scratch("values", (end - begin, self.basis.size), dtype)
        _fill(self.basis, self.rows(dtype), (begin, end), out, self.stop)
        is_there[place] = values is not None
        return out

    def reader(self) -> Callable[[int, DTypeLike], Array]:
        return _Reader(self.basis, self._prepare, self._spans)


class _Reader:
    """Kernel values of a block, computed elsewhere: the rows go there, and are made ready once."""

    def __init__(self, basis: "Basis", prepare: Callable[[DTypeLike], Any], spans: Sequence[tuple[int, int]]) -> None:
        self.basis, self.prepare, self.spans = basis, prepare, spans
        self._rows: dict[Any, Any] = {}

    def __call__(self, place: int, dtype: DTypeLike) -> Array:
        dtype, (begin, end) = np.dtype(dtype), self.spans[place]
        if dtype not in self._rows:
            self._rows[dtype] = self.prepare(dtype)
        return _fill(self.basis, self._rows[dtype], (begin, end), np.empty((end - begin, self.basis.size), dtype))


def _fill(basis: "Basis", rows: Any, span: tuple[int, int], out: Array, stop: Stop | None = None) -> Array:
    """k(x, z) of some rows and all landmarks, into `out`."""
    (begin, end), marks, length = span, basis.landmarks(out.dtype), tiles.longest(rows)
    for top, bottom in tiles.spans(end - begin, length):
        part = rows.slice(begin + top, begin + bottom)
        for left, right in tiles.spans(len(marks), length):
            tiles.unless(stop)
            basis.kernel.tile(part, marks.slice(left, right), out, top, left)
    return out
