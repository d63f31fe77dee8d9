"""The geometric random-walk kernel: walks that two graphs have in common, of every length."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csgraph

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer._types import Array, BoolArray, FloatArray, IndexArray, Rows
from mercer.kernels._types import Prepared
from mercer.kernels.base.kernel import Kernel, require_same_features
from mercer.kernels.base.parameters import require_flag, require_non_negative
from mercer.kernels.base.structured import Packed, StructuredKernel, items_of
from mercer.kernels.graph import product_graph as product
from mercer.kernels.graph.packed_graphs import PackedGraphs, graphs_of

# Steps that a tile may take, so that it is done within a tenth of a second.
TILE_STEPS = 5e7
_NO_KEYS, _NOT_COMPARED = np.empty(0, np.uint64), np.empty((0, 0))


class Walks(NamedTuple):
    """Packed graphs as the compiled functions read them."""

    arrays: tuple  # offsets, node keys, indptr, heads, arc keys, arc weights, edges of the arcs
    edge_offsets: np.ndarray
    edges: object  # as the kernel of their attributes prepares them, or None
    directed: np.ndarray
    largest: float  # eigenvalue of the product of a graph with itself, over all graphs
    spectra: tuple | None  # eigenvalues and (1'v)^2 of each undirected graph, if labels do not count


class Side(NamedTuple):
    """The graphs of one side of a tile.

    Attributes
    ----------
    index : ndarray (n,)
        Which of the packed graphs they are.
    arrays : tuple
        As in `Walks`.
    directed : ndarray of bool
    begins : ndarray (n,)
        Which edge of each is in the first row, or column, of the kernel of their edges.
    """

    index: np.ndarray
    arrays: tuple
    directed: np.ndarray
    begins: np.ndarray


@jit
def _tile_of_products(
    rows: tuple[Any, ...],
    columns: tuple[Any, ...],
    likeness: Array,
    decay: float,
    slack: float,
    out: Array,
    row: int,
    column: int,
) -> None:
    left, first, directed, begins = rows
    right, second, other_directed, other_begins = columns
    for i in range(left.shape[0]):
        n = first[0][left[i] + 1] - first[0][left[i]]
        for j in range(right.shape[0]):
            m = second[0][right[j] + 1] - second[0][right[j]]
            indptr, heads, weights = product.product_graph(
                left[i], right[j], n, m, first, second, likeness, (begins[i], other_begins[j])
            )
            if directed[left[i]] or other_directed[right[j]]:
                value = product.geometric_series(indptr, heads, weights, decay, slack)
            else:
                value = product.geometric_sum(indptr, heads, weights, decay)
            out[row + i, column + j] = value


@jit
def _tile_of_spectra(
    left: IndexArray,
    first: tuple[Array, ...],
    right: IndexArray,
    second: tuple[Array, ...],
    decay: float,
    out: Array,
    row: int,
    column: int,
) -> None:
    """Sum over pairs of eigenvalues of (1'v)^2 (1'w)^2 / (1 - decay mu nu)."""
    offsets, values, squares = first
    other_offsets, other_values, other_squares = second
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            begin, end = other_offsets[right[j]], other_offsets[right[j] + 1]
            nu, other_square = other_values[begin:end], other_squares[begin:end]
            total = 0.0
            for a in range(offsets[left[i]], offsets[left[i] + 1]):
                scale, part = decay * values[a], 0.0
                for b in range(nu.shape[0]):
                    part += other_square[b] / (1.0 - scale * nu[b])
                total += squares[a] * part
            out[row + i, column + j] = total


@dataclass(frozen=True)
class RandomWalk(StructuredKernel):
    """k(G, G') = sum over walks in both graphs at once of decay^length.

    A walk in both graphs passes through nodes with equal labels; there is one of length 0 for
    each pair of matching nodes (Gartner, Flach & Wrobel 2003). The kernel is 1'(I - decay A)^-1 1 with A the
    adjacency matrix of the direct product graph. The sum is finite only if decay is below 1 over
    the largest eigenvalue of A; otherwise the error gives the largest decay allowed.

    Parameters
    ----------
    decay : float
        The weight of each further edge.
    labeled : bool
        Whether nodes must have equal labels; with False, graphs need no labels.
    edge_labels : bool
        Whether edges must have equal labels.
    weighted : bool
        Whether a walk is weighted by the product of the weights of its edges.
    edge_attributes : Kernel, optional
        A kernel of vectors without negative values, such as `RBF`: a walk is weighted by the product of the kernel
        values of the attributes of the edges it takes in the two graphs.

    Notes
    -----
    It is enough that the sum converges for each graph with itself: k(G, G')^2 <= k(G, G) k(G', G'). For
    directed graphs, the square of the largest eigenvalue of a graph is used as a bound on that of the product.
    Undirected graphs without labels are compared by their spectra, others by
    conjugate gradients on the product graph (Vishwanathan et al. 2010). An empty graph has no walks:
    its kernel with every graph is 0.

    Examples
    --------
    >>> from mercer import Graph
    >>> from mercer.kernels import RandomWalk
    >>> pair, triangle = Graph([(0, 1)]), Graph([(0, 1), (1, 2), (2, 0)])
    >>> RandomWalk(decay=0.1, labeled=False)([pair, triangle])
    array([[ 4.44444444,  7.5       ],
           [ 7.5       , 15.        ]])
    >>> RandomWalk(decay=0.3, labeled=False)([pair, triangle])
    Traceback (most recent call last):
        ...
    mercer._errors.ParameterError: decay must be below 0.25 for these graphs, got 0.3: ...
    """

    decay: float = 0.1
    labeled: bool = True
    edge_labels: bool = False
    weighted: bool = False
    edge_attributes: Kernel | None = None

    item_name = "graph"
    _instead_of_features = "LabelPath(walks=True) has one"

    def __post_init__(self) -> None:
        require_non_negative("decay", self.decay)
        for name in ("labeled", "edge_labels", "weighted"):
            require_flag(name, getattr(self, name))
        kernel = self.edge_attributes
        if kernel is not None and (not isinstance(kernel, Kernel) or kernel.takes_items):
            raise ParameterError(f"edge_attributes must be a kernel of vectors or None, got {kernel!r}")

    @property
    def is_psd(self) -> bool | None:
        return True if self.edge_attributes is None else self.edge_attributes.is_psd

    @property
    def is_bound(self) -> bool:
        return self.edge_attributes is None or self.edge_attributes.is_bound

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        """The kernel, with its `edge_attributes` kernel bound to the edges of X."""
        if self.is_bound:
            return self
        packed = PackedGraphs(graphs_of(items_of(X, self.item_name)), "RandomWalk")
        return self.replace(edge_attributes=cast(Kernel, self.edge_attributes).bind(packed.edge_attributes))

    def encode(self, items: list[Any], dtype: DTypeLike) -> Packed:
        self._require_bound()
        packed = PackedGraphs(graphs_of(items), "RandomWalk")
        edges = None
        if self.edge_attributes is not None:
            edges = self.edge_attributes.prepare(packed.edge_attributes, np.float64)
        node_keys = packed.node_keys if self.labeled else _NO_KEYS
        arc_keys = packed.edge_keys[packed.edge] if self.edge_labels else _NO_KEYS
        weights = packed.weights[packed.edge] if self.weighted else np.ones(len(packed.edge))
        arrays = (packed.offsets, node_keys, packed.indptr, packed.heads, arc_keys, weights, packed.edge)
        directed = np.array([graph.directed for graph in packed.graphs], bool)
        # With labels, the product is smaller than the spectra suggest.
        by_spectra = not (self.labeled or self.edge_labels or directed.any() or edges is not None)
        spectra = _spectra(packed, weights) if by_spectra else None
        largest = self._largest_eigenvalues(packed, arrays, directed, spectra, edges)
        self._require_convergence(largest)
        walks = Walks(arrays, packed.edge_offsets, edges, directed, float(largest.max(initial=0.0)), spectra)
        return Packed(walks, np.arange(len(packed)), dtype, _tile_length(packed, by_spectra))

    def _require_convergence(self, largest: FloatArray) -> None:
        if len(largest) and self.decay * largest.max() >= 1.0:
            allowed, item = 1.0 / largest.max(), int(largest.argmax())
            raise ParameterError(
                f"decay must be below {allowed:.6g} for these graphs, got {self.decay}: the sum over all walks "
                f"would be infinite, as the product of item {item} with itself has the eigenvalue {largest.max():.6g}"
            )

    def tile(self, left: Packed, right: Packed, out: Array, row: int, column: int) -> None:
        first, second = left.arrays, right.arrays
        if first.spectra is not None and second.spectra is not None:
            _tile_of_spectra(left.index, first.spectra, right.index, second.spectra, self.decay, out, row, column)
            return
        slack = 1.0 - self.decay * max(first.largest, second.largest)
        likeness, *begins = self._likeness(left, right)
        sides = [
            Side(side.index, side.arrays.arrays, side.arrays.directed, begin)
            for side, begin in zip((left, right), begins, strict=True)
        ]
        _tile_of_products(*sides, likeness, float(self.decay), slack, out, row, column)

    def _likeness(self, left: Packed, right: Packed) -> tuple[FloatArray, IndexArray, IndexArray]:
        """(kernel of the edges of two tiles, the edge in the first row, or column, for each graph)."""
        if self.edge_attributes is None:
            return _NOT_COMPARED, np.zeros(len(left), np.int64), np.zeros(len(right), np.int64)
        (edges, begins), (others, other_begins) = _edges_of(left), _edges_of(right)
        K = np.empty((len(edges), len(others)))
        # Graphs without edges do not show how many attributes they would have.
        if K.size:
            rows, columns = left.arrays.edges.take(edges), right.arrays.edges.take(others)
            require_same_features(rows, columns)
            self.edge_attributes.tile(rows, columns, K, 0, 0)
            if K.min() < 0:
                raise ParameterError(
                    f"edge_attributes must be a kernel without negative values, got {K.min():.6g} from "
                    f"{self.edge_attributes!r}; RBF has none"
                )
        return K, begins, other_begins

    def _largest_eigenvalues(
        self,
        packed: PackedGraphs,
        arrays: tuple[Array, ...],
        directed: BoolArray,
        spectra: tuple[Array, ...] | None,
        edges: Prepared | None,
    ) -> FloatArray:
        """Of the product of each graph with itself; for directed graphs an upper bound."""
        largest = np.zeros(len(packed))
        walks = Packed(Walks(arrays, packed.edge_offsets, edges, directed, 0.0, None), np.arange(len(packed)), float)
        for graph, n in enumerate(np.diff(packed.offsets).tolist()):
            if n == 0:
                continue
            item = walks.slice(graph, graph + 1)
            K, begins, others = self._likeness(item, item)
            if spectra is not None:
                largest[graph] = np.abs(spectra[1][packed.offsets[graph] : packed.offsets[graph + 1]]).max() ** 2
            elif directed[graph]:
                # No pair of edges counts more than the most similar one.
                most = K.max(initial=0.0) if self.edge_attributes is not None else 1.0
                largest[graph] = most * _perron_root(_adjacency(packed, arrays[5], graph)) ** 2
            else:
                found = product.product_graph(graph, graph, n, n, arrays, arrays, K, (begins[0], others[0]))
                largest[graph] = product.largest_eigenvalue(*found)
        return largest

    def diag_of(self, prepared: Packed) -> FloatArray:
        values = np.empty((len(prepared), 1))
        for place in range(len(prepared)):
            item = prepared.slice(place, place + 1)
            self.tile(item, item, values, place, 0)
        return values[:, 0]


def _edges_of(items: Packed) -> tuple[IndexArray, IndexArray]:
    """The positions of the edges of some graphs, and the position at which each graph starts."""
    begin, stop = items.arrays.edge_offsets[items.index], items.arrays.edge_offsets[items.index + 1]
    before = np.concatenate([[0], np.cumsum(stop - begin)])
    return np.arange(before[-1]) + np.repeat(begin - before[:-1], stop - begin), begin - before[:-1]


def _tile_length(packed: PackedGraphs, by_spectra: bool) -> int | None:
    if len(packed) == 0:
        return None
    arcs = np.add.reduceat(np.append(np.diff(packed.indptr), 0), packed.offsets[:-1]) if packed.n_nodes else np.zeros(1)
    sizes = np.diff(packed.offsets).astype(float)
    # About twenty passes over the product's arcs, and as much again to list them.
    steps = np.mean(sizes**2) if by_spectra else np.mean(sizes**2) + 30.0 * np.mean(arcs.astype(float) ** 2)
    return int(np.clip(np.sqrt(TILE_STEPS / max(steps, 1.0)), 1, 128))


def _adjacency(packed: PackedGraphs, weights: FloatArray, graph: int) -> FloatArray:
    """The dense adjacency matrix of one graph."""
    begin, end = packed.offsets[graph : graph + 2]
    matrix = np.zeros((end - begin, end - begin))
    arcs = slice(packed.indptr[begin], packed.indptr[end])
    tails = np.repeat(np.arange(end - begin), np.diff(packed.indptr[begin : end + 1]))
    np.add.at(matrix, (tails, packed.heads[arcs] - begin), weights[arcs])
    return matrix


def _spectra(packed: PackedGraphs, weights: FloatArray) -> tuple[IndexArray, FloatArray, FloatArray]:
    """(offsets, eigenvalues, (1'v)^2 of the eigenvectors) of undirected graphs."""
    values, squares = np.empty(packed.n_nodes), np.empty(packed.n_nodes)
    for graph in range(len(packed)):
        inside = slice(*packed.offsets[graph : graph + 2])
        values[inside], vectors = np.linalg.eigh(_adjacency(packed, weights, graph))
        squares[inside] = vectors.sum(axis=0) ** 2
    return packed.offsets, values, squares


def _perron_root(matrix: FloatArray) -> float:
    """The largest eigenvalue of a nonnegative matrix, component by component: those of
    a matrix without cycles are all zero, which a general method would miss by far."""
    _, component = csgraph.connected_components(matrix, connection="strong")
    largest = 0.0
    for number in range(component.max() + 1):
        inside = np.flatnonzero(component == number)
        block = matrix[np.ix_(inside, inside)]
        largest = max(largest, float(np.abs(np.linalg.eigvals(block)).max()))
    return largest
