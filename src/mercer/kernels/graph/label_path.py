"""Label paths: the sequences of labels read along the paths of a graph, counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import KeyArray, Tally
from mercer.kernels.base.parameters import require_count, require_flag, require_non_negative
from mercer.kernels.graph.count_kernel import GraphCountKernel, add, new_table, with_room, written
from mercer.kernels.items.feature_keys import mixed

if TYPE_CHECKING:
    from mercer.kernels.graph.packed_graphs import PackedGraphs


_NO_KEYS = np.empty(0, np.uint64)


class _Arcs(NamedTuple):
    """Packed graphs: the arcs of each node, with their heads and edges, and the keys of nodes and edges."""

    indptr: np.ndarray
    heads: np.ndarray
    edge: np.ndarray
    node_keys: np.ndarray
    edge_keys: np.ndarray


@jit
def _is_on_path(path: IndexArray, depth: int, node: int) -> bool:
    found = False
    for place in range(depth + 1):
        found |= path[place] == node
    return found


@jit
def _count_from(
    start: int,
    graphs: _Arcs,
    weights: Array,
    walks: bool,
    stack: tuple[IndexArray, IndexArray, KeyArray],
    keys: KeyArray,
    counts: Array,
    used: int,
) -> tuple[KeyArray, FloatArray, int]:
    """Count the sequences that begin at `start`, depth first, with a stack of its own: nodes, arcs, names."""
    indptr, heads, edge, node_keys, edge_keys = graphs
    path, arcs, names = stack
    depth = 0
    path[0], arcs[0] = start, indptr[start]
    names[0] = mixed(np.uint64(1), node_keys[start])
    keys, counts = with_room(keys, counts, used + 1)
    used += add(keys, counts, names[0], weights[0])
    while depth >= 0:
        if depth + 1 == weights.shape[0] or arcs[depth] == indptr[path[depth] + 1]:
            depth -= 1
            continue
        arc = arcs[depth]
        arcs[depth] += 1
        node = heads[arc]
        if not walks and _is_on_path(path, depth, node):
            continue
        name = names[depth]
        if edge_keys.shape[0]:
            name = mixed(name, edge_keys[edge[arc]])
        depth += 1
        path[depth], arcs[depth], names[depth] = node, indptr[node], mixed(name, node_keys[node])
        if 2 * used >= keys.shape[0]:
            keys, counts = with_room(keys, counts, used + 1)
        used += add(keys, counts, names[depth], weights[depth])
    return keys, counts, used


@jit
def _tally(offsets: IndexArray, graphs: _Arcs, weights: Array, walks: bool, first: int, last: int) -> Tally:
    ends = np.zeros(last - first, np.int64)
    all_keys, all_counts, filled = np.empty(0, np.uint64), np.empty(0, np.float64), 0
    size = weights.shape[0]
    stack = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.uint64)
    for graph in range(first, last):
        keys, counts = new_table()
        used = 0
        for start in range(offsets[graph], offsets[graph + 1]):
            keys, counts, used = _count_from(start, graphs, weights, walks, stack, keys, counts, used)
        all_keys, all_counts, filled = written(keys, counts, all_keys, all_counts, filled)
        ends[graph - first] = filled
    return ends, all_keys[:filled], all_counts[:filled]


@dataclass(frozen=True)
class LabelPath(GraphCountKernel):
    """Sequences of labels along paths of up to `length` edges, counted and compared.

    A path visits no node twice and is read in the direction of its arcs, so an undirected
    path is read from both ends, and a path in a tree from the root down. A feature is a sequence of
    labels; its value is decay^l times the number of paths of l edges with that sequence.

    Parameters
    ----------
    length : int
        The largest number of edges of a path; a single node is a path of none.
    decay : float
        The weight of each further edge, from 0 (only labels) to 1.
    edge_labels : bool
        Whether the labels of the edges are read too.
    walks : bool
        Whether to count walks, which may return to a node.

    Notes
    -----
    The paths are listed one by one: with d neighbours per node, about d^length from each.

    Examples
    --------
    >>> from mercer import Graph
    >>> from mercer.kernels import LabelPath
    >>> molecule = Graph([(0, 1), (1, 2)], node_labels="CCO")
    >>> kernel = LabelPath(length=2, decay=0.5)
    >>> values = kernel.feature_map([molecule]).toarray()[0].tolist()
    >>> sorted(zip(kernel.feature_names([molecule]), values))
    [('C', 2.0), ('CC', 1.0), ('CCO', 0.25), ('CO', 0.5), ('O', 1.0), ('OC', 0.5), ('OCC', 0.25)]
    """

    length: int = 3
    decay: float = 1.0
    edge_labels: bool = False
    walks: bool = False

    def __post_init__(self) -> None:
        require_count("length", self.length)
        require_non_negative("decay", self.decay)
        if self.decay > 1:
            raise ParameterError(f"decay must be at most 1, got {self.decay!r}")
        for name in ("edge_labels", "walks"):
            require_flag(name, getattr(self, name))

    def tally(self, packed: "PackedGraphs", first: int, last: int) -> Tally:
        edge_keys = packed.edge_keys if self.edge_labels else _NO_KEYS
        graphs = _Arcs(*packed.arcs, packed.node_keys, edge_keys)
        return _tally(packed.offsets, graphs, self._weights, self.walks, first, last)

    @property
    def _weights(self) -> FloatArray:
        """The weight of a path of 0, 1, ... edges; lengths of weight zero are left out."""
        weights = float(self.decay) ** np.arange(self.length + 1)
        return weights[weights > 0]

    def names(self, packed: "PackedGraphs") -> dict[int, str]:
        """Readable names for the features of these graphs, by key."""
        labels = [label for graph in packed.graphs for label in graph.node_labels or ()]
        between = [label for graph in packed.graphs for label in graph.edge_labels or ()] if self.edge_labels else None
        names, waiting = {}, []
        for node, label in enumerate(labels):
            waiting.append(cast(Any, ((node,), _key(np.uint64(1), packed.node_keys[node]), (label,))))
        while waiting:
            path, key, read = waiting.pop()
            names[int(key)] = _spelled(read)
            if len(path) < len(self._weights):
                waiting.extend(self._longer(packed, labels, between, path, key, read))
        return names

    def _longer(
        self,
        packed: "PackedGraphs",
        labels: Sequence[Any],
        between: Sequence[Any] | None,
        path: tuple[int, ...],
        key: np.uint64,
        read: tuple[Any, ...],
    ) -> Iterator[tuple[tuple[int, ...], np.uint64, tuple[Any, ...]]]:
        """The paths with one more edge."""
        indptr, heads, edge = packed.arcs
        for arc in range(indptr[path[-1]], indptr[path[-1] + 1]):
            node = int(heads[arc])
            if self.walks or node not in path:
                step = key if between is None else _key(key, packed.edge_keys[edge[arc]])
                via = () if between is None else (between[edge[arc]],)
                yield (*path, node), _key(step, packed.node_keys[node]), (*read, *via, labels[node])


def _spelled(labels: Sequence[Any]) -> str:
    """The labels joined, with spaces unless they are single letters."""
    words = [str(label) for label in labels]
    return ("" if all(len(word) == 1 for word in words) else " ").join(words)


def _key(key: np.uint64, value: np.uint64) -> np.uint64:
    # Compiled code returns a plain integer, which it would not accept again.
    return np.uint64(mixed(key, value))
