"""The floor of a fit: kernel entries needed times the time of an entry.

Needed are the rows of the support vectors, n x n_SV entries; the time of an entry is that of
the fused block alone (matrix product, distance and exponential), same rows, same run.
"""

import time

import numpy as np

PANEL = 512
REPEATS = 5


def seconds_per_entry(X, gamma, clock=time.perf_counter):
    """Best time of an entry of K(512 rows, all rows), by Mercer's engine; `clock` tells the time."""
    from mercer.kernels import RBF
    from mercer.kernels.evaluation import tiles

    kernel = RBF(gamma=gamma)
    rows = kernel.prepare(X, X.dtype)
    panel = rows.slice(0, min(PANEL, len(rows)))
    out = np.empty((len(panel), len(rows)), X.dtype)
    return min(_seconds(lambda: tiles.fill(kernel, panel, rows, out), clock) for _ in range(REPEATS)) / out.size


def seconds_per_sum(dtype, functions, clock=time.perf_counter):
    """Best time, for an entry, of the matrix product of a tile with the coefficients of this many functions, by BLAS.

    The floor has no part for it. For several functions, no method that computes all their values can do without.
    """
    random = np.random.default_rng(0)
    tile, coefficients = (random.random((PANEL, width)).astype(dtype) for width in (PANEL, functions))
    out = np.empty((PANEL, functions), dtype)
    return min(_seconds(lambda: np.matmul(tile, coefficients, out=out), clock) for _ in range(REPEATS)) / tile.size


def _seconds(action, clock):
    start = clock()
    action()
    return clock() - start


def floor_seconds(rows, support_vectors, entry_seconds):
    """Seconds that the entries needed take; no fit can be judged by less."""
    return rows * support_vectors * entry_seconds
