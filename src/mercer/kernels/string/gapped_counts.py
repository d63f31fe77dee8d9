"""The mismatch kernel from counts of substrings with gaps.

How many strings are near two substrings depends only on how many places they agree at, so it is a sum over sets of
places of a weight times whether they agree at all of them (Ghandi et al. 2014; Blakely et al. 2020). That is, an
inner product of counts of substrings of which only the symbols at these places are kept, and there are far fewer of
those than of neighbours: sets of places instead of choices of symbols. Weights and counts are whole numbers, so sums
are exact up to 2**53.

At a place, a string u agrees with a substring s or counts as one of its mismatches, which is a factor x; with t it is
a factor y. Summed over the letters of an alphabet of size a, that is 1 + (a - 1)xy where s and t have the same letter,
and x + y + (a - 2)xy where they differ. The difference, (1 - x)(1 - y), belongs to places that are kept, the latter to
gaps. Where s has a symbol that the alphabet does not have, a foreign one, there is x(1 + (a - 1)y) instead. Near both
are strings with at most m factors of either kind. If both s and t have foreign symbols, it matters at which places;
such substrings are few, and are compared by the strings near them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import comb
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._jit.compile import jit
from mercer._jit.once import computed_once
from mercer._jit.scratch import scratch
from mercer._jit.vectors import vector_loop
from mercer._types import Array, BoolArray, FloatArray, IndexArray
from mercer.kernels._types import KeyArray
from mercer.kernels.items.counts import Counts
from mercer.kernels.string.near_strings import NearStrings, places_exchanged, require_few

if TYPE_CHECKING:
    from mercer.kernels.string.tokens import Symbols

# Coefficients of a polynomial in x and y, by their powers.
Polynomial: TypeAlias = dict[tuple[int, int], int]


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

    def of(self, kept: int, foreign: int) -> int:
        """For a set of `kept` places, if one of the substrings has so many foreign symbols, and the other none."""
        return _weight(self, kept, foreign)


@lru_cache(maxsize=1024)
def _weight(weights: Weights, kept: int, foreign: int) -> int:
    a, m = weights.size, weights.mismatches
    factors = (
        ({(0, 0): 1, (1, 0): -1, (0, 1): -1, (1, 1): 1}, kept),
        ({(1, 0): 1, (0, 1): 1, (1, 1): a - 2}, weights.length - kept - foreign),
        ({(1, 0): 1, (1, 1): a - 1}, foreign),
    )
    result: Polynomial = {(0, 0): 1}
    for factor, power in factors:
        for _ in range(power):
            result = _times(result, factor, m)
    return sum(result.values())


def _times(first: Polynomial, second: Polynomial, highest: int) -> Polynomial:
    """The product without powers above the highest."""
    terms: Polynomial = Counter()
    for (i, j), left in first.items():
        for (k, l), right in second.items():
            if max(i + k, j + l) <= highest:
                terms[i + k, j + l] += left * right
    return terms


@dataclass(frozen=True)
class _Part:
    """Counts of the strings that keep `kept` symbols of substrings with `foreign` foreign ones.

    With None for both: of the strings near substrings that have any.
    """

    kept: int | None
    foreign: int | None
    counts: Counts

    @property
    def is_empty(self) -> bool:
        return bool(self.counts.rows.indptr[0] == self.counts.rows.indptr[-1])

    def take(self, indices: IndexArray) -> "_Part":
        return _Part(self.kept, self.foreign, self.counts.take(indices))

    def slice(self, start: int, stop: int) -> "_Part":
        return _Part(self.kept, self.foreign, self.counts.slice(start, stop))


class GappedCounts:
    """Texts as counts of substrings with gaps, whose weighted inner products are the mismatch kernel.

    Parameters
    ----------
    parts : sequence of _Part
    weights : Weights
    dtype : float32 or float64
        Of the kernel values. The counts are in double precision, where their sums are exact.
    """

    def __init__(
        self, parts: Sequence[_Part], weights: Weights, dtype: DTypeLike, norms: FloatArray | None = None
    ) -> None:
        self.parts, self.weights, self.dtype = parts, weights, np.dtype(dtype)
        if norms is not None:
            self.norms = norms

    @classmethod
    def of(cls, symbols: "Symbols", letters: KeyArray, weights: Weights, dtype: DTypeLike) -> "GappedCounts":
        """From texts, over an alphabet with these letters."""
        length, most = weights.length, weights.mismatches
        near, parts = NearStrings.over(symbols, letters, length, gaps=True), []
        n_foreign = _foreign_in_each(near.is_known, length)
        for foreign in range(most + 1) if n_foreign.any() else [0]:
            for kept in range(weights.fewest_kept, length - foreign + 1):
                gaps = places_exchanged(length, length - kept, length - kept)
                parts.append(_Part(kept, foreign, near.counts(gaps, n_foreign == foreign, np.float64)))
        if n_foreign.any():
            near = NearStrings.over(symbols, letters, length, gaps=False)
            has_any = (n_foreign > 0) & (n_foreign <= most)
            require_few(length, most, int(has_any.sum()), n_neighbours(length, most, weights.size))
            parts.append(_Part(None, None, near.counts(places_exchanged(length, 0, most), has_any, np.float64)))
        return cls(parts, weights, dtype)

    def __len__(self) -> int:
        return len(self.parts[0].counts)

    def take(self, indices: IndexArray) -> "GappedCounts":
        """The texts at `indices`, copied."""
        return GappedCounts([part.take(indices) for part in self.parts], self.weights, self.dtype, self.norms[indices])

    def slice(self, start: int, stop: int) -> "GappedCounts":
        """Texts start..stop, without a copy."""
        return GappedCounts(
            [part.slice(start, stop) for part in self.parts], self.weights, self.dtype, self.norms[start:stop]
        )

    def dots(self, right: "GappedCounts") -> FloatArray:
        """Kernel values with the texts of `right`, in a buffer that the next call reuses."""
        total = scratch("dots of gapped counts", (len(self), len(right)), np.dtype(np.float64))
        total[...] = 0.0
        for mine, its, weight in self._pairs(right):
            _add_scaled(total, float(weight), mine.dots(its))
        return total

    @computed_once
    def norms(self) -> FloatArray:
        """k(x, x) of each text."""
        total = np.zeros(len(self))
        for mine, its, weight in self._pairs(self):
            total += weight * (mine.norms if mine is its else _dots_of_rows(mine, its))
        return total

    def _pairs(self, right: "GappedCounts") -> Iterator[tuple[Counts, Counts, int]]:
        """Counts that are to be multiplied, and what the products are worth."""
        for mine, its in product(self.parts, right.parts):
            weight = 0 if mine.is_empty or its.is_empty else self._worth(mine, its)
            if weight:
                yield mine.counts, its.counts, weight

    def _worth(self, mine: _Part, its: _Part) -> int:
        if mine.kept != its.kept or (mine.foreign and its.foreign):
            return 0
        if mine.kept is None:
            return 1
        return self.weights.of(mine.kept, mine.foreign or its.foreign or 0)


@jit
def _add_scaled(total: FloatArray, weight: float, terms: Array) -> None:
    vector_loop()
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += weight * terms[i, j]


def _foreign_in_each(is_known: BoolArray, length: int) -> IndexArray:
    """How many foreign symbols the substring has that begins at each place."""
    before = np.concatenate([[0], np.cumsum(~is_known)])
    ends = np.minimum(np.arange(len(is_known)) + length, len(is_known))
    return before[ends] - before[:-1]


def _dots_of_rows(left: Counts, right: Counts) -> FloatArray:
    """The inner product of each row with the one at the same place."""
    first, second = left.to_scipy(), right.to_scipy()
    # Features that only the left-hand side has share a column that is empty on the right.
    width = len(right.vocabulary) + 1
    places = left.vocabulary.places_in(right.vocabulary)[first.indices]
    first = sparse.csr_matrix((first.data, places, first.indptr), shape=(len(left), width))
    second.resize((len(right), width))
    return np.asarray(first.multiply(second).sum(axis=1, dtype=np.float64)).ravel()
