"""The subtree kernel: complete subtrees that two trees have in common (Vishwanathan & Smola 2003)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._types import FloatArray, IndexArray, Rows
from mercer.kernels._types import KeyArray
from mercer.kernels.base.structured import CountKernel, items_of
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_keys import mixed
from mercer.kernels.tree.decay import require_decay
from mercer.kernels.tree.packed_trees import Nodes, require_leaves, trees_of
from mercer.kernels.tree.tree import Tree


@jit
def _subtree_keys(
    labels: KeyArray, n_children: IndexArray, size: IndexArray, keys: KeyArray, inner: IndexArray
) -> None:
    """The key of each complete subtree, and how many of its nodes have children."""
    for node in range(labels.shape[0]):
        key, count = mixed(np.uint64(n_children[node]), labels[node]), n_children[node] > 0
        child = node - 1
        for _ in range(n_children[node]):
            key = mixed(key, keys[child])
            count += inner[child]
            child -= size[child]
        keys[node], inner[node] = key, count


@dataclass(frozen=True)
class Subtree(CountKernel):
    """k(x, y) = sum over trees t of decay^inner(t) n_t(x) n_t(y).

    n_t(x) is how many nodes of x have exactly t below them, down to the leaves; inner(t) is the
    number of nodes of t that have children.

    Parameters
    ----------
    decay : float
        In (0, 1].
    leaves : "lexical", "ignored" or "fragments"
        "lexical": leaves belong to the trees above them, but a leaf alone is not a feature.
        "ignored": leaves are dropped first, such as the words of a parse tree. "fragments":
        a leaf alone is a feature too, of weight `decay`.

    Examples
    --------
    >>> from mercer.kernels import Subtree
    >>> Subtree()(["(S (NP Mary) (VP sings))"], ["(S (NP Mary) (VP dances))"])
    array([[1.]])
    """

    decay: float = 1.0
    leaves: str = "lexical"
    item_name = "tree"

    def __post_init__(self) -> None:
        require_decay("decay", self.decay)
        require_leaves(self.leaves)

    def _occurrences(self, trees: Sequence[Tree]) -> tuple[IndexArray, IndexArray, KeyArray, FloatArray]:
        """(tree, node in preorder of all trees, key, weight) of each subtree that counts."""
        nodes = Nodes(trees, self.leaves)
        keys, inner = np.empty(len(nodes.labels), np.uint64), np.empty(len(nodes.labels), np.int64)
        _subtree_keys(nodes.labels, nodes.n_children, nodes.size, keys, inner)
        tree = np.repeat(np.arange(len(trees)), np.diff(nodes.offsets))
        chosen = np.ones(len(keys), bool) if self.leaves == "fragments" else nodes.n_children > 0
        weight = self.decay ** (0.5 * np.maximum(inner, 1))
        return tree[chosen], nodes.place[chosen], keys[chosen], weight[chosen]

    def encode(self, items: list[Any], dtype: DTypeLike) -> Counts:
        tree, _, key, weight = self._occurrences(trees_of(items))
        return Counts.from_occurrences(tree, key, weight, len(items), dtype)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The subtrees in brackets, in the order of the columns of ``feature_map(X)``."""
        trees = trees_of(items_of(X, self.item_name))
        tree, place, key, _ = self._occurrences(trees)
        begins = np.cumsum([0, *[len(one) for one in trees]])
        first = np.unique(key, return_index=True)[1]
        return [_below(trees[tree[k]], place[k] - begins[tree[k]], self.leaves == "ignored") for k in first]


def _below(tree: Tree, node: int, is_cut: bool) -> str:
    """The subtree at a node in brackets, without its leaves if those are ignored."""
    end, missing = node, 1
    while missing:
        missing += tree.counts[end] - 1
        end += 1
    labels, counts = list(tree.labels[node:end]), list(tree.counts[node:end])
    return str(_without_leaves(labels, counts) if is_cut else Tree.from_preorder(labels, counts))


def _without_leaves(labels: Sequence[str], counts: Sequence[int]) -> Tree:
    """The tree whose nodes are those that have children."""
    kept, left, parents = [list(counts), list(counts), []]
    for node, count in enumerate(counts):
        if parents:
            kept[parents[-1]] -= count == 0
            left[parents[-1]] -= 1
        parents.append(node)
        while parents and left[parents[-1]] == 0:
            parents.pop()
    inner = [node for node, count in enumerate(counts) if count]
    return Tree.from_preorder([labels[node] for node in inner], [kept[node] for node in inner])
