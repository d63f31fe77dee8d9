"""Quotation marks and line breaks of delimited text, looked at before a faster way of reading is trusted.

pyarrow reads in parallel only if told that no value holds a line break. Then a file is cut at any line break, also at
one in quotation marks, and what is read may be wrong. It is right if and only if there are as many rows as lines: each
row ends with a line break, so none has a second one, and none is lost.
"""

import numpy as np

# Bytes looked at in one go: they and what is made of them stay in the processor's cache.
_BLOCK = 2**17
_QUOTE, _LINE_FEED, _RETURN = b'"\n\r'


def has_quotes(content):
    """Whether there is a quotation mark in an array of bytes below the first line, which names the columns."""
    return any((block == _QUOTE).any() for block in _blocks(content[_first_line(content) :]))


def has_odd_quotes(content):
    """Whether a quotation mark is without its fellow."""
    return sum(np.count_nonzero(block == _QUOTE) for block in _blocks(content)) % 2 == 1


def count_lines(content):
    """How many lines there are, each ended by a line feed; None if a carriage return alone may end one."""
    count = sum(np.count_nonzero(block == _LINE_FEED) for block in _blocks(content))
    if any(_ends_by_return(content, begin) for begin in range(0, len(content), _BLOCK)):
        return None
    return count + int(len(content) > 0 and content[-1] != _LINE_FEED)


def _ends_by_return(content, begin):
    """Whether a carriage return in a block is followed by anything but a line feed."""
    is_return = content[begin : begin + _BLOCK] == _RETURN
    if not is_return.any():
        return False
    after = np.minimum(begin + np.flatnonzero(is_return) + 1, len(content) - 1)
    return bool((content[after] != _LINE_FEED).any())


def _first_line(content):
    """The length of the first line."""
    for begin in range(0, len(content), _BLOCK):
        found = np.flatnonzero(content[begin : begin + _BLOCK] == _LINE_FEED)
        if found.size:
            return begin + int(found[0]) + 1
    return len(content)


def _blocks(content):
    return (content[begin : begin + _BLOCK] for begin in range(0, len(content), _BLOCK))
