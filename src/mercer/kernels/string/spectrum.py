"""The spectrum kernel: how often each substring occurs (Leslie, Eskin & Noble 2002), and what that is worth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels._types import Features, KeyArray, Prepared
from mercer.kernels.base.parameters import require_non_negative
from mercer.kernels.base.structured import CountKernel, items_of
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_keys import mixed
from mercer.kernels.items.sparse_rows import SparseRows
from mercer.kernels.string.document_frequencies import DocumentFrequencies
from mercer.kernels.string.lengths import length_range, require_length
from mercer.kernels.string.tokens import require_tokenizer, symbols_of

if TYPE_CHECKING:
    from mercer.kernels.string.tokens import Symbols

WEIGHTINGS = ("count", "log", "tf-idf")


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
    """k(s, t) = sum over lengths p of w_p sum_u phi_u(s) phi_u(t), u of length p.

    phi_u(s) is how often the substring u occurs in s, or what `weighting` makes of that.

    Parameters
    ----------
    length : int or (int, int)
        Of the substrings; a pair is the shortest and the longest.
    weights : sequence of float, optional
        w_p, one for each length from the shortest on, none negative; all 1 by default.
    tokenizer : "characters", "words" or callable
        What the symbols of a text are. A callable takes a text and returns its tokens; items
        that are lists of tokens are taken as they are.
    weighting : {"count", "log", "tf-idf"}
        phi_u: the count c; 1 + log c, so that a word used ten times does not count ten times; or that times
        1 + log((1 + n) / (1 + n_u)), where n_u of the n training texts have u, so that rare words count more. A
        substring that no training text has counts as one that a single text has.
    lowercase : bool
        Whether texts are first converted to lower case.
    documents : DocumentFrequencies, optional
        What "tf-idf" has counted in the training texts; `bind` sets it.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(length=2)(["banana"], ["bandana", "nab"])
    array([[6., 1.]])
    >>> Spectrum(length=1, tokenizer="words")(["to be or not to be"], ["be"])
    array([[2.]])

    Both pairs share one word. The word that all texts have says less:

    >>> texts = ["the cat", "the dog", "the bird", "a cat"]
    >>> Spectrum(length=1, tokenizer="words", weighting="tf-idf").normalized()(texts)[0].round(2)
    array([1.  , 0.34, 0.34, 0.48])
    """

    length: int | tuple[int, int] = 3
    weights: tuple[float, ...] | None = None
    tokenizer: str | Callable = "characters"
    weighting: str = "count"
    lowercase: bool = False
    documents: DocumentFrequencies | None = field(default=None, repr=False)
    item_name = "text"

    def __post_init__(self) -> None:
        require_length(self.length)
        require_tokenizer(self.tokenizer)
        self._require_weights()
        if self.weighting not in WEIGHTINGS:
            raise ParameterError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")
        if not isinstance(self.lowercase, (bool, np.bool_)):
            raise ParameterError(f"lowercase must be True or False, got {self.lowercase!r}")
        if self.documents is not None and not isinstance(self.documents, DocumentFrequencies):
            raise ParameterError(f"documents must be DocumentFrequencies, got {self.documents!r}")

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

    @property
    def is_bound(self) -> bool:
        return self.weighting != "tf-idf" or self.documents is not None

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        """The kernel with the document frequencies of the texts X."""
        if self.is_bound:
            return self
        items = items_of(X, self.item_name)
        item, _, _, key, _ = self._occurrences(self.symbols(items))
        counts = Counts.from_occurrences(item, key, 1.0, len(items), np.float64)
        return self.replace(documents=DocumentFrequencies.of(counts, weights))

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        self._require_bound()
        return super().prepare(X, dtype, origin=origin, check=check)

    def symbols(self, items: list[Any]) -> "Symbols":
        """Texts as symbols, as the tokenizer finds them."""
        return symbols_of(items, self.tokenizer, self.lowercase)

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
        item, _, _, key, weight = self._occurrences(self.symbols(items))
        if self.weighting == "count":
            return Counts.from_occurrences(item, key, weight, len(items), dtype)
        counts = Counts.from_occurrences(item, key, 1.0, len(items), np.float64)
        rows, keys = counts.rows, counts.vocabulary.keys
        worth = np.ones(len(keys)) if self.documents is None else self.documents.inverse(keys)
        if self.weights is not None:
            own = np.empty(len(keys))
            own[np.searchsorted(keys, key)] = weight
            worth *= own
        data = ((1.0 + np.log(rows.data)) * worth[rows.indices]).astype(dtype)
        return Counts(SparseRows(rows.indptr, rows.indices, data, len(keys)), counts.vocabulary)

    def feature_map(self, X: Rows) -> Features:
        """The weighted counts as a CSR matrix, one column for each substring of X."""
        return super(Spectrum, self.bind(X)).feature_map(X)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The substrings, in the order of the columns of ``feature_map(X)``."""
        symbols = self.symbols(items_of(X, self.item_name))
        _, begin, length, key, _ = self._occurrences(symbols)
        first = np.unique(key, return_index=True)[1]
        return [symbols.spelled(begin[k], length[k]) for k in first]
