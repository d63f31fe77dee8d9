"""How long work takes by itself: the time on the clock, minus the time that its thread waited for a core.

Linux counts, for each thread, how long it was ready to run but had to wait because others ran. Elsewhere, or if that
count is not available, there is only the clock. Helper threads are not counted: a helper takes the next part when it
runs, and one that waits for a core takes none.
"""

import time
from pathlib import Path

_OWN = Path("/proc/thread-self/schedstat")


class CoreTimer:
    """Measures from its creation to the call of `seconds`, in one thread.

    >>> from mercer.selection.preflight.timer import CoreTimer
    >>> timer = CoreTimer()
    >>> 0.0 <= timer.seconds()[0] < 1.0
    True
    """

    def __init__(self) -> None:
        # The clock is read first here and last below, so that no wait is subtracted that it has not counted.
        self._begin, self._used, self._waited = time.perf_counter(), time.thread_time(), _waited()

    def seconds(self) -> tuple[float, float]:
        """(how long the work took, how long it waited)."""
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
