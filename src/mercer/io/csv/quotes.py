"""Quotation marks and line breaks of delimited text, checked before a faster way of reading is trusted.

pyarrow reads in parallel only if told that no value contains a line break. It then cuts a file at any line break, even
inside quotation marks, and the result may be wrong. It is right if and only if there are as many rows as lines: each
row ends with a line break, so none contains a second one, and none is lost.
"""

from collections.abc import Iterator

import numpy as np

from mercer._types import Array, BoolArray, IndexArray

# Bytes processed at once: they and the intermediate results stay in the processor's cache.
_BLOCK = 2**17
_QUOTE, _LINE_FEED, _RETURN = b'"\n\r'


def has_quotes(content: Array) -> bool:
    """Whether there is a quotation mark below the first line, which names the columns."""
    return any(marks.any() for marks in _marks(content[_first_line(content) :], _QUOTE))


def look_through(content: Array) -> tuple[bool, int | None] | None:
    """None without quotation marks; otherwise whether one is unmatched, and the lines: see `count_lines`."""
    return (has_odd_quotes(content), count_lines(content)) if has_quotes(content) else None


def has_odd_quotes(content: Array) -> bool:
    """Whether a quotation mark is unmatched."""
    return sum(map(np.count_nonzero, _marks(content, _QUOTE))) % 2 == 1


def count_lines(content: Array) -> int | None:
    """The number of lines, each ended by a line feed; None if a carriage return alone may end one."""
    count = sum(map(np.count_nonzero, _marks(content, _LINE_FEED)))
    for k, marks in enumerate(_marks(content, _RETURN)):
        if marks.any() and not _are_followed(content, k * _BLOCK + np.flatnonzero(marks)):
            return None
    return int(count) + int(len(content) > 0 and content[-1] != _LINE_FEED)


def _are_followed(content: Array, returns: IndexArray) -> bool:
    """Whether a line feed follows each of these positions."""
    return bool((content[np.minimum(returns + 1, len(content) - 1)] == _LINE_FEED).all())


def _first_line(content: Array) -> int:
    """The length of the first line."""
    for k, marks in enumerate(_marks(content, _LINE_FEED)):
        if marks.any():
            return k * _BLOCK + int(marks.argmax()) + 1
    return len(content)


def _marks(content: Array, byte: int) -> Iterator[BoolArray]:
    """The positions of a byte in each block; one array is reused for all of them."""
    room = np.empty(_BLOCK, dtype=bool)
    for begin in range(0, len(content), _BLOCK):
        block = content[begin : begin + _BLOCK]
        yield np.equal(block, byte, out=room[: len(block)])
