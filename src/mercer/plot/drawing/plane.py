"""Rows and models in the plane: two columns, a grid around them, values on it."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError, ParameterError

METHODS = ("auto", "decision_function", "predict_proba", "predict")


def dense(rows: Any) -> Any:
    """The rows themselves, as a dense array if they are sparse."""
    return rows.toarray() if hasattr(rows, "toarray") else rows


def numbers(X: Any) -> NDArray[np.float64]:
    """Rows as an array of numbers, or an error that says why they are not."""
    try:
        return np.asarray(dense(X), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"X must be rows of numbers to be drawn, got {type(X).__name__}: {error}") from error


def plane_points(X: Any) -> NDArray[np.float64]:
    """The rows as points of the plane, or an error that says why they cannot be."""
    points = numbers(X)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError(f"X must have 2 columns to be drawn in the plane, got shape {points.shape}; choose two of them")
    if len(points) == 0:
        raise DataError("X must have at least one row to be drawn, got none")
    return points


def axis_names(X: Any) -> tuple[str, str]:
    """The column names of a data frame, x1 and x2 for anything else."""
    first, second = getattr(X, "columns", ("x1", "x2"))
    return str(first), str(second)


def ticks(column: NDArray[Any], padding: float, resolution: int) -> NDArray[Any]:
    """Evenly spaced coordinates from a little below the smallest to a little above the largest."""
    low, high = column.min(), column.max()
    room = padding * (high - low) or 1.0
    return np.linspace(low - room, high + room, resolution)


@contextmanager
def nameless_rows() -> Iterator[None]:
    """Evaluate a model without its warning that the grid, unlike its training frame, has no column names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


def method_to_ask(estimator: Any, method: str) -> str:
    """The method to call: decision values for two classes and for detectors, the predicted class for more."""
    if method not in METHODS:
        raise ParameterError(f"response_method must be one of {', '.join(map(repr, METHODS))}, got {method!r}")
    several = len(getattr(estimator, "classes_", (-1, 1))) > 2
    if method == "decision_function" and several:
        raise ParameterError(
            "response_method='decision_function' shades two classes; for more use 'predict' or 'predict_proba'"
        )
    if method == "auto":
        method = "predict" if several else "decision_function"
    if not hasattr(estimator, method):
        name, remedy = type(estimator).__name__, "SVC(probability=True) has one"
        raise ParameterError(f"response_method={method!r} needs a model with that method, got {name}; {remedy}")
    return method


def response(estimator: Any, grid_x: NDArray[Any], grid_y: NDArray[Any], method: str = "auto") -> NDArray[Any]:
    """Decision values or probabilities of the second class; indices, or all probabilities, of several classes."""
    plane = np.stack(np.meshgrid(grid_x, grid_y), axis=-1).reshape(-1, 2)
    method = method_to_ask(estimator, method)
    values = np.asarray(getattr(estimator, method)(plane))
    if method == "predict":
        values = np.searchsorted(getattr(estimator, "classes_", np.array([-1, 1])), values)
    elif values.ndim == 2 and values.shape[1] == 2:
        values = values[:, 1]
    values = values.astype(np.float64)
    return values.reshape(len(grid_y), len(grid_x), *values.shape[1:])
