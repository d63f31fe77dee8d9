"""Checks of the arguments of this package."""

from numbers import Real
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import ArrayLike, FloatArray, IndexArray, Labels, Rows


def require_positive(**named: object) -> None:
    """Each a positive, finite number."""
    for name, value in named.items():
        # A comparison with NaN is false, so NaN is refused too.
        if not _is_real(value) or not 0.0 < value < np.inf:
            raise ParameterError(f"{name} must be a positive, finite number, got {value!r}")


def require_not_negative(**named: object) -> None:
    """Each a finite number that is not negative."""
    for name, value in named.items():
        if not _is_real(value) or not 0.0 <= value < np.inf:
            raise ParameterError(f"{name} must be a finite, nonnegative number, got {value!r}")


def require_share(**named: object) -> None:
    """Each strictly between 0 and 1: a probability, or an error that is allowed."""
    for name, value in named.items():
        if not _is_real(value) or not 0.0 < value < 1.0:
            raise ParameterError(f"{name} must lie strictly between 0 and 1, got {value!r}")


def require_count(**named: object) -> None:
    """Each a positive whole number."""
    for name, value in named.items():
        if not _is_real(value) or not (value >= 1 and float(value).is_integer()):
            raise ParameterError(f"{name} must be a positive whole number, got {value!r}")


def _is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def rows_of(X: Rows) -> Any:
    """Vectors as CSR or as a dense array in double precision, all of them finite."""
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64)
        values = X.data
    else:
        X = values = np.atleast_2d(np.asarray(X, dtype=np.float64))
    if X.ndim != 2 or not np.isfinite(values).all():
        raise DataError(f"X must be rows of finite numbers, got shape {X.shape}, or NaN or infinity in them")
    return X


def signs_of(y: Labels, n: int) -> FloatArray:
    """Labels that are +1 and -1, one for each of n rows."""
    signs = np.asarray(y)
    if signs.shape != (n,) or signs.dtype.kind not in "fiu" or not np.isin(signs, (-1, 1)).all():
        raise DataError(f"y must hold {n} labels, each +1 or -1, got {y!r}")
    return signs.astype(np.float64)


def places_of(m: int, **named: ArrayLike) -> list[IndexArray]:
    """Rows among m, as whole numbers or as a mask of m Booleans: an array of places for each."""
    return [_places(name, value, m) for name, value in named.items()]


def _places(name: str, value: ArrayLike, m: int) -> IndexArray:
    places = np.asarray(value)
    if places.dtype == bool and places.shape == (m,):
        return np.flatnonzero(places)
    if places.size == 0 and places.ndim == 1:
        return np.zeros(0, np.intp)
    is_whole = places.ndim == 1 and places.dtype.kind in "iu"
    if not is_whole or not (places.min() >= 0 and places.max() < m) or len(np.unique(places)) < len(places):
        raise DataError(f"{name} must be different rows from 0 to {m - 1}, or a mask of {m} Booleans, got {value!r}")
    return places.astype(np.intp)


def normal_of(w: Rows, d: int) -> FloatArray:
    """A normal vector that is not zero."""
    w = np.asarray(w.toarray() if sparse.issparse(w) else w, dtype=np.float64).ravel()
    if len(w) != d or not np.isfinite(w).all() or not w.any():
        raise DataError(f"w must be {d} finite numbers, not all zero, got {w!r}")
    return w
