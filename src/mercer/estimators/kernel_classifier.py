"""What every kernel classifier does alike: check, fit as two-class problems, keep, predict."""

from contextlib import nullcontext
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from mercer.estimators import multiclass
from mercer.estimators.evidence import Evidence
from mercer.estimators.gram import evaluate, has_room, require_gram
from mercer.estimators.inputs import (
    classes_and_codes,
    expansion_input,
    input_tags,
    is_function,
    require_fitted,
    training_input,
)
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
from mercer.estimators.training import Budget, TrainingData
from mercer.estimators.weighting import class_weights, sample_weights
from mercer.kernels.expansion import Expansion
from mercer.kernels.matrix_form import Precomputed
from mercer.kernels.names import resolve
from mercer.kernels.vector.linear import Linear
from mercer.solvers import small
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers that are expansions in a kernel.

    A subclass says which two-class problems there are (`_two_class_problems`) and how they are
    solved (`_solve`, which gives a `Solved`); the rest is here.
    """

    # For machines that do not offer these as parameters.
    class_weight = None
    cache_size = None
    warm_start = False
    # Whether a fit to a few hundred points takes less time than a person needs to press a key.
    _is_quick = True
    # What to do about a status, where it differs from what a support vector machine needs.
    _remedies: ClassVar[dict[Status, str]] = {}
    # Whether coefficients may be so large that rows in single precision are evaluated in double.
    _predicts_in_double = False
    # The attribute that says how good a model is.
    _judge = "certificate_"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        for name, value in input_tags(self.kernel).items():
            setattr(tags.input_tags, name, value)
        return tags

    def fit(self, X, y, sample_weight=None):
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies the loss of each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        warn_unless_optimal(self.status_, self.max_iter, self._remedies, self._judge)
        return self

    def _fit(self, X, y, sample_weight=None):
        self._check_parameters()
        limits = Limits(self.max_iter, self.time_limit, self._watchers())
        X, y = training_input(self, X, y)
        classes, codes = classes_and_codes(y)
        class_weight = class_weights(self.class_weight, classes, y)
        weights = None if sample_weight is None else sample_weights(sample_weight, codes, classes)
        setup = self._two_class_problems(codes, class_weight, weights)
        setup.classes = classes
        budget = Budget.resolve(self.memory_limit, self.cache_size, X)
        items, data = self._training_data(X, weights, budget)
        # A small fit is over before anybody presses Ctrl-C, unless its kernel is slow.
        is_quick = self._is_quick and len(codes) <= small.LARGEST and data.kernel.is_dot_product_form
        with nullcontext() if is_quick else limits.catching_interrupts():
            solved = self._solve(data, setup, budget, limits)
        self.classes_, self.class_weight_, self._items = classes, class_weight, items
        self._keep(X, data, setup, solved)

    def _check_parameters(self):
        """The parameters that all kernel classifiers have."""
        require_number("tol", self.tol, above=0.0)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        require_optional_number("cache_size", self.cache_size, above=0.0)
        require_number("coef0", self.coef0)
        require_max_iter(self.max_iter)
        require_n_jobs(self.n_jobs)
        require_callbacks(self.callbacks)
        for name in ("break_ties", "warm_start"):
            require_flag(name, getattr(self, name))
        require_choice("multi_class", self.multi_class, ("ovo", "ovr"))
        require_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))

    def _watchers(self):
        printing = [print_round] if self.verbose else []
        return [*printing, *(self.callbacks or [])]

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
        self._keep_evidence(data, setup, solved)

    def _keep_evidence(self, data, setup, solved):
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
        values = self._values(X)
        if len(self.classes_) == 2:
            return self.classes_[(values[:, 0] > 0).astype(np.intp)]
        if self._has_pairs:
            count = multiclass.ovr_from_ovo if self.break_ties else multiclass.votes
            values = count(values, len(self.classes_))
        return self.classes_[values.argmax(axis=1)]

    def _values(self, X):
        """The decision function of each two-class problem, shape (n, n_problems)."""
        require_fitted(self)
        X = expansion_input(self, X)
        is_single = getattr(X, "dtype", None) == np.float32 and not self._predicts_in_double
        dtype = np.float32 if is_single else np.float64
        return self.expansion_.values(X, dtype, self.n_jobs)

    def __getstate__(self):
        # The training data are not part of a model: what is to be said of them is said now.
        if "_evidence" in vars(self):
            self._evidence.settle()
        return super().__getstate__()


def _like(X, values):
    """`values` in the same sparse container as X."""
    return (sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix)(values)
