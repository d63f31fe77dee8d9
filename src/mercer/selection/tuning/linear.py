"""The strength of a linear machine by cross-validation, with all folds in the same passes over the rows.

Folds are drawn by the numbers of the rows alone. A row that a fold holds out has the weight 0 there, so that all folds
are machines over the same blocks, solved side by side (`mercer.solvers.blocks`); each strength begins where the one
below it ended. Memory is bounded by blocks, and by some numbers for each row and fold.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer._jit.threads import Stopped
from mercer._types import Array, FloatArray, IndexArray
from mercer.estimators.fitting.parameters import require_count
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.fitting.seeds import Seed, seed_of
from mercer.estimators.fitting.whole_fit import fitting
from mercer.estimators.linear.from_blocks import (
    BlockTask,
    block_limits,
    block_task,
    gap_goal,
    solve_from,
    steps_dtype,
)
from mercer.estimators.linear.svc import LinearSVC
from mercer.estimators.linear.svr import LinearSVR
from mercer.estimators.out_of_core.passes import Passes, feature_blocks
from mercer.io.blocks.blocks import Blocks
from mercer.io.blocks.choice import folds_of_rows
from mercer.selection.tuning.results import ranks
from mercer.selection.tuning.ties import first_best
from mercer.solvers.blocks.newton import solve_many
from mercer.solvers.blocks.solution import BlockSolution
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from mercer.solvers.tolerances import SCORE_GAP

if TYPE_CHECKING:
    from sklearn.utils import Tags

STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


def _has(name: str) -> Any:
    return lambda self: hasattr(self.estimator, name)


class LinearCV(BaseEstimator):
    """A linear machine whose C is chosen by cross-validation, from rows in memory or from blocks.

    Parameters
    ----------
    estimator : LinearSVC or LinearSVR
        Gives everything but C. Its `time_limit`, `memory_limit` and `callbacks` apply to the whole search.
    Cs : list of float
        The values to try, in any order.
    cv : int, default=5
        Number of folds. The fold of a row depends only on its number and on `random_state`.
    random_state : int, RandomState or None, default=None
        Seed for drawing the folds; by default it is the same each time.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        A row for each C, ascending: ``params``, ``param_C``, scores of the folds (accuracy, or R^2), their mean,
        standard deviation and rank; NaN for what a limit left untried.
    best_params_, best_score_, best_index_
        The C with the best mean score, or the smallest of several, its score, and its row.
    best_estimator_ : LinearSVC or LinearSVR
        The machine fitted to all rows with that C.
    n_splits_, n_passes_ : int
        Number of folds, and of passes over the rows for everything.
    status_ : Status
        How the search ended.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from mercer import LinearCV, LinearSVC
    >>> from mercer.io import Blocks
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = LinearCV(LinearSVC(loss="logistic"), Cs=[0.01, 0.1, 1.0]).fit(Blocks((scale(X), y), block_rows=100))
    >>> found.best_params_, found.best_score_ > 0.96
    ({'C': 0.1}, True)
    """

    def __init__(
        self, estimator: Any, Cs: Sequence[float] = STRENGTHS, *, cv: int = 5, random_state: Seed = None
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self) -> "Tags":
        tags, own = super().__sklearn_tags__(), self.estimator.__sklearn_tags__()
        tags.estimator_type, tags.target_tags.required = own.estimator_type, True
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Judge every C on every fold, and fit the best to all rows.

        Parameters
        ----------
        X : Blocks, or array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
            Omitted for `Blocks`, which have their own.
        sample_weight : array-like of shape (n,), optional
            Weighs rows in the fits and in the scores. Omitted for `Blocks`.

        Returns
        -------
        self
        """
        strengths = self._checked()
        model = clone(self.estimator)
        limits = block_limits(model, "LinearCV")
        with fitting(self, limits):
            task = block_task(model, X, y, sample_weight, limits)
            source = feature_blocks(
                task.blocks, limits, self.cv * len(task.targets), model.n_jobs, model.memory_limit
            )  # fmt: skip
            search = _Search(model, task, source, limits, self.cv, seed_of(self.random_state))
            scores, start = search.run(strengths)
            self._keep(strengths, scores)
            best = clone(self.estimator).set_params(C=self.best_params_["C"])
            for name in ("classes_", "n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
                if hasattr(model, name):
                    setattr(best, name, getattr(model, name))
                    setattr(self, name, getattr(model, name))
            solve_from(best, source, task.machines(best, task.factors), start(self.best_index_), limits)
            self.best_estimator_, self.n_splits_, self.n_passes_ = best, self.cv, source.passes
            self.status_ = best.status_ if np.isfinite(scores).all() else limits.reached() or Status.INTERRUPTED
        warn_unless_optimal(self.status_, best.max_iter, _REMEDIES)
        return self

    def _checked(self) -> list[float]:
        if not isinstance(self.estimator, LinearSVC | LinearSVR):
            name = type(self.estimator).__name__
            raise ParameterError(f"estimator must be a LinearSVC or a LinearSVR, got {name}; for kernels, use SVCCV")
        require_count("cv", self.cv, 2)
        try:
            found = sorted({float(C) for C in self.Cs})
        except (TypeError, ValueError) as error:
            raise ParameterError(f"Cs must be positive numbers, got {self.Cs!r}") from error
        if not found or not all(0.0 < C < np.inf for C in found):
            raise ParameterError(f"Cs must be positive and finite numbers, got {self.Cs!r}")
        return found

    def _keep(self, strengths: list[float], scores: FloatArray) -> None:
        means = np.array([row.mean() for row in scores])
        self.best_index_ = first_best(means) if np.isfinite(means).any() else len(means) // 2
        self.best_params_, self.best_score_ = {"C": strengths[self.best_index_]}, float(means[self.best_index_])
        self.cv_results_ = {
            "params": [{"C": C} for C in strengths],
            "param_C": np.array(strengths),
            **{f"split{k}_test_score": scores[:, k].copy() for k in range(self.cv)},
            "mean_test_score": means,
            "std_test_score": np.array([row.std() for row in scores]),
            "rank_test_score": ranks(means),
        }

    def predict(self, X: Any) -> Array:
        """The prediction for each row; for `Blocks`, for all their rows."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def predict_blocks(self, blocks: Blocks) -> Iterator[Array]:
        """The predictions of each block, as it is read."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_blocks(blocks)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the machine."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy, or R^2."""
        check_is_fitted(self, "best_estimator_")
        return float(self.best_estimator_.score(X, y, sample_weight))


_REMEDIES = {
    Status.TIME_LIMIT: "Raise time_limit, or try fewer Cs; settings that were not judged have the score NaN.",
    Status.INTERRUPTED: "Settings that were not judged have the score NaN.",
}


class _Search:
    """All folds of all strengths, over the same blocks."""

    def __init__(self, model: Any, task: BlockTask, source: Passes, limits: Limits, n_folds: int, seed: int) -> None:
        self._model, self._task, self._source, self._limits = model, task, source, limits
        self._folds = folds_of_rows(0, source.n, n_folds, seed).astype(np.int16)
        self._n_folds, self._n_machines = n_folds, len(task.targets)
        self._factors = np.broadcast_to(np.asarray(task.factors, np.float64), (source.n,))
        self._weights = np.ones(source.n) if task.weights is None else task.weights

    def run(self, strengths: Sequence[float]) -> tuple[FloatArray, Any]:
        """(scores by strength and fold, what a fit to all rows starts from for each strength)."""
        scores = np.full((len(strengths), self._n_folds), np.nan)
        last: list[BlockSolution | None] = [None] * (self._n_folds * self._n_machines)
        begun: dict[int, list[BlockSolution | None]] = {}
        for k, C in enumerate(strengths):
            found = self._solved(C, last)
            if self._limits.reached() is not None:
                break
            with suppress(Stopped):
                scores[k] = self._judged(found)
            last = list(found)
            # The first fold's machines know most of the rows.
            begun[k] = list(found[: self._n_machines])
        return scores, lambda k: begun.get(k, [None] * self._n_machines)

    def _solved(self, C: float, starts: Sequence[BlockSolution | None]) -> list[BlockSolution]:
        model = clone(self._model).set_params(C=C)
        machines = [
            machine
            for fold in range(self._n_folds)
            for machine in self._task.machines(model, np.where(self._folds == fold, 0.0, self._factors))
        ]
        return solve_many(
            self._source,
            machines,
            gap_tol=max(gap_goal(model), SCORE_GAP),
            limits=self._limits.unwatched(),
            starts=starts,
            dtype=steps_dtype(self._source),
        )

    def _judged(self, found: Sequence[BlockSolution]) -> FloatArray:
        """The score of each fold on its own rows."""
        W = np.stack([each.coefficients for each in found], axis=1)
        b, truth = np.array([each.bias for each in found]), self._task.truth
        is_classes = hasattr(self._model, "classes_")
        centre = 0.0 if is_classes else float(np.mean(truth))
        own = [(truth[span], self._folds[span], self._weights[span]) for span in self._source.spans()]
        shared = (W, b, self._n_folds, self._n_machines, is_classes, centre)
        total = sum(self._source.map(judge_block, shared, own, steps_dtype(self._source)))
        weight, good, first, second = np.asarray(total).T
        with np.errstate(divide="ignore", invalid="ignore"):
            return good / weight if is_classes else 1.0 - good / (second - first**2 / weight)


def judge_block(
    features: Any, W: FloatArray, b: FloatArray, n_folds: int, n_machines: int, is_classes: bool, centre: float,
    truth: Array, folds: IndexArray, weights: FloatArray,
) -> FloatArray:  # fmt: skip
    """Sums over the rows of each fold: weight, weight of the right ones (or squared errors), targets, their squares."""
    values = np.asarray(features @ W.astype(features.dtype), np.float64) + b
    sums = np.zeros((n_folds, 4))
    for fold in range(n_folds):
        mine = np.flatnonzero(folds == fold)
        said = values[mine, fold * n_machines : (fold + 1) * n_machines]
        w, true = weights[mine], truth[mine]
        if is_classes:
            predicted = (said[:, 0] > 0).astype(np.int64) if n_machines == 1 else said.argmax(axis=1)
            sums[fold, :2] = w.sum(), w @ (predicted == true)
        else:
            distance = true - centre
            sums[fold] = w.sum(), w @ (said[:, 0] - true) ** 2, w @ distance, w @ distance**2
    return sums
