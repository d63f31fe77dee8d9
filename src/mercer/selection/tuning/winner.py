"""Which setting a search has found to be best, and by which folds."""

from typing import TYPE_CHECKING

import numpy as np

from mercer._types import BoolArray, FloatArray
from mercer.selection.tuning.results import DONE
from mercer.selection.tuning.settings import middle_of
from mercer.selection.tuning.ties import first_best

if TYPE_CHECKING:
    from mercer.selection.tuning.results import Table


def winner_of(table: "Table", judge: str) -> int:
    """The number of the setting with the best mean score among those judged on every fold, in the last such round.

    Folds on which every setting fails do not count. If no setting is judged on all the others, because a
    search was stopped or because each fails on some fold, it is the best of those judged on most folds;
    if nothing was judged, the middle of the grid.
    """
    means = np.where(table.is_complete(), table.means(judge), np.nan)
    for k in range(int(table.rounds.max()), -1, -1):
        own = np.where(table.rounds == k, means, np.nan)
        if not np.isnan(own).all():
            return first_best(own)
    counts = is_judged(table, judge).sum(axis=1)
    if counts.max() == 0:
        return middle_of(table.settings)
    partly = [score_of(table, judge, k) if counts[k] == counts.max() else np.nan for k in range(len(counts))]
    return first_best(partly)


def unless_told_apart(table: "Table", judge: str, best: int, usual: BoolArray) -> int:
    """The best of the usual settings if the folds cannot tell it from the best of all; otherwise the latter.

    The best of hundreds is partly the luckiest. One that was fixed before anything was tried gives way only to one
    that is better by more than a standard error of the difference, fold by fold.
    """
    scores = table.test[judge]
    rivals = usual & table.is_complete() & (table.rounds == table.rounds[best]) & ~np.isnan(scores).all(axis=1)
    if usual[best] or not rivals.any():
        return best
    first = first_best(np.where(rivals, table.means(judge), np.nan))
    gains = scores[best] - scores[first]
    gains = gains[~np.isnan(gains)]
    if len(gains) < 2:
        return best
    return best if gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)) else first


def score_of(table: "Table", judge: str, number: int) -> float:
    """The mean score of a setting, over the folds it was judged on if not all."""
    if table.is_complete()[number]:
        return float(table.means(judge)[number])
    own = table.test[judge][number][is_judged(table, judge)[number]]
    return float(own.mean()) if len(own) else np.nan


def is_judged(table: "Table", judge: str) -> BoolArray:
    """Which settings have a score on which folds."""
    return (table.state == DONE) & ~np.isnan(table.test[judge])


def scores_of_rivals(table: "Table", judge: str, winner: int) -> FloatArray:
    """The scores of all settings that were judged on every fold in the winner's round, on folds that have scores."""
    own = table.is_complete() & (table.rounds == table.rounds[winner])
    scores = table.test[judge][own]
    scores = scores[:, ~np.isnan(scores).all(axis=0)]
    return scores[~np.isnan(scores).any(axis=1)]
