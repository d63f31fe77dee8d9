"""Cholesky factorisation in place, of the lower triangle, in either precision, on both cores.

Method: left-looking by panels of BLOCK columns (Golub & Van Loan 2013, section 4.2). A panel is
brought up to date by matrix products with what is left of it, its diagonal block is factorised
by LAPACK, and the rest of it is multiplied by that block's inverse, which is kept: so all the
work but one part in n / BLOCK is matrix products, divided among threads by rows.

Cost: n^3 / 3 multiplications; no memory beyond the triangle but BLOCK * n entries.
Needs: a positive definite matrix. The first column at which it is not is reported.
"""

import numpy as np
from scipy.linalg import lapack

from mercer._jit.scratch import scratch
from mercer._jit.threads import Stopped, run_parallel, thread_count

BLOCK = 512
_SMALL = 1024


class NotPositiveDefinite(Exception):
    """The leading minor of order `order` is not positive."""

    def __init__(self, order):
        super().__init__(f"the leading minor of order {order} is not positive")
        self.order = order


class CholeskyFactor:
    """L with L L' = A, in the lower triangle of `values`, and the inverses of its diagonal blocks."""

    def __init__(self, values, inverses):
        self.values, self.inverses = values, inverses
        self.spans = spans(len(values))

    def solve(self, right):
        """A^-1 right, in the precision of the factor; `right` has shape (n, k)."""
        L, out = self.values, np.array(right, dtype=self.values.dtype)
        for (begin, end), inverse in zip(self.spans, self.inverses, strict=True):
            out[begin:end] = inverse @ (out[begin:end] - L[begin:end, :begin] @ out[:begin])
        for (begin, end), inverse in zip(reversed(self.spans), reversed(self.inverses), strict=True):
            out[begin:end] = inverse.T @ (out[begin:end] - L[end:, begin:end].T @ out[end:])
        return out.astype(np.float64)

    def inverse_diagonal(self, n_jobs=None, stop=None):
        """The diagonal of A^-1: the column sums of squares of L^-1, n^3 / 3 more work."""
        out = np.empty(len(self.values))

        def columns(place):
            begin, end = self.spans[place]
            out[begin:end] = self._inverse_columns(place, stop)

        run_parallel(columns, range(len(self.spans)), thread_count(n_jobs), stop)
        return out

    def _inverse_columns(self, place, stop):
        """Sums of squares over the columns of L^-1 that belong to one diagonal block."""
        first = self.spans[place][0]
        part = np.zeros((len(self.values) - first, len(self.inverses[place])), self.values.dtype)
        for (begin, end), inverse in zip(self.spans[place:], self.inverses[place:], strict=True):
            if stop is not None and stop():
                raise Stopped
            if begin == first:
                part[: end - begin] = inverse
            else:
                done = self.values[begin:end, first:begin] @ part[: begin - first]
                part[begin - first : end - first] = -(inverse @ done)
        return np.einsum("ij,ij->j", part, part, dtype=np.float64)


def spans(n):
    """The (begin, end) of the diagonal blocks."""
    return [(begin, min(begin + BLOCK, n)) for begin in range(0, n, BLOCK)]


def factorise(values, n_jobs=None, stop=None):
    """Overwrite the lower triangle of `values` (C order) by its Cholesky factor.

    Raises
    ------
    NotPositiveDefinite
        The triangle is then overwritten in part.
    Stopped
        If `stop`, which is asked several times a panel, says so.
    """
    workers = 1 if len(values) <= _SMALL else thread_count(n_jobs)
    inverses = []
    for begin, end in spans(len(values)):
        run_parallel(_updating(values, begin, end, None), _pieces(begin, end, 128), workers, stop)
        inverses.append(_factorise_block(values, begin, end))
        run_parallel(
            _updating(values, begin, end, inverses[-1].T), _pieces(end, len(values), BLOCK), workers, stop
        )
    return CholeskyFactor(values, inverses)


def _pieces(begin, end, height):
    return [(top, min(top + height, end)) for top in range(begin, end, height)]


def _updating(values, begin, end, finish):
    """What one thread does to some rows of a panel: subtract what is left of it, then finish."""
    head = values[begin:end, :begin].T

    def update(rows):
        part = values[slice(*rows), begin:end]
        product = scratch("panel", part.shape, values.dtype)
        if begin:
            part -= np.matmul(values[slice(*rows), :begin], head, out=product)
        if finish is not None:
            part[...] = np.matmul(part, finish, out=product)

    return update


def _factorise_block(values, begin, end):
    """Factorise a diagonal block; its inverse."""
    potrf, trtri = lapack.get_lapack_funcs(("potrf", "trtri"), dtype=values.dtype)
    block, info = potrf(np.asfortranarray(values[begin:end, begin:end]), lower=1, clean=1, overwrite_a=1)
    if info or not np.isfinite(block).all():
        raise NotPositiveDefinite(begin + max(info, 1))
    values[begin:end, begin:end] = block
    inverse, _ = trtri(block, lower=1, overwrite_c=1)
    return np.ascontiguousarray(inverse)
