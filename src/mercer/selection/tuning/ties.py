"""Mean scores that differ by rounding alone are equal: the first of them wins, on every processor."""

import numpy as np

from mercer._types import ArrayLike


def comparable(score: float) -> float:
    """A mean score to ten digits; the others may be rounding."""
    return float(f"{score:.10g}")


def first_best(means: ArrayLike) -> int:
    """The first of the best mean scores; NaN is none."""
    return int(np.nanargmax([comparable(mean) for mean in np.asarray(means)]))
