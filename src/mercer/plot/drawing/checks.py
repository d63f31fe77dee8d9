"""Whether a model can be drawn: fitted, of the right kind, with a kernel that can be evaluated anywhere."""

from typing import Any

from sklearn.base import is_outlier_detector, is_regressor
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer.estimators.fitting.inputs import is_function, is_precomputed, takes_items


def final_model(estimator: Any) -> Any:
    """The fitted model itself, or the one that a search has found."""
    model = getattr(estimator, "best_estimator_", estimator)
    check_is_fitted(model)
    return model


def require_vectors(estimator: Any, display: str) -> None:
    """A fitted model whose function has a value at every point, not only at rows of a matrix or at texts."""
    kernel = getattr(estimator, "kernel", None)
    if is_precomputed(kernel) or (takes_items(kernel) and not is_function(kernel)):
        raise ParameterError(
            f"{display} evaluates the model between its rows, which kernel={kernel!r} does not allow; "
            "fit it with a kernel of vectors, such as RBF()"
        )


def require_classifier(estimator: Any, display: str) -> None:
    """A classifier, or a detector of outliers."""
    if is_regressor(estimator):
        raise ParameterError(f"{display} draws classifiers, got the regressor {_name(estimator)}; see TubeDisplay")
    if not hasattr(estimator, "classes_") and not is_outlier_detector(estimator):
        raise ParameterError(f"{display} draws classifiers and detectors, got {_name(estimator)}")


def require_regressor(estimator: Any, display: str) -> None:
    """A regressor."""
    if not is_regressor(estimator):
        raise ParameterError(f"{display} draws regressors, got {_name(estimator)}; see DecisionBoundaryDisplay")


def require_attribute(estimator: Any, name: str, display: str, remedy: str) -> Any:
    """The attribute that the display draws, or an error that says which models have it."""
    if not hasattr(estimator, name):
        raise ParameterError(f"{display} needs a model with {name}, which {_name(estimator)} does not have; {remedy}")
    return getattr(estimator, name)


def _name(estimator: Any) -> str:
    return type(estimator).__name__
