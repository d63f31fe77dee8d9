r"""The linear system of a Newton step in coordinates of the feature space, solved without its Hessian.

With r coordinates and k functions, the Hessian :math:`I + L^T H L` has k r rows: 7,800 for 300 landmarks and 26
classes, whose factor would cost a hundred times what all else does. Conjugate gradients need only products with L, and
in coordinates that are eigenvectors of :math:`L^T L` a good preconditioner is at hand: the exact block of the first q
coordinates and the biases, where nearly all of the curvature is, and the diagonal for the rest.

Steps need not be accurate, so products are in single precision, until rounding shows (`is_careful`).

Cost of a step: n (k q)^2 / 2 + (k q)^3 / 6 multiplications, and 2 n k r for each of some two to ten iterations.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from mercer._types import FloatArray
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.linalg.conjugate_gradient import Recursion, in_all

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.solvers._types import HessianRoot

# Rows of the exact block, of all functions together, and its least for each.
BLOCK, LEAST = 240, 8
MOST_ITERATIONS = 300
# Share of the error that a careful step leaves.
CAREFUL = 1e-9


def principal(factor: FloatArray) -> FloatArray:
    """L V with the eigenvectors V of L' L, the largest eigenvalue first: other coordinates of the same L L'."""
    _, vectors = eigh(factor.T @ factor)
    return factor @ vectors[:, ::-1]


class IteratedSystem:
    """Newton systems in principal coordinates.

    Parameters
    ----------
    factor : ndarray (n, r)
        L, of `principal`.
    n_functions : int
    has_bias : bool
    stop : callable
        Asked before every iteration; a true answer ends a step as it is.
    """

    def __init__(self, factor: FloatArray, n_functions: int, has_bias: bool, stop: "Stop") -> None:
        self.factor, self.single = factor, factor.astype(np.float32)
        self.k, self.has_bias, self.stop = n_functions, has_bias, stop
        self.lead = min(factor.shape[1], max(LEAST, BLOCK // n_functions))

    def solved(
        self, root: "HessianRoot", right_w: FloatArray, right_b: FloatArray, is_careful: bool, share: float
    ) -> tuple[FloatArray, FloatArray] | None:
        """(dw, db) that solve a system up to a share of the error; None if rounding makes it unsolvable.

        Parameters
        ----------
        root : HessianRoot
            Of the losses in the values.
        right_w, right_b : ndarray (r, k) and (k,)
        is_careful : bool
            Whether to work in double precision, and to solve as accurately as that allows.
        share : float
        """
        factor = self.factor if is_careful else self.single
        goal = CAREFUL if is_careful else share
        right = np.concatenate([right_w, right_b[None, :]]) if self.has_bias else right_w
        try:
            operator = _Operator(factor, root if is_careful else root.in_single(), self.lead, self.has_bias)
            x = _iterated(operator, right, goal, self.stop)
        except (LinAlgError, NotPositiveDefinite):
            return None
        if not np.isfinite(x).all():
            return None
        r = factor.shape[1]
        return x[:r], x[r] if self.has_bias else np.zeros(self.k)


def _iterated(operator: "_Operator", right: FloatArray, share: float, stop: "Stop") -> FloatArray:
    """x with operator(x) = right, up to a share of the error, by conjugate gradients."""
    recursion = Recursion(right, operator.approximate_inverse, in_all)
    x, first = np.zeros_like(right), recursion.turn()
    for _ in range(MOST_ITERATIONS):
        x = x + recursion.advance(operator(recursion.direction)) * recursion.direction
        if recursion.turn() <= share**2 * first or stop():
            break
    return x


class _Operator:
    """The Hessian in (w, b), one column for each function and b in the last row, and its preconditioner."""

    def __init__(self, factor: FloatArray, root: "HessianRoot", lead: int, has_bias: bool) -> None:
        self.factor, self.root, self.lead, self.has_bias = factor, root, lead, has_bias
        total = root.total
        self.k, self.r = len(total), factor.shape[1]
        # A common shift of all biases changes nothing, so it gets a curvature of its own.
        self.shift = max(float(np.trace(total)), 1e-300) / self.k**2 if has_bias and self.k > 1 else 0.0
        self._block = cho_factor(self._leading(), overwrite_a=True, check_finite=False)
        self._rest = 1.0 + root.diagonal(factor[:, lead:])

    def _leading(self) -> FloatArray:
        """The Hessian of the first coordinates and the biases."""
        inside, q = self.factor[:, : self.lead], self.lead
        if self.has_bias:
            inside = np.column_stack([inside, np.ones(len(inside), inside.dtype)])
        width = inside.shape[1]
        block = self.root.blocks(inside).astype(np.float64)
        block[np.diag_indices_from(block)] += np.tile(np.arange(width) < q, self.k)
        if self.shift:
            block[q::width, q::width] += self.shift
        return block

    def __call__(self, x: FloatArray) -> FloatArray:
        kind = self.factor.dtype
        values = self.factor @ x[: self.r].astype(kind, copy=False)
        if self.has_bias:
            values += x[self.r].astype(kind)
        bent = self.root.applied(values)
        out = x.copy()
        out[: self.r] += self.factor.T @ bent
        if self.has_bias:
            out[self.r] = bent.sum(axis=0) + self.shift * x[self.r].sum()
        return out

    def approximate_inverse(self, right: FloatArray) -> FloatArray:
        """The block and the diagonal, inverted."""
        q, out = self.lead, np.empty_like(right)
        leading = np.concatenate([right[:q], right[self.r :]])
        solved = cho_solve(self._block, leading.T.ravel(), check_finite=False).reshape(self.k, -1).T
        out[:q], out[self.r :] = solved[:q], solved[q:]
        out[q : self.r] = right[q : self.r] / self._rest
        return out
