"""What searches for classifiers and for regressions do differently."""

from typing import TYPE_CHECKING

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from mercer._types import Array, ArrayLike, FloatArray, Labels, Rows
from mercer.estimators.fitting.inputs import classes_and_codes, regression_input, training_input
from mercer.estimators.fitting.weights import sample_weights, target_weights
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svr import SVR
from mercer.selection.tuning.base import TunedModel, is_refitted

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def _has_probabilities(self: "TunedClassifier") -> bool:
    return is_refitted(self) and bool(self._template().probability)


class TunedClassifier(ClassifierMixin, TunedModel):
    """A search whose machine is an `SVC`."""

    _machine = SVC
    _default_score = "accuracy"
    _classifies = True

    def _input(self, probe: "BaseEstimator", X: Rows, y: Labels) -> tuple[Rows, Array]:
        X, y = training_input(probe, X, y)
        self.classes_ = classes_and_codes(y)[0]
        return X, y

    def _weights(self, given: ArrayLike, y: Array) -> FloatArray:
        classes, codes = classes_and_codes(y)
        return sample_weights(given, codes, classes)

    @available_if(is_refitted)
    def decision_function(self, X: Rows) -> FloatArray:
        """Signed scores of the refitted machine: above 0 the second of two classes; a column per class or pair if more.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), (n, n_train) if precomputed, or n items

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
        """
        return self._fitted().decision_function(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Rows) -> FloatArray:
        """Probabilities of the refitted machine, one column per class; only with `probability`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), (n, n_train) if precomputed, or n items

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._fitted().predict_proba(X)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Rows) -> FloatArray:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), (n, n_train) if precomputed, or n items

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._fitted().predict_log_proba(X)


class TunedRegressor(RegressorMixin, TunedModel):
    """A search whose machine is an `SVR`."""

    _machine = SVR
    _default_score = "r2"
    _classifies = False

    def _input(self, probe: "BaseEstimator", X: Rows, y: Labels) -> tuple[Rows, Array]:
        return regression_input(probe, X, y)

    def _weights(self, given: ArrayLike, y: Array) -> FloatArray:
        return target_weights(given, len(y))
