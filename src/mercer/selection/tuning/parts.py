"""Some of the rows of a search, and the tables of its rounds joined to one.

Folds stay as they are, with fewer rows in each, so that a row never helps to judge what was learnt from it.
"""

import math
from collections.abc import Sequence

import numpy as np

from mercer._types import Array, IndexArray
from mercer.selection.tuning.results import Table
from mercer.selection.tuning.search import Task
from mercer.selection.tuning.shared_matrix import take_part

# Fewest rows to learn from for each class, or for a regression, in a round.
FEWEST = 20


def first_rows(order: IndexArray, labels: Array, share: float) -> IndexArray:
    """That share of the rows of each class, those first in `order`."""
    drawn = labels[order]
    kept = [own[: math.ceil(share * len(own))] for own in (order[drawn == label] for label in np.unique(labels))]
    return np.sort(np.concatenate(kept))


def fills_folds(task: Task, rows: IndexArray) -> bool:
    """Whether some rows leave none of the folds without rows to learn from or to judge by."""
    return all(np.isin(part, rows).any() for fold in task.folds for part in fold)


def smaller(task: Task, rows: IndexArray, is_gram: bool) -> Task:
    """The task with some of its rows."""
    place = np.full(task.n, -1)
    place[rows] = np.arange(len(rows))
    folds = [tuple(place[part][place[part] >= 0] for part in fold) for fold in task.folds]
    return Task(take_part(task.X, rows, rows, is_gram), task.y[rows], task.weights_at(rows), folds)


def together(tables: Sequence[tuple[int, int, Table]]) -> Table:
    """One table of (round, number of rows, table), with how many rows each setting had to go on."""
    first = tables[0][2]
    settings = [setting for *_, table in tables for setting in table.settings]
    joined = Table(settings, first.state.shape[1], first.test, first.error_score)
    begin = 0
    for *_, table in tables:
        joined.put(table, begin)
        begin += len(table.settings)
    sizes = [len(table.settings) for *_, table in tables]
    joined.rounds = np.repeat([number for number, *_ in tables], sizes)
    joined.extra = {"iter": joined.rounds, "n_resources": np.repeat([rows for _, rows, _ in tables], sizes)}
    return joined
