"""Trees as arrays for compiled code: nodes in postorder, so that children come before parents.

In postorder the last child of node v is v - 1, and the child before child c is c - size[c],
where size counts a node and its descendants. Labels, numbers of children and sizes determine the tree.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer._jit.compile import jit
from mercer._types import BoolArray, IndexArray, Items
from mercer.kernels._types import KeyArray
from mercer.kernels.base.progress import unless_stopped
from mercer.kernels.items.feature_keys import fingerprints, mixed
from mercer.kernels.tree.tree import Tree

LEAVES = ("lexical", "ignored", "fragments")


@jit
def _postorder(counts: IndexArray, offsets: IndexArray, order: IndexArray, size: IndexArray, is_cut: BoolArray) -> int:
    """The preorder place and the size of every node, in postorder, tree by tree."""
    waiting = np.empty(counts.shape[0] + 1, np.int64)
    left, begun = np.empty_like(waiting), np.empty_like(waiting)
    emitted = 0
    for tree in range(offsets.shape[0] - 1):
        top = 0
        for node in range(offsets[tree], offsets[tree + 1]):
            waiting[top], left[top], begun[top] = node, counts[node], emitted
            top += 1
            while top > 0 and left[top - 1] == 0:
                top -= 1
                if not is_cut[waiting[top]]:
                    order[emitted] = waiting[top]
                    size[emitted] = emitted - begun[top] + 1
                    emitted += 1
                if top > 0:
                    left[top - 1] -= 1
    return emitted


@jit
def productions(
    labels: KeyArray, n_children: IndexArray, size: IndexArray, kinds: BoolArray, is_leaf_counted: bool
) -> KeyArray:
    """The key of each node's label with those of its children in order.

    `kinds` receives 1 where the node has a production, 0 where it is a leaf that counts for nothing.
    """
    keys = np.empty(labels.shape[0], np.uint64)
    for node in range(labels.shape[0]):
        key = mixed(np.uint64(n_children[node]), labels[node])
        child = node - 1
        for _ in range(n_children[node]):
            key = mixed(key, labels[child])
            child -= size[child]
        keys[node] = key
        kinds[node] = n_children[node] > 0 or is_leaf_counted
    return keys


class Nodes:
    """The nodes of some trees, in postorder.

    Attributes
    ----------
    offsets : ndarray of int64
        Tree i has nodes offsets[i]:offsets[i + 1].
    labels : ndarray of uint64
        Keys.
    n_children, size : ndarray of int64
        Of each node; the size counts it and its descendants.
    place : ndarray of int64
        Of each node in the preorder of all trees.
    """

    def __init__(self, trees: Sequence[Tree], leaves: str = "lexical") -> None:
        preorder = np.concatenate([[0], np.cumsum([len(tree) for tree in trees], dtype=np.int64)]).astype(np.int64)
        counts = np.array([count for tree in trees for count in tree.counts], np.int64)
        keys = fingerprints([label for tree in trees for label in tree.labels])
        is_cut = (counts == 0) if leaves == "ignored" else np.zeros(len(counts), bool)
        order, size = np.empty(len(counts), np.int64), np.empty(len(counts), np.int64)
        count = _postorder(counts, preorder, order, size, is_cut)
        self.place, self.size = order[:count], size[:count]
        self.labels = keys[self.place]
        self.n_children = (counts - _cut_children(counts, preorder, is_cut))[self.place]
        kept = np.concatenate([[0], np.cumsum(~is_cut)])
        self.offsets = kept[preorder].astype(np.int64)


@jit
def _cut_children(counts: IndexArray, offsets: IndexArray, is_cut: BoolArray) -> IndexArray:
    """How many children of each node are cut off."""
    cut = np.zeros(counts.shape[0], np.int64)
    waiting, left = np.empty(counts.shape[0] + 1, np.int64), np.empty(counts.shape[0] + 1, np.int64)
    for tree in range(offsets.shape[0] - 1):
        top = 0
        for node in range(offsets[tree], offsets[tree + 1]):
            if top > 0:
                cut[waiting[top - 1]] += is_cut[node]
                left[top - 1] -= 1
            waiting[top], left[top] = node, counts[node]
            top += 1
            while top > 0 and left[top - 1] == 0:
                top -= 1
    return cut


def require_leaves(leaves: str, allowed: Sequence[str] = LEAVES) -> None:
    """Refuse an unknown treatment of leaves."""
    if leaves not in allowed:
        raise ParameterError(f"leaves must be one of {', '.join(map(repr, allowed))}, got {leaves!r}")


def trees_of(items: Items) -> list[Tree]:
    """The items as trees; texts are parsed as trees in brackets."""
    return [_tree(item, place) for place, item in enumerate(unless_stopped(items))]


def _tree(item: Any, place: int) -> Tree:
    if isinstance(item, Tree):
        return item
    if isinstance(item, str):
        try:
            return Tree.parse(item)
        except DataError as error:
            raise DataError(f"item {place} of X: {error}") from error
    raise DataError(
        f"item {place} of X must be a Tree or a tree in brackets, got {type(item).__name__}; "
        "Tree.parse and mercer.io read trees"
    )
