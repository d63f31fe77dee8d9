"""Features in blocks of rows, and sums over all blocks that are the same wherever they are computed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import iadd
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.threads import one_blas_thread, run_parallel, thread_count
from mercer.solvers.elsewhere import workers_in_force

# Bytes of answers, and most answers of a thread, that wait for being added.
WAITING, MOST_WAITING = 2**22, 8


class Addable(Protocol):
    """The terms that a pass over the blocks adds up."""

    def __add__(self, other: Self, /) -> Self: ...


Sum = TypeVar("Sum", bound=Addable)


class FeatureBlocks(ABC):
    """Rows of features in blocks that can be read again and again.

    Attributes
    ----------
    n_features : int
    sizes : sequence of int
        The rows of each block.
    """

    n_features: int
    sizes: Sequence[int]

    @abstractmethod
    def map(
        self, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[Any], dtype: DTypeLike
    ) -> Iterator[Any]:
        """``work(features, *shared, *own[i])`` for every block; the answers in the order of the blocks.

        Parameters
        ----------
        work : callable
            A function of a module, so that it can be sent elsewhere.
        shared : tuple
            Arguments common to all blocks.
        own : sequence of tuple or None
            Arguments of each block; where there are none, it is not read, and the answer is None.
        dtype : float32 or float64
            Of the features: a C-contiguous array (rows, n_features), or a CSR matrix.
        """

    def total(
        self, work: Callable[..., tuple[Any, Any]], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]],
        dtype: DTypeLike,
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        """(sum of the first parts of `work`'s answers, list of the second parts by block)."""
        return added(self.map(work, shared, own, dtype), owns=True)

    def keeps(self, dtype: DTypeLike) -> bool:
        """Whether the features are, or will be, in this process's memory: a few rows can then be read at any time."""
        return False

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(sum(self.sizes))

    def spans(self) -> list[slice]:
        """The slice of rows that each block covers."""
        ends = np.cumsum(self.sizes)
        return [slice(int(end - size), int(end)) for end, size in zip(ends, self.sizes, strict=True)]


class LocalBlocks(FeatureBlocks):
    """Blocks that this machine reads, as many side by side as it has cores.

    Parameters
    ----------
    read : callable or None
        ``read(i, dtype)`` gives the features of block i; None where a subclass has its own.
    sizes : sequence of int
    n_features : int
    n_jobs : int or None
    stop : callable, optional
        Asked before every block; `Stopped` is raised where it says so.
    """

    def __init__(
        self,
        read: Callable[[int, DTypeLike], Any] | None,
        sizes: Sequence[int],
        n_features: int,
        n_jobs: int | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._reader, self.sizes, self.n_features = read, list(sizes), n_features
        self.n_jobs, self.stop = n_jobs, stop

    def read(self, place: int, dtype: DTypeLike) -> Any:
        """The features of a block; valid until the thread asks for the next."""
        assert self._reader is not None
        return self._reader(place, dtype)

    def map(
        self, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[Any], dtype: DTypeLike
    ) -> Iterator[Any]:
        elsewhere = self._elsewhere()
        if elsewhere is not None:
            yield from elsewhere.map(self, work, shared, own, dtype)
            return
        workers = thread_count(self.n_jobs)
        # Answers may be matrices, and are added before many accumulate; the fewer at a time, the longer threads wait.
        few = workers * int(np.clip(WAITING // (8 * (self.n_features + 1) ** 2), 1, MOST_WAITING))
        for begin in range(0, len(self.sizes), few):
            places = range(begin, min(begin + few, len(self.sizes)))
            found: dict[int, Any] = {}

            def answer(place: int, found: dict[int, Any] = found) -> None:
                mine = own[place]
                found[place] = None if mine is None else work(self.read(place, dtype), *shared, *mine)

            with one_blas_thread():
                run_parallel(answer, places, workers, self.stop)
            for place in places:
                yield found.pop(place)

    def total(
        self, work: Callable[..., tuple[Any, Any]], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]],
        dtype: DTypeLike,
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        elsewhere = self._elsewhere()
        if elsewhere is not None:
            return elsewhere.total(self, work, shared, own, dtype)
        return super().total(work, shared, own, dtype)

    def reader(self) -> Callable[[int, DTypeLike], Any]:
        """Reads a block in another process, so it must carry all it needs."""
        assert self._reader is not None
        return self._reader

    def _elsewhere(self) -> Any:
        """The workers in force; a single block is not worth sending."""
        return workers_in_force() if len(self.sizes) > 1 else None


class Told(Sequence[tuple[Any, ...]]):
    """The arguments of each block: those that are the same in every pass, then those of this pass.

    Parameters
    ----------
    fixed : object
        ``fixed[i]`` is the tuple of block i. The same object in every pass: a cluster sends it once.
    news : sequence of tuple
    """

    def __init__(self, fixed: Any, news: Sequence[tuple[Any, ...]]) -> None:
        self.fixed, self.news = fixed, news

    def __len__(self) -> int:
        return len(self.news)

    def __getitem__(self, place: Any) -> Any:
        return (*self.fixed[place], *self.news[place])


def added(answers: Iterable[tuple[Any, Any]], owns: bool = False) -> tuple[Any, list[Any]]:
    """(sum of the first parts of the answers, in `tree_sum`'s order; list of the second parts)."""
    seconds: list[Any] = []

    def firsts() -> Iterator[Any]:
        for first, second in answers:
            seconds.append(second)
            yield first

    return tree_sum(firsts(), owns), seconds


def tree_sum(parts: Iterable[Sum], owns: bool = False) -> Sum:
    """The sum of the parts, neighbours first: (0 + 1) + (2 + 3) and so on.

    The order of additions, and so the bits, depend on the number of parts alone; only a few partial sums are held at a
    time, and a cluster may add neighbours wherever they are. Its own partial sums are updated in place, since
    first-touched memory is slow; so are the parts if it `owns` them.
    """
    waiting: list[tuple[int, Any]] = []
    for part in parts:
        level, total = 0, part
        while waiting and waiting[-1][0] == level:
            total = _sum(waiting.pop()[1], total, owns or level > 0)
            level += 1
        waiting.append((level, total))
    _, total = waiting.pop()
    while waiting:
        level, before = waiting.pop()
        total = _sum(before, total, owns or level > 0)
    return total


def _sum(left: Any, right: Any, in_place: bool) -> Any:
    return iadd(left, right) if in_place else left + right
