"""The delta kernel: alike only to its equal."""

from dataclasses import dataclass

import numpy as np

from mercer._jit.compile import jit
from mercer.kernels.base import PairwiseKernel


@jit
def _delta(left, columns, out, row, column):
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
    """k(x, y) = 1 when the rows are equal, else 0.

    On one column of labels or codes it says whether two things are the same.

    Examples
    --------
    >>> from mercer.kernels import Delta
    >>> Delta()([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    is_psd = True
    # Moving the rows would round them, and rows that differ might become equal.
    is_translation_invariant = False
    _instead_of_features = "it has one feature for each possible row; encode the rows that occur"

    def pairs(self, left, columns, out, row, column):
        _delta(left, columns, out, row, column)

    def diag_of(self, prepared):
        return np.ones(len(prepared))

    def entry_bound(self, norm_bound):
        return 1.0

    def entry_error(self, norm_bound, dtype):
        # Rounded to single precision, rows that differ may become equal.
        return 0.0 if np.dtype(dtype) == np.float64 else 1.0
