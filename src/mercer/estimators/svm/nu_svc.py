"""Support vector classification by the share of support vectors."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier
from mercer.estimators.bases.probabilities import LeavingOut, Probable, calibration_method
from mercer.estimators.conformal.prediction_sets import PredictsSets
from mercer.estimators.fitting.parameters import require_flag, require_number, require_optional_number
from mercer.estimators.fitting.progress import is_zero
from mercer.estimators.fitting.support import Support
from mercer.estimators.fitting.tasks import BinaryTask
from mercer.estimators.fitting.training import is_worth_storing, solve_all
from mercer.estimators.fitting.two_class import Solved, TwoClassProblems
from mercer.estimators.fitting.weights import row_weights
from mercer.problems.svm.nu import NuMargin
from mercer.solvers.calibration.out_of_fold import SCORE_TOL
from mercer.solvers.dual_qp import resolved_margin
from mercer.solvers.dual_qp.solve import solve_for_scores

if TYPE_CHECKING:
    from mercer.estimators.conformal.conformal import Conformal
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.svm.signed_dual import DualProblem
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


class NuProblems(TwoClassProblems):
    """The two-class problems of a fit in the nu-form; refuses an infeasible nu."""

    def __init__(
        self, codes: IndexArray, class_weight: FloatArray, multi_class: str, weights: FloatArray, nu: float
    ) -> None:
        super().__init__(codes, len(class_weight), multi_class, weights, "hinge", "free")
        self.nu, self.class_weight = nu, class_weight

    @property
    def problems(self) -> list[Any]:
        """A `NuMargin` for each task."""
        if "_problems" not in vars(self):
            self._problems = [self._problem(task) for task in self.tasks]
        return self._problems

    def _problem(self, task: BinaryTask) -> NuMargin:
        return NuMargin(task.signs, self.C[task.indices], self.nu, self.class_weight[self.codes[task.indices]])

    def put_sides_together(self) -> None:
        """The points of two classes ordered by side: the matrix of consecutive groups is used in place, without a
        copy."""
        (task,) = self.tasks
        order = np.argsort(-task.signs, kind="stable")
        self.tasks = [BinaryTask(task.indices[order], task.signs[order], task.label)]
        vars(self).pop("_problems", None)

    def require_feasible(self) -> None:
        """Refuse an infeasible nu before anything is solved, naming the largest feasible value."""
        largest = [problem.largest_nu for problem in self.problems]
        k = int(np.argmin(largest))
        if self.nu > largest[k] * (1.0 + 1e-12):
            names = [repr(self.classes[c].item()) for c in self.tasks[k].label]
            between = " and ".join(names) if len(names) > 1 else f"{names[0]} and the rest"
            raise ParameterError(
                f"specified nu is infeasible: nu must be at most {largest[k]:.6g}, twice the share of the smaller "
                f"class of {between}, got {self.nu!r}; lower nu"
            )


class NuSolved(Solved):
    """`Solved` with classifiers divided by their margins, as in LIBSVM."""

    def __init__(self, setup: NuProblems, solutions: "Sequence[Solution]") -> None:
        super().__init__(setup, solutions)
        scaled = [s.beta / p.margin(s.bias) for p, s in zip(setup.problems, solutions, strict=True)]
        self.support = Support.of_tasks(setup, scaled)


class NuSVC(PredictsSets, Probable, KernelClassifier):
    """Support vector classifier with a fraction `nu` in place of C: fast, and certified on every fit.

    In each two-class problem, at most a fraction `nu` of the points fall short of the margin, and at least that
    fraction are support vectors. The parameters up to `random_state` are those of scikit-learn, in the same order and
    with the same meaning.

    Parameters
    ----------
    nu : float, default=0.5
        Share of the points, above 0, at most 1, and at most twice the share of the smaller class; a larger value is
        refused, and the error names the largest feasible one. If the classes overlap so much that no hyperplane has a
        margin with so few errors, the optimum is w = 0, and a warning says so.
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" or "auto"), an
        expression such as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function that
        returns the kernel matrix of two sets of rows. "auto" chooses a kernel from the data; `kernel_` and
        `kernel_reason_` say which and why.
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
        Largest violation of the optimality conditions, on LIBSVM's scale (the sum of the absolute dual coefficients is
        nu times the number of points, before they are divided by the margin). If the margin is hardly larger than that,
        the fit continues until the margin is known.
    cache_size : float, optional
        Megabytes of kernel rows to keep in memory; by default a quarter of the free memory.
    class_weight : dict or "balanced", optional
        Factors on the weights of the rows by class. A dictionary maps labels to positive numbers, and classes it leaves
        out have 1; "balanced" makes them inversely proportional to the class frequencies, so that every nu is feasible.
        If the weights leave a class less than nu requires of it, all of that class is used, and its side of the margin
        is moved farther away by the factor that is missing.
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
    multi_class : {"ovo", "ovr"}, default="ovo"
        How several classes are told apart: by a machine for each pair of classes ("ovo"), or for each class
        against the rest ("ovr").
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
        The factor on the weights of each class.
    shape_fit_ : tuple of int
        Shape of the training data.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    certificate_ : Certificate, or a list of them
        Primal and dual objective, their gap and the KKT conditions of each two-class problem before its
        solution is divided by the margin, recomputed in double precision from the training data when first
        read.
    distance_ : Distance, or a list of them
        With an `approximation`: how far the objective may be from that of the exact machine, beyond the gap.
    approximation_ : LandmarksUsed
        With an `approximation`: how many landmarks there are, how they were chosen, and the jitter of their matrix.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
        The rounds of the solver, for each two-class problem where there are several.
    kernel_, kernel_reason_
        The kernel that "auto" chose, and the reason; only if it was requested.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> model.status_.name, all(c.is_optimal(1e-3) for c in model.certificate_)
    ('OPTIMAL', True)
    >>> NuSVC(nu=0.9).fit(X[25:100], y[25:100])
    Traceback (most recent call last):
    ...
    mercer._errors.ParameterError: specified nu is infeasible: nu must be at most 0.666667, twice the share of \
the smaller class of 1 and 0, got 0.9; lower nu
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
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
        multi_class: str = "ovo",
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        approximation: "LowRank | None" = None,
        conformal: "str | Conformal | None" = None,
    ) -> None:
        self.nu = nu
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
        self.multi_class = multi_class
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("nu", self.nu, above=0.0, most=1.0)
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_flag("shrinking", self.shrinking)
        calibration_method(self.probability)

    def _sample_weights(self, given: ArrayLike, codes: IndexArray, classes: Array) -> FloatArray:
        weights = row_weights(given, len(codes))
        if len(np.unique(codes[weights > 0])) == 1:
            raise ParameterError(
                "specified nu is infeasible: all samples with positive weights belong to the same class, "
                f"so no nu is feasible, got {self.nu!r}"
            )
        return super()._sample_weights(given, codes, classes)

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        if is_zero(self.status_, data, setup, solved):
            self._say(
                f"the margin is zero: nu={self.nu!r} allows so few margin errors that no hyperplane has a margin here, "
                "so the optimum is w = 0 and the decision values are rounding noise. Raise nu (the share of "
                "training errors of an SVC is a good first guess), or use a kernel that separates the classes better."
            )

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        weights = np.ones(len(codes)) if weights is None else weights
        setup = NuProblems(codes, class_weight, self.multi_class, weights, float(self.nu))
        setup.copies = class_weight[codes] * weights
        return setup

    def _solve(self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        setup.require_feasible()
        return self._solve_and_calibrate(data, setup, budget, limits)

    def _solve_with_folds(
        self, data: "TrainingData", setup: NuProblems, budget: "Budget", limits: "Limits", folds: IndexArray | None
    ) -> "tuple[SolvedProblems, list[FloatArray]]":
        """Solutions and, if there are folds, out-of-fold decision values for each problem."""
        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        if setup.n_classes == 2 and is_worth_storing(matrix, len(setup.tasks[0].indices), budget):
            setup.put_sides_together()
        starts = self._starts(setup)
        options = cast(
            dict[str, Any],
            {"memory": budget.working, "convex": data.kernel.is_psd is True},
        )

        def solve(problem: Any, part: "KernelMatrix", k: int) -> "Solution":
            start = None if starts is None else starts[k]
            return resolved_margin.solve(
                problem,
                part,
                tol=self.tol,
                limits=limits,
                start=start,
                gap=problem.gap,
                gap_tol=self.gap_tol,
                **options,
            )

        def again(problem: NuMargin, solution: "Solution") -> Callable[..., Any]:
            # Scores are divided by the margin, and so are their errors.
            more = {**options, "tol": self.tol, "score_tol": SCORE_TOL * problem.margin(solution.bias)}

            def solve_fold(dual: "DualProblem", matrix: "KernelMatrix", start: FloatArray | None) -> "Solution":
                return solve_for_scores(dual, matrix, limits=limits.unwatched(), start=start, **more)

            return solve_fold

        each = solve if folds is None else LeavingOut(solve, again, setup, folds)
        solutions = solve_all(setup.problems, setup.tasks, matrix, budget, each, limits, self.n_jobs)
        return NuSolved(setup, solutions), [] if folds is None else cast(LeavingOut, each).scores
