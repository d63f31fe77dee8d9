"""Products with a symmetric matrix that read each tile once: for its rows and, transposed, for its columns.

Tiles may have any numeric type, including integers; sums are in the precision of the coefficients
within a tile, and in double precision between tiles. BLAS is made for more columns than most methods have: for
up to some fifty, a pass that does both, two columns at a time, is up to four times faster.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._jit.threads import run_parallel, thread_count
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray
from mercer.kernels._types import Prepared, Receive, Span, Stop, Tiles, Visit
from mercer.kernels.evaluation import tiles

if TYPE_CHECKING:
    from mercer.kernels.gram.packed_triangle import Triangle

# Sums are taken in this many parts, each by one thread: for one product, and for several, whose sums take more room.
FOLDS, FOLDS_OF_SEVERAL = 8, 4
# From this many products at once, they are left to BLAS.
MANY = 48
# A tile on the diagonal is divided into strips of this many rows, and triangles as high.
STRIP = 128
# Sums of a tile no larger than this may be in single precision.
LARGEST_SUM = 1e3


@jit
def _fold(tile: Array, start: int, x: Array, z: Array, below: Array, beside: Array) -> None:
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
def _fold_two(tile: Array, start: int, x: Array, y: Array, z: Array, u: Array, below: Array, beside: Array) -> None:
    """As `_fold`, of two columns (x and y, z and u): the tile is read, and widened, once for both."""
    vector_loop()
    kind = x.dtype.type
    m, n, i = z.shape[0], x.shape[0], 0
    down, down_too = below[0, :n], below[1, :n]
    while i + 4 <= m:
        first, second = tile[i, start : start + n], tile[i + 1, start : start + n]
        third, fourth = tile[i + 2, start : start + n], tile[i + 3, start : start + n]
        a, b, c, d = z[i], z[i + 1], z[i + 2], z[i + 3]
        k, l, o, t = u[i], u[i + 1], u[i + 2], u[i + 3]
        p = q = r = s = p_too = q_too = r_too = s_too = kind(0)
        for j in range(n):
            v, w = x[j], y[j]
            e, f, g, h = kind(first[j]), kind(second[j]), kind(third[j]), kind(fourth[j])
            p += e * v
            q += f * v
            r += g * v
            s += h * v
            p_too += e * w
            q_too += f * w
            r_too += g * w
            s_too += h * w
            down[j] += (a * e + b * f) + (c * g + d * h)
            down_too[j] += (k * e + l * f) + (o * g + t * h)
        beside[0, i] += p
        beside[0, i + 1] += q
        beside[0, i + 2] += r
        beside[0, i + 3] += s
        beside[1, i] += p_too
        beside[1, i + 1] += q_too
        beside[1, i + 2] += r_too
        beside[1, i + 3] += s_too
        i += 4
    while i < m:
        first, a, k = tile[i, start : start + n], z[i], u[i]
        p = p_too = kind(0)
        for j in range(n):
            e = kind(first[j])
            p += e * x[j]
            p_too += e * y[j]
            down[j] += a * e
            down_too[j] += k * e
        beside[0, i] += p
        beside[1, i] += p_too
        i += 1


@jit
def _fold_corner(tile: Array, start: int, x: Array, beside: Array) -> None:
    """beside += B x for the symmetric B whose lower triangle a tile has in its columns from `start` on."""
    vector_loop()
    kind = x.dtype.type
    for i in range(x.shape[0]):
        row, a, p = tile[i, start : start + i], x[i], kind(tile[i, start + i]) * x[i]
        for j in range(i):
            e = kind(row[j])
            p += e * x[j]
            beside[j] += a * e
        beside[i] += p


@jit
def _fold_all(
    tile: Array, start: int, columns: Array, left: int, right: int, begin: int, end: int, totals: Array
) -> None:
    """totals += what a tile, from its column `start` on, says of its rows begin..end and, transposed, of the
    columns left..right, for all the coefficients that there are."""
    k = columns.shape[0]
    below, beside = np.empty((2, right - left), columns.dtype), np.empty((2, end - begin), columns.dtype)
    for c in range(0, k, 2):
        below[...], beside[...] = 0, 0
        x, z = columns[c, left:right], columns[c, begin:end]
        if c + 1 < k:
            _fold_two(tile, start, x, columns[c + 1, left:right], z, columns[c + 1, begin:end], below, beside)
        else:
            _fold(tile, start, x, z, below[0], beside[0])
        for place in range(min(2, k - c)):
            totals[c + place, left:right] += below[place]
            totals[c + place, begin:end] += beside[place]


@jit
def _fold_corners(tile: Array, start: int, columns: Array, begin: int, end: int, totals: Array) -> None:
    """totals += what the lower triangle that a tile has from its column `start` on says of its rows."""
    for c in range(columns.shape[0]):
        sums = np.zeros(end - begin, columns.dtype)
        _fold_corner(tile, start, columns[c, begin:end], sums)
        totals[c, begin:end] += sums


def folded_products(n: int, visit: Visit, coefficients: Array, n_jobs: int | None, stop: Stop | None) -> FloatArray:
    """A symmetric matrix times coefficients, from the tiles on and below its diagonal.

    ``visit(place, receive)`` calls ``receive(tile, first column)`` for the tiles of a panel of rows. Sums are taken
    in a fixed order, whatever the number of threads.
    """
    spans = tiles.spans(n)
    folds = FOLDS if coefficients.shape[1] == 1 else FOLDS_OF_SEVERAL
    totals = np.zeros((min(folds, len(spans)), coefficients.shape[1], n))
    columns = np.ascontiguousarray(coefficients.T)

    def fold(part: int) -> None:
        for place in range(part, len(spans), len(totals)):
            tiles.unless(stop)
            visit(place, _receiver(spans[place], columns, totals[part]))

    workers = 1 if n**2 < tiles.SERIAL_ENTRIES * 8 else thread_count(n_jobs)
    run_parallel(fold, reversed(range(len(totals))), workers, stop)
    return totals.sum(axis=0).T


def _receiver(rows: Span, columns: Array, totals: FloatArray) -> Receive:
    """A function that adds the products with a tile of these rows to the totals."""
    begin = rows[0]
    # One product reads a tile once, whatever its width; several read it again while it is in cache.
    longest = len(totals[0]) if len(columns) == 1 else tiles.TILE

    def receive(tile: Array, first: int) -> None:
        beyond = min(begin, first + tile.shape[1])
        for left in range(first, beyond, longest):
            _add(tile, left - first, (left, min(left + longest, beyond)), rows, columns, totals)
        if first + tile.shape[1] > begin:
            _add_corner(tile, begin - first, rows, columns, totals)

    return receive


def _add_corner(tile: Array, start: int, rows: Span, columns: Array, totals: Array) -> None:
    """totals += the contribution of a tile whose columns from `start` are those of its rows, from the diagonal down."""
    begin, end = rows
    for top, bottom in tiles.spans(end - begin, STRIP):
        strip, own = tile[top:bottom], (begin + top, begin + bottom)
        if top:
            _add(strip, start, (begin, begin + top), own, columns, totals)
        _fold_corners(strip, start + top, columns, *own, totals)


def _add(tile: Array, start: int, span: Span, rows: Span, columns: Array, totals: Array) -> None:
    """totals += the contribution of a tile, from its column `start`, to its rows and, transposed, to its columns."""
    if len(columns) < MANY:
        _fold_all(tile, start, columns, *span, *rows, totals)
        return
    (left, right), (begin, end) = span, rows
    wide = _in_precision(tile[:, start : start + right - left], columns.dtype)
    totals[:, left:right] += columns[:, begin:end] @ wide
    totals[:, begin:end] += (wide @ columns[:, left:right].T).T


def _in_precision(tile: Array, dtype: DTypeLike) -> Array:
    if tile.dtype == dtype:
        return tile
    wide = scratch("widened", tile.shape, dtype)
    wide[...] = tile
    return wide


def symmetric_product(
    kernel: Tiles,
    points: Prepared,
    coefficients: Array,
    n_jobs: int | None = None,
    stop: Stop | None = None,
    has_diagonal: bool = True,
) -> FloatArray:
    """K(points, points) @ coefficients, shape (n, k), in double precision; each pair is evaluated once.

    Without the diagonal, it is the contribution of the others to each.
    """

    def visit(place: int, receive: Receive) -> None:
        rows = tiles.spans(len(points))[place]
        part = points.slice(*rows)
        for columns in tiles.spans(rows[1]):
            tiles.unless(stop)  # entries may be expensive
            tile = scratch("symmetric tile", (len(part), columns[1] - columns[0]), points.dtype)
            kernel.tile(part, points.slice(*columns), tile, 0, 0)
            if columns == rows and not has_diagonal:
                np.fill_diagonal(tile, 0)
            receive(tile, columns[0])

    return folded_products(len(points), visit, _summable(coefficients, points.dtype), n_jobs, stop)


def _summable(coefficients: FloatArray, dtype: DTypeLike) -> Array:
    """In the precision in which the sums of a tile are as accurate as its entries."""
    is_small = tiles.TILE * float(np.abs(coefficients).max(initial=0.0)) <= LARGEST_SUM
    return coefficients.astype(dtype if is_small else np.float64)


def triangle_products(
    triangle: "Triangle", coefficients: Array, n_jobs: int | None = None, stop: Stop | None = None
) -> FloatArray:
    """A @ coefficients, shape (n, k), for the symmetric A whose lower triangle is a `Triangle`."""

    def visit(place: int, receive: Receive) -> None:
        receive(triangle.panels[place], 0)

    return folded_products(triangle.n, visit, coefficients, n_jobs, stop)
