"""Regression over several kernels whose weights are learnt."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer._jit.threads import one_blas_thread
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.one_function import OneFunctionModel, OneProblem
from mercer.estimators.fitting.inputs import regression_input
from mercer.estimators.fitting.parameters import require_choice, require_number
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.fitting.weights import weighted_C
from mercer.estimators.fitting.whole_fit import fitting
from mercer.estimators.mkl.base import WeightedKernelModel
from mercer.estimators.mkl.cv import Fold, less_squared_error
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.soft_margin import BIASES

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.problems.regularization import Regularization


class MKLRegressor(RegressorMixin, WeightedKernelModel, OneFunctionModel):
    """Support vector regression over several kernels, with weights that are learnt.

    Parameters
    ----------
    kernels : list, "columns", "precomputed" or None, default=None
        As for `MKLClassifier`.
    method : {"simple", "lp-norm", "alignment", "centred_alignment", "cv", "average"}, default="simple"
        As for `MKLClassifier`; alignment is with the centred targets.
    C : float or Regularization, default=1.0
    epsilon : float, default=0.1
        Half the width of the tube, in units of y.
    p, normalize, cv, tol, gap_tol, max_iter, time_limit, memory_limit, n_jobs, random_state, callbacks, verbose
        As for `MKLClassifier`.
    bias : {"free", "penalised", "none"}, default="free"

    Attributes
    ----------
    weights_, scales_, kernel_, kernel_names_, certificate_, status_, trace_
        As for `MKLClassifier`.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, fit_status_, shape_fit_, expansion_,
    n_features_in_, feature_names_in_
        As for `SVR`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import MKLRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = MKLRegressor("columns", C=100.0, epsilon=10.0).fit(X, y)
    >>> ranked = sorted(zip(model.weights_, model.kernel_names_), reverse=True)
    >>> [name for _, name in ranked[:2]]
    ['bmi', 's5']
    """

    _methods = ("cv", "alignment", "centred_alignment", "average", "simple", "lp-norm")

    def __init__(
        self,
        kernels: "Sequence[str | Kernel | Callable[..., Any]] | str | None" = None,
        *,
        method: str = "simple",
        C: "float | Regularization" = 1.0,
        epsilon: float = 0.1,
        p: float = 2.0,
        normalize: str | None = "variance",
        cv: Any = 5,
        bias: str = "free",
        tol: float = 1e-3,
        gap_tol: float = 1e-3,
        max_iter: int = -1,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernels = kernels
        self.method = method
        self.C = C
        self.epsilon = epsilon
        self.p = p
        self.normalize = normalize
        self.cv = cv
        self.bias = bias
        self.tol = tol
        self.gap_tol = gap_tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(
        self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Learn kernel weights and a function from the rows of X and their targets.

        Parameters
        ----------
        X : as for `MKLClassifier`
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part.
        groups : array-like of shape (n,), optional
            Of "cv", for a `cv` that keeps groups together.

        Returns
        -------
        self
        """
        self._check_parameters()
        limits = self._limits()
        with fitting(self, limits), one_blas_thread():
            self._groups = groups
            X, y = regression_input(self, self._items_of(X), y)
            self._fit_rows(X, y, sample_weight, limits)
        self._warn_of_folds()
        warn_unless_optimal(self.status_, self.max_iter, self._remedies, self._judge)
        return self

    def predict(self, X: Rows) -> Array:
        """The value of the function at each row of X.

        Parameters
        ----------
        X : as in `fit`, or (n_kernels, n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._function(X)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("epsilon", self.epsilon, least=0.0)
        require_choice("bias", self.bias, BIASES)

    def _problem(self, y: Array, weights: FloatArray, _data: "TrainingData", _used: IndexArray) -> Any:
        C = weighted_C(self.C, np.zeros(len(weights), np.intp), np.ones(1), weights)
        return EpsilonRegression(y, C, float(self.epsilon), self.bias)

    def _answers(self, setup: Any) -> Array:
        """The target of each row; 0 for rows that take no part."""
        y = np.zeros(len(setup.codes))
        y[setup.tasks[0].indices] = setup.problems[0].targets
        return y

    def _targets(self, setup: Any) -> FloatArray:
        y = self._answers(setup)
        return (y - np.average(y, weights=self._counts))[:, None]

    def _fold(self, setup: Any, copies: FloatArray, held: IndexArray) -> Fold | None:
        (problem,), (task,) = setup.problems, setup.tasks
        times = copies[task.indices]
        kept = times > 0
        if not kept.any():
            return None
        C = (problem.C * times)[kept]
        part = EpsilonRegression(problem.targets[kept], C, problem.epsilon, problem.bias)
        score = less_squared_error(self._answers(setup), self._counts)
        return Fold(held, OneProblem(part, task.indices[kept], len(setup.codes)), score)
