"""`Graph`: nodes, edges, labels and attributes, as an immutable value."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._jit.once import computed_once
from mercer._types import ArrayLike, FloatArray, IndexArray
from mercer.kernels._types import KeyArray, Sparse
from mercer.kernels.graph.conversions import FromOthers
from mercer.kernels.graph.edge_input import (
    ends_of_edges,
    merge_repeated,
    numbers_of,
    values_of_edges,
    weights_of_edges,
)
from mercer.kernels.items.feature_keys import fingerprints

# Data on nodes and edges: labels, then arrays of numbers.
_WRITTEN = ("node_labels", "edge_labels", "weights", "node_attributes", "edge_attributes")


class Graph(FromOthers):
    """A graph, directed or not, with labels and numbers on its nodes and edges.

    The edges are a set: an edge given twice counts once, so an undirected edge may be listed in
    both directions. Two edges between the same nodes are kept apart if their labels
    differ. A self loop is an edge from a node to itself; in an undirected graph it leads to
    its node once, not twice.

    Parameters
    ----------
    edges : sequence of pairs
        The two nodes of each edge, by name; in a directed graph, from and to.
    nodes : int or sequence, optional
        The names of the nodes, which may be any hashable values, or their number n, for names
        0 to n - 1. By default those in `node_labels` or `node_attributes`, otherwise those in
        `edges`, in that order. A node without edges must be named here.
    node_labels : sequence or mapping, optional
        A label for each node, in the order of `nodes` or by name: a string, a number, None or a
        tuple of these. Kernels only check whether two labels are equal.
    edge_labels : sequence or mapping, optional
        The same for edges, in the order of `edges` or by pair.
    weights : sequence of float, optional
        Of the edges; positive and finite. `ShortestPath` reads them as lengths, the kernels on nodes as
        strengths.
    node_attributes : array-like of shape (n_nodes, d), optional
        Numbers on the nodes, compared by a kernel of vectors.
    edge_attributes : array-like of shape (n_edges, d) or mapping, optional
        The same for edges, in the order of `edges` or by pair.
    directed : bool
        Whether an edge leads only from its first node to its second.

    Examples
    --------
    >>> from mercer import Graph
    >>> water = Graph([("O", "H1"), ("O", "H2")], node_labels={"O": "O", "H1": "H", "H2": "H"})
    >>> water
    Graph(3 nodes, 2 edges, node labels)
    >>> Graph([(0, 1), (1, 2), (2, 0)], directed=True).adjacency().toarray()
    array([[0., 1., 0.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """

    def __init__(
        self,
        edges: Any = (),
        nodes: Any = None,
        *,
        node_labels: Any = None,
        edge_labels: Any = None,
        weights: ArrayLike | None = None,
        node_attributes: Any = None,
        edge_attributes: Any = None,
        directed: bool = False,
    ) -> None:
        edges = edges if isinstance(edges, np.ndarray) else list(edges)
        self.directed = bool(directed)
        self.nodes = _names(nodes, edges, node_labels, node_attributes)
        ends = ends_of_edges(edges, self.nodes, self.place_of)
        self.node_labels = _labels_of_nodes(node_labels, self.nodes)
        self.node_attributes = numbers_of("node", node_attributes, len(self.nodes))
        labels = values_of_edges("edge_labels", edge_labels, edges, self.directed)
        weights = weights_of_edges(weights, edges)
        if isinstance(edge_attributes, Mapping):
            edge_attributes = values_of_edges("edge_attributes", edge_attributes, edges, self.directed)
        values = numbers_of("edge", edge_attributes, len(edges))
        self.ends, self.edge_labels, self.weights, self.edge_attributes = merge_repeated(
            ends, labels, weights, values, self.directed, self.nodes
        )

    @classmethod
    def of_parts(
        cls,
        n_nodes: int,
        ends: IndexArray,
        *,
        node_labels: tuple[Any, ...] | None = None,
        edge_labels: tuple[Any, ...] | None = None,
        weights: FloatArray | None = None,
        node_attributes: FloatArray | None = None,
        edge_attributes: FloatArray | None = None,
        directed: bool,
    ) -> Self:
        """From arrays known to be valid: for readers, which check whole files at once."""
        graph = cls.__new__(cls)
        graph.directed, graph.nodes, graph.ends = directed, range(n_nodes), ends
        graph.node_labels, graph.edge_labels = node_labels, edge_labels
        graph.weights, graph.node_attributes, graph.edge_attributes = weights, node_attributes, edge_attributes
        return graph

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def n_edges(self) -> int:
        """The number of edges; an undirected edge counts once."""
        return len(self.ends)

    @computed_once
    def place_of(self) -> dict[Any, int]:
        """The position of each node by its name."""
        places = {name: place for place, name in enumerate(self.nodes)}
        if len(places) != len(self.nodes):
            twice = next(name for place, name in enumerate(self.nodes) if places[name] != place)
            raise DataError(f"nodes must have different names, but {twice!r} occurs twice")
        return places

    @computed_once
    def node_keys(self) -> KeyArray:
        """A 64-bit key for each node's label."""
        return _keys("node", self.node_labels or ())

    @computed_once
    def edge_keys(self) -> KeyArray:
        """A 64-bit key for each edge's label."""
        return _keys("edge", self.edge_labels or ())

    def places(self, names: Sequence[Any]) -> IndexArray:
        """The positions of nodes given by name.

        Examples
        --------
        >>> Graph([("a", "b"), ("b", "c")]).places(["c", "a"])
        array([2, 0])
        """
        try:
            return np.fromiter((self.place_of[name] for name in names), np.intp, len(names))
        except (KeyError, TypeError):
            unknown = next(place for place, name in enumerate(names) if not self._has(name))
            some = ", ".join(repr(name) for name in self.nodes[:3])
            raise DataError(
                f"item {unknown} of X must be the name of a node, got {names[unknown]!r}; the graph has "
                f"{self.n_nodes} nodes: {some}{', ...' if self.n_nodes > 3 else ''}"
            ) from None

    def _has(self, name: Any) -> bool:
        try:
            return name in self.place_of
        except TypeError:
            return False

    def arcs(self) -> tuple[IndexArray, IndexArray, IndexArray]:
        """(from, to, edge) of each arc: an undirected edge has two, a self loop one."""
        edge = np.arange(self.n_edges)
        if self.directed:
            return self.ends[:, 0], self.ends[:, 1], edge
        back = np.flatnonzero(self.ends[:, 0] != self.ends[:, 1])
        tails, heads = self.ends[:, 0], self.ends[:, 1]
        return np.append(tails, heads[back]), np.append(heads, tails[back]), np.append(edge, back)

    def adjacency(self) -> Sparse:
        """The adjacency matrix in CSR form, with the weights; parallel edges are added up."""
        tails, heads, edge = self.arcs()
        weights = np.ones(len(edge)) if self.weights is None else self.weights[edge]
        return sparse.coo_array((weights, (tails, heads)), shape=(self.n_nodes, self.n_nodes)).tocsr()

    def labeled(self, how: str | Sequence[Any] = "degree") -> "Graph":
        """The same graph with other node labels.

        Parameters
        ----------
        how : "degree", "same" or a sequence
            "degree" labels a node with the number of arcs that leave it, "same" gives all nodes the same label.

        Examples
        --------
        >>> Graph([("a", "b"), ("b", "c")]).labeled("degree").node_labels
        (1, 2, 1)
        """
        if isinstance(how, str) and how == "degree":
            labels = np.bincount(self.arcs()[0], minlength=self.n_nodes).tolist()
        elif isinstance(how, str) and how == "same":
            labels = [0] * self.n_nodes
        else:
            labels = how
        changed = Graph.of_parts(
            0, self.ends, edge_labels=self.edge_labels, weights=self.weights, directed=self.directed
        )
        changed.nodes, changed.node_attributes = self.nodes, self.node_attributes
        changed.edge_attributes = self.edge_attributes
        changed.node_labels = _labels_of_nodes(labels, self.nodes)
        return changed

    def __repr__(self) -> str:
        extras = [
            (self.directed, "directed"),
            (self.node_labels is not None, "node labels"),
            (self.edge_labels is not None, "edge labels"),
            (self.weights is not None, "weights"),
            (self.node_attributes is not None, "node attributes"),
            (self.edge_attributes is not None, "edge attributes"),
        ]
        counts = [_counted(self.n_nodes, "node"), _counted(self.n_edges, "edge")]
        return f"Graph({', '.join(counts + [name for given, name in extras if given])})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (self._plain() == other._plain() and _same_arrays(self, other))

    def __hash__(self) -> int:
        return hash(self._plain())

    def _plain(self) -> tuple[Any, ...]:
        return self.directed, tuple(self.nodes), self.node_labels, self.edge_labels, self.ends.tobytes()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        # It is immutable, and estimators copy their parameters for every fold.
        return self

    def __copy__(self) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Anything that can be recomputed is not sent to other processes.
        return {name: getattr(self, name) for name in ("directed", "nodes", "ends", *_WRITTEN)}


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _same_arrays(first: Graph, second: Graph) -> bool:
    pairs = [(getattr(first, name), getattr(second, name)) for name in _WRITTEN[2:]]
    return all(a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs)


def _names(nodes: Any, edges: Any, node_labels: Any, node_attributes: Any) -> range | tuple[Any, ...]:
    """The names in order; a range if they are the numbers from 0."""
    if nodes is None:
        return _mentioned(edges, node_labels, node_attributes)
    if isinstance(nodes, (int, np.integer)) and not isinstance(nodes, (bool, np.bool_)):
        if nodes < 0:
            raise DataError(f"nodes must be the number of nodes or their names, got {nodes}")
        return range(int(nodes))
    if isinstance(nodes, range) and nodes == range(len(nodes)):
        return nodes
    if isinstance(nodes, (str, bytes)) or not hasattr(nodes, "__iter__"):
        raise DataError(f"nodes must be the number of nodes or their names, got {nodes!r}")
    names = nodes.tolist() if isinstance(nodes, np.ndarray) else list(nodes)
    return range(len(names)) if names == list(range(len(names))) else tuple(names)


def _mentioned(edges: Any, node_labels: Any, node_attributes: Any) -> range | tuple[Any, ...]:
    if isinstance(node_labels, Mapping):
        return _names(list(node_labels), edges, None, None)
    for values in (node_labels, node_attributes):
        if values is not None:
            return range(len(values))
    if isinstance(edges, np.ndarray):
        edges = edges.tolist()
    try:
        return _names(list(dict.fromkeys(chain.from_iterable(edges))), edges, None, None)
    except TypeError as error:
        raise DataError(f"edges must be pairs of node names: {error}") from None


def _labels_of_nodes(labels: Any, nodes: Sequence[Any]) -> tuple[Any, ...] | None:
    if labels is None:
        return None
    if isinstance(labels, Mapping):
        missing = [name for name in nodes if name not in labels]
        if missing:
            raise DataError(f"node_labels must have a label for each node, but has none for {missing[0]!r}")
        unknown = [name for name in labels if name not in set(nodes)]
        if unknown:
            raise DataError(f"node_labels has a label for {unknown[0]!r}, which is not a node")
        return tuple(labels[name] for name in nodes)
    labels = tuple(labels.tolist() if isinstance(labels, np.ndarray) else labels)
    if len(labels) != len(nodes):
        raise DataError(f"node_labels must have a label for each node, got {len(labels)} for {len(nodes)} nodes")
    return labels


def _keys(kind: str, labels: Sequence[Any]) -> KeyArray:
    try:
        return fingerprints(labels)
    except (TypeError, ValueError):
        for label in labels:
            try:
                fingerprints([label])
            except (TypeError, ValueError):
                raise DataError(
                    f"a {kind} label must be a string, a number, None or a tuple of these, got {label!r}"
                ) from None
        raise
