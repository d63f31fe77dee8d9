"""Many graphs in shared arrays, in the form that compiled code reads."""

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError
from mercer._jit.compile import jit
from mercer._jit.once import computed_once
from mercer._types import Array, FloatArray, IndexArray, Items
from mercer.kernels._types import KeyArray
from mercer.kernels.base.progress import unless_stopped
from mercer.kernels.graph.graph import Graph


def graphs_of(items: Items) -> list[Graph]:
    """The items as graphs; an error says which one is not."""
    graphs = []
    for place, item in enumerate(unless_stopped(items)):
        try:
            graphs.append(Graph.of(item))
        except DataError as error:
            raise DataError(f"item {place} of X: {error}") from None
    return graphs


@jit
def _sort_arcs(key: IndexArray, n: int, indptr: IndexArray, order: IndexArray) -> None:
    """Positions of the arcs in the order of `key`, the node they belong to: a counting sort."""
    for arc in range(key.shape[0]):
        indptr[key[arc] + 1] += 1
    for node in range(n):
        indptr[node + 1] += indptr[node]
    place = indptr[:-1].copy()
    for arc in range(key.shape[0]):
        order[place[key[arc]]] = arc
        place[key[arc]] += 1


class PackedGraphs:
    """The nodes of all graphs in sequence, with the arcs that leave each.

    Attributes
    ----------
    offsets : ndarray of shape (n_graphs + 1,)
        Where the nodes of each graph begin.
    indptr, heads, edge : ndarray
        The arcs that leave node v are indptr[v] to indptr[v + 1]: where each leads to, and the
        position of its edge among the edges of all graphs.
    """

    def __init__(self, graphs: Sequence[Graph], user: str) -> None:
        self.graphs, self.user = graphs, user
        self.offsets = _offsets([graph.n_nodes for graph in graphs])
        ends = np.concatenate([np.empty((0, 2), np.int32), *[graph.ends for graph in graphs]]).astype(np.int64)
        lengths = np.diff(self.edge_offsets)
        ends += np.repeat(self.offsets[:-1], lengths)[:, None]
        one_way = np.repeat(np.array([graph.directed for graph in graphs], bool), lengths)
        back = np.flatnonzero(~one_way & (ends[:, 0] != ends[:, 1]))
        self._tails, self._heads = np.append(ends[:, 0], ends[back, 1]), np.append(ends[:, 1], ends[back, 0])
        self._edge = np.append(np.arange(len(ends)), back)
        self.indptr, order = self._sorted_by(self._tails)
        self.heads, self.edge = self._heads[order], self._edge[order]

    def __len__(self) -> int:
        return len(self.graphs)

    @property
    def n_nodes(self) -> int:
        return int(self.offsets[-1])

    def _sorted_by(self, key: IndexArray) -> tuple[IndexArray, IndexArray]:
        indptr, order = np.zeros(self.n_nodes + 1, np.int64), np.empty(len(key), np.int64)
        _sort_arcs(key, self.n_nodes, indptr, order)
        return indptr, order

    @computed_once
    def arcs(self) -> tuple[IndexArray, IndexArray, IndexArray]:
        """(indptr, other end, edge) of the arcs that leave each node."""
        return self.indptr, self.heads, self.edge

    @computed_once
    def arcs_back(self) -> tuple[IndexArray, IndexArray, IndexArray]:
        """The same for the arcs that lead to each node."""
        if not any(graph.directed for graph in self.graphs):
            return self.arcs
        indptr, order = self._sorted_by(self._heads)
        return indptr, self._tails[order], self._edge[order]

    @computed_once
    def simple_arcs(self) -> tuple[IndexArray, IndexArray]:
        """(indptr, other end) of the arcs in both directions, each once and without self loops."""
        apart = self._tails != self._heads
        tails, heads = self._tails[apart], self._heads[apart]
        codes = np.unique(np.append(tails * self.n_nodes + heads, heads * self.n_nodes + tails))
        indptr = np.searchsorted(codes, np.arange(self.n_nodes + 1) * self.n_nodes)
        return indptr, codes % max(1, self.n_nodes)

    @computed_once
    def node_keys(self) -> KeyArray:
        """The keys of the node labels, which every graph must have."""
        self._require(
            "node_labels",
            'pass Graph.of(graph).labeled("degree") for each, or give node_labels= (networkx: node data "label")',
        )
        return _joined([graph.node_keys for graph in self.graphs], np.uint64)

    @computed_once
    def edge_keys(self) -> KeyArray:
        """The keys of the edge labels, which every graph must have."""
        self._require("edge_labels", "give edge_labels=, or pass edge_labels=False to the kernel")
        return _joined([graph.edge_keys for graph in self.graphs], np.uint64)

    @computed_once
    def weights(self) -> FloatArray:
        """The weights of the edges, 1 if a graph has none."""
        parts = [np.ones(graph.n_edges) if graph.weights is None else graph.weights for graph in self.graphs]
        return _joined(parts, np.float64)

    @computed_once
    def attributes(self) -> FloatArray:
        """The attributes of all nodes, equally many for each."""
        self._require("node_attributes", "give node_attributes=, or pass attributes=None to the kernel")
        return _rows("nodes", [cast(FloatArray, graph.node_attributes) for graph in self.graphs if graph.n_nodes])

    @computed_once
    def edge_attributes(self) -> FloatArray:
        """The attributes of all edges, equally many for each."""
        self._require("edge_attributes", "give edge_attributes=, or pass edge_attributes=None to the kernel")
        return _rows("edges", [cast(FloatArray, graph.edge_attributes) for graph in self.graphs if graph.n_edges])

    @computed_once
    def edge_offsets(self) -> IndexArray:
        """Where the edges of each graph begin among those of all."""
        return _offsets([graph.n_edges for graph in self.graphs])

    def _require(self, name: str, remedy: str) -> None:
        for place, graph in enumerate(self.graphs):
            # A graph without nodes has a label for each of its nodes.
            if getattr(graph, name) is None and (graph.n_edges if name.startswith("edge") else graph.n_nodes):
                said = name.replace("_", " ")
                raise DataError(f"item {place} of X has no {said}, which {self.user} compares; {remedy}")


def _rows(kind: str, parts: Sequence[FloatArray]) -> FloatArray:
    widths = [part.shape[1] for part in parts]
    if len(set(widths)) > 1:
        raise DataError(f"{kind} of all graphs must have equally many attributes, got {min(widths)} and {max(widths)}")
    return np.concatenate(parts) if parts else np.empty((0, 1))


def _offsets(lengths: Sequence[int]) -> IndexArray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _joined(parts: Sequence[Array], dtype: DTypeLike) -> Array:
    return np.concatenate([np.empty(0, dtype), *[part for part in parts if len(part)]])
