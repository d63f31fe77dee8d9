"""The workers of a cluster, as `mercer.solvers.elsewhere` asks for them."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import dask
import numpy as np

from mercer._jit.memory import available_bytes
from mercer._jit.waiting import ends_in_force
from mercer.distributed.task import Parcel, answer, answer_at, answer_on, features, fixed, joined, mercer_here, packed
from mercer.distributed.task import shared as parcel
from mercer.distributed.waiting import Patience
from mercer.solvers.blocks.source import Told, added

if TYPE_CHECKING:
    from distributed import Client, Future

# Share of the workers' memory that features may take from one pass to the next; beyond it they are read again.
KEPT_SHARE = 0.4

# Up to this many bytes are sent with every task: one transfer less.
SMALL = 2**15
# Sums that workers add at a time (a power of two), and how many are left for this process at most.
TOGETHER, JOINED = 8, 16
# Groups of blocks for each thread: enough that none waits long for the last one.
GROUPS_A_THREAD = 4

_numbers = itertools.count()
Own = Sequence[tuple[Any, ...]]


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
        self._there: WeakKeyDictionary[Any, _Shared] = WeakKeyDictionary()

    def each(
        self,
        work: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Sequence[tuple[Any, ...]],
        stop: Callable[[], bool] | None = None,
        name: Callable[[int], str] = "task {}".format,
    ) -> Iterator[Any]:
        """``work(*shared, *item)`` for each item, in the order of the items."""
        common = [self._shared(thing) for thing in shared]

        def submit(chunk: range) -> "list[Future[Any]]":
            calls = [packed((work, items[k])) for k in chunk]
            return self.begin("task", chunk, answer, calls, common=[each.now() for each in common])

        # One by one: such tasks take long, and their progress is shown.
        return self.patience.in_order(len(items), submit, stop or _limits_stop, name, at_a_time=1)

    def map(
        self, blocks: Any, work: Callable[..., Any], shared: tuple[Any, ...], own: Own, dtype: Any
    ) -> Iterator[Any]:
        """``work(features, *shared, *own)`` of each block, in the order of the blocks."""
        for answers in self._groups(blocks, work, shared, own, dtype, adds=False):
            yield from answers

    def total(
        self, blocks: Any, work: Callable[..., Any], shared: tuple[Any, ...], own: Own, dtype: Any
    ) -> tuple[Any, list[Any]]:
        """(the sum of the first results of ``work``, the second result for each block).

        A worker adds up a group of neighbours, others add the groups, and this process the rest: with 1, 2, 4, ...
        neighbours at a time, those are the additions that `tree_sum` makes, wherever they are made.
        """
        total, kept = added(self._groups(blocks, work, shared, own, dtype, adds=True))
        return total, [each for group in kept for each in group]

    def _groups(
        self, blocks: Any, work: Callable[..., Any], shared: tuple[Any, ...], own: Own, dtype: Any, *, adds: bool
    ) -> Iterator[Any]:
        if blocks not in self._held:
            self._held[blocks] = _Held(self, blocks)
        held, common = self._held[blocks], _Shared(self, shared)
        steady = own if isinstance(own, Told) else None
        code, groups = np.dtype(dtype).str, held.groups
        kept, reach = held.keeps(code), reach_of(len(groups)) if adds else 1

        def submit(chunk: range) -> "list[Future[Any]]":
            places = range(chunk.start * reach, min(len(groups), chunk.stop * reach))
            news = own if steady is None else steady.news
            calls = [packed((work, [news[k] for k in groups[place]], adds)) for place in places]
            found = held.features(places) if kept else [groups[place] for place in places]
            same = [None] * len(places) if steady is None else held.fixed(steady, places)
            more = {} if kept else {"read": held.read.now(), "dtype": code}
            function = answer_on if kept else answer_at
            found = self.begin("block", places, function, calls, found, same, common=common.now(), **more)
            while len(found) > len(chunk):
                parts = [found[k : k + TOGETHER] for k in range(0, len(found), TOGETHER)]
                found = self.begin("sum", range(len(parts)), joined, parts)
            return found

        def name(item: int) -> str:
            first, last = groups[item * reach], groups[min(len(groups), (item + 1) * reach) - 1]
            return told(range(first.start, last.stop))

        return self.patience.in_order(-(-len(groups) // reach), submit, _stop_of(blocks), name)

    def _shared(self, thing: Any) -> "_Shared":
        if not getattr(thing, "stays_elsewhere", False):
            return _Shared(self, thing)
        if thing not in self._there:
            self._there[thing] = _Shared(self, thing)
        return self._there[thing]

    def begin(
        self, what: str, chunk: Sequence[int], function: Callable[..., Any], *each: Any, **common: Any
    ) -> "list[Future[Any]]":
        """A task for each place of a chunk; `each` are lists of what differs."""
        number = next(_numbers)
        keys = [f"mercer-{what}-{k}-{self.client.id}-{number}" for k in chunk]
        # What is sent is sent only once: a warning that it is large would be of no use.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.map(function, *each, key=keys, pure=False, asked=mercer_here(), **common)

    def memory(self) -> float:
        """Bytes that all workers have."""
        found = self.client.scheduler_info()["workers"].values()
        return sum(worker["memory_limit"] or available_bytes() for worker in found)


class _Shared:
    """Something that many tasks need: sent with each, or made on a worker from bytes that the scheduler keeps."""

    def __init__(self, crew: Crew, thing: Any) -> None:
        self.crew, self.content = crew, packed(thing)
        self._sent: Any = Parcel(self.content) if len(self.content) <= SMALL else None

    def now(self) -> Any:
        """What a task is given; sent again where the scheduler has forgotten it."""
        if self._sent is None or getattr(self._sent, "status", "") == "cancelled":
            (self._sent,) = self.crew.begin("shared", range(1), parcel, [self.content])
        return self._sent


class _Held:
    """What the workers keep of blocks: how they are read and, if there is room, their features.

    Features are the results of tasks, so that those of a worker that died are read again by another.
    """

    def __init__(self, crew: Crew, blocks: Any) -> None:
        self.crew, self.read = crew, _Shared(crew, blocks.reader())
        self.groups = groups_of(len(blocks.sizes), crew.patience.threads())
        self.cells = float(sum(blocks.sizes)) * blocks.n_features
        self.code: str | None = None
        self.found: dict[int, Future[Any]] = {}
        self.told: WeakKeyDictionary[Any, dict[int, Any]] = WeakKeyDictionary()

    def keeps(self, code: str) -> bool:
        """Whether features of this type stay: those that are asked for first, where there is room."""
        if self.code is None and self.cells * np.dtype(code).itemsize <= KEPT_SHARE * self.crew.memory():
            self.code = code
        return self.code == code

    def features(self, chunk: range) -> "list[Future[Any]]":
        """Tasks that have read, or will read, some groups."""

        def read(places: list[int]) -> "list[Future[Any]]":
            more = {"read": self.read.now(), "dtype": self.code}
            return self.crew.begin("features", places, features, [self.groups[place] for place in places], **more)

        return _known(self.found, chunk, read)

    def fixed(self, told: Told, chunk: range) -> "list[Any]":
        """What the blocks of some groups are told in every pass: sent with the first."""

        def send(places: list[int]) -> "list[Future[Any]]":
            content = [packed([told.fixed[k] for k in self.groups[place]]) for place in places]
            return self.crew.begin("fixed", places, fixed, content, [self.found.get(place) for place in places])

        return _known(self.told.setdefault(told.fixed, {}), chunk, send)


def _known(
    known: "dict[int, Future[Any]]", chunk: range, begin: Callable[[list[int]], "list[Future[Any]]"]
) -> "list[Future[Any]]":
    """Tasks for some groups, begun if there is none or the scheduler has forgotten it."""
    missing = [place for place in chunk if place not in known or known[place].status == "cancelled"]
    if missing:
        known.update(zip(missing, begin(missing), strict=True))
    return [known[place] for place in chunk]


def reach_of(groups: int) -> int:
    """How many groups workers add up among themselves, so that few sums come here."""
    reach = 1
    while groups > JOINED * reach:
        reach *= TOGETHER
    return reach


def groups_of(count: int, threads: int) -> list[range]:
    """Blocks in groups of 1, 2, 4, ... neighbours, so that each thread has a few groups."""
    size = 1
    while count >= 2 * size * GROUPS_A_THREAD * threads:
        size *= 2
    return [range(begin, min(count, begin + size)) for begin in range(0, count, size)]


def told(group: range) -> str:
    """Some blocks in words."""
    return f"block {group.start}" if len(group) == 1 else f"blocks {group.start} to {group.stop - 1}"


def _limits_stop() -> bool:
    """Whether the limits of the fit that this thread works for are reached."""
    ends = ends_in_force()
    return ends is not None and ends.stop()


def _stop_of(blocks: Any) -> Callable[[], bool]:
    """What may end the work on blocks."""
    own = getattr(blocks, "stop", None)
    return _limits_stop if own is None else lambda: own() or _limits_stop()
