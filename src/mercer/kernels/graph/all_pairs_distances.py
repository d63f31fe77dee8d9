"""Lengths of shortest paths between all nodes of each graph."""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array, BoolArray, IndexArray
from mercer.kernels._types import KeyArray

# Stands for infinity (no path), which compiled code must not meet.
NO_PATH = 1e300


@jit
def distances_from(
    start: int,
    first: int,
    indptr: IndexArray,
    heads: IndexArray,
    edge: IndexArray,
    lengths: Array,
    far: Array,
    waiting: IndexArray,
    is_waiting: BoolArray,
) -> None:
    """Write the distance from `start` to each node of its graph, which begins at `first`, to `far`.

    A queue of nodes whose distance has just become shorter (Bellman 1958, Moore 1959). With equal
    lengths each node enters it once, and it is a breadth-first search. No `lengths`: all are 1.
    `far` keeps NO_PATH where none leads.
    """
    n = far.shape[0]
    far[:] = NO_PATH
    far[start - first] = 0.0
    waiting[0] = start - first
    begin, count = 0, 1
    while count:
        node = waiting[begin]
        begin = begin + 1 if begin + 1 < n else 0
        count -= 1
        is_waiting[node] = False
        for arc in range(indptr[first + node], indptr[first + node + 1]):
            head = heads[arc] - first
            reached = far[node] + (lengths[edge[arc]] if lengths.shape[0] else 1.0)
            if reached < far[head]:
                far[head] = reached
                if not is_waiting[head]:
                    is_waiting[head] = True
                    place = begin + count
                    waiting[place if place < n else place - n] = head
                    count += 1


@jit
def rounded_bits(number: float, place: Array, bits: KeyArray) -> np.uint64:
    """A key for a positive number that ignores all but its first 24 binary digits, as sums of the
    same lengths in another order may differ in the last. `place` and `bits` are one memory."""
    place[0] = number
    return (bits[0] + (np.uint64(1) << np.uint64(27))) & ~((np.uint64(1) << np.uint64(28)) - np.uint64(1))


@jit
def all_distances(
    offsets: IndexArray, indptr: IndexArray, heads: IndexArray, edge: IndexArray, lengths: Array, graph: int, out: Array
) -> None:
    """Write the matrix of distances between the nodes of one graph to `out`."""
    first, n = offsets[graph], offsets[graph + 1] - offsets[graph]
    waiting, is_waiting = np.empty(n, np.int64), np.zeros(n, np.bool_)
    for node in range(n):
        distances_from(first + node, first, indptr, heads, edge, lengths, out[node], waiting, is_waiting)
