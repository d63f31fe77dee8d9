"""A search that finds its own way: many kernels on few rows first, the better ones on more, and beyond the ends.

A rung has some of the rows, the last one all of them (Jamieson & Talwalkar 2016). On a rung

1. every kernel that is left is judged, along a few values of C;
2. if the best of a line of kernels is the last one tried on its side, or the best C is, and the score is within a
   standard error of the best of all, the line goes on beyond that end, until the best has neighbours on both sides;
3. on the rung before the last, the best kernel gets neighbours at half the distance, other parameters of the
   machine are tried with it, and the best kernels of different lines are tried together;
4. the best go on to the next rung, each with the C that was best for it and its two neighbours.

How many go on is counted in fits and not in seconds, so that the same rows and seed give the same answer. A time
limit does two things: a batch that would not leave enough time for the last fit is shortened or left out, and the time
left after the last rung is used until the folds can no longer tell new settings from old ones.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray, IndexArray
from mercer.estimators.fitting.seeds import generator_of
from mercer.selection.auto.lattice import Judged, Line, Point, Space
from mercer.selection.auto.nested import halved
from mercer.selection.tuning.parts import FEWEST, fills_folds, first_rows, smaller, together
from mercer.selection.tuning.progress import Progress
from mercer.selection.tuning.results import Table
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.selection.tuning.search import Task
    from mercer.solvers.limits import Limits


# A rung has this many times the rows of the one below, the first has at least so many, and none more than the last.
FACTOR = 3
FIRST = 500
MOST_ROWS = 12_000
# What the rungs may take together, in fits of one machine to all rows; and what judging a kernel takes, in fits to as
# many rows, with its folds and values of C.
FITS = 10.0
OF_A_KERNEL = 5.0
# How often a rung may go beyond its ends.
TURNS = 10
# The search ends when this many turns have gained less than this share of the standard error.
IDLE_TURNS = 2
WORTH_MORE = 0.25
# Kernels that are tried together.
MOST_BLENDED = 3

# Why a search was ended from outside.
_ENDS = {Status.TIME_LIMIT: "the time was up", Status.INTERRUPTED: "it was stopped"}

Batch = dict[Point, Sequence[float]]


@dataclass
class Climb:
    """One search.

    Attributes
    ----------
    space : Space
    task : Task
    run : callable
        ``run(settings, task, progress)`` returns the `Table` of some settings on a task.
    judge : str
        The score that decides.
    limits : Limits
    blend : callable
        The `Line` of some settings taken together, or None.
    best_possible : float or None
        The best possible score.
    refits : bool
        Whether the best is fitted to all rows when the search has ended.
    nests : bool
        Whether to judge all settings on halves of the folds too, for a score that owes nothing to choosing.
    """

    space: Space
    task: "Task"
    run: Callable[..., Table]
    judge: str
    limits: "Limits"
    blend: Callable[[Sequence[Mapping[str, Any]]], Line | None]
    best_possible: float | None
    refits: bool = True
    nests: bool = False
    known: dict[Point, Judged] = field(default_factory=dict)
    ending: str = "everything planned had been tried"

    def search(self, random_state: Any, classifies: bool, is_gram: bool) -> Table:
        """The `Table` of everything that was tried."""
        self._tables: list[tuple[int, int, Table]] = []
        self._pace = self._left_out = 0.0
        parts = _parts(self.task, random_state, classifies, is_gram)
        self._sizes = [part.n for part in parts]
        self._progress = Progress(self._planned(len(self.task.folds)))
        batch: Batch = dict.fromkeys(self.space.beginning(), self.space.Cs)
        for self._rung, self._part in enumerate(parts):
            is_last = self._rung == len(parts) - 1
            waiting = self._climb(batch, polishes=self._rung == max(0, len(parts) - 2))
            if self._is_over():
                break
            if not is_last:
                batch = self._promoted(self._sizes[self._rung + 1])
        if not self._is_over() and self.limits.deadline is not None:
            self._use_time_left(waiting)
        self.ending = _ENDS.get(self.limits.reached(), self.ending)
        joined = together(self._tables)
        joined.planned = joined.state.size + int(self._left_out)
        # With many rows there is little luck to correct for, and halves would take long.
        if self.nests and len(parts) == 1 and self.limits.deadline is None and not self._is_over():
            joined.halves = self._on_halves(joined, classifies)
        return joined

    def _on_halves(self, joined: Table, classifies: bool) -> FloatArray | None:
        """The scores of all settings on halves of what the folds learn from; None if there was no time to finish."""
        part = halved(self.task, classifies)
        self._progress.insert(len(joined.settings) * len(part.folds), self.task.n // 2)
        table = self.run(joined.settings, part, self._progress)
        self._progress.place += 1
        return table.test[self.judge] if self.limits.reached() is None else None

    # --- a rung -----------------------------------------------------------------------------

    def _climb(self, batch: Batch, polishes: bool) -> Batch:
        """Judge the kernels of a rung, and those beyond its ends; returns those there was no time or need to judge."""
        before, self.known = self.known, {}
        self._judge_all(batch)
        for _ in range(TURNS):
            batch = {} if self._is_over() or self._is_perfect() else self._wider()
            if not batch and polishes and not self._is_over() and not self._is_perfect():
                batch, polishes = self._polished(), False
            if not batch:
                break
            self._judge_all(batch)
        ranked = sorted(before, key=lambda point: -before[point].score)
        return {point: before[point].window(before[point].folds) for point in ranked if point not in self.known}

    def _judge_all(self, batch: Batch) -> None:
        """Judge kernels line by line, so that the time of one predicts that of the next."""
        waiting = dict(batch)
        for line in dict.fromkeys(point.line for point in batch):
            own = {point: waiting.pop(point) for point in batch if point.line == line}
            self._judge_some(self._in_time(own))
            if self._is_over():
                # Stopped between two lines: each table is complete, but the search is not.
                self._left_out += sum(len(Cs) for Cs in waiting.values()) * len(self.task.folds)
                return

    def _judge_some(self, batch: Batch) -> None:
        if not batch:
            return
        order = [(point, C) for point, Cs in batch.items() for C in Cs]
        settings = [self.space.setting(point, C) for point, C in order]
        fits, begin = len(order) * len(self.task.folds), time.perf_counter()
        self._progress.insert(fits, self._part.n)
        table = self.run(settings, self._part, self._progress)
        self._progress.place += 1
        self._tables.append((self._rung, self._part.n, table))
        self._pace = (time.perf_counter() - begin) / (len(batch) * float(self._part.n) ** 2)
        means, is_done = table.means(self.judge), table.is_complete()
        for number, (point, C) in enumerate(order):
            if is_done[number] and np.isfinite(means[number]):
                scores = table.test[self.judge][number]
                self.known.setdefault(point, Judged()).folds[C] = scores[np.isfinite(scores)]

    def _in_time(self, batch: Batch) -> Batch:
        """As much of a batch as leaves time for the last fit."""
        limits = self.limits
        if limits.time_limit is None or not self._pace:
            return batch
        one = self._pace * float(self._part.n) ** 2
        last = self._pace * float(self.task.n) ** 2 / len(self.task.folds) if self.refits else 0.0
        room = max(0, math.floor((limits.time_limit - limits.seconds - last) / one))
        if room < len(batch):
            self.ending = "the remaining time was needed for the last fit"
            self._left_out += sum(len(Cs) for Cs in list(batch.values())[room:]) * len(self.task.folds)
        return dict(list(batch.items())[:room])

    def _is_over(self) -> bool:
        return self.limits.stop() or self._left_out > 0 or not self.known

    def _is_perfect(self) -> bool:
        if self.best_possible is None or self._best().score < self.best_possible:
            return False
        self.ending = "the score cannot be better"
        return True

    def _best(self) -> Judged:
        return max(self.known.values(), key=lambda judged: judged.score)

    def _best_of_lines(self) -> list[Point]:
        """The best kernel of each line, the best of all first."""
        ranked = sorted(self.known, key=lambda point: -self.known[point].score)
        return list({point.line: point for point in reversed(ranked)}.values())[::-1]

    # --- what to try next -------------------------------------------------------------------

    def _wider(self) -> Batch:
        """Kernels and values of C beyond the ends at which lines that may win have their best."""
        best, found = self._best(), {}
        for point in self._best_of_lines():
            own = self.known[point]
            if own.score < best.score - best.error:
                continue
            found[point] = own.wider_Cs(self.space)
            # A neighbour that was judged only with other values of C says nothing about this one.
            tried = self._values_of(point, own.best_C)
            for value in self.space.lines[point.line].beyond(tried, point.value):
                found[replace(point, value=value)] = own.window(own.folds)
        return {point: Cs for point, Cs in ((point, self._untried(point, Cs)) for point, Cs in found.items()) if Cs}

    def _untried(self, point: Point, Cs: Sequence[float]) -> list[float]:
        return [C for C in Cs if point not in self.known or C not in self.known[point].folds]

    def _values_of(self, point: Point, C: float | None = None) -> list[float]:
        """Values of the line of a kernel that were judged, with some C."""
        own = [other for other in self.known if replace(other, value=point.value) == point]
        return sorted(other.value for other in own if C is None or C in self.known[other].folds)

    def _polished(self) -> Batch:
        """Neighbours of the best kernel, other parameters with it, and the best kernels of several lines together."""
        leaders = self._best_of_lines()
        best = leaders[0]
        Cs = self.known[best].window(self.known[best].folds)
        found: Batch = dict.fromkeys(self._between(best), Cs)
        for extra in self.space.extras:
            found[replace(best, extras=tuple(extra.items()))] = Cs
        settings = [self.space.lines[point.line].setting(point.value) for point in leaders[:MOST_BLENDED]]
        line = self.blend(settings) if len(settings) > 1 else None
        if line is not None:
            self.space = replace(self.space, lines=(*self.space.lines, line))
            found[Point(len(self.space.lines) - 1, line.values[0])] = Cs
        return found

    def _between(self, point: Point) -> list[Point]:
        line, tried = self.space.lines[point.line], self._values_of(point)
        return [replace(point, value=value) for value in line.between(tried, point.value)]

    def _promoted(self, rows: int) -> Batch:
        """The kernels that the next rung judges, the best first."""
        count = min(self._most_promoted(rows), math.ceil(len(self.known) / 2))
        count = 1 if self._is_perfect() else max(2, count)
        ranked = sorted(self.known, key=lambda point: -self.known[point].score)
        # The kernel chosen by rule stays to the end: it gives way only to one that is better on all rows.
        chosen = [*ranked[:count], *(point for point in ranked[count:] if point == Point(0, 1.0))]
        return {point: self.known[point].window(self.known[point].folds) for point in chosen}

    def _planned(self, folds: int) -> list[tuple[int, int]]:
        """Fits and rows of the rungs, as they will be if nothing lies at an end."""
        counts = [len(self.space.beginning()) * len(self.space.Cs)]
        counts += [3 * self._most_promoted(rows) for rows in self._sizes[1:]]
        return [(count * folds, rows) for count, rows in zip(counts, self._sizes, strict=True)]

    def _most_promoted(self, rows: int) -> int:
        share = 1.0 if rows == self._sizes[-1] else 1.0 / FACTOR
        return math.ceil(share * FITS / (OF_A_KERNEL * (rows / self._sizes[-1]) ** 2))

    # --- time that is left ------------------------------------------------------------------

    def _use_time_left(self, waiting: Batch) -> None:
        """Go on, on all rows: beyond and between, then with those that the rungs below had left."""
        idle = 0
        while idle < IDLE_TURNS and not self._is_over() and not self._is_perfect():
            mark = self._best().score
            best = self._best_of_lines()[0]
            Cs = self.known[best].window(self.known[best].folds)
            batch = self._wider() or dict.fromkeys(self._between(best), Cs)
            if not batch:
                batch = dict(list(waiting.items())[:FACTOR])
                waiting = {point: Cs for point, Cs in waiting.items() if point not in batch}
            if not batch:
                self.ending = "there was nothing left to try"
                return
            self._judge_all(batch)
            found = self._best()
            idle = 0 if found.score - mark > WORTH_MORE * found.error else idle + 1
        if idle >= IDLE_TURNS:
            self.ending = "the last rounds improved the score by less than the folds can tell"


def _parts(task: "Task", random_state: Any, classifies: bool, is_gram: bool) -> list["Task"]:
    """The task of each rung, the one with most rows last."""
    labels = task.y if classifies else np.zeros(task.n, np.intp)
    order = generator_of(random_state).permutation(task.n)
    shares, least = [min(1.0, MOST_ROWS / task.n)], _least_rows(labels)
    while shares[-1] / FACTOR * task.n >= least:
        shares.append(shares[-1] / FACTOR)
    return [_part(task, order, labels, share, is_gram) for share in reversed(shares)]


def _least_rows(labels: Any) -> int:
    return max(FIRST, 2 * FEWEST * len(np.unique(labels)))


def _part(task: "Task", order: IndexArray, labels: Any, share: float, is_gram: bool) -> "Task":
    rows = first_rows(order, labels, share)
    return task if len(rows) == task.n or not fills_folds(task, rows) else smaller(task, rows, is_gram)
