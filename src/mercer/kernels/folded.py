"""Products with a symmetric matrix of which each tile is read once: for its rows and, transposed, its columns.

Tiles may be numbers of any kind, whole ones among them; sums are in the precision of the coefficients
within a tile, and in double precision between tiles. BLAS is made for more columns than most methods have: for
a few, one pass that does both is two to four times faster.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._jit.threads import run_parallel, thread_count
from mercer._jit.vectors import vector_loop
from mercer.kernels import engine

# Sums are taken in so many parts, each by one thread.
FOLDS = 8
# From so many products at once on, they are left to BLAS.
MANY = 16
# Sums of a tile that are no larger than this may be in single precision.
LARGEST_SUM = 1e3


@jit
def _fold(tile, start, x, z, below, beside):
    """Of the columns of a tile from `start` on, below += tile' z and beside += tile x, in one pass over it.

    Scalars are taken out of the inner loop by hand: with one array more in it LLVM gives up on vectors.
    """
    vector_loop()
    kind = x.dtype.type
    m, n, i = z.shape[0], x.shape[0], 0
    while i + 4 <= m:
        first, second = tile[i, start : start + n], tile[i + 1, start : start + n]
        third, fourth = tile[i + 2, start : start + n], tile[i + 3, start : start + n]
        a, b, c, d = z[i], z[i + 1], z[i + 2], z[i + 3]
        p = q = r = s = kind(0)
        for j in range(n):
            v = x[j]
            e, f, g, h = kind(first[j]), kind(second[j]), kind(third[j]), kind(fourth[j])
            p += e * v
            q += f * v
            r += g * v
            s += h * v
            below[j] += (a * e + b * f) + (c * g + d * h)
        beside[i] += p
        beside[i + 1] += q
        beside[i + 2] += r
        beside[i + 3] += s
        i += 4
    while i < m:
        first, a, p = tile[i, start : start + n], z[i], kind(0)
        for j in range(n):
            e = kind(first[j])
            p += e * x[j]
            below[j] += a * e
        beside[i] += p
        i += 1


@jit
def _fold_corner(tile, x, beside):
    """beside += B x for the symmetric B whose lower triangle a tile is."""
    vector_loop()
    kind = x.dtype.type
    for i in range(x.shape[0]):
        row, a, p = tile[i, :i], x[i], kind(tile[i, i]) * x[i]
        for j in range(i):
            e = kind(row[j])
            p += e * x[j]
            beside[j] += a * e
        beside[i] += p


def folded_products(n, visit, coefficients, n_jobs, stop):
    """A symmetric matrix times coefficients, from the tiles on and below its diagonal.

    ``visit(place, receive)`` calls ``receive(tile, first column)`` for the tiles of a panel of rows. Sums are taken
    in a fixed order, whatever the number of threads.
    """
    spans = engine.spans(n)
    totals = np.zeros((min(FOLDS, len(spans)), coefficients.shape[1], n))
    columns = np.ascontiguousarray(coefficients.T)

    def fold(part):
        for place in range(part, len(spans), len(totals)):
            engine.unless(stop)
            visit(place, _receiver(spans[place], columns, totals[part]))

    workers = 1 if n**2 < engine.SERIAL_ENTRIES * 8 else thread_count(n_jobs)
    run_parallel(fold, reversed(range(len(totals))), workers, stop)
    return totals.sum(axis=0).T


def _receiver(rows, columns, totals):
    """What adds the products with a tile of these rows to the totals."""
    begin, end = rows
    # One product reads a tile once, whatever its width; several read it again while it is in cache.
    longest = len(totals[0]) if len(columns) == 1 else engine.TILE

    def receive(tile, first):
        beyond = min(begin, first + tile.shape[1])
        for left in range(first, beyond, longest):
            _add(tile, left - first, (left, min(left + longest, beyond)), rows, columns, totals)
        if first + tile.shape[1] > begin:
            corner, sums = tile[:, begin - first : end - first], np.empty(end - begin, columns.dtype)
            for column, total in zip(columns, totals, strict=True):
                sums[...] = 0.0
                _fold_corner(corner, column[begin:end], sums)
                total[begin:end] += sums

    return receive


def _add(tile, start, span, rows, columns, totals):
    """totals += what a tile, from its column `start` on, says of its rows and, transposed, of its columns."""
    (left, right), (begin, end) = span, rows
    if len(columns) >= MANY:
        wide = _in_precision(tile[:, start : start + right - left], columns.dtype)
        totals[:, left:right] += (wide.T @ columns[:, begin:end].T).T
        totals[:, begin:end] += (wide @ columns[:, left:right].T).T
        return
    below, beside = np.empty(right - left, columns.dtype), np.empty(end - begin, columns.dtype)
    for column, total in zip(columns, totals, strict=True):
        below[...], beside[...] = 0.0, 0.0
        _fold(tile, start, column[left:right], column[begin:end], below, beside)
        total[left:right] += below
        total[begin:end] += beside


def _in_precision(tile, dtype):
    if tile.dtype == dtype:
        return tile
    wide = scratch("widened", tile.shape, dtype)
    wide[...] = tile
    return wide


def symmetric_product(kernel, points, coefficients, n_jobs=None, stop=None, has_diagonal=True):
    """K(points, points) @ coefficients, shape (n, k), in double precision; each pair is evaluated once.

    Without the diagonal, it is what the others contribute to each.
    """

    def visit(place, receive):
        rows = engine.spans(len(points))[place]
        part = points.slice(*rows)
        for columns in engine.spans(rows[1]):
            engine.unless(stop)  # entries may be expensive
            tile = scratch("block", (len(part), columns[1] - columns[0]), points.dtype)
            kernel.tile(part, points.slice(*columns), tile, 0, 0)
            if columns == rows and not has_diagonal:
                np.fill_diagonal(tile, 0)
            receive(tile, columns[0])

    return folded_products(len(points), visit, _summable(coefficients, points.dtype), n_jobs, stop)


def _summable(coefficients, dtype):
    """In the precision in which the sums of a tile stay as accurate as its entries."""
    is_small = engine.TILE * float(np.abs(coefficients).max(initial=0.0)) <= LARGEST_SUM
    return coefficients.astype(dtype if is_small else np.float64)


def triangle_products(triangle, coefficients, n_jobs=None, stop=None):
    """A @ coefficients, shape (n, k), for the symmetric A whose lower triangle is a `Triangle`."""

    def visit(place, receive):
        receive(triangle.panels[place], 0)

    return folded_products(triangle.n, visit, coefficients, n_jobs, stop)
