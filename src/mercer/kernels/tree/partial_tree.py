"""The partial tree kernel: fragments whose nodes keep any of their children (Moschitti 2006)."""

from dataclasses import dataclass

import numpy as np

from mercer._types import Items
from mercer.kernels.tree.decay import require_decay
from mercer.kernels.tree.fragment_kernel import FragmentKernel, PackedTrees
from mercer.kernels.tree.packed_trees import Nodes, require_leaves, trees_of


@dataclass(frozen=True)
class PartialTree(FragmentKernel):
    """k(x, y) = sum over nodes a of x, b of y with the same label of D(a, b).

    D(a, b) = height_decay (decay^2 + sum over sequences I of children of a and J of children of
    b, equally long, of decay^(span(I) + span(J)) times the product of D over their pairs), where
    the span of a sequence counts from its first child to its last, including those left out.

    Parameters
    ----------
    decay : float
        In (0, 1]: the weight of each child, and of each gap between children.
    height_decay : float
        In (0, 1]: the weight of each level of a fragment.
    leaves : "lexical" or "ignored"
        "ignored" first drops the leaves, such as the words of a parse tree.

    Examples
    --------
    >>> from mercer.kernels import PartialTree
    >>> k = PartialTree(decay=1.0, height_decay=1.0)
    >>> k(["(NP DT NN)"], ["(NP DT NN)", "(NP DT JJ NN)", "(NN)"])
    array([[6., 6., 1.]])
    """

    decay: float = 0.4
    height_decay: float = 0.4
    leaves: str = "lexical"

    def __post_init__(self) -> None:
        require_decay("decay", self.decay)
        require_decay("height_decay", self.height_decay)
        require_leaves(self.leaves, ("lexical", "ignored"))

    @property
    def decays(self) -> tuple[float, float, bool]:
        """The arguments of the compiled sum."""
        return float(self.decay), float(self.height_decay), True

    def packed(self, items: Items) -> PackedTrees:
        """Trees whose nodes match if their labels are equal."""
        nodes = Nodes(trees_of(items), self.leaves)
        return PackedTrees(nodes, nodes.labels, np.ones(len(nodes.labels), bool))
