"""Successive halving: many settings on few rows first, the better part of them on more.

Method (Jamieson & Talwalkar 2016): each round keeps one setting in `factor` and gives it `factor`
times the rows, until the last round has all of them. Folds stay as they are, with fewer rows in each,
so a row never helps to judge what was learnt from it. The winner is the best of the last round, whose
scores are those of a full search; a setting that was dropped earlier might have come to be better.
"""

import math

import numpy as np
from sklearn.utils import check_random_state

from mercer.selection.cv_results import Table
from mercer.selection.search import Task
from mercer.selection.shared_gram import take_part

# Fewest rows to learn from for each class, or for a regression, in the first round.
FEWEST = 20


def halve(task, count, run, *, factor, random_state, classifies, is_gram, judge, limits):
    """(Table of all rounds, number of the best setting in it or None where none was judged on all folds).

    ``run(numbers, task)`` gives the `Table` of some of `count` settings on a task.
    """
    labels = task.y if classifies else np.zeros(task.n, np.intp)
    order = check_random_state(random_state).permutation(task.n)
    alive, tables, rounds = list(range(count)), [], _rounds(task, labels, count, factor)
    for k in range(rounds):
        rows = _first(order, labels, float(factor) ** (k + 1 - rounds))
        table = run(alive, task if k + 1 == rounds else _smaller(task, rows, is_gram))
        tables.append((k, len(rows), table))
        if limits.stop():
            break
        means = np.where(table.is_complete(), table.test[judge].mean(axis=1), -np.inf)
        best_first = np.argsort(-means, kind="stable")
        alive = [alive[i] for i in sorted(best_first[: math.ceil(len(alive) / factor)])]
    joined = _together(tables)
    return joined, _winner(joined, judge)


def _rounds(task, labels, count, factor):
    """As many rounds as leave about one setting, or as the rows allow."""
    smallest = min(len(train) for train, _ in task.folds)
    by_rows = math.log(max(1.0, smallest / (FEWEST * len(np.unique(labels)))), factor)
    return 1 + min(math.floor(by_rows + 1e-9), math.floor(math.log(count, factor) + 1e-9))


def _first(order, labels, share):
    """That share of the rows of each class, those first in `order`."""
    drawn = labels[order]
    kept = [own[: math.ceil(share * len(own))] for own in (order[drawn == label] for label in np.unique(labels))]
    return np.sort(np.concatenate(kept))


def _smaller(task, rows, is_gram):
    """The task with some of its rows; folds that they leave empty are as they were."""
    place = np.full(task.n, -1)
    place[rows] = np.arange(len(rows))
    folds = [tuple(place[part][place[part] >= 0] for part in fold) for fold in task.folds]
    folds = [fold for fold in folds if len(fold[0]) and len(fold[1])]
    if len(folds) < len(task.folds):
        return task
    return Task(take_part(task.X, rows, rows, is_gram), task.y[rows], task.weights_at(rows), folds)


def _together(tables):
    """One table of all rounds, with how many rows each had to go on."""
    first = tables[0][2]
    joined = Table([s for *_, table in tables for s in table.settings], first.state.shape[1], first.test)
    begin, extra = 0, {"iter": [], "n_resources": []}
    for k, n_rows, table in tables:
        joined.put(table, begin)
        extra["iter"] += [k] * len(table.settings)
        extra["n_resources"] += [n_rows] * len(table.settings)
        begin += len(table.settings)
    joined.extra = {name: np.array(values) for name, values in extra.items()}
    return joined


def _winner(table, judge):
    """The best of the last round that has judged any setting on all folds; None where none has."""
    rounds = table.extra["iter"]
    means = np.where(table.is_complete(), table.test[judge].mean(axis=1), -np.inf)
    for k in range(int(rounds.max()), -1, -1):
        own = np.where(rounds == k, means, -np.inf)
        if np.isfinite(own).any():
            return int(np.argmax(own))
    return None
