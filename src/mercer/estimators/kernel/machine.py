"""The representer theorem as an estimator: any convex loss, any kernel."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import RegressorTags
from sklearn.utils.metaestimators import available_if

from mercer._errors import ParameterError
from mercer._jit.threads import thread_count
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier
from mercer.estimators.fitting.inputs import regression_input
from mercer.estimators.fitting.parameters import require_choice, require_optional_number
from mercer.estimators.fitting.tasks import BinaryTask
from mercer.estimators.fitting.training import Budget, keeping_all, solve_all
from mercer.estimators.fitting.two_class import Solved, TwoClassProblems
from mercer.estimators.fitting.weights import target_weights, weighted_C
from mercer.problems.kernel_methods.kernel_risk import KernelRisk
from mercer.problems.losses.residual_losses import resolve_loss
from mercer.problems.regularization import Regularization
from mercer.problems.svm.soft_margin import BIASES
from mercer.solvers.result import Status
from mercer.solvers.smooth import solve as kernel_risk

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.losses.margin_losses import Loss
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


TASKS = ("auto", "classification", "regression")


def is_for_labels(machine: "KernelMachine") -> bool:
    """Whether a machine is a classifier."""
    if machine.task != "auto":
        return machine.task == "classification"
    return resolve_loss(machine.loss).of == "margin"


class _Risks(TwoClassProblems):
    """Two-class problems with any loss; targets are the signs."""

    def __init__(
        self, codes: IndexArray, n_classes: int, multi_class: str, C: FloatArray, loss: "Loss", bias: str
    ) -> None:
        super().__init__(codes, n_classes, multi_class, C, loss.name, bias)
        self.problems = [KernelRisk(task.signs, C[task.indices], loss, bias) for task in self.tasks]


class _OneRisk:
    """A regression laid out like the problems of a classifier: one class, one function."""

    has_pairs, n_classes, classes = False, 1, None

    def __init__(self, targets: FloatArray, C: FloatArray, loss: "Loss", bias: str) -> None:
        used = np.flatnonzero(C)
        self.codes, self.C = np.zeros(len(C), dtype=np.intp), C
        self.tasks = [BinaryTask(used, targets[used], (0,))]
        self.problems = [KernelRisk(targets[used], C[used], loss, bias)]


class KernelMachine(KernelClassifier):
    """The function of least regularised loss in the space of a kernel, for any convex loss.

    It minimises the sum of losses plus alpha times |w|^2, whose minimiser is a sum of kernels at the training rows (the
    representer theorem). Losses of the margin classify; losses of the residual predict quantities, or classify by
    targets of +1 and -1.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        "hinge", "squared_hinge", "logistic", "exponential" (of the margin); "squared", "huber",
        "epsilon_insensitive", "squared_epsilon_insensitive", "pinball" (of the residual); a loss with
        other parameters, such as `Huber(delta=0.5)`; or one of your own, `CustomLoss`.
    alpha : float or Regularization, default=0.5
        Weight of the penalty, in sum of losses + alpha |w|^2; positive. 0.5 corresponds to C = 1 of `SVC`, and with the
        loss "squared" it is the alpha of `KernelRidge`. `Regularization` offers the forms with a mean.
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed" or "auto"), an
        expression such as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function that
        returns the kernel matrix of two sets of rows. "auto" chooses a kernel from the data; `kernel_` and
        `kernel_reason_` say which and why. "auto" is only for classification.
    degree : int, default=3
        Degree of the kernel "poly", 0 or more; other kernels ignore it.
    gamma : float, "scale", "auto" or "median", default="scale"
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features, and
        "median" is one over the median squared distance between rows (for "laplacian", the median absolute
        distance).
    coef0 : float, default=0.0
        Constant term of the kernels "poly" and "sigmoid".
    task : {"auto", "classification", "regression"}, default="auto"
        "auto" classifies with losses of the margin, and predicts quantities with those of the residual.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the bias is left out of the penalty ("free"), is the weight of a constant feature of value 1 and
        so part of the penalty ("penalized"), or is absent ("none").
    tol : float, default=1e-3
        Largest violation of the optimality conditions: in units of f where the dual is a quadratic
        program, as a share of C otherwise (see `certificate_`).
    class_weight : dict or "balanced", optional
        Factors on the losses by class, only for classification. A dictionary maps labels to positive numbers,
        and classes it leaves out have 1; "balanced" makes them inversely proportional to the class frequencies.
        By default every class has 1.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How several classes are told apart: by a machine for each pair of classes ("ovo"), or for each class
        against the rest ("ovr").
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Columns of `decision_function` for more than two classes fitted in pairs: one for each class ("ovr"), or
        one for each pair ("ovo").
    break_ties : bool, default=False
        Whether classes that win the same number of pairs are told apart by their decision values; otherwise the
        first of them is predicted.
    max_iter : int, default=-1
        Largest number of solver steps for each function; -1 sets no limit.
    gap_tol : float, optional
        Relative duality gap, positive, at which to stop instead of at `tol`.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory.
    cache_size : float, optional
        Megabytes of kernel rows to keep in memory; by default a quarter of the free memory.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit, if the number of rows is the same.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every round; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print a line to standard error after every round.

    Attributes
    ----------
    classes_ : ndarray
        The class labels, sorted; only for classification.
    loss_ : Loss
        What `loss` stands for.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data, grouped by class.
    support_vectors_ : array or CSR of shape (n_support, d)
        The support vectors; empty if the kernel is precomputed.
    n_support_ : ndarray of shape (n_classes,) or (1,)
        Number of support vectors of each class; in regression, of all of them.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support) or (n_problems, n_support)
        Coefficients of the support vectors. With "ovo", a column holds the coefficients of its vector against
        each of the other classes; otherwise there is a row for each two-class problem.
    intercept_ : ndarray of shape (n_problems,)
        Bias of each function.
    coef_ : ndarray or CSR of shape (n_problems, d)
        Weights of the features in each function; only for the linear kernel.
    n_iter_ : ndarray of shape (n_problems,)
        Steps taken for each function.
    n_features_in_ : int
        Number of features seen by `fit`.
    certificate_ : Certificate, or a list of them
        Primal, dual by Fenchel's conjugate, and their gap, for every loss.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    expansion_ : Expansion
        The functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
        The rounds of the solver, for each function where there are several.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Huber, KernelMachine
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> y[20] = 30.0
    >>> squared = KernelMachine(loss="squared", alpha=0.1).fit(X, y)
    >>> robust = KernelMachine(loss=Huber(delta=0.1), alpha=0.1).fit(X, y)
    >>> error = [np.abs(m.predict(X) - np.sin(X[:, 0])).mean() for m in (squared, robust)]
    >>> bool(error[1] < 0.2 * error[0]), robust.status_.name
    (True, 'OPTIMAL')
    """

    _remedies: ClassVar = {
        Status.STALLED: "Scale the features, raise alpha, or ask for less with a larger tol; "
        "a loss of your own must have a continuous derivative.",
    }

    def __init__(
        self,
        loss: "str | Loss" = "hinge",
        alpha: float | Regularization = 0.5,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        *,
        task: str = "auto",
        bias: str = "free",
        tol: float = 1e-3,
        class_weight: dict[Any, float] | str | None = None,
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        max_iter: int = -1,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        cache_size: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.task = task
        self.bias = bias
        self.tol = tol
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.max_iter = max_iter
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        if not self._classifies:
            tags.estimator_type, tags.classifier_tags, tags.regressor_tags = "regressor", None, RegressorTags()
        return tags

    @property
    def _classifies(self) -> bool:
        return is_for_labels(self)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_choice("bias", self.bias, BIASES)
        require_choice("task", self.task, TASKS)
        self.loss_ = resolve_loss(self.loss)
        if self.task == "regression" and self.loss_.of == "margin":
            raise ParameterError(
                f"loss {self.loss_.name!r} is a loss of the margin and cannot predict quantities; "
                "'squared', 'huber', 'epsilon_insensitive' and 'pinball' can"
            )
        if not self._classifies and self.class_weight is not None:
            raise ParameterError(f"class_weight must be None where quantities are predicted, got {self.class_weight!r}")

    @property
    def _C(self) -> float | Regularization:
        if isinstance(self.alpha, Regularization):
            return self.alpha
        return Regularization.from_alpha(self.alpha)

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        C = self._finite(weighted_C(self._C, codes, class_weight, weights))
        return _Risks(codes, len(class_weight), self.multi_class, C, self.loss_, self.bias)

    def _finite(self, C: FloatArray) -> FloatArray:
        if not np.isfinite(C).all():
            raise ParameterError(
                f"alpha must be large enough for finite weights of the losses, got {self.alpha!r}; raise it"
            )
        return C

    def _learn(self, limits: "Limits", X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
        if self._classifies:
            super()._learn(limits, X, y, sample_weight)
            return
        X, y = regression_input(self, X, y)
        weights = None if sample_weight is None else target_weights(sample_weight, len(y))
        C = self._finite(weighted_C(self._C, np.zeros(len(y), dtype=np.intp), np.ones(1), weights))
        setup = _OneRisk(y, C, self.loss_, self.bias)
        budget = Budget.resolve(self.memory_limit, self.cache_size, X)
        self._items, data = self._training_data(X, weights, budget)
        solved = self._solve(data, setup, budget, limits)
        vars(cast(Any, self)).pop("classes_", None)
        self._keep(X, data, setup, solved)

    def _solve(self, data: "TrainingData", setup: Any, budget: Budget, limits: "Limits") -> "SolvedProblems":
        starts, memory = self._starts(setup), budget.working
        if self.loss_.form is None:
            # Newton's method keeps a whole matrix for each problem solved at the same time.
            memory = budget.cache // min(len(setup.tasks), thread_count(self.n_jobs))

        def solve(problem: Any, part: "KernelMatrix", k: int) -> "Solution":
            return kernel_risk.solve(
                problem,
                part,
                tol=self.tol,
                limits=limits,
                start=None if starts is None else starts[k],
                gap_tol=self.gap_tol,
                memory=memory,
                convex=data.kernel.is_psd is True,
            )

        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        if self.loss_.form is None:
            matrix = keeping_all(matrix, budget, limits.stop)
        return Solved(setup, solve_all(setup.problems, setup.tasks, matrix, budget, solve, limits, self.n_jobs))

    @available_if(is_for_labels)
    def decision_function(self, X: Rows) -> FloatArray:
        """Signed scores: above 0 for the second of two classes, else one column per class or pair; not for quantities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
        """
        return super().decision_function(X)

    def predict(self, X: Rows) -> Array:
        """The label of each row of X, or its quantity.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        return super().predict(X) if self._classifies else self._values(X)[:, 0]

    def score(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of a classifier, R^2 of a regression."""
        if self._classifies:
            return super().score(X, y, sample_weight)
        return RegressorMixin.score(self, X, y, sample_weight)
