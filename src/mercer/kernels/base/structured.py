"""Kernels of items that are not rows of numbers: texts, trees, graphs, records.

They take one of two forms. In *count form* an item is a bag of features that can be listed
(`CountKernel`): sparse counts, whose inner products the engine computes as it does those of
sparse rows. In *pairwise form* an item is a range of packed arrays (`Packed`), and a
compiled function compares two of them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError
from mercer._types import Array, FloatArray, IndexArray, Items, Rows
from mercer.kernels._types import Features, Prepared
from mercer.kernels.base.kernel import Kernel, block_of, epsilon

if TYPE_CHECKING:
    from mercer.kernels.items.counts import Counts


class StructuredKernel(Kernel):
    """A kernel of items that it reads itself; subclasses are frozen dataclasses.

    A subclass implements ``encode(items, dtype)``, ``tile`` and ``diag_of``.
    """

    # The word for an item in errors.
    item_name = "item"
    takes_items = True
    is_psd = True

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        return self.encode(items_of(X, self.item_name), np.dtype(dtype))

    def encode(self, items: list[Any], dtype: DTypeLike) -> Prepared:
        """The prepared form of a list of items."""
        raise NotImplementedError

    def entry_bound(self, norm_bound: float) -> float:
        return norm_bound

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return epsilon(dtype) * norm_bound


class CountKernel(StructuredKernel):
    """A kernel that is the inner product of feature counts; `encode` returns `Counts`."""

    if TYPE_CHECKING:

        def encode(self, items: list[Any], dtype: DTypeLike) -> Counts: ...

    def tile(self, left: "Counts", right: "Counts", out: Array, row: int, column: int) -> None:
        block_of(out, row, column, (len(left), len(right)))[...] = left.dots(right)

    def diag_of(self, prepared: "Counts") -> FloatArray:
        return prepared.norms

    def feature_map(self, X: Rows) -> Features:
        """The weighted counts as a CSR matrix, one column for each feature that occurs in X.

        The columns depend on X, so map training and test items together.
        """
        return self.encode(items_of(X, self.item_name), np.dtype(np.float64)).to_scipy()

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """A readable name for each column of ``feature_map(X)``; by default, its key."""
        counts = self.encode(items_of(X, self.item_name), np.dtype(np.float64))
        return [f"#{key:016x}" for key in counts.vocabulary.keys.tolist()]


class Packed:
    """Items of different sizes that share arrays; selecting some copies only their positions.

    Parameters
    ----------
    arrays : object
        The input of the kernel's compiled function, as a whole.
    index : ndarray of int
        Which of the items stored in `arrays` these are.
    dtype : float32 or float64
        Of the kernel values.
    longest_tile : int, optional
        How many items a tile may have on a side, if an entry takes long: a tile should
        be done within a tenth of a second, because it cannot be interrupted.
    """

    def __init__(self, arrays: Any, index: IndexArray, dtype: DTypeLike, longest_tile: int | None = None) -> None:
        self.arrays = arrays
        self.index = index
        self.dtype = np.dtype(dtype)
        self.longest_tile = longest_tile

    def __len__(self) -> int:
        return len(self.index)

    def is_same(self, other: "Packed") -> bool:
        """Whether these are the same items in the same order, so that half of a tile is enough."""
        return self.arrays is other.arrays and np.array_equal(self.index, other.index)

    def take(self, indices: IndexArray) -> "Packed":
        """The items at `indices`."""
        return Packed(self.arrays, self.index[indices], self.dtype, self.longest_tile)

    def slice(self, start: int, stop: int) -> "Packed":
        """Items start..stop."""
        return Packed(self.arrays, self.index[start:stop], self.dtype, self.longest_tile)


def items_of(X: Rows, item_name: str) -> list[Any]:
    """The items as a list; a single text, or rows of numbers, is refused."""
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise DataError(f"X must be a sequence of {item_name}s, got one {type(X).__name__}; pass [{item_name}]")
    if sparse.issparse(X):
        raise DataError(f"X must be a sequence of {item_name}s, got a sparse matrix of shape {X.shape}")
    # Iterating over PyArrow's arrays gives its own scalars.
    items = X.to_pylist() if hasattr(X, "to_pylist") else list(X)
    # scikit-learn's tools turn a list of texts into an array of one column.
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
        items = [row[0] for row in np.asarray(X)]
    return items


def require_kind(items: Items, kinds: type | tuple[type, ...], item_name: str, remedy: str) -> None:
    """Refuse a list with an item of another type, and say which."""
    for place, item in enumerate(items):
        if not isinstance(item, kinds):
            raise DataError(f"item {place} of X must be a {item_name}, got {type(item).__name__}; {remedy}")
