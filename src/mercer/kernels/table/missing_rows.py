"""Rows of which some have no value: those that have, prepared, and where they stand."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import BoolArray, IndexArray
from mercer.kernels._types import Prepared


class Present:
    """The prepared form of the rows that have a value, sliced together with the mask.

    Parameters
    ----------
    part : prepared items
        Of the rows where `mask` is true, in their order.
    mask : ndarray of bool
        Which rows have a value.
    """

    if TYPE_CHECKING:
        # None where all rows have a value, which is asked first.
        _rank: IndexArray | Any

    def __init__(self, part: Prepared, mask: BoolArray, dtype: DTypeLike) -> None:
        self.part, self.mask, self.dtype = part, mask, np.dtype(dtype)
        self.is_whole = bool(mask.all())
        # The place among the present rows of each row that is one.
        self._rank = None if self.is_whole else np.concatenate([[0], np.cumsum(mask)])

    def __len__(self) -> int:
        return len(self.mask)

    @property
    def longest_tile(self) -> int | None:
        return getattr(self.part, "longest_tile", None)

    def take(self, indices: IndexArray) -> "Present":
        """The rows at `indices`."""
        indices = np.arange(len(self))[indices]
        mask = self.mask[indices]
        chosen = indices if self.is_whole else self._rank[indices[mask]]
        return Present(self.part.take(chosen), mask, self.dtype)

    def slice(self, start: int, stop: int) -> "Present":
        """Rows start..stop."""
        span = (start, stop) if self.is_whole else (self._rank[start], self._rank[min(stop, len(self))])
        return Present(self.part.slice(*span), self.mask[start:stop], self.dtype)
