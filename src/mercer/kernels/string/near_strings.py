"""Counts of the strings near the substrings of texts: substrings with symbols exchanged at a few places.

What comes in a symbol's place is any letter of the alphabet, or a gap, which stands for all of them.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer._jit.threads import run_parallel, thread_count
from mercer._types import BoolArray, IndexArray
from mercer.kernels._types import KeyArray, Tally
from mercer.kernels.base.progress import current_stop
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_keys import mixed
from mercer.kernels.items.feature_tally import count_one, move_tally, new_tally, places_for, spans_of

if TYPE_CHECKING:
    from mercer.kernels.string.tokens import Symbols

# Features that all substrings together may have before it is an error.
MOST_FEATURES = 2**28
LARGEST_NUMBER = 2**62
# About how many of them a thread counts before it may be asked to stop.
NEAR_AT_A_TIME = 1_000_000


@jit
def _random_numbers(keys: KeyArray, length: int) -> KeyArray:
    """A random number for each symbol at each place; a string's is their sum (Zobrist 1970)."""
    table = np.empty((length, keys.shape[0]), np.uint64)
    for r in range(length):
        for k in range(keys.shape[0]):
            # Mixed first: places and characters are small numbers that would cancel each other.
            table[r, k] = mixed(mixed(np.uint64(length), np.uint64(r)), keys[k])
    return table


def numbers_of(symbols: KeyArray, letters: KeyArray, length: int, gaps: bool = False) -> tuple[KeyArray, BoolArray]:
    """(what a symbol adds to a string's number at each place, whether it is a letter of the alphabet).

    A string is read as a number whose digits are letters. So one with a symbol exchanged is two additions
    away. Where there are more strings than numbers, their digits are random. With `gaps`, no letter is the digit zero.
    """
    known = np.isin(symbols, letters)
    if _strings(len(letters), length, gaps) > LARGEST_NUMBER:
        return _random_numbers(symbols, length), known
    weights = _base(len(letters), gaps) ** np.arange(length, dtype=np.int64)[::-1]
    numbers = np.outer(weights, np.searchsorted(letters, symbols) + int(gaps))
    # A symbol that the alphabet does not have adds what no letter does.
    numbers[:, ~known] = LARGEST_NUMBER
    return numbers.astype(np.uint64), known


def _base(size: int, gaps: bool) -> int:
    # With gaps it is odd: numbers that end in the same zeros would begin their search in few places of a table.
    return (size + 1) | 1 if gaps else size


def _strings(size: int, length: int, gaps: bool) -> int:
    return _base(size, gaps) ** length


@jit
def _kept_sum(codes: IndexArray, first: int, own: KeyArray, exchanged_places: IndexArray) -> tuple[np.uint64, bool]:
    """(sum of the numbers of symbols that stay, whether all of them belong to the alphabet)."""
    length = own.shape[0] - 1
    total, is_known = np.uint64(0), True
    for r in range(length):
        stays = True
        for place in exchanged_places:
            stays &= place != r
        if stays:
            total += own[r, codes[first + r]]
            is_known &= own[length, codes[first + r]] != np.uint64(0)
    return total, is_known


@jit
def _advanced(digits: IndexArray, used: int, size: int) -> bool:
    """Count on to the next choice of symbols; False after the last."""
    for q in range(used):
        digits[q] += 1
        if digits[q] < size:
            return True
        digits[q] = 0
    return False


@jit
def _near_one(
    codes: IndexArray,
    first: int,
    own: KeyArray,
    exchanged: KeyArray,
    places: IndexArray,
    digits: IndexArray,
    key: KeyArray,
) -> int:
    """The keys of all strings over the alphabet within the mismatches of one substring; returns how many."""
    count, size = 0, exchanged.shape[1]
    for c in range(places.shape[0]):
        used = 0
        while used < places.shape[1] and places[c, used] >= 0:
            used += 1
        base, running = _kept_sum(codes, first, own, places[c, :used])
        while running:
            value, is_new = base, True
            for q in range(used):
                number = exchanged[places[c, q], digits[q]]
                # The symbol that stands there is no exchange: it was counted with fewer.
                is_new &= number != own[places[c, q], codes[first + places[c, q]]]
                value += number
            if is_new:
                key[count] = value
                count += 1
            running = _advanced(digits, used, size)
    return count


@jit
def _n_wanted(wanted: BoolArray, first: int, last: int) -> int:
    count = 0
    for begin in range(first, last):
        count += wanted[begin]
    return count


@jit
def _tally(
    codes: IndexArray,
    offsets: IndexArray,
    own: KeyArray,
    exchanged: KeyArray,
    places: IndexArray,
    wanted: BoolArray,
    each: int,
    strings: int,
    first: int,
    last: int,
) -> Tally:
    """(ends, keys, counts) of the strings near substrings of texts first..last that are wanted.

    `own` has the numbers of the texts' symbols, and in its last row whether the alphabet has
    them; `exchanged` those of what comes in their place. `places` lists the sets of places that are
    exchanged, filled up with -1; `wanted` says whether the substring that begins at a place is.
    A substring has at most `each` neighbours, and there are `strings` strings.
    """
    length = exchanged.shape[0]
    most, total = 0, 0
    for text in range(first, last):
        count = _n_wanted(wanted, offsets[text], offsets[text + 1] - length + 1)
        most, total = max(most, count), total + count
    # With a place for every number no two of them meet; a small table that is half empty is as good.
    whole = places_for(strings) if strings <= 2 * most * each else 0
    tally = new_tally(max(most * each, strings if whole else 0))
    near, digits = np.empty(each, np.uint64), np.zeros(length, np.int64)
    ends, filled = np.empty(last - first, np.int64), 0
    all_keys, all_counts = np.empty(total * each, np.uint64), np.empty(total * each, np.float64)
    for text in range(first, last):
        count = _n_wanted(wanted, offsets[text], offsets[text + 1] - length + 1)
        mask, n_used = np.uint64(max(whole, places_for(count * each)) - 1), 0
        for begin in range(offsets[text], offsets[text + 1] - length + 1):
            if not wanted[begin]:
                continue
            for k in range(_near_one(codes, begin, own, exchanged, places, digits, near)):
                n_used = count_one(tally, mask, n_used, near[k])
        filled = move_tally(tally, n_used, all_keys, all_counts, filled)
        ends[text - first] = filled
    return ends, all_keys[:filled].copy(), all_counts[:filled].copy()


@dataclass(frozen=True)
class NearStrings:
    """Texts, and the numbers of strings that their substrings are or come near to.

    Parameters
    ----------
    symbols : Symbols
    own : ndarray of uint64, shape (length + 1, number of different symbols)
        What a symbol adds to a string's number at each place, and whether the alphabet has it.
    exchanged : ndarray of uint64, shape (length, number of choices)
        The same for what may come in a symbol's place.
    strings : int
        How many strings there are.
    """

    symbols: "Symbols"
    own: KeyArray
    exchanged: KeyArray
    strings: int

    @classmethod
    def over(cls, symbols: "Symbols", letters: KeyArray, length: int, gaps: bool) -> "NearStrings":
        """With the letters of an alphabet in a symbol's place, or only with gaps."""
        own, known = numbers_of(symbols.vocabulary.keys, letters, length, gaps)
        exchanged = np.zeros((length, 1), np.uint64) if gaps else numbers_of(letters, letters, length)[0]
        strings = min(_strings(len(letters), length, gaps), LARGEST_NUMBER)
        return cls(symbols, np.vstack([own, known.astype(np.uint64)[None]]), exchanged, strings)

    @property
    def length(self) -> int:
        return len(self.exchanged)

    @property
    def is_known(self) -> BoolArray:
        """Whether the alphabet has a symbol, for every symbol of every text."""
        return self.own[-1, self.symbols.codes] != 0

    def counts(self, places: IndexArray, wanted: BoolArray, dtype: DTypeLike) -> Counts:
        """Of the strings that substrings become by exchanges at these places, if `wanted` says so where they begin."""
        each = int(sum(self.exchanged.shape[1] ** used for used in (places >= 0).sum(axis=1).tolist()))
        spans = spans_of(self.symbols.offsets, max(1, NEAR_AT_A_TIME // each))
        parts = cast("list[Tally]", [None] * len(spans))

        def count(number: int) -> None:
            tables = (self.own, self.exchanged, places, wanted, each, self.strings)
            parts[number] = _tally(self.symbols.codes, self.symbols.offsets, *tables, *spans[number])

        run_parallel(count, range(len(spans)), thread_count(None), current_stop())
        return Counts.joined(parts, dtype)


def places_exchanged(length: int, least: int, most: int) -> IndexArray:
    """The sets of `least` to `most` places, one in each row, filled up with -1."""
    sets = [chosen for m in range(least, most + 1) for chosen in combinations(range(length), m)]
    return np.array([[*chosen, *[-1] * (most - len(chosen))] for chosen in sets], np.int64).reshape(len(sets), -1)


def require_few(length: int, mismatches: int, count: int, each: int) -> None:
    """An error if so many features of each substring are too many for all."""
    if count * each > MOST_FEATURES:
        raise ParameterError(
            f"mismatches={mismatches} of length={length} gives each of {count} substrings up to {each} features, "
            "more than fit; lower mismatches or length, or map symbols to fewer classes"
        )
