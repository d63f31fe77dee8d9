"""Logistic regression with a kernel."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_classifier import BlockKernelClassifier
from mercer.estimators.conformal.prediction_sets import PredictsSets
from mercer.estimators.fitting.certifiers import JointCertifier
from mercer.estimators.fitting.inputs import require_fitted
from mercer.estimators.fitting.parameters import require_choice, require_optional_number
from mercer.estimators.fitting.training import whole_matrix
from mercer.estimators.fitting.two_class import JointSolved, TwoClassProblems
from mercer.estimators.fitting.weights import weighted_C
from mercer.estimators.low_rank.low_rank import Objective
from mercer.problems.kernel_methods.kernel_risk import KernelRisk
from mercer.problems.kernel_methods.multinomial import Multinomial, log_probabilities
from mercer.problems.losses.margin_losses import LOSSES_OF_MARGINS
from mercer.problems.svm.soft_margin import BIASES
from mercer.solvers.low_rank import smooth
from mercer.solvers.result import Status
from mercer.solvers.smooth import newton, newton_gram

if TYPE_CHECKING:
    from mercer.estimators.conformal.conformal import Conformal
    from mercer.estimators.fitting.certifiers import ProblemCertifier
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.regularization import Regularization
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


class _LogisticProblem(TwoClassProblems):
    """One problem for all classes, with one function for each of them (for two classes, one)."""

    if TYPE_CHECKING:
        joint: KernelRisk | Multinomial

    def __init__(self, codes: IndexArray, n_classes: int, C: FloatArray, bias: str) -> None:
        super().__init__(codes, n_classes, "ovr", C, "logistic", bias)
        task = self.tasks[0]
        weights = C[task.indices]
        if n_classes == 2:
            self.joint = KernelRisk(task.signs, weights, LOSSES_OF_MARGINS["logistic"], bias)
        else:
            self.joint = Multinomial(codes[task.indices], weights, n_classes, bias)


class KernelLogisticRegression(PredictsSets, BlockKernelClassifier):
    """Logistic regression in the feature space of any kernel: probabilities without calibration.

    With two classes there is one function, and p(x) = 1 / (1 + exp(-f(x))). With more there is one for each
    class, and the probabilities are their softmax. The objective is (1/2)|w|^2 plus C times the sum of minus
    log-probabilities, minimised by Newton's method; `certificate_` has its dual (Fenchel) and the gap. Every
    row has a coefficient, so the model is as large as the training data.

    Parameters
    ----------
    C : float or Regularization, default=1.0
        Weight of the losses against the norm, positive and finite.
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
    tol : float, default=1e-3
        Largest difference at the end between a coefficient and C times the error of its probability, as a share of C,
        and the largest relative duality gap; positive.
    class_weight : dict or "balanced", optional
        Factors on C by class. A dictionary maps labels to positive numbers, and classes it leaves out have 1;
        "balanced" makes them inversely proportional to the class frequencies. By default every class has 1.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the bias is left out of the penalty ("free"), is the weight of a constant feature of value 1 and
        so part of the penalty ("penalized"), or is absent ("none").
    max_iter : int, default=-1
        Largest number of Newton steps, of which five to ten are usual; -1 sets no limit.
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
    approximation : LowRank, optional
        Restricts the machine to landmarks, for many rows: see `mercer.LowRank`. By default the machine is exact.
    conformal : {None, "split", "cross"} or Conformal, default=None
        Whether to calibrate `predict_set`, on rows set aside ("split") or left out fold by fold ("cross", ten more
        fits). See `mercer.Conformal`.

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
    dual_coef_ : ndarray of shape (n_functions, n_support)
        Coefficients of the support vectors, with a row for each function: one for two classes, otherwise one
        for each class.
    intercept_ : ndarray of shape (n_functions,)
        Bias of each function.
    coef_ : ndarray or CSR of shape (n_functions, d)
        Weights of the features in each function; only for the linear kernel.
    n_iter_ : ndarray of shape (1,)
        Newton steps taken.
    class_weight_ : ndarray of shape (n_classes,)
        The factor on C of each class.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    certificate_ : Certificate
        Certificate of all functions together; its `kkt_violation` is the quantity that `tol` bounds.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    distance_ : Distance, or a list of them
        With an `approximation`: how far the objective may be from that of the exact machine, beyond the gap.
    approximation_ : LandmarksUsed
        With an `approximation`: how many landmarks there are, how they were chosen, and the jitter of their matrix.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint
        The Newton steps.

    References
    ----------
    Jaakkola and Haussler (1999); Keerthi, Duan, Shevade and Poo (2005); Zhu and Hastie (2005).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelLogisticRegression(C=10.0).fit(X, y)
    >>> model.status_.name, model.certificate_.is_optimal(1e-3)
    ('OPTIMAL', True)
    >>> model.predict_proba(X[[0]]).round(2)
    array([[0.99, 0.01, 0.  ]])
    """

    # One function per class; the largest wins.
    multi_class, decision_function_shape, break_ties = "ovr", "ovr", False
    _remedies: ClassVar = {
        Status.STALLED: "Scale the features, lower C, or ask for less with a larger tol.",
    }

    def __init__(
        self,
        C: "float | Regularization" = 1.0,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        class_weight: dict[Any, float] | str | None = None,
        *,
        bias: str = "free",
        max_iter: int = -1,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        cache_size: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
        approximation: "LowRank | None" = None,
        conformal: "str | Conformal | None" = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.bias = bias
        self.max_iter = max_iter
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose
        self.approximation = approximation
        self.conformal = conformal

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_choice("bias", self.bias, BIASES)

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        C = weighted_C(self.C, codes, class_weight, weights)
        if not np.isfinite(C).all():
            raise ParameterError(
                f"C must be finite for the logistic loss, also after weighting, got {self.C!r}: "
                "where classes can be separated, no w attains the minimum"
            )
        return _LogisticProblem(codes, len(class_weight), C, self.bias)

    def _objectives(self, setup: Any) -> list[Objective] | None:
        if setup.n_classes > 2:
            return None
        return [Objective(setup.joint.targets, setup.joint.C, "logistic", setup.joint.bias)]

    def _bytes_beside(self, n: int, m: int, setup: Any) -> int:
        count = len(setup.tasks[0].indices)
        copied = 8 * count * m if count < n else 0
        return copied + smooth.bytes_beside(count, m, setup.joint.n_functions, setup.joint.bias, in_single=False)

    def _solve_coordinates(
        self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits"
    ) -> "SolvedProblems":
        indices = setup.tasks[0].indices
        starts = cast(Any, self._starts(setup))
        start = None if starts is None else np.stack(starts, axis=1)
        rows, memory = data.X, budget.left - data.X.nbytes
        if len(indices) < len(rows):
            rows = rows[indices]
            memory -= rows.nbytes
        how = {"tol": self.tol, "gap_tol": self.gap_tol, "limits": limits, "start": start, "memory": memory}
        return JointSolved(setup, smooth.solve(setup.joint, rows, **how))

    def _solve(self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        starts, indices = cast(Any, self._starts(setup)), setup.tasks[0].indices
        if starts is not None:
            starts = starts[0] if len(starts) == 1 else np.stack(starts, axis=1)

        def solve(matrix: "KernelMatrix") -> "Solution":
            return newton.solve(
                setup.joint,
                matrix,
                tol=self.tol,
                limits=limits,
                start=starts,
                gap_tol=self.gap_tol,
                convex=data.kernel.is_psd is True,
                memory=budget.cache,
            )

        # Coefficients are as large as C, and multiply the errors of entries.
        precision = self.tol / max(1.0, float(setup.C.max())) if len(indices) > newton_gram.FACTORED else 0.0
        matrix = data.matrix(precision, self.gap_tol, budget, self.n_jobs)
        empty = np.zeros((len(indices), setup.joint.n_functions))
        return JointSolved(setup, whole_matrix(matrix, indices, budget, limits, solve, empty, keeps=False))

    def _kind_of_certifier(self, setup: Any, solved: Any) -> "type[ProblemCertifier]":
        return JointCertifier

    def predict_log_proba(self, X: Rows) -> FloatArray:
        """Logarithms of the probabilities of each class, accurate where those are tiny.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        require_fitted(self)
        return log_probabilities(self._values(X))

    def predict_proba(self, X: Rows) -> FloatArray:
        """Probability of each class, in the order of `classes_`; `predict` is the largest.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Rows) -> Array:
        """The most probable label of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        # By decision values, since probabilities next to 0.5 may be equal after rounding.
        values = self.decision_function(X)
        most_probable = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[most_probable]
