"""Rows or items by position, whatever container holds them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def take(X: Any, places: NDArray[np.intp]) -> Any:
    """The rows or items at these positions, in a container of the same kind."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    return X[places] if hasattr(X, "shape") else [X[place] for place in places]
