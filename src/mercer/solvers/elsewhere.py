"""Work done by others: a provider of workers registers them here, and work that can be divided uses them.

`mercer.distributed` registers a cluster. Code that divides work knows nothing about it: it asks
`workers_in_force()`, and does the work itself if there are none.
"""

import contextvars
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from mercer._types import Array

State = dict[str, Array]


class Workers(Protocol):
    """Executors outside this process."""

    def each(
        self,
        work: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Sequence[tuple[Any, ...]],
        stop: Callable[[], bool] | None = None,
    ) -> Iterator[Any]:
        """``work(*shared, *item)`` for each item; the answers in the order of the items.

        `work` is a module-level function and may be repeated if a worker dies. `stop` is polled meanwhile, and ends the
        call with `Stopped`. `shared` is sent once per call; an object whose class sets `stays_elsewhere`, only once.
        """
        ...

    def map(
        self, blocks: Any, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]], dtype: Any
    ) -> Iterator[Any]:
        """As ``blocks.map(work, shared, own, dtype)``, with each block read by its worker."""
        ...

    def total(
        self, blocks: Any, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]], dtype: Any
    ) -> tuple[Any, list[Any]]:
        """As ``blocks.total(work, shared, own, dtype)``, to the same bits."""
        ...


class Keeper(Protocol):
    """Stores the progress of a fit so that another can resume it."""

    def name(self, *things: Any) -> str:
        """A name for a problem that identifies everything it is made of."""
        ...

    def recall(self, problem: str) -> list[State] | None:
        """The last states kept for a problem of this name."""
        ...

    def keep(self, problem: str, states: Callable[[], list[State]], is_solved: bool) -> None:
        """Keep the states of a problem, obtained by ``states()``; not every call need store them."""
        ...


_workers: contextvars.ContextVar[Workers | None] = contextvars.ContextVar("mercer_workers", default=None)
_keeper: contextvars.ContextVar[Keeper | None] = contextvars.ContextVar("mercer_keeper", default=None)


def workers_in_force() -> Workers | None:
    """The workers of this thread, if any."""
    return _workers.get()


def keeper_in_force() -> Keeper | None:
    """The keeper of this thread, if any."""
    return _keeper.get()


@contextmanager
def in_force(workers: Workers | None, keeper: Keeper | None = None) -> Iterator[None]:
    """In the body, divisible work goes to `workers` and progress to `keeper`; None for neither."""
    tokens = _workers.set(workers), _keeper.set(keeper)
    try:
        yield
    finally:
        _workers.reset(tokens[0])
        _keeper.reset(tokens[1])


def each_kept(
    workers: Workers,
    work: Callable[..., Any],
    shared: tuple[Any, ...],
    items: Sequence[tuple[Any, ...]],
    stop: Callable[[], bool] | None,
    about: Callable[[], tuple[Any, ...]],
    pack: Callable[[Any], State],
    unpack: Callable[[State], Any],
) -> Iterator[Any]:
    """``workers.each``, with answers stored by the keeper in force, and stored ones not computed again.

    Parameters
    ----------
    about : callable
        All that the answers depend on, for the name of the problem.
    pack, unpack : callable
        An answer as arrays, and back.
    """
    keeper = keeper_in_force()
    if keeper is None:
        yield from workers.each(work, shared, items, stop)
        return
    problem = keeper.name(*about())
    known = {int(state["item"]): state for state in keeper.recall(problem) or ()}
    answers = workers.each(work, shared, [item for k, item in enumerate(items) if k not in known], stop)
    for k in range(len(items)):
        if k not in known:
            known[k] = {"item": np.asarray(k), **pack(next(answers))}
            keeper.keep(problem, lambda: list(known.values()), is_solved=len(known) == len(items))
        yield unpack(known[k])
