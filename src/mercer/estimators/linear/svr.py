"""Linear support vector regression, without a kernel."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, Labels, Rows
from mercer.estimators.conformal.prediction_intervals import PredictsIntervals
from mercer.estimators.fitting.inputs import prediction_rows, regression_rows
from mercer.estimators.fitting.parameters import require_number
from mercer.estimators.fitting.weights import target_weights, total_weight
from mercer.estimators.linear.base import LinearEstimator
from mercer.estimators.linear.from_blocks import BlockTask, factors_of_targets, solve_task
from mercer.estimators.linear.partial_fit import RegressesParts
from mercer.estimators.out_of_core.given import require_alone
from mercer.estimators.out_of_core.predicting import RegressesBlocks
from mercer.estimators.out_of_core.targets import note_columns, targets_of
from mercer.io.blocks.blocks import Blocks
from mercer.problems.linear.machine import LinearTube
from mercer.problems.losses.residual_losses import TUBE_LOSSES

if TYPE_CHECKING:
    from mercer.estimators.conformal.conformal import Conformal
    from mercer.problems.regularization import Regularization
    from mercer.solvers.limits import Limits


class LinearSVR(PredictsIntervals, RegressesParts, RegressesBlocks, RegressorMixin, LinearEstimator):
    """Linear support vector regression: fast, exact, and certified on every fit.

    The parameters up to `max_iter` are those of scikit-learn and mean the same, except for `tol`.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube within which an error costs nothing, 0 or more.
    tol : float, default=1e-4
        Stop when the duality gap is at most this share of the objective; positive.
    C : float or Regularization, default=1.0
        Weight of the losses against the penalty, positive and finite; `Regularization` offers the other ways of
        writing it.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss of an error beyond the tube: the excess, or its square.
    fit_intercept : bool, default=True
        Whether there is a bias at all; `bias` says which kind.
    intercept_scaling : float, default=1.0
        Value, positive, of the constant feature whose weight is the penalised bias.
    dual : bool or "auto", default="auto"
        Whether to solve the dual by coordinate descent (True) or the primal by Newton steps (False). The answer is the
        same, and "auto" chooses the quicker way. False is only for "squared_epsilon_insensitive".
    verbose : int, default=0
        Above 0, print a line to standard error after every check of the gap.
    random_state : int, RandomState or None, default=None
        Seed of the order in which coordinate descent visits the rows; None stands for 0.
    max_iter : int, default=1000
        Largest number of passes, or of Newton steps; -1 sets no limit.
    bias : {"penalized", "free", "none"}, default="penalized"
        "penalized" is what scikit-learn fits: the bias is the weight of a constant feature and part of the
        penalty. "free" leaves it out of the penalty, and "none" does without a bias.
    solver : {"auto", "dual_cd", "newton"}, default="auto"
        The same choice as `dual` by name: coordinate descent on the dual, or Newton steps on the primal. It
        must not contradict `dual`.
    gap_tol : float, optional
        Replaces `tol` if given; positive.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every check, whose `violation` is the relative gap; a true
        return value ends the fit.
    warm_start : bool, default=False
        Whether to start from the last fit, if rows and features are the same in number.
    memory_limit : int or str, optional
        Memory for a fit from `Blocks` in bytes, or as text such as "2GiB", beyond what the process already uses; by
        default half of the free memory. It decides how many blocks are worked on side by side, and how many are kept
        between passes.
    conformal : {None, "split", "cross"} or Conformal, default=None
        Whether to calibrate `predict_interval`, on rows set aside ("split") or left out fold by fold ("cross", ten more
        fits). See `mercer.Conformal`.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        The bias.
    n_iter_ : int
        Passes, or Newton steps, taken.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    certificate_ : Certificate
        Primal and dual objective and their gap, computed in double precision from data and coefficients alone.
    trace_ : list of TracePoint
        The checks of the gap.
    n_passes_, rows_read_ : int
        Passes over the blocks, and rows that were read from their source for them; only after a fit to `Blocks`.

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
        bias: str = "penalized",
        solver: str = "auto",
        gap_tol: float | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        warm_start: bool = False,
        memory_limit: int | str | None = None,
        conformal: "str | Conformal | None" = None,
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
        self.memory_limit = memory_limit
        self.conformal = conformal

    def fit(self, X: Rows, y: Labels | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Blocks
            `mercer.io.Blocks` are read block by block, as often as necessary, and need not fit in memory.
        y : array-like of shape (n,)
            Omitted for `Blocks`, which carry their own.
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part. Omitted for `Blocks`.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _check_parameters(self) -> None:
        self._check_shared(TUBE_LOSSES)
        require_number("epsilon", self.epsilon)
        if self.epsilon < 0:
            raise ParameterError(f"epsilon must not be negative, got {self.epsilon!r}")

    def _learn(self, limits: "Limits", X: Rows, y: Any, sample_weight: ArrayLike | None = None) -> None:
        if isinstance(X, Blocks):
            self._require_by_blocks("blocks")
            solve_task(self, self._block_task(X, y, sample_weight, limits), limits)
            return
        method = self._method(primal_exists=self.loss == "squared_epsilon_insensitive")
        X, y = regression_rows(self, X, y)
        weights = target_weights(sample_weight, len(y))
        C = self._C_of_rows(total_weight(weights), weights)
        # A free bias moves with the targets; sums over targets far from 0 lose the digits that tell them apart.
        middle = float(np.mean(y)) if self._bias == "free" else 0.0
        problem = LinearTube(y - middle, C, self.loss, self._bias, float(self.intercept_scaling), float(self.epsilon))
        (found,) = self._solve(X, [problem], self._by_machine(method, limits, self._goal))
        self.coef_, self.intercept_ = found.w, np.array([found.bias + middle])

    def _require_by_blocks(self, what: str) -> None:
        for name, value in (("dual", self.dual), ("solver", self.solver)):
            if value != "auto":
                raise ParameterError(f"{name} must be 'auto' with {what}, got {value!r}")

    def _block_task(self, X: Any, y: Any, sample_weight: Any, limits: "Limits") -> BlockTask:
        """The training data; sets the columns."""
        if isinstance(X, Blocks):
            require_alone(y, sample_weight)
            note_columns(self, X)
            targets, weights = targets_of(X, self.n_jobs, limits.stop)
        else:
            X, targets = regression_rows(self, X, y)
            X, weights = Blocks(X), None if sample_weight is None else np.asarray(sample_weight)
        return BlockTask(X, targets, [targets], *factors_of_targets(len(targets), weights), weights)

    def predict(self, X: Rows) -> Array:
        """The value predicted for each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Blocks

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        if isinstance(X, Blocks):
            return np.concatenate(list(self.predict_blocks(X)))
        X = prediction_rows(self, X)
        return X @ self.coef_ + self.intercept_[0]
