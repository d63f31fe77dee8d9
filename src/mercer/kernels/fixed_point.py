"""A kernel matrix in memory with 32 bits an entry, exact to 2^-32 of the largest.

The triangle in double precision takes twice the room, and single precision spends eight of its bits on
exponents: entries of a positive semidefinite matrix are no larger than its largest diagonal entry, so whole
numbers of one common unit lose less than a hundredth of what single precision does.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._jit.threads import thread_count
from mercer._jit.vectors import vector_loop
from mercer.kernels import engine
from mercer.kernels.base import block_of
from mercer.kernels.operator import SymmetricOperator
from mercer.kernels.triangle import Triangle

LARGEST = 2**31 - 1


class FixedPointOperator(SymmetricOperator):
    """A stored copy of another operator's matrix; products are in double precision with its rounded entries.

    Parameters
    ----------
    base : EvaluatedOperator
        Asked for everything but products; kept as `exact`.
    """

    def __init__(self, base, triangle, unit):
        super().__init__(base.n, base.n_jobs)
        self.exact, self.triangle, self.unit = base, triangle, unit

    @classmethod
    def of(cls, base, stop=None):
        """The copy, or None where an entry is larger than the diagonal allows or not finite."""
        unit = float(base.diag.max(initial=0.0)) / LARGEST
        if not unit > 0:
            return None
        tiles = _FixedPointTiles(base.kernel, unit)
        triangle = engine.lower_triangle(tiles, base.items, Triangle(base.n, np.int32), base.n_jobs, stop)
        return cls(base, triangle, unit) if tiles.have_room else None

    @property
    def diag(self):
        return self.exact.diag

    @property
    def noise(self):
        """The length by which a product with a vector of length 1 errs, if roundings are independent."""
        return self.unit * np.sqrt(self.n / 12.0)

    def product(self, columns, stop=None):
        def block(rows, places):
            stored = self.triangle.panels[rows[0] // engine.TILE][:, slice(*places)]
            wide = scratch("block", stored.shape, np.float64)
            wide[...] = stored
            return wide

        return engine.folded_product(block, columns, thread_count(self.n_jobs), stop) * self.unit

    def rows(self, indices):
        return self.exact.rows(indices)

    def lower(self, dtype, stop=None):
        return self.exact.lower(dtype, stop)


class _FixedPointTiles:
    """A kernel whose tiles are whole numbers of a unit; `have_room` says whether all of them fit so far."""

    def __init__(self, kernel, unit):
        self.kernel, self.scale, self.have_room = kernel, 1.0 / unit, True

    def tile(self, left, right, out, row, column):
        block = scratch("block", (len(left), len(right)), np.float64)
        self.kernel.tile(left, right, block, 0, 0)
        if not _round(block, self.scale, block_of(out, row, column, block.shape)):
            self.have_room = False


@jit
def _round(tile, scale, out):
    """out = tile * scale to the nearest whole number; whether all of them have room."""
    vector_loop()
    worst = 0.0
    for i in range(tile.shape[0]):
        row, target = tile[i], out[i]
        for j in range(tile.shape[1]):
            value = row[j] * scale
            worst = max(worst, abs(value))
            value = min(max(value, -2147483647.0), 2147483647.0)
            target[j] = np.int32(value + (0.5 if value >= 0 else -0.5))
    return worst < 2147483647.5
