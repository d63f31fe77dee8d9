"""Weights of samples and of classes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from mercer._errors import DataError, ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray
from mercer.problems.regularization import resolve_C

if TYPE_CHECKING:
    from mercer.problems.regularization import Regularization


_NO_WEIGHT = (
    "Invalid input - all samples have zero or negative weights. "
    "There must be at least one non-zero number, and it must be positive"
)


def sample_weights(given: ArrayLike, codes: IndexArray, classes: Array) -> FloatArray:
    """One finite non-negative number for each point, some positive in every class."""
    weights = row_weights(given, len(codes))
    _require_every_class(weights, codes, classes)
    return weights


def target_weights(given: ArrayLike | None, n: int) -> FloatArray:
    """`row_weights`, or ones, and not all zero: for targets without classes."""
    weights = np.ones(n) if given is None else row_weights(given, n)
    if not weights.any():
        raise DataError(_NO_WEIGHT)
    return weights


def some_weights(given: ArrayLike | None, n: int) -> FloatArray:
    """`row_weights`, or ones, some positive: for methods without classes or C."""
    weights = np.ones(n) if given is None else row_weights(given, n)
    if not weights.any():
        raise DataError("sample_weight must be positive for some row, got none above zero")
    return weights


def row_weights(given: ArrayLike, n: int) -> FloatArray:
    """One finite number for each of n points.

    A negative weight becomes zero: such a point takes no part, as in LIBSVM.
    """
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must be numbers, one for each row: {error}") from error
    if weights.ndim == 0:
        weights = np.full(n, weights)
    _require_one_each(weights, n)
    return np.maximum(weights, 0.0)


def _require_one_each(weights: FloatArray, n: int) -> None:
    # The texts are scikit-learn's, which programs may look for.
    if weights.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar, got shape {weights.shape}")
    if len(weights) != n:
        raise DataError(f"sample_weight.shape == {weights.shape}, expected ({n},): one number for each row")
    if not np.isfinite(weights).all():
        raise DataError(f"Input sample_weight contains {'NaN' if np.isnan(weights).any() else 'infinity'}")


def _require_every_class(weights: FloatArray, codes: IndexArray, classes: Array) -> None:
    present = np.bincount(codes[weights > 0], minlength=len(classes)) > 0
    if not present.any():
        raise DataError(_NO_WEIGHT)
    if present.sum() == 1:
        raise DataError("Invalid input - all samples with positive weights belong to the same class")
    if not present.all():
        missing = classes[int(present.argmin())].item()
        raise DataError(
            f"class {missing!r} has no sample of positive weight; drop its rows, or give one of them a positive weight"
        )


def class_weights(given: dict[Any, float] | str | None, classes: Array, y: Array) -> FloatArray:
    """The factor on C of each class."""
    if given is None:
        return np.ones(len(classes))
    weights = compute_class_weight(given, classes=classes, y=y)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise ParameterError(f"class_weight must be positive and finite, got {given!r}")
    return weights


def weights_of_classes(given: dict[Any, float] | str | None, classes: Array, codes: IndexArray) -> FloatArray:
    """The same from the position of each point's label among the classes, all of which occur."""
    if isinstance(given, str) and given == "balanced":
        counts = np.bincount(codes, minlength=len(classes))
        return len(codes) / (len(classes) * counts)
    return class_weights(given, classes, classes)


def weighted_copies(
    class_weight: dict[Any, float] | str | None,
    sample_weight: ArrayLike | None,
    classes: Array,
    codes: IndexArray,
    y: Array,
) -> FloatArray:
    """The multiplicity of each point: the product of its weights."""
    copies = class_weights(class_weight, classes, y)[codes]
    return copies if sample_weight is None else copies * sample_weights(sample_weight, codes, classes)


def total_weight(weights: FloatArray) -> Any:
    """The sum of the weights; infinite where it overflows."""
    with np.errstate(over="ignore"):
        return weights.sum()


def weighted_C(
    C: "float | Regularization", codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """C times the weights of class and sample, for each point."""
    n, factors = len(codes), class_weight[codes]
    if weights is not None:
        # A row of weight two counts as two, even if C depends on the number of rows.
        n, factors = total_weight(weights), factors * weights
    # An overflowing product is a hard margin; a weight of zero stays zero.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(factors > 0, resolve_C(C, n) * factors, 0.0)
