r"""Squared distances by differences, for rows so far from the origin that inner products lose them.

:math:`|x|^2 + |y|^2 - 2 \langle x, y \rangle` is a matrix product, but loses whatever is small beside :math:`|x|^2`. A
difference of two close numbers is exact wherever they are, so :math:`\sum_k (x_k - y_k)^2` is right to the last digits;
it takes several times as long. To a kernel of distances, rows with inner products
:math:`\langle x, y \rangle` are the same as points with "inner products" :math:`-\tfrac12 |x - y|^2` and norms of zero.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array, IndexArray

if TYPE_CHECKING:
    from mercer.kernels.items.rows import Rows as PreparedRows

# A kernel entry that may lose more than this is computed by differences.
LOST = 1e-12


@jit
def _dense(left: Array, columns: Array, out: Array) -> None:
    """out[i, j] = -|x_i - y_j|^2 / 2 of rows `left` (n, d) and `columns` (d, m)."""
    vector_loop()
    for i in range(left.shape[0]):
        target = out[i]
        for j in range(target.shape[0]):
            target[j] = 0
        for k in range(left.shape[1]):
            number, row = left[i, k], columns[k]
            for j in range(target.shape[0]):
                difference = number - row[j]
                target[j] -= difference * difference
        for j in range(target.shape[0]):
            target[j] *= 0.5


@jit
def _sparse(
    left_ptr: IndexArray,
    left_indices: IndexArray,
    left_data: Array,
    right_ptr: IndexArray,
    right_indices: IndexArray,
    right_data: Array,
    out: Array,
) -> None:
    """The same of two sets of CSR rows with sorted indices, each pair walked through together."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            a, a_end, b, b_end = left_ptr[i], left_ptr[i + 1], right_ptr[j], right_ptr[j + 1]
            total = 0.0
            while a < a_end or b < b_end:
                difference = 0.0
                step_left = b >= b_end or (a < a_end and left_indices[a] <= right_indices[b])
                step_right = a >= a_end or (b < b_end and right_indices[b] <= left_indices[a])
                if step_left:
                    difference += left_data[a]
                if step_right:
                    difference -= right_data[b]
                a, b = a + step_left, b + step_right
                total += difference * difference
            out[i, j] = -0.5 * total


def negative_half_squares(left: "PreparedRows", right: "PreparedRows") -> Array:
    """-|x - y|^2 / 2 for the rows of two `Rows`, in a buffer that the next call in this thread reuses."""
    out = scratch("distances", (len(left), len(right)), left.dtype)
    if left.is_sparse and right.is_sparse:
        one, other = left.values, right.values
        _sparse(one.indptr, one.indices, one.data, other.indptr, other.indices, other.data, out)
    else:
        _dense(left.dense(), np.ascontiguousarray(right.dense().T), out)
    return out
