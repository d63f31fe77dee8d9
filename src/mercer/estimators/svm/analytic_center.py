"""The classifier that is the analytic centre of the version space."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from mercer.estimators.svm.version_space import VersionSpaceMachine
from mercer.solvers.result import Status
from mercer.solvers.version_space import solve as centres

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


class AnalyticCenterMachine(VersionSpaceMachine):
    """The analytic centre of the version space: the classifier with the largest product of margins.

    Among all weight vectors of length 1 that classify every row correctly, it maximises the product
    of the margins <w, y_i psi(x_i)>; every row has a say, whereas the hard margin listens only to the
    nearest ones. It is found by damped Newton steps from the ball centre, and certified by a
    duality gap and by the Newton decrement.

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
    tol : float, default=1e-5
        Newton decrement, positive, at which to stop: the logarithm of the product is then within tol^2 of its maximum.
    slack : float, default=0.1
        Added to the diagonal of the kernel matrix, 0 or more: rows may then be misclassified, and the version space is
        never empty. 0 is the version space itself, and rows that cannot be separated are then an error.
    bias : {"penalized", "none"}, default="penalized"
        Whether there is a bias, as the weight of a feature that is 1 for every row, or none. A free bias is not offered
        because a version space is a cone.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How several classes are told apart: by a machine for each pair of classes ("ovo"), or for each class
        against the rest ("ovr"). Classes that win the same number of pairs are told apart by their decision
        values.
    max_iter : int, default=-1
        Largest number of Newton steps for each two-class problem; -1 sets no limit.
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
        Positions of the support vectors in the training data, grouped by class; every row is one.
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
        Newton steps taken for each two-class problem.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    certificate_ : CenterCertificate, or a list of them
        Duality gap, Newton decrement and smallest margin, recomputed from the training data.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
        The Newton steps, for each two-class problem where there are several; `violation` is the Newton
        decrement.

    References
    ----------
    Trafalis and Malyscheff (2002), An analytic center machine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import AnalyticCenterMachine
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AnalyticCenterMachine(kernel="linear", slack=0.0).fit(X, y == 0)
    >>> model.score(X, y == 0)
    1.0
    >>> certificate = model.certificate_
    >>> certificate.newton_decrement < 1e-5, certificate.smallest_margin > 0
    (True, True)
    """

    _remedies: ClassVar = {
        Status.ITERATION_LIMIT: "Raise max_iter.",
        Status.TIME_LIMIT: "Raise time_limit.",
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
        tol: float = 1e-5,
        *,
        slack: float = 0.1,
        bias: str = "penalized",
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
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose

    def _centre_finder(self, n_problems: int, limits: "Limits", convex: bool) -> "Callable[..., Solution]":
        def find(problem: Any, part: "KernelMatrix", _: int) -> "Solution":
            return centres.solve_analytic(problem, part, tol=self.tol, limits=limits, convex=convex)

        return find
