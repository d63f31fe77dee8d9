"""Blocks whose rows are turned into features as they are read."""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import Array
from mercer.io.blocks.stack import Room

if TYPE_CHECKING:
    from mercer.io.blocks.blocks import Blocks


class FeatureMap(Protocol):
    """Turns the rows of a block into features: columns of a table, or kernel values with landmarks.

    It must be small and picklable, since it is sent to where the blocks are read.
    """

    @property
    def n_features_out_(self) -> int:
        """Number of features."""
        ...

    # Whether features come as CSR matrices.
    is_sparse_: bool

    def of_block(self, blocks: "Blocks", i: int, dtype: DTypeLike, room: Room | None = None) -> Any:
        """The features of block i: a C-contiguous array of `dtype`, in `room` if given, or a CSR matrix."""
        ...


class MappedRows:
    """The reader of blocks with a map in front: a `MatrixReader`."""

    def __init__(self, blocks: "Blocks", feature_map: FeatureMap) -> None:
        self.blocks, self.feature_map = blocks, feature_map
        self.sizes, self.n_bytes, self.has_targets = blocks.sizes, blocks.n_bytes, blocks.has_targets
        self.n_features, self.is_sparse = feature_map.n_features_out_, feature_map.is_sparse_

    def matrix(self, i: int, dtype: DTypeLike = np.float64, room: Room | None = None) -> Any:
        return self.feature_map.of_block(self.blocks, i, dtype, room)

    def targets(self, i: int) -> tuple[Array | None, Array | None]:
        return self.blocks.targets(i)

    def place(self, i: int, row: int | None = None) -> str:
        return self.blocks.place(i, row)
