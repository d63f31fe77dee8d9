"""Support vector classification."""

from contextlib import nullcontext

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from mercer._errors import DataError, ParameterError
from mercer.estimators import all_pairs, multiclass
from mercer.estimators.evidence import Evidence
from mercer.estimators.gram import evaluate, has_room, require_gram
from mercer.estimators.inputs import (
    classes_and_codes,
    is_function,
    is_precomputed,
    prediction_input,
    require_fitted,
    training_input,
)
from mercer.estimators.machines import Solved, TwoClassProblems
from mercer.estimators.parameters import (
    require_callbacks,
    require_choice,
    require_flag,
    require_max_iter,
    require_n_jobs,
    require_number,
    require_optional_number,
)
from mercer.estimators.progress import print_round, warn_unless_optimal
from mercer.estimators.support import linear_coefficients
from mercer.estimators.training import Budget, TrainingData, solve_all
from mercer.estimators.weighting import class_weights, sample_weights
from mercer.kernels.expansion import Expansion
from mercer.kernels.matrix_form import Precomputed
from mercer.kernels.names import resolve
from mercer.kernels.vector.linear import Linear
from mercer.problems.losses import MARGIN_LOSSES
from mercer.problems.regularization import resolve_C
from mercer.problems.soft_margin import BIASES
from mercer.solvers import small
from mercer.solvers.by_name import SOLVERS
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status


class SVC(ClassifierMixin, BaseEstimator):
    """Support vector classifier with any kernel: fast, and certified on every fit.

    The parameters up to `random_state` are scikit-learn's, in its order, with its meaning.

    Parameters
    ----------
    C : float or Regularization, default=1.0
        Weight of the losses against the margin; `Regularization` gives the other three ways
        to write it. ``inf`` is the hard margin.
    kernel : str, Kernel or callable, default="rbf"
        A name that scikit-learn knows, a kernel of `mercer.kernels`, "precomputed", or a
        function, which is called with two whole sets of rows, as scikit-learn does, or
        with parts of them where `memory_limit` leaves no room for the matrix.
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
    solver : {"auto", "smo", "chunking", "chunking:qp", "qp"}, default="auto"
        "auto" is "smo". The others give the same answer more slowly: "qp" hands the dual, or where
        the rank is low the primal, to an interior point method; "chunking" solves growing chunks of
        violators, "chunking:qp" each of them by that method. See `mercer.compare_solvers`.
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
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not is_precomputed(self.kernel)
        return tags

    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._check_parameters()
        limits = Limits(self.max_iter, self.time_limit, self._watchers())
        X, y = training_input(self, X, y)
        classes, codes = classes_and_codes(y)
        class_weight = class_weights(self.class_weight, classes, y)
        weights = None if sample_weight is None else sample_weights(sample_weight, codes, classes)
        setup = self._two_class_problems(codes, class_weight, weights)
        budget = Budget.resolve(self.memory_limit, self.cache_size, X)
        items, data = self._training_data(X, weights, budget)
        # A small fit is over before anybody presses Ctrl-C, unless its kernel is slow.
        is_quick = len(codes) <= small.LARGEST and data.kernel.is_dot_product_form
        with nullcontext() if is_quick else limits.catching_interrupts():
            solved = self._solve(data, setup, budget, limits)
        self.classes_, self.class_weight_, self._items = classes, class_weight, items
        self._keep(X, data, setup, solved)
        warn_unless_optimal(self.status_, self.max_iter)
        return self

    def _check_parameters(self):
        require_number("tol", self.tol, above=0.0)
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        require_optional_number("cache_size", self.cache_size, above=0.0)
        require_number("coef0", self.coef0)
        require_max_iter(self.max_iter)
        require_n_jobs(self.n_jobs)
        require_callbacks(self.callbacks)
        for name in ("shrinking", "break_ties", "warm_start"):
            require_flag(name, getattr(self, name))
        require_choice("bias", self.bias, BIASES)
        require_choice("loss", self.loss, MARGIN_LOSSES)
        require_choice("multi_class", self.multi_class, ("ovo", "ovr"))
        require_choice("solver", self.solver, SOLVERS)
        require_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        # scikit-learn's own default is the word.
        if self.probability not in (False, "deprecated"):
            raise ParameterError(
                f"probability={self.probability!r} is not available in this version; "
                "wrap the model in sklearn.calibration.CalibratedClassifierCV instead"
            )

    def _watchers(self):
        printing = [print_round] if self.verbose else []
        return [*printing, *(self.callbacks or [])]

    def _two_class_problems(self, codes, class_weight, weights):
        """The problems to solve, with C times the weights of class and sample for each point."""
        n, factors = len(codes), class_weight[codes]
        if weights is not None:
            # A row of weight two counts as two, also where C depends on the number of rows.
            n, factors = weights.sum(), factors * weights
        # Where the product overflows, it is the hard margin; a weight of zero stays zero.
        with np.errstate(over="ignore", invalid="ignore"):
            C = np.where(factors > 0, resolve_C(self.C, n) * factors, 0.0)
        return TwoClassProblems(codes, len(class_weight), self.multi_class, C, self.loss, self.bias)

    def _training_data(self, X, weights, budget):
        """X with its kernel; where a function's whole matrix has room, it is computed at once.

        The first of the two are the items that the function will see again in `predict`.
        """
        items = None
        if is_function(self.kernel) and has_room(X, budget.cache):
            items, X, kernel = X, evaluate(self.kernel, X, X), Precomputed()
        else:
            kernel = resolve(self.kernel, self.gamma, self.degree, self.coef0, X, weights)
        if isinstance(kernel, Precomputed):
            require_gram(X)
        # The user's kernel may be given other parameters later; the model's must not change.
        return items, TrainingData(kernel.replace() if kernel is self.kernel else kernel, X)

    def _solve(self, data, setup, budget, limits):
        starts, solver = self._starts(setup), SOLVERS[self.solver]

        def solve(problem, part, k):
            return solver(
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

        is_watched = bool(limits.callbacks) or self.gap_tol is not None
        if solver is small.solve and starts is None and not is_watched and all_pairs.are_small(setup, budget.cache):
            return all_pairs.PairsSolved(setup, limits).solve(data, self.tol, budget, self.n_jobs, solve)
        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        return Solved(setup, solve_all(setup.problems, setup.tasks, matrix, budget, solve, limits, self.n_jobs))

    def _starts(self, setup):
        """Coefficients of the last fit, if it is to be continued and had as many rows."""
        last = getattr(self, "_last_betas", None)
        if not self.warm_start or last is None or [len(b) for b in last] != [len(t.indices) for t in setup.tasks]:
            return None
        return last

    def _keep(self, X, data, setup, solved):
        """Set the fitted attributes."""
        support = solved.support
        self.support_, self.n_support_ = support.indices, support.counts
        self.intercept_ = solved.intercepts
        vectors = data.expansion_vectors(support.indices)
        self.expansion_ = Expansion(data.kernel, vectors, support.groups(), self.intercept_, data.origin)
        self._sparse = sparse.issparse(X) and self._items is None
        self.support_vectors_ = data.support_vectors(support.indices)
        self.dual_coef_ = _like(X, support.dual_coef) if self._sparse else support.dual_coef
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (len(X),)
        self.n_iter_ = solved.iterations
        self.status_ = Status.worst(solved.statuses)
        self.fit_status_ = int(self.status_ != Status.OPTIMAL)
        self._traces = solved.traces
        self._last_betas = solved.betas() if self.warm_start else None
        self._evidence = Evidence(data, setup, solved, self.n_jobs)
        if self._items is not None:
            # A function's matrix is not kept until somebody asks.
            self._evidence.settle()

    @property
    def _has_pairs(self):
        return len(self.classes_) > 2 and self.multi_class == "ovo"

    @property
    def certificate_(self):
        """Certificates, computed when first read (see `Evidence`)."""
        require_fitted(self)
        found = self._evidence.certificates()
        return found[0] if len(found) == 1 else found

    @property
    def trace_(self):
        """The rounds of the solver."""
        require_fitted(self)
        found = self._traces()
        return found[0] if len(found) == 1 else found

    @property
    def coef_(self):
        """Weights of the features; only for a linear kernel."""
        require_fitted(self)
        if not isinstance(self.expansion_.kernel, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        return linear_coefficients(self.expansion_)

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
        if len(self.classes_) == 2:
            return values[:, 0]
        if self._has_pairs and self.decision_function_shape == "ovr":
            return multiclass.ovr_from_ovo(values, len(self.classes_))
        return values

    def predict(self, X):
        """The label of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        require_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ParameterError("break_ties must be False when decision_function_shape is 'ovo'")
        if len(self.classes_) == 2:
            return self.classes_[(self._values(X)[:, 0] > 0).astype(np.intp)]
        if self._has_pairs and not self.break_ties:
            return self.classes_[multiclass.votes(self._values(X), len(self.classes_)).argmax(axis=1)]
        return self.classes_[self.decision_function(X).argmax(axis=1)]

    def _values(self, X):
        """The decision function of each two-class problem, shape (n, n_problems)."""
        require_fitted(self)
        X = prediction_input(self, X)
        if self._items is not None:
            X = evaluate(self.kernel, X, self._items)
        elif isinstance(self.expansion_.kernel, Precomputed) and X.shape[1] != self.shape_fit_[0]:
            raise DataError(
                f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, "
                "the number of samples at training time; pass K(test, train)"
            )
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return self.expansion_.values(X, dtype, self.n_jobs)

    def __getstate__(self):
        # The training data are not part of a model: what is to be said of them is said now.
        if "_evidence" in vars(self):
            self._evidence.settle()
        return super().__getstate__()


def _like(X, values):
    """`values` in the same sparse container as X."""
    return (sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix)(values)
