"""Linear support vector classification, without a kernel."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.by_score import linear_scores
from mercer.estimators.bases.probabilities import Calibration, Probable, calibration_method, folds_of_rows
from mercer.estimators.conformal.prediction_sets import PredictsSets
from mercer.estimators.fitting.inputs import classes_and_codes, training_rows, without_duplicates
from mercer.estimators.fitting.parameters import require_choice
from mercer.estimators.fitting.seeds import seed_of
from mercer.estimators.fitting.weights import class_weights, sample_weights, total_weight
from mercer.estimators.linear.base import LinearClassifier, stacked
from mercer.estimators.linear.from_blocks import BlockTask, class_task, solve_task
from mercer.estimators.linear.partial_fit import ClassifiesParts
from mercer.estimators.linear.solve import row_products, solve_each
from mercer.estimators.out_of_core.given import require_alone
from mercer.estimators.out_of_core.targets import labels_of, note_columns
from mercer.io.blocks.blocks import Blocks
from mercer.problems.linear.crammer_singer import CrammerSinger
from mercer.problems.linear.l1 import SparseMargin
from mercer.problems.linear.machine import LinearMargin
from mercer.problems.losses.margin_losses import MARGIN_LOSSES
from mercer.solvers.crammer_singer import linear as crammer_singer
from mercer.solvers.linear import l1_proximal_newton
from mercer.solvers.linear import solve as linear_machine
from mercer.solvers.result import Status
from mercer.solvers.tolerances import SCORE_GAP

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts
    from mercer.estimators.conformal.conformal import Conformal
    from mercer.problems.regularization import Regularization
    from mercer.solvers.limits import Limits
    from mercer.solvers.linear_result import LinearSolution


# Up to this product of rows and classes, the Crammer-Singer machine is solved to the last digits if probabilities are
# requested: within its tolerance, the order of rows may move a step of an isotonic function.
FEW_SCORES = 2000


class LinearSVC(PredictsSets, Probable, ClassifiesParts, LinearClassifier):
    """Linear support vector classifier: fast, exact, and certified on every fit.

    The parameters up to `max_iter` are those of scikit-learn and mean the same, except for `tol`.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Norm of the weights in the objective. "l1", only with the squared hinge, sets most weights to zero.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        The loss of a row short of the margin: the square of the shortfall, or the shortfall. "logistic" is
        log(1 + exp(-margin)), so that 1 / (1 + exp(-decision value)) is a probability.
    dual : bool or "auto", default="auto"
        Whether to solve the dual by coordinate descent (True) or the primal by Newton steps (False). The answer is the
        same, and "auto" chooses the quicker way.
    tol : float, default=1e-4
        Stop when the duality gap is at most this share of the objective; positive.
    C : float or Regularization, default=1.0
        Weight of the losses against the penalty, positive and finite; `Regularization` offers the other ways of
        writing it.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        A machine for each class against the rest, or a single one for all classes. The latter has its own loss and
        solver, and ignores `penalty`, `loss` and `dual`, as in scikit-learn.
    fit_intercept : bool, default=True
        Whether there is a bias at all; `bias` says which kind.
    intercept_scaling : float, default=1.0
        Value, positive, of the constant feature whose weight is the penalised bias.
    class_weight : dict or "balanced", optional
        Factors on C by class. A dictionary maps labels to positive numbers, and classes it leaves out have 1;
        "balanced" makes them inversely proportional to the class frequencies. By default every class has 1.
    verbose : int, default=0
        Above 0, print a line to standard error after every check of the gap.
    random_state : int, RandomState or None, default=None
        Seed of the order in which coordinate descent visits the rows; None stands for 0.
    max_iter : int, default=1000
        Largest number of passes, or of Newton steps, for each problem; -1 sets no limit.
    bias : {"penalized", "free", "none"}, default="penalized"
        "penalized" is what scikit-learn fits: the bias is the weight of a constant feature and part of the
        penalty. "free" leaves it out of the penalty, and "none" does without a bias.
    solver : {"auto", "dual_cd", "newton"}, default="auto"
        The same choice as `dual` by name: coordinate descent on the dual, or Newton steps on the primal. It
        must not contradict `dual`.
    gap_tol : float, optional
        Replaces `tol` if given; positive.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every check, whose `violation` is the relative gap; a true
        return value ends the fit.
    warm_start : bool, default=False
        Whether to start from the last fit, if rows, features and classes are the same in number.
    probability : {False, True, "sigmoid", "isotonic"}, default=False
        Whether to learn probabilities too, from decision values of rows left out of the fit in three folds, by
        a sigmoid (True or "sigmoid") or by isotonic regression. `predict` then gives the most probable class.
    memory_limit : int or str, optional
        Memory for a fit from `Blocks` in bytes, or as text such as "2GiB", beyond what the process already uses; by
        default half of the free memory. It decides how many blocks are worked on side by side, and how many are kept
        between passes.
    conformal : {None, "split", "cross"} or Conformal, default=None
        Whether to calibrate `predict_set`, on rows set aside ("split") or left out fold by fold ("cross", ten more
        fits). See `mercer.Conformal`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (n_classes, d)
        Weights of the features: one row for two classes, otherwise a row for each class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The corresponding biases.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_iter_ : int
        Largest number of passes, or Newton steps, taken for any problem.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    certificate_ : Certificate, or a list of them
        Primal and dual objective and their gap for each problem, computed in double precision from data and
        coefficients alone.
    trace_ : list of TracePoint, or a list of such lists
        The checks of the gap, for each problem where there are several.
    n_passes_, rows_read_ : int
        Passes over the blocks, and rows that were read from their source for them; only after a fit to `Blocks`, or
        with loss="logistic".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC().fit(X, y)
    >>> model.status_.name, model.certificate_.relative_gap <= 1e-4
    ('OPTIMAL', True)
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: "float | Regularization" = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        max_iter: int = 1000,
        bias: str = "penalized",
        solver: str = "auto",
        gap_tol: float | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        warm_start: bool = False,
        probability: bool | str = False,
        memory_limit: int | str | None = None,
        conformal: "str | Conformal | None" = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.bias = bias
        self.solver = solver
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.probability = probability
        self.memory_limit = memory_limit
        self.conformal = conformal

    def fit(self, X: Rows, y: Labels | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Blocks
            float32 and float64, in rows or CSR with indices of any width, are used as they are. `mercer.io.Blocks` are
            read block by block, as often as necessary, and need not fit in memory.
        y : array-like of shape (n,)
            Omitted for `Blocks`, which carry their own.
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part. Omitted for `Blocks`.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _check_parameters(self) -> None:
        self._check_shared((*MARGIN_LOSSES, "logistic"))
        require_choice("penalty", self.penalty, ("l1", "l2"))
        require_choice("multi_class", self.multi_class, ("ovr", "crammer_singer"))
        calibration_method(self.probability)

    def _learn(self, limits: "Limits", X: Rows, y: Any, sample_weight: ArrayLike | None = None) -> None:
        if isinstance(X, Blocks) or (self.loss == "logistic" and self.multi_class == "ovr"):
            self._require_by_blocks("blocks" if isinstance(X, Blocks) else "loss='logistic'")
            solve_task(self, self._block_task(X, y, sample_weight, limits), limits)
            return
        calibration, method = calibration_method(self.probability), self._method_of_problem()
        X, y = training_rows(self, X, y, without_duplicates)
        self.classes_, codes = classes_and_codes(y)
        C, copies = self._weights(codes, y, sample_weight)
        found = self._solve(X, *self._machines(X, codes, C, method, limits, self._goal))
        self.coef_, self.intercept_ = stacked(found)
        self._calibration = None
        if calibration is not None:
            scores = self._out_of_fold(X, codes, C, method, limits, found)
            self._calibration = self._calibrated(calibration, scores, codes, copies)

    def _block_task(self, X: Any, y: Any, sample_weight: Any, limits: "Limits") -> BlockTask:
        """The training data; sets classes and columns."""
        if isinstance(X, Blocks):
            require_alone(y, sample_weight)
            note_columns(self, X)
            self.classes_, codes, weights = labels_of(X, self.n_jobs, limits.stop)
            return class_task(self, X, codes, weights)
        X, y = training_rows(self, X, y)
        self.classes_, codes = classes_and_codes(y)
        return class_task(self, Blocks(X), codes, None if sample_weight is None else np.asarray(sample_weight))

    def _require_by_blocks(self, what: str) -> None:
        for name, value, allowed in (
            ("penalty", self.penalty, "l2"), ("multi_class", self.multi_class, "ovr"), ("dual", self.dual, "auto"),
            ("solver", self.solver, "auto"), ("probability", self.probability, False),
        ):  # fmt: skip
            if value != allowed:
                remedy = "; 1 / (1 + exp(-decision_function(X))) gives probabilities" if name == "probability" else ""
                raise ParameterError(f"{name} must be {allowed!r} with {what}, got {value!r}{remedy}")

    def decision_function(self, X: Rows) -> FloatArray:
        """Signed scores: above 0 for the second of two classes, otherwise one column for each class.

        If probabilities were requested, they are log-odds, log(p / (1 - p)) of each machine, so that they change sign
        where `predict` changes its answer.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        if getattr(self, "_calibration", None) is None:
            return super().decision_function(X)
        odds = cast(Calibration, self._calibration).log_odds(self._values(X))
        return odds[:, 0] if odds.shape[1] == 1 else odds

    def _method_of_problem(self) -> str:
        if self.multi_class == "crammer_singer":
            if self._bias == "free":
                raise ParameterError(
                    "bias='free' is not available with multi_class='crammer_singer'; "
                    "a large intercept_scaling with bias='penalized' comes close"
                )
            return "auto"
        if self.penalty == "l1" and (self.loss != "squared_hinge" or self.dual is True):
            raise ParameterError(
                "Unsupported set of arguments: The combination of "
                f"penalty='l1' and loss='{self.loss}' is not supported when dual={self.dual}; "
                "the L1 penalty takes loss='squared_hinge' and dual=False or 'auto'"
            )
        if self.penalty == "l1" and self.solver == "dual_cd":
            raise ParameterError("solver='dual_cd' cannot solve penalty='l1'; solver='newton' or 'auto' can")
        return self._method(primal_exists=self.loss == "squared_hinge")

    def _weights(self, codes: IndexArray, y: Array, sample_weight: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
        """C times the weights of class and sample for each row, and those weights."""
        factors = class_weights(self.class_weight, self.classes_, y)[codes]
        n = len(codes)
        if sample_weight is not None:
            weights = sample_weights(sample_weight, codes, self.classes_)
            n, factors = total_weight(weights), factors * weights
        return self._C_of_rows(n, factors), factors

    def _machines(
        self, X: Rows, codes: IndexArray, C: FloatArray, method: str, limits: "Limits", goal: float
    ) -> "tuple[list[Any], Callable[..., LinearSolution]]":
        """The problems of a fit, and how to solve each: solve(products, problem, start)."""
        n_classes = len(self.classes_)
        if self.multi_class == "crammer_singer" and n_classes > 2:
            return self._together(codes, C, limits, goal)
        positive = [1] if n_classes == 2 else range(n_classes)
        signs, scale = [np.where(codes == c, 1.0, -1.0) for c in positive], float(self.intercept_scaling)
        if self.multi_class == "crammer_singer":
            # For two classes w_1 = -w_0, and u = w_1 - w_0 minimises |u|^2/2 + 2 C hinge: each is half of u.
            problems = [LinearMargin(each, 2.0 * C, "hinge", self._bias, scale) for each in signs]
        elif self.penalty == "l1":
            return self._sparse_machines(X, [SparseMargin(each, C, self._bias, scale) for each in signs], limits, goal)
        else:
            problems = [LinearMargin(each, C, self.loss, self._bias, scale) for each in signs]
        return problems, self._by_machine(method, limits, goal)

    def _sparse_machines(
        self, X: Rows, problems: list[Any], limits: "Limits", goal: float
    ) -> "tuple[list[Any], Callable[..., LinearSolution]]":
        """Problems with an L1 penalty."""
        columns = l1_proximal_newton.columns_of(X)

        def solve(products: "RowProducts", problem: Any, start: "LinearSolution | None") -> "LinearSolution":
            polish = linear_machine.is_tiny(products)
            return l1_proximal_newton.solve(
                products, columns.alone(), problem, gap_tol=goal, limits=limits, start=start, polish=polish
            )

        return problems, solve

    def _together(
        self, codes: IndexArray, C: FloatArray, limits: "Limits", goal: float
    ) -> "tuple[list[Any], Callable[..., LinearSolution]]":
        """The Crammer-Singer machine for several classes."""
        scale = float(self.intercept_scaling) if self._bias == "penalized" else 0.0
        seed, has_scores = seed_of(self.random_state), calibration_method(self.probability) is not None

        def solve(products: "RowProducts", problem: Any, start: "LinearSolution | None") -> "LinearSolution":
            is_worth = has_scores and products.n * problem.n_classes <= FEW_SCORES
            polish = is_worth or linear_machine.is_tiny(products)
            return crammer_singer.solve(
                products, problem, gap_tol=goal, limits=limits, start=start, seed=seed, polish=polish
            )

        return [CrammerSinger(codes, len(self.classes_), C, scale)], solve

    def _out_of_fold(
        self,
        X: Rows,
        codes: IndexArray,
        C: FloatArray,
        method: str,
        limits: "Limits",
        found: "Sequence[LinearSolution]",
    ) -> FloatArray:
        """Out-of-fold scores of each row; the machines start from those of all rows."""
        scores, quiet = linear_scores(X, *stacked(found)), limits.unwatched()
        folds = folds_of_rows(X, codes, C, self.random_state)
        for fold in np.unique(folds[folds >= 0]):
            held, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            rows = X[kept]
            problems, solve = self._machines(rows, codes[kept], C[kept], method, quiet, max(self._goal, SCORE_GAP))
            starts = [replace(each, beta=each.beta[kept]) for each in found]
            parts = [
                each.solution
                for each in solve_each(row_products(rows, self.n_jobs), problems, solve, starts, self.n_jobs)
            ]
            scores[held] = linear_scores(X[held], *stacked(parts))
            self.status_ = Status.worst([self.status_, *(each.status for each in parts)])
        return scores

    def _calibrated(self, method: str, scores: FloatArray, codes: IndexArray, copies: FloatArray) -> Calibration:
        """The calibration of one machine, or of one for each class."""
        positive, used = [1] if scores.shape[1] == 1 else range(scores.shape[1]), copies > 0
        cases = [(scores[used, k], codes[used] == c, copies[used]) for k, c in enumerate(positive)]
        return Calibration(method, cases, len(self.classes_), has_pairs=False)
