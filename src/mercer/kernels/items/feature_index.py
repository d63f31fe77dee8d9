"""Number features by their 64-bit keys, and write sparse rows in the order of these numbers.

A hash table with open addressing finds the distinct keys, and only those are sorted: there are far
fewer of them than entries. The entries are then sorted by counting.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.splitmix import GOLDEN
from mercer._types import Array, IndexArray
from mercer.kernels._types import KeyArray

SMALLEST = 1024


@jit
def _home(key: np.uint64, size: int) -> np.uint64:
    """Where a key's search begins: its upper bits after a multiplication (Knuth 1973), as keys may be small numbers."""
    return ((key * GOLDEN) >> np.uint64(32)) & np.uint64(size - 1)


@jit
def _numbers(key: KeyArray, number: IndexArray, keys: KeyArray) -> int:
    """Number the different keys as they come; `keys` takes them. Returns how many there are."""
    size, count = SMALLEST, 0
    table = np.full(size, -1, np.int32)
    for entry in range(key.shape[0]):
        if 2 * count >= size:
            size *= 4
            table = np.full(size, -1, np.int32)
            for old in range(count):
                place = _home(keys[old], size)
                while table[place] >= 0:
                    place = (place + np.uint64(1)) & np.uint64(size - 1)
                table[place] = old
        own = key[entry]
        place = _home(own, size)
        while table[place] >= 0 and keys[table[place]] != own:
            place = (place + np.uint64(1)) & np.uint64(size - 1)
        if table[place] < 0:
            table[place] = count
            keys[count] = own
            count += 1
        number[entry] = table[place]
    return count


def numbered(key: KeyArray) -> tuple[KeyArray, IndexArray]:
    """(the distinct keys in order, the number of each entry's key among them)."""
    if len(key) and int(key.max()) < 4 * len(key):
        return _numbered_by_place(key)
    number, keys = np.empty(len(key), np.int32), np.empty(len(key), np.uint64)
    # A table with as many places as entries has room for 2**30 different ones.
    if len(key) >= 2**30:
        keys, number = np.unique(key, return_inverse=True)
        return keys, number.astype(np.int32)
    keys = keys[: _numbers(key, number, keys)]
    order = np.argsort(keys)
    rank = np.empty(len(keys), np.int32)
    rank[order] = np.arange(len(keys), dtype=np.int32)
    return keys[order], rank[number]


def _numbered_by_place(key: KeyArray) -> tuple[KeyArray, IndexArray]:
    """The same for small keys, with a direct table."""
    present = np.zeros(int(key.max()) + 1, bool)
    present[key] = True
    return np.flatnonzero(present).astype(np.uint64), (np.cumsum(present, dtype=np.int32) - np.int32(1))[key]


@jit
def _order_of(column: IndexArray, n_columns: int) -> IndexArray:
    """The entries by column, those of one column as they came."""
    place = np.zeros(n_columns + 1, np.int64)
    for entry in range(column.shape[0]):
        place[column[entry] + 1] += 1
    for number in range(n_columns):
        place[number + 1] += place[number]
    order = np.empty(column.shape[0], np.int64)
    for entry in range(column.shape[0]):
        order[place[column[entry]]] = entry
        place[column[entry]] += 1
    return order


@jit
def entries_in_order(
    item: IndexArray,
    column: IndexArray,
    weight: Array,
    n_columns: int,
    indptr: IndexArray,
    columns: IndexArray,
    data: Array,
) -> int:
    """Write CSR rows whose columns are in order; weights of one item and column are added up.

    Going through the columns in order, each row gets its own in order. `indptr` comes full of zeros.
    Returns how many entries there are in the end.
    """
    n_items = indptr.shape[0] - 1
    for entry in range(item.shape[0]):
        indptr[item[entry] + 1] += 1
    for row in range(n_items):
        indptr[row + 1] += indptr[row]
    end = indptr[:-1].copy()
    order = _order_of(column, n_columns)
    for k in range(order.shape[0]):
        entry = order[k]
        row = item[entry]
        place = end[row]
        if place > indptr[row] and columns[place - 1] == column[entry]:
            data[place - 1] += weight[entry]
        else:
            columns[place], data[place] = column[entry], weight[entry]
            end[row] += 1
    filled = 0
    for row in range(n_items):
        begin = indptr[row]
        indptr[row] = filled
        for place in range(begin, end[row]):
            columns[filled], data[filled] = columns[place], data[place]
            filled += 1
    indptr[n_items] = filled
    return filled
