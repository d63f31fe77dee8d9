"""What to do about data that are not rows of numbers, for the error that says so."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._types import Rows
from mercer.kernels.notation.sklearn_names import resolve
from mercer.kernels.table.column import Column
from mercer.kernels.table.frame import as_frame, is_data_frame


def advised(estimator: Any, X: Rows, error: ValueError | TypeError) -> ValueError | TypeError:
    """The error for a fit to data that are not all numbers: what is wrong and where, and kernels that take it.

    Any other error is returned unchanged.
    """
    kernel = getattr(estimator, "kernel", None)
    if isinstance(kernel, str) and kernel != "auto":
        resolve(kernel)  # raises first if the text is not a kernel
    if not _may_be_told(X, error):
        return error
    if _is_list_of(X, str):
        return DataError(f"X holds texts, but {_name(estimator)} takes rows of numbers; {_for_texts(estimator)}")
    fault = _fault(X)
    if fault is None:
        return error
    if not fault.is_missing:
        return DataError(f"{fault.what}; {_for_tables(estimator, _has_auto(estimator))}")
    # "auto" reads numeric arrays as rows, even with missing values.
    remedy = _for_tables(estimator, _has_auto(estimator) and not isinstance(X, np.ndarray))
    return DataError(f"{fault.what}; {remedy}, or fill it with SimpleImputer in a pipeline")


def advised_prediction(estimator: Any, X: Rows, error: ValueError | TypeError) -> ValueError | TypeError:
    """The error for predictions of rows that are not all numbers, by a model that was fitted to numbers.

    Any other error is returned unchanged.
    """
    fault = _fault(X) if _may_be_told(X, error) else None
    if fault is None:
        return error
    name = type(estimator).__name__
    return DataError(f"{fault.what}; this {name} was fitted to numbers without gaps: prepare X as for the fit")


class _Fault(NamedTuple):
    """The first place in a table that holds no number."""

    what: str
    is_missing: bool


def _may_be_told(X: Rows, error: ValueError | TypeError) -> bool:
    """Whether an error may be about what X holds; no kernel takes complex numbers."""
    is_complex = getattr(getattr(X, "dtype", None), "kind", "") == "c"
    return not (sparse.issparse(X) or is_complex or (isinstance(error, TypeError) and not _is_list_of(X, Mapping)))


def _fault(X: Rows) -> _Fault | None:
    try:
        columns = _columns(X)
    except (DataError, ValueError, TypeError):
        return None
    for column in columns:
        if column.kind != "number" and not column.missing.all():
            value = next(value for value, gone in zip(column.values, column.missing, strict=True) if not gone)
            name, shown = column.name, str(value)[:40]
            what = f"column {name!r} holds {shown!r}, which is not a number (could not convert to float)"
            return _Fault(what, is_missing=False)
        if column.missing.any():
            row = int(np.flatnonzero(column.missing)[0])
            return _Fault(f"Input X contains NaN: column {column.name!r} has no value in row {row}", is_missing=True)
    return None


def _name(estimator: Any) -> str:
    kernel = getattr(estimator, "kernel", None)
    return type(estimator).__name__ if kernel is None else f"kernel={kernel!r}"


def _is_list_of(X: Rows, kind: type) -> bool:
    flat = isinstance(X, (list, tuple)) or getattr(X, "ndim", 2) == 1
    return flat and len(X) > 0 and all(isinstance(each, kind) for each in X)


def _columns(X: Rows) -> list[Column]:
    frame = as_frame(X if is_data_frame(X) or isinstance(X, list) else np.asarray(X))
    return [frame.column(name) for name in frame.names]


def _for_texts(estimator: Any) -> str:
    if not hasattr(estimator, "kernel"):
        return 'SVC(kernel="spectrum") compares texts'
    auto = 'kernel="auto", ' if _has_auto(estimator) else ""
    return f'pass {auto}kernel="spectrum" or another kernel of texts, such as Spectrum(tokenizer="words")'


def _for_tables(estimator: Any, has_auto: bool) -> str:
    if not hasattr(estimator, "kernel"):
        return 'SVC(kernel="auto") learns from columns of any kind, and TableFeatures turns them into numbers'
    auto = 'kernel="auto" or ' if has_auto else ""
    return f"pass {auto}kernel=Columns.infer(X), which takes columns of any kind and keeps missing values"


def _has_auto(estimator: Any) -> bool:
    """Whether the kernel may be "auto"."""
    return getattr(estimator, "_chooses_kernel", False)
