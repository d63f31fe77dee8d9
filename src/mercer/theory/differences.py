"""Derivatives of functions of a few variables by central differences.

Step sizes are powers of the rounding error that balance it against the truncation error: the gradient is accurate
to about 1e-10 of the function's size, the Hessian to about 1e-7 (exact for quadratics, up to rounding).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._types import FloatArray

EPS = float(np.finfo(np.float64).eps)


def gradient_of(f: Callable[[FloatArray], Any], u: FloatArray) -> FloatArray:
    """The gradient of f at u."""
    steps = EPS ** (1 / 3) * np.maximum(1.0, np.abs(u))
    shifts = np.diag(steps)
    return np.array([(float(f(u + h)) - float(f(u - h))) for h in shifts]) / (2.0 * steps)


def hessian_of(f: Callable[[FloatArray], Any], u: FloatArray) -> FloatArray:
    """The matrix of second derivatives of f at u."""
    steps = EPS ** (1 / 4) * np.maximum(1.0, np.abs(u))
    shifts, d = np.diag(steps), len(u)
    H = np.empty((d, d))
    for i in range(d):
        for j in range(i + 1):
            p, q = shifts[i], shifts[j]
            mixed = float(f(u + p + q)) - float(f(u + p - q)) - float(f(u - p + q)) + float(f(u - p - q))
            H[i, j] = H[j, i] = mixed / (4.0 * steps[i] * steps[j])
    return H
