"""Objects that can be converted to a graph: networkx graphs, adjacency matrices, and objects with `as_graph`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer.kernels._types import Sparse

REMEDY = "pass a mercer.Graph, a networkx graph, a square adjacency matrix or (adjacency, node labels)"


class FromOthers:
    """Converts other objects to graphs; `Graph` derives from it."""

    if TYPE_CHECKING:

        def __init__(
            self,
            edges: Any = ...,
            nodes: Any = ...,
            *,
            node_labels: Any = ...,
            edge_labels: Any = ...,
            weights: Any = ...,
            node_attributes: Any = ...,
            edge_attributes: Any = ...,
            directed: bool = ...,
        ) -> None: ...

    @classmethod
    def of(cls, item: Any) -> Self:
        """Convert an item to a graph.

        Parameters
        ----------
        item : Graph, networkx graph, square matrix, or pair (square matrix, node labels)
            Or a tree that has its ``labels`` and ``counts`` in preorder, or any object with a method
            ``as_graph()`` that returns a `Graph`.

        Examples
        --------
        >>> from mercer import Graph
        >>> Graph.of(([[0, 1], [1, 0]], ["C", "O"]))
        Graph(2 nodes, 1 edge, node labels)
        """
        if isinstance(item, cls):
            return item
        if hasattr(item, "as_graph"):
            return item.as_graph()
        if hasattr(item, "labels") and hasattr(item, "counts"):
            return cls.from_preorder(item.labels, item.counts)
        if hasattr(item, "nodes") and hasattr(item, "is_directed"):
            return cls.from_networkx(item)
        if isinstance(item, tuple) and len(item) == 2:
            return cls.from_adjacency(item[0], node_labels=item[1])
        if sparse.issparse(item) or (isinstance(item, np.ndarray) and item.ndim == 2):
            return cls.from_adjacency(item)
        raise DataError(f"a graph was expected, got {type(item).__name__}; {REMEDY}")

    @classmethod
    def from_preorder(cls, labels: Sequence[Any], counts: Sequence[int]) -> Self:
        """A tree as a directed graph, from each node to its children.

        Parameters
        ----------
        labels : sequence
            Of the nodes in preorder: parents before children, and each child with its subtree before the next.
        counts : sequence of int
            How many children each node has.

        Examples
        --------
        >>> from mercer import Graph
        >>> Graph.from_preorder(["S", "NP", "VP"], [2, 0, 0])
        Graph(3 nodes, 2 edges, directed, node labels)
        """
        edges, waiting = [], []
        for node, count in enumerate(counts):
            if waiting:
                edges.append((waiting[-1], node))
                waiting.pop()
            elif node:
                raise DataError(f"counts must be those of one tree, but node {node} has no parent")
            waiting.extend([node] * int(count))
        if waiting:
            raise DataError(f"counts must be those of one tree, but {len(waiting)} children are missing")
        return cls(edges, len(labels), node_labels=labels, directed=True)

    @classmethod
    def from_adjacency(
        cls, matrix: Any, *, node_labels: Any = None, node_attributes: Any = None, directed: bool | None = None
    ) -> Self:
        """A graph from a square matrix: an entry other than zero is an edge, and its weight.

        Parameters
        ----------
        matrix : sparse matrix or array of shape (n, n)
            No entry may be negative.
        node_labels, node_attributes : optional
            A label, and a row of numbers, for each node.
        directed : bool, optional
            By default, true if the matrix is not symmetric.

        Examples
        --------
        >>> from mercer import Graph
        >>> Graph.from_adjacency([[0, 1, 1], [1, 0, 0], [1, 0, 0]], node_labels="OHH")
        Graph(3 nodes, 2 edges, node labels)
        """
        matrix = _square(matrix)
        symmetric = (matrix != matrix.T).nnz == 0
        if directed is False and not symmetric:
            raise DataError("the adjacency matrix of an undirected graph must be symmetric; pass directed=True")
        directed = (not symmetric) if directed is None else bool(directed)
        entries = matrix.tocoo()
        kept = np.ones(entries.nnz, bool) if directed else entries.row <= entries.col
        ends = np.column_stack([entries.row[kept], entries.col[kept]])
        return cls(
            ends,
            matrix.shape[0],
            node_labels=node_labels,
            weights=entries.data[kept],
            node_attributes=node_attributes,
            directed=directed,
        )

    @classmethod
    def from_networkx(
        cls,
        source: Any,
        *,
        label: str | None = "label",
        edge_label: str | None = "label",
        weight: str | None = "weight",
        attributes: str | None = None,
        edge_attributes: str | None = None,
    ) -> Self:
        """A graph from a networkx graph of any class.

        Parameters
        ----------
        source : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        label, edge_label, weight : str or None
            The names of the data to use as node labels, edge labels and weights. They are used if
            every node (or edge) has them; it is an error if only some do.
        attributes, edge_attributes : str, optional
            The names of the data to use as the numbers of a node, and of an edge.

        Notes
        -----
        ``Graph.from_networkx(nx.karate_club_graph(), label="club")`` has 34 labelled nodes.
        """
        nodes = list(source.nodes(data=True))
        edges = list(source.edges(data=True))
        return cls(
            [edge[:2] for edge in edges],
            [name for name, _ in nodes],
            node_labels=_collected("node", nodes, label),
            edge_labels=_collected("edge", edges, edge_label),
            weights=_collected("edge", edges, weight),
            node_attributes=_collected("node", nodes, attributes),
            edge_attributes=_collected("edge", edges, edge_attributes),
            directed=source.is_directed(),
        )


def _square(matrix: Any) -> Sparse:
    try:
        matrix = sparse.csr_array(matrix if sparse.issparse(matrix) else np.asarray(matrix, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(f"an adjacency matrix must hold numbers: {error}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"an adjacency matrix must be square, got shape {matrix.shape}")
    if matrix.dtype.kind not in "fiub":
        raise DataError(f"an adjacency matrix must hold real numbers, got dtype {matrix.dtype}")
    # The user's own matrix is not changed.
    matrix = matrix.astype(np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _collected(kind: str, described: list[Any], name: str | None) -> list[Any] | None:
    """The value called `name` of every node or edge; None if none has it."""
    if name is None:
        return None
    has = [name in entry[-1] for entry in described]
    if not any(has):
        return None
    if not all(has):
        without = described[has.index(False)][:-1]
        which = without[0] if len(without) == 1 else without
        raise DataError(f"{kind} {which!r} has no {name!r}, which other {kind}s have; give it to all, or pass None")
    return [entry[-1][name] for entry in described]
