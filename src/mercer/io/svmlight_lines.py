"""Lines of an svmlight file, parsed by compiled code.

A line is ``label [qid:number] index:value index:value ... [# comment]``, indices ascending.
Numbers come out as whole mantissas and powers of ten, from which NumPy makes the nearest
double: exactly, as long as both are small (Clinger 1990). What is longer is left to Python.
"""

import numpy as np

from mercer._jit.compile import jit

# Why a line is refused.
REASONS = (
    "",
    "the label must be a finite number",
    "an index must be a whole number followed by a colon",
    "a value must be a finite number",
    "an index is too small; the first is {first}, and zero_based says so",
    "indices must ascend",
    "an index exceeds n_features={n_features}",
    "qid must be a whole number",
)
LABEL, INDEX, VALUE, SMALL, ORDER, LARGE, QID = range(1, 8)
# Exponents that mark a number which Python is to read.
LONG = 10_000


@jit
def is_blank(byte):
    """White space that does not end the line."""
    return byte == 32 or (9 <= byte <= 13 and byte != 10)


@jit
def ends_token(text, p):
    """Whether a token ends before place p."""
    return p >= text.shape[0] or is_blank(text[p]) or text[p] == 10 or text[p] == 35


@jit
def whole(text, p):
    """(number, place after it); -1 where there is none."""
    value, begin = 0, p
    while p < text.shape[0] and 48 <= text[p] <= 57:
        if value < 2**58:
            value = value * 10 + (text[p] - 48)
        p += 1
    return (value if p > begin else -1), p


@jit
def number(text, p):
    """(mantissa, power of ten, place after it); the place is -1 where there is no number."""
    mantissa, power, digits = 0, 0, 0
    negative = p < text.shape[0] and text[p] == 45
    if p < text.shape[0] and (text[p] == 45 or text[p] == 43):
        p += 1
    is_long, after_point = False, False
    while p < text.shape[0]:
        if text[p] == 46 and not after_point:
            after_point = True
        elif 48 <= text[p] <= 57:
            digits += 1
            if mantissa < 2**53 // 10:
                mantissa = mantissa * 10 + (text[p] - 48)
                power -= after_point
            else:
                is_long = True
        else:
            break
        p += 1
    if digits == 0:
        return 0, 0, -1
    if p < text.shape[0] and (text[p] == 101 or text[p] == 69):
        p += 1
        down = p < text.shape[0] and text[p] == 45
        if p < text.shape[0] and (text[p] == 45 or text[p] == 43):
            p += 1
        exponent, p = whole(text, p)
        if exponent < 0:
            return 0, 0, -1
        power += -min(exponent, 9999) if down else min(exponent, 9999)
    if is_long or power < -22 or power > 22:
        power = LONG
    return (-mantissa if negative else mantissa), power, p


@jit
def parse_lines(text, first, n_features, labels, label_powers, label_places, indptr, indices, values, powers, places):
    """(rows, lines read, reason of the line that follows or 0, its place), tables filled.

    -0 has no mantissa; it becomes 0, which is the same feature.
    """
    p, row, entry, line = 0, 0, 0, 0
    indptr[0] = 0
    while p < text.shape[0]:
        begin, entry_before = p, entry
        while p < text.shape[0] and is_blank(text[p]):
            p += 1
        reason = 0
        if p < text.shape[0] and text[p] != 10 and text[p] != 35:
            label_places[row] = p
            labels[row], label_powers[row], p = number(text, p)
            if p < 0 or not ends_token(text, p):
                return row, line, LABEL, begin
            p, entry, reason = features(text, p, first, n_features, entry, indices, values, powers, places)
            if reason:
                return row, line, reason, begin
            row += 1
            indptr[row] = entry
        else:
            entry = entry_before
        while p < text.shape[0] and text[p] != 10:
            p += 1
        p += 1
        line += 1
    return row, line, 0, 0


@jit
def features(text, p, first, n_features, entry, indices, values, powers, places):
    """(place at the end of the line's entries, entries, reason or 0)."""
    previous = -1
    while True:
        while p < text.shape[0] and is_blank(text[p]):
            p += 1
        if p >= text.shape[0] or text[p] == 10 or text[p] == 35:
            return p, entry, 0
        if text[p] == 113:  # q
            is_qid = p + 4 < text.shape[0] and text[p + 1] == 105 and text[p + 2] == 100 and text[p + 3] == 58
            found, after = whole(text, p + 4) if is_qid else (-1, p)
            if found < 0 or not ends_token(text, after):
                return p, entry, QID
            p = after
            continue
        index, p = whole(text, p)
        if index < 0 or p >= text.shape[0] or text[p] != 58:
            return p, entry, INDEX
        index -= first
        if index < 0:
            return p, entry, SMALL
        if index <= previous:
            return p, entry, ORDER
        if index >= n_features:
            return p, entry, LARGE
        previous, places[entry] = index, p + 1
        values[entry], powers[entry], p = number(text, p + 1)
        if p < 0 or not ends_token(text, p):
            return p, entry, VALUE
        indices[entry] = index
        entry += 1


def doubles(text, mantissas, powers, places):
    """The numbers themselves."""
    with np.errstate(over="ignore"):
        small = np.clip(powers, -22, 22)
        found = np.where(small < 0, mantissas / 10.0 ** np.abs(small), mantissas * 10.0 ** np.abs(small))
    for k in np.flatnonzero(powers == LONG):
        token = text[places[k] : places[k] + 400].split(b"#")[0].split()[0]
        found[k] = float(token)
    return found
