"""The workers of a cluster, as `mercer.solvers.elsewhere` asks for them."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import dask
import numpy as np

from mercer._jit.memory import available_bytes
from mercer._jit.waiting import ends_in_force
from mercer.distributed.task import answer, answer_at, answer_on, features, mercer_here, packed, unpacked
from mercer.distributed.waiting import Patience

if TYPE_CHECKING:
    from distributed import Client, Future

# Share of the workers' memory that features may take from one pass to the next; beyond it they are read anew.
KEPT_SHARE = 0.4

_numbers = itertools.count()


class Crew:
    """A cluster that works for this process.

    Parameters
    ----------
    client : distributed.Client
    patience : Patience
    """

    def __init__(self, client: "Client", patience: Patience) -> None:
        self.client, self.patience = client, patience
        self._held: WeakKeyDictionary[Any, _Held] = WeakKeyDictionary()
        self._there: WeakKeyDictionary[Any, Future[Any]] = WeakKeyDictionary()

    def each(
        self,
        work: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Sequence[tuple[Any, ...]],
        stop: Callable[[], bool] | None = None,
        name: Callable[[int], str] = "task {}".format,
    ) -> Iterator[Any]:
        """``work(*shared, *item)`` for each item, in the order of the items."""
        common, number = [self._shared(thing) for thing in shared], next(_numbers)

        def submit(chunk: range) -> "list[Future[Any]]":
            return self.begin("task", number, chunk, answer, [packed((work, items[k])) for k in chunk], shared=common)

        return self.patience.in_order(len(items), submit, stop or _limits_stop, name)

    def on_blocks(
        self, blocks: Any, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]], dtype: Any
    ) -> Iterator[Any]:
        """``work(features, *shared, *own)`` of each block, in the order of the blocks."""
        if blocks not in self._held:
            self._held[blocks] = _Held(self, blocks)
        held, common, number = self._held[blocks], self.share(shared), next(_numbers)
        code = np.dtype(dtype).str
        kept = held.keeps(code)

        def submit(chunk: range) -> "list[Future[Any]]":
            calls = [packed((work, own[k])) for k in chunk]
            if kept:
                return self.begin("block", number, chunk, answer_on, calls, held.features(chunk), shared=common)
            more = {"shared": common, "read": held.read, "dtype": code}
            return self.begin("block", number, chunk, answer_at, calls, list(chunk), **more)

        return self.patience.in_order(len(blocks.sizes), submit, _limits_stop, "block {}".format)

    def _shared(self, thing: Any) -> "Future[Any]":
        if not getattr(thing, "stays_elsewhere", False):
            return self.share(thing)
        if thing not in self._there:
            self._there[thing] = self.share(thing)
        return self._there[thing]

    def share(self, thing: Any) -> "Future[Any]":
        """Something that many tasks need, made on a worker from bytes that the scheduler keeps."""
        (future,) = self.begin("shared", next(_numbers), range(1), unpacked, [packed(thing)])
        return future

    def begin(
        self, what: str, number: int, chunk: range, function: Callable[..., Any], *each: Any, **common: Any
    ) -> "list[Future[Any]]":
        """A task for each of a range; `each` are lists of what differs."""
        keys = [f"mercer-{what}-{k}-{self.client.id}-{number}" for k in chunk]
        # What is sent is sent once: a warning that it is large would be of no use.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.map(function, *each, key=keys, pure=False, asked=mercer_here(), **common)

    def memory(self) -> float:
        """Bytes that all workers have."""
        found = self.client.scheduler_info()["workers"].values()
        return sum(worker["memory_limit"] or available_bytes() for worker in found)


class _Held:
    """What the workers keep of blocks: how they are read, and where there is room, their features.

    Features are the answers of tasks, so that those of a worker that died are read again by another.
    """

    def __init__(self, crew: Crew, blocks: Any) -> None:
        self.crew, self.read, self.number = crew, crew.share(blocks.read), next(_numbers)
        self.cells = float(sum(blocks.sizes)) * blocks.n_features
        self.code: str | None = None
        self.found: dict[int, Future[Any]] = {}

    def keeps(self, code: str) -> bool:
        """Whether features of this type stay: those that are asked for first, where there is room."""
        if self.code is None and self.cells * np.dtype(code).itemsize <= KEPT_SHARE * self.crew.memory():
            self.code = code
        return self.code == code

    def features(self, chunk: range) -> "list[Future[Any]]":
        """Tasks that have read, or will read, some blocks."""
        new = [k for k in chunk if k not in self.found]
        for each in (range(k, k + 1) for k in new):
            more = {"read": self.read, "dtype": self.code}
            (self.found[each.start],) = self.crew.begin("features", self.number, each, features, list(each), **more)
        return [self.found[k] for k in chunk]


def _limits_stop() -> bool:
    """Whether the limits of the fit that this thread works for are reached."""
    ends = ends_in_force()
    return ends is not None and ends.stop()
