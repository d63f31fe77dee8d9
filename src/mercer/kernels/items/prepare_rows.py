"""Conversion of the user's data (arrays, lists, sparse matrices) to `Rows` of one dtype."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError
from mercer._types import Array, FloatArray
from mercer._types import Rows as GivenRows
from mercer.kernels._types import Sparse
from mercer.kernels.items.column_statistics import moved, squared_lengths
from mercer.kernels.items.rows import Rows

_SHAPE_REMEDY = "X.reshape(-1, 1) makes one column of it, X.reshape(1, -1) one row"


def prepare_rows(X: GivenRows, dtype: DTypeLike, *, origin: Array | None = None, check: bool = True) -> Rows:
    """Rows of `X` in `dtype`, dense in C order or CSR with sorted indices.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    dtype : float32 or float64
    origin : array of shape (d,), optional
        Subtracted from every row, in double precision. Sparse rows are then made dense.
    check : bool
        False skips the search for NaN and infinity.
    """
    if sparse.issparse(X):
        if origin is None:
            return Rows(_canonical_csr(X, np.dtype(dtype), check))
        X = X.toarray()
    return _dense(X, np.dtype(dtype), origin, check)


def common_dtype(*data: GivenRows) -> np.dtype[Any]:
    """float32 if every array is, otherwise float64."""
    single = all(getattr(X, "dtype", None) == np.float32 for X in data if X is not None)
    return np.dtype(np.float32 if single else np.float64)


def squared_norms(X: GivenRows) -> FloatArray:
    """|x|^2 of each row, dense or sparse, in double precision."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1, dtype=np.float64)).ravel()
    return squared_lengths(X)


def numeric_matrix(X: GivenRows) -> Array:
    """`X` as a two-dimensional array of real numbers, or an error that says why not."""
    try:
        values = np.asarray(X)
        if values.dtype.kind not in "fiub":
            values = _as_real(values)
    except (TypeError, ValueError) as error:
        raise DataError(f"X must be a matrix of numbers: {error}") from error
    _require_two_dimensions(values.ndim, values.shape)
    return values


def _as_real(values: Array) -> FloatArray:
    if values.dtype.kind == "c":
        raise TypeError("complex numbers have no order and no kernel here")
    return values.astype(np.float64)


def _dense(X: GivenRows, dtype: np.dtype[Any], origin: Array | None, check: bool) -> Rows:
    values = numeric_matrix(X)
    if check:
        _require_finite(values)
    if origin is not None:
        _require_same_width(values.shape[1], len(origin))
    return Rows(_converted(values, dtype, origin, check))


def _converted(values: Array, dtype: np.dtype[Any], origin: Array | None, check: bool) -> Array:
    # Overflow is caught below, with a message that says more than a warning.
    with np.errstate(invalid="ignore", over="ignore"):
        converted = np.ascontiguousarray(values, dtype) if origin is None else moved(values, origin, dtype)
    if check and values.dtype != dtype:
        _require_in_range(converted)
    return converted


def _canonical_csr(X: Sparse, dtype: np.dtype[Any], check: bool) -> Sparse:
    _require_two_dimensions(X.ndim, X.shape)
    if X.dtype.kind not in "fiub":
        raise DataError(f"X must hold real numbers, got dtype {X.dtype}")
    values = sparse.csr_array(X)
    if check:
        require_sound_csr(values)
    if not values.has_canonical_format:
        # The user's own matrix is not changed.
        values = values.copy()
        values.sum_duplicates()
    with np.errstate(over="ignore"):
        converted = values.astype(dtype, copy=False)
    if check:
        _require_finite(values.data)
        _require_in_range(converted.data)
    return _with_small_indices(converted)


def require_sound_csr(values: Sparse) -> None:
    """Refuse CSR arrays with indices out of range, which would crash compiled code."""
    if not sparse.issparse(values) or values.format != "csr":
        return
    try:
        values.check_format(full_check=True)
    except ValueError as error:
        raise DataError(f"X is not a valid CSR matrix: {error}") from error


def _with_small_indices(values: Sparse) -> Sparse:
    if values.indices.dtype == np.int32 or max(values.nnz, *values.shape) > np.iinfo(np.int32).max:
        return values
    parts = (values.data, values.indices.astype(np.int32), values.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=values.shape)


def _require_two_dimensions(ndim: int, shape: tuple[int, ...]) -> None:
    if ndim != 2:
        raise DataError(f"X must have two dimensions (rows, features), got shape {tuple(shape)}; {_SHAPE_REMEDY}")


def _require_same_width(features: int, expected: int) -> None:
    if features != expected:
        raise DataError(f"X must have {expected} features, got {features}")


def _require_finite(values: Array) -> None:
    if not np.isfinite(values).all():
        kind = "NaN" if np.isnan(values).any() else "infinity"
        raise DataError(f"X must be finite, but it contains {kind}; impute or drop those rows")


def _require_in_range(values: Array) -> None:
    if not np.isfinite(values).all():
        raise DataError(f"X has values too large for {values.dtype}; scale its columns")
