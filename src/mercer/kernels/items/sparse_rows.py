"""Rows of which only the numbers that are not zero are kept, and their inner products.

Right-hand rows are written out as panels: 64 of them in single precision, 32 in double, side by side, with a line of
256 bytes for each feature. A left-hand row then adds up the lines of its own features, which gives its products with
all rows of the panel at once, in vector registers.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from mercer._jit.compile import jit
from mercer._jit.lanes import LINE_BYTES, weighted_lines
from mercer._jit.once import computed_once
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Sparse

# A multiplication of sparse rows takes as long as this many of dense ones.
SPARSE_COST = 2
# Dense rows are made sparse if at most one number in this many is not zero, and there are more columns and numbers than
# these: with fewer, zeros cost little.
FEW_FILLED, FEW_COLUMNS, FEW_NUMBERS = 4, 64, 2**16
# Up to this many features all of them have a line, four kilobytes for a row at most, and panels are kept; beyond, only
# those that occur in some row have one.
MOST_LINES = 1024
CACHE_LINE = 64
# Rows that are examined for zeros.
SAMPLE = 256


def panel_width(dtype: np.dtype[Any]) -> int:
    """Rows in a panel."""
    return LINE_BYTES // dtype.itemsize


@jit
def _number_lines(indptr: IndexArray, indices: IndexArray, numbers: IndexArray) -> int:
    """Number the features that occur in some CSR rows, in order; all others get the number after
    the last, which is returned. `numbers` comes full of -1."""
    for k in range(indptr[0], indptr[-1]):
        numbers[indices[k]] = 0
    count = 0
    for feature in range(numbers.shape[0]):
        if numbers[feature] == 0:
            numbers[feature] = count
            count += 1
    for feature in range(numbers.shape[0]):
        if numbers[feature] < 0:
            numbers[feature] = count
    return count


@jit
def _write_out(
    indptr: IndexArray, indices: IndexArray, data: Array, numbers: IndexArray | None, lines: Array, of_a_panel: int
) -> None:
    """Write CSR rows as the columns of `lines`, panel by panel."""
    width = lines.shape[1]
    for j in range(indptr.shape[0] - 1):
        first = j // width * of_a_panel
        for k in range(indptr[j], indptr[j + 1]):
            number = indices[k] if numbers is None else numbers[indices[k]]
            lines[first + number, j % width] += data[k]


@jit
def _panel_products(
    indptr: IndexArray,
    indices: IndexArray,
    data: Array,
    numbers: IndexArray | None,
    lines: Array,
    of_a_panel: int,
    out: Array,
    spare: Array,
) -> None:
    """out = (sparse rows) times all panels, of which the last may be wider than what is left of `out`."""
    vector_loop()
    width = lines.shape[1]
    for column in range(0, out.shape[1], width):
        first, rest = column // width * of_a_panel, out.shape[1] - column
        for i in range(indptr.shape[0] - 1):
            terms = (indptr[i], indptr[i + 1], first)
            if rest >= width:
                weighted_lines(data, indices, numbers, terms, lines, out, (i, column))
            else:
                weighted_lines(data, indices, numbers, terms, lines, spare, (0, 0))
                for j in range(rest):
                    out[i, column + j] = spare[0, j]


@jit
def _take_rows(
    indptr: IndexArray,
    indices: IndexArray,
    data: Array,
    chosen: IndexArray,
    new_indptr: IndexArray,
    new_indices: IndexArray,
    new_data: Array,
) -> None:
    """Copy the chosen CSR rows, one after the other."""
    for i in range(chosen.shape[0]):
        source, target = indptr[chosen[i]], new_indptr[i]
        for k in range(new_indptr[i + 1] - target):
            new_indices[target + k] = indices[source + k]
            new_data[target + k] = data[source + k]


@jit
def _count_filled(values: Array, indptr: IndexArray) -> None:
    """indptr[i + 1] = how many numbers of the rows up to i are not zero."""
    vector_loop()
    for i in range(values.shape[0]):
        row, filled = values[i], 0
        for k in range(values.shape[1]):
            filled += row[k] != 0
        indptr[i + 1] = indptr[i] + filled


@jit
def _copy_filled(values: Array, indptr: IndexArray, indices: IndexArray, data: Array) -> None:
    for i in range(values.shape[0]):
        row, k = values[i], indptr[i]
        for feature in range(values.shape[1]):
            if row[feature] != 0:
                indices[k], data[k] = feature, row[feature]
                k += 1


class Panels(NamedTuple):
    """Rows written out side by side, for those to whose right they stand."""

    rows: int
    numbers: np.ndarray | None  # of each feature's line in a panel; None: its own number
    lines: np.ndarray
    of_a_panel: int  # how many lines that is


class SparseRows:
    """The three arrays of a CSR matrix; slicing shares them and copies nothing."""

    def __init__(self, indptr: IndexArray, indices: IndexArray, data: Array, n_features: int) -> None:
        self.indptr, self.indices, self.data = indptr, indices, data
        self.shape = (len(indptr) - 1, n_features)
        self.dtype = data.dtype

    @classmethod
    def from_scipy(cls, matrix: Sparse) -> Self:
        """From a scipy CSR matrix with sorted indices and no duplicates."""
        return cls(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])

    @classmethod
    def from_dense(cls, values: Array) -> Self:
        """The numbers of a C-ordered array that are not zero."""
        indptr = np.zeros(len(values) + 1, np.int64)
        _count_filled(values, indptr)
        indptr = indptr.astype(np.int32) if indptr[-1] <= np.iinfo(np.int32).max else indptr
        indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], values.dtype)
        _copy_filled(values, indptr, indices, data)
        return cls(indptr, indices, data, values.shape[1])

    def to_scipy(self) -> Sparse:
        start, stop = self.indptr[0], self.indptr[-1]
        arrays = (self.data[start:stop], self.indices[start:stop], self.indptr - start)
        return sparse.csr_matrix(arrays, shape=self.shape)

    def take(self, chosen: IndexArray) -> "SparseRows":
        chosen = np.asarray(chosen)
        lengths = (self.indptr[1:] - self.indptr[:-1])[chosen]
        indptr = np.zeros(len(chosen) + 1, self.indptr.dtype)
        np.cumsum(lengths, out=indptr[1:])
        indices = np.empty(indptr[-1], self.indices.dtype)
        data = np.empty(indptr[-1], self.dtype)
        _take_rows(self.indptr, self.indices, self.data, chosen, indptr, indices, data)
        return SparseRows(indptr, indices, data, self.shape[1])

    def slice(self, start: int, stop: int) -> "SparseRows":
        return SparseRows(self.indptr[start : stop + 1], self.indices, self.data, self.shape[1])

    @computed_once
    def panels(self) -> Panels:
        """The rows as a right-hand side."""
        n, last = self.shape
        # The last line of a panel stays zero. It stands for features that these rows do not have at all, even beyond
        # the last, and for all that have no line.
        numbers = None
        if last > MOST_LINES:
            numbers = np.full(last + 1, -1, np.int32)
            last = _number_lines(self.indptr, self.indices, numbers)
        width = panel_width(self.dtype)
        lines = _aligned_zeros((-(-n // width) * (last + 1), width), self.dtype)
        _write_out(self.indptr, self.indices, self.data, numbers, lines, last + 1)
        return Panels(n, numbers, lines, last + 1)

    def times(self, panels: Panels) -> Array:
        """Inner products with the rows of the panels, in a buffer that the next call in this thread reuses."""
        rows, numbers, lines, of_a_panel = panels
        tile = scratch("sparse dots", (self.shape[0], rows), self.dtype)
        spare = scratch("last line", (1, panel_width(self.dtype)), self.dtype)
        _panel_products(self.indptr, self.indices, self.data, numbers, lines, of_a_panel, tile, spare)
        return tile

    def squared_norms(self) -> FloatArray:
        """|x|^2 of each row, summed row by row in double precision."""
        inside = slice(self.indptr[0], self.indptr[-1])
        row = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        with np.errstate(over="ignore"):  # lengths that are infinite are refused where they are looked at
            squares = self.data[inside].astype(np.float64) ** 2
        squares = np.bincount(row, weights=squares, minlength=self.shape[0])
        return squares.astype(np.float64)  # of no entries at all NumPy counts in integers


def is_mostly_zeros(values: Array) -> bool:
    """Whether products of these dense rows are faster without their zeros, judging by some of them."""
    if values.shape[1] <= FEW_COLUMNS or values.size < FEW_NUMBERS:
        return False
    sample = values[:: max(1, len(values) // SAMPLE)]
    return bool(FEW_FILLED * np.count_nonzero(sample) <= sample.size)


def _aligned_zeros(shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """Zeros that begin with a line of the cache: a vector that crosses the end of one takes two loads."""
    size = shape[0] * shape[1] * dtype.itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    first = -room.ctypes.data % CACHE_LINE
    return room[first : first + size].view(dtype).reshape(shape)
