"""A kernel matrix in which every item appears twice, without computing an entry twice.

Regression in the nu-form has two coefficients for each point. Its matrix is [[K, K], [K, K]]:
requests about copies are folded to requests about items, and the answers expanded again.
"""

from typing import cast

import numpy as np

from mercer._jit.scratch import scratch
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Stop
from mercer.kernels.evaluation.row_cache import gather_rows
from mercer.kernels.gram.kernel_matrix import KernelMatrix, StoredMatrix, padded_square


class RepeatedMatrix(KernelMatrix):
    """The matrix of the items 0..n-1 followed by the same items.

    Parameters
    ----------
    base : KernelMatrix
        Of the items themselves.
    """

    def __init__(self, base: KernelMatrix) -> None:
        super().__init__(2 * base.n, base.dtype, base.n_jobs)
        self.base = base
        self.is_rough = base.is_rough

    def rough_rows(self) -> IndexArray:
        rows = self.base.rough_rows()
        return np.concatenate([rows, rows + self.base.n])

    @property
    def diag(self) -> FloatArray:
        return np.tile(self.base.diag, 2)

    def rows(self, indices: IndexArray, stop: Stop | None = None) -> Array:
        return np.tile(self.base.rows(indices % self.base.n, stop), 2)

    def submatrix(self, indices: IndexArray, out: Array, stop: Stop | None = None) -> Array:
        items, place = np.unique(indices % self.base.n, return_inverse=True)
        if len(items) == len(indices):
            return self.base.submatrix(indices % self.base.n, out, stop)
        block = scratch("items", (len(items), len(items)), self.dtype)
        self.base.submatrix(items, block, stop)
        gather_rows(block, place, place, out, np.arange(len(indices)), self._workers)
        return out

    def product(
        self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray | None = None, stop: Stop | None = None
    ) -> FloatArray:
        items, summed = self._folded(columns, coefficients)
        if len(items) == 0:
            return np.zeros(self.n if rows is None else len(rows))
        if rows is None:
            return np.tile(self.base.product(items, summed, None, stop), 2)
        wanted, place = np.unique(rows % self.base.n, return_inverse=True)
        return self.base.product(items, summed, wanted, stop)[place]

    def products(self, coefficients: FloatArray, stop: Stop | None = None) -> FloatArray:
        n = self.base.n
        return np.tile(self.base.products(coefficients[:n] + coefficients[n:], stop), (2, 1))

    def _folded(self, columns: IndexArray, coefficients: FloatArray) -> tuple[IndexArray, FloatArray]:
        """Each item once, with the sum of the coefficients of its copies."""
        summed = np.bincount(columns % self.base.n, coefficients, minlength=self.base.n)
        items = np.flatnonzero(summed)
        return items, cast(FloatArray, summed[items])

    def view(self, indices: IndexArray) -> KernelMatrix:
        return self.base.view(indices % self.base.n)

    def in_double(self) -> "RepeatedMatrix":
        return self if self.dtype == np.float64 else RepeatedMatrix(self.base.in_double())

    def product_in_double(self, columns: IndexArray, coefficients: FloatArray, rows: IndexArray) -> FloatArray:
        items, summed = self._folded(columns, coefficients)
        if len(items) == 0:
            return np.zeros(len(rows))
        wanted, place = np.unique(rows % self.base.n, return_inverse=True)
        return self.base.product_in_double(items, summed, wanted)[place]

    def stored(self, stop: Stop | None = None) -> StoredMatrix:
        """All of it in memory, as a `StoredMatrix`."""
        values = padded_square(self.n, self.dtype)
        self.submatrix(np.arange(self.n), values, stop)
        return StoredMatrix(values, self.n_jobs)
