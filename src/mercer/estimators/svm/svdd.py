"""Support vector data description: one-class learning by a ball."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import DataError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.estimators.bases.detector import Detector
from mercer.estimators.fitting.given_matrix import evaluate
from mercer.estimators.fitting.inputs import prediction_input, require_fitted
from mercer.estimators.fitting.parameters import require_number
from mercer.estimators.fitting.support import linear_coefficients
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.vector.linear import Linear
from mercer.problems.svm.one_class import SoftBall

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.base.kernel import Kernel


# Relative difference below which diagonal entries of a given matrix are equal.
SAME = 1e-10


class SVDD(Detector):
    """Support vector data description: the smallest ball in feature space that holds most of the data.

    At most a fraction `nu` of the points lie outside, and at least that fraction are support vectors;
    ``nu=0`` is the smallest ball around all of them. For kernels whose k(x, x) is the same for all
    x, such as the Gaussian, it is equivalent to the half-space of `OneClassSVM`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" or "auto"), an
        expression such as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function that
        returns the kernel matrix of two sets of rows. "auto" chooses a kernel from the data; `kernel_` and
        `kernel_reason_` say which and why. A precomputed matrix must have equal diagonal entries, because it does not
        hold k(x, x) for new points.
    degree : int, default=3
        Degree of the kernel "poly", 0 or more; other kernels ignore it.
    gamma : float, "scale", "auto" or "median", default="scale"
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features, and
        "median" is one over the median squared distance between rows (for "laplacian", the median absolute
        distance).
    coef0 : float, default=0.0
        Constant term of the kernels "poly" and "sigmoid".
    tol : float, default=1e-6
        Largest violation of the optimality conditions, in units of squared distances.
    nu : float, default=0.1
        Share of the points, from 0 to 1: an upper bound on those outside the ball, and a lower bound on the support
        vectors.
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

    Attributes
    ----------
    radius_ : float
        Radius of the ball in feature space.
    center_ : ndarray of shape (n_features,)
        Centre of the ball; only for the linear kernel. For other kernels it is the sum of the support vectors in
        feature space, each times its entry of `dual_coef_`.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data.
    support_vectors_ : array or CSR of shape (n_support, d)
        The support vectors; empty if the kernel is precomputed.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors, which sum to 1.
    intercept_ : ndarray of shape (1,)
        Bias of the function.
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
    offset_ : float
        Minus the squared radius: ``decision_function = score_samples - offset_``.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    certificate_ : Certificate
        Primal and dual objective, their gap and the KKT conditions, recomputed in double precision from the
        training data when first read. The primal objective is the squared radius plus the cost of the points
        outside.
    expansion_ : Expansion
        The function as a sum of kernels.
    trace_ : list of TracePoint
        The rounds of the solver.
    kernel_, kernel_reason_
        The kernel that "auto" chose, and the reason; only if it was requested.

    Examples
    --------
    Three corners of a square: the centre is the middle of the diagonal.

    >>> from mercer import SVDD
    >>> ball = SVDD(kernel="linear", nu=0.0).fit([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> ball.center_.round(6), round(ball.radius_, 6)
    (array([1., 1.]), 1.414214)
    """

    def __init__(
        self,
        *,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-6,
        nu: float = 0.1,
        cache_size: float | None = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("nu", self.nu, least=0.0, most=1.0)

    def _problem(self, _y: Array | None, weights: FloatArray, data: "TrainingData", used: IndexArray) -> Any:
        diag = data.diagonal(used)
        if isinstance(data.kernel, Precomputed) and self._kernel_is_given and np.ptp(diag) > SAME * np.abs(diag).max():
            raise DataError(
                "SVDD needs k(x, x) of new points, which a precomputed matrix does not hold unless all its "
                "diagonal entries are equal; normalise it, or pass the kernel"
            )
        return SoftBall.with_share(diag, weights, float(self.nu))

    @property
    def _kernel_is_given(self) -> bool:
        """Whether the kernel is a matrix rather than a user's function."""
        return not callable(self.kernel) or isinstance(self.kernel, Precomputed)

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        centre = data.squared_norm(self.support_, solved.support.dual_coef[0], self.n_jobs)
        squared = setup.problems[0].squared_radius(float(self.intercept_[0]), centre)
        self.radius_, self.offset_, self._centre = float(np.sqrt(squared)), -squared, centre
        self._constant = float(data.diagonal(self.support_[:1])[0]) if isinstance(data.kernel, Precomputed) else None

    @property
    def coef_(self) -> FloatArray:
        """None: the border is a sphere."""
        raise AttributeError("SVDD has no coef_: the border is a sphere; center_ and radius_ describe it")

    @property
    def center_(self) -> FloatArray:
        """The centre, for a linear kernel."""
        require_fitted(self)
        if not isinstance(self.expansion_.kernel, Linear):
            raise AttributeError("center_ is only available when using a linear kernel")
        return np.asarray(linear_coefficients(self.expansion_)).ravel()

    def score_samples(self, X: Rows) -> FloatArray:
        """Minus the squared distance from the centre.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        return 2.0 * (self._function(X) - self.intercept_[0]) - self._norms(X) - self._centre

    def _norms(self, X: Rows) -> Any:
        """k(x, x) of each row."""
        X = prediction_input(self, X)
        if self._items is not None:
            return np.array([evaluate(cast(Any, self.kernel), X[i : i + 1], X[i : i + 1])[0, 0] for i in range(len(X))])
        if self._constant is not None:
            return self._constant
        return self.expansion_.kernel.diag(X)
