"""Linear functions extracted from fitted estimators, and put into estimators without training data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse

from mercer._errors import ParameterError
from mercer._types import Array, IndexArray
from mercer.estimators.fitting.fitted_parts import part, set_parts
from mercer.estimators.svm.svdd import SVDD
from mercer.exchange.text.parts import Machine
from mercer.kernels.vector.linear import Linear
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class LinearFunctions:
    """<w, x> + b for one or several functions.

    Attributes
    ----------
    weights : ndarray of shape (n_functions, n_features)
    intercepts : ndarray of shape (n_functions,)
    """

    weights: np.ndarray
    intercepts: np.ndarray

    @classmethod
    def of(cls, model: "BaseEstimator") -> Self:
        """The functions of a fitted linear model; refuses others, and pairs of several classes."""
        name = type(model).__name__
        if isinstance(model, SVDD) or not (hasattr(model, "coef_") and hasattr(model, "intercept_")):
            raise ParameterError(f"model must be a fitted linear model, with coef_ and intercept_, got {name}")
        weights = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_)
        weights = np.atleast_2d(weights).astype(np.float64)
        intercepts = np.broadcast_to(np.atleast_1d(model.intercept_).astype(np.float64), len(weights))
        classes = getattr(model, "classes_", None)
        expected = 1 if classes is None or len(classes) == 2 else len(classes)
        if len(weights) != expected or part(model, "has_pairs", False):
            raise ParameterError(
                f"{name} has {len(weights)} functions for pairs of {len(cast(Any, classes))} classes; "
                'one for each class is needed: multi_class="ovr"'
            )
        return cls(weights, np.array(intercepts))

    def negated(self) -> "LinearFunctions":
        """Minus the functions."""
        return LinearFunctions(-self.weights, -self.intercepts)

    def taken(self, order: IndexArray) -> "LinearFunctions":
        """The functions at these positions."""
        return LinearFunctions(self.weights[order], self.intercepts[order])

    def difference(self) -> "LinearFunctions":
        """Of two functions, the second minus the first, which is positive where the second is larger."""
        return LinearFunctions(self.weights[1:] - self.weights[:1], self.intercepts[1:] - self.intercepts[:1])


def linear_classifier(
    functions: LinearFunctions, classes: Array, estimator: Any, status: Status = Status.OPTIMAL, iterations: int = 0
) -> Any:
    """A fitted `LinearSVC` with these functions, one, or one for each class."""
    estimator.classes_ = classes
    set_parts(estimator, calibration=None, last=None)
    estimator.coef_, estimator.intercept_ = functions.weights, functions.intercepts
    return _note(functions, estimator, status, iterations)


def linear_regressor(
    functions: LinearFunctions, estimator: Any, status: Status = Status.OPTIMAL, iterations: int = 0
) -> Any:
    """A fitted `LinearSVR` with this function."""
    estimator.coef_, estimator.intercept_ = functions.weights[0], functions.intercepts
    set_parts(estimator, last=None)
    return _note(functions, estimator, status, iterations)


def _note(functions: LinearFunctions, estimator: Any, status: Status, iterations: int) -> Any:
    estimator.n_features_in_ = functions.weights.shape[1]
    estimator.status_, estimator.n_iter_, estimator.trace_ = status, iterations, []
    # A certificate needs the training data, which are not here.
    estimator.certificate_ = None
    return estimator


def linear_detector(functions: LinearFunctions, estimator: Any) -> Any:
    """A fitted `OneClassSVM` with a linear kernel: one vector, the weights, with coefficient 1."""
    machine = Machine(Linear(), functions.weights, np.ones((1, 1)), np.array([1]), functions.intercepts)
    estimator.kernel = "linear"
    machine.into(estimator, functions.weights.shape)
    estimator.offset_ = -estimator.intercept_
    return estimator
