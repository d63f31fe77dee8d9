"""Inner products of dense rows with few columns, for which BLAS takes up to twice as long.

Right-hand rows are written side by side, 32 to a line, with a line for each feature; the products of some left-hand
rows with 32 right-hand ones then stay in registers until they are complete.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.lanes import line_sums
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array

WIDTH = 32
# Rows with more columns are left to BLAS.
FEW_COLUMNS = 64


@jit
def _products(left: Array, lines: Array, line: tuple[float, ...], out: Array, spare: Array) -> None:
    """out = left times the rows written out in `lines`, of which the last may be more than there are in `out`."""
    vector_loop()
    n, width = left.shape[0], lines.shape[2]
    for k in range(lines.shape[0]):
        column = k * width
        rest = out.shape[1] - column
        is_whole, i = rest >= width, 0
        target, place = (out, column) if is_whole else (spare, 0)
        while i < n:
            i += line_sums(left, lines[k], i, line, target, place)
        if not is_whole:
            for i in range(n):
                row, last = spare[i], out[i, column:]
                for j in range(rest):
                    last[j] = row[j]


def in_lines(values: Array) -> Array:
    """Rows of shape (m, d) as an array of shape (m / 32, d, 32), filled up with zeros."""
    m, d = values.shape
    lines = np.zeros((-(-m // WIDTH), d, WIDTH), values.dtype)
    for k in range(len(lines)):
        part = values[k * WIDTH : (k + 1) * WIDTH]
        lines[k, :, : len(part)] = part.T
    return lines


def line_products(left: Array, lines: Array, count: int) -> Array:
    """Inner products with the `count` rows of `lines`, in a buffer that the next call in this thread reuses."""
    n, dtype = len(left), left.dtype
    out, spare = scratch("line dots", (n, count), dtype), scratch("spare line", (n, WIDTH), dtype)
    _products(left, lines, (dtype.type(0),) * WIDTH, out, spare)
    return out
