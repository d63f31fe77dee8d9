"""Co-citation and bibliographic coupling: nodes with common predecessors, or common successors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import ParameterError
from mercer._types import Rows
from mercer.kernels._types import Features
from mercer.kernels.base.parameters import require_flag
from mercer.kernels.base.structured import CountKernel, items_of
from mercer.kernels.graph.graph import Graph
from mercer.kernels.items.counts import Counts, Vocabulary
from mercer.kernels.items.sparse_rows import SparseRows
from mercer.kernels.node.node_gram_cache import matrix_of
from mercer.kernels.node.spectral import given_graph

LINKS = ("in", "out", "both")


@dataclass(frozen=True)
class CoCitation(CountKernel):
    """k(u, v) = number of nodes that link to both u and v, or that both link to.

    With A the adjacency matrix, A'A is co-citation (Small 1973), A A' bibliographic coupling (Kessler
    1963). The items are nodes of the graph, by name. Links count with their weights.

    Parameters
    ----------
    graph : Graph
        Or an object that can be converted; see `mercer.Graph.of`. If it is undirected, both kinds are the same.
    links : "in", "out" or "both"
        "in": the links that lead to a node are its features (co-citation). "out": those that leave
        it (bibliographic coupling). "both": the sum of the two kernels.
    self_links : bool
        Whether every node also links to itself, so that a link from u to v makes the two alike.

    Examples
    --------
    >>> from mercer import Graph
    >>> from mercer.kernels import CoCitation
    >>> web = Graph([("x", "a"), ("x", "b"), ("y", "a"), ("y", "b"), ("z", "b")], directed=True)
    >>> CoCitation(web)(["a", "b", "x"])
    array([[2., 2., 0.],
           [2., 3., 0.],
           [0., 0., 0.]])
    >>> CoCitation(web, links="out")(["x", "y", "z"])
    array([[2., 2., 1.],
           [2., 2., 1.],
           [1., 1., 1.]])
    """

    graph: Graph
    links: str = "in"
    self_links: bool = False

    item_name = "node"

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", given_graph(self.graph))
        if self.links not in LINKS:
            raise ParameterError(f'links must be "in", "out" or "both", got {self.links!r}')
        require_flag("self_links", self.self_links)

    def encode(self, items: list[Any], dtype: DTypeLike) -> Counts:
        rows, vocabulary = matrix_of(self.graph, ("CoCitation", self.links, self.self_links), self._features)
        chosen = rows.take(self.graph.places(items))
        return Counts(SparseRows(chosen.indptr, chosen.indices, chosen.data.astype(dtype), len(vocabulary)), vocabulary)

    def _features(self) -> tuple[SparseRows, Vocabulary]:
        """The features of every node: a column for each node that may link to it or be linked from it."""
        out = self.graph.adjacency()
        if self.self_links:
            out = out + sparse.eye_array(self.graph.n_nodes)
        parts = {"in": [out.T], "out": [out], "both": [out.T, out]}[self.links]
        matrix = sparse.csr_array(sparse.hstack(parts))
        matrix.sort_indices()
        rows = SparseRows(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])
        return rows, Vocabulary(np.arange(matrix.shape[1], dtype=np.uint64))

    def feature_map(self, X: Rows) -> Features:
        """The weights of the links as a CSR matrix, one column for each node (for "both", two)."""
        return super().feature_map(X)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """Readable names for the columns of ``feature_map(X)``."""
        self.graph.places(items_of(X, self.item_name))
        into, out = ([f"link {way} {name}" for name in self.graph.nodes] for way in ("from", "to"))
        return {"in": into, "out": out, "both": into + out}[self.links]
