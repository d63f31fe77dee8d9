"""The delta kernel: 1 for equal rows, 0 otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._jit.compile import jit
from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import Features, Prepared
from mercer.kernels.algebra.feature_maps import double_rows
from mercer.kernels.base.kernel import PairwiseKernel


@jit
def _delta(left: Array, columns: Array, out: Array, row: int, column: int) -> None:
    n, d = left.shape
    m = columns.shape[1]
    zero = left.dtype.type(0)
    for i in range(n):
        target = out[row + i, column : column + m]
        for j in range(m):
            target[j] = 1
        for k in range(d):
            value = left[i, k]
            source = columns[k]
            alike = zero
            for j in range(m):
                target[j] = target[j] if value == source[j] else zero
                alike += target[j]
            if alike == zero:
                break


@dataclass(frozen=True)
class Delta(PairwiseKernel):
    """k(x, y) = 1 if the rows are equal, otherwise 0.

    On a single column of labels or codes, it says whether two items are the same.

    Examples
    --------
    >>> from mercer.kernels import Delta
    >>> Delta()([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    is_psd = True
    # Shifting the rows would round them, and rows that differ might become equal.
    is_translation_invariant = False

    def pairs(self, left: Array, columns: Array, out: Array, row: int, column: int) -> None:
        _delta(left, columns, out, row, column)

    def diag_of(self, prepared: Prepared) -> FloatArray:
        return np.ones(len(prepared))

    def feature_map(self, X: Rows) -> Features:
        """An indicator of each distinct row of X, as CSR; map training and test rows together."""
        rows = double_rows(X)
        distinct, code = np.unique(rows, axis=0, return_inverse=True)
        entries = (np.ones(len(rows)), code.ravel(), np.arange(len(rows) + 1))
        return sparse.csr_matrix(entries, shape=(len(rows), len(distinct)))

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The distinct rows of X, in order."""
        return [", ".join(f"{value:g}" for value in row) for row in np.unique(double_rows(X), axis=0)]

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        # Rounded to single precision, rows that differ may become equal.
        return 0.0 if np.dtype(dtype) == np.float64 else 1.0
