"""The penalties of ridge regression, as they are given: one, one for each target, or some to choose from."""

from typing import cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import ArrayLike, FloatArray
from mercer.estimators.fitting.parameters import require_number, require_numbers


def penalties_of(alpha: float | ArrayLike, n_targets: int) -> FloatArray:
    """One non-negative penalty per target."""
    if not isinstance(alpha, (list, tuple)) and np.ndim(alpha) == 0:
        require_number("alpha", alpha, least=0.0)
        return np.full(n_targets, float(cast(float, alpha)))
    values = require_numbers("alpha", alpha)
    if values.ndim != 1 or len(values) not in (1, n_targets):
        raise ParameterError(f"alpha must be one number or one for each of the {n_targets} targets, got {alpha!r}")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(f"alpha must be finite and not negative, got {alpha!r}")
    return np.broadcast_to(values, n_targets).copy()


def penalty_grid(alphas: ArrayLike) -> FloatArray:
    """Penalties to choose from, in order."""
    values = np.unique(require_numbers("alphas", alphas))
    if len(values) == 0 or not (np.isfinite(values) & (values > 0)).all():
        raise ParameterError(f"alphas must be positive and finite, got {alphas!r}")
    return values
