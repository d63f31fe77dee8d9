"""What can be seen of training data before a fit: scales, repetitions, contradictions, balance, rank, nu."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels.given.several_precomputed import GivenMatrices
from mercer.kernels.notation.sklearn_names import resolve
from mercer.kernels.table.frame import as_frame, is_data_frame
from mercer.selection.preflight.finding import Finding
from mercer.selection.preflight.sample import numbers_of

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


# If the spreads of columns differ by more than this, some drown out the others.
UNEQUAL_SCALES = 100.0
# A class with less than this share of the rows is easily ignored.
SMALL_CLASS = 0.05
# Rows whose kernel matrix shows the rank.
RANK_ROWS = 400
# Eigenvalues that make up this share of their sum are the rank that counts.
EXPLAINED = 0.99


def scaling(X: Rows) -> list[Finding]:
    """Whether numeric columns have similar spreads."""
    spread = _deviations(X)
    constant, moving = int(np.sum(spread == 0)), spread[spread > 0]
    found = []
    if constant:
        found.append(Finding("constant columns", f"{constant} of {len(spread)} columns never vary"))
    if len(moving) == 0:
        return [*found, Finding("scaling", "no column varies: every row is the same", is_problem=True)]
    ratio = float(moving.max() / moving.min())
    if ratio > UNEQUAL_SCALES and not sparse.issparse(X):
        message = (
            f"the widest column spreads {ratio:.3g} times as far as the narrowest, and alone decides what is similar; "
            "put StandardScaler before the estimator"
        )
        return [*found, Finding("scaling", message, is_problem=True)]
    return [*found, Finding("scaling", f"the spreads of the columns differ by a factor of {ratio:.3g}")]


def _deviations(X: Rows) -> FloatArray:
    if not sparse.issparse(X):
        return np.std(X, axis=0, dtype=np.float64)
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
    return np.sqrt(np.maximum(squares - mean**2, 0.0))


def not_finite(X: Rows) -> int:
    """How many entries are NaN or infinite."""
    return int(np.sum(~np.isfinite(X.data if sparse.issparse(X) else X)))


def repetitions(X: Rows, codes: IndexArray | None) -> list[Finding]:
    """Rows or items that occur more than once, and those of them that contradict each other; nothing if items cannot
    be compared."""
    keys = _keys(X)
    if keys is None:
        return []
    first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)[1:]
    copies = len(keys) - len(first)
    if copies == 0:
        return [Finding("duplicates", "no row occurs twice")]
    found = [
        Finding("duplicates", f"{copies} of {len(keys)} rows are copies of others; a weight of two would do the same")
    ]
    if codes is not None:
        lowest = np.full(len(first), np.inf)
        highest = np.full(len(first), -np.inf)
        np.minimum.at(lowest, inverse, codes)
        np.maximum.at(highest, inverse, codes)
        torn = int(counts[lowest != highest].sum())
        if torn:
            message = (
                f"{torn} rows are equal to others with another target: no function fits them, though a large C tries to"
            )
            found.append(Finding("contradictions", message, is_problem=True))
        else:
            found.append(Finding("contradictions", "equal rows have equal targets"))
    return found


def _keys(X: Rows) -> Array | None:
    """A number for each row or item, the same for equal ones; None if they cannot be compared."""
    numbers = numbers_of(X)
    if numbers is not None and not not_finite(numbers):
        return _row_keys(numbers)
    if is_data_frame(X):
        X = as_frame(X).rows()
    if sparse.issparse(X) or isinstance(X, GivenMatrices):
        return None
    try:
        places = {}
        return np.array([places.setdefault(_content(item), len(places)) for item in X])
    except TypeError:
        return None


def _content(item: Any) -> Hashable:
    """What an item consists of, for comparison; raises TypeError if that is not known."""
    if isinstance(item, dict):
        return frozenset((key, _content(value)) for key, value in item.items())
    if isinstance(item, (list, tuple)):
        return tuple(map(_content, item))
    if isinstance(item, np.ndarray):
        return item.shape, item.tobytes()
    if cast(Any, type(item).__eq__) is object.__eq__ and item is not None:
        raise TypeError(f"objects of type {type(item).__name__} have no known content")
    # NaN is taken to be equal to NaN here.
    return "missing" if item != item else item  # noqa: PLR0124


def _row_keys(X: Rows) -> FloatArray:
    """A number for each row: equal rows have equal ones (and others hardly ever)."""
    weights = np.random.default_rng(0).normal(size=X.shape[1])
    if sparse.issparse(X):
        return np.asarray(X @ weights)
    # One row at a time in the same order of summation, so that equal rows give equal sums.
    return np.einsum("ij,j->i", np.asarray(X, dtype=np.float64), weights)


def balance(classes: Array, codes: IndexArray) -> list[Finding]:
    """How many rows each class has."""
    counts = np.bincount(codes, minlength=len(classes))
    told = ", ".join(f"{label}: {count}" for label, count in list(zip(classes, counts, strict=True))[:6])
    more = "" if len(classes) <= 6 else f" and {len(classes) - 6} more"
    smallest = counts.min() / counts.sum()
    if smallest < SMALL_CLASS / max(1, len(classes) - 1):
        message = (
            f"{told}{more}; the smallest is {100 * smallest:.2g}% of the rows: class_weight='balanced' allows for it"
        )
        return [Finding("balance", message, is_problem=True)]
    return [Finding("balance", f"{told}{more}")]


def nu_is_feasible(nu: float, classes: Array, codes: IndexArray) -> list[Finding]:
    """Whether every pair of classes has a solution for this nu: nu <= 2 min(n1, n2) / (n1 + n2)."""
    counts = np.bincount(codes, minlength=len(classes))
    least, most = counts.min(), counts.max()
    largest = 2.0 * least / (least + most)
    if nu > largest:
        message = f"nu={nu:g} has no solution for the smallest and the largest class; nu must be at most {largest:.4g}"
        return [Finding("nu", message, is_problem=True)]
    return [Finding("nu", f"nu={nu:g} is feasible: anything up to {largest:.4g} would be")]


def kernel_rank(kernel: "Kernel", X: Rows, rows: IndexArray) -> tuple[int, int]:
    """(dimensions that hold 99% of the variance in feature space, of how many rows), from a sample."""
    sample = rows[:: max(1, len(rows) // RANK_ROWS)][:RANK_ROWS]
    part = [X[i] for i in sample] if isinstance(X, list) else X[sample]
    K = resolve(kernel, X=part)(part, dtype=np.float64) if kernel is not None else np.asarray(part)[:, sample]
    K = K - K.mean(axis=0)
    K = K - K.mean(axis=1)[:, None]
    values = np.maximum(np.linalg.eigvalsh(0.5 * (K + K.T))[::-1], 0.0)
    total = values.sum()
    if total <= 0:
        return 0, len(sample)
    return int(np.searchsorted(np.cumsum(values), EXPLAINED * total) + 1), len(sample)
