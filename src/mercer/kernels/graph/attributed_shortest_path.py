"""Shortest paths between nodes compared by a kernel of their attributes, in pairwise form.

With M the matrix of k(u, u') between the nodes of two graphs and B_d, B'_d the matrices that mark
the pairs at distance d, the kernel is the sum over d of <M, B_d M B'_d^T>. Each pair of either graph
is touched once for every node of the other.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import KeyArray, Prepared
from mercer.kernels.base.kernel import require_same_features
from mercer.kernels.base.structured import Packed
from mercer.kernels.graph.all_pairs_distances import NO_PATH, all_distances, rounded_bits

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.graph.packed_graphs import PackedGraphs

# Steps that a tile may take, so that it is done within a tenth of a second.
TILE_STEPS = 5e7


class Paths(NamedTuple):
    """The pairs of connected nodes of each graph, sorted by distance."""

    offsets: np.ndarray  # where the nodes of each graph begin
    node_keys: np.ndarray  # labels, or empty
    pair_offsets: np.ndarray
    distance: np.ndarray  # of each pair, as a key
    start: np.ndarray  # its nodes, counted from the first of the graph
    end: np.ndarray
    nodes: object  # as the kernel of the attributes prepares them


@jit
def _pairs(far: Array, begin: int, distance: KeyArray, start: IndexArray, end: IndexArray) -> int:
    """Write the connected pairs of a graph from position `begin` on; returns where they end."""
    number = np.empty(1, np.float64)
    bits = number.view(np.uint64)
    for u in range(far.shape[0]):
        for v in range(far.shape[0]):
            if u != v and far[u, v] < NO_PATH:
                distance[begin], start[begin], end[begin] = rounded_bits(far[u, v], number, bits), u, v
                begin += 1
    return begin


def prepared(packed: "PackedGraphs", node_keys: KeyArray, lengths: Array, nodes: Prepared, dtype: DTypeLike) -> Packed:
    """The graphs as `tile` reads them."""
    sizes = np.diff(packed.offsets)
    room = int((sizes * np.maximum(sizes - 1, 0)).sum())
    distance, start, end = np.empty(room, np.uint64), np.empty(room, np.int32), np.empty(room, np.int32)
    pair_offsets = np.zeros(len(packed) + 1, np.int64)
    for graph, n in enumerate(sizes.tolist()):
        far, begin = np.empty((n, n)), pair_offsets[graph]
        all_distances(packed.offsets, *packed.arcs, lengths, graph, far)
        stop = pair_offsets[graph + 1] = _pairs(far, begin, distance, start, end)
        order = np.argsort(distance[begin:stop], kind="stable")
        for array in (distance, start, end):
            array[begin:stop] = array[begin:stop][order]
    paths = Paths(packed.offsets, node_keys, pair_offsets, distance, start, end, nodes)
    steps = 2.0 * np.mean(sizes.astype(float) ** 3) if len(sizes) else 1.0
    return Packed(paths, np.arange(len(packed)), dtype, int(np.clip(np.sqrt(TILE_STEPS / max(steps, 1.0)), 1, 128)))


@jit
def _keep_like_labels(M: Array, left_keys: KeyArray, right_keys: KeyArray) -> None:
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            if left_keys[i] != right_keys[j]:
                M[i, j] = 0.0


@jit
def _sum_of_pairs(
    M: Array,
    T: Array,
    distance: KeyArray,
    start: IndexArray,
    end: IndexArray,
    other_distance: KeyArray,
    other_start: IndexArray,
    other_end: IndexArray,
) -> float:
    """The sum over pairs of pairs at the same distance of M[u, u'] M[v, v'].

    `M` has the nodes of the second graph as rows; T is memory of the same shape.
    """
    total = 0.0
    i, j = 0, 0
    while i < distance.shape[0] and j < other_distance.shape[0]:
        if distance[i] < other_distance[j]:
            i += 1
        elif distance[i] > other_distance[j]:
            j += 1
        else:
            key = distance[i]
            T[:, :] = 0.0
            while j < other_distance.shape[0] and other_distance[j] == key:
                target, source = T[other_start[j]], M[other_end[j]]
                for u in range(M.shape[1]):
                    target[u] += source[u]
                j += 1
            while i < distance.shape[0] and distance[i] == key:
                total += _column_product(M, T, start[i], end[i])
                i += 1
    return total


@jit
def _column_product(M: Array, T: Array, u: int, v: int) -> float:
    total = 0.0
    for k in range(M.shape[0]):
        total += M[k, u] * T[k, v]
    return total


@jit
def _tile(
    left: IndexArray,
    left_begin: IndexArray,
    left_paths: tuple[Array, ...],
    right: IndexArray,
    right_begin: IndexArray,
    right_paths: tuple[Array, ...],
    K: Array,
    out: Array,
    row: int,
    column: int,
) -> None:
    """Every pair of graphs of a tile; K is the kernel between all their nodes."""
    pairs, distance, start, end = left_paths
    other_pairs, other_distance, other_start, other_end = right_paths
    for i in range(left.shape[0]):
        begin, stop = pairs[left[i]], pairs[left[i] + 1]
        for j in range(right.shape[0]):
            other_begin, other_stop = other_pairs[right[j]], other_pairs[right[j] + 1]
            # The second graph's nodes as rows, so that the terms of a sum are adjacent in memory.
            M = K[left_begin[i] : left_begin[i + 1], right_begin[j] : right_begin[j + 1]].T.copy()
            out[row + i, column + j] = _sum_of_pairs(
                M,
                np.empty_like(M),
                distance[begin:stop],
                start[begin:stop],
                end[begin:stop],
                other_distance[other_begin:other_stop],
                other_start[other_begin:other_stop],
                other_end[other_begin:other_stop],
            )


def _nodes_of(items: Packed) -> tuple[IndexArray, IndexArray]:
    """The positions of the nodes of some graphs, and where those of each begin among them."""
    begin, stop = items.arrays.offsets[items.index], items.arrays.offsets[items.index + 1]
    begins = np.concatenate([[0], np.cumsum(stop - begin)])
    return np.arange(begins[-1]) + np.repeat(begin - begins[:-1], stop - begin), begins


def tile(kernel: "Kernel", left: Packed, right: Packed, out: Array, row: int, column: int) -> None:
    """Write the kernel of each pair of graphs, whose nodes are compared by `kernel`."""
    (nodes, begins), (other_nodes, other_begins) = _nodes_of(left), _nodes_of(right)
    K = scratch("nodes", (len(nodes), len(other_nodes)), np.float64)
    # Graphs without nodes do not show how many attributes they would have.
    if len(nodes) and len(other_nodes):
        rows, other_rows = left.arrays.nodes.take(nodes), right.arrays.nodes.take(other_nodes)
        require_same_features(rows, other_rows)
        kernel.tile(rows, other_rows, K, 0, 0)
    if len(left.arrays.node_keys):
        _keep_like_labels(K, left.arrays.node_keys[nodes], right.arrays.node_keys[other_nodes])
    paths, other_paths = (tuple(items.arrays[2:6]) for items in (left, right))
    _tile(left.index, begins, paths, right.index, other_begins, other_paths, K, out, row, column)


def diagonal(kernel: "Kernel", items: Packed) -> FloatArray:
    """k(G, G) of each graph."""
    values = np.empty((len(items), 1))
    for place in range(len(items)):
        item = items.slice(place, place + 1)
        tile(kernel, item, item, values, place, 0)
    return values[:, 0]
