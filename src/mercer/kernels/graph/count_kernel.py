"""Counting features of graphs in compiled code, and the kernels that do so.

The features of one graph are counted in a small table with open addressing, so that memory
grows with the number of different features, not with how often they occur.
"""

from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.threads import run_parallel, thread_count
from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import KeyArray, Tally
from mercer.kernels.base.progress import current_stop
from mercer.kernels.base.structured import CountKernel, items_of
from mercer.kernels.graph.packed_graphs import PackedGraphs, graphs_of
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_tally import SMALLEST, places_for, spans_of


@jit
def new_table() -> tuple[KeyArray, FloatArray]:
    """Keys and counts; a place whose count is zero is free."""
    return np.zeros(SMALLEST, np.uint64), np.zeros(SMALLEST, np.float64)


@jit
def add(keys: KeyArray, counts: Array, key: np.uint64, amount: float) -> int:
    """Count `amount` (positive) of a feature; returns how many features are new: 1 or 0."""
    last = np.uint64(keys.shape[0] - 1)
    place = key & last
    while counts[place] > 0.0:
        if keys[place] == key:
            counts[place] += amount
            return 0
        place = (place + np.uint64(1)) & last
    keys[place] = key
    counts[place] = amount
    return 1


@jit
def with_room(keys: KeyArray, counts: Array, used: int) -> tuple[KeyArray, FloatArray]:
    """The table, or a larger one if `used` places would make it crowded."""
    if 2 * used <= keys.shape[0]:
        return keys, counts
    size = places_for(used)
    more_keys, more_counts = np.zeros(size, np.uint64), np.zeros(size, np.float64)
    for place in range(keys.shape[0]):
        if counts[place] > 0.0:
            add(more_keys, more_counts, keys[place], counts[place])
    return more_keys, more_counts


@jit
def written(
    keys: KeyArray, counts: Array, all_keys: KeyArray, all_counts: Array, filled: int
) -> tuple[KeyArray, FloatArray, int]:
    """Append a table's features to those of earlier graphs; returns (keys, counts, filled)."""
    needed = filled + keys.shape[0]
    if needed > all_keys.shape[0]:
        size = max(needed, 2 * all_keys.shape[0])
        longer_keys, longer_counts = np.empty(size, np.uint64), np.empty(size, np.float64)
        longer_keys[:filled] = all_keys[:filled]
        longer_counts[:filled] = all_counts[:filled]
        all_keys, all_counts = longer_keys, longer_counts
    for place in range(keys.shape[0]):
        if counts[place] > 0.0:
            all_keys[filled], all_counts[filled] = keys[place], counts[place]
            filled += 1
    return all_keys, all_counts, filled


class GraphCountKernel(CountKernel):
    """A kernel of graphs that counts features; subclasses implement `tally` and `names`."""

    item_name = "graph"
    # About how many nodes a thread counts before it can be interrupted.
    _nodes_at_a_time = 4000

    def tally(self, packed: PackedGraphs, first: int, last: int) -> Tally:
        """(ends, keys, counts) of the features of graphs first..last: keys and counts, and
        where those of each graph end."""
        raise NotImplementedError

    def names(self, packed: PackedGraphs) -> dict[int, str]:
        """Readable names for the features of these graphs, by key."""
        raise NotImplementedError

    def encode(self, items: list[Any], dtype: DTypeLike) -> Counts:
        packed = PackedGraphs(graphs_of(items), type(self).__name__)
        return self.counts_of(packed, dtype)

    def counts_of(self, packed: PackedGraphs, dtype: DTypeLike) -> Counts:
        """The feature counts of packed graphs, tallied on all cores."""
        spans = spans_of(packed.offsets, self._nodes_at_a_time)
        parts = cast("list[Tally]", [None] * len(spans))

        def count(number: int) -> None:
            parts[number] = self.tally(packed, *spans[number])

        if spans:
            # Labels are looked up before threads need them, so that errors are raised here.
            count(0)
        if len(spans) > 1:
            run_parallel(count, range(1, len(spans)), thread_count(None), current_stop())
        return Counts.joined(parts, dtype)

    def feature_names(self, X: Rows, names: Any = None) -> list[str]:
        """Readable names for the columns of ``feature_map(X)``."""
        packed = PackedGraphs(graphs_of(items_of(X, self.item_name)), type(self).__name__)
        names = self.names(packed)
        return [names[int(key)] for key in self.counts_of(packed, np.float64).vocabulary.keys]
