"""Rows and models brought into the plane: two columns, a grid around them, values on it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError


def dense(rows: Any) -> Any:
    """The rows as they are, or spread out if they are sparse."""
    return rows.toarray() if hasattr(rows, "toarray") else rows


def plane_points(X: Any) -> NDArray[np.float64]:
    """The rows as points of the plane, or an error that says what is in the way."""
    points = np.asarray(dense(X), dtype=np.float64)
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


def response(estimator: Any, grid_x: NDArray[Any], grid_y: NDArray[Any]) -> NDArray[Any]:
    """Decision values for two classes, indices of the predicted class for more."""
    plane = np.stack(np.meshgrid(grid_x, grid_y), axis=-1).reshape(-1, 2)
    if len(estimator.classes_) == 2:
        values = estimator.decision_function(plane)
    else:
        values = np.searchsorted(estimator.classes_, estimator.predict(plane))
    return np.asarray(values, dtype=np.float64).reshape(len(grid_y), len(grid_x))
