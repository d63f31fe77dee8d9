"""A kernel matrix in memory with 16 bits an entry, for methods that correct what its rounding does.

Entries of a positive semidefinite matrix are no larger than its largest diagonal entry, so they are kept as
whole numbers of one unit, and only the lower triangle of them: an eighth of the whole matrix in
single precision. A product reads all that there is, so it takes a fraction of the time too. What that
rounding changes, `noise` says; who needs better asks for `exact_products`, computed anew from the items.
"""

import numpy as np

from mercer._jit.scratch import scratch
from mercer.kernels import engine
from mercer.kernels.fixed_point import triangle_of_numbers
from mercer.kernels.folded import folded_products, triangle_products

# Sums of a tile that are no larger than this may be in single precision.
LARGEST_SUM = 1e3


class RoundedMatrix:
    """A copy of a kernel matrix, each entry rounded to a whole number of `unit`.

    Parameters
    ----------
    source : EvaluatedMatrix
        Where entries come from; a product that has to be accurate asks it.
    triangle : Triangle
        Of int16.
    unit : float
    """

    def __init__(self, source, triangle, unit):
        self.source, self.triangle, self.unit = source, triangle, unit
        self.n, self.n_jobs = source.n, source.n_jobs

    @classmethod
    def of(cls, source, stop=None):
        """The copy, or None where an entry is larger than the diagonal allows or not finite."""
        found = triangle_of_numbers(source, np.int16, stop)
        return None if found is None else cls(source, *found)

    @property
    def noise(self):
        """About the largest eigenvalue of what rounding changes: roundings are independent (Wigner 1955)."""
        return self.unit * np.sqrt(self.n / 3.0)

    @property
    def diag(self):
        return self.source.diag

    def rows(self, indices):
        """The rounded rows at `indices`, float32."""
        out = np.empty((len(indices), self.n), np.float32)
        for panel, (begin, end) in zip(self.triangle.panels, self.triangle.spans, strict=True):
            inside = (indices >= begin) & (indices < end)
            out[inside, :end] = panel[indices[inside] - begin, :end]
            before = indices < begin
            out[before, begin:end] = panel[:, indices[before]].T
            places = np.flatnonzero(inside)
            block = panel[:, indices[places]]
            for column, place in enumerate(places):
                # In the block on the diagonal only what is below it counts.
                out[place, indices[place] : end] = block[indices[place] - begin :, column]
        return out * np.float32(self.unit)

    def products(self, coefficients, stop=None):
        """The rounded matrix times coefficients of shape (n, k), summed in single precision tile by tile."""
        return triangle_products(self.triangle, coefficients.astype(np.float32), self.n_jobs, stop) * self.unit


def exact_products(matrix, coefficients, stop=None):
    """K @ coefficients, shape (n, k), of an `EvaluatedMatrix`: each pair is evaluated once, sums are double."""
    items, kernel = matrix.items, matrix.kernel

    def visit(place, receive):
        rows = engine.spans(matrix.n)[place]
        part = items.slice(*rows)
        for columns in engine.spans(rows[1]):
            tile = scratch("block", (len(part), columns[1] - columns[0]), matrix.dtype)
            kernel.tile(part, items.slice(*columns), tile, 0, 0)
            receive(tile, columns[0])

    return folded_products(matrix.n, visit, _summable(coefficients, matrix.dtype), matrix.n_jobs, stop)


def _summable(coefficients, dtype):
    """In the precision in which the sums of a tile stay as accurate as its entries."""
    is_small = engine.TILE * float(np.abs(coefficients).max(initial=0.0)) <= LARGEST_SUM
    return coefficients.astype(dtype if is_small else np.float64)
