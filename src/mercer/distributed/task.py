"""What runs on a worker. A task is a function of bytes and of the answers of other tasks, and of nothing else.

So the scheduler, which unpacks what it is sent, has nothing to unpack but bytes, and whatever a worker took with it when
it died is made again from where it came.
"""

import pickle
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from mercer import __version__
from mercer._errors import ClusterError
from mercer._jit.cache import source_digest
from mercer._jit.threads import as_one_of_several

SAME_EVERYWHERE = "install the same Mercer on every worker, or start the cluster without this one"


def packed(thing: Any) -> bytes:
    """A thing as bytes; functions and classes of a script or a notebook go with it."""
    import cloudpickle

    return cloudpickle.dumps(thing, protocol=5)


@lru_cache(maxsize=1)
def mercer_here() -> tuple[str, str]:
    """(version, digest of the sources that compile) of the Mercer of this process."""
    return __version__, source_digest()


def require_same(asked: tuple[str, str]) -> None:
    """Refuse to work for another Mercer: its bits would be others."""
    if asked != mercer_here():
        raise ClusterError(f"worker {_here()} has {told(mercer_here())}, and {told(asked)} asks; {SAME_EVERYWHERE}")


def told(found: tuple[str, str] | None) -> str:
    """A Mercer in words."""
    return "no Mercer" if found is None else f"Mercer {found[0]} (sources {found[1]})"


def _here() -> str:
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:  # no worker: a test, or a scheduler of threads
        return "here"
    return f"{worker.address} ({worker.name})"


def unpacked(content: bytes, *, asked: tuple[str, str]) -> Any:
    """What several tasks share. It stays on the worker as long as the client wants it."""
    require_same(asked)
    return pickle.loads(content)  # noqa: S301 - from the client, whose code is run here by design


def answer(call: bytes, *, asked: tuple[str, str], shared: tuple[Any, ...]) -> Any:
    """``work(*shared, *item)`` of a packed (work, item)."""
    work, item = unpacked(call, asked=asked)
    with as_one_of_several():
        return work(*shared, *item)


def features(block: int, *, asked: tuple[str, str], read: Callable[[int, str], Any], dtype: str) -> Any:
    """The features of a block, read or computed here."""
    require_same(asked)
    with as_one_of_several():
        return read(block, np.dtype(dtype))


def answer_on(call: bytes, found: Any, *, asked: tuple[str, str], shared: tuple[Any, ...]) -> Any:
    """``work(features, *shared, *own)`` of a packed (work, own)."""
    work, own = unpacked(call, asked=asked)
    with as_one_of_several():
        return work(found, *shared, *own)


def answer_at(
    call: bytes,
    block: int,
    *,
    asked: tuple[str, str],
    shared: tuple[Any, ...],
    read: Callable[[int, str], Any],
    dtype: str,
) -> Any:
    """The same for features that are read for this once."""
    return answer_on(call, features(block, asked=asked, read=read, dtype=dtype), asked=asked, shared=shared)
