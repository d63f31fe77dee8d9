"""Evaluate any kernel tile by tile on both cores, while each tile is still in cache.

It computes a rectangular block, a symmetric Gram matrix (half the
work), and a product K(left, right) @ coefficients that never stores the block (`symmetric_product` does this
for a symmetric matrix, with half the work).
`stop`, if given, is called between tiles and can end the work early (see `run_parallel`); for a
block and a Gram matrix it receives the fraction done.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._jit.threads import Stopped, one_blas_thread, run_parallel, thread_count
from mercer._types import Array, ArrayLike, FloatArray, IndexArray
from mercer.kernels._types import KernelTiles, Prepared, Span, Stop, Tiles
from mercer.kernels.evaluation.tile_sums import Part, joined

if TYPE_CHECKING:
    from mercer.kernels.gram.packed_triangle import Triangle

TILE = 512
GRAM_TILE, LARGE_GRAM_TILE, FEW_FEATURES = 192, 384, 64
# Up to this many items, tiles of a symmetric matrix are this many rows and everything right of the diagonal.
WIDEST, WIDE_TILE = 1024, 128
# Below this many entries, waking a second thread costs more than it saves.
SERIAL_ENTRIES = 40_000


@jit
def _mirror(out: Array, top: int, bottom: int, left: int, right: int) -> None:
    """Copy out[top:bottom, left:right] across the diagonal, in small blocks that stay in
    the first-level cache; only entries strictly above the diagonal are copied."""
    for first_column in range(left, right, 16):
        last_column = min(first_column + 16, right)
        for first_row in range(top, min(bottom, last_column), 16):
            last_row = min(first_row + 16, bottom)
            for j in range(first_column, last_column):
                target = out[j]
                for i in range(first_row, min(last_row, j)):
                    target[i] = out[i, j]


@jit
def transpose(out: Array, top: int, bottom: int, left: int, right: int) -> None:
    """Copy out[top:bottom, left:right], which does not meet the diagonal, across it: blocks that stay in
    the first-level cache, whose rows of a fixed length become vector stores."""
    whole = top + (bottom - top) // 16 * 16
    for first in range(left, right, 32):
        last = min(first + 32, right)
        for row in range(top, whole, 16):
            for j in range(first, last):
                target = out[j, row : row + 16]
                for i in range(16):
                    target[i] = out[row + i, j]
        for row in range(whole, bottom):
            for j in range(first, last):
                out[j, row] = out[row, j]


def spans(n: int, length: int = TILE) -> list[Span]:
    """The (begin, end) of consecutive tiles."""
    return [(begin, min(begin + length, n)) for begin in range(0, n, length)]


def _even_spans(n: int, longest: int) -> list[Span]:
    """Like `spans`, with tiles of about the same length, so that none is left narrow."""
    count = max(1, -(-n // longest))
    return spans(n, min(longest, max(1, -(-n // (16 * count))) * 16))


def longest(items: Prepared) -> int:
    """How many items a tile may have on a side; fewer if an entry takes long (see `Packed`)."""
    return min(TILE, getattr(items, "longest_tile", None) or TILE)


def _gram_length(points: Prepared) -> int:
    """Edge of the tiles of a symmetric matrix: half of those on its diagonal is wasted, so
    they are small, unless products of many features need the length."""
    if longest(points) < TILE:
        return longest(points)
    edge = LARGE_GRAM_TILE if (getattr(points, "n_features", None) or 0) > FEW_FEATURES else GRAM_TILE
    count = -(-len(points) // edge)
    return -(-len(points) // (16 * count)) * 16


def _length_beside(width: int) -> int:
    """How many items a tile has beside this many others: narrow tiles are longer."""
    return TILE * min(8, max(1, TILE // max(1, width)))


def _workers(n_jobs: int | None, entries: int, items: Prepared) -> int:
    is_short = entries < SERIAL_ENTRIES and longest(items) == TILE
    return 1 if is_short else thread_count(n_jobs)


def unless(stop: Stop | None) -> None:
    """Call `stop` between the tiles of a job, as `run_parallel` does between jobs."""
    if stop is not None and stop():
        raise Stopped


class _Share:
    """Calls `stop` between tiles, with the fraction of all entries computed."""

    def __init__(self, stop: Stop | None, total: int) -> None:
        self.stop, self.total, self.done = stop, max(1, total), 0

    def ask(self, entries: int) -> None:
        """Called before a tile of this many entries."""
        if self.stop is not None and self.stop(self.done / self.total):
            raise Stopped
        # Two threads may add at once and lose one update: the number is only for people to look at.
        self.done += entries


def fill(
    kernel: Tiles,
    left: Prepared,
    right: Prepared,
    out: Array,
    n_jobs: int | None = None,
    stop: Stop | None = None,
    corner: Span = (0, 0),
    mirrored: bool = False,
) -> Array:
    """Write K(left_i, right_j) to out[i, j], shifted by `corner`; `out` is C-ordered, of the
    prepared dtype. `mirrored`: the block is part of a symmetric matrix, and written to both its places."""
    length = longest(left)
    share = _Share(stop, len(left) * len(right))

    def column_panel(columns: Span) -> None:
        part = right.slice(*columns)
        for rows in _even_spans(len(left), length):
            share.ask(_entries(rows, columns))
            top, beside = rows[0] + corner[0], columns[0] + corner[1]
            kernel.tile(left.slice(*rows), part, out, top, beside)
            if mirrored:
                mirror(out, (top, top + rows[1] - rows[0]), (beside, beside + len(part)))

    panels = _even_spans(len(right), length)
    run_parallel(column_panel, panels, _workers(n_jobs, len(left) * len(right), left), stop)
    return out


def gram(
    kernel: KernelTiles, points: Prepared, out: Array, n_jobs: int | None = None, stop: Stop | None = None
) -> Array:
    """Write the symmetric matrix K(points, points) to `out`, computing one triangle."""
    n = len(points)
    if n <= min(GRAM_TILE, longest(points)):
        return _small_gram(kernel, points, out, stop)

    tiles = _wide_tiles(n) if _is_short(kernel, points) else _square_tiles(n, _gram_length(points))
    share = _Share(stop, sum(_entries(*tile) for panel in tiles for tile in panel))

    def panel(places: list[tuple[Span, Span]]) -> None:
        right = points.slice(*places[0][1])
        for rows, columns in places:
            share.ask(_entries(rows, columns))
            kernel.tile(points.slice(*rows), right, out, rows[0], columns[0])
            mirror(out, rows, columns)

    # The longest panels first, so that the cores finish together.
    run_parallel(panel, tiles, _workers(n_jobs, n * n // 2, points), stop)
    return out


def _entries(rows: Span, columns: Span) -> int:
    return (rows[1] - rows[0]) * (columns[1] - columns[0])


def _is_short(kernel: KernelTiles, points: Prepared) -> bool:
    """Whether a row of the matrix is a row of a tile, and fewer calls matter more than half a tile."""
    return kernel.is_dot_product_form and len(points) <= WIDEST and longest(points) == TILE


def _wide_tiles(n: int) -> list[list[tuple[Span, Span]]]:
    """Panels of one tile each: some rows, and all columns from the diagonal on."""
    return [[(rows, (rows[0], n))] for rows in spans(n, WIDE_TILE)]


def _square_tiles(n: int, length: int) -> list[list[tuple[Span, Span]]]:
    """Panels of the tiles above the diagonal in the same columns."""
    return [[(rows, columns) for rows in spans(columns[1], length)] for columns in reversed(spans(n, length))]


def _small_gram(kernel: Tiles, points: Prepared, out: Array, stop: Stop | None) -> Array:
    """A single tile, without overhead."""
    unless(stop)
    with one_blas_thread():
        kernel.tile(points, points, out, 0, 0)
    _mirror(out, 0, len(points), 0, len(points))
    return out


def lower_triangle(
    kernel: Tiles, points: Prepared, triangle: "Triangle", n_jobs: int | None = None, stop: Stop | None = None
) -> "Triangle":
    """Write the lower triangle of K(points, points) to the panels of a `Triangle`."""

    def row_panel(place: int) -> None:
        rows, out = triangle.spans[place], triangle.panels[place]
        part = points.slice(*rows)
        for columns in spans(rows[1]):
            kernel.tile(part, points.slice(*columns), out, 0, columns[0])

    order = reversed(range(len(triangle.spans)))
    run_parallel(row_panel, order, _workers(n_jobs, len(points) ** 2 // 2, points), stop)
    return triangle


def mirror(out: Array, rows: Span, columns: Span) -> None:
    """Copy the block out[rows, columns], on or above the diagonal, to its place below."""
    beyond = max(rows[1], columns[0])
    transpose(out, *rows, beyond, columns[1])
    if columns[0] < rows[1]:
        _mirror(out, *rows, columns[0], beyond)


def product(
    kernel: Tiles,
    left: Prepared,
    right: Prepared,
    coefficients: ArrayLike,
    n_jobs: int | None = None,
    stop: Stop | None = None,
) -> FloatArray:
    """K(left, right) @ coefficients in double precision, without storing the block.

    `coefficients` has shape (len(right),) or (len(right), k).
    """
    coefficients = np.asarray(coefficients, dtype=np.float64)
    columns = coefficients if coefficients.ndim == 2 else coefficients[:, None]
    out = np.zeros((len(left), columns.shape[1]))
    parts = [(begin, end, columns[begin:end], slice(None)) for begin, end in spans(len(right), longest(right))]
    add_products(kernel, left, right, parts, out, n_jobs, stop)
    return out.reshape(len(left), *coefficients.shape[1:])


def add_products(
    kernel: Tiles,
    left: Prepared,
    right: Prepared,
    parts: Iterable[Part],
    out: FloatArray,
    n_jobs: int | None = None,
    stop: Stop | None = None,
    start: FloatArray | None = None,
    places: IndexArray | None = None,
) -> FloatArray:
    """For each part (begin, end, weights, outputs), with at most TILE right-hand items,
    add K(left, right[begin:end]) @ weights to out[:, outputs].

    With a row to `start` from, nothing is added to what `out` holds, and the rows of `out` may be those at `places`.
    """
    joint = joined(parts, longest(right), out.shape[1], (len(left), left.dtype))
    sums = [(right.slice(tile.begin, tile.end), tile) for tile in joint]

    def row_panel(rows: Span) -> None:
        begin, end = rows
        points, target = left.slice(begin, end), out[begin:end]
        if start is not None:
            # What is written for the first time stays in the cache for the sums.
            target = target if places is None else scratch("at places", target.shape, target.dtype)
            target[:] = start
        for items, tile in sums:
            unless(stop)
            block = scratch("block", (end - begin, len(items)), left.dtype)
            kernel.tile(points, items, block, 0, 0)
            tile.add(block, target)
        if places is not None:
            out[places[begin:end]] = target

    beside = max((len(items) for items, _ in sums), default=0)
    length = _length_beside(beside) if longest(left) == TILE else longest(left)
    run_parallel(row_panel, spans(len(left), length), _workers(n_jobs, len(left) * len(right), left), stop)
    return out
