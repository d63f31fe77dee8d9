"""The penalty of a machine over blocks, |w|^2 / 2 with w = L' v, and the linear systems of its Newton steps."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

from mercer._jit.threads import blas_threads_for
from mercer._types import Array, FloatArray

# Relative increases of the diagonal, tried in turn until rounding no longer makes the matrix indefinite.
DAMPINGS = (0.0, *(10.0**k for k in range(-10, 2)))


class Penalty:
    """|L' v|^2 / 2 and the operations that the steps need."""

    def __init__(self, m: int, factor: FloatArray | None) -> None:
        self.m, self.factor = m, factor
        with blas_threads_for(m):
            self.matrix = None if factor is None else np.tril(factor) @ np.tril(factor).T

    def times(self, v: FloatArray) -> FloatArray:
        """L L' v."""
        return v if self.factor is None else self.factor @ (self.factor.T @ v)

    def weights(self, v: FloatArray) -> FloatArray:
        """w = L' v."""
        return v if self.factor is None else self.factor.T @ v

    def coefficients(self, w: FloatArray) -> FloatArray:
        """v from w."""
        return w if self.factor is None else solve_triangular(self.factor, w, lower=True, trans="T")

    def whitened(self, image: FloatArray) -> FloatArray:
        """L^-1 times a sum of features: its length is the length in the space of w."""
        return image if self.factor is None else solve_triangular(self.factor, image, lower=True)

    def along(self, v: FloatArray, c: float, step: FloatArray, weight: float) -> tuple[float, float]:
        """First and second derivative along a step; the bias is last in it, and `weight` is that of its penalty."""
        image = self.times(step[:-1])
        last = weight * float(step[-1])
        return float(image @ v) + last * c, float(image @ step[:-1]) + last * float(step[-1])

    def step(
        self, H: Array, g: FloatArray, constant: float, weight: float, is_damped: bool = True
    ) -> FloatArray | None:
        """The solution of (L L' + H) s = g, with the constant feature last.

        Where rounding has made the matrix indefinite it is damped, and the step is still a descent direction; None if
        it is not to be damped.
        """
        A = H.astype(np.float64)
        A[:-1, :-1] += np.eye(self.m) if self.matrix is None else self.matrix
        # Without a bias, or with a free one that no row holds, the last unknown is decoupled.
        A[-1, -1] += weight if constant else 1.0
        if A[-1, -1] == 0.0:
            A[-1, -1] = 1.0
        diagonal = A.diagonal().copy()
        for damping in DAMPINGS if is_damped else DAMPINGS[:1]:
            A[np.diag_indices(len(A))] = (1.0 + damping) * diagonal
            step = _solved(A, g)
            if step is not None:
                break
        else:
            if not is_damped:
                return None
            step = g / np.maximum(diagonal, 1e-300)
        if not constant:
            step[-1] = 0.0
        return step


def _solved(A: FloatArray, g: FloatArray) -> FloatArray | None:
    try:
        step = cho_solve(cho_factor(A, lower=True, check_finite=False), g, check_finite=False)
    except LinAlgError:
        return None
    return step if np.isfinite(step).all() else None
