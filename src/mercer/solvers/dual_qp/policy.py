"""How a dual is solved and in which precision: every threshold that decides it, in one place.

`Route` names the ways; `trace_` and ``verbose=True`` show them. docs/routes.md shows what each of them gains, with the
command that measures it.
"""

from enum import StrEnum

import numpy as np

from mercer.kernels.gram.kernel_matrix import KernelMatrix

# Up to this many points a Newton step is cheaper than the pair steps before it, so they are solved to rounding error.
EXACT_SIZE = 400
# Up to this many points the whole problem is one working set, solved straight to the tolerance.
DIRECT_SIZE = 2500
# Up to this many points, with entries of at most this many multiplications, the whole matrix is computed at once.
STORED_SIZE, STORED_COST = 4_000, 250
# Below these tolerances single-precision entries are too inaccurate.
FINEST_SINGLE_TOL, FINEST_SINGLE_GAP = 1e-5, 1e-4
# A violation in single precision may be off by this multiple of the largest error among the rows compared with double
# precision: it is a difference of two gradients, and other rows err up to twice as much as sampled ones.
ROWS_NOT_COMPARED = 4.0
# Class pairs with fewer points: checking single-precision entries takes longer than they save.
PAIRS_IN_SINGLE_FROM = 800
# Larger problems use both cores themselves; smaller ones run side by side.
SIDE_BY_SIDE = 12_000


class Route(StrEnum):
    """A way in which a dual is solved."""

    EXACT = "exact"
    """Pair steps, then Newton steps to rounding error: a small matrix, all of it in double precision."""
    ROUNDS = "rounds"
    """Working sets of a few thousand points, one after the other."""
    CLASS_PAIRS = "class pairs"
    """All pairs of several small classes in one compiled loop."""


def is_exact(matrix: KernelMatrix) -> bool:
    """Whether problems over this matrix are solved to rounding error, regardless of the tolerance."""
    return matrix.n <= EXACT_SIZE and matrix.is_stored and matrix.dtype == np.float64


def allows_single(n: int, tol: float, gap_tol: float | None = None) -> bool:
    """Whether n points at these tolerances may be solved in single precision."""
    is_coarse = tol >= FINEST_SINGLE_TOL and (gap_tol is None or gap_tol >= FINEST_SINGLE_GAP)
    return is_coarse and n > EXACT_SIZE


def is_stored_whole(n: int, entry_cost: float) -> bool:
    """Whether n points are few enough, and entries cheap enough, to compute the whole matrix at once."""
    return n <= DIRECT_SIZE or (n <= STORED_SIZE and entry_cost <= STORED_COST)
