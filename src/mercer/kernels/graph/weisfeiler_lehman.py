"""The Weisfeiler-Lehman subtree kernel: neighbourhoods of growing radius, counted.

In each round a node's label becomes a name for its own label together with the multiset of
its neighbours' (Weisfeiler & Lehman 1968; the kernel: Shervashidze et al. 2011). The name is a
64-bit key. That of a multiset is the sum of its mixed elements, which does not depend on
their order (Clarke et al. 2003), so nothing is sorted and a round takes time O(arcs).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import jit
from mercer._types import IndexArray, Items
from mercer.kernels._types import KeyArray, Tally
from mercer.kernels.base.parameters import require_count, require_flag
from mercer.kernels.graph.count_kernel import GraphCountKernel
from mercer.kernels.graph.packed_graphs import PackedGraphs, graphs_of
from mercer.kernels.items.feature_keys import mixed
from mercer.kernels.items.feature_tally import count_one, move_tally, new_tally, places_for

if TYPE_CHECKING:
    from mercer.kernels.items.counts import Counts

_INWARD = np.uint64(0x5851F42D4C957F2D)
_NO_KEYS = np.empty(0, np.uint64)


@jit
def _neighbours(
    node: int, first: int, keys: KeyArray, indptr: IndexArray, others: IndexArray, edge: IndexArray, edge_keys: KeyArray
) -> np.uint64:
    """The key of the multiset of (edge label, label) around a node."""
    total = np.uint64(0)
    for arc in range(indptr[node], indptr[node + 1]):
        key = keys[others[arc] - first]
        if edge_keys.shape[0]:
            key = mixed(key, edge_keys[edge[arc]])
        total += mixed(np.uint64(1), key)
    return total


@jit
def _refined(
    keys: KeyArray,
    indptr: IndexArray,
    heads: IndexArray,
    edge: IndexArray,
    back_indptr: IndexArray,
    tails: IndexArray,
    back_edge: IndexArray,
    edge_keys: KeyArray,
    first: int,
    out: KeyArray,
) -> None:
    """One round: out[v] names the label of v, the multiset of labels that it leads to, and
    that of those that lead to it. Position 0 is that of node `first`."""
    for place in range(keys.shape[0]):
        node = first + place
        key = mixed(keys[place], _neighbours(node, first, keys, indptr, heads, edge, edge_keys))
        inward = _neighbours(node, first, keys, back_indptr, tails, back_edge, edge_keys)
        out[place] = mixed(key, inward ^ np.uint64(_INWARD))


@jit
def _tally(offsets: IndexArray, levels: KeyArray, first: int, last: int) -> Tally:
    """(ends, keys, counts) of the labels of graphs first..last over all rounds."""
    rounds, most = levels.shape[0], 0
    for graph in range(first, last):
        most = max(most, offsets[graph + 1] - offsets[graph])
    tally = new_tally(most * rounds)
    ends, filled = np.empty(last - first, np.int64), 0
    all_keys, all_counts = np.empty(levels.size, np.uint64), np.empty(levels.size, np.float64)
    for graph in range(first, last):
        begin, end = offsets[graph] - offsets[first], offsets[graph + 1] - offsets[first]
        mask, n_used = np.uint64(places_for((end - begin) * rounds) - 1), 0
        for level in range(rounds):
            for node in range(begin, end):
                n_used = count_one(tally, mask, n_used, levels[level, node])
        filled = move_tally(tally, n_used, all_keys, all_counts, filled)
        ends[graph - first] = filled
    return ends, all_keys[:filled], all_counts[:filled]


@dataclass(frozen=True)
class WeisfeilerLehman(GraphCountKernel):
    """k(G, G') = number of pairs of nodes whose neighbourhoods are alike, summed over radii.

    A feature is a neighbourhood as distinguished by the Weisfeiler-Lehman test: after i rounds a
    node's label stands for the tree of walks of length i that begin there. The kernel is the inner
    product of the counts of these labels after rounds 0 to `iterations`. An empty graph has no
    features: its kernel with every graph is 0.

    Parameters
    ----------
    iterations : int
        Rounds after the initial labels; the radius of the largest neighbourhood.
    edge_labels : bool
        Whether a neighbour also counts with the label of the edge that leads to it.

    Notes
    -----
    In a directed graph, successors and predecessors of a node are
    distinguished. An undirected graph is treated as a directed one with both arcs of every edge.

    Examples
    --------
    >>> from mercer import Graph
    >>> from mercer.kernels import WeisfeilerLehman
    >>> ethanol = Graph([(0, 1), (1, 2)], node_labels="CCO")
    >>> ether = Graph([(0, 1), (1, 2)], node_labels="COC")
    >>> WeisfeilerLehman(iterations=1)([ethanol, ether])
    array([[ 8.,  5.],
           [ 5., 10.]])
    >>> sorted(WeisfeilerLehman(iterations=1).feature_names([ether]))
    ['C', 'C(O)', 'O', 'O(C C)']
    """

    iterations: int = 5
    edge_labels: bool = False

    def __post_init__(self) -> None:
        require_count("iterations", self.iterations)
        require_flag("edge_labels", self.edge_labels)

    def tally(self, packed: PackedGraphs, first: int, last: int) -> Tally:
        return _tally(packed.offsets, self._levels(packed, first, last), first, last)

    def _levels(self, packed: PackedGraphs, first: int, last: int) -> KeyArray:
        """The keys of the nodes of graphs first..last after each round, one round per row."""
        begin, end = packed.offsets[first], packed.offsets[last]
        edge_keys = packed.edge_keys if self.edge_labels else _NO_KEYS
        levels = np.empty((self.iterations + 1, end - begin), np.uint64)
        levels[0] = packed.node_keys[begin:end]
        for number in range(self.iterations):
            _refined(levels[number], *packed.arcs, *packed.arcs_back, edge_keys, begin, levels[number + 1])
        return levels

    def neighborhoods(self, items: Items) -> "tuple[KeyArray, Counts]":
        """(the key of every node's neighbourhood after each round, one round per row; the counts of all graphs)."""
        packed = PackedGraphs(graphs_of(items), type(self).__name__)
        return self._levels(packed, 0, len(packed)), self.counts_of(packed, np.float64)

    def names(self, packed: PackedGraphs) -> dict[int, str]:
        """Readable names for the features of these graphs, by key."""
        levels = self._levels(packed, 0, len(packed))
        labels = [str(label) for graph in packed.graphs for label in graph.node_labels or ()]
        described, names, taken = labels, {}, set()
        for number in range(self.iterations + 1):
            # A node without neighbours looks the same after every round, but counts in each.
            told = [f"{text} after {number} rounds" if text in taken else text for text in described]
            names.update(zip(levels[number].tolist(), told, strict=True))
            taken.update(described)
            described = [self._around(packed, node, labels[node], described) for node in range(packed.n_nodes)]
        return names

    def _around(self, packed: PackedGraphs, node: int, label: str, described: Sequence[str]) -> str:
        """A node's label with its neighbours, as text."""
        outward = self._listed(packed, packed.arcs, node, described)
        if packed.arcs_back is packed.arcs:
            return f"{label}({outward})"
        return f"{label}(to {outward}; from {self._listed(packed, packed.arcs_back, node, described)})"

    def _listed(
        self, packed: PackedGraphs, arcs: tuple[IndexArray, IndexArray, IndexArray], node: int, described: Sequence[str]
    ) -> str:
        indptr, others, edge = arcs
        around = range(indptr[node], indptr[node + 1])
        if not self.edge_labels:
            return " ".join(sorted(described[others[arc]] for arc in around))
        written = [label for graph in packed.graphs for label in graph.edge_labels or ()]
        return " ".join(sorted(f"-{written[edge[arc]]}-{described[others[arc]]}" for arc in around))
