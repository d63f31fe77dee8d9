"""Density estimation with a kernel at each row, and one-class detection as its level set."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse
from sklearn.base import OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._errors import DataError, ParameterError
from mercer._jit.once import computed_once
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.holds_kernels import HoldsKernels
from mercer.estimators.fitting.given_matrix import require_gram, require_not_negative, require_symmetric_function
from mercer.estimators.fitting.inputs import (
    has_function,
    is_function,
    is_precomputed,
    prediction_input,
    takes_items,
    tell_input,
    unlabeled_input,
)
from mercer.estimators.fitting.parameters import require_count, require_n_jobs, require_number
from mercer.estimators.fitting.training import LARGEST_ENTRY, OVERFLOW, TrainingData
from mercer.estimators.fitting.weights import some_weights
from mercer.estimators.fitting.whole_fit import unchanged_by_errors
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.evaluation.symmetric_product import symmetric_product
from mercer.kernels.given.precomputed import Custom, Precomputed
from mercer.kernels.gram.symmetric_operator import EvaluatedOperator, GivenOperator
from mercer.kernels.items.prepare_rows import require_sound_csr
from mercer.kernels.notation.sklearn_names import from_text, resolve
from mercer.problems.kernel_methods import density

if TYPE_CHECKING:
    from sklearn.utils import Tags


_RULES = ("scott", "silverman")
_ROWS = {"dtype": (np.float64, np.float32), "order": "C", "accept_sparse": "csr"}


class KernelDensity(OutlierMixin, HoldsKernels):
    """Kernel density estimate: the mean of a kernel placed at each training row.

    Normalised in any number of dimensions, for every kernel that depends on distance alone and has a
    finite integral. The sums are exact: there is no tree, and no tolerance to set. `predict` is
    one-class detection: 1 where the density is above a level, -1 below.

    Parameters
    ----------
    bandwidth : float, "scott" or "silverman", default=1.0
        Unit of distance: a positive number, or a rule by the numbers of rows and columns.
    kernel : str or Kernel, default="gaussian"
        "gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine", as in scikit-learn; or a `Kernel` such
        as ``Matern(1.5, 1.0)``, or its text, to whose distances the bandwidth applies too. A kernel of texts, trees or
        other items, a function of two items or "precomputed" gives the log density up to a constant: such items have no
        volume. It must have no negative values, and the same k(x, x) for all.
    level : float, default=0.05
        Share of the training rows outside the level set, each judged by the density that the others give it.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth used.
    is_normalized_ : bool
        Whether the density integrates to one; if not, log densities lack a constant.
    offset_ : float
        Log density at the border of the level set. Every row is judged by all the others, which takes longer than the
        rest of the fit, so it is computed when `predict` or `decision_function` first needs it.
    expansion_ : Expansion
        The density, but for its normalisation.
    log_normalizer_ : float
        Logarithm of the divisor of the sum of kernels.
    n_features_in_, feature_names_in_
        Number of features seen by `fit`, and their names, if X has names and all are strings.

    References
    ----------
    Parzen (1962), On estimation of a probability density function and mode.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelDensity
    >>> X = np.random.default_rng(0).normal(size=(400, 1))
    >>> model = KernelDensity(bandwidth="scott").fit(X)
    >>> np.exp(model.score_samples([[0.0], [3.0]])).round(2)
    array([0.36, 0.01])
    >>> model.predict([[0.0], [8.0]])
    array([ 1, -1])
    """

    # Prediction accepts any container, whatever the fit was given.
    _sparse = True

    def __init__(
        self,
        *,
        bandwidth: float | str = 1.0,
        kernel: str | Kernel | Callable[..., Any] = "gaussian",
        level: float = 0.05,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.level = level
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tell_input(tags, self.kernel) if _is_of_items(self.kernel) else tags

    @property
    def offset_(self) -> float:
        """Log density at the border of the level set."""
        check_is_fitted(self, "expansion_")
        known = vars(cast(Any, self)).get("offset_")
        return self._border.offset if known is None else known

    def __getstate__(self) -> dict[str, Any]:
        # A saved model has its border, not the data needed to find it.
        state = dict(super().__getstate__())
        border = state.pop("_border", None)
        return state if border is None else {**state, "offset_": border.offset}

    @property
    def is_normalized_(self) -> bool:
        """Whether the density integrates to one; for items other than rows it lacks a constant."""
        return not _is_of_items(self.kernel)

    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the density of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), (n, n) if precomputed, or a list of items
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight two counts as two; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._check_parameters()
        with unchanged_by_errors(self):
            for name in ("offset_", "_border"):
                vars(cast(Any, self)).pop(name, None)
            if self.is_normalized_:
                self._fit_rows(X, sample_weight)
            else:
                self._fit_items(X, sample_weight)
        return self

    def _fit_rows(self, X: Rows, sample_weight: ArrayLike | None) -> None:
        require_sound_csr(X)
        X = _dense(validate_data(self, X, **_ROWS))
        weights = some_weights(sample_weight, len(X))
        X, weights = X[weights > 0], weights[weights > 0]
        self.bandwidth_ = density.bandwidth(self.bandwidth, weights, X.shape[1])
        self._keep(X / self.bandwidth_, weights)

    def _fit_items(self, X: Rows, sample_weight: ArrayLike | None) -> None:
        if self.bandwidth != 1.0:
            raise ParameterError(
                f"bandwidth must be 1.0 for items that are not rows, which have no distance, got {self.bandwidth!r}"
            )
        X = unlabeled_input(self, X)
        kernel = (
            Custom(self.kernel, pairwise=True) if is_function(self.kernel) else resolve(self.kernel, "auto", 3, 1, X)
        )
        if isinstance(kernel, Precomputed):
            require_gram(X)
            require_not_negative(X)
        data = TrainingData(kernel, X)
        if has_function(kernel):
            require_symmetric_function(kernel, data.prepare(np.float64))
        weights = some_weights(sample_weight, data.shape[0])
        used = np.flatnonzero(weights > 0)
        self.bandwidth_ = 1.0
        self._keep_items(data, weights[used], used)

    def _keep_items(self, data: TrainingData, weights: FloatArray, used: IndexArray) -> None:
        given, part = isinstance(data.kernel, Precomputed), data.subset(used)
        operator = (
            GivenOperator(part.X, self.n_jobs) if given else EvaluatedOperator(part.kernel, part.prepare, self.n_jobs)
        )
        remedy = "divide K[i, j] by sqrt(K[i, i] K[j, j])" if given else "use Normalized(kernel)"
        largest = density.common_diagonal(operator.diag, remedy)
        self.log_normalizer_ = float(np.log(weights.sum() * largest))
        self.expansion_ = Expansion.single(data.kernel, data.expansion_vectors(used), weights[:, None], np.zeros(1))
        own = density.without_one(weights)
        sums = operator.product(weights[:, None])[:, 0] - (weights - own) * operator.diag
        others = density.log_of_items(sums) - density.log_mass_without_one(weights) - np.log(largest)
        alone = float(np.log(weights.min() * largest)) - self.log_normalizer_
        vars(cast(Any, self))["offset_"] = density.level_of(others, weights, self.level, alone)

    def _check_parameters(self) -> None:
        require_n_jobs(self.n_jobs)
        require_number("level", self.level, least=0.0, below=1.0)
        if isinstance(self.bandwidth, str) and self.bandwidth not in _RULES:
            raise ParameterError(f'bandwidth must be a positive number, "scott" or "silverman", got {self.bandwidth!r}')
        if not isinstance(self.bandwidth, str):
            require_number("bandwidth", self.bandwidth, above=0.0)
        asked = from_text(self.kernel)
        if not (isinstance(asked, Kernel) or _is_of_items(asked) or asked in density.NAMES):
            names = ", ".join((*density.NAMES, "precomputed"))
            raise ParameterError(f"kernel must be one of {names}, an expression or a Kernel, got {self.kernel!r}")

    def _keep(self, rows: FloatArray, weights: FloatArray) -> None:
        asked = from_text(self.kernel)
        kernel = asked.bind(rows, weights) if isinstance(asked, Kernel) else density.kernel_of(asked)
        d = rows.shape[1]
        if not np.isfinite(rows).all() or not (np.einsum("ij,ij->i", rows, rows) < LARGEST_ENTRY).all():
            raise DataError(OVERFLOW)
        log_z = density.log_normalizer(kernel, d) + d * np.log(self.bandwidth_)
        self.log_normalizer_ = float(log_z + np.log(weights.sum()))
        self.expansion_ = Expansion.single(kernel, rows, weights[:, None], np.zeros(1), rows.mean(axis=0))
        self._border = _Border(kernel, rows, weights, log_z, self.log_normalizer_, self.level, self.n_jobs)

    def score_samples(self, X: Rows) -> FloatArray:
        """The log density at each row of X; up to a constant where `is_normalized_` is False.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "expansion_")
        if not self.is_normalized_:
            values = self.expansion_.values(prediction_input(self, X), n_jobs=self.n_jobs)[:, 0]
            return density.log_of_items(values) - self.log_normalizer_
        require_sound_csr(X)
        points = _dense(validate_data(self, X, reset=False, **_ROWS)) / self.bandwidth_
        expansion = self.expansion_
        sums = expansion.values(points, n_jobs=self.n_jobs)[:, 0]
        weights = expansion.groups[0].coefficients[:, 0]
        logs = density.log_sums(sums, expansion.kernel, points, expansion.vectors, weights)
        return logs - self.log_normalizer_

    def score(self, X: Rows, y: Labels | None = None) -> float:
        """The log likelihood of the rows of X together.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : ignored

        Returns
        -------
        float
        """
        return float(self.score_samples(X).sum())

    def decision_function(self, X: Rows) -> FloatArray:
        """Log density above the border of the level set; below it, negative.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Rows) -> Array:
        """1 inside the level set, -1 outside.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.where(self.score_samples(X) >= self.offset_, 1, -1)

    def sample(self, n_samples: int = 1, random_state: int | np.random.RandomState | None = None) -> FloatArray:
        """Rows drawn from the density; for the Gaussian and the tophat, as in scikit-learn.

        Items that are not rows cannot be sampled: what lies between them is undefined.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int or RandomState, optional

        Returns
        -------
        ndarray of shape (n_samples, d)
        """
        check_is_fitted(self, "expansion_")
        if not self.is_normalized_:
            raise ParameterError(
                f"samples can be drawn only from densities of rows of numbers, not with kernel={self.kernel!r}"
            )
        require_count("n_samples", n_samples, least=0)
        kernel, rng = self.expansion_.kernel, check_random_state(random_state)
        weights = self.expansion_.groups[0].coefficients[:, 0]
        rows = self.expansion_.vectors
        chosen = rows[rng.choice(len(rows), size=n_samples, p=weights / weights.sum())]
        return (chosen + density.draws(kernel, chosen.shape, rng)) * self.bandwidth_


class _Border:
    """The level set's border in a density of rows, computed on demand."""

    def __init__(
        self,
        kernel: Kernel,
        rows: FloatArray,
        weights: FloatArray,
        log_z: float,
        log_normalizer: float,
        level: float,
        n_jobs: int | None,
    ) -> None:
        self.kernel, self.rows, self.weights = kernel, rows, weights
        self.log_z, self.log_normalizer = log_z, log_normalizer
        self.level, self.n_jobs = level, n_jobs

    @computed_once
    def offset(self) -> float:
        """Log density exceeded by all but a share `level` of the rows, each without its own contribution."""
        alone = float(np.log(self.weights.min() * self.kernel.diag(self.rows[:1])[0])) - self.log_normalizer
        return density.level_of(self._log_density_of_others() - self.log_z, self.weights, self.level, alone)

    def _log_density_of_others(self) -> FloatArray:
        """Log density at each row due to the others, up to the normaliser."""
        kernel, rows, weights = self.kernel, self.rows, self.weights
        items, own = kernel.prepare(rows, np.float64, origin=rows.mean(axis=0)), density.without_one(weights)
        sums = symmetric_product(kernel, items, weights[:, None], self.n_jobs, has_diagonal=False)[:, 0]
        logs = density.log_sums(sums + own * kernel.diag_of(items), kernel, rows, rows, weights, own)
        return logs - density.log_mass_without_one(weights)


def _is_of_items(kernel: Any) -> bool:
    """Whether a kernel compares something other than rows, or does not say what it compares."""
    return is_precomputed(kernel) or takes_items(kernel)


def _dense(X: Rows) -> FloatArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
