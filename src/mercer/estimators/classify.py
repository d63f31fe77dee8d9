"""Support vector classification."""

import sys
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from mercer._errors import DataError, ParameterError
from mercer.estimators import multiclass
from mercer.estimators.evidence import Evidence
from mercer.estimators.parameters import (
    require_callbacks,
    require_choice,
    require_flag,
    require_max_iter,
    require_n_jobs,
    require_number,
    require_optional_number,
)
from mercer.estimators.support import Support
from mercer.estimators.training import Budget, TrainingData, solve_all
from mercer.kernels.expansion import Expansion
from mercer.kernels.matrix_form import Custom, Precomputed
from mercer.kernels.names import resolve
from mercer.kernels.rows import require_sound_csr
from mercer.kernels.vector.linear import Linear
from mercer.problems.losses import MARGIN_LOSSES
from mercer.problems.regularization import resolve_C
from mercer.problems.soft_margin import BIASES, SoftMargin
from mercer.solvers import smo
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status

_SHAPES = ("ovr", "ovo")
_SOLVERS = ("auto", "smo")


class SVC(ClassifierMixin, BaseEstimator):
    """Support vector classifier with any kernel: fast, and certified on every fit.

    The parameters up to `random_state` are scikit-learn's, in its order, with its meaning.

    Parameters
    ----------
    C : float or Regularization, default=1.0
        Weight of the losses against the margin; `Regularization` gives the other three ways
        to write it. ``inf`` is the hard margin.
    kernel : str, Kernel or callable, default="rbf"
        A name that scikit-learn knows, a kernel of `mercer.kernels`, a function of two sets of
        rows, or "precomputed".
    degree, gamma, coef0
        Parameters of the kernels given by name; a `Kernel` has its own.
    shrinking : bool, default=True
        Leave coefficients alone that sit firmly at a bound, until the end.
    probability : bool, default=False
        Not available in this version; True raises an error.
    tol : float, default=1e-3
        Largest violation of the optimality conditions (LIBSVM's rule).
    cache_size : float, optional
        Megabytes of kernel rows to keep; a quarter of the free memory by default.
    class_weight : dict or "balanced", optional
    verbose : bool, default=False
        Print a line a round on standard error.
    max_iter : int, default=-1
        Bound on the pair steps of each two-class problem; -1 for none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    break_ties : bool, default=False
    random_state : ignored
        Nothing here is random.
    bias : {"free", "penalised", "none"}, default="free"
    loss : {"hinge", "squared_hinge"}, default="hinge"
    multi_class : {"ovo", "ovr"}, default="ovo"
        How several classes become two-class problems.
    solver : {"auto", "smo"}, default="auto"
    gap_tol : float, optional
        Stop at this relative duality gap instead of at `tol`.
    time_limit : float, optional
        Seconds for the whole fit.
    memory_limit : int or str, optional
        Bytes, or a text such as "2GiB"; half of the free memory by default.
    n_jobs : int, optional
        Threads; all cores by default.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, if the number of rows is the same.
    callbacks : list of callables, optional
        Each is called with a `TracePoint` after every round; a true answer ends the fit.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_,
    fit_status_, class_weight_, shape_fit_, n_features_in_, feature_names_in_
        As in scikit-learn.
    status_ : Status
        How the fit ended; anything but OPTIMAL also warns.
    certificate_ : Certificate, or a list of them
        Primal, dual, gap and KKT conditions of each two-class problem, recomputed in double
        precision from the training data when first read.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10.0, kernel="rbf").fit(X, y)
    >>> model.status_.name
    'OPTIMAL'
    >>> all(c.is_optimal(1e-3) for c in model.certificate_)
    True
    """

    def __init__(
        self,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=False,
        tol=1e-3,
        cache_size=None,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        *,
        bias="free",
        loss="hinge",
        multi_class="ovo",
        solver="auto",
        gap_tol=None,
        time_limit=None,
        memory_limit=None,
        n_jobs=None,
        warm_start=False,
        callbacks=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
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
        self.solver = solver
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        return tags

    # --- fitting ------------------------------------------------------------------------

    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero take no part.

        Returns
        -------
        self
        """
        self._check_parameters()
        limits = Limits(self.max_iter, self.time_limit, self._all_callbacks())
        X, codes = self._check_training(X, y)
        counts = None if sample_weight is None else self._sample_weight(sample_weight, X)
        weights = self._point_weights(y, codes, counts)
        kernel = resolve(self.kernel, self.gamma, self.degree, self.coef0, X, counts)
        used, tasks = self._tasks(codes, weights)
        C = resolve_C(self.C, len(used)) * weights
        problems = [SoftMargin(task.signs, C[task.indices], self.loss, self.bias) for task in tasks]
        data = TrainingData(kernel, X)
        with limits.catching_interrupts():
            solutions = self._solve(data, problems, tasks, limits)
        self._keep(data, codes, problems, tasks, solutions)
        self._warn_unless_optimal()
        return self

    def _check_parameters(self):
        require_number("tol", self.tol, above=0.0)
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        require_optional_number("cache_size", self.cache_size, above=0.0)
        require_number("coef0", self.coef0, at_least=-np.inf)
        require_max_iter(self.max_iter)
        require_n_jobs(self.n_jobs)
        require_callbacks(self.callbacks)
        for name in ("shrinking", "break_ties", "warm_start"):
            require_flag(name, getattr(self, name))
        require_choice("bias", self.bias, BIASES)
        require_choice("loss", self.loss, tuple(MARGIN_LOSSES))
        require_choice("multi_class", self.multi_class, ("ovo", "ovr"))
        require_choice("solver", self.solver, _SOLVERS)
        require_choice("decision_function_shape", self.decision_function_shape, _SHAPES)
        if self.probability:
            raise ParameterError(
                "probability=True is not available in this version; "
                "wrap the model in sklearn.calibration.CalibratedClassifierCV instead"
            )

    def _all_callbacks(self):
        printing = [_print_round] if self.verbose else []
        return [*printing, *(self.callbacks or [])]

    def _check_training(self, X, y):
        if self._takes_objects:
            X = list(X)
            y = column_or_1d(y, warn=True)
            if len(X) != len(y):
                raise DataError(f"X and y must have the same length, got {len(X)} and {len(y)}")
        else:
            require_sound_csr(X)
            X, y = validate_data(
                self, X, y, dtype=(np.float64, np.float32), order="C", accept_sparse="csr", ensure_min_samples=1
            )
        if y.dtype.kind not in "iub":
            check_classification_targets(y)
        self._check_square(X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(
                f"The number of classes has to be greater than one; got {len(self.classes_)} class: "
                f"{self.classes_[0]!r} is the only label"
            )
        return X, codes

    @property
    def _takes_objects(self):
        return isinstance(self.kernel, Custom) and self.kernel.pairwise

    def _check_square(self, X):
        if not self.__sklearn_tags__().input_tags.pairwise:
            return
        if X.shape[0] != X.shape[1]:
            raise DataError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        values = X.toarray() if sparse.issparse(X) else X
        distance = np.abs(values - values.T)
        if distance.max() > 1e-5 * max(1.0, np.abs(values).max()):
            i, j = np.unravel_index(distance.argmax(), distance.shape)
            raise DataError(
                f"the precomputed matrix must be symmetric, but K[{i}, {j}] = {values[i, j]:g} and "
                f"K[{j}, {i}] = {values[j, i]:g}; (K + K.T) / 2 makes it so"
            )

    def _point_weights(self, y, codes, counts):
        """What multiplies C for each point: its own weight times that of its class."""
        weights = np.ones(len(codes)) if counts is None else counts
        if self.class_weight is None:
            self.class_weight_ = np.ones(len(self.classes_))
            return weights
        self.class_weight_ = compute_class_weight(self.class_weight, classes=self.classes_, y=np.asarray(y))
        if not (self.class_weight_ > 0).all():
            raise ParameterError(f"class_weight must be positive, got {self.class_weight!r}")
        return weights * self.class_weight_[codes]

    def _sample_weight(self, sample_weight, X):
        rows = X if hasattr(X, "shape") else np.empty((len(X), 1))
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64)
        if not (weights > 0).any():
            raise DataError("Invalid input - all samples have zero or negative weights.")
        return np.maximum(weights, 0.0)

    def _tasks(self, codes, weights):
        """The two-class problems, over the points of positive weight."""
        used = np.flatnonzero(weights > 0)
        n_classes, codes = len(self.classes_), codes[used]
        if len(np.unique(codes)) < n_classes:
            raise DataError(
                "Invalid input - all samples with positive weights belong to the same class"
                if len(np.unique(codes)) == 1
                else "a class has no sample of positive weight; drop it or give it weight"
            )
        if n_classes == 2:
            tasks = multiclass.binary_task(codes)
        elif self.multi_class == "ovo":
            tasks = multiclass.one_vs_one(codes, n_classes)
        else:
            tasks = multiclass.one_vs_rest(codes, n_classes)
        if len(used) < len(weights):
            tasks = [multiclass.BinaryTask(used[task.indices], task.signs, task.label) for task in tasks]
        return used, tasks

    def _solve(self, data, problems, tasks, limits):
        budget = Budget.resolve(self.memory_limit, self.cache_size, data.shape[0])
        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        starts = self._starts(tasks)

        def solve(problem, part, k):
            return smo.solve(
                problem.dual(),
                part,
                tol=self.tol,
                limits=limits,
                start=None if starts is None else starts[k],
                gap=problem.gap,
                gap_tol=self.gap_tol,
                memory=budget.working,
                convex=data.kernel.is_psd is True,
                shrinking=self.shrinking,
            )

        return solve_all(problems, tasks, matrix, budget, solve, limits, self.n_jobs)

    def _starts(self, tasks):
        last = getattr(self, "_last_betas", None)
        if not self.warm_start or last is None or [len(b) for b in last] != [len(t.indices) for t in tasks]:
            return None
        return last

    def _keep(self, data, codes, problems, tasks, solutions):
        """Set the fitted attributes."""
        n_classes = len(self.classes_)
        one_vs_one = n_classes > 2 and self.multi_class == "ovo"
        support = Support(codes, n_classes, tasks, [s.beta for s in solutions], one_vs_one)
        intercepts = np.array([p.intercept(s.beta, s.bias) for p, s in zip(problems, solutions, strict=True)])
        self._evidence = Evidence(data, problems, tasks, solutions, intercepts, self.n_jobs)
        self._certificates = None
        self._last_betas = [s.beta for s in solutions] if self.warm_start else None
        self.support_, self.n_support_ = support.indices, support.counts
        self.support_vectors_ = data.support_vectors(support.indices)
        self.dual_coef_ = support.dual_coef if not sparse.issparse(data.X) else sparse.csr_matrix(support.dual_coef)
        self.intercept_ = intercepts
        self.expansion_ = Expansion(
            data.kernel, data.expansion_vectors(support.indices), support.groups(), intercepts, data.origin
        )
        self.shape_fit_ = data.shape
        self._sparse = sparse.issparse(data.X)
        self.n_iter_ = np.array([s.iterations for s in solutions], dtype=np.int32)
        self.status_ = Status.worst(s.status for s in solutions)
        self.fit_status_ = 0 if self.status_ == Status.OPTIMAL else 1
        traces = [s.trace for s in solutions]
        self.trace_ = traces[0] if len(traces) == 1 else traces

    def _warn_unless_optimal(self):
        if self.status_ != Status.OPTIMAL:
            remedy = (
                "Solver terminated early: " if self.status_ == Status.ITERATION_LIMIT else ""
            )
            warnings.warn(
                f"{remedy}{self.status_.name}: {self.status_.meaning}. The model is usable; certificate_ says how good "
                "it is. Consider scaling the features, a larger tol, or a higher limit.",
                ConvergenceWarning,
                stacklevel=3,
            )

    # --- after fitting --------------------------------------------------------------------

    @property
    def certificate_(self):
        """Certificates, computed when first read (see `Evidence`)."""
        if getattr(self, "_evidence", None) is not None:
            self._certificates = self._evidence.certificates()
            self._evidence = None
        found = getattr(self, "_certificates", None)
        if found is None:
            raise AttributeError("certificate_ is there after fit")
        return found[0] if len(found) == 1 else found

    @property
    def coef_(self):
        """Weights of the features; only for a linear kernel."""
        if not isinstance(resolve(self.kernel), Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        return linear_coefficients(self.expansion_, self._sparse)

    def decision_function(self, X):
        """Signed scores: above 0 the second of two classes, else one column a class or a pair.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
        """
        values = self._values(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return values.ravel()
        if self.multi_class == "ovo" and self.decision_function_shape == "ovr":
            return multiclass.ovr_from_ovo(values, n_classes)
        return values

    def predict(self, X):
        """The label of each row of X."""
        check_is_fitted(self)
        n_classes = len(self.classes_)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if n_classes == 2:
            return self.classes_[(self._values(X).ravel() > 0).astype(np.intp)]
        if self.multi_class == "ovo" and not self.break_ties:
            return self.classes_[multiclass.votes(self._values(X), n_classes).argmax(axis=1)]
        return self.classes_[self.decision_function(X).argmax(axis=1)]

    def _values(self, X):
        check_is_fitted(self)
        if self._takes_objects:
            X = list(X)
        else:
            X = validate_data(
                self, X, dtype=(np.float64, np.float32), order="C", accept_sparse="csr", reset=False
            )
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return self.expansion_.values(X, dtype, self.n_jobs)

    def __getstate__(self):
        # The training data are not part of a model: what is to be said of them is said now.
        if getattr(self, "_evidence", None) is not None:
            _ = self.certificate_
        return super().__getstate__()


def linear_coefficients(expansion, as_sparse):
    """w for each decision function: the weighted sum of the support vectors."""
    rows = []
    for output in range(expansion.n_functions):
        total = 0.0
        for group in expansion.groups:
            place = np.flatnonzero(group.outputs == output)
            if len(place):
                total = total + group.coefficients[:, place[0]] @ expansion.vectors[group.begin : group.end]
        rows.append(np.asarray(total).ravel())
    coefficients = np.vstack(rows)
    if as_sparse:
        return sparse.csr_matrix(coefficients)
    coefficients.flags.writeable = False
    return coefficients


def _print_round(point):
    print(
        f"[mercer] {point.seconds:8.2f} s  {point.iterations:9d} steps  violation {point.violation:9.2e}  "
        f"dual {point.dual:.8g}  working set {point.working_set} of {point.active}",
        file=sys.stderr,
    )
