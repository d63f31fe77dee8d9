"""Counting the features of one item after the other, in one table that is emptied in between.

The slots that an item has used are listed, so that emptying the table takes time only for the distinct
features of the item, however large the table is.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import KeyArray, Span

# Smallest number of slots of a table; a power of two.
SMALLEST = 64


@jit
def places_for(features: int) -> int:
    """Places of a table that so many features leave half empty; a power of two."""
    size = SMALLEST
    while size < 2 * features:
        size *= 2
    return size


@jit
def new_tally(most: int) -> tuple[KeyArray, FloatArray, IndexArray]:
    """A table for items of at most so many different features: keys, counts, places used."""
    size = places_for(most)
    return np.empty(size, np.uint64), np.zeros(size, np.float64), np.empty(size, np.int64)


@jit
def count_one(tally: tuple[KeyArray, FloatArray, IndexArray], mask: np.uint64, n_used: int, key: np.uint64) -> int:
    """Count an occurrence of a feature; returns how many features there are now. `mask` is the number
    of places that the item needs, less one."""
    keys, counts, used = tally
    place = key & mask
    while counts[place] > 0.0 and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    if counts[place] == 0.0:
        keys[place] = key
        used[n_used] = place
        n_used += 1
    counts[place] += 1.0
    return n_used


@jit
def move_tally(
    tally: tuple[KeyArray, FloatArray, IndexArray], n_used: int, all_keys: KeyArray, all_counts: Array, filled: int
) -> int:
    """Write an item's features behind those of earlier ones and empty the table; returns where they end."""
    keys, counts, used = tally
    for k in range(n_used):
        all_keys[filled + k], all_counts[filled + k] = keys[used[k]], counts[used[k]]
        counts[used[k]] = 0.0
    return filled + n_used


def spans_of(offsets: IndexArray, size: int) -> list[Span]:
    """Ranges (first, last) of consecutive items with about this many parts together; item i has offsets[i] to
    offsets[i + 1]."""
    spans, first = [], 0
    while first < len(offsets) - 1:
        last = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        last = max(first + 1, last)
        spans.append((first, last))
        first = last
    return spans
