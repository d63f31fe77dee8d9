"""Regression over several kernels whose weights are learnt."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.one_function import OneFunctionModel, OneProblem
from mercer.estimators.fitting.inputs import regression_input
from mercer.estimators.fitting.parameters import require_choice, require_number
from mercer.estimators.fitting.weights import weighted_C
from mercer.estimators.low_rank.low_rank import Objective
from mercer.estimators.mkl.base import WeightedKernelModel
from mercer.estimators.mkl.cv import Fold, less_squared_error
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.soft_margin import BIASES

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.kernels.base.kernel import Kernel
    from mercer.problems.regularization import Regularization


class MKLRegressor(RegressorMixin, WeightedKernelModel, OneFunctionModel):
    """Support vector regression over several kernels, with weights that are learnt.

    Parameters
    ----------
    kernels : list, "columns", "precomputed" or None, default=None
        Base kernels: a list of names, expressions, kernels from `mercer.kernels` or functions; "columns", one for each
        column of a table, chosen by its contents (`Columns.infer`); or "precomputed", where X is a list of kernel
        matrices or an array of shape (n_kernels, n, n_train). None stands for the linear kernel and Gaussians of five
        widths around ``gamma="scale"``.
    method : {"simple", "lp-norm", "alignment", "centered_alignment", "cv", "average"}, default="simple"
        - "simple": the weights with sum 1 that minimise the objective of the machine; few kernels remain (SimpleMKL).
        - "lp-norm": the same for weights of `p`-norm 1; all kernels remain (Kloft et al. 2011).
        - "alignment": largest alignment with the centred targets (Cristianini et al. 2002).
        - "centered_alignment": the same after centring the kernels (Cortes et al. 2012).
        - "cv": the weights that do best on rows left out, one kernel after the other.
        - "average": equal weights.
    C : float or Regularization, default=1.0
        Weight of the losses against the norm of the function, positive; `Regularization` offers the other ways
        of writing it.
    epsilon : float, default=0.1
        Half the width of the tube, 0 or more, in units of y.
    p : float, default=2.0
        For "lp-norm": the norm of the weights, 1 or more.
    normalize : {"variance", "trace", None}, default="variance"
        The divisor of each kernel: the variance of its features (Kloft et al. 2011), the mean of k(x, x),
        or nothing. A constant kernel has no variance and is divided by the mean; a kernel that is zero is left
        as it is.
    cv : int, splitter or iterable, default=5
        For "cv": a number of folds, two or more, to which rows are dealt according to their contents; or a scikit-learn
        splitter; or an iterable of splits. Machines learn from the first part of each split and are judged by the
        second. Parameters taken from the data, and `normalize`, are taken once, from all rows.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the bias is left out of the penalty ("free"), is the weight of a constant feature of value 1 and
        so part of the penalty ("penalized"), or is absent ("none").
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
    approximation : LowRank, optional
        Restricts the machines to landmarks, for many rows: see `mercer.LowRank`. Weights are learnt over the same
        landmarks, with coordinates of each kernel by itself. By default everything is exact.
    random_state : int, RandomState or None, default=None
        For "cv": a seed deals the rows to the folds in another way. Nothing else is random.
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
    weights_certificate_ : WeightedCertificate
        With an `approximation`: that of the weights, for which each kernel has coordinates of its own;
        `certificate_` is then that of the machines with these weights.
    distance_ : Distance or list of Distance
        With an `approximation`: how far the objective may be from that of the exact machine with the same weights,
        beyond the gap.
    approximation_ : LandmarksUsed
        With an `approximation`: how many landmarks there are, how they were chosen, and the jitter of their matrix.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    trace_ : list of WeightPoint
        The weights with which the machine was solved, in order.
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
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import MKLRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = MKLRegressor("columns", C=100.0, epsilon=10.0).fit(X, y)
    >>> ranked = sorted(zip(model.weights_, model.kernel_names_), reverse=True)
    >>> [name for _, name in ranked[:2]]
    ['bmi', 's5']
    """

    _methods = ("cv", "alignment", "centered_alignment", "average", "simple", "lp-norm")

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
        approximation: "LowRank | None" = None,
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
        self.approximation = approximation
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(
        self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Learn kernel weights and a function from the rows of X and their targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), a table, items, or (n_kernels, n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part.
        groups : array-like of shape (n,), optional
            For "cv": the group of each row, for a `cv` that keeps groups together.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight, groups)

    def _checked(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> tuple[Rows, Array]:
        return regression_input(self, X, y)

    def predict(self, X: Rows) -> Array:
        """The value of the function at each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), a table, items, or (n_kernels, n, n_train) if precomputed

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

    def _objectives(self, setup: Any) -> list[Objective]:
        (problem,) = setup.problems
        return [Objective(problem.targets, problem.C, "epsilon_insensitive", problem.bias, problem.epsilon)]

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
