"""One-class learning by a half-space that contains most of the data."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.estimators.bases.detector import Detector
from mercer.estimators.fitting.parameters import require_flag, require_number
from mercer.estimators.fitting.progress import is_zero
from mercer.problems.svm.one_class import OneClass

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.kernels.base.kernel import Kernel


class OneClassSVM(Detector):
    """The half-space of feature space that holds most of the data, as far from the origin as possible.

    At most a fraction `nu` of the points lie outside, and at least that fraction are support vectors. The parameters up
    to `max_iter` are those of scikit-learn, in the same order and with the same meaning.

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
    tol : float, default=1e-3
        Largest violation of the optimality conditions, on LIBSVM's scale (the sum of the dual coefficients is nu times
        the number of points).
    nu : float, default=0.5
        Share of the points, above 0 and at most 1: an upper bound on those outside, and a lower bound on the support
        vectors.
    shrinking : bool, default=True
        Accepted for compatibility with scikit-learn, without effect: every round examines every row.
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
    approximation : LowRank, optional
        Restricts the machine to landmarks, for many rows: see `mercer.LowRank`. By default the machine is exact.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        Score at the border: ``decision_function = score_samples - offset_``.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data.
    support_vectors_ : array or CSR of shape (n_support, d)
        The support vectors; empty if the kernel is precomputed.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors, none negative.
    intercept_ : ndarray of shape (1,)
        Minus `offset_`.
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
    distance_ : Distance, or a list of them
        With an `approximation`: how far the objective may be from that of the exact machine, beyond the gap.
    approximation_ : LandmarksUsed
        With an `approximation`: how many landmarks there are, how they were chosen, and the jitter of their matrix.
    expansion_ : Expansion
        The function as a sum of kernels.
    trace_ : list of TracePoint
        The rounds of the solver.
    kernel_, kernel_reason_
        The kernel that "auto" chose, and the reason; only if it was requested.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import OneClassSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneClassSVM(nu=0.1, gamma=0.5).fit(X[y == 0])
    >>> model.certificate_.is_optimal(1e-3)
    True
    >>> bool((model.predict(X[y == 0]) == 1).mean() > 0.85), bool((model.predict(X[y > 0]) == -1).all())
    (True, True)
    """

    def __init__(
        self,
        *,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float | None = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        approximation: "LowRank | None" = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.approximation = approximation
        self.max_iter = max_iter
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("nu", self.nu, above=0.0, most=1.0)
        require_flag("shrinking", self.shrinking)

    def _problem(self, _y: Array | None, weights: FloatArray, _data: "TrainingData", _used: IndexArray) -> Any:
        return OneClass(weights, float(self.nu))

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        self.offset_ = -self.intercept_
        if is_zero(self.status_, data, setup, solved):
            self._say(
                f"there is no half-space: with nu={self.nu!r} the origin of the feature space is among the points, so "
                "the optimum is w = 0 and the scores are rounding noise. Use a kernel with positive values only, "
                "such as the RBF, or SVDD, which needs no origin; a larger nu may help too."
            )

    def score_samples(self, X: Rows) -> FloatArray:
        """<w, psi(x)>: the larger, the more x is like the training data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._function(X) - self.intercept_[0]
