"""The mismatch kernel: substrings that agree but for a few symbols (Leslie et al. 2004)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer._jit.threads import run_parallel, thread_count
from mercer._types import Array, BoolArray, FloatArray, IndexArray, Rows
from mercer.kernels._types import Features, KeyArray, Prepared, Tally
from mercer.kernels.base.parameters import require_count
from mercer.kernels.base.progress import current_stop
from mercer.kernels.base.structured import CountKernel, items_of
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_keys import mixed
from mercer.kernels.items.feature_tally import count_one, move_tally, new_tally, places_for, spans_of
from mercer.kernels.string.lengths import is_length
from mercer.kernels.string.spectrum import substrings
from mercer.kernels.string.tokens import joined, require_tokenizer, symbols_of

if TYPE_CHECKING:
    from mercer.kernels.string.tokens import Symbols

# Features that the neighbourhoods of all substrings may have before it is an error.
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


def _numbers(symbols: KeyArray, letters: KeyArray, length: int) -> tuple[KeyArray, BoolArray]:
    """(what a symbol adds to a string's number at each place, whether it is a letter of the alphabet).

    A string is read as a number whose digits are letters. So one with a symbol exchanged is two additions
    away. Where there are more strings than numbers, their digits are random.
    """
    known = np.isin(symbols, letters)
    if len(letters) ** length > LARGEST_NUMBER:
        return _random_numbers(symbols, length), known
    weights = len(letters) ** np.arange(length, dtype=np.int64)[::-1]
    numbers = np.outer(weights, np.searchsorted(letters, symbols))
    # A symbol that the alphabet does not have adds what no letter does.
    numbers[:, ~known] = LARGEST_NUMBER
    return numbers.astype(np.uint64), known


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
def _tally(
    codes: IndexArray,
    offsets: IndexArray,
    own: KeyArray,
    exchanged: KeyArray,
    places: IndexArray,
    each: int,
    strings: int,
    first: int,
    last: int,
) -> Tally:
    """(ends, keys, counts) of the strings near substrings of texts first..last.

    `own` has the numbers of the texts' symbols, and in its last row whether the alphabet has
    them; `exchanged` those of the alphabet's symbols. `places` lists the sets of places that are
    exchanged, filled up with -1; a substring has at most `each` neighbours, and there are `strings` strings.
    """
    length = exchanged.shape[0]
    most, total = 0, 0
    for text in range(first, last):
        count = max(0, offsets[text + 1] - offsets[text] - length + 1)
        most, total = max(most, count), total + count
    # With a place for every number no two of them meet; a small table that is half empty is as good.
    whole = places_for(strings) if strings <= 2 * most * each else 0
    tally = new_tally(max(most * each, strings if whole else 0))
    near, digits = np.empty(each, np.uint64), np.zeros(length, np.int64)
    ends, filled = np.empty(last - first, np.int64), 0
    all_keys, all_counts = np.empty(total * each, np.uint64), np.empty(total * each, np.float64)
    for text in range(first, last):
        count = max(0, offsets[text + 1] - offsets[text] - length + 1)
        mask, n_used = np.uint64(max(whole, places_for(count * each)) - 1), 0
        for begin in range(offsets[text], offsets[text] + count):
            for k in range(_near_one(codes, begin, own, exchanged, places, digits, near)):
                n_used = count_one(tally, mask, n_used, near[k])
        filled = move_tally(tally, n_used, all_keys, all_counts, filled)
        ends[text - first] = filled
    return ends, all_keys[:filled].copy(), all_counts[:filled].copy()


@dataclass(frozen=True)
class Mismatch(CountKernel):
    """k(s, t) = sum_u c_u(s) c_u(t), c_u the substrings of length p within m mismatches of u.

    u runs over all strings of length p over the alphabet.

    Parameters
    ----------
    length : int
        p.
    mismatches : int
        m, less than p.
    alphabet : str or sequence of tokens, optional
        Such as "ACGT". By default the symbols of the training texts, which `bind` finds.
    tokenizer : "characters", "words" or callable
        What the symbols of a text are. A callable takes a text and returns its tokens; items that are lists of tokens
        are taken as they are.

    Examples
    --------
    >>> from mercer.kernels import Mismatch
    >>> Mismatch(length=2, mismatches=1, alphabet="ab")(["ab"], ["aa", "ba"])
    array([[2., 2.]])
    """

    length: int = 3
    mismatches: int = 1
    alphabet: str | Sequence | None = None
    tokenizer: str | Callable = "characters"
    item_name = "text"

    def __post_init__(self) -> None:
        require_tokenizer(self.tokenizer)
        if not is_length(self.length):
            raise ParameterError(f"length must be a positive whole number, got {self.length!r}")
        require_count("mismatches", self.mismatches)
        if self.mismatches >= self.length:
            raise ParameterError(f"mismatches must be less than length={self.length}, got {self.mismatches!r}")
        if self.alphabet is not None and len(self.alphabet) == 0:
            raise ParameterError("alphabet must have at least one symbol; None uses those of the training texts")

    @property
    def is_bound(self) -> bool:
        return self.alphabet is not None

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        """The kernel with the symbols of the texts X as its alphabet."""
        if self.is_bound:
            return self
        tokens = symbols_of(items_of(X, self.item_name), self.tokenizer).tokens
        if not tokens:
            raise ParameterError("alphabet must be given when the training texts are empty")
        return self.replace(alphabet=_as_alphabet(tokens))

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        self._require_bound()
        return super().prepare(X, dtype, origin=origin, check=check)

    def _letters(self) -> tuple[list[Any], KeyArray]:
        """The alphabet's distinct symbols and their keys."""
        letters = symbols_of([list(cast("Sequence[Any]", self.alphabet))], "characters")
        return letters.tokens, letters.vocabulary.keys

    def encode(self, items: list[Any], dtype: DTypeLike) -> Counts:
        symbols = symbols_of(items, self.tokenizer)
        _, keys = self._letters()
        each = self._each(symbols, len(keys))
        own, known = _numbers(symbols.vocabulary.keys, keys, self.length)
        own = np.vstack([own, known.astype(np.uint64)[None]])
        exchanged, _ = _numbers(keys, keys, self.length)
        places = _exchanged_places(self.length, self.mismatches)
        spans = spans_of(symbols.offsets, max(1, NEAR_AT_A_TIME // each))
        parts, strings = cast("list[Tally]", [None] * len(spans)), min(len(keys) ** self.length, LARGEST_NUMBER)

        def count(number: int) -> None:
            tables = (own, exchanged, places, each, strings)
            parts[number] = _tally(symbols.codes, symbols.offsets, *tables, *spans[number])

        run_parallel(count, range(len(spans)), thread_count(None), current_stop())
        return Counts.joined(parts, dtype)

    def _each(self, symbols: "Symbols", size: int) -> int:
        """How many strings are near a substring, at most; an error if that is too many for all."""
        count = int(np.maximum(symbols.lengths - self.length + 1, 0).sum())
        each = sum(comb(self.length, m) * size**m for m in range(self.mismatches + 1))
        if count * each > MOST_FEATURES:
            raise ParameterError(
                f"mismatches={self.mismatches} over {size} symbols gives each of the {count} substrings up to "
                f"{each} features, more than fit; lower mismatches or length, or map symbols to fewer classes"
            )
        return each

    def feature_names(self, X: Rows, names: Any = None) -> list[str]:
        """The strings near substrings of X, in the order of the columns of ``feature_map(X)``."""
        kernel = self.bind(X)
        symbols = symbols_of(items_of(X, self.item_name), self.tokenizer)
        tokens, keys = kernel._letters()
        number = dict(zip(tokens, _numbers(keys, keys, self.length)[0].T.tolist(), strict=True))
        names = {}
        _, begin, key = substrings(symbols, self.length)
        for first in begin[np.unique(key, return_index=True)[1]]:
            word = [symbols.tokens[code] for code in symbols.codes[first : first + self.length]]
            for near in _near(word, tokens, self.mismatches):
                names[sum(number[token][r] for r, token in enumerate(near)) % 2**64] = joined(near)
        return [names[key] for key in sorted(names)]

    def feature_map(self, X: Rows) -> Features:
        """The counts as a CSR matrix, one column for each string near a substring of X."""
        return super(Mismatch, self.bind(X)).feature_map(X)


def _near(word: Sequence[Any], alphabet: Sequence[Any], mismatches: int) -> Iterator[tuple[Any, ...]]:
    """Every string over the alphabet that differs from `word` in at most so many places."""
    for places in combinations(range(len(word)), mismatches):
        choices = [alphabet if r in places else [token] for r, token in enumerate(word)]
        yield from (near for near in product(*choices) if set(near) <= set(alphabet))


def _exchanged_places(length: int, mismatches: int) -> IndexArray:
    """Sets of at most so many places, one in each row, filled up with -1."""
    sets = [chosen for m in range(mismatches + 1) for chosen in combinations(range(length), m)]
    return np.array([[*chosen, *[-1] * (mismatches - len(chosen))] for chosen in sets], np.int64).reshape(len(sets), -1)


def _as_alphabet(tokens: list[Any]) -> str | tuple[Any, ...]:
    """Characters as a text, which prints well; other tokens as a tuple."""
    return "".join(tokens) if all(isinstance(token, str) and len(token) == 1 for token in tokens) else tuple(tokens)
