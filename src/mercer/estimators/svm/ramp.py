"""Classification with the ramp loss."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer._types import ArrayLike, BoolArray, FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier
from mercer.estimators.fitting.certifiers import ProblemCertifier
from mercer.estimators.fitting.parameters import (
    require_choice,
    require_count,
    require_number,
    require_optional_number,
)
from mercer.estimators.fitting.seeds import generator_of
from mercer.estimators.fitting.tasks import one_or_all
from mercer.estimators.fitting.training import solve_all
from mercer.estimators.fitting.two_class import Solved, TwoClassProblems
from mercer.estimators.fitting.weights import weighted_C
from mercer.problems.svm.ramp import RampMargin
from mercer.problems.svm.soft_margin import BIASES
from mercer.solvers.dual_qp import ramp_cccp
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.certificate import Certificate
    from mercer.problems.regularization import Regularization
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


class _RampProblems(TwoClassProblems):
    """The two-class problems of a fit, with the ramp loss."""

    def __init__(self, codes: IndexArray, n_classes: int, multi_class: str, C: FloatArray, s: float, bias: str) -> None:
        super().__init__(codes, n_classes, multi_class, C, "ramp", bias)
        self.problems = [RampMargin(task.signs, C[task.indices], s, bias) for task in self.tasks]

    def outliers_of_start(self, start: ArrayLike) -> list[BoolArray]:
        """For each task, the mask of rows that `start` treats as outliers: given as a mask of all rows, or by decision
        values below s."""
        given, n, many = np.asarray(start), len(self.codes), len(self.tasks)
        is_mask = given.dtype == bool and given.shape == (n,)
        is_table = given.dtype.kind in "fiu" and (given.shape == (n, many) or (given.shape == (n,) and many == 1))
        if not is_mask and not (is_table and np.isfinite(given).all()):
            shape = f"({n},)" if many == 1 else f"({n}, {many})"
            raise DataError(
                f"start must be a mask of {n} Booleans, the rows that are outliers at first, or finite decision values "
                f"of shape {shape}, got {given.dtype} of shape {given.shape}"
            )
        if is_mask:
            return [given[task.indices] for task in self.tasks]
        values = given.reshape(n, many)
        return [
            problem.signs * values[task.indices, k] < problem.s
            for k, (task, problem) in enumerate(zip(self.tasks, self.problems, strict=True))
        ]


class _RampCertifier(ProblemCertifier):
    """A margin at the kink is judged with recomputed kernel values."""

    def _certificate(self, problem: Any, task: "BinaryTask", beta: FloatArray, intercept: float) -> "Certificate":
        projections = self._projections(task, beta)

        def gram(places: IndexArray) -> FloatArray:
            points = self.data.prepare(np.float64, task.indices[places])
            return self._product(points, points, np.eye(len(places)))

        with np.errstate(over="ignore", invalid="ignore"):
            return problem.certificate(beta, projections, intercept, gram)


class RampSVC(KernelClassifier):
    """Support vector classifier whose loss is bounded, so that outliers lose their pull.

    The ramp loss of a margin z = y f(x) is the hinge up to 1 - s and no more: min(1 - s, max(0, 1 - z)). A row that is
    far on the wrong side costs 1 - s, wherever it is. The objective is not convex. It is minimised from the hinge
    solution by the concave-convex procedure: a few convex problems, each solved as `SVC` does and certified, each
    beginning where the last one ended, all over one kernel matrix. The objective falls from step to step, and the
    procedure ends at a stationary point; `certificate_` has the evidence. Which point it is depends on where the
    procedure begins, which `start` and `n_starts` determine.

    Parameters
    ----------
    C : float or Regularization, default=1.0
        Weight of the losses against the margin, positive and finite.
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
    tol : float, default=1e-3
        Largest violation of the optimality conditions of each convex problem, and of the margins
        against s.
    class_weight : dict or "balanced", optional
        Factors on C by class. A dictionary maps labels to positive numbers, and classes it leaves out have 1;
        "balanced" makes them inversely proportional to the class frequencies. By default every class has 1.
    s : float, default=0.0
        Margin, below 1, at which the loss stops rising. 0 gives the ramp loss min(1, hinge); the lower s is, the closer
        the loss is to the hinge.
    max_steps : int, default=100
        Largest number of convex problems for each start; three to ten are usual.
    start : ndarray, optional
        Where to begin instead of at the hinge solution: a mask of the rows that are outliers at first, or decision
        values of the training rows (those of another model, say), where rows with a margin below s are outliers. For
        several classes the values have a column for each two-class problem, like those of
        ``SVC(decision_function_shape="ovo")``.
    n_starts : int, default=1
        Number of starts: the first as above, the others with random outliers. The result with the lowest objective is
        kept.
    random_state : int, RandomState or None, default=None
        Seed of the random outliers; None stands for 0.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the bias is left out of the penalty ("free"), is the weight of a constant feature of value 1 and
        so part of the penalty ("penalized"), or is absent ("none").
    multi_class : {"ovo", "ovr"}, default="ovo"
        How several classes are told apart: by a machine for each pair of classes ("ovo"), or for each class
        against the rest ("ovr").
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Columns of `decision_function` for more than two classes fitted in pairs: one for each class ("ovr"), or
        one for each pair ("ovo").
    break_ties : bool, default=True
        Whether classes that win the same number of pairs are told apart by their decision values; otherwise the
        first of them is predicted.
    max_iter : int, default=-1
        Largest number of pair steps for each convex problem; -1 sets no limit.
    gap_tol : float, optional
        Relative duality gap, positive, at which to stop each convex problem instead of at `tol`.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory.
    cache_size : float, optional
        Megabytes of kernel rows to keep in memory; by default a quarter of the free memory.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit, if the number of rows is the same.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every round; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print a line to standard error after every round.

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
    class_weight_ : ndarray of shape (n_classes,)
        The factor on C of each class.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    steps_ : list of CCCPStep, or a list of such lists
        The convex problems that were solved: objective, bound, gap, outliers.
    outliers_ : ndarray of int, or a list of them
        Training rows on the flat part of the ramp.
    start_objectives_ : ndarray (n_starts,), or a list of them
        The ramp objective at the end of each start; infinite if a limit was reached first.
    certificate_ : RampCertificate, or a list of them
        Certificate of the last convex problem, with the ramp objective and how well its
        tangent fits; `is_stationary` puts both together.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
        The rounds of the solver, for each two-class problem where there are several.

    References
    ----------
    Collobert, Sinz, Weston and Bottou (2006), Trading convexity for scalability.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RampSVC, SVC
    >>> X = np.array([[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0], [4.0]])
    >>> y = np.array([-1, -1, -1, 1, 1, 1, -1])  # the last label is wrong
    >>> SVC(kernel="linear").fit(X, y).coef_.round(3)
    array([[0.571]])
    >>> model = RampSVC(kernel="linear").fit(X, y)
    >>> model.coef_.round(3)  # the margin of the others
    array([[1.]])
    >>> model.outliers_, model.certificate_.is_stationary()
    (array([6]), True)
    """

    _remedies: ClassVar = {
        Status.ITERATION_LIMIT: "To continue, raise max_iter or max_steps.",
        Status.OPTIMAL_INACCURATE: "The objective falls no further at this accuracy; a smaller tol may help.",
    }

    def __init__(
        self,
        C: "float | Regularization" = 1.0,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        class_weight: dict[Any, float] | str | None = None,
        *,
        s: float = 0.0,
        max_steps: int = 100,
        start: ArrayLike | None = None,
        n_starts: int = 1,
        bias: str = "free",
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = True,
        max_iter: int = -1,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        cache_size: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.s = s
        self.max_steps = max_steps
        self.start = start
        self.n_starts = n_starts
        self.bias = bias
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.max_iter = max_iter
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("s", self.s, below=1.0)
        require_count("max_steps", self.max_steps)
        require_count("n_starts", self.n_starts)
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_choice("bias", self.bias, BIASES)

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        C = weighted_C(self.C, codes, class_weight, weights)
        if not np.isfinite(C).all():
            raise ParameterError(
                f"C must be finite for the ramp loss, also after weighting, got {self.C!r}: "
                "with a hard margin no row may be an outlier; SVC(C=inf) fits one"
            )
        return _RampProblems(codes, len(class_weight), self.multi_class, C, float(self.s), self.bias)

    def _solve(self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        starts, first = self._starts(setup), self._first_outliers(setup)
        rng = generator_of(self.random_state)
        others = [ramp_cccp.random_outliers(len(task.indices), self.n_starts - 1, rng) for task in setup.tasks]

        def solve(problem: Any, part: "KernelMatrix", k: int) -> "Solution":
            return ramp_cccp.solve_from_several(
                problem,
                part,
                [first[k], *others[k]],
                tol=self.tol,
                limits=limits,
                start=None if starts is None else starts[k],
                max_steps=self.max_steps,
                gap_tol=self.gap_tol,
                memory=budget.working,
                convex=data.kernel.is_psd is True,
            )

        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        solutions = solve_all(setup.problems, setup.tasks, matrix, budget, solve, limits, self.n_jobs)
        # A fit stopped before its first step has its initial problem, and no steps.
        setup.problems = [getattr(s, "problem", p) for s, p in zip(solutions, setup.problems, strict=True)]
        return Solved(setup, solutions)

    def _first_outliers(self, setup: _RampProblems) -> list[BoolArray] | list[None]:
        """For each task, the outliers of the first convex problem: those of `start`, or of the last fit if that is to
        be continued, or none."""
        if self.start is not None:
            return setup.outliers_of_start(self.start)
        if self._starts(setup) is None:
            return [None] * len(setup.tasks)
        last = self.outliers_ if isinstance(self.outliers_, list) else [self.outliers_]
        return [np.isin(task.indices, rows) for task, rows in zip(setup.tasks, last, strict=True)]

    def _kind_of_certifier(self, setup: Any, solved: Any) -> type[ProblemCertifier]:
        return _RampCertifier

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        masks = [problem.current_outliers for problem in setup.problems]
        outliers = [task.indices[mask] for task, mask in zip(setup.tasks, masks, strict=True)]
        steps = [getattr(solution, "steps", []) for solution in solved.solutions]
        objectives = [np.array(getattr(solution, "objectives", [np.inf])) for solution in solved.solutions]
        self.outliers_, self.steps_, self.start_objectives_ = map(one_or_all, (outliers, steps, objectives))
        super()._keep(X, data, setup, solved)
