"""Classification with the ramp loss."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from mercer._errors import DataError, ParameterError
from mercer._types import ArrayLike, BoolArray, FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.parameters import (
    require_choice,
    require_count,
    require_flag,
    require_number,
    require_optional_number,
)
from mercer.estimators.fitting.tasks import one_or_all
from mercer.estimators.fitting.training import solve_all
from mercer.estimators.fitting.two_class import Solved, TwoClassProblems
from mercer.estimators.fitting.weights import weighted_C
from mercer.kernels.evaluation import tiles
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
        """For each task the mask of rows that `start` takes for outliers: as a mask of all rows, or where its
        decision values fall short of s."""
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


class _RampEvidence(Evidence):
    """A margin at the kink is judged with kernel values of its own."""

    def _certificate(self, problem: Any, task: "BinaryTask", beta: FloatArray, intercept: float) -> "Certificate":
        projections = self._projections(task, beta)

        def gram(places: IndexArray) -> FloatArray:
            points = self.data.prepare(np.float64, task.indices[places])
            return tiles.product(self.data.kernel, points, points, np.eye(len(places)), self.n_jobs)

        with np.errstate(over="ignore", invalid="ignore"):
            return problem.certificate(beta, projections, intercept, gram)


class RampSVC(KernelClassifier):
    """Support vector classifier whose loss is bounded, so that outliers lose their pull.

    The ramp loss of a margin z = y f(x) is the hinge up to 1 - s and no more:
    min(1 - s, max(0, 1 - z)). A row that is far on the wrong side costs 1 - s, wherever it is.
    The objective is not convex. It is minimised from the hinge solution by the concave-convex
    procedure: a few convex problems, each solved as `SVC` does and certified, each beginning
    where the last one ended, all over one kernel matrix. The objective falls from step to
    step, and the end is a stationary point; `certificate_` has the evidence. Which one it is depends on where one
    begins: `start` and `n_starts` choose.

    Parameters
    ----------
    C : float or Regularization, default=1.0
        Weight of the losses against the margin; finite.
    kernel, degree, gamma, coef0
        As in `SVC`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions of each convex problem, and of the margins
        against s.
    class_weight : dict or "balanced", optional
    s : float, default=0.0
        Margin at which the loss stops to rise, below 1. 0 is the ramp loss min(1, hinge); the
        lower, the more like the hinge.
    max_steps : int, default=100
        Convex problems at most, for each start; three to ten are usual.
    start : ndarray, optional
        Where to begin in the place of the hinge solution: a mask of the rows that are outliers at first, or decision
        values of the training rows (those of another model, say), of which all with a margin below s are. Of
        several classes, values have a column for each two-class problem, as those of
        ``SVC(decision_function_shape="ovo")`` do.
    n_starts : int, default=1
        How many starts: the first as above, the others with random outliers. The end of the lowest objective is kept.
    random_state : int, RandomState or None, default=0
        Draws the random outliers.
    bias : {"free", "penalised", "none"}, default="free"
    multi_class : {"ovo", "ovr"}, default="ovo"
    decision_function_shape, break_ties
        As in `SVC`.
    max_iter : int, default=-1
        Bound on the pair steps of each convex problem; -1 for none.
    gap_tol, time_limit, memory_limit, cache_size, shrinking, n_jobs, warm_start, callbacks, verbose
        As in `SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_,
    class_weight_, n_features_in_, feature_names_in_
        As in `SVC`.
    steps_ : list of CCCPStep, or a list of such lists
        The convex problems that were solved: objective, bound, gap, outliers.
    outliers_ : ndarray of int, or a list of them
        Training rows on the flat part of the ramp.
    start_objectives_ : ndarray (n_starts,), or a list of them
        The ramp objective at the end of each start; infinite where a limit came first.
    certificate_ : RampCertificate, or a list of them
        Certificate of the last convex problem, with the ramp objective and how well its
        tangent fits; `is_stationary` puts both together.
    status_, expansion_, trace_
        As in `SVC`.

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
        Status.ITERATION_LIMIT: "A larger max_iter or max_steps goes on.",
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
        shrinking: bool = True,
        max_iter: int = -1,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        cache_size: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState = 0,
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
        self.shrinking = shrinking
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
        require_flag("shrinking", self.shrinking)
        require_choice("bias", self.bias, BIASES)

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        C = weighted_C(self.C, codes, class_weight, weights)
        if not np.isfinite(C).all():
            raise ParameterError(
                f"C must be finite for the ramp loss, also after weighting, got {self.C!r}: "
                "with a hard margin no row may be an outlier; SVC(C=inf) has one"
            )
        return _RampProblems(codes, len(class_weight), self.multi_class, C, float(self.s), self.bias)

    def _solve(self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        starts, first = self._starts(setup), self._first_outliers(setup)
        rng = check_random_state(self.random_state)
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
                shrinking=self.shrinking,
            )

        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        solutions = solve_all(setup.problems, setup.tasks, matrix, budget, solve, limits, self.n_jobs)
        # What was stopped before its first step has the problem it began with, and no steps.
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

    def _kind_of_evidence(self, setup: Any, solved: Any) -> type[Evidence]:
        return _RampEvidence

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        masks = [problem.current_outliers for problem in setup.problems]
        outliers = [task.indices[mask] for task, mask in zip(setup.tasks, masks, strict=True)]
        steps = [getattr(solution, "steps", []) for solution in solved.solutions]
        objectives = [np.array(getattr(solution, "objectives", [np.inf])) for solution in solved.solutions]
        self.outliers_, self.steps_, self.start_objectives_ = map(one_or_all, (outliers, steps, objectives))
        super()._keep(X, data, setup, solved)
