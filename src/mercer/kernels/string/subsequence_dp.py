"""The compiled sum over common subsequences, along anti-diagonals.

For texts s and t let T_p[i, j] be the sum over subsequences of length p that both texts have
and that end at places i and j, each weighted by decay to the power of how far it reaches in s
and t. With E[i, j] = 1 where s_i = t_j, else 0,

    T_1 = E,    T_p[i, j] = E[i, j] sum over i' < i, j' < j of decay^(i - i' + j - j') T_{p-1}[i', j'].

The sum over j' is kept in R and that over i' in S, each with a recursion of its own, so that
nothing cancels. Cells of an anti-diagonal do not depend on each other: every loop below is
over one of them and becomes vector instructions. Symbols that only one of two texts has match
nothing; they are left out beforehand, and the decays across them are multiplied, so that the
work is p |s'| |t'| for what is left of the texts (words of a large vocabulary leave little).
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, BoolArray, IndexArray

# Vectors are whole: cells beside the matrix meet symbols that match nothing.
LANES = 16
NO_SYMBOL, NO_PARTNER = -1, -2


@jit
def _kept(
    codes: IndexArray, begin: int, end: int, is_known: BoolArray, powers: Array, symbols: IndexArray, decays: Array
) -> int:
    """Copy the symbols that the other text has, with the decay since the one before."""
    count, before = 0, begin
    for place in range(begin, end):
        code = codes[place]
        if is_known[code]:
            symbols[count] = code
            decays[count] = powers[place - before]
            before = place
            count += 1
    return count


@jit
def _turned(symbols: IndexArray, decays: Array, count: int, turned_symbols: IndexArray, turned_decays: Array) -> None:
    """The same, last symbol first, between cells that match nothing."""
    for k in range(LANES):
        turned_symbols[k] = turned_symbols[LANES + count + k] = NO_PARTNER
        turned_decays[k] = turned_decays[LANES + count + k] = 0
    for k in range(count):
        turned_symbols[LANES + k] = symbols[count - 1 - k]
        turned_decays[LANES + k] = decays[count - 1 - k]


# The loops over an anti-diagonal. Each reads and writes few arrays: of more than these the compiler would
# have to check too often that they do not overlap, and leaves the loop as it is.


@jit
def _add_symbols(here: IndexArray, there: IndexArray, a: Array, b: Array, match: Array, r: Array) -> float:
    """Single symbols that match: the weights for longer sequences, R, and their number."""
    zero, one = match.dtype.type(0), match.dtype.type(1)
    for i in range(match.shape[0]):
        match[i] = a[i] * b[i] if here[i] == there[i] else zero
    total = zero
    for i in range(match.shape[0]):
        same = one if here[i] == there[i] else zero
        total += same
        r[i] = b[i] * r[i] + same
    return total


@jit
def _add_longer(match: Array, before: Array, b: Array, r: Array) -> float:
    """Sequences that are one symbol longer than those of `before`: R, and the sum of their weights."""
    total = match.dtype.type(0)
    for i in range(match.shape[0]):
        ending = match[i] * before[i]
        total += ending
        r[i] = b[i] * r[i] + ending
    return total


@jit
def _add_above(a: Array, above: Array, r: Array, now: Array) -> None:
    """S from that of the cells above and R."""
    for i in range(now.shape[0]):
        now[i] = a[i] * above[i] + r[i]


@jit
def _sum_of_products(match: Array, before: Array) -> float:
    total = match.dtype.type(0)
    for i in range(match.shape[0]):
        total += match[i] * before[i]
    return total


@jit
def _add_strip(
    s: IndexArray,
    s_decays: Array,
    n: int,
    t: IndexArray,
    t_decays: Array,
    m: int,
    longest: int,
    totals: Array,
    work: tuple[Array, ...],
) -> None:
    """totals[p] += sum of T_p over the cells of n symbols of s and all m of t, turned round.

    Cell (i, d - i) of anti-diagonal d has index LANES + i. S[., p] holds the sums for an
    anti-diagonal and the two before it, in turn; edge[p, j] those of the row above the strip,
    which the strip's last row replaces.
    """
    E, R, S, edge = work
    zero = E.dtype.type(0)
    R[:, :] = zero
    S[:, :, :] = zero
    for p in range(longest - 1):
        S[2, p, LANES - 1] = edge[p, 0]
    for d in range(n + m - 1):
        first = LANES + (max(0, d - m + 1) // LANES) * LANES
        last = LANES + ((min(n, d + 1) + LANES - 1) // LANES) * LANES
        shift = m - 1 - d
        here, a = s[first:last], s_decays[first:last]
        there, b = t[first + shift : last + shift], t_decays[first + shift : last + shift]
        new, old, older = S[d % 3], S[(d + 2) % 3], S[(d + 1) % 3]
        match = E[first:last]
        totals[1] += _add_symbols(here, there, a, b, match, R[0][first:last])
        _add_above(a, old[0][first - 1 : last - 1], R[0][first:last], new[0][first:last])
        for p in range(1, longest - 1):
            totals[p + 1] += _add_longer(match, older[p - 1][first - 1 : last - 1], b, R[p][first:last])
            _add_above(a, old[p][first - 1 : last - 1], R[p][first:last], new[p][first:last])
        if longest > 1:
            totals[longest] += _sum_of_products(match, older[longest - 2][first - 1 : last - 1])
        for p in range(longest - 1):
            new[p, LANES - 1] = edge[p, d + 1] if d + 1 < m else zero
            if d >= n - 1:
                edge[p, d - n + 1] = new[p, LANES + n - 1]


@jit
def _add_subsequences(
    s: IndexArray,
    s_decays: Array,
    n: int,
    t: IndexArray,
    t_decays: Array,
    m: int,
    longest: int,
    totals: Array,
    strip: int,
    work: tuple[Array, ...],
    part: IndexArray,
    part_decays: Array,
) -> None:
    """totals[p] += sum of T_p over all cells, in strips whose sums stay in the first-level cache."""
    work[3][:, :m] = 0
    for begin in range(0, n, strip):
        rows = min(strip, n - begin)
        for k in range(rows):
            part[LANES + k], part_decays[LANES + k] = s[begin + k], s_decays[begin + k]
        for k in range(LANES):
            part[k] = part[LANES + rows + k] = NO_SYMBOL
            part_decays[k] = part_decays[LANES + rows + k] = 0
        _add_strip(part, part_decays, rows, t, t_decays, m, longest, totals, work)


@jit
def _mark(codes: IndexArray, begin: int, end: int, marks: BoolArray, value: bool) -> None:
    for place in range(begin, end):
        marks[codes[place]] = value


@jit
def subsequence_tile(
    left: tuple[IndexArray, IndexArray, IndexArray],
    places: IndexArray,
    right: tuple[IndexArray, IndexArray, IndexArray],
    size: int,
    limits: tuple[int, int, int, int, bool],
    powers: Array,
    weights: Array,
    out: Array,
    row: int,
    column: int,
) -> None:
    """out[row + i, column + j] = sum over lengths p of weights[p] times the sum of T_p.

    `left` and `right` are (codes, offsets, index); `places` translates left-hand codes into
    right-hand ones, of which there are `size`; `limits` are the longest subsequence, the longest
    texts on either side, the rows of a strip, and whether both sides are the same texts.
    """
    vector_loop()
    s_codes, s_offsets, s_index = left
    t_codes, t_offsets, t_index = right
    longest, most_s, most_t, strip, is_symmetric = limits
    dtype = powers.dtype
    s, s_decays = np.empty(most_s, np.int32), np.empty(most_s, dtype)
    t, t_decays = np.empty(most_t, np.int32), np.empty(most_t, dtype)
    turned, turned_decays = np.empty(most_t + 2 * LANES, np.int32), np.empty(most_t + 2 * LANES, dtype)
    part, part_decays = np.empty(strip + 2 * LANES, np.int32), np.empty(strip + 2 * LANES, dtype)
    width, levels = strip + 2 * LANES, max(1, longest - 1)
    work = (
        np.empty(width, dtype), np.empty((levels, width), dtype),
        np.empty((3, levels, width), dtype), np.empty((levels, most_t), dtype),
    )  # fmt: skip
    totals = np.empty(longest + 1, np.float64)
    in_s, in_t = np.zeros(size + 1, np.bool_), np.zeros(size + 1, np.bool_)
    translated = np.empty(most_s, np.int32)
    for i in range(s_index.shape[0]):
        begin, end = s_offsets[s_index[i]], s_offsets[s_index[i] + 1]
        for k in range(end - begin):
            translated[k] = places[s_codes[begin + k]]
        _mark(translated, 0, end - begin, in_s, True)
        in_s[size] = False
        for j in range(i if is_symmetric else 0, t_index.shape[0]):
            t_begin, t_end = t_offsets[t_index[j]], t_offsets[t_index[j] + 1]
            _mark(t_codes, t_begin, t_end, in_t, True)
            m = _kept(t_codes, t_begin, t_end, in_s, powers, t, t_decays)
            n = _kept(translated, 0, end - begin, in_t, powers, s, s_decays)
            _mark(t_codes, t_begin, t_end, in_t, False)
            totals[:] = 0.0
            if n > 0 and m > 0:
                _turned(t, t_decays, m, turned, turned_decays)
                _add_subsequences(
                    s, s_decays, n, turned, turned_decays, m, longest, totals, strip, work, part, part_decays
                )
            value = 0.0
            for p in range(1, longest + 1):
                value += weights[p] * totals[p]
            out[row + i, column + j] = value
            if is_symmetric:
                out[row + j, column + i] = value
        _mark(translated, 0, end - begin, in_s, False)
