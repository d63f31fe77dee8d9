"""The common part of the two kernels of tree fragments: packed trees and tiles of sums over pairs of nodes."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError
from mercer._jit.threads import run_parallel, thread_count
from mercer._types import Array, BoolArray, FloatArray, IndexArray
from mercer.kernels._types import KeyArray
from mercer.kernels.base.kernel import block_of
from mercer.kernels.base.structured import Packed, StructuredKernel
from mercer.kernels.items.counts import Vocabulary
from mercer.kernels.tree.node_pair_sums import tree_tile

if TYPE_CHECKING:
    from mercer._types import Items
    from mercer.kernels.tree.packed_trees import Nodes

# Seconds that a pair of nodes takes, and that a tile may take.
PAIR_SECONDS, TILE_SECONDS = 3e-9, 0.05


class PackedTrees:
    """Nodes with a code that is equal for matching nodes, sorted by it tree by tree."""

    def __init__(self, nodes: "Nodes", keys: KeyArray, counts_for_something: BoolArray) -> None:
        distinct, codes = np.unique(keys[counts_for_something], return_inverse=True)
        self.vocabulary = Vocabulary(distinct)
        self.codes = np.full(len(keys), -1, np.int64)
        self.codes[counts_for_something] = codes
        tree = np.repeat(np.arange(len(nodes.offsets) - 1), np.diff(nodes.offsets))
        sorted_nodes = np.lexsort((self.codes, tree))
        self.order = sorted_nodes - nodes.offsets[tree]
        self.rank = np.empty(len(keys), np.int64)
        self.rank[sorted_nodes] = np.arange(len(keys)) - nodes.offsets[tree]
        self.n_children, self.size, self.offsets = nodes.n_children, nodes.size, nodes.offsets

    def of(self, index: IndexArray) -> tuple[Array, ...]:
        """The arrays that a compiled function takes for the trees at `index`."""
        return self.codes, self.order, self.n_children, self.size, self.rank, self.offsets, index

    def codes_in(self, other: "PackedTrees") -> IndexArray:
        """The code in `other` of each code here, or -1."""
        places = self.vocabulary.places_in(other.vocabulary)
        return np.where(places < len(other.vocabulary), places, -1).astype(np.int64)


class FragmentKernel(StructuredKernel):
    """A kernel that sums over pairs of matching nodes; subclasses have `packed` and `decays`."""

    if TYPE_CHECKING:

        @property
        def decays(self) -> tuple[float, float, bool]: ...
        def packed(self, items: Items) -> PackedTrees: ...

    item_name = "tree"

    def encode(self, items: list[Any], dtype: DTypeLike) -> Packed:
        arrays = self.packed(items)
        mean = float(np.diff(arrays.offsets).mean()) if len(items) else 0.0
        edge = math.isqrt(int(TILE_SECONDS / max(PAIR_SECONDS * mean**2, 1e-7)))
        return Packed(arrays, np.arange(len(items)), dtype, min(512, max(1, edge)))

    def tile(self, left: Packed, right: Packed, out: Array, row: int, column: int) -> None:
        translation = left.arrays.codes_in(right.arrays)
        tree_tile(
            left.arrays.of(left.index),
            translation,
            right.arrays.of(right.index),
            self.decays,
            left.is_same(right),
            out,
            row,
            column,
        )
        if not np.isfinite(block_of(out, row, column, (len(left), len(right)))).all():
            raise DataError(f"{self!r} overflows on these trees; lower decay, or pass float64")

    def diag_of(self, prepared: Packed) -> FloatArray:
        out = np.empty(len(prepared))

        def fill(i: int) -> None:
            value, tree = np.empty((1, 1)), prepared.slice(i, i + 1)
            self.tile(tree, tree, value, 0, 0)
            out[i] = value[0, 0]

        run_parallel(fill, range(len(prepared)), 1 if prepared.longest_tile == 512 else thread_count(None))
        return out
