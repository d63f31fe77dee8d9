"""Cholesky factors of small matrices and their triangular solves, for use inside compiled code.

For a few dozen unknowns a call of LAPACK takes longer than its work; beyond a hundred, LAPACK is faster. All
functions take the leading block of order n, so that arrays may have room for more.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import FloatArray


@jit
def factorise(A: FloatArray, n: int) -> bool:
    """Replace the lower triangle of A by its Cholesky factor; False, with A destroyed, if it is not positive
    definite."""
    for i in range(n):
        row = A[i]
        for j in range(i):
            other, value = A[j], row[j]
            for k in range(j):
                value -= row[k] * other[k]
            row[j] = value / other[j]
        value = row[i]
        for k in range(i):
            value -= row[k] * row[k]
        if not value > 0.0:
            return False
        row[i] = np.sqrt(value)
    return True


@jit
def forward(L: FloatArray, n: int, x: FloatArray) -> None:
    """Solve L y = x in place."""
    for i in range(n):
        row = L[i]
        value = x[i]
        for k in range(i):
            value -= row[k] * x[k]
        x[i] = value / row[i]


@jit
def backward(L: FloatArray, n: int, x: FloatArray) -> None:
    """Solve L' y = x in place."""
    for i in range(n - 1, -1, -1):
        row = L[i]
        x[i] /= row[i]
        for k in range(i):
            x[k] -= row[k] * x[i]


@jit
def substitute(L: FloatArray, n: int, x: FloatArray) -> None:
    """Solve L L' y = x in place."""
    forward(L, n, x)
    backward(L, n, x)
