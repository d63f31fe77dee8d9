"""Support vector classification."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_classifier import BlockKernelClassifier
from mercer.estimators.bases.probabilities import LeavingOut, Probable, calibration_method
from mercer.estimators.conformal.prediction_sets import PredictsSets
from mercer.estimators.fitting import all_pairs
from mercer.estimators.fitting.auto_strength import AutomaticC
from mercer.estimators.fitting.certifiers import JointCertifier
from mercer.estimators.fitting.parameters import require_choice, require_flag, require_optional_number
from mercer.estimators.fitting.tasks import strategy_of
from mercer.estimators.fitting.training import solve_all, whole_matrix
from mercer.estimators.fitting.two_class import JointSolved, Solved, TogetherProblem, TwoClassProblems
from mercer.estimators.fitting.weights import weighted_C
from mercer.estimators.low_rank.low_rank import Objective
from mercer.estimators.svm.separation import (
    SeparationCertifier,
    SeparationSolved,
    explicit_features,
    is_hard,
    keep_normals,
    refuse_contradictions,
    separate_all,
    separated_where_unsolved,
    sums_are_off,
)
from mercer.problems.losses.margin_losses import MARGIN_LOSSES
from mercer.problems.svm.soft_margin import BIASES
from mercer.solvers.calibration.out_of_fold import SCORE_TOL
from mercer.solvers.dual_qp.solve import solve_dual, solve_for_scores
from mercer.solvers.registry import SOLVERS

if TYPE_CHECKING:
    from mercer.estimators.conformal.conformal import Conformal
    from mercer.estimators.fitting.certifiers import ProblemCertifier
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.regularization import Regularization
    from mercer.problems.svm.signed_dual import DualProblem
    from mercer.problems.svm.soft_margin import SoftMargin
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


# Error that a sum over support vectors may cause at a hard margin of 1; beyond it, the weights are stored.
SUM_ERROR = 1e-9


class SVC(PredictsSets, AutomaticC, Probable, BlockKernelClassifier):
    """Support vector classifier with any kernel: fast, and certified on every fit.

    The parameters up to `random_state` are those of scikit-learn, in the same order and with the same meaning.

    Parameters
    ----------
    C : float, Regularization or "auto", default=1.0
        Weight of the losses against the margin, positive; `Regularization` offers the other three ways of writing it.
        ``inf`` requests a hard margin: if there is none, `fit` raises `NotSeparableError` with the proof. "auto"
        chooses it by cross-validation on at most 600 rows, among powers of ten times a unit: one over the mean squared
        distance of the rows from their centre in feature space, or from the origin if the bias is not free.
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" or "auto"), an
        expression such as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function that
        returns the kernel matrix of two sets of rows. "auto" chooses a kernel from the data; `kernel_` and
        `kernel_reason_` say which and why. A function sees two whole sets of rows, or parts of them if `memory_limit`
        leaves no room for the whole matrix.
    degree : int, default=3
        Degree of the kernel "poly", 0 or more; other kernels ignore it.
    gamma : float, "scale", "auto" or "median", default="scale"
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features, and
        "median" is one over the median squared distance between rows (for "laplacian", the median absolute
        distance).
    coef0 : float, default=0.0
        Constant term of the kernels "poly" and "sigmoid".
    shrinking : bool, default=True
        Accepted for compatibility with scikit-learn, without effect: every round examines every row.
    probability : {False, True, "sigmoid", "isotonic"}, default=False
        Whether to learn probabilities too, from decision values of rows left out of the fit in three folds, by
        a sigmoid (True or "sigmoid") or by isotonic regression. `predict` then gives the most probable class.
    tol : float, default=1e-3
        Largest violation of the optimality conditions (LIBSVM's rule).
    cache_size : float, optional
        Megabytes of kernel rows to keep in memory; by default a quarter of the free memory.
    class_weight : dict or "balanced", optional
        Factors on C by class. A dictionary maps labels to positive numbers, and classes it leaves out have 1;
        "balanced" makes them inversely proportional to the class frequencies. By default every class has 1.
    verbose : bool, default=False
        Whether to print a line to standard error after every round.
    max_iter : int, default=-1
        Largest number of pair steps for each two-class problem; -1 sets no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Columns of `decision_function` for more than two classes fitted in pairs: one for each class ("ovr"), or
        one for each pair ("ovo").
    break_ties : bool, default=False
        Whether classes that win the same number of pairs are told apart by their decision values; otherwise the
        first of them is predicted. Not allowed with `decision_function_shape="ovo"`.
    random_state : int, RandomState or None, default=None
        Rows are dealt to the folds of `probability` according to their contents; a seed gives different folds.
        Nothing else is random.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the bias is left out of the penalty ("free"), is the weight of a constant feature of value 1 and
        so part of the penalty ("penalized"), or is absent ("none").
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss of a row short of the margin: the shortfall, or its square.
    multi_class : {"auto", "ovo", "ovr", "crammer_singer"}, default="auto"
        How several classes are told apart: by a machine for each pair of classes, by one for each class against the
        rest, or by a single machine for all of them, which has a single certificate. "auto" means pairs, unless
        C="auto" too: then the same folds decide whether "ovr" is clearly better. `multi_class_` has the choice.
    solver : {"auto", "smo", "chunking", "chunking:qp", "dual_cd", "qp", "sgd"}, default="auto"
        "auto" is "smo". The others give the same answer more slowly: "qp" passes the dual, or the primal if the rank is
        low, to an interior point method; "chunking" solves growing chunks of violators, "chunking:qp" each of them by
        that method; "dual_cd" moves one coefficient at a time, and "sgd" begins with stochastic gradient steps. See
        `mercer.compare_solvers`.
    gap_tol : float, optional
        Relative duality gap, positive, at which to stop instead of at `tol`.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit, if the number of rows is the same.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every round; a true return value ends the fit.
    approximation : LowRank, optional
        Restricts the machine to landmarks, for many rows: see `mercer.LowRank`. By default the machine is exact.
    conformal : {None, "split", "cross"} or Conformal, default=None
        Whether to calibrate `predict_set`, on rows set aside ("split") or left out fold by fold ("cross", ten more
        fits). See `mercer.Conformal`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data, grouped by class.
    support_vectors_ : array or CSR of shape (n_support, d)
        The support vectors; empty if the kernel is precomputed.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support) or (n_problems, n_support)
        Coefficients of the support vectors. With "ovo", a column holds the coefficients of its vector against
        each of the other classes; otherwise there is a row for each two-class problem.
    intercept_ : ndarray of shape (n_problems,)
        Bias of each decision function.
    coef_ : ndarray or CSR of shape (n_problems, d)
        Weights of the features in each decision function; only for the linear kernel.
    n_iter_ : ndarray of shape (n_problems,)
        Steps taken for each two-class problem.
    fit_status_ : int
        0 if `status_` is OPTIMAL, otherwise 1.
    class_weight_ : ndarray of shape (n_classes,)
        The factor on C of each class.
    multi_class_ : {"ovo", "ovr"}
        What multi_class="auto" chose.
    shape_fit_ : tuple of int
        Shape of the training data.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    certificate_ : Certificate, or a list of them
        Primal and dual objective, their gap and the KKT conditions of each two-class problem, recomputed in
        double precision from the training data when first read.
    distance_ : Distance, or a list of them
        With an `approximation`: how far the objective may be from that of the exact machine, beyond the gap.
    approximation_ : LandmarksUsed
        With an `approximation`: how many landmarks there are, how they were chosen, and the jitter of their matrix.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
        The rounds of the solver, for each two-class problem where there are several.
    C_, kernel_, kernel_reason_
        The C and the kernel that "auto" chose, and the reason for the kernel; only if "auto" was requested.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10.0, kernel="rbf").fit(X, y)
    >>> model.status_.name
    'OPTIMAL'
    >>> all(c.is_optimal(1e-3) for c in model.certificate_)
    True
    """

    # Values of `solver`.
    solvers = tuple(SOLVERS)

    _multi_classes = ("auto", "ovo", "ovr", "crammer_singer")

    def __init__(
        self,
        C: "float | str | Regularization" = 1.0,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        *,
        bias: str = "free",
        loss: str = "hinge",
        multi_class: str = "auto",
        solver: str = "auto",
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        approximation: "LowRank | None" = None,
        conformal: "str | Conformal | None" = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.approximation = approximation
        self.conformal = conformal
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.bias = bias
        self.loss = loss
        self.multi_class = multi_class
        self.solver = solver
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_flag("shrinking", self.shrinking)
        require_choice("bias", self.bias, BIASES)
        require_choice("loss", self.loss, MARGIN_LOSSES)
        require_choice("solver", self.solver, SOLVERS)
        calibration_method(self.probability)
        if self.multi_class == "crammer_singer":
            self._require_together()

    def _require_together(self) -> None:
        """Refuse options that the joint machine for all classes does not support."""
        if self.loss != "hinge":
            raise ParameterError(f"loss must be 'hinge' with multi_class='crammer_singer', got {self.loss!r}")
        if self.solver not in ("auto", "smo"):
            raise ParameterError(f"solver must be 'auto' with multi_class='crammer_singer', got {self.solver!r}")
        if calibration_method(self.probability) is not None:
            raise ParameterError(
                "probability=True is not available with multi_class='crammer_singer'; use 'ovo' or 'ovr', "
                "or KernelLogisticRegression, whose single problem has probabilities"
            )

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        """The problems to solve, with C times the weights of class and sample for each point."""
        C, n_classes = weighted_C(self._C, codes, class_weight, weights), len(class_weight)
        is_together = self.multi_class == "crammer_singer"
        if is_together and not np.isfinite(C).all():
            raise ParameterError(f"C must be finite with multi_class='crammer_singer', got {self.C!r}")
        # A joint machine of two classes has w_1 = -w_0, and w_1 - w_0 is the binary machine of twice the weight.
        how, times = ("ovr", 2.0) if is_together else (strategy_of(self), 1.0)
        setup = TwoClassProblems(codes, n_classes, how, times * C, self.loss, self.bias)
        if is_together and n_classes > 2:
            setup = TogetherProblem(codes, n_classes, C, self.bias)
        setup.copies = class_weight[codes] if weights is None else class_weight[codes] * weights
        return setup

    def _objectives(self, setup: Any) -> list[Objective] | None:
        if isinstance(setup, TogetherProblem) or self.solver != "auto":
            return None
        return [Objective(each.signs, each.C, each.loss, each.bias) for each in setup.problems]

    def _solve(self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        if isinstance(setup, TogetherProblem):
            self._calibration = None
            return self._solve_together(data, setup, budget, limits)
        if is_hard(setup):
            return self._separate(data, setup, budget, limits)
        return self._solve_and_calibrate(data, setup, budget, limits)

    def _separate(
        self, data: "TrainingData", setup: TwoClassProblems, budget: "Budget", limits: "Limits"
    ) -> "SolvedProblems":
        """The hard margin, or the proof that there is none.

        In coordinates, if there are few, it is decided at once. Otherwise the soft-margin solver is faster, especially
        with many support vectors, but it cannot prove that nothing separates.
        """
        how = data, setup, budget, limits, self.tol, self.n_jobs
        if explicit_features(data) is None:
            refuse_contradictions(data, setup)
            return separated_where_unsolved(self._solve_and_calibrate(data, setup, budget, limits), *how)
        separated, self._calibration = separate_all(*how), None
        if self.solver == "auto" and calibration_method(self.probability) is None:
            return separated
        solved = self._solve_and_calibrate(data, setup, budget, limits)
        return separated if self.solver == "auto" else solved

    def _solve_together(
        self, data: "TrainingData", setup: TogetherProblem, budget: "Budget", limits: "Limits"
    ) -> JointSolved:
        """The Crammer-Singer machine."""
        # Imported here: few fits ask for it.
        from mercer.solvers.crammer_singer import kernel as joint

        starts, indices = self._starts(setup), setup.tasks[0].indices
        start = None if starts is None else np.stack(starts, axis=1)
        options = {"tol": self.tol, "gap_tol": self.gap_tol, "convex": data.kernel.is_psd is True}

        def solve(matrix: "KernelMatrix") -> "Solution":
            return joint.solve(setup.joint, matrix, limits=limits, start=start, memory=budget.cache, **options)

        is_small = len(indices) <= joint.SMALL
        matrix = data.matrix(0.0 if is_small else self.tol, self.gap_tol, budget, self.n_jobs)
        empty = np.zeros((len(indices), setup.n_classes))
        return JointSolved(setup, whole_matrix(matrix, indices, budget, limits, solve, empty))

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        if isinstance(solved, SeparationSolved) and sums_are_off(data, setup, solved, SUM_ERROR):
            keep_normals(self, X, data, solved)

    def _kind_of_certifier(self, setup: Any, solved: Any) -> "type[ProblemCertifier]":
        if isinstance(setup, TogetherProblem):
            return JointCertifier
        usual = super()._kind_of_certifier(setup, solved)
        return SeparationCertifier if isinstance(solved, SeparationSolved) else usual

    def _solve_with_folds(
        self,
        data: "TrainingData",
        setup: TwoClassProblems,
        budget: "Budget",
        limits: "Limits",
        folds: IndexArray | None,
    ) -> "tuple[SolvedProblems, list[FloatArray]]":
        """Solutions and, if there are folds, out-of-fold decision values for each problem."""
        starts, solver = self._starts(setup), cast(Any, SOLVERS[self.solver])
        options = {"tol": self.tol, "memory": budget.working, "convex": data.kernel.is_psd is True}

        def solve(problem: Any, part: "KernelMatrix", k: int) -> "Solution":
            start = None if starts is None else starts[k]
            return solver(
                problem.dual(), part, limits=limits, start=start, gap=problem.gap, gap_tol=self.gap_tol, **options
            )

        def again(_problem: "SoftMargin", _solution: "Solution") -> Callable[..., Any]:
            def solve_fold(dual: "DualProblem", matrix: "KernelMatrix", start: FloatArray | None) -> "Solution":
                more = {**options, "score_tol": SCORE_TOL, "solver": solver}
                return solve_for_scores(dual, matrix, limits=limits.unwatched(), start=start, **more)

            return solve_fold

        is_watched = bool(limits.callbacks) or self.gap_tol is not None
        is_plain = solver is solve_dual and starts is None and not is_watched
        if is_plain and all_pairs.are_small(setup, budget.cache):
            return all_pairs.solve(data, setup, self.tol, budget, self.n_jobs, limits, solve, folds)
        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        if is_plain and folds is None and all_pairs.share_blocks(setup, matrix, budget.cache):
            return all_pairs.solve_by_blocks(cast(Any, matrix), setup, self.tol, options["convex"], limits, solve), []
        each = solve if folds is None else LeavingOut(solve, again, setup, folds)
        solutions = solve_all(setup.problems, setup.tasks, matrix, budget, each, limits, self.n_jobs)
        return Solved(setup, solutions), [] if folds is None else cast(LeavingOut, each).scores
