"""The mismatch kernel: substrings that agree but for a few symbols (Leslie et al. 2004)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import Features, KeyArray, Prepared
from mercer.kernels.base.parameters import require_count
from mercer.kernels.base.structured import CountKernel, items_of
from mercer.kernels.items.counts import Counts
from mercer.kernels.string.gapped_counts import GappedCounts, Weights, n_gapped, n_neighbours
from mercer.kernels.string.lengths import is_length
from mercer.kernels.string.near_strings import NearStrings, numbers_of, places_exchanged, require_few
from mercer.kernels.string.spectrum import substrings
from mercer.kernels.string.tokens import joined, require_tokenizer, symbols_of

if TYPE_CHECKING:
    from mercer.kernels.string.tokens import Symbols


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

    def encode(self, items: list[Any], dtype: DTypeLike) -> "Counts | GappedCounts":
        symbols = symbols_of(items, self.tokenizer)
        _, keys = self._letters()
        each = n_gapped(self.length, self.mismatches)
        # This depends on the kernel alone, so that texts read at different times are counted in the same way.
        if each >= n_neighbours(self.length, self.mismatches, len(keys)):
            return self._neighbours(symbols, keys, dtype)
        self._require_few(symbols, each)
        return GappedCounts.of(symbols, keys, Weights(self.length, self.mismatches, len(keys)), dtype)

    def _neighbours(self, symbols: "Symbols", keys: KeyArray, dtype: DTypeLike) -> Counts:
        """The features themselves: how many substrings are near each string."""
        self._require_few(symbols, n_neighbours(self.length, self.mismatches, len(keys)))
        near = NearStrings.over(symbols, keys, self.length, gaps=False)
        everywhere = np.ones(len(symbols.codes), bool)
        return near.counts(places_exchanged(self.length, 0, self.mismatches), everywhere, dtype)

    def _require_few(self, symbols: "Symbols", each: int) -> None:
        count = int(np.maximum(symbols.lengths - self.length + 1, 0).sum())
        require_few(self.length, self.mismatches, count, each)

    def feature_names(self, X: Rows, names: Any = None) -> list[str]:
        """The strings near substrings of X, in the order of the columns of ``feature_map(X)``."""
        kernel = self.bind(X)
        symbols = symbols_of(items_of(X, self.item_name), self.tokenizer)
        tokens, keys = kernel._letters()
        number = dict(zip(tokens, numbers_of(keys, keys, self.length)[0].T.tolist(), strict=True))
        names = {}
        _, begin, key = substrings(symbols, self.length)
        for first in begin[np.unique(key, return_index=True)[1]]:
            word = [symbols.tokens[code] for code in symbols.codes[first : first + self.length]]
            for near in _near(word, tokens, self.mismatches):
                names[sum(number[token][r] for r, token in enumerate(near)) % 2**64] = joined(near)
        return [names[key] for key in sorted(names)]

    def feature_map(self, X: Rows) -> Features:
        """The counts as a CSR matrix, one column for each string near a substring of X."""
        kernel = self.bind(X)
        symbols = symbols_of(items_of(X, self.item_name), self.tokenizer)
        return kernel._neighbours(symbols, kernel._letters()[1], np.float64).to_scipy()


def _near(word: Sequence[Any], alphabet: Sequence[Any], mismatches: int) -> Iterator[tuple[Any, ...]]:
    """Every string over the alphabet that differs from `word` in at most so many places."""
    for places in combinations(range(len(word)), mismatches):
        choices = [alphabet if r in places else [token] for r, token in enumerate(word)]
        yield from (near for near in product(*choices) if set(near) <= set(alphabet))


def _as_alphabet(tokens: list[Any]) -> str | tuple[Any, ...]:
    """Characters as a text, which prints well; other tokens as a tuple."""
    return "".join(tokens) if all(isinstance(token, str) and len(token) == 1 for token in tokens) else tuple(tokens)
