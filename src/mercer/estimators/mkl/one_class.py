"""What is usual, by several kernels whose weights are learnt."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from mercer._jit.threads import one_blas_thread
from mercer._types import ArrayLike, Labels, Rows
from mercer.estimators.fitting.inputs import unlabelled_input
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.fitting.whole_fit import fitting
from mercer.estimators.mkl.base import WeightedKernelModel
from mercer.estimators.svm.one_class import OneClassSVM

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


class MKLOneClassSVM(WeightedKernelModel, OneClassSVM):  # type: ignore[misc]  # a kernel that is computed
    """One-class support vector machine over several kernels, with weights that are learnt.

    There are no labels to agree with: the weights minimise the objective of the machine, or are all the same.

    Parameters
    ----------
    kernels : list, "columns", "precomputed" or None, default=None
        As for `MKLClassifier`.
    method : {"simple", "lp-norm", "average"}, default="simple"
        As for `MKLClassifier`.
    nu : float, default=0.5
        In (0, 1]: at most this share of the points end outside, and at least this share are support vectors.
    p, normalize, tol, gap_tol, max_iter, time_limit, memory_limit, n_jobs, callbacks, verbose
        As for `MKLClassifier`.

    Attributes
    ----------
    weights_, scales_, kernel_, kernel_names_, certificate_, status_, trace_
        As for `MKLClassifier`.
    offset_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, fit_status_, shape_fit_,
    expansion_, n_features_in_, feature_names_in_
        As for `OneClassSVM`.

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
        X : as for `MKLClassifier`
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How many rows each counts for; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._check_parameters()
        limits = self._limits()
        with fitting(self, limits), one_blas_thread():
            self._fit_rows(unlabelled_input(self, self._items_of(X)), None, sample_weight, limits)
        warn_unless_optimal(self.status_, self.max_iter, self._remedies, self._judge)
        return self
