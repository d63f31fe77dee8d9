"""Linear support vector machines: classification and regression without a kernel."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer.estimators.inputs import (
    classes_and_codes,
    prediction_rows,
    regression_rows,
    training_rows,
    without_duplicates,
)
from mercer.estimators.linear_fits import row_products, seed_of, solve_each, usable_starts
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
from mercer.estimators.weighting import class_weights, sample_weights, target_weights
from mercer.problems.linear_crammer_singer import CrammerSinger
from mercer.problems.linear_l1 import SparseMargin
from mercer.problems.linear_machine import LinearMargin, LinearTube
from mercer.problems.losses import MARGIN_LOSSES
from mercer.problems.regularization import resolve_C
from mercer.problems.residual_losses import TUBE_LOSSES
from mercer.problems.soft_margin import BIASES
from mercer.solvers import crammer_singer, l1_newton, linear_machine
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status


class _LinearEstimator(BaseEstimator):
    """What the two estimators share: parameters, limits, and what a fit leaves behind."""

    # Names that `solver` takes.
    solvers = linear_machine.SOLVERS

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_shared(self, losses):
        require_choice("loss", self.loss, losses)
        require_number("tol", self.tol, above=0.0)
        require_number("intercept_scaling", self.intercept_scaling, above=0.0)
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        require_max_iter(self.max_iter)
        require_n_jobs(self.n_jobs)
        require_callbacks(self.callbacks)
        require_flag("fit_intercept", self.fit_intercept)
        require_flag("warm_start", self.warm_start)
        require_choice("bias", self.bias, BIASES)
        require_choice("solver", self.solver, linear_machine.SOLVERS)
        if not self.fit_intercept and self.bias == "free":
            raise ParameterError("bias='free' asks for an intercept, and fit_intercept=False for none; change one")

    @property
    def _bias(self):
        """The kind of bias: `fit_intercept` decides whether, `bias` how."""
        return self.bias if self.fit_intercept else "none"

    def _method(self, primal_exists):
        """The solver that `dual` and `solver` ask for together."""
        if self.dual not in (True, False, "auto"):
            raise ParameterError(f"dual must be True, False or 'auto', got {self.dual!r}")
        wanted = "auto" if isinstance(self.dual, str) else ("dual_cd" if self.dual else "newton")
        if wanted == "newton" and not primal_exists:
            # The text is LIBLINEAR's, by way of scikit-learn: programs look for it.
            raise ParameterError(
                "Unsupported set of arguments: The combination of "
                f"penalty='{getattr(self, 'penalty', 'l2')}' and loss='{self.loss}' is not supported when "
                f"dual={self.dual}; dual='auto' chooses what is"
            )
        if "auto" not in (wanted, self.solver) and wanted != self.solver:
            raise ParameterError(f"solver={self.solver!r} contradicts dual={self.dual!r}; leave one of them 'auto'")
        return self.solver if wanted == "auto" else wanted

    def _limits(self):
        printing = [print_round] if self.verbose else []
        return Limits(self.max_iter, self.time_limit, [*printing, *(self.callbacks or [])])

    def _finite_C(self, n):
        C = resolve_C(self.C, n)
        if not np.isfinite(C):
            raise ParameterError(f"C must be finite here, got {C}; SVC(kernel='linear', C=inf) is the hard margin")
        return C

    @property
    def _goal(self):
        return self.tol if self.gap_tol is None else self.gap_tol

    def _solve(self, X, problems, solve, limits):
        """Solve all problems; solve(products, problem, start) for each."""
        starts = usable_starts(getattr(self, "_last", None) if self.warm_start else None, *X.shape, len(problems))
        products = row_products(X, self.n_jobs)
        with limits.catching_interrupts():
            fits = solve_each(products, problems, lambda rows, problem, k: solve(rows, problem, starts[k]), self.n_jobs)
        self.status_ = Status.worst([fit.solution.status for fit in fits])
        self.n_iter_ = max(fit.solution.iterations for fit in fits)
        self.certificate_ = _one_or_list([fit.certificate for fit in fits])
        self.trace_ = _one_or_list([fit.solution.trace for fit in fits])
        self._last = [fit.solution for fit in fits] if self.warm_start else None
        return [fit.solution for fit in fits]

    def _by_machine(self, method, limits):
        """How a problem with an L2 penalty is solved."""
        seed = seed_of(self.random_state)

        def solve(products, problem, start):
            return linear_machine.solve(
                products, problem.dual(), gap_tol=self._goal, limits=limits, solver=method, start=start, seed=seed
            )

        return solve


class LinearSVC(ClassifierMixin, _LinearEstimator):
    """Linear support vector classifier: fast, exact, and certified on every fit.

    The parameters up to `max_iter` are scikit-learn's, with its meaning but for `tol`.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        "l1", with the squared hinge only, sets most weights to zero.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    dual : bool or "auto", default="auto"
        True solves the dual by coordinate descent, False the primal by Newton steps. The answer is
        the same.
    tol : float, default=1e-4
        Stop when the duality gap is at most this share of the objective.
    C : float or Regularization, default=1.0
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        A machine for each class against the rest, or one for all classes (which has its own loss and
        solver: `penalty`, `loss` and `dual` are not looked at, as in scikit-learn).
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight is the penalised bias.
    class_weight : dict or "balanced", optional
    verbose : int, default=0
        Above 0 prints a line a check on standard error.
    random_state : int, RandomState or None, default=None
        Seed of the order in which coordinate descent visits rows; None is 0.
    max_iter : int, default=1000
        Bound on the passes, or Newton steps, of each problem; -1 for none.
    bias : {"penalised", "free", "none"}, default="penalised"
        "penalised" is what scikit-learn fits: the bias is the weight of a constant feature and part
        of the penalty. "free" leaves it out of the penalty, as `SVC` does.
    solver : {"auto", "dual_cd", "newton"}, default="auto"
    gap_tol : float, optional
        The same as `tol`, and in its place where given.
    time_limit : float, optional
        Seconds for the whole fit.
    n_jobs : int, optional
        Threads; all cores by default.
    callbacks : list of callables, optional
        Each is called with a `TracePoint` after every check, whose `violation` is the relative gap; a
        true answer ends the fit.
    warm_start : bool, default=False
        Start from the last fit, if rows, features and classes are as many.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    status_ : Status
        How the fit ended; anything but OPTIMAL also warns.
    certificate_ : Certificate, or a list of them
        Primal, dual and gap of each problem in double precision, from data and coefficients alone.
    trace_ : list of TracePoint, or a list of such lists

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mercer import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC().fit(X, y)
    >>> model.status_.name, model.certificate_.relative_gap <= 1e-4
    ('OPTIMAL', True)
    """

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1.0,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
        bias="penalised",
        solver="auto",
        gap_tol=None,
        time_limit=None,
        n_jobs=None,
        callbacks=None,
        warm_start=False,
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.bias = bias
        self.solver = solver
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.warm_start = warm_start

    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            float32 and float64, in rows or CSR with indices of any width, are used as they are.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._check_shared(MARGIN_LOSSES)
        require_choice("penalty", self.penalty, ("l1", "l2"))
        require_choice("multi_class", self.multi_class, ("ovr", "crammer_singer"))
        method = self._method_of_problem()
        limits = self._limits()
        X, y = training_rows(self, X, y, without_duplicates)
        self.classes_, codes = classes_and_codes(y)
        C = self._weights(codes, y, sample_weight)
        if self.multi_class == "crammer_singer" and len(self.classes_) > 2:
            self._fit_together(X, codes, C, limits)
        elif self.multi_class == "crammer_singer":
            # For two classes w_1 = -w_0, and u = w_1 - w_0 minimises |u|^2/2 + 2 C hinge: half of that is theirs.
            self._fit_each(X, codes, 2.0 * C, "l2", "hinge", method, limits)
        else:
            self._fit_each(X, codes, C, self.penalty, self.loss, method, limits)
        warn_unless_optimal(self.status_, self.max_iter)
        return self

    def _method_of_problem(self):
        if self.multi_class == "crammer_singer":
            if self._bias == "free":
                raise ParameterError(
                    "bias='free' is not available with multi_class='crammer_singer'; "
                    "a large intercept_scaling with bias='penalised' comes close"
                )
            return "auto"
        if self.penalty == "l1" and (self.loss == "hinge" or self.dual is True):
            raise ParameterError(
                "Unsupported set of arguments: The combination of "
                f"penalty='l1' and loss='{self.loss}' is not supported when dual={self.dual}; "
                "the L1 penalty takes loss='squared_hinge' and dual=False or 'auto'"
            )
        if self.penalty == "l1" and self.solver == "dual_cd":
            raise ParameterError("solver='dual_cd' cannot solve penalty='l1'; solver='newton' or 'auto' can")
        return self._method(primal_exists=self.loss == "squared_hinge")

    def _weights(self, codes, y, sample_weight):
        """C times the weights of class and sample for each row."""
        factors = class_weights(self.class_weight, self.classes_, y)[codes]
        n = len(codes)
        if sample_weight is not None:
            weights = sample_weights(sample_weight, codes, self.classes_)
            n, factors = weights.sum(), factors * weights
        return self._finite_C(n) * factors

    def _fit_each(self, X, codes, C, penalty, loss, method, limits):
        """One machine for two classes, or one for each class against the rest."""
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        signs = [np.where(codes == c, 1.0, -1.0) for c in positive]
        scale = float(self.intercept_scaling)
        if penalty == "l1":
            columns = l1_newton.columns_of(X)
            problems = [SparseMargin(each, C, self._bias, scale) for each in signs]

            def solve(products, problem, start):
                return l1_newton.solve(
                    products,
                    columns.alone(),
                    problem,
                    gap_tol=self._goal,
                    limits=limits,
                    start=start,
                    polish=linear_machine.is_tiny(products),
                )
        else:
            problems = [LinearMargin(each, C, loss, self._bias, scale) for each in signs]
            solve = self._by_machine(method, limits)
        found = self._solve(X, problems, solve, limits)
        self.coef_ = np.array([solution.w for solution in found])
        self.intercept_ = np.array([solution.bias for solution in found])

    def _fit_together(self, X, codes, C, limits):
        """The machine of Crammer and Singer for several classes."""
        scale = float(self.intercept_scaling) if self._bias == "penalised" else 0.0
        problem = CrammerSinger(codes, len(self.classes_), C, scale)
        seed = seed_of(self.random_state)

        def solve(products, problem, start):
            return crammer_singer.solve(
                products,
                problem,
                gap_tol=self._goal,
                limits=limits,
                start=start,
                seed=seed,
                polish=linear_machine.is_tiny(products),
            )

        (found,) = self._solve(X, [problem], solve, limits)
        self.coef_, self.intercept_ = found.w, found.bias

    def decision_function(self, X):
        """Signed scores: above 0 the second of two classes, else one column a class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        check_is_fitted(self)
        scores = _scores(prediction_rows(self, X), self.coef_, self.intercept_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X):
        """The label of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def sparsify(self):
        """Keep `coef_` as a sparse matrix, which an L1 penalty makes small; returns self."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self):
        """Undo `sparsify`; returns self."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self


class LinearSVR(RegressorMixin, _LinearEstimator):
    """Linear support vector regression: fast, exact, and certified on every fit.

    The parameters up to `max_iter` are scikit-learn's, with its meaning but for `tol`.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half-width of the tube within which an error costs nothing.
    tol, C, fit_intercept, intercept_scaling, dual, verbose, random_state, max_iter
        As in `LinearSVC`.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    bias, solver, gap_tol, time_limit, n_jobs, callbacks, warm_start
        As in `LinearSVC`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    status_, certificate_, trace_
        As in `LinearSVC`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=100.0, epsilon=5.0).fit(X, y)
    >>> model.status_.name, model.coef_.shape
    ('OPTIMAL', (10,))
    """

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
        bias="penalised",
        solver="auto",
        gap_tol=None,
        time_limit=None,
        n_jobs=None,
        callbacks=None,
        warm_start=False,
    ):
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.bias = bias
        self.solver = solver
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.warm_start = warm_start

    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X and their targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._check_shared(TUBE_LOSSES)
        require_number("epsilon", self.epsilon)
        if self.epsilon < 0:
            raise ParameterError(f"epsilon must not be negative, got {self.epsilon!r}")
        method = self._method(primal_exists=self.loss == "squared_epsilon_insensitive")
        limits = self._limits()
        X, y = regression_rows(self, X, y)
        weights = target_weights(sample_weight, len(y))
        C = self._finite_C(weights.sum()) * weights
        problem = LinearTube(y, C, self.loss, self._bias, float(self.intercept_scaling), float(self.epsilon))
        (found,) = self._solve(X, [problem], self._by_machine(method, limits), limits)
        self.coef_, self.intercept_ = found.w, np.array([found.bias])
        warn_unless_optimal(self.status_, self.max_iter)
        return self

    def predict(self, X):
        """The value predicted for each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        X = prediction_rows(self, X)
        return X @ self.coef_ + self.intercept_[0]


def _scores(X, coef, intercept):
    """X coef^T + intercept, dense whatever X and coef are."""
    scores = X @ coef.T
    return (scores.toarray() if sparse.issparse(scores) else np.asarray(scores)) + intercept


def _one_or_list(found):
    return found[0] if len(found) == 1 else found
