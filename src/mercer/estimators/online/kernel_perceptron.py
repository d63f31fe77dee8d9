"""The perceptron on kernel values."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mercer._types import ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier
from mercer.estimators.fitting.certifiers import ProblemCertifier
from mercer.estimators.fitting.equal_rows import comparable_rows
from mercer.estimators.fitting.parameters import require_n_jobs, require_number
from mercer.estimators.fitting.progress import epoch_line, watchers
from mercer.estimators.fitting.training import solve_all
from mercer.estimators.fitting.two_class import Solved, TwoClassProblems
from mercer.estimators.online.mistake_bound import LearnsByMistakes, MistakeEvidence, check_parameters
from mercer.estimators.online.visit_order import shared_out, visiting_plan
from mercer.problems.version_space.perceptron import PerceptronProgram
from mercer.solvers.stochastic.perceptron import METHODS, ItemPerceptron, ItemSolution, train
from mercer.solvers.stochastic.perceptron_lp import solve_kernel_program
from mercer.solvers.tolerances import IN_DOUBLE

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


# Square matrices in double precision that the program needs at once.
PROGRAM_MATRICES = 5

# A violation of the perceptron's program up to this is rounding, or the tolerance of the LP solver.
SEPARATES = 1e-6


class KernelPerceptron(LearnsByMistakes, KernelClassifier):
    """The perceptron with any kernel: a mistake on a point adds its label to the point's coefficient.

    Parameters
    ----------
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
    method : {"online", "averaged", "batch", "lp"}, default="online"
        "online" adds y to the coefficient of a point whenever the point is on the wrong side. "averaged" answers with
        the mean of the function over all visits. "batch" adds the mean of the updates over all mistakes of an epoch.
        "lp" minimises the sum of slacks in the features of the kernel, with the dual vector `multipliers_` as a proof.
        It uses the eigenvectors of the matrix and the simplex method, so it is meant for a few hundred to a few
        thousand points, and for kernels that are positive semidefinite.
    fit_intercept : bool, default=True
        Whether there is a bias, which is the weight of a further feature of value 1.
    max_iter : int, default=1000
        Largest number of epochs, 1 or more; -1 sets no limit. "lp" has no epochs.
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
        Whether to start from the coefficients of the last fit, if the number of rows is the same.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every epoch; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print a line to standard error after every epoch.

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
    dual_coef_ : ndarray of shape (n_problems, n_support)
        Coefficients of the support vectors, which are the sums of their updates, with a row for each two-class
        problem.
    intercept_ : ndarray of shape (n_problems,)
        Bias of each decision function.
    coef_ : ndarray or CSR of shape (n_problems, d)
        Weights of the features in each decision function; only for the linear kernel.
    n_iter_ : ndarray of shape (n_problems,)
        Number of epochs of each two-class problem.
    status_ : Status
        OPTIMAL if every training point is on the right side, or if the program of "lp" is solved; a warning is
        given otherwise.
    certificate_ : Certificate, or a list of them
        Primal and dual value of the program of "lp", and their gap. Only "lp" has dual variables: the dual
        value of the other methods is zero, the value for data that can be separated.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
        The epochs, for each two-class problem where there are several.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    n_updates_ : ndarray of int
        Number of updates of each two-class problem.
    multipliers_ : ndarray of shape (n,), or (n_classes, n) for several classes
        For "lp": a of the dual program, max sum_i a_i subject to sum_i a_i y_i psi(x_i) = 0, sum_i a_i y_i = 0 (with a
        bias) and 0 <= a_i <= weight of row i. A positive sum proves that no hyperplane separates the classes; it is the
        least possible sum of slacks.
    mistake_bound_ : MistakeBound, or a list of them
        The number of updates and its bound (rho/gamma)^2 in feature space, which is computed when first read.

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
        return self._fit_and_tell(X, y, sample_weight)

    def _check_parameters(self) -> None:
        check_parameters(self, (*METHODS, "lp"))
        require_number("coef0", self.coef0)
        require_n_jobs(self.n_jobs)

    def _watchers(self) -> list[Callable[[Any], Any]]:
        return watchers(self, epoch_line)

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        copies = class_weight[codes] * (1.0 if weights is None else weights)
        bias = "penalized" if self.fit_intercept else "none"
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

    def _kind_of_certifier(self, setup: Any, solved: Any) -> type[ProblemCertifier]:
        return ProgramCertifier

    def _dual_vectors(self, setup: "Setup", solved: Solved) -> FloatArray | None:
        """a for every training row, also for those without weight; None if there are none."""
        if self.method != "lp":
            return None
        used = setup.tasks[0].indices
        whole = np.zeros((len(solved.solutions), len(setup.codes)))
        for row, solution in zip(whole, solved.solutions, strict=True):
            # A fit that ended before its first step has none.
            found = getattr(solution, "multipliers", None)
            row[used] = 0.0 if found is None else found
        return whole

    def _is_reached(self, certificate: "Certificate") -> bool:
        # The averaged function is not the one that made no more mistakes.
        return self.method == "averaged" or certificate.is_optimal(SEPARATES)


def _solve_program(
    problem: "SoftMargin", part: "KernelMatrix", plan: "Schedule", budget: "Budget", limits: "Limits"
) -> "Solution":
    """The linear program of one two-class problem, over the visited points."""
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


class ProgramCertifier(ProblemCertifier):
    """Certificates of the perceptron's convex program, in the feature space."""

    def _certify(self) -> list[Any]:
        each = zip(self.setup.tasks, self.solved.solutions, self.solved.intercepts, strict=True)
        has_bias = self.setup.bias != "none"
        return [self._of_program(*one, has_bias) for one in each]

    def _of_program(self, task: "BinaryTask", solution: "Solution", intercept: float, has_bias: bool) -> "Certificate":
        """With the dual variables, if any."""
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
