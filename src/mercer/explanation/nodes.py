r"""Which nodes of a tree or a graph a decision value comes from.

A kernel of tree fragments is a sum over pairs of nodes, :math:`k(x, t) = \sum_a \sum_b D(a, b)`, in which D
counts the common fragments that begin at a and b, and depends only on what is below them. So the fragments
that begin at node a of x are worth

.. math:: k(x_a, t) - \sum_{c} k(x_c, t),

with :math:`x_a` the complete subtree at a and c the children of a. The Weisfeiler-Lehman kernel is a sum over
nodes and rounds of how often the other graph has the node's neighbourhood. Both sum to k over the nodes of x,
so the contributions add up to :math:`f(x) - b`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer import kernels  # loads its names when first used
from mercer._types import FloatArray, Rows
from mercer.explanation.explanation import Contributions
from mercer.kernels.evaluation import tiles
from mercer.kernels.graph.graph import Graph
from mercer.kernels.tree.tree import Tree

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.graph.weisfeiler_lehman import WeisfeilerLehman

# Each node's subtree is a tree of its own to compare.
MOST_NODES = 1000


def by_node(kernel: "Kernel", factor: float, X: Rows, vectors: Rows, coefficients: FloatArray) -> Contributions | None:
    """Contributions of the nodes of the one item of X; None if the kernel is of another kind.

    `factor` and `coefficients` are as `unwrapped` gives them.
    """
    if isinstance(kernel, (kernels.SubsetTree, kernels.PartialTree)):
        return _nodes_of_tree(kernel, factor, X[0], vectors, coefficients)
    if isinstance(kernel, kernels.WeisfeilerLehman):
        return _nodes_of_graph(kernel, factor, Graph.of(X[0]), vectors, coefficients)
    return None


def _nodes_of_tree(
    kernel: "Kernel", factor: float, tree: Any, vectors: Rows, coefficients: FloatArray
) -> Contributions | None:
    tree = tree if isinstance(tree, Tree) else Tree.parse(tree)
    counts, labels = list(tree.counts), list(tree.labels)
    if not 0 < len(labels) <= MOST_NODES:
        return None
    ends, children = _preorder(counts)
    below = [Tree.from_preorder(labels[k : ends[k]], counts[k : ends[k]]) for k in range(len(labels))]
    others = kernel.prepare(vectors)
    whole = tiles.fill(kernel, kernel.prepare(below), others, np.empty((len(below), len(others)))) @ coefficients
    values = np.array([whole[k] - whole[children[k]].sum(axis=0) for k in range(len(labels))])
    names = [f"{k}: {below[k] if counts[k] and ends[k] - k < 6 else labels[k]}" for k in range(len(labels))]
    return Contributions("node", names, factor * values.T)


def _preorder(counts: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """(where the subtree of each node ends, its children) of a tree given by numbers of children."""
    ends, children = [0] * len(counts), [[] for _ in counts]
    for k in range(len(counts) - 1, -1, -1):
        ends[k] = k + 1
        for _ in range(counts[k]):
            children[k].append(ends[k])
            ends[k] = ends[ends[k]]
    return ends, children


def _nodes_of_graph(
    kernel: "WeisfeilerLehman", factor: float, graph: Graph, vectors: Rows, coefficients: FloatArray
) -> Contributions:
    levels, counts = kernel.neighborhoods([graph, *vectors])
    weights = np.asarray(counts.to_scipy()[1:].T @ coefficients)
    places = np.searchsorted(counts.vocabulary.keys, levels[:, : graph.n_nodes])
    values = factor * weights[places].sum(axis=0)
    labels = graph.node_labels or [""] * graph.n_nodes
    names = [f"{name}: {label}" for name, label in zip(graph.nodes, labels, strict=True)]
    return Contributions("node", names, values.T)
