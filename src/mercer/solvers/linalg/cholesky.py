"""Cholesky factorisation in place, of the lower triangle, in either precision, on both cores.

Method: left-looking by panels of a `Triangle` (Golub & Van Loan 2013, section 4.2). A panel is
updated by matrix products with everything to its left, its diagonal block is factorised
by LAPACK, and the rest of it is multiplied by that block's inverse, which is kept. So nearly all the
work is matrix products, divided among threads by rows.

Cost: n^3 / 3 multiplications; no memory beyond the triangle except a block for each panel.
Needs: a positive definite matrix. If it is not, the first column that shows it is reported.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from mercer._jit.scratch import scratch
from mercer._jit.threads import Stopped, run_parallel, thread_count
from mercer._types import Array, FloatArray
from mercer.kernels.evaluation import tiles

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.packed_triangle import Triangle

# Up to this size a single thread is used.
_SMALL = 1024
# Rows of a diagonal block that a thread updates at a time, and columns of a panel that it finishes.
_PIECE = 128


class NotPositiveDefinite(Exception):
    """The leading minor of order `order`, if known, is not positive."""

    def __init__(self, order: int | None = None) -> None:
        which = "a minor" if order is None else f"the leading minor of order {order}"
        super().__init__(f"{which} is not positive")
        self.order = order


class CholeskyFactor:
    """L with L L' = A, in a `Triangle`, and the inverses of its diagonal blocks."""

    def __init__(self, triangle: "Triangle", inverses: list[FloatArray]) -> None:
        self.triangle, self.inverses = triangle, inverses

    def half_solve(self, right: FloatArray) -> FloatArray:
        """L^-1 right, in the precision of the factor; `right` has shape (n, k)."""
        out = np.array(right, dtype=self.triangle.dtype)
        for (begin, end, rows), inverse in zip(self.triangle, self.inverses, strict=True):
            out[begin:end] = inverse @ (out[begin:end] - rows[:, :begin] @ out[:begin])
        return out

    def solve(self, right: FloatArray) -> FloatArray:
        """A^-1 right, computed in the precision of the factor."""
        out = self.half_solve(right)
        for (begin, end, rows), inverse in zip(reversed(list(self.triangle)), reversed(self.inverses), strict=True):
            out[begin:end] = inverse.T @ out[begin:end]
            out[:begin] -= rows[:, :begin].T @ out[begin:end]
        return out.astype(np.float64)

    def inverse_diagonal(self, n_jobs: int | None = None, stop: "Stop | None" = None) -> FloatArray:
        """The diagonal of A^-1, as column sums of squares of L^-1: another n^3 / 3 operations."""
        out = np.empty(self.triangle.n)

        def columns(place: int) -> None:
            begin, end = self.triangle.spans[place]
            out[begin:end] = self._inverse_columns(place, stop)

        run_parallel(columns, range(len(self.inverses)), thread_count(n_jobs), stop)
        return out

    def _inverse_columns(self, place: int, stop: "Stop | None") -> FloatArray:
        """Sums of squares over the columns of L^-1 in one diagonal block."""
        first = self.triangle.spans[place][0]
        part = np.zeros((self.triangle.n - first, len(self.inverses[place])), self.triangle.dtype)
        part[: part.shape[1]] = self.inverses[place]
        for (begin, end, rows), inverse in zip(
            list(self.triangle)[place + 1 :], self.inverses[place + 1 :], strict=True
        ):
            if stop is not None and stop():
                raise Stopped
            part[begin - first : end - first] = -(inverse @ (rows[:, first:begin] @ part[: begin - first]))
        return np.einsum("ij,ij->j", part, part, dtype=np.float64)


def factorise(triangle: "Triangle", n_jobs: int | None = None, stop: "Stop | None" = None) -> CholeskyFactor:
    """Overwrite a `Triangle` by its Cholesky factor.

    Raises
    ------
    NotPositiveDefinite
        The triangle is then overwritten in part.
    Stopped
        If `stop`, which is asked several times a panel, says so.
    """
    workers = 1 if triangle.n <= _SMALL else thread_count(n_jobs)
    inverses = []
    for place, (begin, end) in enumerate(triangle.spans):
        own = triangle.panels[place]
        run_parallel(_updating_diagonal(own, begin), tiles.spans(end - begin, _PIECE), workers, stop)
        inverses.append(_factorise_block(own[:, begin:end], begin))
        run_parallel(_updating(own, begin, end, inverses[-1].T), triangle.panels[place + 1 :], workers, stop)
    return CholeskyFactor(triangle, inverses)


def _updating_diagonal(own: Array, begin: int) -> Callable[[tuple[int, int]], None]:
    """One thread's update of some rows of a diagonal block, up to their own columns."""

    def update(span: tuple[int, int]) -> None:
        if begin:
            top, bottom = span
            product = scratch("panel", (bottom - top, bottom), own.dtype)
            np.matmul(own[top:bottom, :begin], own[:bottom, :begin].T, out=product)
            own[top:bottom, begin : begin + bottom] -= product

    return update


def _updating(own: Array, begin: int, end: int, finish: Array) -> Callable[[Array], None]:
    """One thread's update of some rows below: subtract the rest of the panel, then finish."""
    head = own[:, :begin].T
    steps = [(slice(0, right), slice(left, right)) for left, right in tiles.spans(end - begin, _PIECE)]

    def update(rows: Array) -> None:
        part = rows[:, begin:end]
        product = scratch("panel", part.shape, own.dtype)
        if begin:
            part -= np.matmul(rows[:, :begin], head, out=product)
        # `finish` is upper triangular, so entries below its diagonal are skipped.
        for above, columns in steps:
            np.matmul(part[:, above], finish[above, columns], out=product[:, columns])
        part[...] = product

    return update


def _factorise_block(block: Array, begin: int) -> Array:
    """Factorise a diagonal block in place; its inverse."""
    potrf, trtri = lapack.get_lapack_funcs(("potrf", "trtri"), dtype=block.dtype)
    factor, info = potrf(np.asfortranarray(block), lower=1, clean=1, overwrite_a=1)
    if info or not np.isfinite(factor).all():
        raise NotPositiveDefinite(begin + max(info, 1))
    block[...] = factor
    inverse, _ = trtri(factor, lower=1, overwrite_c=1)
    return np.ascontiguousarray(inverse)
