"""The double nearest to a decimal number, by integer arithmetic.

A decimal w 10^q with w of at most 19 digits is w 5^q 2^q. The product of w and the first 128 bits
of 5^q decides the 53 bits of the nearest double in all but very few cases (Lemire 2021, after
Eisel); those few, numbers of more digits, and the smallest and largest exponents are left to
Python. Cost: one or two products of 64 by 64 bits. Floating-point arithmetic, which the compiler
may reorder, takes no part.
"""

from functools import cache

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.words import as_double, full_product, leading_zeros, word_at
from mercer._types import Array

SMALLEST_POWER, LARGEST_POWER = -342, 308
# Digits that a 64-bit mantissa holds without loss.
MOST_DIGITS = 19

_ZERO, _ONE, _THREE, _ALL = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(2**64 - 1)
_MASK, _HIDDEN, _FRACTION = np.uint64(0x1FF), np.uint64(1 << 53), np.uint64((1 << 52) - 1)


@cache
def powers_of_five() -> Array:
    """Two words for each power: the first 128 bits of 5^q, rounded down, or up where ties may be (q from -27 to -1)."""
    table = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), np.uint64)
    for row, q in zip(table, range(SMALLEST_POWER, LARGEST_POWER + 1), strict=True):
        bits = _first_bits(5**q) if q >= 0 else _first_bits_of_inverse(5**-q)
        row[0], row[1] = bits >> 64, bits & (2**64 - 1)
    return table


def _first_bits(whole: int) -> int:
    shift = whole.bit_length() - 128
    return whole >> shift if shift > 0 else whole << -shift


def _first_bits_of_inverse(whole: int) -> int:
    bits = (1 << (127 + (whole - 1).bit_length())) // whole
    return bits + 1 if whole <= 5**27 else bits


@jit
def nearest_double(w: np.uint64, q: int, fives: int) -> tuple[float, bool]:
    """(the double nearest to w 10^q, whether it is known); `fives` is where the powers of five begin."""
    if w < _HIDDEN and q == 0:
        return np.float64(np.int64(w)), True
    if w == _ZERO or q < SMALLEST_POWER or q > LARGEST_POWER:
        return 0.0, w == _ZERO
    zeros = leading_zeros(w)
    w <<= np.uint64(zeros)
    high, low = full_product(w, word_at(fives, 2 * (q - SMALLEST_POWER)))
    if high & _MASK == _MASK:
        # The bits that follow may decide: the second word of the power is needed.
        more, _ = full_product(w, word_at(fives, 2 * (q - SMALLEST_POWER) + 1))
        low += more
        if low < more:
            high += _ONE
        if low == _ALL:
            return 0.0, False
    top = high >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = high >> shift
    # floor(q log2 10), by a fraction that is exact for every q of the table
    exponent = ((217706 * q) >> 16) + 63 + np.int64(top) - zeros + 1023
    if low <= _ONE and -4 <= q <= 23 and mantissa & _THREE == _ONE and mantissa << shift == high:
        mantissa -= _ONE  # exactly between two doubles: to the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    if mantissa >= _HIDDEN:
        mantissa >>= _ONE
        exponent += 1
    if exponent <= 0 or exponent >= 2047:
        return 0.0, False
    return as_double((np.uint64(exponent) << np.uint64(52)) | (mantissa & _FRACTION)), True
