"""The nearest point of a box with a given sum."""

import numpy as np

from mercer._errors import ParameterError
from mercer._types import FloatArray

# Bounds that add up to a sum up to rounding, relative to them, count as doing so.
SUM_ROUNDING = 1e-12


def nearest_with_sum(beta: FloatArray, lower: FloatArray, upper: FloatArray, total: float) -> FloatArray:
    """The nearest point of the box whose sum is `total`: all are shifted equally, as far as they go."""

    def moved(step: float) -> FloatArray:
        return np.clip(beta + step, lower, upper)

    least, most = float(lower.sum()), float(upper.sum())
    slack = SUM_ROUNDING * max(abs(least), abs(most))
    if not least - slack <= total <= most + slack:
        raise ParameterError(f"no point of the box has the sum {total!r}")
    total = min(max(total, least), most)
    step = 1.0
    while not moved(-step).sum() <= total <= moved(step).sum():
        step *= 2.0
    low, high = -step, step
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if moved(middle).sum() < total else (low, middle)
    return moved(high)
