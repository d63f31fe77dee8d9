"""Support vector regression: with a given tube, and with one that is found."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.base import RegressorMixin

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.one_function import OneFunctionModel
from mercer.estimators.fitting.auto_strength import AutomaticC, choose_kernel
from mercer.estimators.fitting.inputs import regression_input
from mercer.estimators.fitting.parameters import require_choice, require_number
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.fitting.weights import weighted_C
from mercer.estimators.fitting.whole_fit import fitting
from mercer.kernels.gram.doubled import RepeatedMatrix
from mercer.problems.svm.epsilon_regression import EpsilonRegression, NuRegression
from mercer.problems.svm.soft_margin import BIASES
from mercer.solvers.dual_qp import policy
from mercer.solvers.dual_qp.solve import solve_dual

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.regularization import Regularization
    from mercer.solvers.result import Solution


class _Regression(AutomaticC, RegressorMixin, OneFunctionModel):
    """What both forms do alike."""

    def fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        warn_unless_optimal(self.status_, self.max_iter, self._remedies, self._judge)
        return self

    def _fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
        self._check_parameters()
        limits = self._limits()
        with fitting(self, limits):
            choose_kernel(self, X)
            X, y = regression_input(self, X, y)
            self._choose_C(X, sample_weight, y)
            self._fit_rows(X, y, sample_weight, limits)

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


class SVR(_Regression):
    """Support vector regression with any kernel: fast, and certified on every fit.

    Errors up to `epsilon` cost nothing, larger ones `C` times what they exceed it by. The parameters
    up to `max_iter` are scikit-learn's, in its order, with its meaning.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As for `SVC`, "auto" included.
    degree, gamma, coef0
        Parameters of the kernels given by name; a `Kernel` has its own.
    tol : float, default=1e-3
        Largest violation of the optimality conditions (LIBSVM's rule), in units of y.
    C : float, Regularization or "auto", default=1.0
        Weight of the losses against the norm of the function. ``inf`` lets no point out of the tube. "auto"
        is that of `SVC` times three standard deviations of y.
    epsilon : float, default=0.1
        Half the width of the tube, in units of y.
    shrinking : bool, default=True
        Leave coefficients alone that sit firmly at a bound or at zero, until the end.
    cache_size : float, optional
        Megabytes of kernel rows to keep; a quarter of the free memory by default.
    verbose : bool, default=False
        Print a line a round on standard error.
    max_iter : int, default=-1
        Bound on the pair steps; -1 for none.
    bias : {"free", "penalised", "none"}, default="free"
    gap_tol : float, optional
        Stop at this relative duality gap instead of at `tol`.
    time_limit : float, optional
        Seconds for the whole fit.
    memory_limit : int or str, optional
        Bytes, or a text such as "2GiB"; half of the free memory by default.
    n_jobs : int, optional
        Threads; all cores by default.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, if the number of rows is the same.
    callbacks : list of callables, optional
        Each is called with a `TracePoint` after every round; a true answer ends the fit.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_,
    shape_fit_, n_features_in_, feature_names_in_
        As in scikit-learn.
    status_ : Status
        How the fit ended; anything but OPTIMAL also warns.
    certificate_ : Certificate
        Primal, dual, gap and KKT conditions, recomputed in double precision from the training data
        when first read.
    expansion_ : Expansion
        The function as a sum of kernels.
    trace_ : list of TracePoint

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
        require_choice("bias", self.bias, BIASES)

    def _problem(self, y: Array, weights: FloatArray, _data: "TrainingData", _used: IndexArray) -> Any:
        return EpsilonRegression(y, self._weighted_C(weights), float(self.epsilon), self.bias)


class NuSVR(_Regression):
    """Support vector regression that finds its tube: nu says how many points may be outside.

    At most a share `nu` of the points end outside the tube, and at least that share are support
    vectors. The parameters up to `max_iter` are scikit-learn's, in its order, with its meaning.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1].
    C : float, Regularization or "auto", default=1.0
        Weight of the losses against the norm of the function; "auto" as for `SVR`.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter
        As for `SVR`.
    gap_tol, time_limit, memory_limit, n_jobs, warm_start, callbacks
        As for `SVR`.

    Attributes
    ----------
    epsilon_ : float
        Half the width of the tube that was found.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_,
    shape_fit_, n_features_in_, feature_names_in_
        As in scikit-learn.
    status_, certificate_, expansion_, trace_
        As for `SVR`.

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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("nu", self.nu, above=0.0, most=1.0)

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
