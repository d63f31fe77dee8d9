"""The table of a search, in the form of scikit-learn's `cv_results_`."""

from collections.abc import Iterable, Sequence
from numbers import Number
from typing import Any, cast

import numpy as np
from scipy.stats import rankdata

from mercer._types import Array, BoolArray, FloatArray, IndexArray
from mercer.selection.tuning.ties import comparable
from mercer.solvers.result import Status

# What became of a setting.
DONE, FAILED, CUT, UNTRIED = "done", "failed", "cut", "untried"


class Table:
    """Scores, times and fates of all settings on all folds.

    Parameters
    ----------
    settings : list of dict
    n_folds : int
    names : iterable of str
        Names of the scores; others may come from a function that returns several.
    error_score : float
        The score of a fit that failed.

    Attributes
    ----------
    rounds : ndarray of int
        In which round each setting was tried.
    planned : int
        How many fits were planned; more than rows times folds if a round was never begun.
    """

    def __init__(
        self, settings: Sequence[Any], n_folds: int, names: Iterable[str], error_score: float | str = np.nan
    ) -> None:
        shape = (len(settings), n_folds)
        self.settings, self.error_score = settings, error_score
        self.state = np.full(shape, UNTRIED, dtype=object)
        self.test, self.train = {}, {}
        for name in names:
            self.scores(self.test, name)
            self.scores(self.train, name)
        self.fit_time, self.score_time = np.zeros(shape), np.zeros(shape)
        self.status = np.zeros(shape, dtype=np.int64)
        self.errors = {}
        self.rounds, self.planned = np.zeros(len(settings), np.intp), self.state.size
        # More columns, from searches with more to say about a setting.
        self.extra = {}
        # Scores on halves of what each fold learns from, two for each fold, of a search that asks for them.
        self.halves: FloatArray | None = None

    def scores(self, part: dict[str, FloatArray], name: str) -> FloatArray:
        """The scores of a name in `test` or `train`; new ones know of what has failed before they came."""
        if name not in part:
            part.setdefault(name, np.where(self.state == FAILED, self.error_score, np.nan))
        return part[name]

    def put(self, other: "Table", begin: int) -> None:
        """Copy the rows of another table here, from `begin` on."""
        span = slice(begin, begin + len(other.settings))
        for own, given in ((self.test, other.test), (self.train, other.train)):
            for name, scores in given.items():
                self.scores(own, name)[span] = scores
        for name in ("fit_time", "score_time", "state", "status"):
            getattr(self, name)[span] = getattr(other, name)
        self.errors |= {(number + begin, fold): text for (number, fold), text in other.errors.items()}

    def is_complete(self) -> BoolArray:
        """Which settings have been judged on every fold on which any can be."""
        is_done = self.state == DONE
        return (is_done | self.is_lost()).all(axis=1) & is_done.any(axis=1)

    def is_lost(self) -> BoolArray:
        """On which folds every setting of a round fails: they cannot distinguish settings."""
        return self._in_whole_rounds(self.state == FAILED)

    def is_blank(self, scores: FloatArray) -> BoolArray:
        """On which folds no setting of a round has a score, though all were tried."""
        was_tried = (self.state == DONE) | (self.state == FAILED)
        return self._in_whole_rounds(was_tried & np.isnan(scores))

    def means(self, name: str) -> FloatArray:
        """The mean score of each setting; folds without any score are left out."""
        return _means(self.test[name], self.is_blank(self.test[name]))

    def _in_whole_rounds(self, mask: BoolArray) -> BoolArray:
        """Where a mask holds for every setting of a round."""
        found = np.empty_like(mask)
        for k in np.unique(self.rounds):
            found[self.rounds == k] = mask[self.rounds == k].all(axis=0)
        return found

    def fate(self) -> Array:
        """What became of each setting: the worst of its folds."""
        order = [DONE, FAILED, UNTRIED, CUT]
        worst = np.array([[order.index(each) for each in row] for row in self.state]).max(axis=1)
        return np.array([order[k] for k in worst], dtype=object)

    def as_results(self, with_train: bool, names: Iterable[str]) -> dict[str, Any]:
        """The dictionary, with the scores of some names."""
        results = _times("fit_time", self.fit_time) | _times("score_time", self.score_time)
        results |= _parameters(self.settings)
        results["params"] = self.settings
        parts = {"test": self.test, "train": self.train} if with_train else {"test": self.test}
        for part, known in parts.items():
            for name in names:
                scores = self.scores(known, name)
                results |= _summary(f"{part}_{name}", scores, self.is_blank(scores), ranked=part == "test")
        unfinished = np.count_nonzero(self.status == Status.ITERATION_LIMIT, axis=1)
        return {**results, "state": self.fate(), "unfinished": unfinished, **self.extra}


def _times(name: str, seconds: FloatArray) -> dict[str, Any]:
    return {f"mean_{name}": seconds.mean(axis=1), f"std_{name}": seconds.std(axis=1)}


def _summary(name: str, scores: FloatArray, left_out: BoolArray, ranked: bool) -> dict[str, Any]:
    found = cast(dict[str, Any], {f"split{k}_{name}": scores[:, k].copy() for k in range(scores.shape[1])})
    mean = _means(scores, left_out)
    # Differences of infinite scores are not numbers, and need no warning.
    with np.errstate(invalid="ignore"):
        found |= {f"mean_{name}": mean, f"std_{name}": np.sqrt(_means((scores - mean[:, None]) ** 2, left_out))}
    if ranked:
        found[f"rank_{name}"] = ranks(mean)
    return found


def _means(scores: FloatArray, left_out: BoolArray) -> FloatArray:
    """Means over the folds; NaN where none is counted."""
    counts = np.count_nonzero(~left_out, axis=1)
    return np.where(counts, np.where(left_out, 0.0, scores).sum(axis=1) / np.maximum(counts, 1), np.nan)


def ranks(scores: FloatArray) -> IndexArray:
    """1 for the best, among them the winner; settings without a score come last, all with the same rank."""
    if np.isnan(scores).all():
        return np.ones(len(scores), dtype=np.int32)
    scores = np.array([comparable(score) for score in scores])
    filled = np.where(np.isnan(scores), np.nanmin(scores) - 1.0, scores)
    return rankdata(-filled, method="min").astype(np.int32)


def _parameters(settings: Sequence[Any]) -> dict[str, Any]:
    """A masked array for each parameter, masked where a setting does not have it."""
    found = {}
    for name in sorted({name for setting in settings for name in setting}):
        present = [setting[name] for setting in settings if name in setting]
        is_numeric = all(isinstance(v, Number) and not isinstance(v, bool) for v in present)
        column = np.ma.masked_all(len(settings), dtype=float if is_numeric else object)
        for k, setting in enumerate(settings):
            if name in setting:
                column[k] = setting[name]
        found[f"param_{name}"] = column
    return found
