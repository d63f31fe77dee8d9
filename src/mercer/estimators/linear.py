"""Linear support vector classification, without a kernel."""

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer.estimators.inputs import classes_and_codes, prediction_rows, training_rows, without_duplicates
from mercer.estimators.linear_estimator import LinearEstimator
from mercer.estimators.linear_fits import seed_of
from mercer.estimators.parameters import require_choice
from mercer.estimators.progress import warn_unless_optimal
from mercer.estimators.scored import PredictsByScore, linear_scores
from mercer.estimators.weighting import class_weights, sample_weights
from mercer.problems.linear_crammer_singer import CrammerSinger
from mercer.problems.linear_l1 import SparseMargin
from mercer.problems.linear_machine import LinearMargin
from mercer.problems.losses import MARGIN_LOSSES
from mercer.solvers import crammer_singer, l1_newton, linear_machine


class LinearSVC(PredictsByScore, ClassifierMixin, LinearEstimator):
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
        scores = linear_scores(prediction_rows(self, X), self.coef_, self.intercept_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

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
