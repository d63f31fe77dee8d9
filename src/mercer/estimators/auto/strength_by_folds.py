"""How strongly a machine should follow its data: C by cross-validation on a few hundred rows.

A sample decides, because the best C hardly depends on how many rows there are: it weighs the loss of one row. Three
powers of ten are tried first, and more if the best lies at the edge. All fits share one kernel matrix.

The same folds decide whether several classes are better learnt in pairs or each against the rest. Pairs are usual, and
quicker; but with many classes of few rows each, such as the topics of texts, a pair sees too little.
"""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning

from mercer._errors import MercerError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels.given.precomputed import Precomputed
from mercer.solvers.calibration.out_of_fold import assign_folds, projected

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.kernels.base.kernel import Kernel

# In units of the rule; the first three are always tried.
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
_FIRST = (2, 3, 4)
# Most and fewest rows that decide; folds.
MOST_ROWS, FEWEST_ROWS, FOLDS = 600, 12, 3
# How several classes are learnt: in pairs, or each against the rest.
PAIRS, REST = "ovo", "ovr"
# A larger C must raise a score between 0 and 1 by more than this.
CLEARLY = 0.002
# Each class against the rest must be right where pairs are wrong more often than the reverse, by this many deviations.
CLEARLY_MORE = 1.5
# Bins of a quantity, by which rows are dealt to folds.
BINS = 8
# Scores need not be as accurate as a solution.
TOLERANCE = 0.01
# What a fit on a fold does without.
_PLAIN = {"callbacks": None, "time_limit": None, "verbose": False, "approximation": None, "warm_start": False,
          "probability": False, "gap_tol": None, "calibration": None}  # fmt: skip


def strength_by_folds(
    estimator: "BaseEstimator",
    kernel: "Kernel",
    X: Rows,
    y: Array,
    weights: FloatArray | None,
    unit: float,
    stop: Callable[[], bool],
) -> tuple[float, str]:
    """(what C should be, in units: one of STRENGTHS; how several classes should be learnt: "ovo" or "ovr").

    1 and "ovo" if nothing can be decided.
    """
    is_quantity = is_regressor(estimator)
    chosen, keys = _sampled(X, y, weights)
    codes = _codes(y[chosen], is_quantity)
    folds = assign_folds(codes, keys, FOLDS)
    if len(chosen) < FEWEST_ROWS or len(np.unique(folds[folds >= 0])) < FOLDS or stop():
        return 1.0, PAIRS
    scores = _Scores(estimator, _matrix(kernel, X, chosen), y[chosen], folds, unit, is_quantity)
    best = _best(scores, stop)
    is_open = getattr(estimator, "multi_class", None) == "auto" and len(np.unique(y)) > 2
    return against_the_rest(scores, best, stop) if is_open else (best, PAIRS)


def against_the_rest(scores: "_Scores", strength: float, stop: Callable[[], bool]) -> tuple[float, str]:
    """The same with each class against the rest, where that is clearly right more often."""
    in_pairs = scores.right.get((strength, PAIRS))
    if in_pairs is None:
        return strength, PAIRS
    # Against many rows of the rest, a class needs no smaller C than against another class.
    mine = [each for each in (strength, 10.0 * strength) if scores(each, stop, REST) is not None]
    if not mine:
        return strength, PAIRS
    best = max(mine, key=lambda each: float(scores.right[each, REST].sum()))
    gained = scores.right[best, REST] - in_pairs
    # McNemar's test: rows on which both are right, or both wrong, say nothing.
    is_clear = gained.sum() > CLEARLY_MORE * np.sqrt(np.abs(gained).sum())
    return (best, REST) if is_clear else (strength, PAIRS)


def _best(scores: "_Scores", stop: Callable[[], bool]) -> float:
    """The least strength that is about as good as any, looked for outwards from the middle."""
    found: dict[int, float] = {}
    wanted = list(_FIRST)
    while wanted and not stop():
        place = wanted.pop(0)
        score = scores(STRENGTHS[place], stop)
        if score is None:
            break
        found[place] = score
        if not wanted:
            top = _top(found)
            wanted = [next_ for next_ in (top - 1, top + 1) if next_ not in found and 0 <= next_ < len(STRENGTHS)]
    return STRENGTHS[_top(found)] if found else 1.0


def _top(found: dict[int, float]) -> int:
    best = max(found.values())
    return min(place for place, score in found.items() if score >= best - CLEARLY)


class _Scores:
    """The mean score of the folds for a strength."""

    def __init__(
        self, estimator: "BaseEstimator", K: FloatArray, y: Array, folds: IndexArray, unit: float, is_quantity: bool
    ) -> None:
        plain = {name: value for name, value in _PLAIN.items() if name in estimator.get_params(deep=False)}
        self.machine = clone(estimator).set_params(kernel="precomputed", **plain)
        self.machine.set_params(tol=max(self.machine.tol, TOLERANCE * (float(np.std(y)) if is_quantity else 1.0)))
        self.K, self.y, self.folds, self.unit, self.is_quantity = K, y, folds, unit, is_quantity
        # How right each row was, by strength and by how classes were learnt.
        self.right: dict[tuple[float, str], FloatArray] = {}

    def __call__(self, strength: float, stop: Callable[[], bool], how: str = PAIRS) -> float | None:
        """None if it is unknown."""
        self.machine.set_params(C=self.unit * strength)
        if how == REST or getattr(self.machine, "multi_class", None) == "auto":
            self.machine.set_params(multi_class=how)
        right = np.zeros(len(self.y))
        held = self.folds >= 0
        for fold in range(FOLDS):
            if stop():
                return None
            train, test = np.flatnonzero(self.folds != fold), np.flatnonzero(self.folds == fold)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                try:
                    model = self.machine.fit(self.K[np.ix_(train, train)], self.y[train])
                except MercerError:
                    return None
            said = model.predict(self.K[np.ix_(test, train)])
            right[test] = -((said - self.y[test]) ** 2) if self.is_quantity else said == self.y[test]
        self.right[strength, how] = right
        mean = float(right[held].mean())
        return 1.0 + mean / (float(np.var(self.y)) or 1.0) if self.is_quantity else mean


def _codes(y: Array, is_quantity: bool) -> IndexArray:
    """Classes as numbers; quantities by their place in the order of all, in bins."""
    if not is_quantity:
        return np.unique(y, return_inverse=True)[1]
    ranks = np.searchsorted(np.sort(y), y)
    return (ranks * min(BINS, max(1, len(y) // (2 * FOLDS)))) // len(y)


def _sampled(X: Rows, y: Array, weights: FloatArray | None) -> tuple[IndexArray, FloatArray]:
    """(positions of rows that decide, a number for each by which folds are dealt).

    Rows of numbers count once however often they occur, and in an order of their own: neither weights nor the order of
    rows change what is chosen.
    """
    used = np.arange(len(y)) if weights is None else np.flatnonzero(weights > 0)
    if getattr(getattr(X, "dtype", None), "kind", "O") == "f":
        keys = projected(X)[used]
        _, first = np.unique(np.column_stack([np.unique(y[used], return_inverse=True)[1], keys.round(12)]), axis=0,
                             return_index=True)  # fmt: skip
        used, keys = used[first], keys[first]
    else:
        keys = np.random.default_rng(0).permutation(len(used)).astype(np.float64)
    drawn = np.sort(np.random.default_rng(0).permutation(len(used))[:MOST_ROWS])
    return used[drawn], keys[drawn]


def _matrix(kernel: "Kernel", X: Rows, chosen: IndexArray) -> FloatArray:
    if isinstance(kernel, Precomputed):
        return np.asarray(X, dtype=np.float64)[np.ix_(chosen, chosen)]
    return kernel([X[k] for k in chosen] if isinstance(X, list) else X[chosen], dtype=np.float64)
