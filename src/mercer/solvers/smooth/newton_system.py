r"""The linear system of one Newton step in a feature space.

With the Hessian H = A A' of the losses in the values, and :math:`\rho` the difference between the
coefficients given by the derivatives of the losses and the current ones, a step solves, for x,

.. math:: (I + A^T K A)\,x = A^T K \rho + A^T 1\, \Delta b, \qquad 1^T A x = 0,

the second only if b is free, and its multiplier is the change of b (Rasmussen & Williams 2006,
section 3.4, with a bias). The coefficients then change by :math:`\rho - A x`. There are two methods:

*factored*, for one function and up to a thousand points or so: Cholesky, n^3 / 3 multiplications;

*iterated*: conjugate gradients on the plane of the second equation, with one product with K per iteration.
A factor K ≈ L L' of low rank, computed once for a fit, preconditions them: I + A' L L' A is inverted
by a system of the size of its rank (Woodbury), so that only what L leaves out costs iterations.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer._types import FloatArray
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.linalg.conjugate_gradient import Recursion, in_all

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.problems.kernel_methods.kernel_risk import DiagonalRoot
    from mercer.solvers._types import HessianRoot, Operation

# Iterations after which a step is taken as it is; the next one continues with the remainder.
MOST_ITERATIONS = 300


def solve_factored(
    K: FloatArray, root: "DiagonalRoot", right: FloatArray, has_bias: bool
) -> tuple[FloatArray, FloatArray]:
    """(A x, K A x) by Cholesky; `right` is K rho, shape (n, 1)."""
    half = root.values
    system = half[:, None] * K * half
    system[np.diag_indices_from(system)] += 1.0
    factor = _factored(system)
    x = cho_solve(factor, half * right[:, 0], check_finite=False)
    if has_bias:
        through = cho_solve(factor, half, check_finite=False)
        curvature = float(half @ through)
        x -= through * (float(half @ x) / curvature if curvature > 0 else 0.0)
    moved = (half * x)[:, None]
    return moved, K @ moved


def _factored(system: FloatArray) -> tuple[FloatArray, bool]:
    try:
        return cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise NotPositiveDefinite from error


class Preconditioner:
    """(I + A' L L' A)^-1 by Woodbury, restricted to the plane 1' A x = 0 if b is free.

    With W = L' H 1 and Z = (I + L' H L)^-1 W, the plane needs only W and Z: one application takes one product with A
    and one with A', whatever the number of functions.
    """

    def __init__(self, factor: FloatArray, root: "HessianRoot", n_functions: int, has_bias: bool) -> None:
        self.factor, self.root, self.k = factor, root, n_functions
        width = factor.shape[1]
        # The column of ones yields W and 1' H 1 as well.
        blocks = root.blocks(np.column_stack([factor, np.ones(len(factor), factor.dtype)]))
        blocks = blocks.reshape(self.k, width + 1, self.k, width + 1)
        inner = blocks[:, :width, :, :width].reshape(self.k * width, self.k * width).astype(np.float64)
        inner[np.diag_indices_from(inner)] += 1.0
        self._inner = _factored(inner) if width else None
        self._sums = None
        if has_bias:
            self._beside = blocks[:, :width, :, width].reshape(self.k * width, self.k).astype(np.float64)
            self._through = self._solved(self._beside)
            sums = blocks[:, width, :, width] - self._beside.T @ self._through
            # A common shift of all functions changes nothing: that direction is excluded, up to rounding.
            self._sums = np.linalg.pinv(sums, rcond=1e-12 if factor.dtype == np.float64 else 1e-6, hermitian=True)
            self._inverse = np.linalg.pinv(root.total, rcond=1e-6, hermitian=True)

    def _solved(self, inside: FloatArray) -> FloatArray:
        return inside if self._inner is None else cho_solve(self._inner, inside, check_finite=False)

    def __call__(self, x: FloatArray) -> FloatArray:
        out = self.root.times(x)
        if self._sums is not None and x.dtype == np.float64:
            # Components across the plane are irrelevant, but in single precision their rounding would dominate.
            across = self._across(out)
            x, out = x - across, out - self.root.times(across)
        inside = self._solved((self.factor.T @ out.astype(self.factor.dtype, copy=False)).T.ravel().astype(np.float64))
        moved = 0.0
        if self._sums is not None:
            moved = self._sums @ (out.sum(axis=0) - self._beside.T @ inside)
            inside = inside - self._through @ moved
            moved = moved.astype(x.dtype)
        back = self.factor @ inside.reshape(self.k, -1).T.astype(self.factor.dtype)
        return x - self.root.transposed_times(back + moved)

    def _across(self, out: FloatArray) -> FloatArray:
        """The component of x, given as A x, across the plane."""
        return self.root.transposed_times(np.broadcast_to(self._inverse @ out.sum(axis=0), out.shape))

    def on_plane(self, x: FloatArray) -> FloatArray:
        """x without its component across the plane."""
        return x if self._sums is None else x - self._across(self.root.times(x)).astype(x.dtype)

    def guess(self, rho: FloatArray) -> tuple[FloatArray, float]:
        """(x that solves the system with L L' in place of K, the norm of its right-hand side)."""
        kind = self.factor.dtype
        described = self.factor @ (self.factor.T @ rho.astype(kind, copy=False))
        right = self.root.transposed_times(described)
        x = self.on_plane(self(right))
        return x, max(0.0, float(np.sum(right * x))) ** 0.5


def solve_iterated(
    products: "Operation",
    root: "HessianRoot",
    right: FloatArray,
    x: FloatArray,
    precondition: Preconditioner,
    goal: float,
    stop: "Stop",
) -> tuple[FloatArray, FloatArray, int]:
    """(A y, K A y, iterations) for the x + y that solve the system, by projected conjugate gradients (Gould, Hribar &
    Nocedal 2001).

    Parameters
    ----------
    products : callable
        ``products(V)``, K @ V.
    right : ndarray (n, k)
        K (rho - A x).
    x : ndarray (n, k)
        Where to begin, on the plane.
    goal : float
        The norm of the error to stop at.
    stop : callable
        Asked before every product.
    """
    residual = root.transposed_times(right.astype(x.dtype, copy=False)) - x
    # What a residual has across the plane counts for nothing, but its rounding would lead the iterations off the plane.
    recursion = Recursion(precondition.on_plane(residual), precondition, in_all)
    moved, image = np.zeros_like(x), np.zeros_like(x)
    for iteration in range(MOST_ITERATIONS):
        if recursion.turn() <= goal**2 or stop():
            return moved, image, iteration
        out = root.times(recursion.direction)
        through = products(out).astype(out.dtype, copy=False)
        length = recursion.advance(precondition.on_plane(recursion.direction + root.transposed_times(through)))
        moved += length * out
        image += length * through
    return moved, image, MOST_ITERATIONS
