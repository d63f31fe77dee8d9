"""Evaluate any kernel tile by tile on both cores, while each tile is still in cache.

Three questions are asked of it: a rectangular block, a symmetric Gram matrix (half the
work), and a product K(left, right) @ coefficients that never stores the block.
`stop`, where given, is asked between tiles and ends the work early (see `run_parallel`).
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.scratch import scratch
from mercer._jit.threads import run_parallel, thread_count

TILE = 512
# Below this many entries, waking a second thread costs more than it saves.
SERIAL_ENTRIES = 40_000


@jit
def _mirror(out, top, bottom, left, right):
    """Copy out[top:bottom, left:right] across the diagonal, in small blocks that stay in
    the first-level cache; only entries strictly above the diagonal are copied."""
    for first_row in range(top, bottom, 16):
        last_row = min(first_row + 16, bottom)
        for first_column in range(max(left, first_row), right, 16):
            for j in range(first_column, min(first_column + 16, right)):
                target = out[j]
                for i in range(first_row, min(last_row, j)):
                    target[i] = out[i, j]


def _spans(n):
    """The (begin, end) of consecutive tiles."""
    return [(begin, min(begin + TILE, n)) for begin in range(0, n, TILE)]


def _workers(n_jobs, entries):
    return 1 if entries < SERIAL_ENTRIES else thread_count(n_jobs)


def fill(kernel, left, right, out, n_jobs=None, stop=None):
    """Write K(left_i, right_j) to out[i, j]; `out` is C-ordered, of the prepared dtype."""

    def column_panel(columns):
        part = right.slice(*columns)
        for rows in _spans(len(left)):
            kernel.tile(left.slice(*rows), part, out, rows[0], columns[0])

    run_parallel(column_panel, _spans(len(right)), _workers(n_jobs, len(left) * len(right)), stop)
    return out


def gram(kernel, points, out, n_jobs=None, stop=None):
    """Write the symmetric matrix K(points, points) to `out`, computing one triangle."""
    n = len(points)

    def column_panel(columns):
        part = points.slice(*columns)
        for rows in _spans(columns[1]):
            kernel.tile(points.slice(*rows), part, out, rows[0], columns[0])
            _mirror(out, *rows, *columns)

    # The longest panels first, so that the cores finish together.
    run_parallel(column_panel, reversed(_spans(n)), _workers(n_jobs, n * n // 2), stop)
    return out


def product(kernel, left, right, coefficients, n_jobs=None, stop=None):
    """K(left, right) @ coefficients in double precision, without storing the block.

    `coefficients` has shape (len(right),) or (len(right), k).
    """
    coefficients = np.asarray(coefficients)
    out = np.zeros((len(left), *coefficients.shape[1:]), dtype=np.float64)
    everything = slice(None) if coefficients.ndim > 1 else ...
    parts = [(begin, end, coefficients[begin:end], everything) for begin, end in _spans(len(right))]
    return add_products(kernel, left, right, parts, out, n_jobs, stop)


def add_products(kernel, left, right, parts, out, n_jobs=None, stop=None):
    """For each part (begin, end, weights, outputs), with at most TILE right-hand items,
    add K(left, right[begin:end]) @ weights to out[:, outputs]."""
    prepared = [
        (right.slice(begin, end), np.ascontiguousarray(weights, left.dtype), outputs)
        for begin, end, weights, outputs in parts
    ]

    def row_panel(rows):
        begin, end = rows
        points, target = left.slice(begin, end), out[begin:end]
        for items, weights, outputs in prepared:
            block = scratch("block", (end - begin, len(items)), left.dtype)
            kernel.tile(points, items, block, 0, 0)
            # Sums of at most TILE terms in the tile's precision, totals in double.
            if outputs is ...:
                target += block @ weights
            else:
                target[:, outputs] += block @ weights

    run_parallel(row_panel, _spans(len(left)), _workers(n_jobs, len(left) * len(right)), stop)
    return out
