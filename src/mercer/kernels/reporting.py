"""Progress of one long evaluation, to a function of the caller's that may end it."""

import threading
import time
from contextlib import contextmanager

from mercer._errors import CancelledError
from mercer._jit.threads import Stopped

EVERY_SECONDS = 0.1


class _Listener:
    """Asked between tiles by the engine, from any of its threads; one at a time speaks."""

    def __init__(self, callback):
        self.callback, self.is_ended, self.share = callback, False, 0.0
        self._spoken = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, share=None):
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


@contextmanager
def reported(callback):
    """A `stop` for the engine that tells `callback` how far it is; None where there is none."""
    if callback is None:
        yield None
        return
    listener = _Listener(callback)
    try:
        yield listener
    except Stopped:
        raise CancelledError(f"the callback ended the work with {listener.share:.0%} of the matrix done") from None
    if not listener.is_ended:
        callback(1.0)
