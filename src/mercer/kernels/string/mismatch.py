"""The mismatch kernel: substrings that agree but for a few symbols (Leslie et al. 2004)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb

import numpy as np

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer.kernels.counts import Counts
from mercer.kernels.fingerprints import mixed
from mercer.kernels.parameters import require_count
from mercer.kernels.string.lengths import is_length
from mercer.kernels.string.spectrum import substrings
from mercer.kernels.string.symbols import joined, require_tokenizer, symbols_of
from mercer.kernels.structured import CountKernel, items_of

# Features that the neighbourhoods of all substrings may have before it is an error.
MOST_FEATURES = 2**28


@jit
def _zobrist(keys, length):
    """A random number for each symbol at each place; a string's key is their sum.

    So the key of a string with one symbol exchanged is two additions away (Zobrist 1970).
    """
    table = np.empty((length, keys.shape[0]), np.uint64)
    for r in range(length):
        for k in range(keys.shape[0]):
            # Mixed first: places and characters are small numbers that would cancel each other.
            table[r, k] = mixed(mixed(np.uint64(length), np.uint64(r)), keys[k])
    return table


@jit
def _kept_sum(codes, first, own, exchanged_places):
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
def _advanced(digits, used, size):
    """Count on to the next choice of symbols; False after the last."""
    for q in range(used):
        digits[q] += 1
        if digits[q] < size:
            return True
        digits[q] = 0
    return False


@jit
def _neighbours(codes, offsets, own, exchanged, places, item, key):
    """Text and key of every string over the alphabet within the mismatches of a substring.

    `own` has the numbers of the texts' symbols, and in its last row whether the alphabet has
    them; `exchanged` those of the alphabet's symbols. `places` lists the sets of places that are
    exchanged, filled up with -1. Returns how many strings were written.
    """
    length, size = exchanged.shape
    count = 0
    digits = np.zeros(length, np.int64)
    for i in range(offsets.shape[0] - 1):
        for first in range(offsets[i], offsets[i + 1] - length + 1):
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
                        item[count], key[count] = i, value
                        count += 1
                    running = _advanced(digits, used, size)
    return count


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
        Such as "ACGT". Unless told, the symbols of the training texts, which `bind` finds.
    tokenizer : "characters", "words" or callable
        What the symbols of a text are; see `Spectrum`.

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

    def __post_init__(self):
        require_tokenizer(self.tokenizer)
        if not is_length(self.length):
            raise ParameterError(f"length must be a positive whole number, got {self.length!r}")
        require_count("mismatches", self.mismatches)
        if self.mismatches >= self.length:
            raise ParameterError(f"mismatches must be less than length={self.length}, got {self.mismatches!r}")
        if self.alphabet is not None and len(self.alphabet) == 0:
            raise ParameterError("alphabet must have a symbol; None takes those of the training texts")

    @property
    def is_bound(self):
        return self.alphabet is not None

    def bind(self, X, weights=None):
        """The kernel with the symbols of the texts X as its alphabet."""
        if self.is_bound:
            return self
        tokens = symbols_of(items_of(X, self.item_name), self.tokenizer).tokens
        if not tokens:
            raise ParameterError("alphabet must be given where the training texts are empty")
        return self.replace(alphabet=_as_alphabet(tokens))

    def prepare(self, X, dtype=np.float64, *, origin=None, check=True):
        self._require_bound()
        return super().prepare(X, dtype, origin=origin, check=check)

    def _letters(self):
        """The alphabet's distinct symbols and their keys."""
        letters = symbols_of([list(self.alphabet)], "characters")
        return letters.tokens, letters.vocabulary.keys

    def _occurrences(self, items):
        """(text, key of the feature), once for each substring that is near it."""
        symbols = symbols_of(items, self.tokenizer)
        _, keys = self._letters()
        most = self._most(symbols, len(keys))
        exchanged = _zobrist(keys, self.length)
        known = np.isin(symbols.vocabulary.keys, keys)
        own = np.vstack([_zobrist(symbols.vocabulary.keys, self.length), known.astype(np.uint64)[None]])
        places = _exchanged_places(self.length, self.mismatches)
        arguments = (symbols.codes, symbols.offsets, own, exchanged, places)
        item, key = np.empty(most, np.int32), np.empty(most, np.uint64)
        count = _neighbours(*arguments, item, key)
        return item[:count], key[:count]

    def _most(self, symbols, size):
        count = int(np.maximum(symbols.lengths - self.length + 1, 0).sum())
        each = sum(comb(self.length, m) * size**m for m in range(self.mismatches + 1))
        if count * each > MOST_FEATURES:
            raise ParameterError(
                f"mismatches={self.mismatches} over {size} symbols gives each of the {count} substrings up to "
                f"{each} features, more than fit; lower mismatches or length, or map symbols to fewer classes"
            )
        return count * each

    def encode(self, items, dtype):
        item, key = self._occurrences(items)
        return Counts.from_occurrences(item, key, 1.0, len(items), dtype)

    def feature_names(self, X, names=None):
        """The strings near substrings of X, in the order of the columns of ``feature_map(X)``."""
        kernel = self.bind(X)
        symbols = symbols_of(items_of(X, self.item_name), self.tokenizer)
        tokens, keys = kernel._letters()
        number = dict(zip(tokens, _zobrist(keys, self.length).T.tolist(), strict=True))
        names = {}
        _, begin, key = substrings(symbols, self.length)
        for first in begin[np.unique(key, return_index=True)[1]]:
            word = [symbols.tokens[code] for code in symbols.codes[first : first + self.length]]
            for near in _near(word, tokens, self.mismatches):
                names[sum(number[token][r] for r, token in enumerate(near)) % 2**64] = joined(near)
        return [names[key] for key in sorted(names)]

    def feature_map(self, X):
        """The counts as a CSR matrix, one column for each string near a substring of X."""
        return super(Mismatch, self.bind(X)).feature_map(X)


def _near(word, alphabet, mismatches):
    """Every string over the alphabet that differs from `word` in at most so many places."""
    for places in combinations(range(len(word)), mismatches):
        choices = [alphabet if r in places else [token] for r, token in enumerate(word)]
        yield from (near for near in product(*choices) if set(near) <= set(alphabet))


def _exchanged_places(length, mismatches):
    """Sets of at most so many places, one in each row, filled up with -1."""
    sets = [chosen for m in range(mismatches + 1) for chosen in combinations(range(length), m)]
    return np.array([[*chosen, *[-1] * (mismatches - len(chosen))] for chosen in sets], np.int64).reshape(len(sets), -1)


def _as_alphabet(tokens):
    """Characters as a text, which prints well; other tokens as a tuple."""
    return "".join(tokens) if all(isinstance(token, str) and len(token) == 1 for token in tokens) else tuple(tokens)
