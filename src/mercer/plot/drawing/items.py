"""Rows or items, whatever holds them, by position."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def take(X: Any, places: NDArray[np.intp]) -> Any:
    """The rows or items at these places, in a container of the same kind."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    return X[places] if hasattr(X, "shape") else [X[place] for place in places]
