"""Inner products of sparse rows by inverted lists of the items that have a feature.

Most features of texts and graphs occur in few items, a few in nearly all. A frequent one is
stored densely, and a row that has it adds a whole line of products with vector instructions; for a rare one,
only the items on its list are visited. So neither the memory nor the time of a tile grows
with features that are not shared.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, IndexArray

if TYPE_CHECKING:
    from mercer.kernels.items.sparse_rows import SparseRows

# A feature that this fraction of the items have is cheaper to store densely.
FREQUENT = 1 / 16


@jit
def _list(
    indptr: IndexArray, indices: IndexArray, data: Array, begins: IndexArray, items: IndexArray, values: Array
) -> None:
    """The transpose of CSR rows; `begins` comes full of zeros, one place longer than there are features."""
    for k in range(indptr[0], indptr[-1]):
        begins[indices[k] + 1] += 1
    for feature in range(begins.shape[0] - 1):
        begins[feature + 1] += begins[feature]
    for item in range(indptr.shape[0] - 1):
        for k in range(indptr[item], indptr[item + 1]):
            # Here begins[f] is where the next entry of f goes; in the end, where the list of f + 1 begins.
            place = begins[indices[k]]
            items[place], values[place] = item, data[k]
            begins[indices[k]] += 1
    for feature in range(begins.shape[0] - 1, 0, -1):
        begins[feature] = begins[feature - 1]
    begins[0] = 0


@jit
def _number_frequent(begins: IndexArray, least: int, line: IndexArray) -> int:
    """Number the features with at least so many items; the others get -1. Returns how many there are."""
    count = 0
    for feature in range(line.shape[0]):
        line[feature] = -1
        if begins[feature + 1] - begins[feature] >= least:
            line[feature] = count
            count += 1
    return count


@jit
def _write_out(begins: IndexArray, items: IndexArray, values: Array, line: IndexArray, lines: Array) -> None:
    for feature in range(line.shape[0]):
        if line[feature] >= 0:
            for k in range(begins[feature], begins[feature + 1]):
                lines[line[feature], items[k]] = values[k]


@jit
def _products(
    indptr: IndexArray,
    indices: IndexArray,
    data: Array,
    inverted: tuple[Array, ...],
    chosen: IndexArray,
    weights: Array,
    out: Array,
) -> None:
    """out[i] = products of sparse row i with all items; four frequent features at a time, so that
    a product is loaded and stored once for four updates."""
    vector_loop()
    begins, items, values, line, lines = inverted
    width = out.shape[1]
    for i in range(indptr.shape[0] - 1):
        target = out[i]
        target[:] = 0
        count = 0
        for k in range(indptr[i], indptr[i + 1]):
            feature, weight = indices[k], data[k]
            if line[feature] >= 0:
                chosen[count], weights[count] = line[feature], weight
                count += 1
            else:
                for place in range(begins[feature], begins[feature + 1]):
                    target[items[place]] += weight * values[place]
        # The remainder of four uses a line of zeros.
        while count % 4:
            chosen[count], weights[count] = lines.shape[0] - 1, 0
            count += 1
        for k in range(0, count, 4):
            first, second = lines[chosen[k]], lines[chosen[k + 1]]
            third, fourth = lines[chosen[k + 2]], lines[chosen[k + 3]]
            a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
            for j in range(width):
                target[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])


class Inverted:
    """Sparse rows, prepared for multiplication from the left.

    Parameters
    ----------
    rows : SparseRows
        Their features are numbered from 0; the left-hand side may have one more, which no row has.
    """

    def __init__(self, rows: "SparseRows") -> None:
        n, n_features = rows.shape
        self.n_items, self.dtype = n, rows.dtype
        nnz = int(rows.indptr[-1] - rows.indptr[0])
        begins, line = np.zeros(n_features + 2, np.int32), np.empty(n_features + 1, np.int32)
        items, values = np.empty(nnz, np.int32), np.empty(nnz, rows.dtype)
        _list(rows.indptr, rows.indices, rows.data, begins, items, values)
        count = _number_frequent(begins, max(4, int(n * FREQUENT)), line)
        lines = np.zeros((count + 1, n), rows.dtype)
        _write_out(begins, items, values, line, lines)
        self.arrays = (begins, items, values, line, lines)

    def products(self, rows: "SparseRows", out: Array) -> Array:
        """Write the inner products of other sparse rows with these to `out`."""
        longest = int((rows.indptr[1:] - rows.indptr[:-1]).max(initial=0)) + 4
        chosen, weights = np.empty(longest, np.int32), np.empty(longest, rows.dtype)
        _products(rows.indptr, rows.indices, rows.data, self.arrays, chosen, weights, out)
        return out
