"""The fitted attributes of stochastic gradient descent, certificate included."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._errors import DataError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.fitting.inputs import known_codes, next_batch
from mercer.estimators.fitting.tasks import one_or_all, sides_of
from mercer.estimators.fitting.weights import row_weights
from mercer.estimators.online.sgd_certificate import WeightedRows, certificates
from mercer.estimators.online.sgd_forms import WeightForm
from mercer.kernels.vector.linear import Linear
from mercer.problems.svm.regularised_risk import expected_bound

if TYPE_CHECKING:
    from mercer.estimators.online.sgd_forms import KernelForm
    from mercer.kernels.base.expansion import Expansion
    from mercer.problems.svm.regularised_risk import ExpectedBound


class SGDModel:
    """Fitted attributes of an estimator that keeps a form of `sgd_forms`."""

    if TYPE_CHECKING:
        # Attributes of the classifier this is mixed into.
        bias: str
        budget: int | None
        sampling: str
        n_jobs: int | None
        classes_: Array
        class_weight_: FloatArray
        n_iter_: int
        _form: Any
        _evidence: Any
        _mean_weight: float
        _rho: float
        _traces: list[Any]

    @property
    def trace_(self) -> Any:
        """The trace of the run."""
        check_is_fitted(self, "_form")
        return one_or_all(self._traces)

    @property
    def bound_(self) -> "ExpectedBound":
        """The theoretical guarantee (see `ExpectedBound`)."""
        check_is_fitted(self, "_form")
        steps = self._form.iterates[0].steps
        if self._evidence is None:
            reason = "the rows of a stream are not independent draws from a fixed set"
        elif self.sampling != "replacement":
            reason = "rows of a permutation are not independent draws"
        elif not steps.averaged:
            reason = "the theorem is about the mean of the iterates, but average=False"
        else:
            reason = "" if self.budget is None else "steps with a budget are not the steps of the theorem"
        mean_weight = 1.0 if self._evidence is None else self._mean_weight
        return expected_bound(steps.lam, self.n_iter_, self._measured_rho(), mean_weight, steps.radius < np.inf, reason)

    @property
    def alpha_(self) -> float:
        """lambda of the steps taken."""
        check_is_fitted(self, "_form")
        return self._form.iterates[0].steps.lam

    @property
    def certificate_(self) -> Any:
        """The certificate (see `Certificate`) on the training data of `fit`."""
        check_is_fitted(self, "_form")
        if self._evidence is None:
            raise DataError("the rows of a stream are not kept; certify(X, y) says how good the model is on given rows")
        return one_or_all(self._evidence.certificates())

    def certify(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Any:
        """Certificates of this model on given rows: f over them, and a lower bound on its minimum.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or items that the kernel compares
            A precomputed matrix must be that of the fit.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            How often each row counts: weights are multiplicities.

        Returns
        -------
        Certificate, or a list with one for each class
        """
        check_is_fitted(self, "_form")
        X, y = next_batch(self, X, y)
        codes = known_codes(self.classes_, y)
        counts = None if sample_weight is None else row_weights(sample_weight, len(codes))
        rows = WeightedRows(X, sides_of(codes, len(self.classes_)), self.class_weight_[codes], counts)
        return one_or_all(certificates(self._form, rows, self.alpha_, self.bias, self.n_jobs))

    @property
    def expansion_(self) -> "Expansion":
        """The decision functions as sums of kernels."""
        check_is_fitted(self, "_form")
        return self._form.expansion()

    @property
    def intercept_(self) -> FloatArray:
        """b of each decision function."""
        check_is_fitted(self, "_form")
        return self._form.coefficients()[1]

    @property
    def coef_(self) -> FloatArray:
        """w of each decision function; only for a linear kernel."""
        check_is_fitted(self, "_form")
        coefficients = self._form.coefficients()[0]
        if isinstance(self._form, WeightForm):
            return coefficients
        if not isinstance(self._form.kernel, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        return coefficients @ self._form.items

    def _alpha_form(self, name: str) -> "KernelForm":
        check_is_fitted(self, "_form")
        if isinstance(self._form, WeightForm):
            raise AttributeError(f'{name} is only available where rows are kept; pass form="expansion"')
        return self._form

    @property
    def support_(self) -> IndexArray:
        """Positions of the support vectors in the rows of `fit`."""
        form = self._alpha_form("support_")
        if self._evidence is None:
            raise AttributeError("support_ is only available after fit: the rows of a stream have no positions")
        return form.support

    @property
    def support_vectors_(self) -> Rows:
        """Items with a non-zero coefficient."""
        return self._alpha_form("support_vectors_").items

    @property
    def dual_coef_(self) -> FloatArray:
        """Coefficients of the support vectors, one row for each decision function."""
        return self._alpha_form("dual_coef_").coefficients()[0]

    def _measured_rho(self) -> float:
        return self._rho if self._evidence is None else self._evidence.rho()

    def __getstate__(self) -> dict[str, Any]:
        # A copy of a model has no training data.
        if vars(self).get("_evidence") is not None:
            self._evidence.settle()
        return cast(dict[str, Any], super().__getstate__())
