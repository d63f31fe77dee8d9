"""A labelled, ordered tree as a value, stored flat so that ten thousand levels are no problem."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mercer._errors import DataError
from mercer.kernels.tree.bracket_notation import read_one, written


class Tree:
    """A node with a label and, in order, its children, which are trees.

    Parameters
    ----------
    label : str
        The label of the node.
    children : iterable of Tree or str
        A string stands for a leaf with that label.

    Notes
    -----
    Trees are compared and hashed by labels and shape. ``len(tree)`` is the number of nodes;
    the empty tree is ``Tree.parse("")``. Internally a tree is two sequences, the labels
    and the numbers of children in preorder, and nothing here recurses.

    Examples
    --------
    >>> from mercer import Tree
    >>> tree = Tree("S", [Tree("NP", ["Mary"]), Tree("VP", [Tree("V", ["sings"])])])
    >>> print(tree)
    (S (NP Mary) (VP (V sings)))
    >>> tree == Tree.parse("(S (NP Mary) (VP (V sings)))")
    True
    >>> len(tree), tree.depth, [child.label for child in tree.children]
    (6, 4, ['NP', 'VP'])
    """

    if TYPE_CHECKING:
        labels: tuple[str, ...]
        counts: tuple[int, ...]

    __slots__ = ("counts", "labels")

    def __init__(self, label: str, children: "Iterable[Tree | str]" = ()) -> None:
        parts = [Tree(child) if isinstance(child, str) else child for child in children]
        for place, part in enumerate(parts):
            if not isinstance(part, Tree) or not part:
                raise DataError(f"child {place} of {label!r} must be a tree with a node or a label, got {part!r}")
        self._set([label], [len(parts)], parts)

    def _set(self, labels: list[str], counts: list[int], parts: "Sequence[Tree]" = ()) -> None:
        for part in parts:
            labels.extend(part.labels)
            counts.extend(part.counts)
        for label in labels[:1] if parts else labels:
            if not isinstance(label, str):
                raise DataError(f"the label of a node must be a str, got {label!r}; pass str(label)")
        object.__setattr__(self, "labels", tuple(labels))
        object.__setattr__(self, "counts", tuple(counts))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tree cannot be changed; make a new one instead of setting {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Tree.from_preorder, (self.labels, self.counts)

    @classmethod
    def from_preorder(cls, labels: Sequence[str], counts: Iterable[int]) -> Self:
        """A tree from the labels of its nodes and their numbers of children, parents first.

        Examples
        --------
        >>> from mercer import Tree
        >>> print(Tree.from_preorder(["S", "NP", "VP"], [2, 0, 0]))
        (S NP VP)
        """
        counts = [int(count) for count in counts]
        _require_one_tree(len(labels), counts)
        tree = cls.__new__(cls)
        tree._set(list(labels), counts)
        return tree

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a tree in brackets, in the notation of the Penn treebank.

        A node is ``(label child ...)``, a leaf may be written without brackets, and a backslash
        makes a bracket, a blank or a backslash part of a label. A text of blanks is the
        empty tree.

        Examples
        --------
        >>> from mercer import Tree
        >>> Tree.parse("(NP (DT the) (NN dog))").children[1].label
        'NN'
        """
        return cls.from_preorder(*read_one(text))

    @property
    def label(self) -> str:
        """The label of the root."""
        self._require_a_node()
        return self.labels[0]

    @property
    def children(self) -> "tuple[Tree, ...]":
        """The subtrees below the root, in order."""
        self._require_a_node()
        ends = _subtree_ends(self.counts)
        begin, parts = 1, []
        for _ in range(self.counts[0]):
            parts.append(Tree.from_preorder(self.labels[begin : ends[begin]], self.counts[begin : ends[begin]]))
            begin = ends[begin]
        return tuple(parts)

    @property
    def depth(self) -> int:
        """Nodes on the longest path from the root to a leaf."""
        open_nodes, deepest = [], 0
        for count in self.counts:
            deepest = max(deepest, len(open_nodes) + 1)
            open_nodes.append(count)
            while open_nodes and open_nodes[-1] == 0:
                open_nodes.pop()
                if open_nodes:
                    open_nodes[-1] -= 1
        return deepest

    def _require_a_node(self) -> None:
        if not self.labels:
            raise DataError("the empty tree has no label and no children")

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self.labels == other.labels and self.counts == other.counts

    def __hash__(self) -> int:
        return hash((self.labels, self.counts))

    def __str__(self) -> str:
        return written(self.labels, self.counts)

    def __repr__(self) -> str:
        text = str(self)
        return f"Tree.parse({text if len(text) <= 200 else text[:197] + '...'!r})"


def _subtree_ends(counts: Sequence[int]) -> list[int]:
    """For each node in preorder, the position after its last descendant."""
    ends = np.arange(1, len(counts) + 1)
    waiting = []
    for node in range(len(counts) - 1, -1, -1):
        for _ in range(counts[node]):
            ends[node] = ends[waiting.pop()]
        waiting.append(node)
    return ends.tolist()


def _require_one_tree(n_labels: int, counts: Sequence[int]) -> None:
    """Refuse numbers of children that do not form exactly one tree."""
    if n_labels != len(counts):
        raise DataError(f"labels and counts must be of the same length, got {n_labels} and {len(counts)}")
    expected = 1
    for place, count in enumerate(counts):
        if count < 0 or expected == 0:
            raise DataError(f"counts must be the numbers of children in preorder, but node {place} has no parent")
        expected += count - 1
    if counts and expected != 0:
        raise DataError(f"counts must be the numbers of children in preorder, but {expected} children are missing")
