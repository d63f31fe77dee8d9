"""Products of many rows with one, two or three vectors, sums of rows, and rows scaled: as fast as memory gives them.

BLAS is made for wide matrices on both sides: with two or three columns its products take four times as long as reading
the rows does. Sums go through memory once for all columns, and a row whose factor is zero, as most are that support
nothing, is not read at all.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray

# Columns that `dots` takes at a time.
WIDEST = 3
# Rows that stay in the cache while each column adds them.
_NEAR = 64


@jit
def dots(rows: Array, vectors: Array, out: FloatArray) -> None:
    """out[k, i] = the product of row i and vector k, for at most three vectors, in the precision of the rows."""
    vector_loop()
    n, m = rows.shape
    count = vectors.shape[0]
    first, second, third = vectors[0], vectors[min(1, count - 1)], vectors[count - 1]
    for i in range(n):
        row = rows[i]
        a = row.dtype.type(0)
        b = row.dtype.type(0)
        c = row.dtype.type(0)
        if count == 1:
            for j in range(m):
                a += row[j] * first[j]
        elif count == 2:
            for j in range(m):
                a += row[j] * first[j]
                b += row[j] * second[j]
        else:
            for j in range(m):
                a += row[j] * first[j]
                b += row[j] * second[j]
                c += row[j] * third[j]
        out[0, i] = a
        if count > 1:
            out[1, i] = b
        if count > 2:
            out[2, i] = c


@jit
def sums(rows: Array, factors: Array, places: IndexArray, out: FloatArray) -> None:
    """out[k] += the sum of factors[k, i] times row i; four rows at a time in their precision, these in double.

    `places` is room for one whole number more than rows stay near.
    """
    vector_loop()
    n, m = rows.shape
    near = places.shape[0] - 1
    for begin in range(0, n, near):
        end = min(n, begin + near)
        for k in range(factors.shape[0]):
            factor, total = factors[k], out[k]
            count = 0
            for i in range(begin, end):
                # Without a branch, which for rows in random order would be mispredicted half the time.
                places[count] = i
                count += 1 if factor[i] != 0.0 else 0
            whole = count // 4 * 4
            for at in range(0, whole, 4):
                p, q, r, s = places[at], places[at + 1], places[at + 2], places[at + 3]
                one, two, three, four = rows[p], rows[q], rows[r], rows[s]
                a, b, c, d = factor[p], factor[q], factor[r], factor[s]
                for j in range(m):
                    total[j] += (a * one[j] + b * two[j]) + (c * three[j] + d * four[j])
            for at in range(whole, count):
                one, a = rows[places[at]], factor[places[at]]
                for j in range(m):
                    total[j] += a * one[j]


@jit
def scaled_rows(rows: Array, places: IndexArray, factors: Array, constant: float, out: Array) -> None:
    """out[k] = factors[k] times (the row at places[k], constant), in the precision of the factors."""
    vector_loop()
    m = rows.shape[1]
    for k in range(places.shape[0]):
        row, factor, scaled = rows[places[k]], factors[k], out[k]
        for j in range(m):
            scaled[j] = factor * row[j]
        scaled[m] = factor * constant


def row_dots(rows: Array, vectors: Array) -> FloatArray:
    """The product of each row with each of some vectors (k, m), shape (k, n), in the precision of the rows."""
    out, vectors = np.empty((len(vectors), len(rows))), np.ascontiguousarray(vectors, rows.dtype)
    for begin in range(0, len(vectors), WIDEST):
        dots(rows, vectors[begin : begin + WIDEST], out[begin : begin + WIDEST])
    return out


def row_sums(rows: Array, factors: Array) -> FloatArray:
    """The sum of rows times their factors, for each of some lists of factors (k, n): shape (k, m)."""
    out = np.zeros((len(factors), rows.shape[1]))
    sums(rows, np.ascontiguousarray(factors, rows.dtype), np.empty(_NEAR + 1, np.int64), out)
    return out
