"""A kernel matrix in memory with 16 bits an entry, for methods that correct its rounding.

Entries of a positive semidefinite matrix are no larger than its largest diagonal entry, so they are kept as
integers of one unit, and only the lower triangle: a quarter of the whole matrix in
single precision. A product reads all of it, so it takes a fraction of the time too. `noise` says what the
rounding changes; for more accuracy, use `symmetric_product`, which is recomputed from the items.
"""

from typing import TYPE_CHECKING, Self

import numpy as np

from mercer._types import FloatArray, IndexArray
from mercer.kernels._types import Stop
from mercer.kernels.evaluation.symmetric_product import triangle_products
from mercer.kernels.gram.fixed_point import triangle_of_numbers

if TYPE_CHECKING:
    from mercer.kernels.gram.evaluated import EvaluatedMatrix
    from mercer.kernels.gram.packed_triangle import Triangle


class RoundedMatrix:
    """A copy of a kernel matrix, each entry rounded to an integer multiple of `unit`.

    Parameters
    ----------
    source : EvaluatedMatrix
        The source of the entries, used for products that have to be accurate.
    triangle : Triangle
        Of int16.
    unit : float
    """

    def __init__(self, source: "EvaluatedMatrix", triangle: "Triangle", unit: float) -> None:
        self.source, self.triangle, self.unit = source, triangle, unit
        self.n, self.n_jobs = source.n, source.n_jobs

    @classmethod
    def of(cls, source: "EvaluatedMatrix", stop: Stop | None = None) -> Self | None:
        """The copy, or None if an entry is larger than the diagonal allows, or not finite."""
        found = triangle_of_numbers(source, np.int16, stop)
        return None if found is None else cls(source, *found)

    @property
    def noise(self) -> float:
        """Roughly the largest eigenvalue of the rounding errors, which are independent (Wigner 1955)."""
        return self.unit * np.sqrt(self.n / 3.0)

    @property
    def diag(self) -> FloatArray:
        return self.source.diag

    def rows(self, indices: IndexArray) -> FloatArray:
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
                # In the block on the diagonal only entries below it count.
                out[place, indices[place] : end] = block[indices[place] - begin :, column]
        return out * np.float32(self.unit)

    def products(self, coefficients: FloatArray, stop: Stop | None = None) -> FloatArray:
        """The rounded matrix times coefficients of shape (n, k), summed in single precision tile by tile."""
        return triangle_products(self.triangle, coefficients.astype(np.float32), self.n_jobs, stop) * self.unit
