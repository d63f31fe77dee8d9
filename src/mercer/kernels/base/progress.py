"""Progress of one long evaluation, reported to a callback that may end it."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from mercer._errors import CancelledError
from mercer._jit.threads import Stopped
from mercer.kernels._types import T

EVERY_SECONDS = 0.1


class _Listener:
    """Called between tiles by the engine, from any of its threads; one at a time reports."""

    def __init__(self, callback: Callable[[float], object]) -> None:
        self.callback, self.is_ended, self.share = callback, False, 0.0
        self._spoken = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, share: float | None = None) -> bool:
        if share is None or self.is_ended or not self._lock.acquire(blocking=False):
            return self.is_ended
        try:
            if time.monotonic() - self._spoken >= EVERY_SECONDS:
                self.share = min(1.0, share)
                self.is_ended = bool(self.callback(self.share))
                self._spoken = time.monotonic()
        finally:
            self._lock.release()
        return self.is_ended


_listening = threading.local()


def current_stop() -> Callable[[], bool] | None:
    """A `stop` for work before the matrix, such as reading graphs; None without a callback.

    The callback is not passed down through every function; it belongs to the
    thread. Nothing of the matrix is done yet, so the callback receives 0.
    """
    listener = getattr(_listening, "listener", None)
    return None if listener is None else lambda: listener(0.0)


def unless_stopped(items: Iterable[T]) -> Iterator[T]:
    """The items one by one, until the callback ends the work; see `current_stop`."""
    stop = current_stop()
    for item in items:
        if stop is not None and stop():
            raise Stopped
        yield item


@contextmanager
def reported(callback: Callable[[float], object] | None) -> Iterator[_Listener | None]:
    """A `stop` for the engine that reports its progress to `callback`; None without one."""
    if callback is None:
        yield None
        return
    listener, before = _Listener(callback), getattr(_listening, "listener", None)
    _listening.listener = listener
    try:
        yield listener
    except Stopped:
        raise CancelledError(f"the callback stopped the work with {listener.share:.0%} of the matrix done") from None
    finally:
        _listening.listener = before
    if not listener.is_ended:
        callback(1.0)
