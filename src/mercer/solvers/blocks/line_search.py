"""Where the slope along a step turns from falling to rising."""

import numpy as np

from mercer._types import FloatArray


def crossing(slopes: FloatArray) -> int:
    """The last point before the slope turns positive."""
    return max(0, int(np.argmax(slopes > 0.0)) - 1)


def root(t: FloatArray, slopes: FloatArray) -> float:
    """The zero of the slopes along a step, which increase with t."""
    if not (slopes > 0.0).any():
        return float(t[-1])
    place = crossing(slopes)
    low, high = min(slopes[place], 0.0), slopes[place + 1]
    return float(t[place] + (t[place + 1] - t[place]) * (-low / (high - low))) or float(t[place + 1])
