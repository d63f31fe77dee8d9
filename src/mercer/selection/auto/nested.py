"""What a search may claim for itself: each fold is scored by a choice that has not seen its rows at all.

The folds of a search learn from each other's rows. A kernel that happens to suit the noise between two folds is lucky
on both, so that no choice among folds can show its luck. Here the rows outside a fold are halved, each half is learnt
from and the other predicted, and the setting that does best on the halves is the one whose score on the fold counts
(nested cross-validation; Stone 1974, Varma & Simon 2006). The scores on the folds are those of the search.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from mercer._types import Array, FloatArray, IndexArray

if TYPE_CHECKING:
    from mercer.selection.tuning.search import Task


def halved(task: "Task", classifies: bool) -> "Task":
    """The task whose folds are two halves, each way round, of what each fold learns from.

    Learnt kernels keep what they have learnt from both halves, which takes most of the time of a small search. This
    makes them look better than they are to the choice, but not to the fold, whose labels they have not seen.
    """
    folds, learnt = [], {}
    for train, _ in task.folds:
        one, other = _halves(train, task.y[train], classifies)
        folds += [(one, other), (other, one)]
        known = task.learnt.setdefault(train.tobytes(), {})
        learnt.update({one.tobytes(): known, other.tobytes(): known})
    return replace(task, folds=folds, learnt=learnt)


def _halves(rows: IndexArray, y: Array, classifies: bool) -> tuple[IndexArray, IndexArray]:
    can_keep_shares = classifies and np.unique(y, return_counts=True)[1].min() >= 2
    divide = (StratifiedKFold if can_keep_shares else KFold)(n_splits=2, shuffle=True, random_state=0)
    one, other = next(divide.split(np.zeros(len(rows)), y if can_keep_shares else None))
    return rows[one], rows[other]


def nested_score(scores: FloatArray, halves: FloatArray) -> tuple[float, float]:
    """(the mean score of settings on folds that did not choose them, its standard error).

    Parameters
    ----------
    scores : ndarray of shape (settings, folds)
        NaN if a setting was not judged.
    halves : ndarray of shape (settings, 2 folds)
        Scores on the halves of what each fold learns from.

    Examples
    --------
    The halves of either fold prefer the first setting, so its scores on the folds are the ones that count:

    >>> import numpy as np
    >>> from mercer.selection.auto.nested import nested_score
    >>> scores, halves = np.array([[0.5, 0.7], [0.6, 0.6]]), np.array([[0.8, 0.8, 0.7, 0.7], [0.5, 0.5, 0.5, 0.5]])
    >>> mean, error = nested_score(scores, halves)
    >>> round(mean, 3), round(error, 3)
    (0.6, 0.1)
    """
    inner = 0.5 * (halves[:, 0::2] + halves[:, 1::2])
    whole = ~np.isnan(scores).any(axis=1) & ~np.isnan(inner).any(axis=1)
    if not whole.any():
        return np.nan, np.nan
    scores, inner = scores[whole], inner[whole]
    # Settings that do equally well count equally: their order means nothing.
    chosen = inner >= inner.max(axis=0) - 1e-12
    folds = (chosen * scores).sum(axis=0) / chosen.sum(axis=0)
    error = float(np.std(folds, ddof=1) / np.sqrt(len(folds))) if len(folds) > 1 else np.nan
    return float(folds.mean()), error
