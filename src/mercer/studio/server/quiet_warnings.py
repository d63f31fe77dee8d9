"""Warnings that the page shows in its own way, kept off the terminal while threads are at work.

A status is shown on the page, so the warning that goes with it has been heard; and a map of a kernel of
rank one is a line, which is no news. Python's
own `catch_warnings` is not made for threads: the second one to enter would restore what the
first has changed. Here the first to enter sets the filter and the last to leave restores.
"""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_state: dict[str, Any] = {"depth": 0, "saved": None}


@contextmanager
def expected_warnings_ignored() -> Iterator[None]:
    """Ignore them in every thread until the last one is done."""
    from sklearn.exceptions import ConvergenceWarning

    with _lock:
        if _state["depth"] == 0:
            _state["saved"] = warnings.filters[:]
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message="n_components=", category=UserWarning)
        _state["depth"] += 1
    try:
        yield
    finally:
        with _lock:
            _state["depth"] -= 1
            if _state["depth"] == 0:
                warnings.filters[:] = _state["saved"]  # type: ignore[index]
