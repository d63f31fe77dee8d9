"""Where the rows of delimited text begin: line breaks inside quotation marks do not end a row.

A quotation mark opens a value only at its beginning, as for the csv module and pyarrow; inside one, two of them mean
one. The state is carried from piece to piece, so a file of any size is scanned in bounded memory.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array, IndexArray

# The states: at the beginning of a value, inside one, inside quotation marks, after one that may have closed them.
BEGIN, WITHIN, QUOTED, CLOSED = range(4)
_QUOTE, _LINE_FEED, _RETURN = b'"\n\r'


@jit
def scan_rows(content: Array, delimiter: int, state: IndexArray, every: int, starts: IndexArray) -> int:
    """Go through a piece of text; how many places were noted in `starts`.

    `state` is [state of a value, rows so far, lines so far, whether the line holds anything, whether the last byte was
    a carriage return that may end a line by itself]. After each `every` rows that hold anything, three numbers are
    noted: the place in this piece where the next line begins, the rows and the lines before it.
    """
    value, rows, lines, is_filled, after_return, found = state[0], state[1], state[2], state[3], state[4], 0
    for p in range(content.shape[0]):
        byte = content[p]
        ends_before = after_return == 1 and byte != _LINE_FEED
        ends_here = byte == _LINE_FEED and value != QUOTED
        after_return = 1 if byte == _RETURN and value != QUOTED else 0
        if byte == _LINE_FEED or ends_before:
            lines += 1
        if ends_before or ends_here:
            value = BEGIN
            rows += is_filled
            if is_filled == 1 and rows % every == 0:
                starts[found, 0], starts[found, 1], starts[found, 2] = p + (1 if ends_here else 0), rows, lines
                found += 1
            is_filled = 0
        if ends_here or byte == _RETURN:
            continue
        if value == QUOTED:
            if byte == _QUOTE:
                value = CLOSED
        elif byte == delimiter:
            value, is_filled = BEGIN, 1
        elif byte == _QUOTE and value != WITHIN:
            value, is_filled = QUOTED, 1
        else:
            value, is_filled = WITHIN, 1
    state[0], state[1], state[2], state[3], state[4] = value, rows, lines, is_filled, after_return
    return found


def first_state() -> IndexArray:
    """The state before the first byte."""
    return np.array([BEGIN, 0, 0, 0, 0], np.int64)
