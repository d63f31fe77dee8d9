"""The graphlet kernel: small induced subgraphs, counted by their shape."""

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer._jit.compile import jit
from mercer._types import Array, IndexArray
from mercer.kernels._types import Tally
from mercer.kernels.base.parameters import require_count, require_flag
from mercer.kernels.graph.count_kernel import GraphCountKernel
from mercer.kernels.graph.graphlet_sampling import canonical_codes, draw_all, draw_connected, list_all, list_connected
from mercer.kernels.items.feature_keys import fingerprint

if TYPE_CHECKING:
    from mercer.kernels.graph.packed_graphs import PackedGraphs

SIZES = (3, 4, 5)
# Subsets of nodes examined one by one in a graph; more would take minutes.
MOST_SUBSETS = 2 * 10**9


@cache
def _shapes(size: int) -> tuple[IndexArray, dict[int, np.uint64]]:
    """For each code, the smallest equivalent one, and the keys of those."""
    codes = canonical_codes(size)
    return codes, {int(code): fingerprint(("graphlet", size, int(code))) for code in np.unique(codes)}


@jit
def _count(
    offsets: IndexArray,
    size: int,
    indptr: IndexArray,
    heads: IndexArray,
    connected: bool,
    samples: int,
    seed: np.uint64,
    first: int,
    last: int,
    counts: Array,
) -> None:
    for graph in range(first, last):
        begin, n, row = offsets[graph], offsets[graph + 1] - offsets[graph], counts[graph - first]
        if n < size:
            continue
        if samples > 0:
            if connected:
                draw_connected(begin, n, size, indptr, heads, samples, seed, row)
            else:
                draw_all(begin, n, size, indptr, heads, samples, seed, row)
        elif connected:
            list_connected(begin, n, size, indptr, heads, row)
        else:
            list_all(begin, n, size, indptr, heads, row)


@dataclass(frozen=True)
class Graphlet(GraphCountKernel):
    """Induced subgraphs of `size` nodes, counted by their shape (Shervashidze et al. 2009).

    Labels, weights, directions, self loops and parallel edges are ignored. A graph with fewer nodes
    has no graphlets: its kernel with every graph is 0.

    Parameters
    ----------
    size : 3, 4 or 5
        Nodes of a graphlet.
    connected : bool
        Whether only connected ones count: 2, 6 and 21 shapes, otherwise 4, 11 and 34.
    samples : int, optional
        Draw this many at random from each graph instead of listing all. The counts are then
        unbiased estimates.
    random_state : int
        Seed; the draws from a graph do not depend on its position.

    Notes
    -----
    Connected graphlets are listed one by one; without `connected`, every subset of nodes is
    examined, n^size / size! of them. ``Graphlet().normalized()`` compares fractions instead of counts.

    Examples
    --------
    >>> from mercer import Graph
    >>> from mercer.kernels import Graphlet
    >>> square = Graph([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> Graphlet(size=3).feature_names([square]), Graphlet(size=3).feature_map([square]).toarray()
    (['3 nodes: 0-1 0-2'], array([[4.]]))
    """

    size: int = 3
    connected: bool = True
    samples: int | None = None
    random_state: int = 0

    _nodes_at_a_time = 500

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or self.size not in SIZES:
            raise ParameterError(f"size must be 3, 4 or 5, got {self.size!r}")
        require_flag("connected", self.connected)
        require_count("random_state", self.random_state)
        if self.samples is not None:
            require_count("samples", self.samples)
            if self.samples == 0:
                raise ParameterError("samples must be 1 or more, or None to list all, got 0")

    def tally(self, packed: "PackedGraphs", first: int, last: int) -> Tally:
        self._require_feasible(packed, first, last)
        codes, keys = _shapes(self.size)
        counts = np.zeros((last - first, len(codes)))
        seed = np.uint64(self.random_state % 2**64)
        _count(
            packed.offsets, self.size, *packed.simple_arcs, self.connected, self.samples or 0, seed, first, last, counts
        )
        shapes = np.zeros((last - first, len(codes)))
        np.add.at(shapes.T, codes, counts.T)
        graph, code = np.nonzero(shapes)
        ends = np.searchsorted(graph, np.arange(last - first), side="right")
        found = np.array([keys[int(one)] for one in code], np.uint64)
        return ends, found, shapes[graph, code]

    def _require_feasible(self, packed: "PackedGraphs", first: int, last: int) -> None:
        if self.connected or self.samples:
            return
        for graph in range(first, last):
            n = packed.graphs[graph].n_nodes
            if comb(n, self.size) > MOST_SUBSETS:
                raise DataError(
                    f"item {graph} of X has {n} nodes and {comb(n, self.size):.1e} subsets of {self.size}; "
                    "pass connected=True, or samples= to draw some"
                )

    def names(self, packed: "PackedGraphs") -> dict[int, str]:
        """Readable names for the features, by key."""
        _, keys = _shapes(self.size)
        return {int(key): f"{self.size} nodes: {_edges(code, self.size)}" for code, key in keys.items()}


def _edges(code: int, size: int) -> str:
    """The edges of a code as text."""
    pairs = [(q, p) for p in range(size) for q in range(p)]
    return " ".join(f"{q}-{p}" for q, p in pairs if code >> (p * (p - 1) // 2 + q) & 1) or "no edges"
