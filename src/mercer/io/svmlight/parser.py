"""Lines of an svmlight file, parsed by compiled code.

A line is ``label [qid:number] index:value index:value ... [# comment]``, indices ascending. Lines of
models have several numbers, or none, in place of the label. The
text must end with a line break, so that no loop needs to look for the end of the text. Functions
take the address where it begins (see `address_of`).
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.words import address_of, byte_at
from mercer._types import Array, FloatArray, IndexArray
from mercer.io.svmlight.nearest_double import MOST_DIGITS, nearest_double

# Why a line is refused.
REASONS = (
    "",
    "{label} must be a finite number",
    "an index must be a whole number followed by a colon",
    "a value must be a finite number",
    "an index is too small; the first is {first}, as zero_based says",
    "indices must ascend",
    "an index exceeds n_features={n_features}",
    "qid must be a whole number",
)
LABEL, INDEX, VALUE, SMALL, ORDER, LARGE, QID = range(1, 8)

_TEN = np.uint64(10)
# Above it, no further digit is added to an index or an exponent: it is already too large.
_ENOUGH = 10**9 * 4


@jit
def is_blank(byte: int) -> bool:
    """White space that does not end the line."""
    return byte == 32 or (9 <= byte <= 13 and byte != 10)


@jit
def ends_token(byte: int) -> bool:
    """Whether this byte comes after a token and not within it."""
    return byte == 32 or (9 <= byte <= 13) or byte == 35


@jit
def whole(text: int, p: int) -> tuple[int, int]:
    """(number, place after it); -1 where there is none."""
    value, begin = 0, p
    while 48 <= byte_at(text, p) <= 57:
        if value < _ENOUGH:
            value = value * 10 + (byte_at(text, p) - 48)
        p += 1
    return (value if p > begin else -1), p


@jit
def power_of_ten(text: int, p: int) -> tuple[int, int]:
    """(what follows an e, 0 where there is none, place after it); the place is -1 where a number is missing."""
    if byte_at(text, p) | 32 != 101:  # e or E
        return 0, p
    p += 1
    down = byte_at(text, p) == 45
    if down or byte_at(text, p) == 43:
        p += 1
    exponent, p = whole(text, p)
    return (-exponent if down else exponent), (p if exponent >= 0 else -1)


@jit
def number(text: int, p: int, fives: int) -> tuple[float, bool, int]:
    """(the nearest double, whether it is known, place after it); the place is -1 where there is none."""
    negative = byte_at(text, p) == 45
    if byte_at(text, p) == 45 or byte_at(text, p) == 43:
        p += 1
    mantissa, power, digits, counted = np.uint64(0), 0, 0, 0
    point = -1
    while True:
        byte = byte_at(text, p)
        if 48 <= byte <= 57:
            digits += 1
            # Leading zeros are not digits of the mantissa.
            if counted > 0 or byte != 48:
                counted += 1
            if counted <= MOST_DIGITS:
                mantissa = mantissa * _TEN + np.uint64(byte - 48)
        elif byte == 46 and point < 0:
            point = digits
        else:
            break
        p += 1
    if digits == 0:
        return 0.0, True, -1
    if point >= 0:
        power = point - digits
    exponent, p = power_of_ten(text, p)
    if p < 0 or counted > MOST_DIGITS:
        return 0.0, False, p
    value, known = nearest_double(mantissa, power + exponent, fives)
    return (-value if negative else value), known, p


@jit
def parse_lines(
    characters: Array,
    n_labels: int,
    first: int,
    n_features: int,
    powers: Array,
    labels: FloatArray,
    indptr: IndexArray,
    indices: IndexArray,
    values: FloatArray,
    slow: IndexArray,
    slow_places: IndexArray,
) -> tuple[int, int, int, int, int, int]:
    """(rows, lines read, numbers left to Python, reason of the line that follows or 0, its place, where it errs).

    A number that is left to Python has its place in `slow_places`, and in `slow` its entry, or for
    a label -1 less its position in `labels`.
    """
    p, row, entry, line, left = 0, 0, 0, 0, 0
    indptr[0] = 0
    end, text, fives = characters.shape[0], address_of(characters), address_of(powers)
    while p < end:
        begin = p
        while is_blank(byte_at(text, p)):
            p += 1
        if byte_at(text, p) != 10 and byte_at(text, p) != 35:
            for k in range(row * n_labels, (row + 1) * n_labels):
                while is_blank(byte_at(text, p)):
                    p += 1
                at = p
                labels[k], known, p = number(text, p, fives)
                if p < 0 or not ends_token(byte_at(text, p)):
                    return row, line, left, LABEL, begin, at
                if not known:
                    slow[left], slow_places[left] = -1 - k, at
                    left += 1
            p, entry, left, reason = features(
                text, p, first, n_features, fives, entry, indices, values, slow, slow_places, left
            )
            if reason:
                return row, line, left, reason, begin, p
            row += 1
            indptr[row] = entry
        while byte_at(text, p) != 10:
            p += 1
        p += 1
        line += 1
    return row, line, left, 0, 0, 0


@jit
def features(
    text: int,
    p: int,
    first: int,
    n_features: int,
    fives: int,
    entry: int,
    indices: IndexArray,
    values: FloatArray,
    slow: IndexArray,
    slow_places: IndexArray,
    left: int,
) -> tuple[int, int, int, int]:
    """(place at the end of the line's entries or where it errs, entries, numbers left to Python, reason or 0)."""
    previous = -1
    while True:
        while is_blank(byte_at(text, p)):
            p += 1
        at = p
        if byte_at(text, p) == 10 or byte_at(text, p) == 35:
            return p, entry, left, 0
        if byte_at(text, p) == 113:  # q
            is_qid = byte_at(text, p + 1) == 105 and byte_at(text, p + 2) == 100 and byte_at(text, p + 3) == 58
            found, after = whole(text, p + 4) if is_qid else (-1, p)
            if found < 0 or not ends_token(byte_at(text, after)):
                return at, entry, left, QID
            p = after
            continue
        index, p = whole(text, p)
        if index < 0 or byte_at(text, p) != 58:
            return at, entry, left, INDEX
        index -= first
        if index < 0:
            return at, entry, left, SMALL
        if index <= previous:
            return at, entry, left, ORDER
        if index >= n_features:
            return at, entry, left, LARGE
        previous, at = index, p + 1
        values[entry], known, p = number(text, at, fives)
        if p < 0 or not ends_token(byte_at(text, p)):
            return at, entry, left, VALUE
        if not known:
            slow[left], slow_places[left] = entry, at
            left += 1
        indices[entry] = index
        entry += 1
