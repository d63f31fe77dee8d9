"""Weights of samples and of classes."""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from mercer._errors import DataError, ParameterError


def sample_weights(given, n):
    """One finite number for each point, at least one of them positive; a copy."""
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must be numbers, one for each row: {error}") from error
    if weights.ndim == 0:
        weights = np.full(n, weights)
    # The texts are scikit-learn's, which programs may look for.
    if weights.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar, got shape {weights.shape}")
    if len(weights) != n:
        raise DataError(f"sample_weight.shape == {weights.shape}, expected ({n},): one number for each row")
    if not np.isfinite(weights).all():
        raise DataError(f"Input sample_weight contains {'NaN' if np.isnan(weights).any() else 'infinity'}")
    if not (weights > 0).any():
        raise DataError(
            "Invalid input - all samples have zero or negative weights. "
            "There must be at least one non-zero number, and it must be positive"
        )
    return weights


def class_weights(given, classes, y):
    """The factor on C of each class."""
    if given is None:
        return np.ones(len(classes))
    weights = compute_class_weight(given, classes=classes, y=y)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise ParameterError(f"class_weight must be positive and finite, got {given!r}")
    return weights


def positive(weights, codes, classes):
    """Positions of the points of positive weight; every class must have one."""
    used = np.flatnonzero(weights > 0)
    left = np.bincount(codes[used], minlength=len(classes))
    if np.count_nonzero(left) == 1:
        raise DataError("Invalid input - all samples with positive weights belong to the same class")
    if not left.all():
        missing = classes[int(left.argmin())].item()
        raise DataError(f"class {missing!r} has no sample of positive weight; drop its rows, or give them weight")
    return used
