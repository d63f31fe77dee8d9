"""Support vector regression with a tube that is found."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.estimators.conformal.prediction_intervals import PredictsIntervals
from mercer.estimators.fitting.parameters import require_flag, require_number
from mercer.estimators.svm.svr import Regression
from mercer.kernels.gram.doubled import RepeatedMatrix
from mercer.problems.svm.epsilon_regression import NuRegression
from mercer.solvers.dual_qp import policy
from mercer.solvers.dual_qp.solve import solve_dual

if TYPE_CHECKING:
    from mercer.estimators.conformal.conformal import Conformal
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.regularization import Regularization
    from mercer.solvers.result import Solution


class NuSVR(PredictsIntervals, Regression):
    """Support vector regression that finds its tube: nu says how many points may lie outside.

    At most a fraction `nu` of the points lie outside the tube, and at least that fraction are support vectors. The
    parameters up to `max_iter` are those of scikit-learn, in the same order and with the same meaning.

    Parameters
    ----------
    nu : float, default=0.5
        Share of the points, above 0 and at most 1: an upper bound on those outside the tube, and a lower bound on the
        support vectors.
    C : float, Regularization or "auto", default=1.0
        Weight of the losses against the norm of the function, positive and finite. "auto" chooses it by
        cross-validation on at most 600 rows, among powers of ten times a unit: three standard deviations of y over the
        mean squared distance of the rows from their centre in feature space.
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
    tol : float, default=1e-3
        Largest violation of the optimality conditions (LIBSVM's rule), in units of y.
    cache_size : float, optional
        Megabytes of kernel rows to keep in memory; by default a quarter of the free memory.
    verbose : bool, default=False
        Whether to print a line to standard error after every round.
    max_iter : int, default=-1
        Largest number of pair steps; -1 sets no limit.
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
    conformal : {None, "split", "cross"} or Conformal, default=None
        Whether to calibrate `predict_interval`, on rows set aside ("split") or left out fold by fold ("cross", ten more
        fits). See `mercer.Conformal`.

    Attributes
    ----------
    epsilon_ : float
        Half the width of the tube that was found.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data.
    support_vectors_ : array or CSR of shape (n_support, d)
        The support vectors; empty if the kernel is precomputed.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors: positive where the target lies above the tube, negative where it
        lies below.
    intercept_ : ndarray of shape (1,)
        Bias of the function.
    coef_ : ndarray or CSR of shape (1, d)
        Weights of the features; only for the linear kernel.
    n_iter_ : int
        Steps taken.
    fit_status_ : int
        0 if `status_` is OPTIMAL, otherwise 1.
    shape_fit_ : tuple of int
        Shape of the training data.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    certificate_ : Certificate
        Primal and dual objective, their gap and the KKT conditions, recomputed in double precision from the
        training data when first read.
    expansion_ : Expansion
        The function as a sum of kernels.
    trace_ : list of TracePoint
        The rounds of the solver.
    C_, kernel_, kernel_reason_
        The C and the kernel that "auto" chose, and the reason for the kernel; only if "auto" was requested.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import NuSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NuSVR(nu=0.25, kernel="linear", C=100.0).fit(X, y)
    >>> outside = np.abs(y - model.predict(X)) > model.epsilon_ + 1e-3
    >>> bool(outside.mean() <= 0.25), bool(len(model.support_) / len(y) >= 0.25)
    (True, True)
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: "float | str | Regularization" = 1.0,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float | None = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        conformal: "str | Conformal | None" = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.conformal = conformal

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("nu", self.nu, above=0.0, most=1.0)
        require_flag("shrinking", self.shrinking)

    def _problem(self, y: Array, weights: FloatArray, _data: "TrainingData", _used: IndexArray) -> Any:
        C = self._weighted_C(weights)
        if not np.isfinite(C).all():
            raise ParameterError(f"C must be finite where nu is given, got {self.C!r}; SVR takes C=inf")
        return NuRegression(y, C, float(self.nu))

    def _solve_one(  # type: ignore[override]  # of copies of the rows, from a start that is folded out
        self, problem: NuRegression, matrix: "KernelMatrix", *, start: FloatArray | None, **options: Any
    ) -> "Solution":
        copies = cast("KernelMatrix", RepeatedMatrix(matrix))
        if copies.n <= policy.EXACT_SIZE:
            copies = copies.stored(options["limits"].stop)
        start = None if start is None else problem.copies(start)
        found = solve_dual(problem.dual(), copies, start=start, **options)
        return replace(found, beta=problem.folded(found.beta), gradient=found.gradient[: matrix.n])

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        self.epsilon_ = setup.problems[0].found_epsilon(solved.solutions[0].bias)
