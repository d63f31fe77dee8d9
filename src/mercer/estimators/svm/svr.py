"""Support vector regression with a given tube."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.one_function import OneFunctionModel
from mercer.estimators.conformal.prediction_intervals import PredictsIntervals
from mercer.estimators.fitting.auto_strength import AutomaticC, choose_kernel
from mercer.estimators.fitting.inputs import regression_input
from mercer.estimators.fitting.parameters import require_choice, require_flag, require_number
from mercer.estimators.fitting.weights import weighted_C
from mercer.estimators.low_rank.low_rank import Objective
from mercer.estimators.out_of_core.predicting import RegressesBlocks
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.soft_margin import BIASES

if TYPE_CHECKING:
    from mercer.estimators.conformal.conformal import Conformal
    from mercer.estimators.fitting.training import TrainingData
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.kernels.base.kernel import Kernel
    from mercer.problems.regularization import Regularization
    from mercer.solvers.limits import Limits


class Regression(AutomaticC, RegressesBlocks, RegressorMixin, OneFunctionModel):
    """The common part of both forms of support vector regression."""

    # Whether the kernel may be "auto".
    _chooses_kernel = True

    def fit(self, X: Rows, y: Labels | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
            With an approximation, also `mercer.io.Blocks`, which need not fit in memory.
        y : array-like of shape (n,)
            Omitted for `Blocks`, which carry their own targets and weights.
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _targets_of_blocks(self, X: Any, y: Any, sample_weight: Any, limits: "Limits") -> tuple[Array, Any]:
        # Imported here: it brings all file readers, and few fits need them.
        from mercer.estimators.low_rank.from_blocks import targets_to_learn

        return targets_to_learn(self, X, y, sample_weight, limits)

    def _checked(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> tuple[Rows, Array]:
        choose_kernel(self, X, y, sample_weight)
        X, y = regression_input(self, X, y)
        self._choose_C(X, sample_weight, y)
        return X, y

    def predict(self, X: Rows) -> Array:
        """The value of the function at each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._function(X)

    def _weighted_C(self, weights: FloatArray) -> FloatArray:
        return weighted_C(self._C, np.zeros(len(weights), np.intp), np.ones(1), weights)


class SVR(PredictsIntervals, Regression):
    """Support vector regression with any kernel: fast, and certified on every fit.

    Errors up to `epsilon` cost nothing, and larger ones `C` times the excess. The parameters up to `max_iter` are those
    of scikit-learn, in the same order and with the same meaning.

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
        Largest violation of the optimality conditions (LIBSVM's rule), in units of y.
    C : float, Regularization or "auto", default=1.0
        Weight of the losses against the norm of the function, positive. ``inf`` lets no point leave the tube. "auto"
        chooses it by cross-validation on at most 600 rows, among powers of ten times a unit: three standard deviations
        of y over the mean squared distance of the rows from their centre in feature space, or from the origin if the
        bias is not free.
    epsilon : float, default=0.1
        Half the width of the tube, 0 or more, in units of y.
    shrinking : bool, default=True
        Accepted for compatibility with scikit-learn, without effect: every round examines every row.
    cache_size : float, optional
        Megabytes of kernel rows to keep in memory; by default a quarter of the free memory.
    verbose : bool, default=False
        Whether to print a line to standard error after every round.
    max_iter : int, default=-1
        Largest number of pair steps; -1 sets no limit.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the bias is left out of the penalty ("free"), is the weight of a constant feature of value 1 and
        so part of the penalty ("penalized"), or is absent ("none").
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
    conformal : {None, "split", "cross"} or Conformal, default=None
        Whether to calibrate `predict_interval`, on rows set aside ("split") or left out fold by fold ("cross", ten more
        fits). See `mercer.Conformal`.

    Attributes
    ----------
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
    distance_ : Distance, or a list of them
        With an `approximation`: how far the objective may be from that of the exact machine, beyond the gap.
    approximation_ : LandmarksUsed
        With an `approximation`: how many landmarks there are, how they were chosen, and the jitter of their matrix.
    expansion_ : Expansion
        The function as a sum of kernels.
    trace_ : list of TracePoint
        The rounds of the solver.
    C_, kernel_, kernel_reason_
        The C and the kernel that "auto" chose, and the reason for the kernel; only if "auto" was requested.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import SVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SVR(kernel="linear", C=100.0, epsilon=10.0).fit(X, y)
    >>> model.status_.name, model.certificate_.is_optimal(1e-3)
    ('OPTIMAL', True)
    >>> round(model.score(X, y), 2)
    0.48
    """

    def __init__(
        self,
        *,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: "float | str | Regularization" = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float | None = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        bias: str = "free",
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        approximation: "LowRank | None" = None,
        conformal: "str | Conformal | None" = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.approximation = approximation
        self.conformal = conformal
        self.max_iter = max_iter
        self.bias = bias
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("epsilon", self.epsilon, least=0.0)
        require_flag("shrinking", self.shrinking)
        require_choice("bias", self.bias, BIASES)

    def _problem(self, y: Array, weights: FloatArray, _data: "TrainingData", _used: IndexArray) -> Any:
        return EpsilonRegression(y, self._weighted_C(weights), float(self.epsilon), self.bias)

    def _objectives(self, setup: Any) -> list[Objective] | None:
        (problem,) = setup.problems
        return [Objective(problem.targets, problem.C, "epsilon_insensitive", problem.bias, problem.epsilon)]
