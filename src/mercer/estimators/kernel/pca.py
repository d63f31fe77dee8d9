"""Principal components in the features of a kernel."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array

from mercer._errors import DataError, ParameterError
from mercer._types import FloatArray, Rows
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.inputs import is_precomputed, require_fitted, takes_items
from mercer.estimators.fitting.parameters import require_flag, require_number
from mercer.estimators.fitting.training import TrainingData
from mercer.estimators.kernel.spectral import SpectralMethod
from mercer.estimators.low_rank.kernel_methods import restricted_components
from mercer.kernels.gram.symmetric_operator import EvaluatedOperator
from mercer.solvers.linalg import shifted_system
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.estimators.kernel.spectral import Components
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.kernels.base.kernel import Kernel
    from mercer.solvers.limits import Limits


class KernelPCA(SpectralMethod):
    """Principal components in the features of a kernel.

    The parameters up to `n_jobs` and the fitted attributes are scikit-learn's. New rows are centred
    by the mean of the training features, and their coordinates are Nystroem's extension of the
    eigenvectors.

    Parameters
    ----------
    n_components : int, optional
        Number of components; by default every component whose eigenvalue is more than rounding error.
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
    alpha : float, default=1.0
        Penalty of the ridge regression that learns pre-images.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back from coordinates to rows, by kernel ridge regression.
    eigen_solver : {"auto", "dense", "arpack", "krylov", "randomized"}, default="auto"
        "dense" finds all eigenvalues by LAPACK. "krylov" (or "arpack", whose block form it is) finds the largest to
        `tol`, and switches to "dense" if they are too close together for iterations and there is room. "randomized"
        takes a fixed number of power steps. "auto" uses "dense" for up to 500 rows, or for more than a sixth as many
        components as rows, and otherwise "krylov".
    tol : float, default=0
        Largest residual of an eigenpair relative to the largest eigenvalue; 0 stands for 1e-10.
    max_iter : int, optional
        Largest number of iterations of "krylov"; no limit by default.
    iterated_power : int or "auto", default="auto"
        Number of power steps of "randomized", 0 or more.
    remove_zero_eig : bool, default=False
        Whether to drop components whose eigenvalue is no more than rounding error.
    random_state : int, RandomState or None, default=None
        Seed of the random start; by default the start is always the same.
    copy_X : bool, default=True
        Whether `X_fit_` is a copy of X or a reference to it.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` as the solver proceeds; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print the progress of the solver to standard error.
    approximation : LowRank, optional
        Restricts the components to landmarks, for many rows: see `mercer.LowRank`. By default they are exact.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix, largest first.
    eigenvectors_ : ndarray of shape (n, n_components)
        The corresponding eigenvectors.
    dual_coef_ : ndarray of shape (n, d)
        Coefficients of the pre-images; with `fit_inverse_transform`.
    X_transformed_fit_ : ndarray of shape (n, n_components)
        Coordinates of the training rows; with `fit_inverse_transform`.
    jitter_ : float
        The amount added to `alpha` because the matrix of the coordinates was singular to working precision; with
        `fit_inverse_transform`.
    X_fit_ : array or CSR
        The training rows, or the kernel matrix itself if it was precomputed.
    gamma_ : float
        The gamma used; 1 / n_features unless given.
    rank_ : int
        Rank of the centred matrix; only if it is positive semidefinite and more components were computed than it has.
    certificate_ : EigenCertificate
        Residuals of the pairs, recomputed in double precision when first read.
    solver_ : str
        The method that was used.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL. NOT_CONVEX says that the matrix has a negative
        eigenvalue beyond rounding: components belong to the positive ones. "dense" sees every negative eigenvalue;
        "krylov" and "randomized" see those that show in the diagonal or in the vectors they went through, so they may
        miss a small one. Kernels that are positive semidefinite by construction are not examined. Matrices are
        examined after centring. With `fit_inverse_transform`, it is the worse of this and the status of the regression.
    distance_ : Distance
        With an `approximation`: how much of the variance the components could miss, and as a share of it.
    approximation_ : LandmarksUsed
        With an `approximation`: how many landmarks there are, how they were chosen, and the jitter of their matrix.
        `X_fit_` are then the landmarks.
    expansion_ : Expansion
        The coordinates as sums of kernels.
    trace_ : list of TracePoint
        The progress of the solver.
    n_iter_ : int
        Iterations taken.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.

    References
    ----------
    Schoelkopf, Smola and Mueller (1998), Nonlinear component analysis as a kernel eigenvalue problem.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> angle = np.linspace(0.0, 6.0, 40)
    >>> X = np.c_[np.cos(angle), np.sin(angle)] * np.repeat([1.0, 3.0], 20)[:, None]
    >>> model = KernelPCA(n_components=2, kernel="rbf", gamma=0.5).fit(X)
    >>> model.transform(X).shape
    (40, 2)
    >>> model.certificate_.is_optimal()
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: "str | Kernel | Callable[..., Any]" = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: int | np.random.RandomState | None = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
        approximation: "LowRank | None" = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.callbacks = callbacks
        self.verbose = verbose
        self.approximation = approximation

    _remedies: ClassVar = {
        **SpectralMethod._remedies,
        Status.OPTIMAL_INACCURATE: (
            "The kernel matrix of the coordinates is close to singular: jitter_ says what was added to alpha; "
            "a larger alpha needs none."
        ),
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("alpha", self.alpha, least=0.0)
        for name in ("fit_inverse_transform", "remove_zero_eig", "copy_X"):
            require_flag(name, getattr(self, name))
        if self.approximation is not None and self.fit_inverse_transform:
            raise ParameterError(
                "fit_inverse_transform is not available with an approximation; fit a KernelPCA to a sample instead"
            )
        if self.fit_inverse_transform and (is_precomputed(self.kernel) or takes_items(self.kernel)):
            # The first sentence is scikit-learn's.
            raise ParameterError(
                "Cannot fit_inverse_transform with a precomputed kernel. Only rows of numbers have pre-images "
                "here; pass them, and name their kernel."
            )

    def _fit_rows(self, X: Rows, data: TrainingData, limits: "Limits") -> None:
        if self.approximation is None:
            super()._fit_rows(X, data, limits)
            return
        found = restricted_components(self, data, self._count(data.shape[0]), limits)
        pairs, marks = found.pairs, found.marks
        kept = self._count_kept(pairs.rank, len(pairs.values))
        self.eigenvalues_, self.eigenvectors_ = pairs.values[:kept], pairs.vectors[:, :kept]
        coefficients = marks.basis.coefficients(pairs.directions[:, :kept])
        self.X_fit_ = self._keep_landmarks(data, marks, coefficients, pairs.offsets[:kept])
        self.gamma_ = getattr(data.kernel, "gamma", 1.0 / max(1, getattr(self, "n_features_in_", 1)))
        self.status_, self.n_iter_, self.trace_, self.solver_ = Status.OPTIMAL, 1, [], "low rank"
        self.distance_, self._evidence = found.distance, Evidence.settled([pairs.certificate])
        self._missing, self._n_features_out = None, kept
        self._heed([pairs.certificate])

    def _count_kept(self, rank: int, found: int) -> int:
        return rank if self.remove_zero_eig or self.n_components is None else found

    def _set_attributes(self, values: FloatArray, vectors: FloatArray) -> None:
        self.eigenvalues_, self.eigenvectors_ = values, vectors

    def _keep(self, X: Rows, data: TrainingData, found: "Components", limits: "Limits") -> None:
        super()._keep(X, data, found, limits)
        if self.copy_X and hasattr(X, "copy"):
            self.X_fit_ = X.copy()
        self.gamma_ = getattr(data.kernel, "gamma", 1.0 / max(1, getattr(self, "n_features_in_", 1)))
        vars(cast(Any, self)).pop("_pre_images", None)
        if self.fit_inverse_transform:
            self._learn_pre_images(X, data.kernel, limits.unwatched().with_max_iter(-1))

    def _learn_pre_images(self, X: Rows, kernel: "Kernel", limits: "Limits") -> None:
        """Ridge regression from coordinates to rows, in the same kernel (Bakir, Weston & Schoelkopf 2003)."""
        coordinates = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
        data = TrainingData(kernel, coordinates)
        operator = EvaluatedOperator(kernel, data.prepare, self.n_jobs)
        request = shifted_system.Request(1e-8, limits, self._budget(X), n_jobs=self.n_jobs)
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        found = shifted_system.solve(operator, rows, float(self.alpha), request)
        self.dual_coef_, self.X_transformed_fit_ = found.X, coordinates
        self.jitter_, self.status_ = found.jitter, Status.worst([self.status_, found.status])
        self._pre_images = self._expansion(data, found.X, np.zeros(rows.shape[1]))

    def fit_transform(self, X: Rows, y: Any = None) -> FloatArray:
        """Fit, and return the coordinates of the training rows, from the eigenvectors themselves.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : ignored

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        self.fit(X)
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    @property
    def inverse_transform(self) -> Callable[[Rows], FloatArray]:
        """``inverse_transform(X)``: rows (n, d) whose features are close to those with coordinates X (n, n_components).

        Available after a fit with ``fit_inverse_transform=True``; otherwise ``hasattr`` is False, and a call says why.
        """
        require_fitted(self)
        if not hasattr(self, "_pre_images"):
            raise NotFittedError("pre-images were not learnt; fit again with fit_inverse_transform=True")
        return self._rows_near

    def _rows_near(self, X: Rows) -> FloatArray:
        X = check_array(X, dtype=np.float64, order="C", ensure_min_features=0)
        if X.shape[1] != len(self.eigenvalues_):
            raise DataError(f"X must have {len(self.eigenvalues_)} coordinates, got {X.shape[1]}")
        return self._pre_images.values(X, n_jobs=self.n_jobs)
