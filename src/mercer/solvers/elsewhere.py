"""Work that others do: whoever has workers puts them in force here, and what can be divided asks for them.

`mercer.distributed` puts a cluster in force. Whoever divides work knows nothing of it: it asks
`workers_in_force()`, and where there are none does the work itself.
"""

import contextvars
from contextlib import contextmanager
from typing import Protocol


class Workers(Protocol):
    """Others who work for this process."""

    def each(self, work, shared, items, stop):
        """``work(*shared, *item)`` for each item; an iterator of the answers, in the order of the items.

        `work` is a module-level function and may be called again where a worker died. `stop`, asked while others
        work, ends it with `Stopped`. What is shared is sent once a call; an object that says `stays_elsewhere`, once.
        """

    def map(self, blocks, work, shared, own, dtype):
        """What ``blocks.map(work, shared, own, dtype)`` gives, each block being read by who works on it."""

    def total(self, blocks, work, shared, own, dtype):
        """What ``blocks.total(work, shared, own, dtype)`` gives, to the same bits."""


_in_force = contextvars.ContextVar("mercer_workers", default=None)


def workers_in_force():
    """The `Workers` of this thread, or None."""
    return _in_force.get()


@contextmanager
def in_force(workers):
    """In the body, `workers` do what can be divided; None: nobody does."""
    token = _in_force.set(workers)
    try:
        yield workers
    finally:
        _in_force.reset(token)
