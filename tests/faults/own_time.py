"""Times that a busy machine does not lengthen, and Ctrl-C pressed after so much work rather than so much time."""

import os
import signal
import threading
import time


class Stopwatch:
    """Measures from its making: the time on the clock, or that of processors where others had them meanwhile."""

    def __init__(self):
        self._clock, self._used = time.monotonic(), time.process_time()

    @property
    def used(self):
        """Seconds of processors, of all threads."""
        return time.process_time() - self._used

    @property
    def seconds(self):
        return min(time.monotonic() - self._clock, self.used)


class CtrlC:
    """Within it, Ctrl-C is pressed once this process has worked for so many seconds; or by `press`, if None.

    Attributes
    ----------
    waited : float or None
        From then to the end of the body, as a `Stopwatch` measures; None if the key was never pressed.
    """

    def __init__(self, after=None):
        self.after, self.waited, self._since = after, None, None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def press(self):
        self._since = Stopwatch()
        os.kill(os.getpid(), signal.SIGINT)

    def _watch(self):
        work = Stopwatch()
        while not self._is_over.wait(0.005):
            if work.used >= self.after:
                self.press()
                return

    def __enter__(self):
        if self.after is not None:
            self._thread.start()
        return self

    def __exit__(self, *_):
        if self._since is not None:
            self.waited = self._since.seconds
        self._is_over.set()
        if self.after is not None:
            self._thread.join()
