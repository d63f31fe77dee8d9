"""Items as bags of features: sparse counts whose columns are named by 64-bit keys.

Items prepared together share one `Vocabulary`. Items prepared at different times (training
and test texts) have different ones, and the left-hand side is translated: a feature that the
right-hand side does not have adds nothing to an inner product, though it does to a norm.
"""

import weakref
from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.once import computed_once
from mercer._jit.scratch import scratch
from mercer._types import Array, ArrayLike, FloatArray, IndexArray
from mercer.kernels._types import KeyArray, Sparse, Tally
from mercer.kernels.items.feature_index import entries_in_order, numbered
from mercer.kernels.items.inverted_index import Inverted
from mercer.kernels.items.sparse_rows import SparseRows


class Vocabulary:
    """The features that occur among some items, as sorted keys."""

    def __init__(self, keys: KeyArray) -> None:
        self.keys = keys
        self._places = weakref.WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self.keys)

    def places_in(self, other: "Vocabulary") -> IndexArray:
        """The position of each of these features in `other`; len(other) for those it does not have."""
        if other not in self._places:
            places = np.searchsorted(other.keys, self.keys)
            found = places < len(other)
            found[found] = other.keys[places[found]] == self.keys[found]
            self._places[other] = np.where(found, places, len(other)).astype(np.int32)
        return self._places[other]

    def __getstate__(self) -> dict[str, Any]:
        return {"keys": self.keys}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.keys = state["keys"]
        self._places = weakref.WeakKeyDictionary()


class Counts:
    """Weighted feature counts of items.

    Parameters
    ----------
    rows : SparseRows
        Their columns are positions in `vocabulary`.
    vocabulary : Vocabulary
    """

    def __init__(self, rows: SparseRows, vocabulary: Vocabulary, norms: FloatArray | None = None) -> None:
        self.rows = rows
        self.vocabulary = vocabulary
        if norms is not None:
            self.norms = norms

    @classmethod
    def from_occurrences(
        cls, item: IndexArray, key: KeyArray, weight: ArrayLike, n_items: int, dtype: DTypeLike
    ) -> Self:
        """From one entry per occurrence: its item, its feature's key (uint64), and its weight.

        Weights of the same feature in the same item are added up.
        """
        return cls._of_entries(np.asarray(item), key, np.asarray(weight, np.float64), n_items, dtype)

    @classmethod
    def from_tallies(cls, indptr: IndexArray, key: KeyArray, count: FloatArray, dtype: DTypeLike) -> Self:
        """From the distinct features of each item: those of item i are indptr[i] to indptr[i + 1]."""
        item = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
        return cls._of_entries(item, key, count, len(indptr) - 1, dtype)

    @classmethod
    def joined(cls, parts: Sequence[Tally], dtype: DTypeLike) -> Self:
        """From tallies (ends, keys, counts) of consecutive items, where `ends` says where those of each end."""
        lengths = np.concatenate([[0], *[np.diff(ends, prepend=0) for ends, _, _ in parts]])
        keys = np.concatenate([np.empty(0, np.uint64), *[keys for _, keys, _ in parts]])
        counts = np.concatenate([np.empty(0), *[counts for _, _, counts in parts]])
        return cls.from_tallies(np.cumsum(lengths), keys, counts, dtype)

    @classmethod
    def _of_entries(cls, item: IndexArray, key: KeyArray, weight: FloatArray, n_items: int, dtype: DTypeLike) -> Self:
        keys, column = numbered(key)
        index = np.int32 if max(len(key), len(keys)) < np.iinfo(np.int32).max else np.int64
        indptr = np.zeros(n_items + 1, index)
        columns, data = np.empty(len(key), index), np.empty(len(key), dtype)
        weight = np.array(np.broadcast_to(weight, key.shape), np.float64)
        n_entries = entries_in_order(np.asarray(item, np.int32), column, weight, len(keys), indptr, columns, data)
        return cls(
            SparseRows(cast(IndexArray, indptr), cast(IndexArray, columns[:n_entries]), data[:n_entries], len(keys)),
            Vocabulary(keys),
        )

    @computed_once
    def norms(self) -> FloatArray:
        """Squared norms: k(x, x) of an inner product of counts."""
        return self.rows.squared_norms()

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.rows.dtype

    def __len__(self) -> int:
        return self.rows.shape[0]

    def take(self, indices: IndexArray) -> "Counts":
        """The items at `indices`, copied; the vocabulary stays that of all."""
        return Counts(self.rows.take(indices), self.vocabulary, self.norms[indices])

    def slice(self, start: int, stop: int) -> "Counts":
        """Items start..stop, without a copy."""
        return Counts(self.rows.slice(start, stop), self.vocabulary, self.norms[start:stop])

    def dots(self, right: "Counts") -> Array:
        """Inner products with the items of `right`, in a buffer that the next call reuses."""
        tile = scratch("dots of counts", (len(self), len(right)), self.dtype)
        return right.inverted.products(self._in_terms_of(right.vocabulary), tile)

    @computed_once
    def inverted(self) -> Inverted:
        """Which items have a feature, for every feature."""
        return Inverted(self.rows)

    def _in_terms_of(self, vocabulary: Vocabulary) -> SparseRows:
        if vocabulary is self.vocabulary:
            return self.rows
        rows, places = self.rows, self.vocabulary.places_in(vocabulary)
        begin, end = rows.indptr[0], rows.indptr[-1]
        return SparseRows(rows.indptr - begin, places[rows.indices[begin:end]], rows.data[begin:end], len(vocabulary))

    def to_scipy(self) -> Sparse:
        """The counts as a CSR matrix; column j is the feature with key ``vocabulary.keys[j]``."""
        return self.rows.to_scipy()
