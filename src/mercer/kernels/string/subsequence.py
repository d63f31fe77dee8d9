"""The gap-weighted subsequence kernel (Lodhi, Saunders, Shawe-Taylor, Cristianini & Watkins 2002)."""

import math
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._jit.threads import run_parallel, thread_count
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels._types import Features
from mercer.kernels.base.kernel import block_of
from mercer.kernels.base.parameters import require_positive
from mercer.kernels.base.structured import Packed, StructuredKernel, items_of
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_keys import fingerprints
from mercer.kernels.string.lengths import length_range, require_length
from mercer.kernels.string.subsequence_dp import LANES, subsequence_tile
from mercer.kernels.string.subsequence_features import write_features
from mercer.kernels.string.tokens import Symbols, joined, require_tokenizer, symbols_of

if TYPE_CHECKING:
    from mercer.kernels.items.counts import Vocabulary


# Seconds that a cell of the dynamic programme takes, for a length, and a tile may take.
CELL_SECONDS, TILE_SECONDS = 6e-10, 0.05
EXPLICIT_TILE = 256
CACHE_BYTES = 2**15
# Features that are written out for a text, at most, and bytes of them that are kept.
MOST_FEATURES, KEPT_BYTES = 20_000, 2**30
WEIGHTINGS = ("span", "span-1")


@dataclass(frozen=True)
class Subsequence(StructuredKernel):
    """k(s, t) = sum_u phi_u(s) phi_u(t), phi_u(s) = sum over occurrences of u of decay^span.

    u runs over all sequences of the given length, an occurrence may have gaps, and its span
    is the number of symbols from its first to its last, gaps included.

    Parameters
    ----------
    length : int or (int, int)
        Of the subsequences; a pair is the shortest and the longest.
    decay : float
        In (0, 1]: the factor for each further symbol of the span, and so for each gap.
    weighting : "span" or "span-1"
        The power of `decay`: "span", as in Lodhi et al., or one less, so that a single symbol has weight 1.
    tokenizer : "characters", "words" or callable
        What the symbols of a text are. A callable takes a text and returns its tokens; items
        that are lists of tokens are taken as they are.

    Notes
    -----
    Time p |s| |t| for length p, counting only symbols that both texts have. If the alphabet has few sequences of that
    length (DNA up to length 7, proteins up to 3), the features are written out instead, and an entry is their inner
    product.

    Examples
    --------
    >>> from mercer.kernels import Subsequence
    >>> Subsequence(length=2, decay=0.5)(["cat"], ["car"])  # both have "ca", span 2 in each
    array([[0.0625]])
    >>> words = Subsequence(length=2, tokenizer="words").normalized()
    >>> words(["man bites dog"], ["man bites hot dog", "dog bites man"]).round(2)
    array([[0.57, 0.  ]])
    """

    length: int | tuple[int, int] = 3
    decay: float = 0.5
    weighting: str = "span"
    tokenizer: str | Callable = "characters"
    item_name = "text"

    def __post_init__(self) -> None:
        require_length(self.length)
        require_positive("decay", self.decay)
        if self.decay > 1:
            raise ParameterError(f"decay must be at most 1, got {self.decay!r}")
        if self.weighting not in WEIGHTINGS:
            raise ParameterError(f'weighting must be "span" or "span-1", got {self.weighting!r}')
        require_tokenizer(self.tokenizer)

    def encode(self, items: list[Any], dtype: DTypeLike) -> Packed:
        texts = Texts(symbols_of(items, self.tokenizer))
        edge = EXPLICIT_TILE
        if not self._is_explicit(texts.vocabulary, dtype):
            _, longest = length_range(self.length)
            mean = float(texts.lengths.mean()) if len(items) else 0.0
            edge = math.isqrt(int(TILE_SECONDS / max(CELL_SECONDS * longest * mean**2, 1e-6)))
        return Packed(texts, np.arange(len(items)), dtype, min(512, max(2, edge)))

    def _n_features(self, size: int) -> int:
        shortest, longest = length_range(self.length)
        return sum(size**p for p in range(shortest, longest + 1))

    def _is_explicit(self, vocabulary: "Vocabulary", dtype: DTypeLike) -> bool:
        """Whether features over this vocabulary are few, and fit into the precision asked for."""
        _, longest = length_range(self.length)
        if longest * math.log(max(2, len(vocabulary))) > math.log(1 + MOST_FEATURES):
            return False
        return self._n_features(len(vocabulary)) <= MOST_FEATURES and self._state_dtype(dtype, 1e4) == dtype

    def _explicit(self, part: Packed, vocabulary: "Vocabulary") -> Array:
        """Features of the texts of `part` over a vocabulary; kept for all texts if there is room."""
        texts = part.arrays
        width = self._n_features(len(vocabulary))
        if len(texts) * width * part.dtype.itemsize > KEPT_BYTES:
            return self._written(texts, part.index, vocabulary, part.dtype)
        with texts.lock:
            # One thread writes them, and the others wait for it: each would write all of them.
            if vocabulary not in texts.features:
                texts.features[vocabulary] = self._written(texts, np.arange(len(texts)), vocabulary, part.dtype)
            features = texts.features[vocabulary]
        return _rows_at(features, part.index)

    def _written(self, texts: "Texts", index: IndexArray, vocabulary: "Vocabulary", dtype: DTypeLike) -> Array:
        out = np.empty((len(index), self._n_features(len(vocabulary))), dtype)
        places, lengths = texts.vocabulary.places_in(vocabulary), length_range(self.length)
        arguments = (places, len(vocabulary), lengths, float(self.decay), self._first())

        def fill(begin: int) -> None:
            chosen = slice(begin, begin + 64)
            write_features(texts.codes, texts.offsets, index[chosen], *arguments, out[chosen])

        run_parallel(fill, range(0, len(index), 64), thread_count(None))
        return out

    def tile(self, left: Packed, right: Packed, out: Array, row: int, column: int) -> None:
        if not len(left) or not len(right):
            return
        vocabulary = right.arrays.vocabulary
        if self._is_explicit(vocabulary, left.dtype):
            x, y = self._explicit(left, vocabulary), self._explicit(right, vocabulary)
            block_of(out, row, column, (len(left), len(right)))[...] = np.dot(x, y.T)
            return
        s, t = left.arrays, right.arrays
        most_s, most_t = (int(part.arrays.lengths[part.index].max()) for part in (left, right))
        powers = self._powers(max(most_s, most_t), self._state_dtype(left.dtype, max(most_s, most_t)))
        _, longest = length_range(self.length)
        strip = min(max(most_s, 1), _strip(longest, powers.itemsize))
        subsequence_tile(
            (s.codes, s.offsets, left.index), s.vocabulary.places_in(t.vocabulary),
            (t.codes, t.offsets, right.index), len(t.vocabulary), (longest, most_s, most_t, strip, left.is_same(right)),
            powers, self._weights(), out, row, column,
        )  # fmt: skip

    def _state_dtype(self, dtype: DTypeLike, most: float) -> type[np.floating[Any]]:
        """Single precision only where sums over common subsequences neither overflow nor vanish."""
        reach = most if self.decay == 1 else min(most, 1 / (1 - self.decay))
        _, longest = length_range(self.length)
        digits = 2 * longest * max(math.log10(max(reach, 1.0)), -math.log10(self.decay))
        return np.float32 if dtype == np.float32 and digits < 30 else np.float64

    def _powers(self, most: int, dtype: DTypeLike) -> FloatArray:
        """decay^gap; what is too small for `dtype` is zero, since tiny numbers are slow."""
        powers = self.decay ** np.arange(most + 1, dtype=np.float64)
        return np.where(powers < np.finfo(dtype).tiny, 0.0, powers).astype(dtype)

    def _weights(self) -> FloatArray:
        """Of the sums for each length; they leave out the first symbol of either span."""
        shortest, longest = length_range(self.length)
        return np.r_[np.zeros(shortest), np.full(longest + 1 - shortest, self._first() ** 2)]

    def _first(self) -> float:
        """What the first symbol of an occurrence takes off."""
        return self.decay if self.weighting == "span" else 1.0

    def diag_of(self, prepared: Packed) -> FloatArray:
        if self._is_explicit(prepared.arrays.vocabulary, prepared.dtype):
            features = self._explicit(prepared, prepared.arrays.vocabulary)
            return np.einsum("ij,ij->i", features, features, dtype=np.float64)
        out = np.empty(len(prepared))

        def fill(i: int) -> None:
            value = np.empty((1, 1))
            item = prepared.slice(i, i + 1)
            self.tile(item, item, value, 0, 0)
            out[i] = value[0, 0]

        run_parallel(fill, range(len(prepared)), thread_count(None) if cast(int, prepared.longest_tile) < 512 else 1)
        return out

    def feature_map(self, X: Rows) -> Features:
        """phi(X) as a CSR matrix, one column for each subsequence that occurs in X.

        There are many: it is meant for short texts. Which columns there are depends on X.
        """
        item, subsequence, weight = self._features(X)
        names = fingerprints(subsequence)
        return Counts.from_occurrences(item, names, weight, len(X), np.float64).to_scipy()

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The subsequences, in the order of the columns of ``feature_map(X)``."""
        _, subsequence, _ = self._features(X)
        first = np.unique(fingerprints(subsequence), return_index=True)[1]
        return [joined(subsequence[k]) for k in first]

    def _features(self, X: Rows) -> tuple[IndexArray, list[Any], FloatArray]:
        symbols = symbols_of(items_of(X, self.item_name), self.tokenizer)
        item, subsequence, weight = [], [], []
        for i in range(len(symbols)):
            tokens = [symbols.tokens[code] for code in symbols.codes[symbols.offsets[i] : symbols.offsets[i + 1]]]
            found = _weighted_subsequences(tokens, *length_range(self.length), self.decay)
            item += [i] * len(found)
            subsequence += found
            weight += found.values()
        return np.array(item, np.int64), subsequence, self._first() * np.array(weight, np.float64)


class Texts(Symbols):
    """Symbols with the features that have been written out, by vocabulary."""

    def __init__(self, symbols: Symbols) -> None:
        super().__init__(symbols.codes, symbols.offsets, symbols.vocabulary, symbols.tokens)
        self.features, self.lock = weakref.WeakKeyDictionary(), threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("features", "lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, features=weakref.WeakKeyDictionary(), lock=threading.Lock())


def _rows_at(features: Array, index: IndexArray) -> Array:
    """The rows at `index`, without a copy where they follow each other."""
    if len(index) and (np.diff(index) == 1).all():
        return features[index[0] : index[-1] + 1]
    return features[index]


def _strip(longest: int, itemsize: int) -> int:
    """Rows of the dynamic programme whose sums take half of the first-level cache."""
    return max(64, CACHE_BYTES // ((4 * longest + 3) * itemsize) // LANES * LANES)


def _weighted_subsequences(
    tokens: Sequence[Any], shortest: int, longest: int, decay: float
) -> dict[tuple[Any, ...], float]:
    """Each subsequence with the sum of decay^(span - 1) over its occurrences."""
    # reaching[u]: the sum over occurrences of u of decay^(how far its first symbol lies back).
    reaching, total = {}, {}
    for token in tokens:
        reaching = {u: decay * weight for u, weight in reaching.items()}
        longer = [((*u, token), weight) for u, weight in reaching.items() if len(u) < longest]
        for u, weight in [((token,), 1.0), *longer]:
            reaching[u] = reaching.get(u, 0.0) + weight
            if len(u) >= shortest:
                total[u] = total.get(u, 0.0) + weight
    return total
