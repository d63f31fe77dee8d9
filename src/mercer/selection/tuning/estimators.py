"""Support vector machines that choose C, gamma and the kernel by cross-validation."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from mercer._types import Array, ArrayLike, FloatArray, Labels, Rows
from mercer.estimators.fitting.inputs import classes_and_codes, regression_input, training_input
from mercer.estimators.fitting.weights import sample_weights, target_weights
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svr import SVR
from mercer.selection.tuning.base import TunedModel, is_refitted

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.kernels.base.kernel import Kernel


def _has_probabilities(self: "SVCCV") -> bool:
    return is_refitted(self) and bool(self.probability)


class SVCCV(ClassifierMixin, TunedModel):
    """Support vector classifier that chooses C, gamma and kernel by cross-validation.

    It has the scores of scikit-learn's `GridSearchCV` over `SVC`, in the time of a few fits: one kernel
    matrix for each kernel serves all folds, classes and values of C, and each solution is the start of
    the next.

    Parameters
    ----------
    Cs : int, list or "auto", default=8
        Values of C; a number stands for so many, a factor of four apart, up to 512. One of them may be
        "auto", as for `SVC`: each fold finds it from the rows it learns from.
    gammas : int, list or None, default=6
        Values of gamma for kernels that have one; a number stands for so many, a factor of four apart,
        around ``gamma="scale"``. With None, `gamma` is not searched.
    kernel : str, Kernel or callable, default="rbf"
        As for `SVC`.
    kernels : list, optional
        Kernels to choose from, instead of `kernel`.
    param_grid : dict or list of dict, optional
        Settings as for `GridSearchCV`, instead of the four above: any parameter of `SVC`, and any parameter
        of its kernel by path, such as ``{"C": [1, 10], "kernel__gamma": [0.1, 1.0]}``.
    n_iter : int, optional
        Draw so many settings instead of trying all: between the ends of `Cs` and of `gammas`, all ratios
        alike, four values of C for each kernel drawn; or from `param_grid`, as `RandomizedSearchCV` does.
    search : {"all", "halving"}, default="all"
        "halving" tries all settings on few rows, and the best part of them on `factor` times as many.
    factor : int, default=3
    cv : int, splitter or iterable, optional
        As in scikit-learn; None is five stratified folds.
    scoring : str, callable, list or dict, optional
        As in scikit-learn; None is the accuracy. Several scores, also those of a function that gives a
        dictionary, need `refit` to name one.
    refit : bool or str, default=True
        Whether to fit the best setting to all rows; with several scores, by which of them.
    early_stop : bool, default=False
        Leave out what is proven not to win (see the guide): the winner and its scores are those of the
        full search, settings that were cut have no mean score, and ``cv_results_["state"]`` says so.
    error_score : float or "raise", default=nan
        The score of a fit that fails; the others go on. A fold on which every setting fails is left out.
    return_train_score : bool, default=False
    gamma, degree, coef0, shrinking, probability, tol, cache_size, class_weight, max_iter,
    decision_function_shape, break_ties, bias, loss, multi_class
        As for `SVC`, for every setting.
    random_state : int, RandomState or None, default=None
        Draws of settings, and of rows for "halving"; and as for `SVC`.
    verbose : int, default=0
        Print how far the search is, and how long it will take, on standard error.
    time_limit : float, optional
        Seconds for all of it: the best setting so far is refitted in what is left of them, or in 0.15 s. Where not
        even one is judged by then, it is the one in the middle of the grid.
    memory_limit : int or str, optional
        Bytes, or a text such as "2GiB". Where the kernel matrix does not fit, each setting is fitted by
        itself, with rows on demand.
    n_jobs : int, optional
        Threads; all cores by default.
    callbacks : list of callables, optional
        Each is called with a `SearchPoint` as the search goes on; a true answer ends it.

    Attributes
    ----------
    cv_results_ : dict
        As that of `GridSearchCV`; ``state`` is "done", "failed", "cut" or "untried" for each setting.
    best_params_, best_score_, best_index_, best_estimator_, scorer_, n_splits_, multimetric_, refit_time_
        As in scikit-learn's searches.
    C_, kernel_
        C and the kernel of the refitted machine; the number that "auto" came to.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_,
    trace_, certificate_, expansion_, n_features_in_, feature_names_in_
        Of the refitted machine, as for `SVC`.
    status_ : Status
        How the search ended, or how the last fit did.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVCCV(Cs=[0.1, 1, 10], gammas=[0.01, 0.1, 1]).fit(X, y)
    >>> model.best_params_, round(model.best_score_, 3)
    ({'C': 1, 'gamma': 0.1}, 0.98)
    >>> model.predict(X[:3]).tolist(), len(model.cv_results_["params"])
    ([0, 0, 0], 9)
    """

    _machine = SVC
    _default_score = "accuracy"
    _classifies = True

    def __init__(
        self,
        Cs: int | str | Sequence[float | str] | FloatArray = 8,
        gammas: int | Sequence[float] | FloatArray | None = 6,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        *,
        kernels: "Sequence[str | Kernel | Callable[..., Any]] | None" = None,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        n_iter: int | None = None,
        search: str = "all",
        factor: int = 3,
        cv: Any = None,
        scoring: Any = None,
        refit: bool | str = True,
        early_stop: bool = False,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int = 0,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        bias: str = "free",
        loss: str = "hinge",
        multi_class: str = "ovo",
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.kernels = kernels
        self.param_grid = param_grid
        self.n_iter = n_iter
        self.search = search
        self.factor = factor
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.early_stop = early_stop
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.bias = bias
        self.loss = loss
        self.multi_class = multi_class
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks

    def _input(self, probe: "BaseEstimator", X: Rows, y: Labels) -> tuple[Rows, Array]:
        X, y = training_input(probe, X, y)
        self.classes_ = classes_and_codes(y)[0]
        return X, y

    def _weights(self, given: ArrayLike, y: Array) -> FloatArray:
        classes, codes = classes_and_codes(y)
        return sample_weights(given, codes, classes)

    @available_if(is_refitted)
    def decision_function(self, X: Rows) -> FloatArray:
        """Decision values of the refitted machine, as `SVC.decision_function`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), (n, n_train) if precomputed, or n items

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
        """
        return self._fitted().decision_function(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Rows) -> FloatArray:
        """Probabilities of the refitted machine, one column a class; only with `probability`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), (n, n_train) if precomputed, or n items

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._fitted().predict_proba(X)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Rows) -> FloatArray:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), (n, n_train) if precomputed, or n items

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._fitted().predict_log_proba(X)


class SVRCV(RegressorMixin, TunedModel):
    """Support vector regression that chooses C, gamma, epsilon and kernel by cross-validation.

    As `SVCCV`, for targets that are numbers.

    Parameters
    ----------
    Cs, gammas, kernel, kernels, param_grid, n_iter, search, factor, refit, early_stop, error_score,
    return_train_score
        As for `SVCCV`; `param_grid` may have any parameter of `SVR`.
    epsilons : list of float, optional
        Values of epsilon; None leaves it at `epsilon`.
    cv : int, splitter or iterable, optional
        As in scikit-learn; None is five folds.
    scoring : str, callable, list or dict, optional
        As in scikit-learn; None is the coefficient of determination.
    gamma, degree, coef0, tol, epsilon, shrinking, cache_size, max_iter, bias
        As for `SVR`, for every setting.
    random_state, verbose, time_limit, memory_limit, n_jobs, callbacks
        As for `SVCCV`.

    Attributes
    ----------
    cv_results_, best_params_, best_score_, best_index_, best_estimator_, scorer_, n_splits_, multimetric_,
    refit_time_, C_, kernel_, status_
        As for `SVCCV`.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, trace_,
    certificate_, expansion_, n_features_in_, feature_names_in_
        Of the refitted machine, as for `SVR`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import SVRCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SVRCV(Cs=[1, 10, 100], gammas=[1.0, 10.0], epsilon=10.0).fit(X, y)
    >>> model.best_params_, round(model.best_score_, 2)
    ({'C': 100, 'gamma': 10.0}, 0.49)
    """

    _machine = SVR
    _default_score = "r2"
    _classifies = False

    def __init__(
        self,
        Cs: int | str | Sequence[float | str] | FloatArray = 8,
        gammas: int | Sequence[float] | FloatArray | None = 6,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        *,
        epsilons: Sequence[float] | FloatArray | None = None,
        kernels: "Sequence[str | Kernel | Callable[..., Any]] | None" = None,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        n_iter: int | None = None,
        search: str = "all",
        factor: int = 3,
        cv: Any = None,
        scoring: Any = None,
        refit: bool | str = True,
        early_stop: bool = False,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float | None = None,
        verbose: int = 0,
        max_iter: int = -1,
        random_state: int | np.random.RandomState | None = None,
        bias: str = "free",
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.epsilons = epsilons
        self.kernels = kernels
        self.param_grid = param_grid
        self.n_iter = n_iter
        self.search = search
        self.factor = factor
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.early_stop = early_stop
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.random_state = random_state
        self.bias = bias
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks

    def _input(self, probe: "BaseEstimator", X: Rows, y: Labels) -> tuple[Rows, Array]:
        return regression_input(probe, X, y)

    def _weights(self, given: ArrayLike, y: Array) -> FloatArray:
        return target_weights(given, len(y))
