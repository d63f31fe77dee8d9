"""Probabilities for machines that give decision values.

A machine hands over the decision values of rows that it has not seen in the fit
(`mercer.solvers.calibration.out_of_fold`), for each of its two-class problems; `Calibration` turns decision
values into probabilities, and `Probable` gives a classifier the methods that go with them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer._types import Array, BoolArray, FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_classifier import refuse_ties_of_pairs
from mercer.estimators.fitting.equal_rows import comparable_rows
from mercer.solvers.calibration.isotonic import fit_isotonic
from mercer.solvers.calibration.out_of_fold import FOLDS, assign_folds, out_of_fold_scores, projected
from mercer.solvers.calibration.pairwise_coupling import couple
from mercer.solvers.calibration.platt import bounded_copies, fit_sigmoid, sigmoid, smoothed_targets
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.estimators.fitting.protocols import Setup, SolvedProblems
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.estimators.low_rank.over_blocks import BlockFit
    from mercer.estimators.low_rank.restricted import Restricted
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


METHODS = {True: "sigmoid", "sigmoid": "sigmoid", "isotonic": "isotonic"}
# Weight of a sigmoid added to an isotonic function: on a flat step, the decision value decides.
TILT = 1e-3
# The word is scikit-learn's own default.
NONE = (False, "deprecated")


def calibration_method(probability: bool | str) -> str | None:
    """The method that a `probability` parameter asks for, or None."""
    if isinstance(probability, (bool, np.bool_, str)):
        if probability in NONE:
            return None
        if probability in METHODS:
            return METHODS[probability]
    raise ParameterError(f"probability must be False, True, 'sigmoid' or 'isotonic', got {probability!r}")


def folds_of(
    data: "TrainingData",
    codes: IndexArray,
    weights: FloatArray,
    random_state: int | np.random.RandomState | None,
    n_folds: int = FOLDS,
) -> IndexArray:
    """The fold of each row of a fit, -1 for rows that take no part or cannot be held out.

    Rows are dealt out by their contents, in the order of a projection, even if a user's function compares them;
    objects, and rows of a kernel matrix, by position. A `random_state` draws the projection, or the order.
    """
    used = np.flatnonzero(weights)
    if getattr(getattr(data.source, "dtype", None), "kind", "O") == "f":
        return folds_of_rows(data.source, codes, weights, random_state, n_folds)
    return _dealt_out(comparable_rows(data, used), used, codes, random_state, n_folds)


def folds_of_rows(
    X: Rows,
    codes: IndexArray,
    weights: FloatArray,
    random_state: int | np.random.RandomState | None,
    n_folds: int = FOLDS,
) -> IndexArray:
    """`folds_of` for rows without a kernel."""
    used = np.flatnonzero(weights)
    return _dealt_out(X if len(used) == X.shape[0] else X[used], used, codes, random_state, n_folds)


def _dealt_out(
    rows: Rows,
    used: IndexArray,
    codes: IndexArray,
    random_state: int | np.random.RandomState | None,
    n_folds: int = FOLDS,
) -> IndexArray:
    folds = np.full(len(codes), -1)
    folds[used] = assign_folds(codes[used], _keys(rows, used, random_state), n_folds)
    return folds


def _keys(rows: Rows, used: IndexArray, random_state: int | np.random.RandomState | None) -> FloatArray:
    rng = None if random_state is None else check_random_state(random_state)
    if rows is not None:
        return projected(rows, rng)
    return 1.0 + (np.arange(len(used)) if rng is None else rng.permutation(len(used)))


class LeavingOut:
    """Solves a two-class problem, and then again without the rows of each fold, for their decision values.

    Parameters
    ----------
    solve : callable
        ``solve(problem, part, k)`` gives a `Solution`.
    again : callable
        ``again(problem, solution)`` gives the function that solves a fold: see `out_of_fold_scores`.
    setup : TwoClassProblems
    folds : ndarray of int (n,)
    """

    def __init__(self, solve: Callable[..., Any], again: Callable[..., Any], setup: "Setup", folds: IndexArray) -> None:
        self._solve, self._again, self._tasks, self._folds = solve, again, setup.tasks, folds
        self._scores: list[Any] = [None] * len(setup.tasks)

    def __call__(self, problem: Any, part: "KernelMatrix", k: int) -> "Solution":
        solution = self._solve(problem, part, k)
        own = self._folds[self._tasks[k].indices]
        again = self._again(problem, solution)
        self._scores[k], status = out_of_fold_scores(problem, part, solution, own, again)
        solution.status = Status.worst([solution.status, status])
        return solution

    @property
    def scores(self) -> list[FloatArray]:
        """Decision values for each problem; zeros for one stopped before its first step."""
        each = zip(self._tasks, self._scores, strict=True)
        return [np.zeros(len(task.indices)) if own is None else own for task, own in each]


@dataclass(frozen=True)
class Sigmoid:
    """1 / (1 + exp(A f + B))."""

    A: float
    B: float

    def both(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(p, 1 - p)."""
        return sigmoid(values, self.A, self.B)

    def log_odds(self, values: FloatArray) -> FloatArray:
        """log(p / (1 - p))."""
        return -(self.A * values + self.B)


@dataclass(frozen=True)
class Steps:
    """A non-decreasing function given at knots, plus a small sigmoid that makes it strictly increasing."""

    knots: np.ndarray
    levels: np.ndarray
    slope: Sigmoid

    def both(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = self.slope.both(values)
        p = np.interp(values, self.knots, self.levels)
        return (1.0 - TILT) * p + TILT * low, (1.0 - TILT) * (1.0 - p) + TILT * high

    def log_odds(self, values: FloatArray) -> FloatArray:
        p, q = self.both(values)
        return np.log(p) - np.log(q)


class Calibration:
    """What turns decision values into probabilities, for each two-class problem of a machine.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
    cases : sequence of (scores, is_positive, weights)
        Out-of-fold decision values of each two-class problem, on which side its rows are, and
        how often each counts.
    n_classes : int
    has_pairs : bool
        Whether the problems are pairs of classes, in scikit-learn's order, the first one positive;
        otherwise there is one, or one for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators.bases.probabilities import Calibration
    >>> scores = np.array([-2.0, -1.0, 0.5, -0.5, 1.0, 2.0])
    >>> case = scores, np.array([False, False, False, True, True, True]), np.ones(6)
    >>> calibration = Calibration("sigmoid", [case], n_classes=2, has_pairs=False)
    >>> calibration.probabilities(np.array([[-1.0], [0.0], [1.0]])).round(2)
    array([[0.65, 0.35],
           [0.5 , 0.5 ],
           [0.35, 0.65]])
    """

    def __init__(
        self, method: str, cases: Iterable[tuple[FloatArray, BoolArray, FloatArray]], n_classes: int, has_pairs: bool
    ) -> None:
        self.method, self.n_classes, self.has_pairs = method, n_classes, has_pairs
        self.maps = [_fitted(method, *case) for case in cases]

    @classmethod
    def of_maps(cls, method: str, maps: Sequence[Sigmoid | Steps], n_classes: int, has_pairs: bool) -> Self:
        """From known functions: a `Sigmoid` or `Steps` for each two-class problem."""
        calibration = cls(method, (), n_classes, has_pairs)
        calibration.maps = list(maps)
        return calibration

    def log_odds(self, values: FloatArray) -> FloatArray:
        """log(p / (1 - p)) of each two-class problem, shape (n, n_problems)."""
        return np.column_stack([each.log_odds(column) for each, column in zip(self.maps, values.T, strict=True)])

    def probabilities(self, values: FloatArray) -> FloatArray:
        """Probability of each class, shape (n, n_classes), from values of shape (n, n_problems)."""
        both = [each.both(column) for each, column in zip(self.maps, values.T, strict=True)]
        if self.n_classes == 2:
            positive, negative = both[0]
            return np.column_stack([negative, positive])
        positive = np.column_stack([p for p, _ in both])
        if self.has_pairs:
            return couple(positive, self.n_classes)
        # One-vs-rest: a row that every class rejects is shared equally.
        total = positive.sum(axis=1, keepdims=True)
        return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1.0 / self.n_classes)

    def most_probable(self, values: FloatArray) -> IndexArray:
        """Position of the most probable class of each row.

        In one-vs-rest, that of the largest odds, which still differ where probabilities all round to 1.
        """
        has_odds = self.n_classes > 2 and not self.has_pairs
        return (self.log_odds(values) if has_odds else self.probabilities(values)).argmax(axis=1)


def _fitted(method: str, scores: FloatArray, is_positive: BoolArray, weights: FloatArray) -> Sigmoid | Steps:
    weights = bounded_copies(weights)
    slope = Sigmoid(*fit_sigmoid(scores, is_positive, weights))
    if method == "sigmoid":
        return slope
    return Steps(
        *fit_isotonic(scores, smoothed_targets(is_positive, weights), weights),
        slope,
    )


def _asks_for_probabilities(estimator: "BaseEstimator") -> bool:
    if estimator.probability in NONE:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class Probable:
    """Methods of a classifier with a parameter `probability` and, once fitted, a `_calibration`.

    The classifier has `classes_` and `_values(X)`, decision values of shape (n, n_problems). With probabilities,
    `predict` returns the most probable class, so that the two never disagree.
    """

    if TYPE_CHECKING:
        # Attributes of the classifier this is mixed into.
        classes_: Array
        probability: bool | str
        random_state: Any
        _calibration: Calibration | None
        _solve_with_folds: Callable[..., Any]

        def _values(self, X: Rows) -> FloatArray: ...

    def _solve_and_calibrate(
        self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits"
    ) -> "SolvedProblems":
        """Solve the problems of a kernel machine, with a calibration if probabilities are requested.

        ``_solve_with_folds(data, setup, budget, limits, folds)`` of the machine returns solutions and out-of-fold
        decision values; ``setup.copies`` holds the multiplicity of each row.
        """
        method = calibration_method(self.probability)
        folds = None if method is None else folds_of(data, setup.codes, setup.copies, self.random_state)
        solved, scores = self._solve_with_folds(data, setup, budget, limits, folds)
        self._calibrate(method, setup, scores)
        return solved

    def _calibrate(self, method: str | None, setup: Any, scores: list[FloatArray]) -> None:
        """Learn probabilities from out-of-fold decision values of each problem."""
        cases = cast(Any, zip(setup.tasks, scores, strict=True) if method else ())
        cases = [(own, task.signs > 0, setup.copies[task.indices]) for task, own in cases]
        self._calibration = Calibration(method, cases, setup.n_classes, setup.has_pairs) if method else None

    def _solve_blocks(self, fit: "BlockFit", before: "Restricted | None") -> "Restricted":
        """Over blocks: the machines that leave out a fold take their steps in the same passes."""
        solved, method, scores = fit.solve(before), calibration_method(self.probability), []
        if method is not None:
            folds = folds_of(fit.marks.data, fit.setup.codes, fit.setup.copies, self.random_state)
            scores, statuses = fit.scores(folds)
            solved.statuses = [Status.worst([*solved.statuses, *statuses])]
        self._calibrate(method, fit.setup, scores)
        return solved

    @property
    def probA_(self) -> FloatArray:
        """A of each two-class problem's sigmoid; empty without one."""
        return self._sigmoid_parameters("A")

    @property
    def probB_(self) -> FloatArray:
        """B of each two-class problem's sigmoid; empty without one."""
        return self._sigmoid_parameters("B")

    def _sigmoid_parameters(self, name: str) -> FloatArray:
        check_is_fitted(self, "classes_")
        calibration = self._calibration
        if calibration is None or calibration.method != "sigmoid":
            return np.empty(0)
        return np.array([getattr(each, name) for each in calibration.maps])

    @available_if(_asks_for_probabilities)
    def predict_proba(self, X: Rows) -> FloatArray:
        """Probability of each class, in the order of `classes_`; `predict` is the largest.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        check_is_fitted(self, "classes_")
        if self._calibration is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return self._calibration.probabilities(self._values(X))

    @available_if(_asks_for_probabilities)
    def predict_log_proba(self, X: Rows) -> FloatArray:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Rows) -> FloatArray:
        """Signed scores: above 0 for the second of two classes, else a column for each class or pair.

        The steps of isotonic probabilities may rank several classes differently from their scores; then the columns of
        the classes are the probabilities less those of a guess.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
        """
        if is_ranked_by_steps(self):
            return cast(Calibration, self._calibration).probabilities(self._values(X)) - 1.0 / len(self.classes_)
        return super().decision_function(X)  # type: ignore[misc]

    def predict(self, X: Rows) -> Array:
        """The label of each row of X: the most probable one if there are probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        refuse_ties_of_pairs(self)
        if getattr(self, "_calibration", None) is None:
            return super().predict(X)  # type: ignore[misc]
        return self.classes_[cast(Calibration, self._calibration).most_probable(self._values(X))]


def is_ranked_by_steps(model: Any) -> bool:
    """Whether classes are decided by isotonic probabilities, which have ties where values have none."""
    calibration = getattr(model, "_calibration", None)
    has_columns = getattr(model, "decision_function_shape", "ovr") == "ovr"
    return has_columns and calibration is not None and calibration.method == "isotonic" and len(model.classes_) > 2
