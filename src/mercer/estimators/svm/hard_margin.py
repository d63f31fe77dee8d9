"""The hard-margin support vector classifier."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse

from mercer._types import ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier
from mercer.estimators.fitting.inputs import require_fitted
from mercer.estimators.fitting.parameters import require_choice
from mercer.estimators.fitting.two_class import TwoClassProblems
from mercer.estimators.svm.separation import SeparationCertifier, keep_normals, separate_all
from mercer.problems.svm.soft_margin import BIASES
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.estimators.fitting.certifiers import ProblemCertifier
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.solvers.limits import Limits


_REMEDIES = {
    Status.OPTIMAL_INACCURATE: "The margin is tiny beside the data; scale the features.",
    Status.STALLED: "The margin is tiny beside the data; scale the features.",
    Status.TIME_LIMIT: "A larger time_limit is needed.",
    Status.INTERRUPTED: "Fit again.",
}


class HardMarginSVC(KernelClassifier):
    """The hyperplane of largest margin, or the proof that there is none.

    Hard-SVM: minimise norm(w)^2 subject to y_i (<w, psi(x_i)> + b) >= 1. Data that cannot be
    separated raise `NotSeparableError`, whose ``proof`` is a point common to both convex hulls, with its weights; or,
    if `on_not_separable` says so, they give a warning.

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
    tol : float, default=1e-6
        Largest violation of y f(x) >= 1, positive, for which the status is OPTIMAL; every fit continues down to
        rounding error.
    max_iter : int, default=-1
        Largest number of rounds for each two-class problem; -1 sets no limit.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the bias is left out of the norm ("free"), is the weight of one more feature of value 1 and so part of
        the norm ("penalized"), or is absent, which is the homogeneous case ("none").
    multi_class : {"ovo", "ovr"}, default="ovo"
        How several classes are told apart: by a machine for each pair of classes ("ovo"), or for each class
        against the rest ("ovr").
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Columns of `decision_function` for more than two classes fitted in pairs: one for each class ("ovr"), or
        one for each pair ("ovo").
    break_ties : bool, default=True
        Whether classes that win the same number of pairs are told apart by their decision values; otherwise the
        first of them is predicted.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory.
    n_jobs : int, optional
        Number of threads that evaluate kernels; all cores by default. Negative numbers count back from all
        cores, so -1 also means all.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every round; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print a line to standard error after every round.
    on_not_separable : {"raise", "warn"}, default="raise"
        What to do if no hyperplane separates two classes: raise `NotSeparableError`, or warn. "warn" keeps the proof in
        `proofs_`, gives a `ConvergenceWarning`, and fits a soft margin instead, with a C so large (1000 over the mean
        of k(x, x)) that small losses matter more than a short w; its status is STALLED, its gap infinite and its
        margin 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data, grouped by class.
    support_vectors_ : array or CSR of shape (n_support, d)
        The support vectors; empty if the kernel is precomputed.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support) or (n_problems, n_support)
        Multipliers of the support vectors, with their signs. With "ovo", a column holds those of its vector against
        each of the other classes; otherwise there is a row for each two-class problem.
    intercept_ : ndarray of shape (n_problems,)
        b_0 of each hyperplane.
    coef_ : ndarray or CSR of shape (n_problems, d)
        w_0 of each hyperplane; only for the linear kernel.
    n_iter_ : ndarray of shape (n_problems,)
        Rounds taken for each two-class problem.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    certificate_ : Certificate, or a list of them
        Primal and dual objective, their gap and the KKT conditions of each two-class problem, recomputed in
        double precision from the training data when first read.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
        The rounds of the solver, for each two-class problem where there are several.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    margin_ : float, or ndarray of them
        1 / norm(w_0), the distance from the hyperplane to the nearest point.
    normalized_coef_, normalized_intercept_
        (w_0, b_0) / norm(w_0), the output of Hard-SVM in the book; the first only for the linear kernel.
    proofs_ : list
        For each two-class problem, None or the `NotSeparableProof` that it has no solution.

    Examples
    --------
    >>> from mercer import HardMarginSVC
    >>> X, y = [[0, 0], [2, 2], [2, 0], [3, 0]], [-1, -1, 1, 1]
    >>> model = HardMarginSVC(kernel="linear").fit(X, y)
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[ 1., -1.]]), array([-1.]))
    >>> round(model.margin_, 6)
    0.707107
    """

    _remedies = _REMEDIES

    def __init__(
        self,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-6,
        max_iter: int = -1,
        *,
        bias: str = "free",
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = True,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
        on_not_separable: str = "raise",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.bias = bias
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose
        self.on_not_separable = on_not_separable

    def fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Find the hyperplane of largest margin.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Rows of weight zero or less take no part. Other weights change nothing, for there are no losses to weigh
            (but gamma="scale" counts rows by their weights).

        Returns
        -------
        self

        Raises
        ------
        NotSeparableError
            If no hyperplane separates two of the classes, unless `on_not_separable` is "warn".
        NotPositiveSemidefiniteError
            If the kernel turns out to have no feature space.
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_choice("bias", self.bias, BIASES)
        require_choice("on_not_separable", self.on_not_separable, ("raise", "warn"))

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        taking_part = np.ones(len(codes)) if weights is None else weights
        C = np.where(taking_part > 0, np.inf, 0.0)
        return TwoClassProblems(codes, len(class_weight), self.multi_class, C, "hinge", self.bias)

    def _solve(self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        may_overlap = self.on_not_separable == "warn"
        return separate_all(data, setup, budget, limits, self.tol, self.n_jobs, may_overlap=may_overlap)

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        self._margins = solved.margins
        errors = [solved.overlaps.get(k) for k in range(len(solved.margins))]
        self.proofs_ = [None if error is None else error.proof for error in errors]
        for error in [error for error in errors if error is not None][:1]:
            self._say(str(error), replaces_status=True)
        keep_normals(self, X, data, solved)

    def _kind_of_certifier(self, setup: Any, solved: Any) -> "type[ProblemCertifier]":
        return SeparationCertifier

    @property
    def margin_(self) -> Any:
        """1 / norm(w_0); one for each two-class problem if there are several classes."""
        require_fitted(self)
        return float(self._margins[0]) if len(self._margins) == 1 else self._margins

    @property
    def normalized_coef_(self) -> FloatArray:
        """w_0 / norm(w_0); only for a linear kernel."""
        coefficients = self.coef_
        rows = cast(Any, coefficients).toarray() if sparse.issparse(coefficients) else coefficients
        return rows * self._margins[:, None]

    @property
    def normalized_intercept_(self) -> FloatArray:
        """b_0 / norm(w_0)."""
        require_fitted(self)
        return self.intercept_ * self._margins
