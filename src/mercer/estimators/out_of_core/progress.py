"""Progress reports of a pass over blocks."""

import threading
import time

import numpy as np

from mercer.solvers.limits import Limits
from mercer.solvers.result import TracePoint

# Longest time of a pass without a report.
SILENCE_SECONDS = 0.3


class Progress:
    """Reports to the callbacks of `limits` how many rows of a pass are done, in the thread that began it."""

    def __init__(self, limits: Limits, n_rows: int) -> None:
        self._limits, self._rows = limits, n_rows
        self._thread, self._spoken = threading.get_ident(), time.monotonic()
        self._number = self.done = 0

    def begin(self, number: int) -> None:
        """Start a pass; 0 is the first reading, before there is anything to fit."""
        self._number, self.done = number, 0

    def stop(self) -> bool:
        """Whether the work should end now; polled before every block."""
        now = time.monotonic()
        if threading.get_ident() == self._thread and now - self._spoken >= SILENCE_SECONDS:
            self._spoken = now
            self._limits.report(
                TracePoint(self._limits.seconds, self._number, np.inf, 0.0, self.done, self._rows, "pass")
            )
        return self._limits.reached() is not None
