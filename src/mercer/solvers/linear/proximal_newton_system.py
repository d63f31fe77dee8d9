"""The linear system of a Newton step on a linear model: (diag(1, ..., 1, r) + Z^T S Z) s = g.

Z are the rows with the constant feature appended, S the slopes of their responses: zero for most
rows, so only the others cost anything. Up to `DIRECT` features the matrix is formed, on all cores, and
factorised; beyond that, conjugate gradients with the diagonal as preconditioner use two operations for
each entry of those rows in a step.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer._jit.compile import jit
from mercer._jit.row_views import row_add, row_dot, row_outer, row_square_add
from mercer._jit.threads import one_blas_thread
from mercer._types import FloatArray
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.linalg.conjugate_gradient import Recursion

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts
    from mercer._jit.row_views import DenseRows, RowView

DIRECT = 1200
# Beyond this many multiplications, forming the matrix of sparse rows costs more than it saves.
MOST_PRODUCTS = 3e9
BLOCK = 2048
# Longer dense rows are multiplied by BLAS.
SHORT_ROW = 24
CG_STEPS = 60
CG_TOL = 0.05


@jit
def _outer(rows: "RowView", slope: FloatArray, scale: float, H: FloatArray, begin: int, end: int) -> None:
    last = H.shape[0] - 1
    for i in range(begin, end):
        if slope[i] != 0.0:
            row_outer(rows, i, slope[i], H)
            if scale != 0.0:
                row_add(rows, i, slope[i] * scale, H[last])
                H[last, last] += slope[i] * scale * scale


@jit
def _multiply(
    rows: "RowView", slope: FloatArray, scale: float, s: FloatArray, out: FloatArray, begin: int, end: int
) -> None:
    last = s.shape[0] - 1
    for i in range(begin, end):
        if slope[i] != 0.0:
            t = slope[i] * (row_dot(rows, i, s) + scale * s[last])
            row_add(rows, i, t, out)
            out[last] += scale * t


@jit
def _diagonal(rows: "RowView", slope: FloatArray, scale: float, out: FloatArray, begin: int, end: int) -> None:
    last = out.shape[0] - 1
    for i in range(begin, end):
        if slope[i] != 0.0:
            row_square_add(rows, i, slope[i], out)
            out[last] += slope[i] * scale * scale


class NewtonSystem:
    """Solves the systems of one fit.

    Parameters
    ----------
    products : RowProducts
    scale : float
        The constant feature; 0 without a bias.
    weight : float
        r: 1 where the bias is penalised, 0 where it is free.
    """

    def __init__(self, products: "RowProducts", scale: float, weight: float) -> None:
        self.products, self.scale, self.weight = products, scale, weight
        self.size = products.n_features + 1
        mean = products.n_entries / max(1, products.n)
        is_cheap = products.is_dense or mean**2 * products.n <= MOST_PRODUCTS
        self.is_direct = self.size <= DIRECT and is_cheap

    def solve(self, slope: FloatArray, g: FloatArray) -> FloatArray:
        """s for these slopes and this right-hand side."""
        return self._direct(slope, g) if self.is_direct else self._conjugate_gradients(slope, g)

    def _regulariser(self) -> FloatArray:
        diagonal = np.ones(self.size)
        # Without a bias, or with a free one that no row holds, the last unknown is decoupled.
        diagonal[-1] = self.weight if self.scale else 1.0
        return diagonal

    def _direct(self, slope: FloatArray, g: FloatArray) -> FloatArray:
        H = self._matrix(slope)
        H[np.diag_indices(self.size)] += self._regulariser()
        if H[-1, -1] == 0.0:
            H[-1, -1] = 1.0
        with one_blas_thread():
            try:
                return cho_solve(cho_factor(H, lower=True, overwrite_a=True, check_finite=False), g, check_finite=False)
            except np.linalg.LinAlgError:
                return self._conjugate_gradients(slope, g)

    def _matrix(self, slope: FloatArray) -> FloatArray:
        blas = self.products.is_dense and self.size > SHORT_ROW
        parts = {chunk: np.zeros((self.size, self.size)) for chunk in self.products.chunks}

        def add(begin: int, end: int) -> None:
            if blas:
                self._add_blocks(slope, parts[begin, end], begin, end)
            else:
                _outer(self.products.rows, slope, self.scale, parts[begin, end], begin, end)

        self.products.run(add)
        H, *others = parts.values()
        for other in others:
            H += other
        return H

    def _add_blocks(self, slope: FloatArray, H: FloatArray, begin: int, end: int) -> None:
        values = cast("DenseRows", self.products.rows).values
        chosen = begin + np.flatnonzero(slope[begin:end])
        for k in range(0, len(chosen), BLOCK):
            rows = chosen[k : k + BLOCK]
            block = np.empty((len(rows), self.size))
            np.multiply(values[rows], np.sqrt(slope[rows])[:, None], out=block[:, :-1])
            block[:, -1] = np.sqrt(slope[rows]) * self.scale
            H += block.T @ block

    def _conjugate_gradients(self, slope: FloatArray, g: FloatArray) -> FloatArray:
        """Preconditioned conjugate gradients (Hestenes & Stiefel 1952), to a twentieth of |g|."""
        diagonal = self._regulariser()
        precondition = 1.0 / np.maximum(diagonal + self._sum(_diagonal, slope), 1e-300)
        recursion, s = Recursion(g, lambda r: precondition * r, np.dot), np.zeros(self.size)
        goal = CG_TOL**2 * (g @ (precondition * g))
        for _ in range(CG_STEPS):
            if recursion.turn() <= goal:
                break
            p = recursion.direction
            try:
                s += recursion.advance(diagonal * p + self._sum(_multiply, slope, p)) * p
            except NotPositiveDefinite:
                break
        return s

    def _sum(self, compiled: Callable[..., None], slope: FloatArray, *vectors: FloatArray) -> FloatArray:
        """The sum of a compiled loop over chunks of rows."""
        parts = {chunk: np.zeros(self.size) for chunk in self.products.chunks}
        self.products.run(
            lambda begin, end: compiled(self.products.rows, slope, self.scale, *vectors, parts[begin, end], begin, end)
        )
        out, *others = parts.values()
        for other in others:
            out += other
        return out
