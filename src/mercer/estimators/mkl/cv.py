"""Kernel weights by cross-validation: one kernel after the other, as long as scores rise."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from mercer._errors import DataError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray
from mercer.estimators.fitting import tasks
from mercer.solvers.elsewhere import State, each_kept, workers_in_force

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.estimators.mkl.solve import Machines


# Shares of the weight that may move to one kernel at a time.
MOVES = (0.5, 0.25, 0.1)
# Smallest increase of a score that counts.
RISE = 1e-9


def splits_of(model: "BaseEstimator", y: Array, groups: ArrayLike | None) -> list[tuple[FloatArray, IndexArray]]:
    """(training multiplicity of each row, rows to score) of each split of ``model.cv``."""
    rows = np.arange(len(y))
    try:
        splitter = check_cv(model.cv, y, classifier=is_classifier(model))
        # Splitters give indices or masks.
        found = [tuple(rows[np.asarray(part)] for part in split) for split in splitter.split(rows[:, None], y, groups)]
    except (IndexError, ValueError) as error:
        remedy = "; pass groups to fit" if groups is None and "groups" in str(error) else ""
        raise DataError(f"cv={brief(model.cv)} cannot split n_samples={len(y)} rows: {error}{remedy}") from error
    return [(np.bincount(train, minlength=len(y)).astype(np.float64), held) for train, held in found]


@dataclass(frozen=True)
class Fold:
    """A problem over the training rows of a split, and the score on its other rows.

    Attributes
    ----------
    held : ndarray of int
        The rows to judge by.
    setup : TwoClassProblems or OneProblem
        The problems of the rows to learn from.
    score : callable
        ``score(values, held)`` of decision values (k, n_problems) of the rows held out.
    """

    held: np.ndarray
    setup: object
    score: object


class FoldScores:
    """The score of kernel weights on rows left out of the fit.

    Parameters
    ----------
    machines : Machines
    folds : list of Fold
    """

    # Sent to a cluster's workers once, with the kernel matrices.
    stays_elsewhere = True

    if TYPE_CHECKING:
        _betas: list[Any]

    def __init__(self, machines: "Machines", folds: Sequence[Fold]) -> None:
        self.machines, self.folds = machines, folds
        self._betas = [None] * len(self.folds)

    def each(self, candidates: Sequence[FloatArray]) -> Iterator[float]:
        """The mean score of each of several weights, one after the other."""
        workers = workers_in_force()
        if workers is None:
            yield from map(self._mean, candidates)
            return
        items = [(place, candidates, betas) for place, betas in enumerate(self._betas)]

        def about() -> tuple[Any, ...]:
            data, folds = self.machines.data, [(fold.held, fold.setup) for fold in self.folds]
            return data.X, data.kernels, self.machines.counts, self.machines.tol, folds, items

        stop = self.machines.limits.stop
        found = list(each_kept(workers, judge_fold, (self,), items, stop, about, _packed, _unpacked))
        self._betas = [betas for _, betas in found]
        yield from (float(np.mean(scores)) for scores in zip(*(scores for scores, _ in found), strict=True))

    def _mean(self, weights: FloatArray) -> float:
        matrix = self.machines.matrix(weights)
        return float(np.mean([self._fold(place, matrix) for place in range(len(self.folds))]))

    def along(self, place: int, candidates: Sequence[FloatArray], betas: Any) -> tuple[list[float], Any]:
        """(scores, last coefficients) of several weights on one fold, each warm-started from the last."""
        own = FoldScores(self.machines, self.folds)
        own._betas[place] = betas
        return [own._fold(place, self.machines.matrix(weights)) for weights in candidates], own._betas[place]

    def _fold(self, place: int, matrix: Any) -> float:
        fold = self.folds[place]
        held, setup = fold.held, cast(Any, fold.setup)
        solutions = self.machines.solutions(matrix, self._betas[place], setup)
        # The next weights are near these, and so are the solutions.
        self._betas[place] = [one.beta for one in solutions]
        values = np.empty((len(held), len(solutions)))
        for t, (problem, task, one) in enumerate(zip(setup.problems, setup.tasks, solutions, strict=True)):
            support = np.flatnonzero(one.beta)
            own = matrix.product(task.indices[support], one.beta[support], held) if len(support) else 0.0
            values[:, t] = own + problem.intercept(one.beta, one.bias)
        return cast(Any, fold.score)(values, held)


def judge_fold(scores: FoldScores, place: int, candidates: Sequence[FloatArray], betas: Any) -> tuple[list[float], Any]:
    """A worker's part of `FoldScores.each`: one fold."""
    return scores.along(place, candidates, betas)


def _packed(found: tuple[list[float], list[FloatArray]]) -> State:
    """(scores, last coefficients) as arrays for a file."""
    scores, betas = found
    return {"scores": np.array(scores), **{f"beta {k}": beta for k, beta in enumerate(betas)}}


def _unpacked(state: State) -> tuple[list[float], list[FloatArray]]:
    return state["scores"].tolist(), [state[f"beta {k}"] for k in range(len(state) - 2)]


def best_by_folds(scores: FoldScores, n_kernels: int) -> FloatArray:
    """Weights of sum 1: the best of single kernels and equal weights, then improved.

    A round tries to move a half, a quarter or a tenth of the weight to each kernel, and keeps the best; it ends when no
    move raises the score. Ties go to the first.
    """
    unit = np.eye(n_kernels)
    weights, best = _best([np.full(n_kernels, 1.0 / n_kernels), *unit], scores, -np.inf)
    while True:
        tried = [(1.0 - move) * weights + move * one for move in MOVES for one in unit]
        found, score = _best([each for each in tried if np.abs(each - weights).max() > 1e-12], scores, best)
        if found is None:
            return weights
        weights, best = found, score


def _best(candidates: Sequence[FloatArray], scores: FoldScores, least: float) -> tuple[Any, float]:
    """The first candidate of the highest score above `least`, or None."""
    found, best = None, least
    for weights, score in zip(candidates, scores.each(candidates), strict=True):
        if score > best + RISE:
            found, best = weights, score
    return found, best


def share_correct(
    codes: IndexArray, counts: FloatArray, learnt: Array, has_pairs: bool
) -> Callable[[FloatArray, IndexArray], float]:
    """A score: the weighted accuracy, among the classes that were learnt."""

    def score(values: FloatArray, held: IndexArray) -> float:
        if len(learnt) == 2:
            predicted = (values[:, 0] > 0).astype(np.intp)
        else:
            predicted = (tasks.votes(values, len(learnt)) if has_pairs else values).argmax(axis=1)
        return float(np.average(learnt[predicted] == codes[held], weights=counts[held]))

    return score


def less_squared_error(targets: FloatArray, counts: FloatArray) -> Callable[[FloatArray, IndexArray], float]:
    """A score: minus the weighted mean squared error."""

    def score(values: FloatArray, held: IndexArray) -> float:
        return -float(np.average((values[:, 0] - targets[held]) ** 2, weights=counts[held]))

    return score
