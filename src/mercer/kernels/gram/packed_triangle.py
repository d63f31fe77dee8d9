"""The lower triangle of a symmetric matrix, packed: half the memory, all of it used.

Rows are kept in panels of engine.TILE, each with as many columns as reach its diagonal block.
"""

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.lasting import lasting_empty
from mercer._types import Array, FloatArray
from mercer.kernels.evaluation import tiles

# Rows a multiple of 4096 bytes apart evict each other from the first-level cache.
_SPARE = 16


class Triangle:
    """Panels of a lower triangle; entries above the diagonal in a diagonal block are arbitrary.

    Parameters
    ----------
    n : int
    dtype : float32 or float64
    """

    def __init__(self, n: int, dtype: DTypeLike) -> None:
        self.n, self.dtype = n, np.dtype(dtype)
        self.spans = tiles.spans(n)
        sizes = [(end - begin) * (end + _SPARE) for begin, end in self.spans]
        buffer, edges = lasting_empty((sum(sizes),), self.dtype), np.cumsum([0, *sizes])
        self.panels = [
            buffer[edges[k] : edges[k + 1]].reshape(end - begin, end + _SPARE)
            for k, (begin, end) in enumerate(self.spans)
        ]

    @classmethod
    def of(cls, matrix: Array, dtype: DTypeLike | None = None) -> Self:
        """From a square array, which is copied."""
        triangle = cls(len(matrix), dtype or matrix.dtype)
        for begin, end, rows in triangle:
            rows[...] = matrix[begin:end, :end]
        return triangle

    def __iter__(self) -> Iterator[tuple[int, int, Array]]:
        """(begin, end, rows begin..end up to the column `end`, a view) of each panel."""
        for (begin, end), panel in zip(self.spans, self.panels, strict=True):
            yield begin, end, panel[:, :end]

    def _diagonals(self) -> Iterator[Array]:
        for begin, _, rows in self:
            yield np.einsum("ii->i", rows[:, begin:])

    @property
    def diagonal(self) -> FloatArray:
        """A copy of the diagonal, float64."""
        return np.concatenate([part.astype(np.float64) for part in self._diagonals()])

    def set_diagonal(self, values: Array) -> None:
        """Replace the diagonal."""
        for (begin, end), part in zip(self.spans, self._diagonals(), strict=True):
            part[...] = values[begin:end]

    def square(self) -> Array:
        """A new square array in Fortran order with this lower triangle, for LAPACK."""
        out = np.zeros((self.n, self.n), self.dtype, order="F")
        for begin, end, rows in self:
            out[begin:end, :end] = rows
        return out
