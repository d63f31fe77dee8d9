"""The entries of a stored kernel matrix that are not nearly zero, if they are few.

Between most rows a narrow kernel is nearly zero, and so is a linear one between texts without a word in common.
Steps that read only the other entries hardly touch memory.
"""

from typing import NamedTuple

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, IndexArray

# Entries up to this share of the mean of the diagonal are left out.
NEARLY_ZERO = 1e-5
# With more than this share of the entries left, whole rows are quicker to read.
FEW = 1 / 12
# Rows from which it is told whether they are few.
SAMPLE = 64


class NearRows(NamedTuple):
    """Off the diagonal: row i has `entries` at `columns` from ``begins[i]`` to ``begins[i + 1]``."""

    begins: np.ndarray
    columns: np.ndarray
    entries: np.ndarray


@jit
def _count(row: Array, cut: float) -> int:
    vector_loop()
    count = 0
    for k in range(row.shape[0]):
        count += 1 if abs(row[k]) > cut else 0
    return count


@jit
def _counts(values: Array, rows: IndexArray, cut: float, counts: IndexArray) -> None:
    for place in range(rows.shape[0]):
        counts[place] = _count(values[rows[place]], cut)


@jit
def _fill(values: Array, cut: float, begins: IndexArray, columns: Array, entries: Array) -> None:
    for i in range(values.shape[0]):
        row, here = values[i], begins[i]
        for k in range(row.shape[0]):
            if abs(row[k]) > cut and k != i:
                columns[here], entries[here] = k, row[k]
                here += 1


def near_rows(values: Array) -> NearRows | None:
    """Of a square matrix, whose rows may be padded with zeros; None if its entries are not few."""
    n = len(values)
    if n == 0:
        return None
    cut = values.dtype.type(NEARLY_ZERO * float(values.diagonal().mean(dtype=np.float64)))
    some = np.arange(0, n, max(1, n // SAMPLE))
    for rows in (some, np.arange(n)):
        counts = np.empty(len(rows), np.intp)
        _counts(values, rows, cut, counts)
        if counts.sum() > FEW * n * len(rows):
            return None
    begins = np.concatenate([[0], np.cumsum(counts - (np.abs(values.diagonal()) > cut))])
    columns, entries = np.empty(begins[-1], np.uint32), np.empty(begins[-1], values.dtype)
    _fill(values, cut, begins, columns, entries)
    return NearRows(begins, columns, entries)
