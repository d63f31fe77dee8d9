"""The shortest-path kernel: pairs of nodes, by their labels and how far apart they are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels._types import Features, KeyArray, Tally
from mercer.kernels.algebra.scaled_power import require_kernel
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import require_flag
from mercer.kernels.base.structured import Packed, items_of
from mercer.kernels.graph import attributed_shortest_path
from mercer.kernels.graph.all_pairs_distances import NO_PATH, all_distances, distances_from, rounded_bits
from mercer.kernels.graph.count_kernel import GraphCountKernel, add, new_table, with_room, written
from mercer.kernels.graph.packed_graphs import PackedGraphs, graphs_of
from mercer.kernels.items.feature_keys import mixed

if TYPE_CHECKING:
    from mercer.kernels.graph.graph import Graph
    from mercer.kernels.items.counts import Counts

_NO_KEYS, _NO_LENGTHS = np.empty(0, np.uint64), np.empty(0)


@jit
def _pair_key(node_keys: KeyArray, start: int, end: int, bits: np.uint64) -> np.uint64:
    """The key of (label, label, distance)."""
    key = mixed(np.uint64(2), bits)
    return mixed(mixed(key, node_keys[start]), node_keys[end]) if node_keys.shape[0] else key


@jit
def _tally(
    offsets: IndexArray,
    indptr: IndexArray,
    heads: IndexArray,
    edge: IndexArray,
    node_keys: KeyArray,
    lengths: Array,
    first: int,
    last: int,
) -> Tally:
    ends = np.zeros(last - first, np.int64)
    all_keys, all_counts, filled = np.empty(0, np.uint64), np.empty(0, np.float64), 0
    number = np.empty(1, np.float64)
    bits = number.view(np.uint64)
    for graph in range(first, last):
        keys, counts = new_table()
        begin, n, used = offsets[graph], offsets[graph + 1] - offsets[graph], 0
        far, waiting, is_waiting = np.empty(n), np.empty(n, np.int64), np.zeros(n, np.bool_)
        for start in range(n):
            distances_from(begin + start, begin, indptr, heads, edge, lengths, far, waiting, is_waiting)
            keys, counts = with_room(keys, counts, used + n)
            for end in range(n):
                if end != start and far[end] < NO_PATH:
                    key = _pair_key(node_keys, begin + start, begin + end, rounded_bits(far[end], number, bits))
                    used += add(keys, counts, key, 1.0)
        all_keys, all_counts, filled = written(keys, counts, all_keys, all_counts, filled)
        ends[graph - first] = filled
    return ends, all_keys[:filled], all_counts[:filled]


@dataclass(frozen=True)
class ShortestPath(GraphCountKernel):
    """k(G, G') = number of pairs of shortest paths of the same length between matching nodes.

    Every ordered pair of nodes (u, v) of a graph that a path connects is a feature: the label of
    u, the label of v and the length of the shortest path (Borgwardt & Kriegel 2005). With
    `attributes` the nodes are also compared by a kernel of their numbers: the kernel is the sum of
    k(u, u') k(v, v') over pairs of pairs of the same length (and, if `labeled`, the same labels).

    Parameters
    ----------
    labeled : bool
        Whether node labels are compared; with False, graphs need no labels.
    weighted : bool
        Whether the weights of edges are their lengths; otherwise every edge has length 1. Lengths
        that agree to seven digits are the same.
    attributes : Kernel, optional
        A kernel of vectors, for the node attributes.

    Notes
    -----
    Without `attributes`, the features are counted once for each graph. With them, a pair of graphs
    of n and m nodes takes about nm(n + m) steps.

    Examples
    --------
    >>> from mercer import Graph
    >>> from mercer.kernels import RBF, ShortestPath
    >>> ethanol = Graph([(0, 1), (1, 2)], node_labels="CCO", node_attributes=[2.5, 2.5, 3.4])
    >>> ether = Graph([(0, 1), (1, 2)], node_labels="COC", node_attributes=[2.5, 3.4, 2.5])
    >>> ShortestPath()([ethanol, ether])
    array([[ 8.,  4.],
           [ 4., 12.]])
    >>> ShortestPath(labeled=False, attributes=RBF(gamma=1.0))([ethanol, ether]).round(2)
    array([[12.35, 10.13],
           [10.13, 13.58]])
    """

    labeled: bool = True
    weighted: bool = False
    attributes: Kernel | None = None

    _instead_of_features = "attributes=None has one"

    def __post_init__(self) -> None:
        for name in ("labeled", "weighted"):
            require_flag(name, getattr(self, name))
        if self.attributes is not None:
            require_kernel("attributes", self.attributes)
            if self.attributes.takes_items:
                raise ParameterError(f"attributes must be a kernel of vectors, got {self.attributes!r}")

    @property
    def is_psd(self) -> bool | None:
        return True if self.attributes is None else self.attributes.is_psd

    @property
    def is_bound(self) -> bool:
        return self.attributes is None or self.attributes.is_bound

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        """The kernel, with its `attributes` kernel bound to the nodes of X."""
        if self.is_bound:
            return self
        packed = PackedGraphs(graphs_of(items_of(X, self.item_name)), "ShortestPath")
        return self.replace(attributes=cast(Kernel, self.attributes).bind(packed.attributes))

    def encode(self, items: list[Any], dtype: DTypeLike) -> "Counts | Packed":
        if self.attributes is None:
            return super().encode(items, dtype)
        self._require_bound()
        packed = PackedGraphs(graphs_of(items), "ShortestPath")
        node_keys, lengths = self._compared(packed)
        nodes = self.attributes.prepare(packed.attributes, np.float64)
        return attributed_shortest_path.prepared(packed, node_keys, lengths, nodes, dtype)

    def _compared(self, packed: PackedGraphs) -> tuple[KeyArray, FloatArray]:
        """The keys of the nodes and the lengths of the edges, empty if they do not count."""
        node_keys = packed.node_keys if self.labeled else _NO_KEYS
        return node_keys, packed.weights if self.weighted else _NO_LENGTHS

    def tally(self, packed: PackedGraphs, first: int, last: int) -> Tally:
        return _tally(packed.offsets, *packed.arcs, *self._compared(packed), first, last)

    def tile(self, left: "Counts | Packed", right: Any, out: Array, row: int, column: int) -> None:
        if isinstance(left, Packed):
            attributed_shortest_path.tile(cast(Kernel, self.attributes), left, right, out, row, column)
        else:
            super().tile(left, right, out, row, column)

    def diag_of(self, prepared: "Counts | Packed") -> FloatArray:
        if isinstance(prepared, Packed):
            return attributed_shortest_path.diagonal(cast(Kernel, self.attributes), prepared)
        return super().diag_of(prepared)

    def feature_map(self, X: Rows) -> Features:
        if self.attributes is not None:
            return Kernel.feature_map(self, X)
        return super().feature_map(X)

    def names(self, packed: PackedGraphs) -> dict[int, str]:
        """Readable names for the features of these graphs, by key."""
        if self.attributes is not None:
            Kernel.feature_map(self, packed)
        names, number = {}, np.empty(1)
        node_keys, lengths = self._compared(packed)
        for place, graph in enumerate(packed.graphs):
            far = np.empty((graph.n_nodes, graph.n_nodes))
            all_distances(packed.offsets, *packed.arcs, lengths, place, far)
            for start, end in np.argwhere(far < NO_PATH).tolist():
                if start != end:
                    bits = np.uint64(rounded_bits(far[start, end], number, number.view(np.uint64)))
                    begin = packed.offsets[place]
                    key = int(_pair_key(node_keys, begin + start, begin + end, bits))
                    names[key] = self._name(graph, start, end, far[start, end])
        return names

    def _name(self, graph: "Graph", start: int, end: int, length: float) -> str:
        if not self.labeled:
            return f"length {length:.7g}"
        return f"{graph.node_labels[start]} to {graph.node_labels[end]}, length {length:.7g}"  # type: ignore[index] # labelled
