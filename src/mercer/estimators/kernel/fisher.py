"""Fisher's discriminant in the features of a kernel."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer._errors import ParameterError
from mercer._jit.threads import Stopped
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_method import KernelMethod
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.certifiers import Computed
from mercer.estimators.fitting.inputs import classes_and_codes, training_input
from mercer.estimators.fitting.parameters import (
    require_choice,
    require_count,
    require_max_iter,
    require_number,
    require_numbers,
)
from mercer.estimators.fitting.weights import sample_weights
from mercer.kernels.gram.symmetric_operator import CenteredOperator, WeightedOperator
from mercer.problems.kernel_methods.fisher import FisherRule, class_counts, indicator_regression
from mercer.problems.kernel_methods.spectrum import centred_expansion
from mercer.solvers.limits import Limits, limits_in_force
from mercer.solvers.linalg import shifted_system
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.problems.kernel_methods.ridge import Ridge, RidgeCertificate


class KernelFisherDiscriminant(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, KernelMethod):
    """The directions in the features of a kernel along which classes lie furthest apart.

    The scatter between classes is maximised against the scatter within them and `alpha` times the
    squared norm. There is at most one direction fewer than there are classes. `transform` gives the
    coordinates along them, and `predict` the class whose mean is nearest there, with priors taken into account.

    Parameters
    ----------
    n_components : int, optional
        Number of directions, at most n_classes - 1, which is the default. `predict` uses no others.
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2" or "precomputed"), an expression such
        as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function
        ``function(x, y, **kernel_params)`` that returns the kernel of two items as a number.
    gamma : float, "scale", "auto" or "median", default="scale"
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features, and
        "median" is one over the median squared distance between rows (for "laplacian", the median absolute
        distance).
    degree : int, default=3
        Degree of the kernel "poly", 0 or more; other kernels ignore it.
    coef0 : float, default=0.0
        Constant term of the kernels "poly" and "sigmoid".
    alpha : float, default=0.1
        The penalty, positive.
    priors : array-like of shape (n_classes,), optional
        Probabilities of the classes, positive numbers that sum to 1; by default the weighted shares of the training
        rows.
    kernel_params : dict, optional
        Keyword arguments for a kernel that is a function.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        How the linear equations are solved: by a factor of the kernel matrix ("cholesky"), or by conjugate gradients
        ("cg"), which never hold the matrix. "auto" uses "cg" if the matrix does not fit in memory or iterations are
        quicker.
    rank : int, default=500
        Largest number of rows of the kernel matrix that the preconditioner of conjugate gradients uses.
    tol : float, default=1e-8
        Largest residual of the equations, relative to their right-hand sides; positive.
    max_iter : int, default=-1
        Largest number of iterations of conjugate gradients; -1 sets no limit.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory. If there is
        no room for the factor of `solver="cholesky"`, `fit` raises an error.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` as the solver proceeds; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print the progress of the solver to standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    dual_coef_ : ndarray of shape (n, n_components)
        Coefficients of the directions, in the kernel before centring.
    intercept_ : ndarray of shape (n_components,)
        Constant term of each coordinate.
    scalings_ : ndarray of shape (n_components,)
        Scatter between classes over penalised scatter within, along each direction.
    means_ : ndarray of shape (n_classes, n_components)
        Mean of each class along the directions.
    priors_ : ndarray of shape (n_classes,)
        Probabilities of the classes that `predict` uses.
    certificate_ : RidgeCertificate
        Certificate of the regression of class indicators to which the problem reduces, computed when first read.
    jitter_ : float
        The amount added to `alpha` because the matrix was singular to working precision.
    n_iter_ : int
        Number of products with the kernel matrix.
    solver_ : str
        The method that was used.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    expansion_ : Expansion
        The directions as sums of kernels.
    trace_ : list of TracePoint
        The progress of the solver.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.

    References
    ----------
    Mika, Raetsch, Weston, Schoelkopf and Mueller (1999), Fisher discriminant analysis with kernels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelFisherDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherDiscriminant().fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    >>> round(model.score(X, y), 2)
    0.99
    """

    if TYPE_CHECKING:

        @property
        def certificate_(self) -> RidgeCertificate: ...

    _remedies: ClassVar = {
        Status.ITERATION_LIMIT: "A larger max_iter or rank helps.",
        Status.OPTIMAL_INACCURATE: "jitter_ says what was added to alpha; a larger alpha needs none.",
        Status.TIME_LIMIT: "A larger time_limit helps.",
        Status.STALLED: "A larger alpha, rank or tol helps.",
        Status.INTERRUPTED: "Fit again.",
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        alpha: float = 0.1,
        priors: ArrayLike | None = None,
        kernel_params: dict[str, Any] | None = None,
        solver: str = "auto",
        rank: int = 500,
        tol: float = 1e-8,
        max_iter: int = -1,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.priors = priors
        self.kernel_params = kernel_params
        self.solver = solver
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Find the directions that separate the classes of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            How many copies of a row there are; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _learn(self, limits: Limits, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
        X, y = training_input(self, X, y)
        classes, codes = classes_and_codes(y)
        count = self._count(len(classes))
        weights = np.ones(len(codes)) if sample_weight is None else sample_weights(sample_weight, codes, classes)
        counts = class_counts(codes, weights, len(classes))
        priors = self._resolved_priors(counts)
        used = np.flatnonzero(weights)
        data = self._training_data(X, None if sample_weight is None else weights)
        part = data.subset(used)
        problem = indicator_regression(codes[used], weights[used], len(classes), self.alpha)
        means, found = self._solve(part, problem, limits)
        self.classes_, self.priors_, self.X_fit_ = classes, priors, X
        rule = FisherRule.of(problem, found.X, counts, priors, count)
        self._keep(data, used, problem, rule, means, found)
        compute = self._certificate_of(part, problem, problem.scale[:, None] * found.X)
        self._evidence = Evidence(part, Computed(len(used), compute, found.known_residual))
        self._decide_status()

    def _check_parameters(self) -> None:
        self._check_shared_parameters()
        require_number("alpha", self.alpha, above=0.0)
        require_number("tol", self.tol, above=0.0)
        require_max_iter(self.max_iter)
        require_count("rank", self.rank)
        require_choice("solver", self.solver, shifted_system.METHODS)

    def _count(self, n_classes: int) -> int:
        if self.n_components is None:
            return n_classes - 1
        require_count("n_components", self.n_components)
        if self.n_components > n_classes - 1:
            raise ParameterError(
                f"n_components must be at most n_classes - 1 = {n_classes - 1}, got {self.n_components}"
            )
        return self.n_components

    def _resolved_priors(self, counts: FloatArray) -> FloatArray:
        if self.priors is None:
            return counts / counts.sum()
        n_classes = len(counts)
        priors = require_numbers("priors", self.priors)
        if priors.shape != (n_classes,) or not (priors > 0).all() or not np.isclose(priors.sum(), 1.0):
            raise ParameterError(f"priors must be {n_classes} positive numbers that sum to 1, got {self.priors!r}")
        return priors

    def _solve(self, data: "TrainingData", problem: "Ridge", limits: Limits) -> tuple[FloatArray, Any]:
        """Means of the rows of the kernel matrix, and the solution of the equations."""
        request = shifted_system.Request(
            float(self.tol), limits, self._budget(data.X), self.solver, int(self.rank), n_jobs=self.n_jobs
        )
        if self.solver == "cholesky":
            needed = request.factor_bytes(data.shape[0])
            self._require_room(data, needed, 'solver="cholesky"', 'use solver="cg"')
        try:
            operator = CenteredOperator(self._operator(data, limits), stop=limits.stop, shares=_shares(problem))
        except Stopped:
            status = limits.reached() or Status.INTERRUPTED
            nothing = shifted_system.RegularisedSolution(np.zeros(problem.targets.shape), status, self.solver)
            return np.zeros(len(problem.targets)), nothing
        weighted = operator if _is_plain(problem) else WeightedOperator(operator, problem.scale)
        return operator.means, shifted_system.solve(weighted, problem.right(), float(self.alpha), request)

    def _keep(
        self, data: "TrainingData", used: IndexArray, problem: "Ridge", rule: FisherRule, means: FloatArray, found: Any
    ) -> None:
        self._rule = rule
        coefficients = np.zeros((data.shape[0], rule.coefficients.shape[1]))
        coefficients[used], self.intercept_ = centred_expansion(rule.coefficients, means, _shares(problem))
        self.dual_coef_, self.scalings_, self.means_ = coefficients, rule.ratios, rule.means
        self.expansion_ = self._expansion(data, coefficients, self.intercept_)
        self.status_, self.jitter_, self.trace_ = found.status, found.jitter, found.trace
        self.n_iter_, self.solver_ = max(1, found.iterations), found.method
        self._n_features_out = coefficients.shape[1]

    def _certificate_of(self, data: "TrainingData", problem: "Ridge", solution: FloatArray) -> Callable[[], Any]:
        def compute() -> Any:
            limits = limits_in_force()
            operator = CenteredOperator(self._operator(data, limits), stop=limits.stop, shares=_shares(problem))
            return problem.certificate(solution, operator.product(solution, limits.stop))

        return compute

    def transform(self, X: Rows) -> FloatArray:
        """Coordinates along the directions, in which the (penalised) covariance of a class is the identity.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        return self._evaluate(X)

    def decision_function(self, X: Rows) -> FloatArray:
        """Logarithms of the classes' densities times priors, up to a common term.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n, n_classes), or (n,) for two classes: the second less the first
        """
        coordinates = self._evaluate(X)
        scores = self._rule.scores(coordinates)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Rows) -> Array:
        """The label of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[chosen]


def _is_plain(problem: "Ridge") -> bool:
    """Whether every row counts once."""
    return bool((problem.scale == 1.0).all())


def _shares(problem: "Ridge") -> FloatArray | None:
    """The weight of each row in the mean; None if they are equal."""
    return None if _is_plain(problem) else problem.scale**2 / (problem.scale**2).sum()
