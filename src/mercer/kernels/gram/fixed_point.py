"""A kernel matrix in memory with 32 bits an entry, exact to 2^-32 of the largest.

The triangle in double precision takes twice the memory, and single precision spends eight of its bits on
exponents. Entries of a positive semidefinite matrix are no larger than its largest diagonal entry, so integers
of one common unit lose less than a hundredth of what single precision does.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Prepared, Stop, Tiles
from mercer.kernels.evaluation import tiles as engine
from mercer.kernels.evaluation.symmetric_product import triangle_products
from mercer.kernels.gram.packed_triangle import Triangle
from mercer.kernels.gram.symmetric_operator import SymmetricOperator

if TYPE_CHECKING:
    from mercer.kernels.gram.evaluated import EvaluatedMatrix
    from mercer.kernels.gram.symmetric_operator import EvaluatedOperator


class FixedPointOperator(SymmetricOperator):
    """A stored copy of another operator's matrix; products are in double precision with its rounded entries.

    Parameters
    ----------
    base : EvaluatedOperator
        Used for everything but products; kept as `exact`.
    """

    def __init__(self, base: "EvaluatedOperator", triangle: Triangle, unit: float) -> None:
        super().__init__(base.n, base.n_jobs)
        self.exact, self.triangle, self.unit = base, triangle, unit

    @classmethod
    def of(cls, base: "EvaluatedOperator", stop: Stop | None = None) -> Self | None:
        """The copy, or None if an entry is larger than the diagonal allows, or not finite."""
        found = triangle_of_numbers(base, np.int32, stop)
        return None if found is None else cls(base, *found)

    @property
    def diag(self) -> FloatArray:
        return self.exact.diag

    @property
    def noise(self) -> float:
        """The norm of the error of a product with a vector of length 1, if roundings are independent."""
        return self.unit * np.sqrt(self.n / 12.0)

    def product(self, columns: FloatArray, stop: Stop | None = None) -> FloatArray:
        return triangle_products(self.triangle, columns, self.n_jobs, stop) * self.unit

    def rough_product(self, columns: FloatArray, stop: Stop | None = None) -> FloatArray:
        """The same, summed in single precision within a tile: for methods that correct themselves."""
        return triangle_products(self.triangle, columns.astype(np.float32), self.n_jobs, stop) * self.unit

    def rows(self, indices: IndexArray) -> FloatArray:
        return self.exact.rows(indices)

    def lower(self, dtype: DTypeLike, stop: Stop | None = None) -> Triangle:
        return self.exact.lower(dtype, stop)


def triangle_of_numbers(
    source: "EvaluatedOperator | EvaluatedMatrix", dtype: type[np.signedinteger[Any]], stop: Stop | None = None
) -> tuple[Triangle, float] | None:
    """(the lower triangle of a matrix as integers, their unit), or None if the largest diagonal entry is
    not the largest of all, or not finite.

    Parameters
    ----------
    source : EvaluatedOperator or EvaluatedMatrix
    dtype : int16 or int32
    """
    largest = np.iinfo(dtype).max
    unit = float(source.diag.max(initial=0.0)) / largest
    if not unit > 0:
        return None
    tiles = FixedPointTiles(source.kernel, unit, largest)
    triangle = engine.lower_triangle(tiles, source.items, Triangle(source.n, dtype), source.n_jobs, stop)
    return (triangle, unit) if tiles.have_room else None


class FixedPointTiles:
    """A kernel whose tiles are integers of a unit; `have_room` says whether all of them fit so far.

    Parameters
    ----------
    kernel : Kernel
    unit : float
    largest : int
        The largest number that their destination can hold.
    """

    def __init__(self, kernel: Tiles, unit: float, largest: int) -> None:
        self.kernel, self.scale, self.largest, self.have_room = kernel, 1.0 / unit, largest, True

    def tile(self, left: Prepared, right: Prepared, out: Array, row: int, column: int) -> None:
        block = scratch("unrounded tile", (len(left), len(right)), left.dtype)
        self.kernel.tile(left, right, block, 0, 0)
        scale, largest, half = (left.dtype.type(value) for value in (self.scale, self.largest, 0.5))
        if not _round(block, scale, largest, half, out, row, column):
            self.have_room = False


@jit
def _round(tile: Array, scale: float, largest: float, half: float, out: Array, top: int, first: int) -> bool:
    """out[top:, first:] = tile * scale to the nearest whole number (a half more); whether all of them have room."""
    vector_loop()
    beyond, limit = 0, largest + half
    for i in range(tile.shape[0]):
        row, target = tile[i], out[top + i, first : first + tile.shape[1]]
        for j in range(tile.shape[1]):
            value = row[j] * scale
            # Counted, because a running maximum would prevent vectorisation.
            beyond += abs(value) >= limit
            value = min(max(value, -largest), largest)
            target[j] = np.int32(value + (half if value >= 0 else -half))
    return beyond == 0
