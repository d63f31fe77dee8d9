"""The spectrum kernel: how often each substring occurs (Leslie, Eskin & Noble 2002)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer._types import Array, IndexArray, Rows
from mercer.kernels._types import KeyArray
from mercer.kernels.base.parameters import require_non_negative
from mercer.kernels.base.structured import CountKernel, items_of
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_keys import mixed
from mercer.kernels.string.lengths import length_range, require_length
from mercer.kernels.string.tokens import require_tokenizer, symbols_of

if TYPE_CHECKING:
    from mercer.kernels.string.tokens import Symbols


@jit
def _substrings(
    keys: KeyArray, offsets: IndexArray, length: int, begin: IndexArray, item: IndexArray, key: KeyArray
) -> int:
    """Text, place and key of every substring of one length; returns how many there are."""
    count = 0
    for i in range(offsets.shape[0] - 1):
        for first in range(offsets[i], offsets[i + 1] - length + 1):
            value = np.uint64(length)
            for k in range(length):
                value = mixed(value, keys[first + k])
            item[count], begin[count], key[count] = i, first, value
            count += 1
    return count


def substrings(symbols: "Symbols", length: int) -> tuple[IndexArray, IndexArray, KeyArray]:
    """(text, first place, key) of every occurrence of a substring of this length."""
    most = len(symbols.codes)
    begin, item, key = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.uint64)
    count = _substrings(symbols.keys, symbols.offsets, length, begin, item, key)
    return item[:count], begin[:count], key[:count]


@dataclass(frozen=True)
class Spectrum(CountKernel):
    """k(s, t) = sum over lengths p of w_p sum_u count_u(s) count_u(t), u of length p.

    Parameters
    ----------
    length : int or (int, int)
        Of the substrings; a pair is the shortest and the longest.
    weights : sequence of float, optional
        w_p, one for each length from the shortest on, none negative; all 1 unless told.
    tokenizer : "characters", "words" or callable
        What the symbols of a text are. A callable takes a text and returns its tokens; items
        that are lists of tokens are taken as they are.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(length=2)(["banana"], ["bandana", "nab"])
    array([[6., 1.]])
    >>> Spectrum(length=1, tokenizer="words")(["to be or not to be"], ["be"])
    array([[2.]])
    """

    length: int | tuple[int, int] = 3
    weights: tuple[float, ...] | None = None
    tokenizer: str | Callable = "characters"
    item_name = "text"

    def __post_init__(self) -> None:
        require_length(self.length)
        require_tokenizer(self.tokenizer)
        self._require_weights()

    def _require_weights(self) -> None:
        if self.weights is None:
            return
        shortest, longest = length_range(self.length)
        if len(self.weights) != longest - shortest + 1:
            raise ParameterError(
                f"weights must have one number for each length from {shortest} to {longest}, got {self.weights!r}"
            )
        for weight in self.weights:
            require_non_negative("weights", weight)

    def _occurrences(self, symbols: "Symbols") -> list[Array]:
        """(text, first place, length, key, weight of the feature) of all substrings."""
        shortest, longest = length_range(self.length)
        weights = self.weights or (1.0,) * (longest - shortest + 1)
        parts = []
        for length, weight in zip(range(shortest, longest + 1), weights, strict=True):
            item, begin, key = substrings(symbols, length)
            parts.append((item, begin, np.full(len(key), length), key, np.full(len(key), weight**0.5)))
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def encode(self, items: list[Any], dtype: DTypeLike) -> Counts:
        symbols = symbols_of(items, self.tokenizer)
        item, _, _, key, weight = self._occurrences(symbols)
        return Counts.from_occurrences(item, key, weight, len(items), dtype)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The substrings, in the order of the columns of ``feature_map(X)``."""
        symbols = symbols_of(items_of(X, self.item_name), self.tokenizer)
        _, begin, length, key, _ = self._occurrences(symbols)
        first = np.unique(key, return_index=True)[1]
        return [symbols.spelled(begin[k], length[k]) for k in first]
