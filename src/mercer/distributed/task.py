"""What runs on a worker. A task is a function of bytes and of the results of other tasks, and of nothing else.

So the scheduler, which unpacks what it is sent, has nothing to unpack but bytes, and whatever is lost when a worker
dies is made again from its origin.
"""

import io
import pickle
import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from mercer import __version__
from mercer._errors import ClusterError
from mercer._jit.cache import source_digest
from mercer._jit.threads import as_one_of_several
from mercer.solvers.blocks.source import added
from mercer.solvers.limits import Limits

SAME_EVERYWHERE = "install the same Mercer on every worker, or start the cluster without this one"


def packed(thing: Any) -> bytes:
    """A thing as bytes; functions and classes of a script or a notebook go with it.

    Limits stay here, with their callbacks: it is this process that watches over a fit.
    """
    content = io.BytesIO()
    _pickler()(content, protocol=5).dump(thing)
    return content.getvalue()


@lru_cache(maxsize=1)
def _pickler() -> Any:
    import cloudpickle

    class WithoutLimits(cloudpickle.Pickler):
        def reducer_override(self, thing: Any) -> Any:
            return (Limits, ()) if isinstance(thing, Limits) else super().reducer_override(thing)

    return WithoutLimits


@lru_cache(maxsize=1)
def mercer_here() -> tuple[str, str]:
    """(version, digest of the sources that compile) of the Mercer of this process."""
    return __version__, source_digest()


def require_same(asked: tuple[str, str]) -> None:
    """Refuse to work for another Mercer: its bits would differ."""
    if asked != mercer_here():
        raise ClusterError(
            f"worker {_here()} has {told(mercer_here())}, but the request is from {told(asked)}; {SAME_EVERYWHERE}"
        )


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


class Parcel:
    """What several tasks share, opened once on each worker.

    It goes from worker to worker as the bytes it came in. An array that Dask sends from one to the other may begin at
    any byte, where NumPy does not give it to BLAS: the same numbers, and other bits in what is computed from them.
    """

    def __init__(self, content: bytes) -> None:
        self.content, self._lock, self._opened = content, threading.Lock(), _CLOSED

    def __reduce__(self) -> tuple[type["Parcel"], tuple[bytes]]:
        return Parcel, (self.content,)

    def open(self) -> Any:
        """What is in it."""
        with self._lock:
            if self._opened is _CLOSED:
                self._opened = loads(self.content)
        return self._opened


_CLOSED = object()


def loads(content: bytes) -> Any:
    """What was `packed`."""
    return pickle.loads(content)  # noqa: S301 - from the client, whose code is run here by design


def aligned(X: Any) -> Any:
    """The same rows, aligned to the size of a number."""
    if sparse.issparse(X):
        parts = (X.data, X.indices, X.indptr)
        return X if all(part.flags.aligned for part in parts) else X.copy()
    return X.copy() if isinstance(X, np.ndarray) and not X.flags.aligned else X


def shared(content: bytes, *, asked: tuple[str, str]) -> Parcel:
    """A parcel that stays on the worker as long as the client wants it."""
    require_same(asked)
    return Parcel(content)


def answer(call: bytes, *, asked: tuple[str, str], common: list[Parcel]) -> Any:
    """``work(*common, *item)`` of a packed (work, item)."""
    require_same(asked)
    work, item = loads(call)
    with as_one_of_several():
        return work(*(parcel.open() for parcel in common), *item)


def features(group: range, *, asked: tuple[str, str], read: Parcel, dtype: str) -> list[Any]:
    """The features of some blocks, read or computed here."""
    require_same(asked)
    with as_one_of_several():
        return [read.open()(block, np.dtype(dtype)) for block in group]


def fixed(content: bytes, _beside: Any, *, asked: tuple[str, str]) -> Parcel:
    """What the blocks of a group are told in every pass; made where their features are."""
    return shared(content, asked=asked)


def answer_on(call: bytes, found: Iterable[Any], same: Parcel | None, *, asked: tuple[str, str], common: Parcel) -> Any:
    """``work(features, *common, *same, *news)`` of each block, or their sum, of a packed (work, news, adds)."""
    require_same(asked)
    (work, news, adds), told_all = loads(call), common.open()
    told = [()] * len(news) if same is None else same.open()
    with as_one_of_several():
        blocks = zip(found, told, news, strict=True)
        answers = (work(aligned(each), *told_all, *mine, *new) for each, mine, new in blocks)
        return added(answers, owns=True) if adds else list(answers)


def answer_at(
    call: bytes, group: range, same: Parcel | None, *, asked: tuple[str, str], common: Parcel, read: Parcel, dtype: str
) -> Any:
    """The same for features that are read just for this, one block after the other."""
    found = (each for block in group for each in features(range(block, block + 1), asked=asked, read=read, dtype=dtype))
    return answer_on(call, found, same, asked=asked, common=common)


def joined(parts: list[tuple[Any, list[Any]]], *, asked: tuple[str, str]) -> tuple[Any, list[Any]]:
    """(the sum, what belongs to the blocks) of neighbours that others have added up."""
    require_same(asked)
    total, kept = added(parts)
    return total, [each for group in kept for each in group]
