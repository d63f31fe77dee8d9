"""How a fit is going, on a terminal: the duality gap, and an estimate of the time left."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from mercer.cli.terminal.output import console
from mercer.estimators.fitting.pace import LEAST_SHARE, Pace, standing

# Smaller fits end before a bar could be read.
SMALLEST = 2_000


class FitBar:
    """A callback that moves a bar by the pace of a fit."""

    def __init__(self, bar: Any, task: Any, pace: "Pace | FoldPace") -> None:
        self.bar, self.task, self.pace = bar, task, pace
        self.words, self.problems = "beginning", ""

    def __call__(self, point: Any) -> bool:
        self.pace.note(point)
        stage = getattr(point, "stage", "solve")
        if stage == "problems":
            self.problems = f", {point.working_set} of {point.active} problems solved" if point.working_set else ""
        elif stage == "pass":
            # What is left of a pass is known; how many passes there will be is not.
            which = f"pass {point.iterations}" if point.iterations else "first look"
            words = f"{which}, {point.working_set:,} of {point.active:,} rows, {self.words}"
            self.bar.update(self.task, completed=100 * point.working_set / max(1, point.active), description=words)
            return False
        else:
            self.words = f"kernel matrix {point.working_set}%" if stage == "kernel" else standing(point)
        words = f"{self.words}{self.problems}, {self.pace.words()}"
        self.bar.update(self.task, completed=100 * self.pace.share, description=words)
        return False


class Folds:
    """Bars for the fits of `count` folds: each carries on where the last one ended, as all are one piece of work."""

    def __init__(self, count: int) -> None:
        self.count, self.begin = count, time.monotonic()

    def __call__(self, fold: int) -> Any:
        """The watcher of one fold's fit, counted from 0."""
        return partial(self._shown, fold)

    def _shown(self, fold: int, machine: Any, rows: int) -> AbstractContextManager[Any]:
        return shown_progress(machine, rows, FoldPace(fold, self.count, self.begin, Pace.of(machine)))


class FoldPace:
    """The pace of all folds, judged by that of the one being fitted."""

    def __init__(self, fold: int, count: int, begin: float, own: Pace) -> None:
        self.fold, self.count, self.begin, self.own = fold, count, begin, own

    def note(self, point: Any) -> None:
        """Take the next point of the trace into account."""
        self.own.note(point)

    @property
    def share(self) -> float:
        """The share of all folds that is done, from 0 to 1."""
        return (self.fold + self.own.share) / self.count

    def words(self) -> str:
        """Which fold it is, and the time left, for people."""
        which = f"fold {self.fold + 1} of {self.count}"
        if self.share <= LEAST_SHARE:
            return f"{which}, time left unknown"
        left = (time.monotonic() - self.begin) * (1.0 / self.share - 1.0)
        return f"{which}, {left:.{0 if left >= 10 else 1}f} s left"


class SearchBar:
    """A callback that moves a bar by how much of a search is done."""

    def __init__(self, bar: Any, task: Any) -> None:
        self.bar, self.task = bar, task

    def __call__(self, point: Any) -> bool:
        words = f"{point.done} of {point.total} fits, best {point.best_score:.4g}, {point.seconds_left:.0f} s left"
        self.bar.update(self.task, completed=100 * point.done / max(1, point.total), description=words)
        return False


@contextmanager
def shown_progress(machine: Any, rows: int, pace: FoldPace | None = None) -> Iterator[FitBar | SearchBar | None]:
    """A bar for the fit of `machine` inside this context, if somebody is looking; by its own pace or another."""
    words, is_search = console(), hasattr(machine, "cv")
    is_short = rows < SMALLEST and not is_search
    if not words.is_terminal or is_short or "callbacks" not in machine.get_params(deep=False):
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=words, transient=True) as bar:
        task = bar.add_task("beginning", total=100)
        yield SearchBar(bar, task) if is_search else FitBar(bar, task, pace or Pace.of(machine))
