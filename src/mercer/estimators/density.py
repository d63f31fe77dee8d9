"""Density estimation with a kernel at each row, and one-class detection as its level set."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._errors import DataError, ParameterError
from mercer.estimators.parameters import require_n_jobs, require_number
from mercer.estimators.training import LARGEST_ENTRY, OVERFLOW
from mercer.estimators.weighting import some_weights
from mercer.kernels import engine
from mercer.kernels.base import Kernel
from mercer.kernels.expansion import Expansion
from mercer.kernels.operator import EvaluatedOperator
from mercer.kernels.rows import require_sound_csr
from mercer.problems import density

_RULES = ("scott", "silverman")
_ROWS = {"dtype": (np.float64, np.float32), "order": "C", "accept_sparse": "csr"}


class KernelDensity(OutlierMixin, BaseEstimator):
    """A density that is the mean of a kernel around each training row.

    Normalised in any number of dimensions, for every kernel that depends on distance alone and has a
    finite integral. The sums are exact: there is no tree, and no tolerance to set. `predict` is
    one-class detection: 1 where the density is above a level, -1 below.

    Parameters
    ----------
    bandwidth : float, "scott" or "silverman", default=1.0
        Unit of distance.
    kernel : str or Kernel, default="gaussian"
        "gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine", as in scikit-learn; or a
        `Kernel` such as ``Matern(1.5, 1.0)`` or ``RBF(0.5)``, to whose distances the bandwidth applies too.
    level : float, default=0.05
        Share of the training rows outside of the level set, each judged by the density that the
        others give it.
    n_jobs : int, optional
        Threads; every core by default.

    Attributes
    ----------
    bandwidth_ : float
    offset_ : float
        Log density at the border of the level set.
    expansion_ : Expansion
        The density, but for its normalisation.
    log_normaliser_ : float
        Logarithm of what the sum of kernels is divided by.
    n_features_in_, feature_names_in_

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

    def __init__(self, *, bandwidth=1.0, kernel="gaussian", level=0.05, n_jobs=None):
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.level = level
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y=None, sample_weight=None):
        """Learn the density of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            A row of weight two counts as two; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._check_parameters()
        require_sound_csr(X)
        X = _dense(validate_data(self, X, **_ROWS))
        weights = some_weights(sample_weight, len(X))
        X, weights = X[weights > 0], weights[weights > 0]
        self.bandwidth_ = density.bandwidth(self.bandwidth, weights, X.shape[1])
        self._keep(X / self.bandwidth_, weights)
        return self

    def _check_parameters(self):
        require_n_jobs(self.n_jobs)
        require_number("level", self.level, least=0.0, below=1.0)
        if isinstance(self.bandwidth, str) and self.bandwidth not in _RULES:
            raise ParameterError(f"bandwidth must be a positive number, {_RULES}, got {self.bandwidth!r}")
        if not isinstance(self.bandwidth, str):
            require_number("bandwidth", self.bandwidth, above=0.0)
        if not isinstance(self.kernel, Kernel) and self.kernel not in density.NAMES:
            names = ", ".join(density.NAMES)
            raise ParameterError(f"kernel must be one of {names}, or a Kernel, got {self.kernel!r}")

    def _keep(self, rows, weights):
        kernel = self.kernel.bind(rows, weights) if isinstance(self.kernel, Kernel) else density.kernel_of(self.kernel)
        d = rows.shape[1]
        if not np.isfinite(rows).all() or not (np.einsum("ij,ij->i", rows, rows) < LARGEST_ENTRY).all():
            raise DataError(OVERFLOW)
        log_z = density.log_normaliser(kernel, d) + d * np.log(self.bandwidth_)
        self.log_normaliser_ = float(log_z + np.log(weights.sum()))
        self.expansion_ = Expansion.single(kernel, rows, weights[:, None], np.zeros(1), rows.mean(axis=0))
        others = self._log_density_of_training(kernel, rows, weights) - log_z
        alone = float(np.log(weights.min() * kernel.diag(rows[:1])[0])) - self.log_normaliser_
        self.offset_ = density.level_of(others, weights, self.level, alone)

    def _log_density_of_training(self, kernel, rows, weights):
        """log of the density at each row that the others give it, but for the normaliser."""
        origin = rows.mean(axis=0)
        operator = EvaluatedOperator(kernel, lambda dtype: kernel.prepare(rows, dtype, origin=origin), self.n_jobs)
        own = density.without_one(weights)
        sums = engine.product_of_others(kernel, operator.items, weights[:, None], self.n_jobs)[:, 0]
        logs = density.log_sums(sums + own * operator.diag, kernel, rows, rows, weights, own)
        return logs - density.log_mass_without_one(weights)

    def score_samples(self, X):
        """The log density at each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "expansion_")
        require_sound_csr(X)
        points = _dense(validate_data(self, X, reset=False, **_ROWS)) / self.bandwidth_
        expansion = self.expansion_
        sums = expansion.values(points, np.float64, self.n_jobs)[:, 0]
        weights = expansion.groups[0].coefficients[:, 0]
        logs = density.log_sums(sums, expansion.kernel, points, expansion.vectors, weights)
        return logs - self.log_normaliser_

    def score(self, X, y=None):
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

    def decision_function(self, X):
        """Log density above the border of the level set; below it, negative.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X):
        """1 inside of the level set, -1 outside.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.where(self.score_samples(X) >= self.offset_, 1, -1)

    def sample(self, n_samples=1, random_state=None):
        """Rows drawn from the density; for the Gaussian and the tophat, as in scikit-learn.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int or RandomState, optional

        Returns
        -------
        ndarray of shape (n_samples, d)
        """
        check_is_fitted(self, "expansion_")
        kernel, rng = self.expansion_.kernel, check_random_state(random_state)
        weights = self.expansion_.groups[0].coefficients[:, 0]
        rows = self.expansion_.vectors
        chosen = rows[rng.choice(len(rows), size=n_samples, p=weights / weights.sum())]
        return (chosen + density.draws(kernel, chosen.shape, rng)) * self.bandwidth_


def _dense(X):
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
