"""Support vector classification by the share of support vectors."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier, refuse_ties_of_pairs
from mercer.estimators.bases.probabilities import LeavingOut, Probable, calibration_method
from mercer.estimators.fitting.parameters import require_flag, require_number, require_optional_number
from mercer.estimators.fitting.progress import warn_of_zero
from mercer.estimators.fitting.support import Support
from mercer.estimators.fitting.tasks import BinaryTask
from mercer.estimators.fitting.training import is_worth_storing, solve_all
from mercer.estimators.fitting.two_class import Solved, TwoClassProblems
from mercer.estimators.fitting.weights import row_weights
from mercer.problems.svm.nu import NuMargin
from mercer.solvers.calibration.out_of_fold import SCORE_TOL
from mercer.solvers.dual_qp import resolved_margin
from mercer.solvers.dual_qp.policy import is_exact
from mercer.solvers.dual_qp.solve import solve_dual

if TYPE_CHECKING:
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.svm.signed_dual import DualProblem
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


class NuProblems(TwoClassProblems):
    """The two-class problems of a fit, in the nu-form; refuses a nu that one of them cannot have."""

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
        """The points of two classes in the order of their sides: groups that follow each other are solved
        where their matrix stands, and need no copy of it."""
        (task,) = self.tasks
        order = np.argsort(-task.signs, kind="stable")
        self.tasks = [BinaryTask(task.indices[order], task.signs[order], task.label)]
        vars(self).pop("_problems", None)

    def require_feasible(self) -> None:
        """Refuse nu before anything is solved, with the largest value that all problems can have."""
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
    """As `Solved`, with classifiers divided by their margins, as LIBSVM does."""

    def __init__(self, setup: NuProblems, solutions: "Sequence[Solution]") -> None:
        super().__init__(setup, solutions)
        scaled = [s.beta / p.margin(s.bias) for p, s in zip(setup.problems, solutions, strict=True)]
        self.support = Support.of_tasks(setup, scaled)


class NuSVC(Probable, KernelClassifier):
    """Support vector classifier with a share in the place of C: fast, and certified on every fit.

    At most a share `nu` of the points of each two-class problem fall short of the margin, and at
    least that share are support vectors. The parameters up to `random_state` are scikit-learn's,
    in its order, with its meaning.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1], and at most twice the share of the smaller class; a larger one is refused, with
        the largest that is feasible. Where classes overlap so much that no hyperplane has a margin with so few
        errors, the optimum is w = 0, and a warning says so.
    kernel, degree, gamma, coef0, shrinking
        As for `SVC`.
    probability : bool, "sigmoid" or "isotonic", default=False
        As for `SVC`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in LIBSVM's scale (the sum of the absolute
        dual coefficients is nu times the number of points, before they are divided by the margin). Where the
        margin is hardly larger than that, the fit goes on until it is known.
    cache_size : float, optional
    class_weight : dict or "balanced", optional
        Multiplies the weight of each row, so that "balanced" makes every nu feasible. Where the weights
        leave a class less than nu asks of it, all of that class is asked for, and the other one gains
        ground as much as nu asks for more.
    verbose, max_iter, decision_function_shape, break_ties, random_state
        As for `SVC`.
    multi_class, gap_tol, time_limit, memory_limit, n_jobs, warm_start, callbacks
        As for `SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_,
    fit_status_, class_weight_, shape_fit_, n_features_in_, feature_names_in_
        As in scikit-learn.
    status_, certificate_, expansion_, trace_
        As for `SVC`; a certificate is about the problem before it is divided by the margin.

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
                f"so that no nu is feasible, got {self.nu!r}"
            )
        return super()._sample_weights(given, codes, classes)

    def predict(self, X: Rows) -> Array:
        """The label of each row of X; the most probable one where probabilities are asked for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        refuse_ties_of_pairs(self)
        return super().predict(X)

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        warn_of_zero(
            self.status_,
            data,
            setup,
            solved,
            f"the margin is zero: nu={self.nu!r} allows so few margin errors that no hyperplane has a margin here, so "
            "that the optimum is w = 0 and the decision values are rounding noise. Raise nu (the share of training "
            "errors of an SVC is a good first guess), or take a kernel that separates the classes better.",
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
        """Solutions, and where there are folds, out-of-fold decision values for each problem."""
        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        if setup.n_classes == 2 and is_worth_storing(matrix, len(setup.tasks[0].indices), budget):
            setup.put_sides_together()
        starts = self._starts(setup)
        options = cast(
            dict[str, Any],
            {"memory": budget.working, "convex": data.kernel.is_psd is True, "shrinking": self.shrinking},
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
            # Scores are divided by the margin, and their errors with them.
            loosely = max(self.tol, SCORE_TOL * problem.margin(solution.bias))

            def solve_fold(dual: "DualProblem", matrix: "KernelMatrix", start: FloatArray | None) -> "Solution":
                tol = self.tol if is_exact(matrix) else loosely
                return solve_dual(dual, matrix, tol=tol, limits=limits.unwatched(), start=start, **options)

            return solve_fold

        each = solve if folds is None else LeavingOut(solve, again, setup, folds)
        solutions = solve_all(setup.problems, setup.tasks, matrix, budget, each, limits, self.n_jobs)
        return NuSolved(setup, solutions), [] if folds is None else cast(LeavingOut, each).scores
