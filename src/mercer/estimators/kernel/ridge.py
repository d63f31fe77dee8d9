"""Least squares in the features of a kernel, with a penalty."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from mercer._errors import ParameterError
from mercer._jit.threads import Stopped
from mercer._types import ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_method import KernelRegression
from mercer.estimators.conformal.prediction_intervals import PredictsIntervals
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.certifiers import Computed
from mercer.estimators.fitting.parameters import (
    require_choice,
    require_count,
    require_flag,
    require_max_iter,
    require_number,
)
from mercer.estimators.fitting.seeds import generator_of
from mercer.estimators.fitting.weights import some_weights
from mercer.estimators.kernel.penalties import penalties_of, penalty_grid
from mercer.estimators.low_rank.kernel_methods import require_plain_ridge, restricted_ridge
from mercer.estimators.low_rank.restricted import note_passes
from mercer.estimators.out_of_core.predicting import RegressesBlocks
from mercer.kernels.gram.symmetric_operator import WeightedOperator
from mercer.problems.kernel_methods.ridge import LeaveOneOut, Ridge
from mercer.solvers.limits import Limits, limits_in_force
from mercer.solvers.linalg import ridge_gcv, shifted_system
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.estimators.conformal.conformal import Conformal
    from mercer.estimators.fitting.training import TrainingData
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator
    from mercer.problems.kernel_methods.ridge import RidgeCertificate
    from mercer.solvers.linalg.shifted_system import Request


_CHOLESKY = ('solver="cholesky"', 'solver="cg"')
PRECONDITIONERS = ("pivoted", "nystroem")


class KernelRidge(PredictsIntervals, RegressesBlocks, KernelRegression):
    """Ridge regression in the features of a kernel.

    Minimises |y - f|^2 + alpha |f|^2, where the first norm is over the training rows and the second
    that of the kernel. The first eight parameters are scikit-learn's, in its order.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        The penalty, 0 or more; one for all targets, or one for each.
    kernel : str, Kernel or callable, default="linear"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2" or "precomputed"), an expression such
        as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function
        ``function(x, y, **kernel_params)`` that returns the kernel of two items as a number.
    gamma : float, "scale", "auto" or "median", optional
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features, and
        "median" is one over the median squared distance between rows (for "laplacian", the median absolute
        distance). None is the same as "auto".
    degree : int, default=3
        Degree of the kernel "poly", 0 or more; other kernels ignore it.
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict, optional
        Keyword arguments for a kernel that is a function.
    alphas : array-like, optional
        Penalties to choose from, by leave-one-out; `alpha` is then not used. One eigenvalue
        decomposition serves all of them.
    criterion : {"loo", "gcv"}, default="loo"
        What chooses: the exact leave-one-out error, or generalised cross-validation.
    leave_one_out : bool, default=False
        Whether to compute `loo_`, which takes the inverse of the factor: twice the work of a fit.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        "cg" never holds the kernel matrix. "auto" uses it if the matrix does not fit; if it does, a factor or, from
        3,000 rows on and unless alpha is tiny, iterations on the matrix in memory (`solver_` is then "cg" too).
    preconditioner : {"pivoted", "nystroem"}, default="pivoted"
        Preconditioner of conjugate gradients, from rows chosen one by one ("pivoted") or at random ("nystroem").
    rank : int, default=500
        Largest number of rows of the kernel matrix that the preconditioner uses.
    tol : float, default=1e-8
        Largest residual of the normal equations, relative to the targets; positive.
    max_iter : int, default=-1
        Largest number of iterations of conjugate gradients; -1 sets no limit.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory. If there is no room
        for a factor or for eigenvalues that were requested, `fit` raises an error.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` as the solver proceeds; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print the progress of the solver to standard error.
    random_state : int, RandomState or None, default=None
        Seed for the rows of the "nystroem" preconditioner; None stands for 0.
    approximation : LowRank, optional
        Restricts the function to landmarks, for many rows: see `mercer.LowRank`. By default it is exact.
    conformal : {None, "split", "cross", "leave_one_out"} or Conformal, default=None
        Whether to calibrate `predict_interval`, on rows set aside ("split"), left out fold by fold ("cross", ten more
        fits) or left out one by one ("leave_one_out", by a formula). See `mercer.Conformal`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        Coefficients of the training rows in the sum of kernels.
    X_fit_ : array or CSR of shape (n, d)
        The training rows, or the kernel matrix itself if it was precomputed.
    alpha_ : float or ndarray
        The penalty used.
    jitter_ : float
        The amount added to the penalty because the matrix was singular to working precision.
    loo_ : LeaveOneOut
        `predictions`, `mean_squared_error` and `generalized` (cross-validation); NaN where a singular matrix leaves a
        row's own prediction undetermined.
    alpha_errors_ : ndarray
        The criterion for each of `alphas`.
    certificate_ : RidgeCertificate
        Primal, dual, gap and residual, recomputed in double precision when first read.
    n_iter_ : int
        Products with the kernel matrix.
    solver_ : str
        The method that was used.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    distance_ : Distance
        With an `approximation`: how far the objective may be from that of the exact function, beyond the gap.
    approximation_ : LandmarksUsed
        With an `approximation`: how many landmarks there are, how they were chosen, and the jitter of their matrix.
        `dual_coef_` and `X_fit_` are then those of the landmarks.
    expansion_ : Expansion
        The function, or the functions of several targets, as sums of kernels.
    trace_ : list of TracePoint
        The progress of the solver.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.

    References
    ----------
    Saunders, Gammerman and Vovk (1998), Ridge regression learning algorithm in dual variables.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0.0, 3.0, 30)[:, None]
    >>> model = KernelRidge(alpha=1e-3, kernel="rbf", gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.5]]).round(3)
    array([0.998])
    >>> model.certificate_.is_optimal()
    True
    """

    if TYPE_CHECKING:
        dual_coef_: Any

        @property
        def certificate_(self) -> RidgeCertificate: ...

    _remedies: ClassVar = {
        Status.OPTIMAL_INACCURATE: (
            "The kernel matrix is zero or close to singular: jitter_ says what was added to alpha; "
            "a larger alpha needs none."
        ),
        Status.ITERATION_LIMIT: "A larger max_iter or rank helps.",
        Status.TIME_LIMIT: "A larger time_limit helps.",
        Status.STALLED: "A larger alpha, rank or tol helps.",
        Status.INTERRUPTED: "Fit again.",
    }

    def __init__(
        self,
        alpha: float | ArrayLike = 1,
        *,
        kernel: "str | Kernel | Callable[..., Any]" = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alphas: ArrayLike | None = None,
        criterion: str = "loo",
        leave_one_out: bool = False,
        solver: str = "auto",
        preconditioner: str = "pivoted",
        rank: int = 500,
        tol: float = 1e-8,
        max_iter: int = -1,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
        approximation: "LowRank | None" = None,
        conformal: "str | Conformal | None" = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alphas = alphas
        self.criterion = criterion
        self.leave_one_out = leave_one_out
        self.solver = solver
        self.preconditioner = preconditioner
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose
        self.approximation = approximation
        self.conformal = conformal

    def fit(self, X: Rows, y: Labels | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
            With an approximation, also `mercer.io.Blocks`, which carry their own targets and weights.
        y : array-like of shape (n,) or (n, n_targets)
        sample_weight : float or array-like of shape (n,), optional
            Multiplies the loss of each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _learn(self, limits: Limits, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
        X, targets, is_flat, sample_weight = self._checked(X, y, sample_weight, limits)
        penalties = penalties_of(self.alpha, targets.shape[1])
        weights = some_weights(sample_weight, len(targets))
        data = self._bound(X, None if sample_weight is None else weights, limits)
        if self.approximation is None:
            self._solve(data, targets, penalties, weights, np.flatnonzero(weights), limits, is_flat)
            self.X_fit_ = X
        else:
            self._solve_restricted(data, targets, penalties, weights, limits)
            self._is_flat = is_flat
            self.dual_coef_ = self.dual_coef_[:, 0] if is_flat else self.dual_coef_

    def _check_parameters(self) -> None:
        self._check_shared_parameters()
        require_number("tol", self.tol, above=0.0)
        require_max_iter(self.max_iter)
        require_count("rank", self.rank)
        require_flag("leave_one_out", self.leave_one_out)
        require_choice("solver", self.solver, shifted_system.METHODS)
        require_choice("criterion", self.criterion, ("loo", "gcv"))
        require_choice("preconditioner", self.preconditioner, PRECONDITIONERS)
        if self.approximation is not None:
            require_plain_ridge(self)
        if self.leave_one_out and self.solver == "cg":
            raise ParameterError('leave_one_out=True needs the factor: solver must be "auto" or "cholesky", got "cg"')

    def _solve(
        self,
        data: "TrainingData",
        targets: FloatArray,
        penalties: FloatArray,
        weights: FloatArray,
        used: IndexArray,
        limits: Limits,
        is_flat: bool,
    ) -> None:
        problem, part = Ridge(targets[used], penalties, np.sqrt(weights[used])), data.subset(used)
        request = self._request(part, limits)
        self._require_room_for(part, request)
        try:
            problem, operator = self._chosen(problem, part, limits)
            solutions, columns = self._solve_targets(operator, problem, request)
        except Stopped:
            # No time for the matrix itself.
            columns = np.zeros(problem.targets.shape)
            status = limits.reached() or Status.INTERRUPTED
            solutions = [(shifted_system.RegularisedSolution(columns, status, self.solver), slice(None))]
        coefficients = np.zeros(targets.shape)
        coefficients[used] = columns * problem.scale[:, None]
        self._keep(data, coefficients, problem, solutions, is_flat)
        self._keep_evidence(data.subset(used), problem, coefficients[used], [found for found, _ in solutions])
        if self.leave_one_out:
            self._keep_leave_one_out(problem, coefficients[used], solutions, used)

    def _solve_restricted(
        self, data: "TrainingData", targets: FloatArray, penalties: FloatArray, weights: FloatArray, limits: Limits
    ) -> None:
        """The function restricted to landmarks."""
        problem, found = restricted_ridge(self, data, Ridge(targets, penalties, np.sqrt(weights)), limits)
        self.dual_coef_ = found.marks.basis.coefficients(found.solution.w)
        self.X_fit_ = self._keep_landmarks(data, found.marks, self.dual_coef_, np.zeros(len(problem.penalties)))
        self.alpha_ = float(problem.penalties[0]) if len(set(problem.penalties)) == 1 else problem.penalties
        self.jitter_, self.distance_, self.solver_ = found.marks.basis.jitter, found.distance, "low rank"
        self.n_iter_, self.status_ = max(1, found.solution.iterations), found.solution.status
        self.trace_, self._evidence = found.solution.trace, Evidence.settled([found.certificate])
        note_passes(self, data)
        self._heed([found.certificate])

    def _require_room_for(self, data: "TrainingData", request: "Request") -> None:
        """Refuse eigenvalues or a factor that are required but do not fit into memory."""
        n = data.shape[0]
        if self.alphas is not None:
            self._require_room(data, ridge_gcv.memory(n), "alphas", 'choose alpha in another way, with solver="cg"')
        if request.method == "cholesky":
            purpose, instead = ("leave_one_out=True", "leave_one_out=False") if self.leave_one_out else _CHOLESKY
            self._require_room(data, request.factor_bytes(n), purpose, f"use {instead}")

    def _chosen(self, problem: Ridge, data: "TrainingData", limits: Limits) -> "tuple[Ridge, SymmetricOperator]":
        """The problem with the penalty chosen by leave-one-out, and its matrix."""
        operator = self._operator(data, limits)
        if not (problem.scale == 1.0).all():
            operator = WeightedOperator(operator, problem.scale)
        if self.alphas is not None:
            choice = ridge_gcv.choose_penalty(operator, problem, penalty_grid(self.alphas), self.criterion, limits)
            problem, self.alpha_errors_ = choice.problem, choice.errors
        return problem, operator

    def _request(self, data: "TrainingData", limits: Limits) -> "Request":
        rng = generator_of(self.random_state) if self.preconditioner == "nystroem" else None
        return shifted_system.Request(
            tol=float(self.tol),
            limits=limits,
            memory=self._budget(data.X),
            method="cholesky" if self.leave_one_out else self.solver,
            rank=int(self.rank),
            rng=rng,
            with_inverse=bool(self.leave_one_out),
            n_jobs=self.n_jobs,
        )

    def _solve_targets(
        self, operator: "SymmetricOperator", problem: Ridge, request: "Request"
    ) -> tuple[list[tuple[Any, Any]], FloatArray]:
        """(solution, its targets) for each distinct penalty, and the coefficients of all."""
        right = problem.right()
        columns, solutions = np.empty(right.shape), []
        for penalty in np.unique(problem.penalties):
            chosen = np.flatnonzero(problem.penalties == penalty)
            found = shifted_system.solve(operator, right[:, chosen], float(penalty), request)
            columns[:, chosen] = found.X
            solutions.append((found, chosen))
        return solutions, columns

    def _keep(
        self, data: "TrainingData", coefficients: FloatArray, problem: Ridge, solutions: Sequence[Any], is_flat: bool
    ) -> None:
        found = [solution for solution, _ in solutions]
        self.dual_coef_ = coefficients[:, 0] if is_flat else coefficients
        self.alpha_ = float(problem.penalties[0]) if len(found) == 1 else problem.penalties
        self.jitter_ = max(solution.jitter for solution in found)
        self.n_iter_ = max(1, *(solution.iterations for solution in found))
        self.solver_ = found[0].method
        self.status_ = Status.worst(solution.status for solution in found)
        self.trace_ = [point for solution in found for point in solution.trace]
        self.expansion_ = self._expansion(data, coefficients, np.zeros(coefficients.shape[1]))
        self._is_flat = is_flat

    def _keep_evidence(
        self, data: "TrainingData", problem: Ridge, coefficients: FloatArray, found: Sequence[Any]
    ) -> None:
        def compute() -> Any:
            limits = limits_in_force()
            fitted = self._operator(data, limits).product(coefficients, limits.stop)
            return problem.certificate(coefficients, fitted)

        known = max(each.known_residual for each in found)
        self._evidence = Evidence(data, Computed(len(coefficients), compute, known))
        self._decide_status()

    def _keep_leave_one_out(
        self, problem: Ridge, coefficients: FloatArray, solutions: Sequence[Any], used: IndexArray
    ) -> None:
        if any(solution.inverse_diagonal is None for solution, _ in solutions):
            return
        inverse = np.empty(coefficients.shape)
        for solution, chosen in solutions:
            inverse[:, chosen] = solution.inverse_diagonal[:, None]
        self.loo_ = LeaveOneOut.of(problem, coefficients, inverse).like(self.dual_coef_, used)
