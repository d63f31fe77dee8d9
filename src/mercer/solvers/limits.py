"""Limits of time and iterations, callbacks and Ctrl-C, all in one place.

A solver works in slices of at most 100 ms and asks `Limits` between them. Ctrl-C sets a
flag instead of raising in the middle of an update, so the best model is always intact;
a second Ctrl-C raises KeyboardInterrupt as usual.
"""

import copy
import math
import signal
import threading
import time
from contextlib import contextmanager

from mercer.solvers.result import Status, TracePoint

SLICE_SECONDS = 0.05
# How long a kernel matrix may be in the making without a word.
SILENCE_SECONDS = 0.5


class Limits:
    """What may end a solver early. One object serves all problems of a fit.

    Parameters
    ----------
    max_iter : int
        Bound on the iterations of each problem; -1 for none.
    time_limit : float or None
        Seconds for the whole fit.
    callbacks : sequence of callables
        Called with a `TracePoint` after every round; a true answer ends the fit.
    """

    def __init__(self, max_iter=-1, time_limit=None, callbacks=()):
        self.max_iter = max_iter
        self.begin = time.monotonic()
        self.deadline = None if time_limit is None else self.begin + time_limit
        self.callbacks = tuple(callbacks or ())
        # In lists, so that copies with other limits hear of it too.
        self._interrupted = [False]
        self._spoken = [self.begin]
        self._thread = threading.get_ident()

    def with_max_iter(self, max_iter):
        """The same limits, but with another bound on iterations: for a part of the work."""
        other = copy.copy(self)
        other.max_iter = max_iter
        return other

    def at_most(self, steps):
        """The same limits with no more than so many iterations."""
        return self.with_max_iter(steps if self.max_iter < 0 else min(steps, self.max_iter))

    def after(self, done):
        """The same limits when so many iterations have been taken already."""
        return self.with_max_iter(self.max_iter if self.max_iter < 0 else max(0, self.max_iter - done))

    def unwatched(self):
        """The same limits without callbacks: for a part of the work that reports by itself."""
        quiet = copy.copy(self)
        quiet.callbacks = ()
        return quiet

    def without_deadline(self):
        """The same limits but for the time: for what has to be done in any case."""
        other = copy.copy(self)
        other.deadline = None
        return other

    @property
    def seconds(self):
        """Time since the fit began."""
        return time.monotonic() - self.begin

    def iterations_left(self, done):
        """How many more iterations a problem may take."""
        return 2**62 if self.max_iter < 0 else self.max_iter - done

    def reached(self):
        """The status that ends the fit now, or None."""
        if self._interrupted[0]:
            return Status.INTERRUPTED
        if self.deadline is not None and time.monotonic() > self.deadline:
            return Status.TIME_LIMIT
        return None

    def stop(self, share=None):
        """Whether the fit should end now: asked between tiles of long products.

        `share` of a kernel matrix in the making is shown to the callbacks now and then, in the thread
        that fits.
        """
        if share is not None and self.callbacks and threading.get_ident() == self._thread:
            self._tell(share)
        return self.reached() is not None

    def _tell(self, share):
        if time.monotonic() - self._spoken[0] >= SILENCE_SECONDS:
            self.report(TracePoint(self.seconds, 0, math.inf, 0.0, int(100 * share), 100, "kernel"))

    def report_solved(self, done, total):
        """Show the callbacks how many of the problems of a fit are solved."""
        if self.callbacks:
            self.report(TracePoint(self.seconds, 0, 0.0, 0.0, done, total, "problems"))

    def report(self, point):
        """Show a round to the callbacks."""
        self._spoken[0] = time.monotonic()
        for callback in self.callbacks:
            if callback(point):
                self._interrupted[0] = True

    @contextmanager
    def catching_interrupts(self):
        """Turn the first Ctrl-C into a flag while the body runs (in the main thread only)."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        if before is not signal.default_int_handler:
            # An application that handles Ctrl-C itself keeps doing so.
            yield
            return

        def remember(_number, _frame):
            self._interrupted[0] = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, remember)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
