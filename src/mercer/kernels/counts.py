"""Items as bags of features: sparse counts whose columns are named by 64-bit keys.

Items prepared together share one `Vocabulary`. Items prepared at different times (training
and test texts) have different ones, and the left-hand side is translated: a feature that the
right-hand side does not have adds nothing to an inner product, though it does to a norm.
"""

import weakref

import numpy as np
from scipy import sparse

from mercer.kernels.forms import SparseRows, computed_once


class Vocabulary:
    """The features that occur among some items, as sorted keys."""

    def __init__(self, keys):
        self.keys = keys
        self._places = weakref.WeakKeyDictionary()

    def __len__(self):
        return len(self.keys)

    def places_in(self, other):
        """Where each of these features stands in `other`; len(other) for those it does not have."""
        if other not in self._places:
            places = np.searchsorted(other.keys, self.keys)
            found = places < len(other)
            found[found] = other.keys[places[found]] == self.keys[found]
            self._places[other] = np.where(found, places, len(other)).astype(np.int32)
        return self._places[other]

    def __getstate__(self):
        return {"keys": self.keys, "_places": weakref.WeakKeyDictionary()}


class Counts:
    """Weighted feature counts of items.

    Parameters
    ----------
    rows : SparseRows
        Their columns are positions in `vocabulary`.
    vocabulary : Vocabulary
    """

    def __init__(self, rows, vocabulary, norms=None):
        self.rows = rows
        self.vocabulary = vocabulary
        if norms is not None:
            self.norms = norms

    @classmethod
    def from_occurrences(cls, item, key, weight, n_items, dtype):
        """From one entry an occurrence: its item, its feature's key (uint64), and its weight.

        Weights of the same feature in the same item are added up.
        """
        keys, column = np.unique(key, return_inverse=True)
        weight = np.broadcast_to(np.asarray(weight, dtype), column.shape)
        matrix = sparse.coo_array((weight, (item, column)), shape=(n_items, len(keys))).tocsr()
        matrix.sum_duplicates()
        return cls(_rows_of(matrix), Vocabulary(keys))

    @classmethod
    def from_tallies(cls, indptr, key, count, dtype):
        """From the different features of each item: those of item i are indptr[i] to indptr[i + 1]."""
        keys, column = np.unique(key, return_inverse=True)
        arrays = (count.astype(dtype), column, indptr)
        matrix = sparse.csr_array(arrays, shape=(len(indptr) - 1, len(keys)))
        matrix.sort_indices()
        return cls(_rows_of(matrix), Vocabulary(keys))

    @computed_once
    def norms(self):
        """Squared norms: k(x, x) of an inner product of counts."""
        return self.rows.squared_norms()

    @property
    def dtype(self):
        return self.rows.dtype

    def __len__(self):
        return self.rows.shape[0]

    def take(self, indices):
        """The items at `indices`, copied; the vocabulary stays that of all."""
        return Counts(self.rows.take(indices), self.vocabulary, self.norms[indices])

    def slice(self, start, stop):
        """Items start..stop, without a copy."""
        return Counts(self.rows.slice(start, stop), self.vocabulary, self.norms[start:stop])

    def dots(self, right):
        """Inner products with the items of `right`, in a buffer that the next call uses again."""
        return self._in_terms_of(right.vocabulary).dots(right.rows)

    def _in_terms_of(self, vocabulary):
        if vocabulary is self.vocabulary:
            return self.rows
        rows, places = self.rows, self.vocabulary.places_in(vocabulary)
        begin, end = rows.indptr[0], rows.indptr[-1]
        return SparseRows(rows.indptr - begin, places[rows.indices[begin:end]], rows.data[begin:end], len(vocabulary))

    def to_scipy(self):
        """The counts as a CSR matrix; column j is the feature with key ``vocabulary.keys[j]``."""
        return self.rows.to_scipy()


def _rows_of(matrix):
    """A CSR matrix with sorted indices, which are small where they can be."""
    small = np.int32 if max(matrix.nnz, matrix.shape[1]) < np.iinfo(np.int32).max else np.int64
    return SparseRows(matrix.indptr.astype(small), matrix.indices.astype(small), matrix.data, matrix.shape[1])
