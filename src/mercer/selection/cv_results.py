"""The table of a search, in the form of scikit-learn's `cv_results_`."""

from numbers import Number

import numpy as np
from scipy.stats import rankdata

# What became of a setting.
DONE, FAILED, CUT, UNTRIED = "done", "failed", "cut", "untried"


class Table:
    """Scores, times and fates of all settings on all folds.

    Parameters
    ----------
    settings : list of dict
    n_folds : int
    names : iterable of str
        Of the scores.
    """

    def __init__(self, settings, n_folds, names):
        shape = (len(settings), n_folds)
        self.settings = settings
        self.test = {name: np.full(shape, np.nan) for name in names}
        self.train = {name: np.full(shape, np.nan) for name in names}
        self.fit_time, self.score_time = np.zeros(shape), np.zeros(shape)
        self.state = np.full(shape, UNTRIED, dtype=object)
        self.status = np.zeros(shape, dtype=np.int64)
        self.errors = {}
        # More columns, of those who have more to say of a setting.
        self.extra = {}

    def put(self, other, begin):
        """Copy the rows of another table here, from `begin` on."""
        span = slice(begin, begin + len(other.settings))
        for name in self.test:
            self.test[name][span], self.train[name][span] = other.test[name], other.train[name]
        for name in ("fit_time", "score_time", "state", "status"):
            getattr(self, name)[span] = getattr(other, name)
        self.errors |= {(number + begin, fold): text for (number, fold), text in other.errors.items()}

    def is_complete(self):
        """Which settings have been judged on every fold."""
        return (self.state == DONE).all(axis=1)

    def fate(self):
        """What became of each setting: the worst of its folds."""
        order = [DONE, FAILED, UNTRIED, CUT]
        worst = np.array([[order.index(each) for each in row] for row in self.state]).max(axis=1)
        return np.array([order[k] for k in worst], dtype=object)

    def as_results(self, with_train, suffix):
        """The dictionary; `suffix` gives the end of a score's name."""
        results = _times("fit_time", self.fit_time) | _times("score_time", self.score_time)
        results |= _parameters(self.settings)
        results["params"] = self.settings
        for name, scores in self.test.items():
            results |= _summary(f"test_{suffix(name)}", scores, ranked=True)
        if with_train:
            for name, scores in self.train.items():
                results |= _summary(f"train_{suffix(name)}", scores, ranked=False)
        return {**results, "state": self.fate(), **self.extra}


def _times(name, seconds):
    return {f"mean_{name}": seconds.mean(axis=1), f"std_{name}": seconds.std(axis=1)}


def _summary(name, scores, ranked):
    found = {f"split{k}_{name}": scores[:, k].copy() for k in range(scores.shape[1])}
    mean = scores.mean(axis=1)
    found |= {f"mean_{name}": mean, f"std_{name}": scores.std(axis=1)}
    if ranked:
        found[f"rank_{name}"] = ranks(mean)
    return found


def ranks(scores):
    """1 for the best; what has no score comes last, all of it at the same place."""
    if np.isnan(scores).all():
        return np.ones(len(scores), dtype=np.int32)
    filled = np.where(np.isnan(scores), np.nanmin(scores) - 1.0, scores)
    return rankdata(-filled, method="min").astype(np.int32)


def _parameters(settings):
    """A masked array for each parameter, empty where a setting does not have it."""
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
