"""The subset tree kernel: fragments made of whole productions (Collins & Duffy 2002)."""

from dataclasses import dataclass

import numpy as np

from mercer._types import Items
from mercer.kernels.tree.decay import require_decay
from mercer.kernels.tree.fragment_kernel import FragmentKernel, PackedTrees
from mercer.kernels.tree.packed_trees import Nodes, productions, require_leaves, trees_of


@dataclass(frozen=True)
class SubsetTree(FragmentKernel):
    """k(x, y) = sum over fragments t of decay^inner(t) n_t(x) n_t(y).

    A fragment is a connected part of a tree in which a node has all its children or none;
    n_t(x) is how often t occurs in x, and inner(t) how many of its nodes have children.

    Parameters
    ----------
    decay : float
        In (0, 1]; values near 1 make the largest common fragment dominate.
    leaves : "lexical", "ignored" or "fragments"
        "lexical": leaves belong to fragments, but a leaf alone is not one. "ignored": leaves are
        dropped first, such as the words of a parse tree. "fragments": a leaf alone counts too,
        with weight `decay`, as in a bag of words.

    Notes
    -----
    Time is proportional to the number of pairs of nodes with the same production (Moschitti 2006), times their
    children; memory is that of a path.

    Examples
    --------
    >>> from mercer.kernels import SubsetTree
    >>> tree = "(NP (DT the) (NN dog))"
    >>> SubsetTree(decay=1.0)([tree], [tree, "(NP (DT the) (NN cat))", "(VP (V barks))"])
    array([[6., 3., 0.]])
    """

    decay: float = 0.4
    leaves: str = "lexical"

    def __post_init__(self) -> None:
        require_decay("decay", self.decay)
        require_leaves(self.leaves)

    @property
    def decays(self) -> tuple[float, float, bool]:
        """The arguments of the compiled sum."""
        return float(self.decay), 1.0, False

    def packed(self, items: Items) -> PackedTrees:
        """Trees whose nodes match if their productions are equal."""
        nodes = Nodes(trees_of(items), self.leaves)
        counted = np.empty(len(nodes.labels), bool)
        keys = productions(nodes.labels, nodes.n_children, nodes.size, counted, self.leaves == "fragments")
        return PackedTrees(nodes, keys, counted)
