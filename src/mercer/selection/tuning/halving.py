"""Successive halving: many settings on few rows first, the better part of them on more.

Method (Jamieson & Talwalkar 2016): each round keeps one setting in `factor` and gives it `factor`
times the rows, until the last round has all of them. Folds stay as they are, with fewer rows in each,
so a row never helps to judge what was learnt from it. The winner is the best of the last round, whose
scores are those of a full search; a setting that was dropped earlier might have come to be better.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._types import Array, IndexArray
from mercer.estimators.fitting.seeds import generator_of
from mercer.selection.tuning.progress import Progress
from mercer.selection.tuning.results import Table
from mercer.selection.tuning.search import Task
from mercer.selection.tuning.shared_matrix import take_part

if TYPE_CHECKING:
    from mercer.solvers.limits import Limits


# Fewest rows to learn from for each class, or for a regression, in the first round.
FEWEST = 20


def halve(
    task: Task,
    count: int,
    run: Callable[..., Table],
    *,
    factor: int,
    random_state: int | np.random.RandomState | None,
    classifies: bool,
    is_gram: bool,
    judge: str,
    limits: "Limits",
) -> Table:
    """The `Table` of all rounds.

    ``run(numbers, task, progress)`` gives the `Table` of some of `count` settings on a task.
    """
    labels = task.y if classifies else np.zeros(task.n, np.intp)
    order = generator_of(random_state).permutation(task.n)
    n_rounds = _rounds(task, labels, count, factor)
    parts = [cast(Any, _first(order, labels, float(factor) ** (k + 1 - n_rounds))) for k in range(n_rounds - 1)]
    parts = [rows if _fills_folds(task, rows) else None for rows in parts] + [None]
    alive, tables, progress = list(range(count)), [], _progress(task, parts, count, factor)
    for rows in parts:
        part = task if rows is None else _smaller(task, rows, is_gram)
        table = run(alive, part, progress)
        tables.append((part.n, table))
        if limits.stop():
            break
        progress.place += 1
        means = np.where(table.is_complete(), table.means(judge), np.nan)
        best_first = np.argsort(-means, kind="stable")
        alive = [alive[i] for i in sorted(best_first[: math.ceil(len(alive) / factor)])]
    joined = _together(tables)
    joined.planned = progress.total
    return joined


def _progress(task: Task, parts: Sequence[IndexArray | None], count: int, factor: int) -> Progress:
    """All rounds, as they will be unless a limit ends them."""
    rounds = []
    for rows in parts:
        rounds.append((count * len(task.folds), task.n if rows is None else len(rows)))
        count = math.ceil(count / factor)
    return Progress(rounds)


def _rounds(task: Task, labels: Array, count: int, factor: int) -> int:
    """As many rounds as leave about one setting, or as the rows allow."""
    smallest = min(len(train) for train, _ in task.folds)
    by_rows = math.log(max(1.0, smallest / (FEWEST * len(np.unique(labels)))), factor)
    return 1 + min(math.floor(by_rows + 1e-9), math.floor(math.log(count, factor) + 1e-9))


def _first(order: IndexArray, labels: Array, share: float) -> IndexArray:
    """That share of the rows of each class, those first in `order`."""
    drawn = labels[order]
    kept = [own[: math.ceil(share * len(own))] for own in (order[drawn == label] for label in np.unique(labels))]
    return np.sort(np.concatenate(kept))


def _fills_folds(task: Task, rows: IndexArray) -> bool:
    """Whether some rows leave none of the folds without rows to learn from or to judge by."""
    return all(np.isin(part, rows).any() for fold in task.folds for part in fold)


def _smaller(task: Task, rows: IndexArray, is_gram: bool) -> Task:
    """The task with some of its rows."""
    place = np.full(task.n, -1)
    place[rows] = np.arange(len(rows))
    folds = [tuple(place[part][place[part] >= 0] for part in fold) for fold in task.folds]
    return Task(take_part(task.X, rows, rows, is_gram), task.y[rows], task.weights_at(rows), folds)


def _together(tables: Sequence[tuple[int, Table]]) -> Table:
    """One table of all rounds, with how many rows each had to go on."""
    first = tables[0][1]
    settings = [setting for _, table in tables for setting in table.settings]
    joined = Table(settings, first.state.shape[1], first.test, first.error_score)
    begin = 0
    for _, table in tables:
        joined.put(table, begin)
        begin += len(table.settings)
    sizes = [len(table.settings) for _, table in tables]
    joined.rounds = np.repeat(np.arange(len(tables)), sizes)
    joined.extra = {"iter": joined.rounds, "n_resources": np.repeat([n_rows for n_rows, _ in tables], sizes)}
    return joined
