"""How long the steps of a run took, without the time spent compiling."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from mercer._jit.compile import seconds_compiling


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Note how long something took, and under "compile" how long it had to wait for the compiler."""
    begin, before = time.perf_counter(), seconds_compiling()
    yield
    spent, compiling = time.perf_counter() - begin, seconds_compiling() - before
    seconds[name] = max(0.0, spent - compiling)
    if compiling:
        seconds["compile"] = seconds.get("compile", 0.0) + compiling
