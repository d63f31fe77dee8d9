"""Linear support vector regression, without a kernel."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, Labels, Rows
from mercer.estimators.fitting.inputs import prediction_rows, regression_rows
from mercer.estimators.fitting.parameters import require_number
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.fitting.weights import target_weights, total_weight
from mercer.estimators.fitting.whole_fit import fitting
from mercer.estimators.linear.base import LinearEstimator
from mercer.problems.linear.machine import LinearTube
from mercer.problems.losses.residual_losses import TUBE_LOSSES

if TYPE_CHECKING:
    from mercer.problems.regularization import Regularization


class LinearSVR(RegressorMixin, LinearEstimator):
    """Linear support vector regression: fast, exact, and certified on every fit.

    The parameters up to `max_iter` are scikit-learn's, with its meaning but for `tol`.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half-width of the tube within which an error costs nothing.
    tol, C, fit_intercept, intercept_scaling, dual, verbose, random_state, max_iter
        As in `LinearSVC`.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    bias, solver, gap_tol, time_limit, n_jobs, callbacks, warm_start
        As in `LinearSVC`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    status_, certificate_, trace_
        As in `LinearSVC`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=100.0, epsilon=5.0).fit(X, y)
    >>> model.status_.name, model.coef_.shape
    ('OPTIMAL', (10,))
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: "float | Regularization" = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        max_iter: int = 1000,
        bias: str = "penalised",
        solver: str = "auto",
        gap_tol: float | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        warm_start: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.bias = bias
        self.solver = solver
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.warm_start = warm_start

    def fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._check_shared(TUBE_LOSSES)
        require_number("epsilon", self.epsilon)
        if self.epsilon < 0:
            raise ParameterError(f"epsilon must not be negative, got {self.epsilon!r}")
        method = self._method(primal_exists=self.loss == "squared_epsilon_insensitive")
        limits = self._limits()
        with fitting(self, limits):
            X, y = regression_rows(self, X, y)
            weights = target_weights(sample_weight, len(y))
            C = self._C_of_rows(total_weight(weights), weights)
            problem = LinearTube(y, C, self.loss, self._bias, float(self.intercept_scaling), float(self.epsilon))
            (found,) = self._solve(X, [problem], self._by_machine(method, limits, self._goal))
            self.coef_, self.intercept_ = found.w, np.array([found.bias])
        warn_unless_optimal(self.status_, self.max_iter)
        return self

    def predict(self, X: Rows) -> Array:
        """The value predicted for each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        X = prediction_rows(self, X)
        return X @ self.coef_ + self.intercept_[0]
