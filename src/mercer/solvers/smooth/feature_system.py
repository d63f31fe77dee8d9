r"""The linear system of a Newton step in coordinates of the feature space, solved without its Hessian.

With r coordinates and k functions, the Hessian :math:`I + L^T H L` has k r rows: 7,800 for 300 landmarks and 26
classes, whose factor would cost a hundred times what all else does. Conjugate gradients need only products with L, and
along the eigenvectors of :math:`L^T L` a good preconditioner is at hand: the exact block of the first q of them and the
biases, where nearly all of the curvature is, and for the rest their eigenvalues times the mean curvature of the losses.
Rows of L stay as they are, since a turned copy of them would take as much memory again: only the vectors that they
are multiplied by are turned.

Steps need not be accurate, so products are in single precision, until rounding shows (`is_careful`).

Cost of a step: n (k q)^2 / 2 + (k q)^3 / 6 multiplications, and 2 n k r for each of some two to ten iterations.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from mercer._jit.once import computed_once
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


def bytes_of_system(n: int, r: int, n_functions: int, in_single: bool) -> int:
    """What an `IteratedSystem` takes beside its factor (n, r)."""
    width = leading(r, n_functions) + 1
    # The first coordinates may be needed in both precisions.
    rows = 4 * n * (r + width) if in_single else 0
    return rows + 8 * n * width + 32 * r**2 + 24 * (n_functions * width) ** 2


class IteratedSystem:
    """Newton systems along principal axes.

    Parameters
    ----------
    factor : ndarray (n, r)
        L.
    n_functions : int
    has_bias : bool
    stop : callable
        Asked before every iteration; a true answer ends a step as it is.
    in_single : bool
        Whether there is memory for L in single precision.
    """

    def __init__(
        self, factor: FloatArray, n_functions: int, has_bias: bool, stop: "Stop", in_single: bool = True
    ) -> None:
        self.factor, self.k, self.has_bias, self.stop = factor, n_functions, has_bias, stop
        self.lead = leading(factor.shape[1], n_functions)
        rows = factor.astype(np.float32) if in_single else factor
        sizes, axes = eigh((rows.T @ rows).astype(np.float64))
        self.sizes, self.axes = np.maximum(sizes[::-1], 0.0), axes[:, ::-1]
        self.quick = _Turned(rows, self.axes, self.lead, has_bias)

    @computed_once
    def careful(self) -> "_Turned":
        """L in double precision."""
        return _Turned(self.factor, self.axes, self.lead, self.has_bias)

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
        rows, goal = (self.careful, CAREFUL) if is_careful else (self.quick, share)
        root = root if rows.dtype == np.float64 else root.in_single()
        turned = self.axes.T @ right_w
        right = np.concatenate([turned, right_b[None, :]]) if self.has_bias else turned
        try:
            x = _iterated(_Operator(rows, self.sizes, root, self.has_bias), right, goal, self.stop)
        except (LinAlgError, NotPositiveDefinite):
            return None
        if not np.isfinite(x).all():
            return None
        r = len(self.sizes)
        return self.axes @ x[:r], x[r] if self.has_bias else np.zeros(self.k)


def leading(r: int, n_functions: int) -> int:
    """Of how many of r principal coordinates the block is exact."""
    return min(r, max(LEAST, BLOCK // n_functions))


class _Turned:
    """The rows of L V, in the precision of L: the first few coordinates, and products with all of them."""

    def __init__(self, rows: FloatArray, axes: FloatArray, lead: int, has_bias: bool) -> None:
        self.rows, self.dtype = rows, rows.dtype
        self.axes = axes.astype(rows.dtype, copy=False)
        # With a column of ones for the bias.
        self.first = np.ones((len(rows), lead + has_bias), rows.dtype)
        np.matmul(rows, self.axes[:, :lead], out=self.first[:, :lead])

    def times(self, x: FloatArray) -> FloatArray:
        """L V x."""
        return self.rows @ (self.axes @ x.astype(self.dtype, copy=False))

    def transposed_times(self, values: FloatArray) -> FloatArray:
        """V' L' values."""
        return self.axes.T @ (self.rows.T @ values)


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

    def __init__(self, rows: _Turned, sizes: FloatArray, root: "HessianRoot", has_bias: bool) -> None:
        self.rows, self.root, self.has_bias = rows, root, has_bias
        self.r, self.lead, total = len(sizes), rows.first.shape[1] - has_bias, root.total
        self.k = len(total)
        # A common shift of all biases changes nothing, so it gets a curvature of its own.
        self.shift = max(float(np.trace(total)), 1e-300) / self.k**2 if has_bias and self.k > 1 else 0.0
        self._block = cho_factor(self._leading(), overwrite_a=True, check_finite=False)
        self._rest = 1.0 + np.outer(sizes[self.lead :], total.diagonal() / len(rows.first))

    def _leading(self) -> FloatArray:
        """The Hessian of the first coordinates and the biases."""
        q, width = self.lead, self.rows.first.shape[1]
        block = self.root.blocks(self.rows.first).astype(np.float64)
        block[np.diag_indices_from(block)] += np.tile(np.arange(width) < q, self.k)
        if self.shift:
            block[q::width, q::width] += self.shift
        return block

    def __call__(self, x: FloatArray) -> FloatArray:
        values = self.rows.times(x[: self.r])
        if self.has_bias:
            values += x[self.r].astype(values.dtype)
        bent = self.root.applied(values)
        out = x.copy()
        out[: self.r] += self.rows.transposed_times(bent)
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
