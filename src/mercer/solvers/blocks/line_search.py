"""Where the slope along a step, which increases, is zero."""

import numpy as np

from mercer._types import FloatArray

# Lengths of a step are looked at from this share of a length that is too long.
SHORTEST = 1e-9


def crossing(slopes: FloatArray) -> int:
    """The last point before the slope turns positive."""
    return max(0, int(np.argmax(slopes > 0.0)) - 1)


def inner_points(begin: float, end: float, count: int) -> FloatArray:
    """Where to look for it between two points: at equal distances; from 0 on, half of them at equal ratios before.

    A step along which few rows have curvature may be too long by many powers of ten.
    """
    if begin > 0.0:
        return np.linspace(begin, end, count + 2)[1:-1]
    even = np.linspace(0.0, end, count // 2 + 2)[1:-1]
    return np.concatenate([np.geomspace(SHORTEST * end, even[0], count - len(even) + 1)[:-1], even])


def root(t: FloatArray, slopes: FloatArray) -> float:
    """The zero of the slopes along a step, which increase with t."""
    if not (slopes > 0.0).any():
        return float(t[-1])
    place = crossing(slopes)
    low, high = min(slopes[place], 0.0), slopes[place + 1]
    return float(t[place] + (t[place + 1] - t[place]) * (-low / (high - low))) or float(t[place + 1])
