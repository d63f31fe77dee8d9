"""The perceptron on kernel values."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mercer._types import ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.equal_rows import comparable_rows
from mercer.estimators.fitting.inputs import require_fitted
from mercer.estimators.fitting.parameters import require_n_jobs, require_number
from mercer.estimators.fitting.progress import print_epoch, warn_unless_optimal, watchers
from mercer.estimators.fitting.tasks import one_or_all
from mercer.estimators.fitting.training import solve_all
from mercer.estimators.fitting.two_class import Solved, TwoClassProblems
from mercer.estimators.online.mistake_bound import REMEDIES, MistakeEvidence, check_parameters
from mercer.estimators.online.program_duals import only_of_programs
from mercer.estimators.online.visit_order import shared_out, visiting_plan
from mercer.estimators.svm.separation import IN_DOUBLE
from mercer.problems.version_space.perceptron import PerceptronProgram
from mercer.solvers.stochastic.perceptron import METHODS, ItemPerceptron, ItemSolution, train
from mercer.solvers.stochastic.perceptron_lp import solve_kernel_program

if TYPE_CHECKING:
    from mercer.estimators.fitting.protocols import Setup, SolvedProblems
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.certificate import Certificate
    from mercer.problems.svm.soft_margin import SoftMargin
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution
    from mercer.solvers.stochastic.perceptron import Schedule


# Square matrices of double precision that the program needs beside each other.
PROGRAM_MATRICES = 5

# A violation of the perceptron's program up to this is rounding, or the tolerance of a solver of programs.
SEPARATES = 1e-6


class KernelPerceptron(KernelClassifier):
    """The perceptron with any kernel: a mistake on a point adds its label to the point's coefficient.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `SVC`.
    degree, gamma, coef0
        Parameters of the kernels given by name; a `Kernel` has its own.
    method : {"online", "averaged", "batch", "lp"}, default="online"
        As in `Perceptron`. "lp" is its convex program in the features of the kernel: the least sum of slacks, with the
        dual vector for a proof. It takes the eigenvectors of the matrix and the simplex method, so it is for some
        hundred to a few thousand points, and a kernel that is positive semidefinite.
    fit_intercept : bool, default=True
        Whether there is a bias; it is the weight of a further feature of value 1.
    max_iter : int, default=1000
        Epochs at most; "lp" has none.
    tol, shuffle, eta0, random_state, n_iter_no_change, class_weight
        As in `Perceptron`.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, if the number of rows is the same.
    time_limit : float, optional
        Seconds for the whole fit.
    memory_limit : int or str, optional
        Bytes, or a text such as "2GiB"; half of the free memory by default.
    n_jobs : int, optional
        Threads; all cores by default.
    callbacks : list of callables, optional
        Each is called with a `TracePoint` after every epoch; a true answer ends the fit.
    verbose : bool, default=False
        Print a line an epoch on standard error.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, status_,
    certificate_, expansion_, trace_, n_features_in_, feature_names_in_
        As in `SVC`; `dual_coef_` are the sums of updates, `certificate_` that of `Perceptron`.
    n_updates_ : ndarray of int
        Updates of each two-class problem.
    multipliers_ : ndarray of shape (n,), or (n_classes, n) for several classes
        Of "lp": the dual vector, as in `Perceptron`, with psi(x_i) in the place of x_i.
    mistake_bound_ : MistakeBound, or a list of them
        Updates beside (rho/gamma)^2 in the feature space, which is computed when first read.

    Examples
    --------
    >>> from mercer import KernelPerceptron
    >>> from mercer.kernels import Polynomial
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> model = KernelPerceptron(Polynomial(degree=2, gamma=1.0, coef0=1.0)).fit(X, y)
    >>> model.status_.name, model.score(X, y)
    ('OPTIMAL', 1.0)
    """

    multi_class = "ovr"
    decision_function_shape = "ovr"
    break_ties = True
    _remedies = REMEDIES

    def __init__(
        self,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
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
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
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
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            How many copies of a row there are; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        warn_unless_optimal(self.status_, self.max_iter, self._remedies)
        return self

    def _check_parameters(self) -> None:
        check_parameters(self, (*METHODS, "lp"))
        require_number("coef0", self.coef0)
        require_n_jobs(self.n_jobs)

    def _watchers(self) -> list[Callable[[Any], Any]]:
        return watchers(self, print_epoch)

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        copies = class_weight[codes] * (1.0 if weights is None else weights)
        bias = "penalised" if self.fit_intercept else "none"
        return TwoClassProblems(codes, len(class_weight), "ovr", copies, "hinge", bias)

    def _solve(self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        used = setup.tasks[0].indices
        self._plan = visiting_plan(self, comparable_rows(data, used), setup.codes[used], setup.C[used])
        starts = self._starts(setup)

        def solve(problem: Any, part: "KernelMatrix", k: int) -> "Solution":
            if self.method == "lp":
                return _solve_program(problem, part, self._plan, budget, limits)
            machine = ItemPerceptron(part, self.method, float(self.eta0), problem.dual().shift)
            if starts is not None:
                machine.start(starts[k])
            epoch = partial(machine.epoch, problem.signs, self._plan.copies)
            return machine.solution(train(machine, epoch, self._plan, limits), problem.signs)

        matrix = data.matrix(IN_DOUBLE, None, budget, self.n_jobs)
        return Solved(setup, solve_all(setup.problems, setup.tasks, matrix, budget, solve, limits, self.n_jobs))

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        self.n_updates_ = np.array([getattr(each, "updates", 0) for each in solved.solutions])
        self._mistakes = None
        self._multipliers = self._dual_vectors(setup, solved)
        if self.method != "lp" and all(getattr(each, "is_fresh", False) for each in solved.solutions):
            rows = setup.tasks[0].indices[self._plan.order]
            self._mistakes = MistakeEvidence(self, data, rows, setup.tasks, self._plan)
        del self._plan

    def _kind_of_evidence(self, setup: Any, solved: Any) -> type[Evidence]:
        return ProgramEvidence

    def _dual_vectors(self, setup: "Setup", solved: Solved) -> FloatArray | None:
        """a for every training row, also for those without weight; None where there are none."""
        if self.method != "lp":
            return None
        used = setup.tasks[0].indices
        whole = np.zeros((len(solved.solutions), len(setup.codes)))
        for row, solution in zip(whole, solved.solutions, strict=True):
            # A fit that ended before its first step has none.
            found = getattr(solution, "multipliers", None)
            row[used] = 0.0 if found is None else found
        return whole

    @property
    def multipliers_(self) -> FloatArray:
        """The dual vector of each linear program."""
        require_fitted(self)
        return only_of_programs(self)

    def _is_reached(self, certificate: "Certificate") -> bool:
        # An averaged function is not the one that has made no more mistakes.
        return self.method == "averaged" or certificate.is_optimal(SEPARATES)

    @property
    def mistake_bound_(self) -> Any:
        """Updates beside the bound on them; computed when first read."""
        require_fitted(self)
        if self._mistakes is None:
            raise AttributeError("mistake_bound_ is known after a fit that starts from zero")
        return one_or_all(self._mistakes.bounds())

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # The training data are not part of a model.
        if state.get("_mistakes") is not None:
            state["_mistakes"] = state["_mistakes"].without_data()
        return state


def _solve_program(
    problem: "SoftMargin", part: "KernelMatrix", plan: "Schedule", budget: "Budget", limits: "Limits"
) -> "Solution":
    """The linear program of one two-class problem, over the points that are visited."""
    order = plan.order
    if PROGRAM_MATRICES * 8 * len(order) ** 2 > 2 * budget.cache:
        raise MemoryError
    K = part.rows(order, limits.stop)[:, order].astype(np.float64)
    shift = problem.dual().shift
    found = solve_kernel_program(K, problem.signs[order], plan.copies[order], shift, limits)
    beta = np.zeros(part.n)
    beta[order] = found.coefficients
    return ItemSolution(
        beta=beta,
        gradient=np.zeros(part.n),
        bias=found.bias,
        status=found.status,
        iterations=found.iterations,
        is_gradient_complete=False,
        multipliers=shared_out(found.multipliers, plan, problem.C),
    )


class ProgramEvidence(Evidence):
    """Certificates of the perceptron's convex program, in the feature space."""

    def _certify(self) -> list[Any]:
        each = zip(self.setup.tasks, self.solved.solutions, self.solved.intercepts, strict=True)
        has_bias = self.setup.bias != "none"
        return [self._of_program(*one, has_bias) for one in each]

    def _of_program(self, task: "BinaryTask", solution: "Solution", intercept: float, has_bias: bool) -> "Certificate":
        """With the dual variables, where there are any."""
        weights = self.setup.C[task.indices]
        program = PerceptronProgram(task.signs, weights)
        margins = task.signs * (self._projections(task, solution.beta) + intercept)
        found = getattr(solution, "multipliers", None)
        if found is None:
            return program.certificate(margins)
        signed = task.signs * found
        left_over = float(np.abs(self._projections(task, signed)).max(initial=0.0))
        left_over = max(left_over, abs(float(signed.sum()))) if has_bias else left_over
        return program.certificate(margins, found, left_over)
