"""One-class learning with several kernels whose weights are learnt."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from mercer._types import ArrayLike, Labels, Rows
from mercer.estimators.mkl.base import WeightedKernelModel
from mercer.estimators.svm.one_class import OneClassSVM

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


class MKLOneClassSVM(WeightedKernelModel, OneClassSVM):  # type: ignore[misc]  # a kernel that is computed
    """One-class support vector machine over several kernels, with weights that are learnt.

    Without labels to agree with, the weights either minimise the objective of the machine or are all equal.

    Parameters
    ----------
    kernels : list, "columns", "precomputed" or None, default=None
        Base kernels: a list of names, expressions, kernels from `mercer.kernels` or functions; "columns", one for each
        column of a table, chosen by its contents (`Columns.infer`); or "precomputed", where X is a list of kernel
        matrices or an array of shape (n_kernels, n, n_train). None stands for the linear kernel and Gaussians of five
        widths around ``gamma="scale"``.
    method : {"simple", "lp-norm", "average"}, default="simple"
        - "simple": the weights with sum 1 that minimise the objective of the machine; few kernels remain (SimpleMKL).
        - "lp-norm": the same for weights of `p`-norm 1; all kernels remain (Kloft et al. 2011).
        - "average": equal weights.
    nu : float, default=0.5
        Above 0 and at most 1: at most this share of the points lie outside, and at least this share are support
        vectors.
    p : float, default=2.0
        For "lp-norm": the norm of the weights, 1 or more.
    normalize : {"variance", "trace", None}, default="variance"
        The divisor of each kernel: the variance of its features (Kloft et al. 2011), the mean of k(x, x),
        or nothing. A constant kernel has no variance and is divided by the mean; a kernel that is zero is left
        as it is.
    tol : float, default=1e-3
        Largest violation of the optimality conditions of the machine, positive. "simple" and "lp-norm" continue with a
        smaller one if `gap_tol` requires it.
    gap_tol : float, default=1e-3
        For "simple" and "lp-norm": the duality gap, of the machine and weights together, at which to stop, as a
        share of the primal objective; positive.
    max_iter : int, default=-1
        For "simple" and "lp-norm": the largest number of times the machine is solved with new weights; -1 sets no
        limit.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory. If the
        matrices of all kernels do not fit, weighted sums are computed from the data, tile by tile, whenever
        they are needed.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    callbacks : list of callables, optional
        Functions called with a `WeightPoint` for every set of weights with which the machine was solved; a
        true return value ends the fit.
    verbose : bool, default=False
        Whether to print a line to standard error for every set of weights.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Weights of the normalised kernels, with sum 1 or, for "lp-norm", with p-norm 1.
    scales_ : ndarray of shape (n_kernels,)
        The divisor of each kernel.
    kernel_ : Kernel
        The weighted sum of the kernels whose weight is not zero.
    kernel_names_ : list of str
        Names of the columns for "columns", otherwise the kernels as they were given.
    certificate_ : WeightedCertificate
        Primal and dual objective and their gap, recomputed in double precision from the training data when
        first read; for "simple" and "lp-norm" of the machine and weights together.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    trace_ : list of WeightPoint
        The weights with which the machine was solved, in order.
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
    n_iter_ : int
        Number of times the machine was solved with new weights.
    fit_status_ : int
        0 if `status_` is OPTIMAL, otherwise 1.
    shape_fit_ : tuple of int
        Shape of the training data.
    expansion_ : Expansion
        The function as a sum of kernels.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import MKLOneClassSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLOneClassSVM("columns", nu=0.1, method="lp-norm").fit(X[y == 0])
    >>> bool((model.predict(X[y == 0]) == 1).mean() > 0.85), bool((model.predict(X[y > 0]) == -1).mean() > 0.9)
    (True, True)
    """

    _methods = ("average", "simple", "lp-norm")

    def __init__(
        self,
        kernels: "Sequence[str | Kernel | Callable[..., Any]] | str | None" = None,
        *,
        method: str = "simple",
        nu: float = 0.5,
        p: float = 2.0,
        normalize: str | None = "variance",
        tol: float = 1e-3,
        gap_tol: float = 1e-3,
        max_iter: int = -1,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernels = kernels
        self.method = method
        self.nu = nu
        self.p = p
        self.normalize = normalize
        self.tol = tol
        self.gap_tol = gap_tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(self, X: Rows, y: Labels | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn kernel weights, and where the rows of X are.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), a table, items, or (n_kernels, n, n) if precomputed
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How many rows each counts for; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, None, sample_weight)
