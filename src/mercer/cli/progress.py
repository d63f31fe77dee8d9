"""How a fit stands, on a terminal: the violation left, the dual, and an estimate of the time left."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mercer.cli.saying import console

# Smaller fits end before a bar could be read.
SMALLEST = 2_000


class FitBar:
    """A callback that moves a bar: the violation falls about exponentially from its first value to the goal."""

    def __init__(self, bar: Any, task: Any, tol: float, time_limit: float | None) -> None:
        self.bar, self.task, self.tol, self.time_limit = bar, task, tol, time_limit
        self.begin, self.first, self.share = time.monotonic(), 0.0, 0.0

    def __call__(self, point: Any) -> bool:
        violation = float(getattr(point, "violation", math.nan))
        self.first = max(self.first, violation) if math.isfinite(violation) else self.first
        if self.first > self.tol and violation > 0:
            done = math.log(self.first / violation) / math.log(self.first / self.tol)
            self.share = max(self.share, min(0.99, done))
        words = f"violation {violation:.1e} of {self.tol:g}, dual {getattr(point, 'dual', math.nan):.6g}"
        self.bar.update(self.task, completed=100 * self.share, description=f"{words}, {self._left()} left")
        return False

    def _left(self) -> str:
        elapsed = time.monotonic() - self.begin
        left = elapsed * (1 / self.share - 1) if self.share > 0.02 else math.inf
        if self.time_limit is not None:
            left = min(left, self.time_limit - elapsed)
        return "?" if math.isinf(left) else f"{max(0.0, left):.0f} s"


class SearchBar:
    """A callback that moves a bar by how much of a search is done."""

    def __init__(self, bar: Any, task: Any) -> None:
        self.bar, self.task = bar, task

    def __call__(self, point: Any) -> bool:
        words = f"{point.done} of {point.total} fits, best {point.best_score:.4g}, {point.seconds_left:.0f} s left"
        self.bar.update(self.task, completed=100 * point.done / max(1, point.total), description=words)
        return False


@contextmanager
def shown_progress(machine: Any, rows: int, time_limit: float | None) -> Iterator[None]:
    """Show the fit of `machine` that happens inside, if somebody is there to see it."""
    words, is_search = console(), hasattr(machine, "cv")
    is_short = rows < SMALLEST and not is_search
    if not words.is_terminal or is_short or "callbacks" not in machine.get_params(deep=False):
        yield
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=words, transient=True) as bar:
        task = bar.add_task("beginning", total=100)
        watcher = SearchBar(bar, task) if is_search else FitBar(bar, task, machine.tol, time_limit)
        machine.set_params(callbacks=[watcher])
        try:
            yield
        finally:
            # A model is data: whoever watched it is not part of it.
            machine.set_params(callbacks=None)
