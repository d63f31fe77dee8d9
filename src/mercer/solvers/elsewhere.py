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
    """Others who work for this process."""

    def each(
        self,
        work: Callable[..., Any],
        shared: tuple[Any, ...],
        items: Sequence[tuple[Any, ...]],
        stop: Callable[[], bool] | None = None,
    ) -> Iterator[Any]:
        """``work(*shared, *item)`` for each item; the answers in the order of the items.

        `work` is a module-level function and may be called again where a worker died. `stop`, asked while others
        work, ends it with `Stopped`. What is shared is sent once a call; an object that says `stays_elsewhere`, once.
        """
        ...

    def map(
        self, blocks: Any, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]], dtype: Any
    ) -> Iterator[Any]:
        """What ``blocks.map(work, shared, own, dtype)`` gives, each block being read by who works on it."""
        ...

    def total(
        self, blocks: Any, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[tuple[Any, ...]], dtype: Any
    ) -> tuple[Any, list[Any]]:
        """What ``blocks.total(work, shared, own, dtype)`` gives, to the same bits."""
        ...


class Keeper(Protocol):
    """Who keeps how far a fit is, for another one to go on from there."""

    def name(self, *things: Any) -> str:
        """A name for a problem, of all that it is made of: of another problem it is another."""
        ...

    def recall(self, problem: str) -> list[State] | None:
        """The states in which a problem of this name was kept last."""
        ...

    def keep(self, problem: str, states: Callable[[], list[State]], is_solved: bool) -> None:
        """Keep the states of a problem, which ``states()`` gives. Not every call need come to anything."""
        ...


_workers: contextvars.ContextVar[Workers | None] = contextvars.ContextVar("mercer_workers", default=None)
_keeper: contextvars.ContextVar[Keeper | None] = contextvars.ContextVar("mercer_keeper", default=None)


def workers_in_force() -> Workers | None:
    """Who works for this thread, if anybody does."""
    return _workers.get()


def keeper_in_force() -> Keeper | None:
    """Who keeps how far the fits of this thread are, if anybody does."""
    return _keeper.get()


@contextmanager
def in_force(workers: Workers | None, keeper: Keeper | None = None) -> Iterator[None]:
    """In the body, `workers` do what can be divided, and `keeper` keeps how far it is; None: nobody does."""
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
    """``workers.each``, where answers are kept by who is in force for that, and those kept before are not asked for.

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
