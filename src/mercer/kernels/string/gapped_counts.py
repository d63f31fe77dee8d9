"""The mismatch kernel from counts of substrings with gaps.

How many strings are near two substrings depends only on how many places they agree at, so it is a sum over sets of
places of a weight times whether they agree at all of them (Ghandi et al. 2014; Blakely et al. 2020). That is, an
inner product of counts of substrings of which only the symbols at these places are kept, and there are far fewer of
those than of neighbours: sets of places instead of choices of symbols. Weights and counts are whole numbers, so sums
are exact up to 2**53.

At a place, a string u agrees with a substring s or counts as one of its mismatches, which is a factor x; with t it is
a factor y. Summed over the letters of an alphabet of size a, that is 1 + (a - 1)xy where s and t have the same letter,
and x + y + (a - 2)xy where they differ. The difference, (1 - x)(1 - y), belongs to places that are kept, the latter to
gaps. If s has a symbol that the alphabet does not have, there is x(1 + (a - 1)y) instead; if both have one, axy. Near
both are strings with at most m factors of either kind.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._jit.compile import jit
from mercer._jit.once import computed_once
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array, BoolArray, FloatArray, IndexArray
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.sparse_rows import SparseRows
from mercer.kernels.string.near_strings import NearStrings, places_exchanged

# Sums of whole numbers up to this are exact in single precision.
EXACT_IN_SINGLE = 2**24

# Coefficients of a polynomial in x and y, by their powers.
Polynomial: TypeAlias = dict[tuple[int, int], int]
# The places at which a substring has symbols that the alphabet does not have.
Foreign: TypeAlias = frozenset[int]


def n_neighbours(length: int, mismatches: int, size: int) -> int:
    """How many strings over an alphabet are near a substring."""
    return sum(comb(length, m) * (size - 1) ** m for m in range(mismatches + 1))


def n_gapped(length: int, mismatches: int) -> int:
    """How many strings with gaps a substring has: near two substrings is nothing if they differ at 2m + 1 places."""
    return sum(comb(length, gaps) for gaps in range(min(2 * mismatches, length) + 1))


@dataclass(frozen=True)
class Weights:
    """What an agreement of two substrings at a set of places is worth.

    Parameters
    ----------
    length, mismatches : int
    size : int
        Of the alphabet.
    """

    length: int
    mismatches: int
    size: int

    @property
    def fewest_kept(self) -> int:
        """Places at which substrings agree that have a string near both."""
        return max(0, self.length - 2 * self.mismatches)

    def of(self, kept: int, left: Foreign = frozenset(), right: Foreign = frozenset()) -> int:
        """For a set of `kept` places, if foreign symbols are at these places of the two substrings."""
        return _weight(self, kept, len(left - right), len(right - left), len(left & right))


@lru_cache(maxsize=1024)
def _weight(weights: Weights, kept: int, left: int, right: int, both: int) -> int:
    a, m = weights.size, weights.mismatches
    factors = (
        ({(0, 0): 1, (1, 0): -1, (0, 1): -1, (1, 1): 1}, kept),
        ({(1, 0): 1, (0, 1): 1, (1, 1): a - 2}, weights.length - kept - left - right - both),
        ({(1, 0): 1, (1, 1): a - 1}, left),
        ({(0, 1): 1, (1, 1): a - 1}, right),
        ({(1, 1): a}, both),
    )
    product: Polynomial = {(0, 0): 1}
    for factor, power in factors:
        for _ in range(power):
            product = _times(product, factor, m)
    return sum(product.values())


def _times(first: Polynomial, second: Polynomial, highest: int) -> Polynomial:
    """The product without powers above the highest."""
    product: Polynomial = Counter()
    for (i, j), left in first.items():
        for (k, l), right in second.items():
            if max(i + k, j + l) <= highest:
                product[i + k, j + l] += left * right
    return product


@dataclass(frozen=True)
class _Part:
    """Counts of the strings that keep so many symbols of substrings whose foreign symbols are at the same places."""

    foreign: Foreign
    kept: int
    counts: Counts

    @property
    def is_empty(self) -> bool:
        return bool(self.counts.rows.indptr[0] == self.counts.rows.indptr[-1])


class GappedCounts:
    """Texts as counts of substrings with gaps, whose weighted inner products are the mismatch kernel.

    Parameters
    ----------
    parts : sequence of _Part
    weights : Weights
    dtype : float32 or float64
        Of the kernel values.
    """

    def __init__(
        self, parts: Sequence[_Part], weights: Weights, dtype: DTypeLike, norms: FloatArray | None = None
    ) -> None:
        self.parts, self.weights, self.dtype = parts, weights, np.dtype(dtype)
        if norms is not None:
            self.norms = norms

    @classmethod
    def of(cls, near: NearStrings, weights: Weights, dtype: DTypeLike) -> "GappedCounts":
        """From texts and the numbers of their strings with gaps."""
        length, parts = weights.length, []
        foreign, kinds = _foreign_places(near.is_known, length, weights.mismatches)
        for kind, places in enumerate(foreign):
            for kept in range(weights.fewest_kept, length - len(places) + 1):
                gaps = places_exchanged(length, length - kept, length - kept)
                parts.append(_Part(places, kept, _compact(near.counts(gaps, kinds, kind, np.float64))))
        return cls(parts, weights, dtype)

    def __len__(self) -> int:
        return len(self.parts[0].counts)

    def take(self, indices: IndexArray) -> "GappedCounts":
        """The texts at `indices`, copied."""
        parts = [_Part(part.foreign, part.kept, part.counts.take(indices)) for part in self.parts]
        return GappedCounts(parts, self.weights, self.dtype, self.norms[indices])

    def slice(self, start: int, stop: int) -> "GappedCounts":
        """Texts start..stop, without a copy."""
        parts = [_Part(part.foreign, part.kept, part.counts.slice(start, stop)) for part in self.parts]
        return GappedCounts(parts, self.weights, self.dtype, self.norms[start:stop])

    def dots(self, right: "GappedCounts") -> FloatArray:
        """Kernel values with the texts of `right`, in a buffer that the next call reuses."""
        total = scratch("dots of gapped counts", (len(self), len(right)), np.dtype(np.float64))
        total[...] = 0.0
        for mine, its in _pairs(self.parts, right.parts):
            weight = self.weights.of(mine.kept, mine.foreign, its.foreign)
            if weight and not mine.is_empty and not its.is_empty:
                first, second = _of_one_dtype(mine.counts, its.counts)
                _add_scaled(total, weight, first.dots(second))
        return total

    @computed_once
    def norms(self) -> FloatArray:
        """k(x, x) of each text."""
        total = np.zeros(len(self))
        for mine, its in _pairs(self.parts, self.parts):
            weight = self.weights.of(mine.kept, mine.foreign, its.foreign)
            total += weight * (mine.counts.norms if mine is its else _dots_of_rows(mine.counts, its.counts))
        return total


def _pairs(left: Sequence[_Part], right: Sequence[_Part]) -> Iterator[tuple[_Part, _Part]]:
    """Those that keep the same number of symbols."""
    return ((mine, its) for mine in left for its in right if mine.kept == its.kept)


@jit
def _add_scaled(total: FloatArray, weight: float, terms: Array) -> None:
    vector_loop()
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += weight * terms[i, j]


def _foreign_places(is_known: BoolArray, length: int, mismatches: int) -> tuple[list[Foreign], IndexArray]:
    """(sets of places with foreign symbols, of which the first is empty, and which of them a substring has).

    The latter is for the substring that begins at each place; -1 if no string is near it.
    """
    kinds, sets = np.zeros(len(is_known), np.int64), [Foreign()]
    if is_known.all() or len(is_known) < length:
        return sets, kinds
    is_foreign = sliding_window_view(~is_known, length)
    count = is_foreign.sum(axis=1)
    kinds[: len(count)][count > mismatches] = -1
    some = np.flatnonzero((count > 0) & (count <= mismatches))
    patterns, which = np.unique(is_foreign[some], axis=0, return_inverse=True)
    kinds[some] = 1 + which.ravel()
    return sets + [Foreign(np.flatnonzero(pattern).tolist()) for pattern in patterns], kinds


def _compact(counts: Counts) -> Counts:
    """In single precision, if inner products are exact there."""
    return _as_type(counts, np.float32) if counts.norms.max(initial=0.0) < EXACT_IN_SINGLE else counts


def _as_type(counts: Counts, dtype: DTypeLike) -> Counts:
    rows = counts.rows
    return Counts(
        SparseRows(rows.indptr, rows.indices, rows.data.astype(dtype), rows.shape[1]), counts.vocabulary, counts.norms
    )


def _of_one_dtype(left: Counts, right: Counts) -> tuple[Counts, Counts]:
    if left.dtype == right.dtype:
        return left, right
    return _as_type(left, np.float64), _as_type(right, np.float64)


def _dots_of_rows(left: Counts, right: Counts) -> FloatArray:
    """The inner product of each row with the one at the same place."""
    first, second = left.to_scipy(), right.to_scipy()
    # Features that only the left-hand side has share a column that is empty on the right.
    width = len(right.vocabulary) + 1
    places = left.vocabulary.places_in(right.vocabulary)[first.indices]
    first = sparse.csr_matrix((first.data, places, first.indptr), shape=(len(left), width))
    second.resize((len(right), width))
    return np.asarray(first.multiply(second).sum(axis=1, dtype=np.float64)).ravel()
