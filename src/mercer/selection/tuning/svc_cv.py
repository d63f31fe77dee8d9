"""Support vector classification that chooses C, gamma and the kernel by cross-validation."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.selection.tuning.tuned import TunedClassifier

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


class SVCCV(TunedClassifier):
    """Support vector classifier that chooses C, gamma and kernel by cross-validation.

    It finds the scores of scikit-learn's `GridSearchCV` over `SVC` in the time of a few fits: one kernel matrix
    for each kernel serves all folds, classes and values of C, and each solution is the start of the next.

    Parameters
    ----------
    Cs : int, list or "auto", default=8
        Values of C. A number stands for that many values, a factor of four apart, up to 512. A value may be
        "auto": each fold then chooses it by a cross-validation of its own, from the rows it learns from.
    gammas : int, list or None, default=6
        Values of gamma for kernels that have one. A number stands for that many values, a factor of four apart,
        around ``gamma="scale"``. With None, `gamma` is not searched.
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" or "auto",
        which chooses by looking at the data), an expression such as "rbf + 2*linear" or "spectrum(k=4)", a
        kernel of `mercer.kernels`, or a function that returns the kernel matrix of two sets of rows.
    kernels : list, optional
        Kernels to choose from, instead of `kernel`.
    param_grid : dict or list of dict, optional
        Settings in the form that `GridSearchCV` takes, instead of the four above: any parameter of `SVC`, and
        any parameter of its kernel by path, such as ``{"C": [1, 10], "kernel__gamma": [0.1, 1.0]}``.
    n_iter : int, optional
        Number of settings to draw, instead of trying all: between the ends of `Cs` and of `gammas`, uniformly
        in the logarithm, with four values of C for each kernel drawn; or from `param_grid`, as
        `RandomizedSearchCV` does.
    search : {"all", "halving", "adaptive"}, default="all"
        Whether to try all settings on all rows; or all of them on few rows and then the best part of them on
        `factor` times as many, again and again ("halving"); or to begin with them on few rows and to go beyond
        `Cs` and `gammas` if the best lies at an end ("adaptive").
    factor : int, default=3
        For "halving": how many times as many rows each round has, 2 or more.
    cv : int, splitter or iterable, optional
        How rows are split: a number of folds, a splitter of scikit-learn, or an iterable of pairs (rows to
        learn from, rows to judge by). The default is five stratified folds.
    scoring : str, callable, list or dict, optional
        How a setting is judged: the name of a scikit-learn scorer, a function of (estimator, X, y),
        or several of them in a list or dictionary. The default is the accuracy. With several scores, including
        those of a function that returns a dictionary, `refit` must name one.
    refit : bool or str, default=True
        Whether to fit the best setting to all rows; with several scores, the name of the one that decides.
    early_stop : bool, default=False
        Whether to leave out settings that are proven not to win (see the guide); only with `search="all"`. The
        winner and its scores are those of the full search; settings that were cut have no mean score, and
        ``cv_results_["state"]`` says so.
    error_score : float or "raise", default=nan
        Score of a fit that fails, while the others go on; "raise" raises its error. A fold on which every
        setting fails is left out.
    return_train_score : bool, default=False
        Whether `cv_results_` also has the scores on the rows that were learnt from.
    gamma : float, "scale", "auto" or "median", default="scale"
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features, and
        "median" is one over the median squared distance between rows (for "laplacian", the median absolute
        distance).
    degree : int, default=3
        Degree of the kernel "poly", 0 or more; other kernels ignore it.
    coef0 : float, default=0.0
        Constant term of the kernels "poly" and "sigmoid".
    probability : {False, True, "sigmoid", "isotonic"}, default=False
        Whether to learn probabilities too, from decision values of rows left out of the fit in three folds, by
        a sigmoid (True or "sigmoid") or by isotonic regression. `predict` then gives the most probable class.
    tol : float, default=1e-3
        Largest violation of the optimality conditions (LIBSVM's rule), positive.
    cache_size : float, optional
        Megabytes of kernel rows to keep in memory; by default a quarter of the free memory.
    class_weight : dict or "balanced", optional
        Factors on C by class. A dictionary maps labels to positive numbers, and classes it leaves out have 1;
        "balanced" makes them inversely proportional to the class frequencies. By default every class has 1.
    max_iter : int, default=-1
        Largest number of pair steps for each two-class problem; -1 sets none for the refit. With 2,000 rows or more, a
        fit on a fold then takes ten for each row at most: few settings need more, and their scores hardly change.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Columns of `decision_function` for more than two classes fitted in pairs: one for each class ("ovr"), or
        one for each pair ("ovo").
    break_ties : bool, default=False
        Whether classes that win the same number of pairs are told apart by their decision values; otherwise the
        first of them is predicted. Not allowed with `decision_function_shape="ovo"`.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the bias is left out of the penalty ("free"), is the weight of a constant feature of value 1 and
        so part of the penalty ("penalized"), or is absent ("none").
    loss : {"hinge", "squared_hinge"}, default="hinge"
        What a row pays for falling short of the margin: the shortfall, or its square.
    multi_class : {"ovo", "ovr", "crammer_singer"}, default="ovo"
        How several classes are told apart: by a machine for each pair of classes, by one for each class against
        the rest, or by a single machine for all of them.
    random_state : int, RandomState or None, default=None
        Seed for drawing settings with `n_iter` and rows for "halving", and for the folds of `probability`.
    verbose : int, default=0
        If above 0, print the progress of the search, and the time left, to standard error.
    time_limit : float, optional
        Seconds allowed for everything; no limit by default. The best setting so far is refitted in the time left,
        or in 0.15 s. If not even one setting has been judged by then, the one in the middle of the grid is
        taken.
    memory_limit : int or str, optional
        Memory in bytes, or as text such as "2GiB"; by default half of the free memory. If the kernel matrix
        does not fit, each setting is fitted by itself, and rows are computed when they are needed.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    callbacks : list of callables, optional
        Functions called with a `SearchPoint` as the search goes on; a true return value ends it.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        A row for each setting, in the layout of `GridSearchCV`: parameters, scores of the folds, their means
        and ranks, and times. ``state`` is "done", "failed", "cut" or "untried" for each setting, and ``unfinished``
        is on how many folds its fit was judged before it had reached `tol` (see `max_iter`).
    best_params_ : dict
        The setting that did best.
    best_score_ : float
        Its mean score over the folds.
    honest_score_ : float
        `best_score_`, corrected for the luck of being chosen: settings chosen by some folds, judged on the others,
        over all ways to draw folds (see the guide). NaN if there is only one fold.
    honest_error_ : float
        Its standard error, estimated from the folds.
    best_index_ : int
        Its place in `cv_results_`.
    best_estimator_ : SVC
        The machine fitted to all rows with the best setting; only with `refit`.
    scorer_ : callable or dict
        The scorer, or the scorers by name.
    n_splits_ : int
        Number of folds.
    multimetric_ : bool
        Whether there are several scores.
    refit_time_ : float
        Seconds that the refit took; only with `refit`.
    C_, kernel_
        C and kernel of the refitted machine; for "auto", the value it found.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data, grouped by class.
    support_vectors_ : array or CSR of shape (n_support, d)
        The support vectors; empty if the kernel is precomputed.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support) or (n_problems, n_support)
        Coefficients of the support vectors. With "ovo", a column holds the coefficients of its vector against
        each of the other classes; otherwise there is a row for each two-class problem.
    intercept_ : ndarray of shape (n_problems,)
        Bias of each decision function.
    coef_ : ndarray or CSR of shape (n_problems, d)
        Weights of the features in each decision function; only for the linear kernel.
    n_iter_ : ndarray of shape (n_problems,)
        Steps taken for each two-class problem.
    fit_status_ : int
        0 if the refitted machine was solved to its tolerance, otherwise 1.
    trace_ : list of TracePoint, or a list of such lists
        The rounds of the solver, for each two-class problem where there are several.
    certificate_ : Certificate, or a list of them
        Primal and dual objective, their gap and the KKT conditions of each two-class problem of the refitted
        machine.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names that are all text.
    status_ : Status
        How the search ended, or how the last fit did.
    ending_ : str
        Why the search ended; only after an adaptive one.

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
