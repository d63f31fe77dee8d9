"""The perceptron on rows."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import unique_labels

from mercer._errors import DataError, ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.by_score import PredictsByScore, linear_scores
from mercer.estimators.fitting.inputs import classes_and_codes, prediction_input, require_fitted, training_input
from mercer.estimators.fitting.progress import epoch_line, watchers
from mercer.estimators.fitting.tasks import one_or_all, two_class_tasks
from mercer.estimators.fitting.training import TrainingData, require_no_overflow
from mercer.estimators.fitting.weights import row_weights, weighted_copies
from mercer.estimators.online.mistake_bound import LearnsByMistakes, MistakeEvidence, check_parameters, row_certificate
from mercer.estimators.online.program_duals import dual_vectors
from mercer.estimators.online.visit_order import visiting_plan
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.vector.linear import Linear
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from mercer.solvers.stochastic.perceptron import METHODS, RowPerceptron, never, train
from mercer.solvers.stochastic.perceptron_lp import solve_program

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.solvers.stochastic.perceptron import Schedule, Trained


def _can_stream(estimator: BaseEstimator) -> bool:
    if estimator.method == "lp":
        raise AttributeError('partial_fit needs method="online", "averaged" or "batch", got "lp"')
    return True


class Perceptron(LearnsByMistakes, PredictsByScore, ClassifierMixin, BaseEstimator):
    """The perceptron: online, averaged, in batches, or as a linear program.

    Parameters shared with the `Perceptron` of scikit-learn have the same names.

    Parameters
    ----------
    method : {"online", "averaged", "batch", "lp"}, default="online"
        "online" adds y x to w whenever a point is on the wrong side; without `shuffle` it is the Batch Perceptron of
        Shalev-Shwartz & Ben-David (2014, section 9.1.2), which does so for any such point. "averaged" answers with the
        mean of w over all visits. "batch" adds the mean of y x over all mistakes of an epoch. "lp" minimises the sum
        of slacks, sum_i max(0, 1 - y_i f(x_i)), by HiGHS, with the dual vector `multipliers_` as a proof.
    fit_intercept : bool, default=True
        Whether there is a bias, which is the weight of a further feature of value 1.
    max_iter : int, default=1000
        Largest number of epochs, 1 or more; -1 sets no limit. "lp" has no epochs: only `time_limit` bounds it.
    tol : float, optional
        Also stop if the mean loss of an epoch has not fallen by this much, a positive number, for
        `n_iter_no_change` epochs. By default only an epoch without a mistake, or a limit, ends the fit.
    shuffle : bool, default=True
        Whether to visit the points in a new order in every epoch, which depends on the contents of the rows and
        not on their places; otherwise they are visited in the order given.
    eta0 : float, default=1.0
        Factor on every update, positive.
    random_state : int, RandomState or None, default=0
        Seed of the orders of `shuffle`; None stands for 0.
    n_iter_no_change : int, default=5
        Number of epochs without progress after which `tol` ends the fit, 1 or more.
    class_weight : dict or "balanced", optional
        Weights by class, each a number of copies of a point. A dictionary maps labels to positive numbers, and
        classes it leaves out have 1; "balanced" makes them inversely proportional to the class frequencies. By
        default every class has 1.
    warm_start : bool, default=False
        Whether to start from the last fit, if features and classes are the same in number.
    verbose : bool, default=False
        Whether to print a line to standard error after every epoch.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every epoch; a true return value ends the fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    coef_ : ndarray of shape (1, d) or (n_classes, d)
        Weights of the features: one row for two classes, otherwise a row for each class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The corresponding biases.
    n_iter_ : int
        Largest number of epochs of any two-class problem.
    t_ : float
        Number of visits to points, counted by weight, plus one.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    n_updates_ : ndarray of int
        Number of updates of each two-class problem.
    status_ : Status
        OPTIMAL if every training point is on the right side, or if the linear program is solved; a warning is given
        otherwise.
    certificate_ : Certificate, or a list of them
        Primal and dual value of the linear program, and their gap. Only "lp" has dual variables: the dual value of the
        other methods is zero, the value for data that can be separated.
    multipliers_ : ndarray of shape (n,), or (n_classes, n) for several classes
        For "lp": a of the dual program, max sum_i a_i subject to sum_i a_i y_i x_i = 0, sum_i a_i y_i = 0 (with a bias)
        and 0 <= a_i <= weight of row i. A positive sum proves that no hyperplane separates the classes; it is the least
        possible sum of slacks.
    mistake_bound_ : MistakeBound, or a list of them
        The number of updates and its bound (rho/gamma)^2, which is computed when first read.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
        An entry for each epoch; `violation` is the mean loss, and `working_set` the number of mistakes.

    Examples
    --------
    >>> from mercer import Perceptron
    >>> X, y = [[0, 0], [2, 2], [2, 0], [3, 0]], [-1, -1, 1, 1]
    >>> model = Perceptron().fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model.mistake_bound_.holds
    True
    """

    if TYPE_CHECKING:
        status_: Status
        _machines: Any
        _traces: Any
        _certificates: Any
        _mistakes: Any

    # Rows are checked as for a linear kernel; a model of dense rows may predict sparse ones.
    kernel = "linear"
    _sparse = True

    def __init__(
        self,
        *,
        method: str = "online",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = None,
        shuffle: bool = True,
        eta0: float = 1.0,
        random_state: int | np.random.RandomState = 0,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: bool | int = False,
        time_limit: float | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
    ) -> None:
        self.method = method
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.eta0 = eta0
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.time_limit = time_limit
        self.callbacks = callbacks

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            How many copies of a row there are; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _check_parameters(self) -> None:
        check_parameters(self, (*METHODS, "lp"))

    def _limits(self) -> Limits:
        return Limits(time_limit=self.time_limit, callbacks=watchers(self, epoch_line))

    def _learn(self, limits: Limits, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
        X, y = training_input(self, X, y)
        require_no_overflow(X)
        classes, codes = classes_and_codes(y)
        copies = weighted_copies(self.class_weight, sample_weight, classes, codes, y)
        plan = visiting_plan(self, X, codes, copies)
        tasks = two_class_tasks(codes, len(classes), "ovr")
        learnt = (self._solve_programs if self.method == "lp" else self._train)(X, tasks, plan, limits)
        self.classes_ = classes
        self._keep(X, tasks, plan, learnt)
        self._multipliers = dual_vectors(learnt, plan, copies)

    @available_if(_can_stream)
    def partial_fit(
        self, X: Rows, y: Labels, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Visit the rows of X once, in the order given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like, optional
            All the labels that may ever occur; required on the first call.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self
        """
        check_parameters(self, METHODS)
        is_first = vars(self).get("_machines") is None
        if is_first and classes is None:
            raise ParameterError("classes must be passed on the first call to partial_fit")
        X, y = self._batch_of_stream(X, y, is_first)
        require_no_overflow(X)
        known = unique_labels(classes) if is_first else self.classes_
        codes = _codes(y, known, classes)
        copies = np.ones(len(codes)) if sample_weight is None else row_weights(sample_weight, len(codes))
        tasks = two_class_tasks(codes, len(known), "ovr")
        machines = [self._machine(X.shape[1]) for _ in tasks] if is_first else self._machines
        for machine, task in zip(machines, tasks, strict=True):
            machine.epoch(X, task.signs, copies, np.flatnonzero(copies > 0), stop=never)
        self.classes_, self._machines = known, machines
        self._keep_functions([machine.trained() for machine in machines])
        self.n_updates_ = np.array([machine.updates for machine in machines])
        self.n_iter_, self.t_ = 1, machines[0].visits
        has_erred = any(machine.mistakes for machine in machines)
        self.status_ = Status.ITERATION_LIMIT if has_erred else Status.OPTIMAL
        self._certificates = self._traces = self._mistakes = self._multipliers = None
        return self

    def _batch_of_stream(self, X: Rows, y: Labels, is_first: bool) -> tuple[Rows, Array]:
        if not is_first:
            # Only rows like those of the first batch.
            X = prediction_input(self, X)
            names = vars(self).get("feature_names_in_")
        X, y = training_input(self, X, y)
        if not is_first and names is not None:
            self.feature_names_in_ = names
        return X, y

    def _machine(self, n_features: int) -> RowPerceptron:
        return RowPerceptron(n_features, self.method, float(self.eta0), bool(self.fit_intercept))

    def _starting_machines(self, n_problems: int, n_features: int) -> list[RowPerceptron]:
        """The machines of the last fit, if they are to be continued and match; else new ones."""
        last = vars(self).get("_machines")
        if self.warm_start and last and len(last) == n_problems and len(last[0].w) == n_features:
            return last
        return [self._machine(n_features) for _ in range(n_problems)]

    def _train(self, X: Rows, tasks: "Sequence[BinaryTask]", plan: "Schedule", limits: Limits) -> "list[Trained]":
        """Run the epochs of each two-class problem."""
        self._machines = self._starting_machines(len(tasks), X.shape[1])
        return [
            train(machine, partial(machine.epoch, X, task.signs, plan.copies), plan, limits)
            for machine, task in zip(self._machines, tasks, strict=True)
        ]

    def _solve_programs(self, X: Rows, tasks: "Sequence[BinaryTask]", plan: "Schedule", limits: Limits) -> list[Any]:
        """The linear program of each two-class problem, over the visited points."""
        self._machines = None
        rows, copies = X[plan.order], plan.copies[plan.order]
        return [solve_program(rows, task.signs[plan.order], copies, self.fit_intercept, limits) for task in tasks]

    def _keep(self, X: Rows, tasks: "Sequence[BinaryTask]", plan: "Schedule", learnt: Sequence[Any]) -> None:
        """Set the fitted attributes."""
        self._keep_functions(learnt)
        self.n_updates_ = np.array([each.updates for each in learnt])
        self.n_iter_ = max(each.iterations for each in learnt)
        self.t_ = 1.0 + self.n_iter_ * float(plan.copies[plan.order].sum())
        self.status_ = Status.worst([each.status for each in learnt])
        self._traces = [each.trace for each in learnt]
        self._certificates = [
            row_certificate(X, task.signs, plan, each, self.fit_intercept)
            for task, each in zip(tasks, learnt, strict=True)
        ]
        self._mistakes = None
        if self.method != "lp" and all(each.is_fresh for each in learnt):
            self._mistakes = MistakeEvidence(self, TrainingData(Linear(), X), plan.order, tasks, plan)

    def _keep_functions(self, learnt: Sequence[Any]) -> None:
        self.coef_ = np.stack([each.coefficients for each in learnt])
        self.intercept_ = np.array([each.bias for each in learnt])
        self.expansion_ = Expansion.single(Linear(), self.coef_, np.eye(len(learnt)), self.intercept_)

    @property
    def certificate_(self) -> Any:
        """The certificate of each linear program."""
        require_fitted(self)
        return _only(self._certificates, "certificate_")

    @property
    def trace_(self) -> Any:
        """The epochs."""
        require_fitted(self)
        return _only(self._traces, "trace_")

    def decision_function(self, X: Rows) -> FloatArray:
        """Signed scores: above 0 the second of two classes, else one column a class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        require_fitted(self)
        X = prediction_input(self, X)
        values = linear_scores(X, self.coef_, self.intercept_)
        return values[:, 0] if len(self.classes_) == 2 else values


def _only(values: Sequence[Any], name: str) -> Any:
    """The only element for two classes, else all."""
    if values is None:
        raise AttributeError(f"{name} is not available after partial_fit")
    return one_or_all(values)


def _codes(y: Array, known: Array, given: ArrayLike | None) -> IndexArray:
    """The position of each label among the classes of a stream."""
    if given is not None and not np.array_equal(known, unique_labels(given)):
        raise ParameterError(f"classes={given!r} is not the same as on last call to partial_fit, was: {known!r}")
    if len(known) < 2:
        raise ParameterError(f"classes must hold at least two labels, got {known!r}")
    codes = np.searchsorted(known, y)
    strange = codes >= len(known)
    codes[strange] = 0
    strange |= known[codes] != y
    if strange.any():
        raise DataError(f"y must hold labels among classes={known!r}, got {y[strange][0]!r}")
    return codes
