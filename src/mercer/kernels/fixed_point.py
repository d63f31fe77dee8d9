"""A kernel matrix in memory with 32 bits an entry, exact to 2^-32 of the largest.

The triangle in double precision takes twice the room, and single precision spends eight of its bits on
exponents: entries of a positive semidefinite matrix are no larger than its largest diagonal entry, so whole
numbers of one common unit lose less than a hundredth of what single precision does.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._jit.threads import Stopped, run_parallel, thread_count
from mercer._jit.vectors import vector_loop
from mercer.kernels import engine
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
        triangle = Triangle(base.n, np.int32)
        has_room = np.ones(len(triangle.spans), bool)

        def row_panel(place):
            rows, out = triangle.spans[place], triangle.panels[place]
            part = base.items.slice(*rows)
            for columns in engine.spans(rows[1]):
                tile = scratch("block", (rows[1] - rows[0], columns[1] - columns[0]), np.float64)
                base.kernel.tile(part, base.items.slice(*columns), tile, 0, 0)
                has_room[place] &= _round(tile, 1.0 / unit, out[:, slice(*columns)])

        run_parallel(row_panel, reversed(range(len(triangle.spans))), thread_count(base.n_jobs), stop)
        return cls(base, triangle, unit) if has_room.all() else None

    @property
    def diag(self):
        return self.exact.diag

    @property
    def noise(self):
        """The length by which a product with a vector of length 1 errs, if roundings are independent."""
        return self.unit * np.sqrt(self.n / 12.0)

    def product(self, columns, stop=None):
        right = np.ascontiguousarray(columns.T)
        tiles = self.triangle.spans
        totals = np.zeros((min(engine.FOLDS, len(tiles)), *right.shape))

        def fold(place):
            total = totals[place]
            for k in range(place, len(tiles), len(totals)):
                rows = slice(*tiles[k])
                for beside in (slice(*span) for span in tiles[: k + 1]):
                    if stop is not None and stop():
                        raise Stopped
                    tile = self.triangle.panels[k][:, beside]
                    wide = scratch("block", tile.shape, np.float64)
                    wide[...] = tile
                    total[:, rows] += right[:, beside] @ wide.T
                    if beside != rows:
                        total[:, beside] += right[:, rows] @ wide

        run_parallel(fold, reversed(range(len(totals))), thread_count(self.n_jobs), stop)
        return np.ascontiguousarray(totals.sum(axis=0).T) * self.unit

    def rows(self, indices):
        return self.exact.rows(indices)

    def lower(self, dtype, stop=None):
        return self.exact.lower(dtype, stop)


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
