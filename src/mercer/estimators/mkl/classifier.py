"""Classification over several kernels whose weights are learnt (multiple kernel learning)."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier, refuse_ties_of_pairs
from mercer.estimators.fitting.parameters import require_choice, require_number
from mercer.estimators.fitting.two_class import TwoClassProblems
from mercer.estimators.fitting.weights import weighted_C
from mercer.estimators.low_rank.low_rank import Objective
from mercer.estimators.mkl.base import WeightedKernelModel
from mercer.estimators.mkl.cv import Fold, share_correct
from mercer.problems.losses.margin_losses import MARGIN_LOSSES
from mercer.problems.mkl.alignment import class_targets
from mercer.problems.svm.soft_margin import BIASES

if TYPE_CHECKING:
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.kernels.base.kernel import Kernel
    from mercer.problems.regularization import Regularization


class MKLClassifier(WeightedKernelModel, KernelClassifier):
    r"""Support vector classifier over several kernels, with weights that are learnt.

    The kernel is :math:`\sum_m \mu_m k_m / s_m`: every base kernel is first brought to a common scale (`normalize`),
    and `method` says how the weights :math:`\mu` are found. Several classes share one set of weights: all pairs of
    them, or each against the rest, are solved with the same kernel.

    Parameters
    ----------
    kernels : list, "columns", "precomputed" or None, default=None
        Base kernels: a list of names, expressions, kernels from `mercer.kernels` or functions; "columns", one for each
        column of a table, chosen by its contents (`Columns.infer`); or "precomputed", where X is a list of kernel
        matrices or an array of shape (n_kernels, n, n_train). None stands for the linear kernel and Gaussians of five
        widths around ``gamma="scale"``.
    method : str, default="simple"
        - "simple": the weights with sum 1 that minimise the objective of the machine; few kernels remain (SimpleMKL).
        - "lp-norm": the same for weights of `p`-norm 1; all kernels remain (Kloft et al. 2011).
        - "easy": what each kernel contributes to the distance between the classes (EasyMKL).
        - "alignment": largest alignment with the labels (Cristianini et al. 2002).
        - "centered_alignment": the same after centring (Cortes et al. 2012).
        - "cv": the weights that do best on rows left out, one kernel after the other.
        - "average": equal weights.
    C : float or Regularization, default=1.0
        Weight of the losses against the margin, positive; `Regularization` offers the other ways of writing it.
    p : float, default=2.0
        For "lp-norm": the norm of the weights, 1 or more.
    lam : float, default=0.1
        For "easy": between 0, where few points decide (the margin), and 1, where all do (the distance between the
        means).
    normalize : {"variance", "trace", None}, default="variance"
        The divisor of each kernel: the variance of its features (Kloft et al. 2011), the mean of k(x, x),
        or nothing. A constant kernel has no variance and is divided by the mean; a kernel that is zero is left
        as it is.
    cv : int, splitter or iterable, default=5
        For "cv": a number of folds, two or more, to which rows are dealt according to their contents; or a scikit-learn
        splitter; or an iterable of splits. Machines learn from the first part of each split and are judged by the
        second. A split whose first part has only one class is left out, with a warning. Parameters taken from the data,
        and `normalize`, are taken once, from all rows.
    class_weight : dict or "balanced", optional
        Factors on C by class. A dictionary maps labels to positive numbers, and classes it leaves out have 1;
        "balanced" makes them inversely proportional to the class frequencies. By default every class has 1.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the bias is left out of the penalty ("free"), is the weight of a constant feature of value 1 and
        so part of the penalty ("penalized"), or is absent ("none").
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss of a row short of the margin: the shortfall, or its square.
    multi_class : {"ovo", "ovr"}, default="ovo"
        How several classes are told apart: by a machine for each pair of classes ("ovo"), or for each class
        against the rest ("ovr").
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Columns of `decision_function` for more than two classes fitted in pairs: one for each class ("ovr"), or
        one for each pair ("ovo").
    break_ties : bool, default=False
        Whether classes that win the same number of pairs are told apart by their decision values; otherwise the
        first of them is predicted. Not allowed with `decision_function_shape="ovo"`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions of the machines, positive. "simple" and "lp-norm" continue with a
        smaller one if `gap_tol` requires it.
    gap_tol : float, default=1e-3
        For "simple" and "lp-norm": the duality gap, of machines and weights together, at which to stop, as a
        share of the primal objective; positive.
    max_iter : int, default=-1
        For "simple" and "lp-norm": the largest number of times the machines are solved with new weights; -1 sets no
        limit.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory. If the
        matrices of all kernels do not fit, weighted sums are computed from the data, tile by tile, whenever
        they are needed.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    approximation : LowRank, optional
        Restricts the machines to landmarks, for many rows: see `mercer.LowRank`. Weights are learnt over the same
        landmarks, with coordinates of each kernel by itself. By default everything is exact.
    random_state : int, RandomState or None, default=None
        For "cv": a seed deals the rows to the folds in another way. Nothing else is random.
    callbacks : list of callables, optional
        Functions called with a `WeightPoint` for every set of weights with which the machines were solved; a
        true return value ends the fit.
    verbose : bool, default=False
        Whether to print a line to standard error for every set of weights.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Weights of the normalised kernels, with sum 1 or, for "lp-norm", with p-norm 1.
    scales_ : ndarray of shape (n_kernels,)
        The divisor of each kernel.
    kernel_ : Kernel
        The weighted sum of the kernels whose weight is not zero.
    kernel_names_ : list of str
        Names of the columns for "columns", otherwise the kernels as they were given.
    certificate_ : WeightedCertificate
        Primal and dual objective and their gap, recomputed in double precision from the training data when
        first read; summed over the machines, and for "simple" and "lp-norm" of machines and weights together.
    weights_certificate_ : WeightedCertificate
        With an `approximation`: that of the weights, for which each kernel has coordinates of its own;
        `certificate_` is then that of the machines with these weights.
    distance_ : Distance or list of Distance
        With an `approximation`: how far the objective may be from that of the exact machine with the same weights,
        beyond the gap.
    approximation_ : LandmarksUsed
        With an `approximation`: how many landmarks there are, how they were chosen, and the jitter of their matrix.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    trace_ : list of WeightPoint
        The weights with which the machines were solved, in order.
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
    n_iter_ : ndarray of shape (1,)
        Number of times the machines were solved with new weights.
    fit_status_ : int
        0 if `status_` is OPTIMAL, otherwise 1.
    class_weight_ : ndarray of shape (n_classes,)
        The factor on C of each class.
    shape_fit_ : tuple of int
        Shape of the training data.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import MKLClassifier
    >>> from mercer.kernels import RBF, On
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> parts = {"means": range(10), "errors": range(10, 20), "extremes": range(20, 30)}
    >>> kernels = [On(list(columns), RBF(gamma=0.05)) for columns in parts.values()]
    >>> model = MKLClassifier(kernels).fit(X, y)
    >>> dict(zip(parts, model.weights_.round(2).tolist()))
    {'means': 0.11, 'errors': 0.14, 'extremes': 0.75}
    >>> model.certificate_.relative_gap < 1e-3
    True
    """

    _methods = ("cv", "alignment", "centered_alignment", "average", "simple", "easy", "lp-norm")
    _enough = "rows of two classes"

    def __init__(
        self,
        kernels: "Sequence[str | Kernel | Callable[..., Any]] | str | None" = None,
        *,
        method: str = "simple",
        C: "float | Regularization" = 1.0,
        p: float = 2.0,
        lam: float = 0.1,
        normalize: str | None = "variance",
        cv: Any = 5,
        class_weight: dict[Any, float] | str | None = None,
        bias: str = "free",
        loss: str = "hinge",
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        tol: float = 1e-3,
        gap_tol: float = 1e-3,
        max_iter: int = -1,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        approximation: "LowRank | None" = None,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernels = kernels
        self.method = method
        self.C = C
        self.p = p
        self.lam = lam
        self.normalize = normalize
        self.cv = cv
        self.class_weight = class_weight
        self.bias = bias
        self.loss = loss
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.tol = tol
        self.gap_tol = gap_tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.approximation = approximation
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(
        self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Learn kernel weights and machines from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), a table, items, or (n_kernels, n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies the loss of each row; rows of weight zero or less take no part.
        groups : array-like of shape (n,), optional
            For "cv": the group of each row, for a `cv` that keeps groups together.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight, groups)

    def predict(self, X: Rows) -> Array:
        """The label of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), a table, items, or (n_kernels, n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        refuse_ties_of_pairs(self)
        return super().predict(X)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("lam", self.lam, above=0.0, below=1.0)
        require_choice("bias", self.bias, BIASES)
        require_choice("loss", self.loss, MARGIN_LOSSES)

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        C = weighted_C(self.C, codes, class_weight, weights)
        return TwoClassProblems(codes, len(class_weight), self.multi_class, C, self.loss, self.bias)

    def _objectives(self, setup: Any) -> list[Objective]:
        return [Objective(each.signs, each.C, each.loss, each.bias) for each in setup.problems]

    def _targets(self, setup: Any) -> FloatArray:
        return class_targets(setup.codes, setup.n_classes)

    def _answers(self, setup: Any) -> Array:
        return setup.codes

    def _fold(self, setup: Any, copies: FloatArray, held: IndexArray) -> Fold | None:
        C = setup.C * copies
        learnt = np.unique(setup.codes[C > 0])
        if len(learnt) < 2:
            return None
        # As a machine trained on these rows alone: it never predicts a class that they lack.
        codes = np.searchsorted(learnt, setup.codes)
        part = TwoClassProblems(codes, len(learnt), self.multi_class, C, self.loss, self.bias)
        return Fold(held, part, share_correct(setup.codes, self._counts, learnt, part.has_pairs))
