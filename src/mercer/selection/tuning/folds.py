"""The folds of a search: what `cv` gives, checked."""

import warnings
from typing import Any, cast

import numpy as np
from sklearn.model_selection import check_cv

from mercer._errors import DataError
from mercer._types import Array, ArrayLike, IndexArray, Rows

# Folds of a search that is not told.
FOLDS = 5


def folds_of(
    cv: Any, X: Rows, y: Array, groups: ArrayLike | None, classifies: bool
) -> list[tuple[IndexArray, IndexArray]]:
    """Pairs (rows to learn from, rows to judge by) of row numbers.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        A number of folds, a scikit-learn splitter, or an iterable of splits; None means five folds, or as many as
        possible.
    X : object
        As the user passed it: a splitter may look at it.
    y : ndarray
    groups : array-like or None
    classifies : bool
    """
    is_ours = cv is None
    cv = min(FOLDS, most_folds(y, classifies)) if is_ours else cv
    try:
        with warnings.catch_warnings():
            if is_ours:  # users who did not choose the number of folds need not hear that a class has fewer rows
                warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = check_cv(cv, y, classifier=classifies).split(X, y, groups)
            folds = [tuple(map(np.asarray, fold)) for fold in parts]
    except ValueError as error:
        remedy = "; pass groups to fit" if groups is None and "groups" in str(error) else ""
        raise DataError(f"cv={cv!r} cannot split n_samples={len(y)} rows: {error}{remedy}") from error
    if not folds or not all(part.size for fold in folds for part in fold):
        raise DataError("cv must yield folds with rows to learn from and rows to score on")
    return cast(list[tuple[IndexArray, IndexArray]], [tuple(_numbers(part, len(y)) for part in fold) for fold in folds])


def most_folds(y: Array, classifies: bool) -> int:
    """How many folds rows can be divided into: two at least, which may be refused."""
    largest = int(np.unique(y, return_counts=True)[1].max(initial=0)) if classifies else len(y)
    return max(2, largest)


def _numbers(part: Any, n: int) -> IndexArray:
    """Row numbers from 0 on, from a mask or from numbers that may count from the end."""
    if part.dtype == bool:
        if part.shape != (n,):
            raise DataError(f"cv must yield masks of {n} rows, got one of shape {part.shape}")
        part = np.flatnonzero(part)
        if not len(part):
            raise DataError("cv must yield folds with rows to learn from and rows to score on")
        return part
    if part.ndim != 1 or part.dtype.kind not in "iuf" or (part != np.rint(part)).any():
        bad = part[part != np.rint(part)][0] if part.dtype.kind == "f" and part.ndim == 1 else part
        raise DataError(f"cv must yield row numbers, which are integers, got {bad}")
    outside = part[(part < -n) | (part >= n)]
    if len(outside):
        raise DataError(f"cv must yield row numbers below n_samples={n}, got {outside[0]}")
    return part.astype(np.intp) % n
