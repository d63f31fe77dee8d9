"""Validation of the arguments of fit and predict: rows or items, and labels.

An array of floats with integer labels, the usual case, is checked here in microseconds.
Everything else goes through scikit-learn's validation, which knows lists, data frames and
sparse formats, and whose errors are known.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from mercer._errors import DataError
from mercer._jit.row_products import has_duplicates
from mercer._types import Array, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.fitting.given_matrix import evaluate
from mercer.estimators.fitting.not_numbers import advised, advised_prediction
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.structured import StructuredKernel
from mercer.kernels.given.precomputed import Custom, Precomputed
from mercer.kernels.given.several_precomputed import GivenMatrices
from mercer.kernels.items.prepare_rows import require_sound_csr
from mercer.kernels.notation.sklearn_names import from_text
from mercer.kernels.table.frame import Frame, as_frame, is_data_frame

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.utils import Tags


_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
# Squares of targets, and products with coefficients of their size, must not overflow.
LARGEST_TARGET = 1e100
# Largest difference of labels that are counted rather than sorted.
MOST_COUNTED = 1000
_ROWS = {"dtype": (np.float64, np.float32), "order": "C", "accept_sparse": "csr"}


def is_function(kernel: Any) -> bool:
    """Whether a kernel is a plain function, called as scikit-learn calls it."""
    return callable(kernel) and not isinstance(kernel, (Kernel, type))


def kernel_of(estimator: "BaseEstimator") -> Any:
    """The kernel parameter, or the kernel that `fit` has chosen if it is "auto"."""
    kernel = estimator.kernel
    return getattr(estimator, "kernel_", kernel) if isinstance(kernel, str) and kernel == "auto" else kernel


def has_function(kernel: Any) -> bool:
    """Whether a user's function is the kernel, or a part of it."""
    return any(isinstance(part, Custom) for part in _leaves(kernel))


def takes_items(kernel: Any) -> bool:
    """Whether the items may be anything: texts, trees, graphs, whatever a user's function takes."""
    kernel = from_text(kernel)
    return is_function(kernel) or (isinstance(kernel, Kernel) and bool(kernel.takes_items))


def is_precomputed(kernel: Any) -> bool:
    """Whether the data are the kernel matrix."""
    return isinstance(from_text(kernel), Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def training_input(estimator: "BaseEstimator", X: Rows, y: Any) -> tuple[Rows, Array]:
    """Rows (or items) and labels of the same length; sets the feature attributes of the estimator."""
    if takes_items(kernel_of(estimator)):
        X = _training_items(estimator, X, y)
        return X, y if _is_plain_target(y, len(y)) else _labels(column_or_1d(y, warn=True))
    _require_rows_or_gram(estimator, X)
    return training_rows(estimator, X, y)


def training_rows(
    estimator: "BaseEstimator", X: Rows, y: Any, tidy: Callable[[Rows], Rows] | None = None
) -> tuple[Rows, Array]:
    """Rows and labels of the same length; sets the feature attributes of the estimator.

    `tidy` normalises sparse rows: by default indices are sorted and duplicates summed.
    """
    if _is_plain(X) and _is_plain_target(y, len(X)):
        _note_features(estimator, X)
        return X, y
    X, y = _validated(estimator, X, y)
    return (tidy or _canonical)(X), _labels(y)


def without_duplicates(X: Rows) -> Rows:
    """Sparse rows as they are, sorted or not, unless an entry is duplicated."""
    if not sparse.issparse(X) or (X.has_sorted_indices and X.has_canonical_format):
        return X
    return _canonical(X) if has_duplicates(X) else X


def regression_rows(
    estimator: "BaseEstimator",
    X: Rows,
    y: Labels,
    tidy: Callable[[Rows], Rows] = without_duplicates,
    multi_output: bool = False,
) -> tuple[Rows, FloatArray]:
    """Rows and finite numbers of the same length; sets the feature attributes of the estimator."""
    X, y = _validated(estimator, X, y, y_numeric=True, multi_output=multi_output)
    return tidy(X), np.asarray(y, dtype=np.float64)


def prediction_rows(estimator: "BaseEstimator", X: Rows) -> Rows:
    """Rows with the features of the fit."""
    if not _is_plain(X) or X.shape[1] != estimator.n_features_in_ or hasattr(estimator, "feature_names_in_"):
        X = _validated(estimator, X, told_by=advised_prediction, reset=False)
    return X


def regression_input(estimator: "BaseEstimator", X: Rows, y: Labels) -> tuple[Rows, FloatArray]:
    """Rows (or items) and finite targets; sets the feature attributes of the estimator."""
    if takes_items(kernel_of(estimator)):
        X = _training_items(estimator, X, y)
        return X, _targets(check_array(column_or_1d(y, warn=True), ensure_2d=False, input_name="y"))
    if _is_plain(X) and type(y) is np.ndarray and y.ndim == 1 and len(y) == len(X) and y.dtype.kind == "f":
        _note_features(estimator, X)
        return X, _targets(check_array(y, ensure_2d=False, input_name="y"))
    _require_rows_or_gram(estimator, X)
    X, y = regression_rows(estimator, X, y, _canonical)
    return X, _targets(y)


def unlabeled_input(estimator: "BaseEstimator", X: Rows) -> Rows:
    """Rows (or items) alone; sets the feature attributes of the estimator."""
    if takes_items(kernel_of(estimator)):
        return _training_items(estimator, X)
    if _is_plain(X):
        _note_features(estimator, X)
        return X
    _require_rows_or_gram(estimator, X)
    return _canonical(_validated(estimator, X))


def _validated(
    estimator: "BaseEstimator", *data: Any, told_by: Callable[..., ValueError | TypeError] = advised, **options: Any
) -> Any:
    """Rows, and targets if there are any, validated as in scikit-learn; `told_by` words the error for non-numbers."""
    require_sound_csr(data[0])
    try:
        return validate_data(estimator, *data, **options, **_ROWS)
    except (ValueError, TypeError) as error:
        told = told_by(estimator, data[0], error)
        if told is error:
            raise
        raise told from None


def _targets(y: Array) -> FloatArray:
    y = np.asarray(y, dtype=np.float64)
    if not np.abs(y).max(initial=0.0) < LARGEST_TARGET:
        largest = y.flat[np.abs(y).argmax()]
        raise DataError(f"y must be below {LARGEST_TARGET:g} in absolute value, got {largest:g}; scale the targets")
    return y


def _require_rows_or_gram(estimator: "BaseEstimator", X: Rows) -> None:
    if sparse.issparse(X) and is_precomputed(kernel_of(estimator)):
        raise TypeError("Sparse precomputed kernels are not supported; pass K.toarray()")


def multi_target_input(estimator: "BaseEstimator", X: Rows, y: Any) -> tuple[Rows, FloatArray, bool]:
    """Rows (or items) and targets of shape (n, t) in double precision, and whether y was flat."""
    if takes_items(kernel_of(estimator)):
        X = _training_items(estimator, X, y)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    else:
        _require_rows_or_gram(estimator, X)
        X, y = regression_rows(estimator, X, y, _canonical, multi_output=True)
    y = _targets(y)
    return X, y.reshape(len(y), -1), y.ndim == 1


def prediction_input(estimator: "BaseEstimator", X: Rows) -> Rows:
    """Rows (or items) like those of the fit."""
    if takes_items(kernel_of(estimator)):
        return as_items(X, kernel_of(estimator))
    X = prediction_rows(estimator, X)
    if sparse.issparse(X) and not estimator._sparse:
        name = type(estimator).__name__
        raise DataError(f"cannot use sparse input in {name!r} trained on dense data; pass X.toarray()")
    return X


def expansion_input(model: "BaseEstimator", X: Rows) -> Rows:
    """Rows (or items) in the form that the expansion of a fitted kernel machine takes."""
    X = prediction_input(model, X)
    items = getattr(model, "_items", None)
    if items is not None:
        return evaluate(kernel_of(model), X, items)
    if isinstance(model.expansion_.kernel, Precomputed):
        _require_columns_of_training(X, getattr(model, "shape_fit_", X.shape[1:])[0])
    return X


def _require_columns_of_training(K: Any, expected: int) -> None:
    if K.shape[1] != expected:
        raise DataError(
            f"X.shape[1] = {K.shape[1]} should be equal to {expected}, "
            "the number of samples at training time; pass K(test, train)"
        )


def next_batch(estimator: "BaseEstimator", X: Rows, y: Labels) -> tuple[Rows, Array]:
    """Rows (or items) like those seen before, and labels of the same length."""
    X = prediction_input(estimator, X)
    check_consistent_length(X, y)
    return _canonical(X), _labels(column_or_1d(y, warn=True))


def known_codes(classes: Array, y: Array) -> IndexArray:
    """The position of each label among `classes`, which must contain them all."""
    places = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    unknown = np.flatnonzero(classes[places] != y)
    if len(unknown):
        raise DataError(f"label {y[unknown[0]].item()!r} of row {unknown[0]} is not among classes={classes.tolist()}")
    return places


def require_fitted(estimator: "BaseEstimator") -> None:
    """Raise scikit-learn's NotFittedError before `fit`."""
    if "expansion_" not in vars(estimator):
        check_is_fitted(estimator, "expansion_")


def as_items(X: Rows, kernel: Any = None) -> Any:
    """Items with a length that can be selected by position: an array, CSR rows, a list, rows of several given matrices
    or, for a kernel that looks up columns, a `Frame`."""
    if isinstance(X, GivenMatrices):
        return X
    if isinstance(X, (str, bytes, Mapping)):
        one = f"one text {X[:40]!r}" if isinstance(X, (str, bytes)) else "one dictionary"
        raise DataError(f"X must be a list of items, got {one}; pass [item] for a single one")
    if sparse.issparse(X):
        return X.tocsr()
    if is_data_frame(X) and _takes_tables(kernel):
        return as_frame(X)
    return np.asarray(X) if hasattr(X, "__array__") else list(X)


def rows_at(X: Rows, places: IndexArray) -> Rows:
    """Rows or items at some positions, in the same kind of container."""
    if isinstance(X, list | tuple):
        return [X[k] for k in places]
    if is_data_frame(X):
        chosen = as_frame(X)[places]
        return chosen if isinstance(X, Frame) else chosen.native
    return (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))[places]


def _takes_tables(kernel: Any) -> bool:
    kernel = from_text(kernel)
    return isinstance(kernel, Kernel) and kernel.takes_tables


def _canonical(X: Rows) -> Rows:
    """Sparse rows with sorted indices and no duplicates; the user's matrix is not modified."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _is_plain(X: Rows) -> bool:
    """Whether X is valid as it is: finite floats in rows, in C order."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in _FLOATS or not X.flags.c_contiguous or X.size == 0:
        return False
    # One pass without a temporary; if it overflows, the full validation decides.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def _is_plain_target(y: Any, n: int) -> bool:
    return type(y) is np.ndarray and y.ndim == 1 and len(y) == n and _are_labels(y)


def _are_labels(y: Array) -> bool:
    """Whether all targets are integers, booleans or words, so that they cannot be meant as quantities."""
    if y.dtype.kind == "f":
        return bool(np.isfinite(y).all() and (y == np.rint(y)).all())
    return y.dtype.kind in "iubU"


def _training_items(estimator: "BaseEstimator", X: Rows, y: Any = None) -> Rows:
    """Items to learn from, as many as targets; sets the column attributes."""
    X = as_items(X, kernel_of(estimator))
    note_columns(estimator, X)
    check_consistent_length(X, y)
    if (X.shape[0] if hasattr(X, "shape") else len(X)) == 0:
        raise DataError("X must have at least one row to learn from, got none")
    return X


def note_columns(estimator: "BaseEstimator", X: Rows) -> None:
    """Record the number of columns of a table, and their names."""
    for name in ("n_features_in_", "feature_names_in_"):
        vars(estimator).pop(name, None)
    if isinstance(X, Frame) or getattr(X, "ndim", 1) == 2:
        estimator.n_features_in_ = X.shape[1]
    if isinstance(X, Frame) and all(isinstance(name, str) for name in X.names):
        estimator.feature_names_in_ = np.array(X.names, dtype=object)


def tell_input(tags: "Tags", kernel: Any) -> "Tags":
    """scikit-learn's tags, adjusted to the data that a kernel takes."""
    for name, value in _input_tags(from_text(kernel)).items():
        setattr(tags.input_tags, name, value)
    return tags


def _input_tags(kernel: Any) -> dict[str, bool]:
    if isinstance(kernel, str) and kernel == "auto":
        return {"sparse": True, "string": True, "categorical": True, "dict": True}
    if isinstance(kernel, Kernel) and kernel.takes_tables:
        return {"sparse": False, "string": True, "categorical": True, "dict": True, "allow_nan": True}
    parts = list(_leaves(kernel)) if isinstance(kernel, Kernel) else []
    if any(isinstance(part, StructuredKernel) for part in parts):
        reads_texts = any(getattr(part, "item_name", None) == "text" for part in parts)
        return {"sparse": False, "two_d_array": False, "one_d_array": True, "string": reads_texts}
    return {"pairwise": is_precomputed(kernel), "sparse": not is_precomputed(kernel)}


def _leaves(kernel: Any) -> Iterator[Any]:
    """The kernels that a combination is made of."""
    nested = kernel.nested_kernels().values()
    if not nested:
        yield kernel
    for each in nested:
        yield from _leaves(each)


def _note_features(estimator: "BaseEstimator", X: Rows) -> None:
    estimator.n_features_in_ = X.shape[1]
    vars(estimator).pop("feature_names_in_", None)


def _labels(y: Any) -> Array:
    if not _are_labels(y):
        check_classification_targets(y)
    return y


def _counted(y: Array) -> tuple[Array, IndexArray] | None:
    """`np.unique` for whole numbers close together, the usual labels, without sorting; else None."""
    if y.dtype.kind not in "iuf":
        return None
    low, high = y.min(), y.max()
    if not float(high) - float(low) < MOST_COUNTED:
        return None
    # Differences of signed numbers may need the bit of their sign.
    from_low = (y - low).view(f"u{y.itemsize}") if y.dtype.kind == "i" else y - low
    codes = from_low.astype(np.intp)
    if y.dtype.kind == "f" and (codes != from_low).any():
        return None
    counts = np.bincount(codes)
    present = counts.nonzero()[0]
    if len(present) < len(counts):
        codes = present.searchsorted(codes)
    return low + present.astype(y.dtype), codes


def classes_and_codes(y: Array) -> tuple[Array, IndexArray]:
    """The labels in order, and the position of each point's label among them."""
    classes, codes = _counted(y) or np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise DataError(
            f"The number of classes has to be greater than one; got {len(classes)} class, "
            f"every label is {classes[0].item()!r}"
        )
    return classes, codes
