"""How long work takes by itself: the time on the clock, less what the thread that does it waited for a core.

Linux counts, for each thread, how long it was ready to run and had to wait because others ran. Elsewhere,
and where that is not told, the clock alone is to be had. Threads that help are not asked: who helps
takes the next part when it has one, and who waits for a core takes none.
"""

import time
from pathlib import Path

_OWN = Path("/proc/thread-self/schedstat")


class CoreTimer:
    """Measures from its making to `seconds`, in one thread.

    >>> from mercer.selection.preflight.timer import CoreTimer
    >>> timer = CoreTimer()
    >>> 0.0 <= timer.seconds()[0] < 1.0
    True
    """

    def __init__(self) -> None:
        # The clock is read first here and last below: no wait is taken off that it has not counted.
        self._begin, self._used, self._waited = time.perf_counter(), time.thread_time(), _waited()

    def seconds(self) -> tuple[float, float]:
        """(what the work took, what it waited beside)."""
        waited, used = _waited() - self._waited, time.thread_time() - self._used
        wall = time.perf_counter() - self._begin
        # The system counts in its own steps; what the thread has used, it has not waited.
        waited = max(0.0, min(wall - used, waited))
        return wall - waited, waited


def _waited() -> float:
    """Seconds that this thread has waited for a core so far."""
    try:
        return int(_OWN.read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
