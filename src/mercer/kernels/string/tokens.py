"""From texts to symbols: characters, words, or whatever a tokenizer finds.

A text becomes a stretch of small integers. Which symbol an integer stands for is said by a
`Vocabulary` of 64-bit keys, so that texts read at different times agree on their symbols: a
character's key is its code point, a longer token's its fingerprint.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer._types import IndexArray, Items
from mercer.kernels._types import KeyArray
from mercer.kernels.base.progress import unless_stopped
from mercer.kernels.items.counts import Vocabulary
from mercer.kernels.items.feature_keys import fingerprint

WORD = re.compile(r"\w+|[^\w\s]")
CODE_POINTS = 0x110000


class Symbols:
    """Texts as integers, one after the other.

    Parameters
    ----------
    codes : ndarray of int32
        Positions in the vocabulary.
    offsets : ndarray of int64, shape (n + 1,)
        Text i is codes[offsets[i]:offsets[i + 1]].
    vocabulary : Vocabulary
    tokens : list
        The symbol of each code, as the user wrote it.
    """

    def __init__(self, codes: IndexArray, offsets: IndexArray, vocabulary: Vocabulary, tokens: list[Any]) -> None:
        self.codes, self.offsets = codes, offsets
        self.vocabulary, self.tokens = vocabulary, tokens

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IndexArray:
        return np.diff(self.offsets)

    @property
    def keys(self) -> KeyArray:
        """The key of every symbol of every text."""
        return self.vocabulary.keys[self.codes]

    def spelled(self, begin: int, length: int) -> str:
        """The `length` symbols from `begin` on, as a feature's name."""
        return joined([self.tokens[code] for code in self.codes[begin : begin + length]])


def joined(tokens: Iterable[Any]) -> str:
    """Tokens as one name: characters side by side, longer ones with blanks between them."""
    tokens = [str(token) for token in tokens]
    return ("" if all(len(token) == 1 for token in tokens) else " ").join(tokens)


def require_tokenizer(tokenizer: str | Callable[..., Any]) -> None:
    """Refuse anything but "characters", "words" or a function."""
    if not callable(tokenizer) and tokenizer not in ("characters", "words"):
        raise ParameterError(f'tokenizer must be "characters", "words" or a function of a text, got {tokenizer!r}')


def symbols_of(items: Items, tokenizer: str | Callable[..., Any], lowercase: bool = False) -> Symbols:
    """Read texts, or texts that are split into tokens already, into `Symbols`."""
    texts = [_decoded(item, place) for place, item in enumerate(unless_stopped(items))]
    if lowercase:
        texts = [_lowered(text) for text in texts]
    split = [not isinstance(text, str) for text in texts]
    if any(split) and not all(split):
        place = split.index(not split[0])
        raise DataError(
            f"item {place} of X is {_kind(texts[place])}, but item 0 is {_kind(texts[0])}; "
            "pass all of them as texts, or all as sequences of tokens"
        )
    if not any(split):
        if tokenizer == "characters":
            return _characters(cast("list[str]", texts))
        split_text = WORD.findall if tokenizer == "words" else cast("Callable[..., Any]", tokenizer)
        texts = [_tokens(split_text(cast(str, text)), place) for place, text in enumerate(unless_stopped(texts))]
    return _from_tokens(texts)


def _kind(text: object) -> str:
    return "a text" if isinstance(text, str) else "a sequence of tokens"


def _decoded(item: Any, place: int) -> str | list[Any]:
    """A text as str; bytes are read as UTF-8."""
    if isinstance(item, str):
        return item
    if isinstance(item, (bytes, bytearray)):
        try:
            return bytes(item).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"item {place} of X is not UTF-8: {error.reason} at byte {error.start}; "
                "decode it first, for example by item.decode('latin-1')"
            ) from error
    return _tokens(item, place)


def _lowered(text: str | list[Any]) -> str | list[Any]:
    if isinstance(text, str):
        return text.lower()
    return [token.lower() if isinstance(token, str) else token for token in text]


def _tokens(item: Any, place: int) -> list[Any]:
    """A sequence of tokens as a list; numbers, None and the like are no texts."""
    if isinstance(item, (list, tuple)) or (isinstance(item, np.ndarray) and item.ndim == 1 and item.dtype.kind != "f"):
        return list(item)
    raise DataError(
        f"item {place} of X must be a text or a list of tokens, got {type(item).__name__}; pass str(item) or its tokens"
    )


def _characters(texts: Sequence[str]) -> Symbols:
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    present = np.zeros(CODE_POINTS, bool)
    present[points] = True
    keys = np.flatnonzero(present)
    code = np.zeros(CODE_POINTS, np.int32)
    code[keys] = np.arange(len(keys))
    offsets = _offsets([len(text) for text in texts])
    return Symbols(code[points], offsets, Vocabulary(keys.astype(np.uint64)), [chr(key) for key in keys])


def _from_tokens(texts: Sequence[Sequence[Any]]) -> Symbols:
    distinct = {}
    for place, text in enumerate(texts):
        for token in text:
            if token.__hash__ is None or isinstance(token, (float, np.floating)):
                raise DataError(
                    f"item {place} of X has a token of type {type(token).__name__}; tokens are words, "
                    "whole numbers or tuples of them"
                )
            distinct.setdefault(token, len(distinct))
    tokens = list(distinct)
    keys = np.array([_key(token) for token in tokens], np.uint64)
    order = np.argsort(keys, kind="stable")
    rank = np.empty(len(keys), np.int32)
    rank[order] = np.arange(len(keys), dtype=np.int32)
    codes = rank[np.array([distinct[token] for text in texts for token in text], np.int64)]
    return Symbols(codes, _offsets([len(text) for text in texts]), Vocabulary(keys[order]), [tokens[k] for k in order])


def _key(token: Any) -> np.uint64:
    """A single character has the key that it has in a text."""
    return np.uint64(ord(token)) if isinstance(token, str) and len(token) == 1 else fingerprint(token)


def _offsets(lengths: Sequence[int]) -> IndexArray:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
