"""Kernel values between rows and landmarks as blocks of features: kept where they have room, else computed again."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.lasting import lasting_empty
from mercer._jit.scratch import scratch
from mercer._types import Array, FloatArray
from mercer.kernels._types import Stop
from mercer.kernels.evaluation import tiles
from mercer.solvers.blocks.source import LocalBlocks

if TYPE_CHECKING:
    from mercer.solvers.low_rank.basis import Basis

# Target number of blocks, and the least and most rows of one.
BLOCKS, SHORTEST, LONGEST = 8, 2048, 16384


class RowBlocks(Protocol):
    """Rows in the kernel's prepared form, by blocks: in memory, or read from elsewhere."""

    @property
    def sizes(self) -> Sequence[int]:
        """The rows of each block."""
        ...

    def ready(self, dtype: DTypeLike) -> None:
        """Called by one thread before a pass."""
        ...

    def rows(self, place: int, dtype: DTypeLike) -> Any:
        """The rows of a block; valid until the thread asks for the next."""
        ...

    def done(self, place: int) -> None:
        """Called once a block is done, in block order."""
        ...

    def reader(self) -> Callable[[int, DTypeLike], Any]:
        """A picklable reader of the rows of a block, for another process."""
        ...


class RowsInMemory:
    """Rows that are prepared as a whole, once for each precision.

    Parameters
    ----------
    prepare : callable
        ``prepare(dtype)`` gives all rows in the kernel's prepared form.
    n : int
        How many there are.
    """

    def __init__(self, prepare: Callable[[DTypeLike], Any], n: int) -> None:
        self._prepare = prepare
        self._prepared: dict[Any, Any] = {}
        self._spans = tiles.spans(n, min(LONGEST, max(SHORTEST, -(-n // BLOCKS))))
        self.sizes = [end - begin for begin, end in self._spans]

    def ready(self, dtype: DTypeLike) -> None:
        dtype = np.dtype(dtype)
        if dtype not in self._prepared:
            self._prepared[dtype] = self._prepare(dtype)

    def rows(self, place: int, dtype: DTypeLike) -> Any:
        self.ready(dtype)
        return self._prepared[np.dtype(dtype)].slice(*self._spans[place])

    def done(self, place: int) -> None:
        pass

    def reader(self) -> Callable[[int, DTypeLike], Any]:
        return self.rows

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_prepared": {}}


class KernelBlocks(LocalBlocks):
    """k(x, z) for all rows x and landmarks z.

    Parameters
    ----------
    basis : Basis
    rows : RowBlocks
    memory : int
        Bytes available for kernel values.
    n_jobs : int or None
    stop : callable, optional
    """

    def __init__(
        self, basis: "Basis", rows: RowBlocks, memory: int, n_jobs: int | None = None, stop: Stop | None = None
    ) -> None:
        super().__init__(None, rows.sizes, basis.size, n_jobs, stop)
        self.basis, self.rows, self._memory = basis, rows, memory
        self._kept: dict[Any, tuple[Array | None, Array]] = {}
        self._spans = self.spans()

    def map(
        self, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]], dtype: DTypeLike
    ) -> Iterator[Any]:
        # Created here, by one thread.
        dtype = np.dtype(dtype)
        self.rows.ready(dtype)
        self.basis.landmarks(dtype)
        self._reserve(dtype)
        for place, answer in enumerate(super().map(work, shared, own, dtype)):
            self.rows.done(place)
            yield answer

    def values(self, V: FloatArray) -> FloatArray:
        """The functions with coefficients V (m, k) at all rows, in double precision."""
        return np.concatenate(list(self.map(_times, (V,), [()] * len(self.sizes), np.float64)))

    def combination(self, beta: FloatArray) -> FloatArray:
        """sum_i beta_i k(z, x_i) for coefficients (n,) or (n, k), in double precision."""
        own = [(beta[span],) for span in self._spans]
        return self.total(_combined, (), own, np.float64)[0]

    def _reserve(self, dtype: np.dtype[Any]) -> None:
        """Space for all kernel values in the precision asked for first, if memory allows.

        Other precisions are used once or twice at the end, where computing takes no longer than touching new memory.
        """
        if dtype in self._kept:
            return
        values = lasting_empty((self.n, self.basis.size), dtype) if self._has_room(dtype) else None
        self._memory -= 0 if values is None else values.nbytes
        self._kept[dtype] = values, np.zeros(len(self.sizes), dtype=bool)

    def _has_room(self, dtype: np.dtype[Any]) -> bool:
        return not self._kept and self.n * self.basis.size * dtype.itemsize <= self._memory

    def keeps(self, dtype: DTypeLike) -> bool:
        dtype = np.dtype(dtype)
        if self._elsewhere() is not None:
            return False
        return self._kept[dtype][0] is not None if dtype in self._kept else self._has_room(dtype)

    def read(self, place: int, dtype: DTypeLike) -> Array:
        dtype = np.dtype(dtype)
        span, (values, is_there) = self._spans[place], self._kept[dtype]
        if values is not None and is_there[place]:
            return values[span]
        # A block is finished before its thread reads the next.
        out = values[span] if values is not None else scratch("values", (self.sizes[place], self.basis.size), dtype)
        _fill(self.basis, self.rows.rows(place, dtype), out, self.stop)
        is_there[place] = values is not None
        return out

    def reader(self) -> Callable[[int, DTypeLike], Array]:
        return _Reader(self.basis, self.rows.reader())


class _Reader:
    """Kernel values of a block, computed elsewhere."""

    def __init__(self, basis: "Basis", rows: Callable[[int, DTypeLike], Any]) -> None:
        self.basis, self.rows = basis, rows

    def __call__(self, place: int, dtype: DTypeLike) -> Array:
        rows = self.rows(place, np.dtype(dtype))
        return _fill(self.basis, rows, np.empty((len(rows), self.basis.size), dtype))


def _fill(basis: "Basis", rows: Any, out: Array, stop: Stop | None = None) -> Array:
    """k(x, z) between prepared rows and all landmarks, into `out`."""
    marks, length = basis.landmarks(out.dtype), tiles.longest(rows)
    for top, bottom in tiles.spans(len(rows), length):
        part = rows.slice(top, bottom)
        for left, right in tiles.spans(len(marks), length):
            tiles.unless(stop)
            basis.kernel.tile(part, marks.slice(left, right), out, top, left)
    return out


def _times(features: Array, V: FloatArray) -> FloatArray:
    return features @ V


def _combined(features: Array, beta: FloatArray) -> tuple[FloatArray, None]:
    return features.T @ beta, None
