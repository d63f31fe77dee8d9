"""Features whose inner products are about a kernel, for linear machines: from landmarks, or random."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer._types import FloatArray, Rows
from mercer.estimators.bases.fits import Fits
from mercer.estimators.bases.holds_kernels import HoldsKernels
from mercer.estimators.fitting.given_matrix import require_gram, require_symmetric_function
from mercer.estimators.fitting.inputs import (
    has_function,
    is_function,
    is_precomputed,
    prediction_input,
    tell_input,
    unlabeled_input,
)
from mercer.estimators.fitting.parameters import (
    require_choice,
    require_count,
    require_n_jobs,
    require_number,
    require_optional_number,
)
from mercer.estimators.fitting.seeds import generator_of
from mercer.estimators.fitting.training import TrainingData
from mercer.estimators.low_rank.low_rank import LowRank
from mercer.estimators.low_rank.restricted import Landmarks
from mercer.kernels.base.parameters import gamma_from_data
from mercer.kernels.given.precomputed import Custom, MatrixItems, Precomputed
from mercer.kernels.notation.sklearn_names import resolve
from mercer.solvers.limits import Limits
from mercer.solvers.low_rank import fourier
from mercer.solvers.low_rank.basis import Basis

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mercer.kernels.base.kernel import Kernel


class _Features(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Fits, HoldsKernels):
    """The common part of both kinds of features."""

    # `transform` accepts any container, whatever the fit was given.
    _sparse = True

    def _limits(self) -> Limits:
        return Limits()

    def _tags(self, tags: "Tags") -> "Tags":
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Nystroem(_Features):
    """Features from landmarks, whose inner products are the kernel as far as the landmarks describe it.

    A row has the coordinates L^-1 k(Z, x) with the landmarks Z and the factor L of their kernel matrix, so that a
    linear machine on them is the kernel machine that `LowRank` asks for, which also says how far it is from the exact
    one. The parameters up to `n_jobs` are scikit-learn's. Features differ from those of scikit-learn by a rotation,
    which no linear machine notices.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2" or "precomputed"), an expression such
        as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function
        ``function(x, y, **kernel_params)`` that returns the kernel of two items as a number.
    gamma : float, "scale", "auto" or "median", optional
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule; None is the same as "auto", 1 / n_features.
    coef0 : float, optional
        Constant term of the kernels "poly" and "sigmoid"; 1 by default.
    degree : int, optional
        Degree of the kernel "poly"; 3 by default.
    kernel_params : dict, optional
        Keyword arguments for a kernel that is a function.
    n_components : int, default=100
        Number of landmarks; if there are fewer rows, all of them, with a warning.
    random_state : int, RandomState or None, default=None
        Seed of the random draws; by default it is the same each time.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    choice : {"uniform", "rpcholesky"}, default="uniform"
        How landmarks are drawn: uniformly from the rows, or by randomly pivoted Cholesky (see `LowRank`).

    Attributes
    ----------
    components_ : array or CSR of shape (n_components, d), or list
        The landmarks; empty if the kernel is precomputed.
    component_indices_ : ndarray of shape (n_components,)
        Positions of the landmarks in the training data.
    normalization_ : ndarray of shape (n_components, n_components)
        The features of rows x are k(x, components_) times the transpose of this: the inverse of L.
    jitter_ : float
        The amount added to the diagonal of the landmarks' matrix.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.

    References
    ----------
    Williams and Seeger (2001), Using the Nystroem method to speed up kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Nystroem
    >>> from mercer.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> features = Nystroem(gamma=0.1, n_components=60).fit_transform(X)
    >>> features.shape
    (200, 60)
    >>> bool(np.abs(features @ features.T - RBF(gamma=0.1)(X)).max() < 0.05)
    True
    """

    def __init__(
        self,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        *,
        gamma: float | str | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        choice: str = "uniform",
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.choice = choice

    def __sklearn_tags__(self) -> "Tags":
        return self._tags(tell_input(super().__sklearn_tags__(), self.kernel))

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Choose landmarks among the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def _learn(self, limits: Limits, X: Rows) -> None:
        X = unlabeled_input(self, X)
        kernel = self._bound(X)
        if isinstance(kernel, Precomputed):
            require_gram(X)
        data = TrainingData(kernel, X)
        if has_function(kernel):
            require_symmetric_function(kernel, data.prepare(np.float64))
        self._take(data, limits)

    def _take(self, data: TrainingData, limits: Limits) -> None:
        n = data.shape[0]
        if self.n_components > n:
            warnings.warn(
                f"n_components={self.n_components} exceeds the number of rows: all {n} are taken as landmarks, "
                "and the exact machine is as quick",
                UserWarning,
                stacklevel=4,
            )
        spec = LowRank(min(self.n_components, n), self.choice, random_state=self.random_state)
        marks = Landmarks(self, spec, data, np.arange(n), limits)
        marks.dtype = np.float32 if getattr(data.X, "dtype", None) == np.float32 else np.float64
        marks.take(spec.landmarks)
        self._kernel, self._origin, self._vectors = data.kernel, data.origin, marks.vectors()[0]
        self._factor, self.jitter_ = marks.basis.factor, marks.basis.jitter
        self.components_, self.component_indices_ = marks.vectors()[1], marks.places
        self._n_features_out = marks.basis.size

    @property
    def normalization_(self) -> FloatArray:
        """The inverse of L."""
        check_is_fitted(self, "components_")
        return self._basis().inverse()

    def transform(self, X: Rows) -> FloatArray:
        """The features of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        check_is_fitted(self, "components_")
        X = prediction_input(self, X)
        kernel, origin = self._kernel, self._origin
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return self._basis().coordinates(kernel.prepare(X, dtype, origin=origin, check=False))

    def _basis(self) -> Basis:
        kernel, origin, vectors = self._kernel, self._origin, self._vectors

        def prepare(dtype: Any) -> Any:
            if isinstance(vectors, MatrixItems):
                return vectors
            return kernel.prepare(vectors, dtype, origin=origin, check=False)

        return Basis.of_factor(kernel, prepare, self._factor, self.jitter_, self.n_jobs)

    def _bound(self, X: Rows) -> "Kernel":
        kernel: Any = self.kernel
        if is_function(kernel):
            kernel = Custom(partial(kernel, **self.kernel_params) if self.kernel_params else kernel, pairwise=True)
        gamma = "auto" if self.gamma is None else self.gamma
        degree, coef0 = 3 if self.degree is None else self.degree, 1.0 if self.coef0 is None else self.coef0
        return resolve(kernel, gamma, degree, coef0, X)

    def _check_parameters(self) -> None:
        require_count("n_components", self.n_components)
        require_choice("choice", self.choice, ("uniform", "rpcholesky"))
        require_n_jobs(self.n_jobs)
        if not isinstance(self.gamma, str):
            require_optional_number("gamma", self.gamma, above=0.0)
        if self.coef0 is not None:
            require_number("coef0", self.coef0)
        if self.degree is not None:
            require_number("degree", self.degree, least=0.0)
        given = [name for name in ("gamma", "coef0", "degree") if getattr(self, name) is not None]
        if given and (is_function(self.kernel) or is_precomputed(self.kernel)):
            raise ParameterError(
                f"{given[0]} must be None where the kernel is a function or precomputed, got "
                f"{getattr(self, given[0])!r}; pass a function's own in kernel_params"
            )


class RandomFourierFeatures(_Features):
    """Random cosines whose inner products approximate the Gaussian kernel.

    The parameters are those of scikit-learn's `RBFSampler`, and the same seed gives the same features. A linear machine
    on them has a certificate of its own gap. How far it is from the kernel machine is unknown: random features span no
    part of the kernel's feature space, so there is no `distance_`. Landmarks have one: see `LowRank`.

    Parameters
    ----------
    gamma : float or "scale", default=1.0
        Coefficient of the kernel exp(-gamma |x - y|^2), 0 or more; "scale" is 1 / (n_features * X.var()).
    n_components : int, default=100
        Number of features.
    random_state : int, RandomState or None, default=None
        Seed of the random draws; by default it is the same each time.

    Attributes
    ----------
    random_weights_ : ndarray of shape (d, n_components)
        Frequencies, normally distributed.
    random_offset_ : ndarray of shape (n_components,)
        Phases, between 0 and 2 pi.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RandomFourierFeatures
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> RandomFourierFeatures(gamma=0.5, n_components=20).fit_transform(X).shape
    (50, 20)
    """

    kernel = "rbf"

    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        n_components: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def __sklearn_tags__(self) -> "Tags":
        return self._tags(tell_input(super().__sklearn_tags__(), self.kernel))

    @property
    def distance_(self) -> Any:
        """There is none."""
        raise AttributeError(
            "random Fourier features have no distance to the exact machine: they span no part of the kernel's feature "
            "space. The gap of a linear machine on them is its own; LowRank, with landmarks, has a distance"
        )

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Draw frequencies for the columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : ignored

        Returns
        -------
        self
        """
        require_count("n_components", self.n_components)
        if self.gamma != "scale":
            require_number("gamma", self.gamma, least=0.0)
        X = unlabeled_input(self, X)
        gamma = gamma_from_data("scale", X) if isinstance(self.gamma, str) else float(self.gamma)
        rng = generator_of(self.random_state)
        weights, offset = fourier.frequencies(X.shape[1], self.n_components, gamma, rng)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        self.random_weights_, self.random_offset_ = weights.astype(dtype), offset.astype(dtype)
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Rows) -> FloatArray:
        """The features of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        check_is_fitted(self, "random_weights_")
        return fourier.features(prediction_input(self, X), self.random_weights_, self.random_offset_)
