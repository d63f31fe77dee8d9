"""Judging settings on the workers of a cluster: one task for each kernel and fold, with the same table as made here.

A worker is sent the search once and keeps it, with the matrix of the kernel it works on, for as long as the search
goes on. It makes every decision as this process would, so that scores are the same to the last bit.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn import config_context

from mercer._jit.threads import Stopped
from mercer.selection.tuning.results import Table
from mercer.solvers.elsewhere import State, each_kept
from mercer.solvers.limits import Limits

if TYPE_CHECKING:
    from mercer.selection.tuning.search import Search
    from mercer.selection.tuning.shared_matrix import KernelGroup
    from mercer.solvers.elsewhere import Workers


def run_elsewhere(
    workers: "Workers",
    search: "Search",
    groups: "Sequence[KernelGroup]",
    folds: Sequence[int],
    hopeless: Callable[..., Any] | None,
) -> None:
    """Judge the settings of some kernels on some folds, each kernel and fold by any free worker."""
    needed = None if hopeless is None else cast(Any, hopeless).needed
    plan = SearchPlan(search, [group.members for group in groups], folds, needed)
    # Folds of a kernel next to each other: the worker that has its matrix takes the next.
    items = [(place, fold, _left(search)) for place in range(len(groups)) for fold in folds]
    stop = search.limits.unwatched().stop
    answers = each_kept(workers, judge, (plan,), items, stop, plan.about, _as_text, _from_text)
    for (place, fold, _), found in zip(items, answers, strict=True):
        _put(search, groups[place].members, fold, found)
        search.report()
        if stop():
            raise Stopped


def _left(search: "Search") -> float | None:
    """Seconds that a worker has at most."""
    limits = search.limits
    return None if limits.deadline is None else max(0.0, limits.deadline - limits.begin - limits.seconds)


def judge(plan: "SearchPlan", place: int, fold: int, seconds: float | None) -> dict[str, Any]:
    """The part of the table of one kernel on one fold."""
    return plan.judged(place, fold, seconds)


class SearchPlan:
    """A search as a worker has it.

    Parameters
    ----------
    search : Search
    members : list of list of int
        The settings of each kernel.
    folds : list of int
        All that are judged this time, in this task or in others.
    needed : ndarray, optional
        For a race: the score of the fold below which each setting cannot win.
    """

    def __init__(self, search: "Search", members: Sequence[Sequence[int]], folds: Sequence[int], needed: Any) -> None:
        self.members, self.folds, self.needed = members, list(folds), needed
        self.side_by_side, self.settings = search._workers(), search.table.settings
        self.error_score = search.table.error_score
        self.search = {name: value for name, value in vars(search).items() if name not in _OF_THIS_PROCESS}
        self._lock, self._ready = threading.Lock(), None

    _ready: tuple[int, "Search", list[Any]] | None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lock": None, "_ready": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    def about(self) -> tuple[Any, ...]:
        """All that scores depend on."""
        task, scores = self.search["task"], self.search["scores"]
        of_scores = scores.words, scores.scorers, scores.refit, self.search["with_train"], self.error_score
        data = task.X, task.y, task.weights, task.folds
        return data, self.search["models"], of_scores, self.members, self.folds, self.needed

    def judged(self, place: int, fold: int, seconds: float | None) -> dict[str, Any]:
        """Run one task, and take what it wrote into the table."""
        with self._lock:
            if self._ready is None or self._ready[0] != place:
                self._ready = None  # lets go of the last matrix before there is another
                self._ready = place, *self._jobs(place, seconds)
            _, search, jobs = self._ready
        with config_context(**search.config):
            jobs[self.folds.index(fold)].run()
        return _taken(search, self.members[place], fold)

    def _jobs(self, place: int, seconds: float | None) -> tuple["Search", list[Any]]:
        """A search of this process, and the jobs of one kernel in it."""
        from mercer.selection.tuning.racing import Watch
        from mercer.selection.tuning.search import Search
        from mercer.selection.tuning.shared_matrix import grouped

        search = Search.__new__(Search)
        vars(search).update(self.search, limits=Limits(time_limit=seconds), _grams=[], keeps_grams=False)
        search.table = Table(self.settings, len(search.task.folds), search.scores.names, self.error_score)
        members, models = self.members[place], search.models
        (group,) = grouped([models[number] for number in members])
        group.members = list(members)
        names = {id(models[number]): number for number in members}
        watch = None if self.needed is None else Watch(search, self.needed)
        return search, search._jobs(group, self.folds, names, self.side_by_side, watch)


# What a search has that stays where it is: its table is made anew, as are matrices and limits.
_OF_THIS_PROCESS = ("limits", "progress", "table", "_grams", "_lock")
_CELLS = ("fit_time", "score_time", "state", "status")


def _taken(search: "Search", members: Sequence[int], fold: int) -> dict[str, Any]:
    """What is known of some settings on a fold."""
    table, rows = search.table, list(members)
    found: dict[str, Any] = {name: getattr(table, name)[rows, fold] for name in _CELLS}
    for part in ("test", "train"):
        found[part] = {name: scores[rows, fold] for name, scores in getattr(table, part).items()}
    found["errors"] = {(k, fold): table.errors[k, fold] for k in rows if (k, fold) in table.errors}
    found["several"] = list(search.scores.several)
    return found


def _as_text(found: Mapping[str, Any]) -> State:
    """What a worker found, for a file: JSON has the numbers to the last bit."""
    parts = {part: {name: scores.tolist() for name, scores in found[part].items()} for part in ("test", "train")}
    cells = {name: found[name].tolist() for name in _CELLS}
    errors = [[*place, text] for place, text in found["errors"].items()]
    text = json.dumps({**parts, **cells, "errors": errors, "several": found["several"]})
    return {"found": np.frombuffer(text.encode(), np.uint8)}


def _from_text(state: State) -> dict[str, Any]:
    found = json.loads(state["found"].tobytes())
    return {**found, "errors": {(number, fold): text for number, fold, text in found["errors"]}}


def _put(search: "Search", members: Sequence[int], fold: int, found: Mapping[str, Any]) -> None:
    """Write what a worker found into the table of this process."""
    table, rows = search.table, list(members)
    for part in ("test", "train"):
        for name, scores in found[part].items():
            table.scores(getattr(table, part), name)[rows, fold] = scores
    for name in _CELLS:
        getattr(table, name)[rows, fold] = found[name]
    table.errors |= found["errors"]
    search.scores.know(found["several"])
