"""Some of the rows that a user passed, whatever they are."""

import numpy as np

from mercer._types import IndexArray, Rows
from mercer.kernels.table.frame import Frame, as_frame, is_data_frame


def rows_at(X: Rows, places: IndexArray) -> Rows:
    """Rows or items at some positions, in the kind of container that they came in."""
    if isinstance(X, list | tuple):
        return [X[k] for k in places]
    if is_data_frame(X):
        chosen = as_frame(X)[places]
        return chosen if isinstance(X, Frame) else chosen.native
    return (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))[places]
