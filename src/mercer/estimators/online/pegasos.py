"""Soft-SVM by stochastic gradient descent."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, FloatArray, Labels, Rows
from mercer.estimators.bases.by_score import PredictsByScore, linear_scores
from mercer.estimators.bases.fits import Fits
from mercer.estimators.bases.holds_kernels import HoldsKernels
from mercer.estimators.fitting.given_matrix import require_gram
from mercer.estimators.fitting.inputs import classes_and_codes, prediction_input, tell_input, training_input
from mercer.estimators.fitting.parameters import (
    require_callbacks,
    require_choice,
    require_count,
    require_flag,
    require_n_jobs,
    require_number,
    require_optional_number,
)
from mercer.estimators.fitting.progress import step_line, watchers
from mercer.estimators.fitting.seeds import seed_of
from mercer.estimators.fitting.tasks import sides_of
from mercer.estimators.fitting.weights import class_weights, sample_weights, total_weight
from mercer.estimators.online.partial_fit import REMEDIES, LearnsInBatches
from mercer.estimators.online.sgd_attributes import SGDModel
from mercer.estimators.online.sgd_certificate import SGDEvidence, WeightedRows
from mercer.estimators.online.sgd_forms import KernelForm, WeightForm
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.notation.sklearn_names import from_text, resolve
from mercer.kernels.vector.linear import Linear
from mercer.problems.regularization import Regularization, resolve_C
from mercer.solvers.limits import Limits
from mercer.solvers.stochastic.kernel_pegasos import STRATEGIES
from mercer.solvers.stochastic.pegasos import Steps, ball_radius, step_count
from mercer.solvers.stochastic.visit_order import SAMPLINGS, Sampler, arranged

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mercer.kernels.base.kernel import Kernel
    from mercer.solvers.result import Status


# Default number of visits to each row, and fewest visits in all.
DEFAULT_EPOCHS = 10
FEWEST_VISITS = 20_000


class PegasosSVC(LearnsInBatches, Fits, SGDModel, PredictsByScore, ClassifierMixin, HoldsKernels):
    r"""Soft-SVM by stochastic gradient descent, with or without kernels, also on streams.

    Minimises lambda/2 \|w\|^2 + mean hinge loss by the algorithm of section 15.5 of Shalev-Shwartz
    & Ben-David (2014): w(t) = theta / (lambda t); a row is drawn; if it falls short of the margin,
    y x is added to theta; the answer is the mean of w(1) .. w(T).

    Parameters
    ----------
    alpha : float, default=1e-3
        lambda, the weight of the penalty; positive. It is the alpha of scikit-learn's `SGDClassifier`.
    T : int, optional
        Number of steps, 1 or more; by default ten visits to each row, and at least 20,000 visits in all.
    kernel : str, Kernel or callable, default="linear"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2" or "precomputed"), an expression such
        as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function that returns the kernel
        matrix of two sets of rows.
    degree : int, default=3
        Degree of the kernel "poly", 0 or more; other kernels ignore it.
    gamma : float, "scale", "auto" or "median", default="scale"
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features, and
        "median" is one over the median squared distance between rows (for "laplacian", the median absolute
        distance).
    coef0 : float, default=0.0
        Constant term of the kernels "poly" and "sigmoid".
    C : float or Regularization, optional
        Instead of `alpha`: the factor on the sum of losses, lambda = 1 / (C m), where m is the number of rows (the sum
        of their weights), or any of the forms of `Regularization`. A stream has no number of rows, so `partial_fit`
        only takes forms with a mean, such as ``Regularization.from_lambda(0.01)``.
    epochs : float, optional
        Instead of `T`: the number of visits to each row, positive.
    average : bool, default=True
        Whether the answer is the mean of the iterates or the last one, w(T + 1).
    projected : bool, default=False
        Whether to project w onto the ball of radius 1/sqrt(lambda) after each step (Pegasos of 2007).
    batch_size : int, default=1
        Number of rows drawn at each step, 1 or more.
    sampling : {"replacement", "permutation"}, default="replacement"
        Independent draws, as in the book, or every row once in each epoch.
    bias : {"penalized", "none"}, default="penalized"
        A penalised bias is the weight of a feature that is 1 everywhere: the book's algorithm on
        rows that have this feature. "none" is its homogeneous halfspace.
    form : {"auto", "w", "expansion"}, default="auto"
        Whether to keep weights of features or coefficients of support vectors; the first
        for the linear kernel without a budget.
    budget : int, optional
        Largest number of support vectors of each two-class problem; no limit by default.
    budget_strategy : {"merging", "removal"}, default="merging"
        What happens to a support vector that the budget leaves no room for: its nearest multiple
        of another one takes its place, or nothing does.
    class_weight : dict or "balanced", optional
        Factors on the losses. Rows are drawn in proportion to them, and to their sample weights,
        which disturbs the steps less than long steps for heavy rows would.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for kernel values in bytes, or as text such as "2GiB".
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    random_state : int, RandomState or None, default=None
        Seed of the draws. The same number gives the same model; None stands for 0.
    callbacks : list of callables, optional
        Functions called with a `StepPoint` fifty times in a fit and after each batch of a stream; a true return
        value ends the fit.
    verbose : bool, default=False
        Whether to print these points to standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    class_weight_ : ndarray of shape (n_classes,)
        The factor on the losses of each class.
    coef_, intercept_
        w and b of each decision function; `coef_` only for the linear kernel.
    support_, support_vectors_, dual_coef_
        In the form "expansion": positions of the rows with a coefficient, these rows, and their coefficients.
    alpha_ : float
        lambda, as it was given or as it follows from `C`.
    n_iter_ : int
        Steps taken, over all calls of `partial_fit`.
    status_ : Status
        OPTIMAL if all steps were taken; `bound_` and `certificate_` say how near the optimum they came.
    bound_ : ExpectedBound
        What theory promises: a bound on the expectation of f(w) - min f, with rho as measured.
    certificate_ : Certificate, or a list of them
        What was reached: f(w), a lower bound on min f, and their gap. Computed when first read.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of StepPoint, or a list of such lists
        The points that callbacks see, for each two-class problem where there are several.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import PegasosSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[:100], y[:100]
    >>> model = PegasosSVC(alpha=0.1, T=20_000).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> 0.0 <= model.certificate_.gap <= model.bound_.value
    True
    """

    _remedies = REMEDIES

    if TYPE_CHECKING:
        _evidence: Any

    def __init__(
        self,
        alpha: float = 1e-3,
        T: int | None = None,
        kernel: "str | Kernel | Callable[..., Any]" = "linear",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        *,
        C: float | Regularization | None = None,
        epochs: float | None = None,
        average: bool = True,
        projected: bool = False,
        batch_size: int = 1,
        sampling: str = "replacement",
        bias: str = "penalized",
        form: str = "auto",
        budget: int | None = None,
        budget_strategy: str = "merging",
        class_weight: dict[Any, float] | str | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.alpha = alpha
        self.T = T
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.C = C
        self.epochs = epochs
        self.average = average
        self.projected = projected
        self.batch_size = batch_size
        self.sampling = sampling
        self.bias = bias
        self.form = form
        self.budget = budget
        self.budget_strategy = budget_strategy
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def __sklearn_tags__(self) -> "Tags":
        tags = tell_input(super().__sklearn_tags__(), self.kernel)
        # The mean includes the first iterates, of length 1/lambda: with class weights of 1000 against 0.0001, as in one
        # of scikit-learn's checks, it needs more steps than the check allows.
        tags.classifier_tags.poor_score = bool(self.average)
        return tags

    def fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn afresh from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or items that the kernel compares
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            How often each row counts: weights are multiplicities.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _learn(self, limits: Limits, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
        X, y = training_input(self, X, y)
        classes, codes = classes_and_codes(y)
        class_weight = class_weights(self.class_weight, classes, y)
        counts = None if sample_weight is None else sample_weights(sample_weight, codes, classes)
        rows = WeightedRows(X, sides_of(codes, len(classes)), class_weight[codes], counts)
        sampler = Sampler(len(codes), self._seed(), self.sampling, rows.draw_weights(), arranged(X, codes))
        fewest = -(-max(DEFAULT_EPOCHS * len(codes), FEWEST_VISITS) // self.batch_size)
        T = step_count(self.T, self.epochs, sampler.epoch_size, self.batch_size, fewest)
        lam = self._lambda(len(codes) if counts is None else total_weight(counts))
        radius = ball_radius(lam, rows.step_weights()) if self.projected else np.inf
        form = self._new_form(X, counts, len(rows.sides), lam, radius)
        status, traces = form.fit(X, rows.sides, rows.step_weights(), sampler, T, limits, self.n_jobs)
        form.coefficients()  # an overflow is refused here
        self._keep(form, classes, class_weight, X)
        self._evidence = SGDEvidence(form, rows, lam, self.bias, self.n_jobs)
        self._mean_weight = rows.mean_weight()
        self._note(status, traces)

    def _check_parameters(self) -> None:
        require_number("alpha", self.alpha, above=0.0)
        require_number("coef0", self.coef0)
        require_optional_number("epochs", self.epochs, above=0.0)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        for name in ("T", "budget"):
            if getattr(self, name) is not None:
                require_count(name, getattr(self, name))
        require_count("batch_size", self.batch_size)
        for name in ("average", "projected"):
            require_flag(name, getattr(self, name))
        require_choice("sampling", self.sampling, SAMPLINGS)
        require_choice("bias", self.bias, ("none", "penalized"))
        require_choice("form", self.form, ("auto", "w", "expansion"))
        require_choice("budget_strategy", self.budget_strategy, STRATEGIES)
        require_n_jobs(self.n_jobs)
        require_callbacks(self.callbacks)
        if self.form == "w" and (self.budget is not None or not self._is_linear):
            raise ParameterError('form="w" keeps weights of features, so it needs the linear kernel and no budget')

    def _lambda(self, m: float | None = None) -> float:
        """lambda of m rows; for a stream, whose m is None, only if it does not depend on m."""
        if self.C is None:
            return float(self.alpha)
        if m is None and not (isinstance(self.C, Regularization) and self.C.divide_by_m):
            raise ParameterError(
                f"C={self.C!r} needs the number of rows, which is unknown for a stream; pass alpha, or "
                "C=Regularization.from_lambda(...)"
            )
        lam = 1.0 / (resolve_C(self.C, m or 1.0) * (m or 1.0))
        if not 0.0 < lam < np.inf:
            raise ParameterError(
                f"C must give a positive, finite lambda = 1/(C m), got {self.C!r}, which gives {lam:g}"
            )
        return lam

    @property
    def _is_linear(self) -> bool:
        kernel = from_text(self.kernel)
        return isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear")

    def _limits(self) -> Limits:
        return Limits(-1, self.time_limit, watchers(self, step_line))

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _new_form(
        self, X: Rows, counts: FloatArray | None, n_problems: int, lam: float, radius: float
    ) -> WeightForm | KernelForm:
        steps = Steps(lam, int(self.batch_size), radius, self.bias == "penalized", bool(self.average))
        if self.form == "w" or (self.form == "auto" and self._is_linear and self.budget is None):
            return WeightForm(X.shape[1], n_problems, steps)
        kernel = resolve(self.kernel, self.gamma, self.degree, self.coef0, X, counts)
        if isinstance(kernel, Precomputed):
            require_gram(X)
        return KernelForm(kernel, n_problems, steps, self.budget, self.budget_strategy, self.memory_limit)

    def _keep(self, form: WeightForm | KernelForm, classes: Array, class_weight: FloatArray, X: Rows) -> None:
        self._form, self.classes_, self.class_weight_ = form, classes, class_weight
        self._sparse = isinstance(form, WeightForm) or sparse.issparse(X)

    def _note(self, status: "Status", traces: list[Any]) -> None:
        self.status_, self._traces = status, traces
        self.n_iter_ = self._form.iterates[0].iterations

    def decision_function(self, X: Rows) -> FloatArray:
        """Signed scores: above 0 the second of two classes, else one column a class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or items

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        check_is_fitted(self, "_form")
        X = prediction_input(self, X)
        if isinstance(self._form, WeightForm):
            values = linear_scores(X, *self._form.coefficients())
        else:
            values = self.expansion_.values(X, n_jobs=self.n_jobs)
        return values[:, 0] if len(self.classes_) == 2 else values
