"""Successive halving: many settings on few rows first, the better part of them on more.

Method (Jamieson & Talwalkar 2016): each round keeps one setting in `factor` and gives it `factor`
times the rows, until the last round has all of them. The winner is the best of the last round, whose
scores are those of a full search; a setting that was dropped earlier might have turned out better.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._types import Array, IndexArray
from mercer.estimators.fitting.seeds import generator_of
from mercer.selection.tuning.parts import FEWEST, fills_folds, first_rows, smaller, together
from mercer.selection.tuning.progress import Progress
from mercer.selection.tuning.results import Table
from mercer.selection.tuning.search import Task

if TYPE_CHECKING:
    from mercer.solvers.limits import Limits


def halve(
    task: Task,
    settings: Sequence[dict[str, Any]],
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

    ``run(settings, task, progress)`` returns the `Table` of some settings on a task.
    """
    count = len(settings)
    labels = task.y if classifies else np.zeros(task.n, np.intp)
    order = generator_of(random_state).permutation(task.n)
    n_rounds = _rounds(task, labels, count, factor)
    parts = [cast(Any, first_rows(order, labels, float(factor) ** (k + 1 - n_rounds))) for k in range(n_rounds - 1)]
    parts = [rows if fills_folds(task, rows) else None for rows in parts] + [None]
    alive, tables, progress = list(range(count)), [], _progress(task, parts, count, factor)
    for rows in parts:
        part = task if rows is None else smaller(task, rows, is_gram)
        table = run([settings[k] for k in alive], part, progress)
        tables.append((len(tables), part.n, table))
        if limits.stop():
            break
        progress.place += 1
        means = np.where(table.is_complete(), table.means(judge), np.nan)
        best_first = np.argsort(-means, kind="stable")
        alive = [alive[i] for i in sorted(best_first[: math.ceil(len(alive) / factor)])]
    joined = together(tables)
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
