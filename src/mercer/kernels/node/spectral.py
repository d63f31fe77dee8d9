"""Kernels that are functions of the Laplacian of a graph: K = r(L), row by row.

A function of a symmetric matrix whose eigenvalues lie in [0, b] is a series of Chebyshev
polynomials of it; applied to a few unit vectors at a time, it takes only products of
the sparse L with them, and its error is what the series leaves out.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Sparse
from mercer.kernels.base.kernel import block_of
from mercer.kernels.base.structured import Packed, StructuredKernel
from mercer.kernels.graph.graph import Graph
from mercer.kernels.node.node_gram_cache import NodeMatrix, matrix_of

LAPLACIANS = ("combinatorial", "normalized")
# Terms below this fraction of the first are rounding errors.
NEGLIGIBLE = 1e-17
MOST_TERMS = 100_000
# Multiplications for rows computed together: a twentieth of a second.
PANEL_STEPS = 5e7


class Laplacian(NamedTuple):
    """A Laplacian in CSR form, with a bound of its eigenvalues."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    bound: float


def symmetric_adjacency(graph: Graph) -> Sparse:
    """(A + A') / 2: for an undirected graph A itself; a link in only one direction counts half."""
    adjacency = graph.adjacency()
    return ((adjacency + adjacency.T) * 0.5).tocsr() if graph.directed else adjacency


def laplacian_of(graph: Graph, kind: str) -> Laplacian:
    """D - A, or I - D^-1/2 A D^-1/2 with zeros for nodes without edges."""
    adjacency = symmetric_adjacency(graph)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    if kind == "normalized":
        scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
        adjacency = sparse.diags_array(scale) @ adjacency @ sparse.diags_array(scale)
        matrix, bound = sparse.diags_array((degrees > 0).astype(float)) - adjacency, 2.0
    else:
        matrix, edges = sparse.diags_array(degrees) - adjacency, adjacency.tocoo()
        # Anderson & Morley 1985.
        bound = float((degrees[edges.row] + degrees[edges.col]).max(initial=0.0))
    matrix = sparse.csr_array(matrix)
    return Laplacian(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data, bound)


@jit
def _step(
    indptr: IndexArray,
    indices: IndexArray,
    data: Array,
    factor: float,
    shift: float,
    X: Array,
    before: Array,
    out: Array,
) -> None:
    """out = factor (L - shift) X - before."""
    vector_loop()
    width = X.shape[1]
    for i in range(X.shape[0]):
        target, own, earlier = out[i], X[i], before[i]
        for j in range(width):
            target[j] = -factor * shift * own[j] - earlier[j]
        for k in range(indptr[i], indptr[i + 1]):
            other, weight = X[indices[k]], factor * data[k]
            for j in range(width):
                target[j] += weight * other[j]


@jit
def _add(total: Array, coefficient: float, term: Array) -> None:
    vector_loop()
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += coefficient * term[i, j]


def rows_of_series(laplacian: Laplacian, coefficients: FloatArray, nodes: IndexArray) -> FloatArray:
    """Rows of sum_k c_k T_k(2 L / bound - 1), for these nodes."""
    indptr, indices, data, bound = laplacian
    arrays, scale, shift = (indptr, indices, data), 2.0 / max(bound, 1e-300), 0.5 * bound
    n, width = len(indptr) - 1, len(nodes)
    before, term = np.zeros((n, width)), np.zeros((n, width))
    term[nodes, np.arange(width)] = 1.0
    total = coefficients[0] * term
    following = np.empty_like(term)
    for k, coefficient in enumerate(coefficients[1:], 1):
        _step(*arrays, scale if k == 1 else 2.0 * scale, shift, term, before, following)
        before, term, following = term, following, before
        _add(total, coefficient, term)
    return total.T


class SpectralNodeKernel(StructuredKernel):
    """K = r(L) over the nodes of one graph; subclasses give the series of r on [0, bound]."""

    if TYPE_CHECKING:
        graph: Graph
        laplacian: str

    item_name = "node"

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", given_graph(self.graph))
        if self.laplacian not in LAPLACIANS:
            raise ParameterError(f'laplacian must be "combinatorial" or "normalized", got {self.laplacian!r}')

    def series(self, bound: float) -> FloatArray:
        """The coefficients of r(bound (x + 1) / 2) in Chebyshev polynomials of x."""
        raise NotImplementedError

    def encode(self, items: list[Any], dtype: DTypeLike) -> Packed:
        name = (type(self).__name__, *[v for k, v in self.get_params(deep=False).items() if k != "graph"])
        matrix = matrix_of(self.graph, name, self._matrix)
        return Packed(matrix, self.graph.places(items), dtype, matrix.width)

    def _matrix(self) -> NodeMatrix:
        laplacian = laplacian_of(self.graph, self.laplacian)
        # Without edges L = 0 and K = I.
        coefficients = self.series(laplacian.bound) if laplacian.bound else np.ones(1)
        steps = len(coefficients) * (len(laplacian.data) + 2 * self.graph.n_nodes)

        def compute(nodes: IndexArray) -> FloatArray:
            return rows_of_series(laplacian, coefficients, nodes)

        return NodeMatrix(compute, self.graph.n_nodes, int(np.clip(PANEL_STEPS / max(1, steps), 8, 128)))

    def tile(self, left: Packed, right: Packed, out: Array, row: int, column: int) -> None:
        block_of(out, row, column, (len(left), len(right)))[...] = left.arrays.block(left.index, right.index)

    def diag_of(self, prepared: Packed) -> FloatArray:
        return prepared.arrays.diagonal(prepared.index)


def given_graph(graph: Any) -> Graph:
    """The graph given to a kernel on nodes."""
    try:
        return Graph.of(graph)
    except DataError as error:
        raise ParameterError(f"graph must be a graph: {error}") from None
