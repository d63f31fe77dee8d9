"""Least squares in the features of a kernel, without a penalty."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from mercer._jit.threads import Stopped
from mercer._types import ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_method import KernelRegression
from mercer.estimators.conformal.prediction_intervals import PredictsIntervals
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.certifiers import Computed
from mercer.estimators.fitting.inputs import multi_target_input
from mercer.estimators.fitting.parameters import require_number
from mercer.estimators.fitting.weights import some_weights
from mercer.kernels.gram.symmetric_operator import WeightedOperator
from mercer.problems.kernel_methods.least_squares import certificate
from mercer.solvers.limits import Limits, limits_in_force
from mercer.solvers.linalg import pseudo_inverse
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.estimators.conformal.conformal import Conformal
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.problems.kernel_methods.least_squares import LeastSquaresCertificate


# An eigenvalue this far below zero, relative to the largest, is not rounding.
_NEGATIVE = -1e-8


class KernelLeastSquares(PredictsIntervals, KernelRegression):
    """The function of least norm among those that fit the targets best.

    `KernelRidge` without a penalty: if the kernel matrix has full rank, the function goes through every target; if not,
    it fits as well as it can, and `rank_` says with how many dimensions.

    Parameters
    ----------
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
    rcond : float, optional
        Eigenvalues below this share of the largest count as zero; 0 or more and below 1, by default n times 2.2e-16. A
        larger value smooths, as a penalty does.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default. The eigenvalues are found in a single step, which is not
        interrupted.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory. If there is
        no room for the eigenvalues, `fit` raises an error.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` as the solver proceeds; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print the progress of the solver to standard error.
    conformal : {None, "split", "cross", "leave_one_out"} or Conformal, default=None
        Whether to calibrate `predict_interval`, on rows set aside ("split"), left out fold by fold ("cross", ten more
        fits) or left out one by one ("leave_one_out", by a formula). See `mercer.Conformal`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        Coefficients of the training rows in the sum of kernels.
    rank_ : int
        Number of eigenvalues of the kernel matrix that were kept.
    X_fit_ : array or CSR of shape (n, d)
        The training rows, or the kernel matrix itself if it was precomputed.
    certificate_ : LeastSquaresCertificate
        Loss, norm, rank and the residual of the normal equations.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    expansion_ : Expansion
        The function, or the functions of several targets, as sums of kernels.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelLeastSquares
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> line = KernelLeastSquares(kernel="poly", degree=1, gamma=1.0).fit(X, [1.0, 3.0, 5.0, 7.0])
    >>> line.rank_, line.predict([[10.0]]).round(6)
    (2, array([21.]))
    """

    if TYPE_CHECKING:
        dual_coef_: Any

        @property
        def certificate_(self) -> LeastSquaresCertificate: ...

    _remedies: ClassVar = {
        Status.TIME_LIMIT: "A larger time_limit helps.",
        Status.INTERRUPTED: "Fit again.",
    }

    def __init__(
        self,
        *,
        kernel: "str | Kernel | Callable[..., Any]" = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        rcond: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
        conformal: "str | Conformal | None" = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.rcond = rcond
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose
        self.conformal = conformal

    def fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,) or (n, n_targets)
        sample_weight : float or array-like of shape (n,), optional
            Multiplies the loss of each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _check_parameters(self) -> None:
        self._check_shared_parameters()
        if self.rcond is not None:
            require_number("rcond", self.rcond, least=0.0, below=1.0)

    def _learn(self, limits: Limits, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
        X, targets, is_flat = multi_target_input(self, X, y)
        weights = some_weights(sample_weight, len(targets))
        used = np.flatnonzero(weights)
        data = self._training_data(X, None if sample_weight is None else weights)
        self._solve(data, targets, np.sqrt(weights), used, limits)
        self.dual_coef_ = self.dual_coef_[:, 0] if is_flat else self.dual_coef_
        self.X_fit_, self._is_flat = X, is_flat

    def _solve(
        self, data: "TrainingData", targets: FloatArray, scale: FloatArray, used: IndexArray, limits: Limits
    ) -> None:
        part, scale, wanted = data.subset(used), scale[used], targets[used]
        instead = 'use KernelRidge(solver="cg") with a small alpha'
        self._require_room(part, pseudo_inverse.memory(len(used)), "KernelLeastSquares", instead)
        coefficients = cast(FloatArray, np.zeros(targets.shape))
        try:
            operator = WeightedOperator(self._operator(part, limits), scale)
            found = pseudo_inverse.solve(operator, wanted * scale[:, None], self.rcond, limits.stop)
        except Stopped:
            found = pseudo_inverse.LeastNorm(np.zeros(wanted.shape), np.zeros(0), 0.0)
            self.status_ = limits.reached() or Status.INTERRUPTED
        else:
            self.status_ = Status.NOT_CONVEX if found.smallest < _NEGATIVE else Status.OPTIMAL
        coefficients[used] = found.X * scale[:, None]
        self.rank_ = len(found.eigenvalues)
        self.dual_coef_ = coefficients
        self.expansion_ = self._expansion(data, coefficients, np.zeros(coefficients.shape[1]))
        compute = self._certificate_of(part, scale, wanted, coefficients[used], found)
        self._evidence = Evidence(data, Computed(len(used), compute))
        self._decide_status()

    def _certificate_of(
        self, data: "TrainingData", scale: FloatArray, targets: FloatArray, coefficients: FloatArray, found: Any
    ) -> Callable[[], Any]:
        def compute() -> Any:
            operator = WeightedOperator(self._operator(data, limits_in_force()), scale)
            return certificate(operator, scale, targets, coefficients, found.eigenvalues, found.cutoff)

        return compute
