"""Waiting for tasks: in order, within the limits of a fit, and with a reason if nothing comes.

A task whose worker dies is begun again by the scheduler, on another worker. What cannot be mended in this way becomes a
`ClusterError` here: a scheduler that is gone, a cluster without workers, a task that ends every worker it meets.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as NotYet
from typing import TYPE_CHECKING, Any

from mercer._errors import ClusterError, MercerError
from mercer._jit.threads import Stopped

if TYPE_CHECKING:
    from distributed import Client, Future

# Seconds between two looks at the limits while tasks are under way.
LOOK = 0.02
# Seconds without an answer after which the scheduler is asked who is there.
SILENCE = 2.0
# How often a task that the scheduler forgets is begun again.
AGAIN = 5
# Tasks under way for each thread of the cluster: none should be idle, and answers are held in memory.
AHEAD = 4


class Patience:
    """How long a client waits for its cluster.

    Parameters
    ----------
    client : distributed.Client
    seconds : float
        How long to wait for a worker if there is none, and for a scheduler that does not answer.
    advice : callable
        What to do after an error, in words: where the checkpoint is.
    """

    def __init__(self, client: "Client", seconds: float, advice: Callable[[], str] = lambda: "") -> None:
        self.client, self.seconds, self.advice = client, seconds, advice
        self._there: dict[str, int] = {}
        self._looked = -SILENCE

    def in_order(
        self,
        count: int,
        submit: Callable[[range], "list[Future[Any]]"],
        stop: Callable[[], bool],
        name: Callable[[int], str],
        at_a_time: int | None = None,
    ) -> Iterator[Any]:
        """The answers of `count` tasks, in their order; `submit` begins a range of them.

        They are fetched `at_a_time` or, because every fetch has its cost, as many as were begun together.
        """
        chunk = max(16, AHEAD * self.threads())
        waiting: deque[Future[Any]] = deque()
        begun = done = 0
        while done < count:
            if begun < count and len(waiting) <= chunk:
                following = range(begun, min(count, begun + chunk))
                waiting.extend(submit(following))
                begun = following.stop
            ready = [waiting.popleft() for _ in range(min(at_a_time or chunk, len(waiting)))]
            yield from self._answers(ready, range(done, done + len(ready)), submit, stop, name)
            done += len(ready)

    def _answers(
        self,
        ready: "list[Future[Any]]",
        places: range,
        submit: Callable[[range], "list[Future[Any]]"],
        stop: Callable[[], bool],
        name: Callable[[int], str],
    ) -> Any:
        """The answers of some tasks. One that the scheduler has forgotten, as it may when workers die, begins again."""
        for _ in range(AGAIN):
            try:
                return self._fetched(ready, stop, lambda: name(places[_first_waiting(ready)]))
            except _Forgotten:
                gone = [k for k, future in enumerate(ready) if future.status == "cancelled"]
            for k in gone:
                (ready[k],) = submit(range(places[k], places[k] + 1))
        raise self.lost()

    def _fetched(self, ready: "Sequence[Future[Any]]", stop: Callable[[], bool], name: Callable[[], str]) -> Any:
        """The answers of some tasks, once all have one; what is lost with a worker is computed again elsewhere."""
        watch = _Watch(self)
        coming = self._begin(lambda: self.client.gather(list(ready), asynchronous=True))
        while True:
            try:
                return coming.result(timeout=LOOK)
            except NotYet:
                if coming.done():
                    raise
                try:
                    watch.look(name)
                    is_over = stop()
                except BaseException:
                    coming.cancel()
                    raise
                if is_over:
                    coming.cancel()
                    raise Stopped from None
            except MercerError:
                raise
            except Exception as error:  # noqa: BLE001 - raised again, in words where there are any
                reason = self._told(error, name())
                raise reason from None if reason is error else error

    def _told(self, error: BaseException | None, name: str) -> BaseException:
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        if self.client.status != "running":
            return self.lost()
        if isinstance(error, KilledWorker):
            return ClusterError(
                f"{name} killed {error.allowed_failures + 1} workers, the last of them "
                f"{getattr(error.last_worker, 'address', error.last_worker)}. This happens when a worker runs out of "
                f"memory: use smaller blocks, or start workers with more memory{self.advice()}"
            )
        if isinstance(error, MemoryError):
            return ClusterError(
                f"{name} ran out of memory on a worker ({error}): use smaller blocks, or start workers with more "
                f"memory{self.advice()}"
            )
        if isinstance(error, CancelledError):
            return _Forgotten()
        if isinstance(error, CommClosedError):
            return self.lost()
        return error if error is not None else ClusterError(f"{name} was lost{self.advice()}")

    def lost(self) -> ClusterError:
        """The scheduler is gone, and with it all that was under way."""
        return ClusterError(
            f"the scheduler at {self._address()} is gone, or was restarted and has lost this work: start a "
            f"cluster, and fit again{self.advice()}"
        )

    def _address(self) -> str:
        scheduler = self.client.scheduler
        return "an address that no longer exists" if scheduler is None else str(scheduler.address)

    def workers(self) -> dict[str, int]:
        """The threads of each worker, by address; raises an error if the scheduler does not answer."""
        asked = self._begin(self._ask_for_workers)
        try:
            return dict(asked.result(timeout=self.seconds))
        except NotYet:
            asked.cancel()
            raise ClusterError(
                f"the scheduler at {self._address()} has not answered for {self.seconds:g} s: check that it is running "
                f"and can be reached over the network{self.advice()}"
            ) from None
        except (OSError, AttributeError, asyncio.CancelledError) as error:
            raise self.lost() from error

    async def _ask_for_workers(self) -> Any:
        return await self.client.scheduler.ncores()

    def threads(self) -> int:
        """How many tasks the cluster could do at the same time, a moment ago."""
        return max(1, sum(self._lately().values()))

    def is_gone(self, address: str) -> bool:
        """Whether a worker was no longer there a moment ago."""
        return address not in self._lately()

    def _lately(self) -> dict[str, int]:
        now = time.monotonic()
        if now - self._looked > SILENCE:
            self._there, self._looked = self.workers(), now
        return self._there

    def _begin(self, make: Callable[[], Any]) -> Any:
        """Have something awaited by the thread in which Dask listens."""
        if self.client.status != "running":
            raise self.lost()

        async def run() -> Any:
            return await make()

        return asyncio.run_coroutine_threadsafe(run(), self.client.loop.asyncio_loop)


def _first_waiting(ready: "Sequence[Future[Any]]") -> int:
    """The first task that has failed, or else the first without an answer."""
    for status in ("error", "pending", "lost"):
        for k, future in enumerate(ready):
            if future.status == status:
                return k
    return 0


class _Forgotten(Exception):
    """The scheduler no longer knows a task."""


class _Watch:
    """Checks now and then whether there is anything to wait for."""

    def __init__(self, patience: Patience) -> None:
        self.patience, self.alone_since = patience, None
        self.next_look = time.monotonic() + SILENCE

    alone_since: float | None

    def look(self, name: Callable[[], str]) -> None:
        patience, now = self.patience, time.monotonic()
        if patience.client.status != "running":
            raise patience.lost()
        if now < self.next_look:
            return
        self.next_look = now + SILENCE
        if patience.workers():
            self.alone_since = None
            return
        self.alone_since = self.alone_since or now
        if now - self.alone_since >= patience.seconds:
            raise ClusterError(
                f"the cluster has had no worker for {patience.seconds:g} s, and {name()} is waiting: start workers, "
                f"and fit again{patience.advice()}"
            )
