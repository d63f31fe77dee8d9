"""The classifier that is the centre of mass of the version space."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from mercer._types import Labels, Rows
from mercer.estimators.fitting.parameters import require_count, require_number
from mercer.estimators.fitting.seeds import generator_of
from mercer.estimators.fitting.tasks import one_or_all
from mercer.estimators.svm.version_space import VersionSpaceMachine
from mercer.solvers.result import Status
from mercer.solvers.version_space import solve as centres

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


class BayesPointMachine(VersionSpaceMachine):
    """The centre of mass of the version space, by hit-and-run sampling.

    Every weight vector of length 1 that classifies all rows correctly explains them as well as any
    other. The best prediction is a vote among all of them; the single classifier closest to
    that vote, the Bayes point, is for all practical purposes their mean (Herbrich, Graepel &
    Campbell 2001). Several random walks sample the version space until they agree on it.

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
    tol : float, default=0.02
        The walks agree when R-hat is at most 1 + tol; positive.
    slack : float, default=0.1
        Added to the diagonal of the kernel matrix, 0 or more: rows may then be misclassified, and the version space is
        never empty. 0 is the version space itself, and rows that cannot be separated are then an error.
    bias : {"penalized", "none"}, default="penalized"
        Whether there is a bias, as the weight of a feature that is 1 for every row, or none. A free bias is not offered
        because a version space is a cone.
    n_chains : int, default=4
        Number of random walks, two or more.
    n_draws : int, default=1000
        Number of draws kept from each walk, 16 or more; the second half of them is used.
    min_ess : float, default=200
        Effective sample size, positive, at which to stop.
    random_state : int, RandomState or None, default=None
        Seed of the walks; the same seed gives the same model, and None stands for 0.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How several classes are told apart: by a machine for each pair of classes ("ovo"), or for each class
        against the rest ("ovr"). Classes that win the same number of pairs are told apart by their decision
        values.
    max_iter : int, default=-1
        Largest number of steps for each walk; -1 allows ten million.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory. It must have
        room for several copies of the kernel matrix of a two-class problem.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every round; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print a line to standard error after every round.

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
        Coefficients of the support vectors. With "ovo", a column holds the coefficients of its vector against
        each of the other classes; otherwise there is a row for each two-class problem.
    intercept_ : ndarray of shape (n_problems,)
        Bias of each decision function.
    coef_ : ndarray or CSR of shape (n_problems, d)
        Weights of the features in each decision function; only for the linear kernel.
    n_iter_ : ndarray of shape (n_problems,)
        Steps taken for each two-class problem.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    diagnostics_ : ChainDiagnostics, or a list of them
        R-hat, effective sample size, and how well the direction is known. They replace a certificate, which a sample
        cannot have.
    status_ : Status
        How the fit ended. OPTIMAL says that the diagnostics were met, ITERATION_LIMIT and TIME_LIMIT that they
        were not; a warning is given unless it is OPTIMAL.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
        The progress of the walks, for each two-class problem where there are several; `violation` is R-hat - 1.

    References
    ----------
    Herbrich, Graepel and Campbell (2001), Bayes point machines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import BayesPointMachine
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesPointMachine(kernel="linear", slack=0.0, random_state=0).fit(X, y == 0)
    >>> model.score(X, y == 0)
    1.0
    >>> model.diagnostics_.has_converged(tol=0.02, min_ess=200)
    True
    """

    _judge = "diagnostics_"
    _remedies: ClassVar = {
        Status.ITERATION_LIMIT: "The walks have not mixed: a larger max_iter lets them continue, a larger slack "
        "makes the version space rounder.",
        Status.TIME_LIMIT: "The walks have not mixed: a larger time_limit lets them continue, a larger slack "
        "makes the version space rounder.",
        Status.OPTIMAL_INACCURATE: "The margins are as small as rounding errors; slack=0.01 makes room.",
        Status.STALLED: "The margins are as small as rounding errors; slack=0.01 makes room.",
        Status.INTERRUPTED: "",
    }

    def __init__(
        self,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 0.02,
        *,
        slack: float = 0.1,
        bias: str = "penalized",
        n_chains: int = 4,
        n_draws: int = 1000,
        min_ess: float = 200,
        random_state: int | np.random.RandomState | None = None,
        multi_class: str = "ovo",
        max_iter: int = -1,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.slack = slack
        self.bias = bias
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.min_ess = min_ess
        self.random_state = random_state
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(self, X: Rows, y: Labels) -> Self:  # type: ignore[override]  # no weights
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,)

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_count("n_chains", self.n_chains, least=2)
        require_count("n_draws", self.n_draws, least=16)
        require_number("min_ess", self.min_ess, above=0.0)

    def _centre_finder(self, n_problems: int, limits: "Limits", convex: bool) -> "Callable[..., Solution]":
        seed = generator_of(self.random_state).randint(np.iinfo(np.int32).max)
        seeds = [each.spawn(self.n_chains) for each in np.random.SeedSequence(seed).spawn(n_problems)]

        def find(problem: Any, part: "KernelMatrix", k: int) -> "Solution":
            return centres.solve_bayes(
                problem,
                part,
                seeds=seeds[k],
                n_draws=self.n_draws,
                tol=self.tol,
                min_ess=self.min_ess,
                limits=limits,
                convex=convex,
                n_jobs=self.n_jobs,
            )

        return find

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        found = [getattr(each, "diagnostics", None) or centres.nothing(self.n_chains) for each in solved.solutions]
        self.diagnostics_ = one_or_all(found)
        super()._keep(X, data, setup, solved)

    def _keep_evidence(self, data: "TrainingData", setup: Any, solved: Any) -> None:
        """Nothing: there is no certificate to compute."""

    @property
    def certificate_(self) -> Any:
        """A sample has no duality gap."""
        raise AttributeError("a sampled centre has no certificate_; diagnostics_ says how well it is known")
