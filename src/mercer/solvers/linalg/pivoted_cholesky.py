"""Coordinates for the items of a kernel matrix: an incomplete Cholesky factorisation with pivots.

Method (Fine & Scheinberg 2001; Harbrecht, Peters & Schneider 2012; Higham 2002, section 10.3): the item that is
approximated worst joins the basis, until no error is larger than a given bound.
Then K ≈ L L' to that accuracy, and row i of L stands for psi(x_i).

If items are drawn with probabilities proportional to their errors (Chen, Epperly, Tropp & Webber 2023),
outliers do not take all the places. Drawing them one by one is slow, so a block of them is drawn at once, and those
that the others of the block already approximate are rejected, with the probability that gives the same distribution
(Epperly, Tropp & Webber 2024).

Cost: n r^2 for r coordinates, and r rows of the kernel matrix.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack, solve_triangular

from mercer._types import FloatArray, IndexArray
from mercer.solvers.linalg.definiteness import INDEFINITE, refuse_indefinite

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers._types import PivotSource

# A squared distance below this share of the largest squared norm is rounding.
NEGLIGIBLE = 4.0 * float(np.finfo(np.float64).eps)
# Random pivots drawn at once.
BLOCK = 96


def pivoted_factor(matrix: "PivotSource", most: int, stop: "Stop | None" = None) -> FloatArray | None:
    """L with L L' = K, shape (n, r); None where r would exceed `most`, or if `stop` says so.

    Parameters
    ----------
    matrix : KernelMatrix
        In double precision.
    most : int
        Coordinates at most.
    stop : callable, optional
        Asked before every row.

    Raises
    ------
    NotPositiveSemidefiniteError
        If the matrix is found to be indefinite.
    """
    scale = np.abs(matrix.diag).max(initial=0.0)
    factor, is_partial = partial_factor(matrix, most, NEGLIGIBLE * scale, stop, INDEFINITE * scale)
    return None if is_partial else factor


def partial_factor(
    matrix: "PivotSource", most: int, negligible: float, stop: "Stop | None" = None, lowest: float = -np.inf
) -> tuple[FloatArray, bool]:
    """(L, whether a residual is left): `pivoted_cholesky` with at most `most` columns.

    An item is done when its squared residual is at most `negligible`; one below `lowest` shows that the matrix is
    indefinite. The matrix is a `KernelMatrix` or a `SymmetricOperator`.
    """
    left, pivots = matrix.diag.copy(), []
    factor = np.empty((matrix.n, min(most, matrix.n)), order="F")
    for r in range(factor.shape[1] + 1):
        pivot = int(left.argmax())
        if left.min() < lowest:
            refuse_indefinite(matrix, [*pivots, int(left.argmin())])
        if left[pivot] <= negligible:
            return np.ascontiguousarray(factor[:, :r]), False
        if r == factor.shape[1] or (stop is not None and stop()):
            break
        column = matrix.rows(np.array([pivot]))[0].astype(np.float64)
        column -= factor[:, :r] @ factor[pivot, :r]
        column /= np.sqrt(left[pivot])
        factor[:, r] = column
        left -= column**2
        left[pivot] = 0.0
        pivots.append(pivot)
    return np.ascontiguousarray(factor[:, :r]), True


def random_pivots(
    matrix: "KernelMatrix", most: int, rng: np.random.Generator, stop: "Stop | None" = None
) -> IndexArray:
    """Items drawn one after another, each with a chance in proportion to what those before leave of it.

    Fewer than `most` where these describe all others but for rounding.

    Parameters
    ----------
    matrix : KernelMatrix
        In double precision.
    most : int
    rng : Generator
    stop : callable, optional
        Asked before every block.
    """
    left: FloatArray = np.maximum(matrix.diag, 0.0)
    pivots: list[int] = []
    factor = np.empty((matrix.n, min(most, matrix.n)), order="F")
    total, r = left.sum(), 0
    while r < factor.shape[1] and left.sum() > NEGLIGIBLE * total and not (stop is not None and stop()):
        drawn = rng.choice(matrix.n, size=BLOCK, p=left / left.sum())
        known = factor[drawn, :r]
        gram = matrix.view(drawn).rows(np.arange(len(drawn))).astype(np.float64) - known @ known.T
        accepted, lower = _without_described(gram, left[drawn], rng, factor.shape[1] - r)
        items = drawn[accepted]
        rows = matrix.rows(items).astype(np.float64) - factor[items, :r] @ factor[:, :r].T
        fresh = solve_triangular(lower, rows, lower=True).T
        factor[:, r : r + len(items)] = fresh
        left = np.maximum(left - np.einsum("ij,ij->i", fresh, fresh), 0.0)
        left[items] = 0.0
        pivots.extend(items)
        r += len(items)
    return np.array(pivots, dtype=np.intp)


def _without_described(
    gram: FloatArray, before: FloatArray, rng: np.random.Generator, most: int
) -> tuple[list[int], FloatArray]:
    """(accepted items of those drawn, the Cholesky factor of their residual matrix).

    `gram` is their residual matrix, and is overwritten; `before` holds the residual of each when it was drawn.
    """
    accepted: list[int] = []
    chances = rng.random(len(gram)) * before
    columns = np.zeros_like(gram)
    for i in range(len(gram)):
        # A residual of rounding size is no new direction.
        if not gram[i, i] > max(chances[i], 1e-12 * before[i]):
            continue
        columns[i:, len(accepted)] = gram[i:, i] / np.sqrt(gram[i, i])
        gram[i:, i:] -= np.outer(columns[i:, len(accepted)], columns[i:, len(accepted)])
        accepted.append(i)
        if len(accepted) == most:
            break
    return accepted, columns[accepted][:, : len(accepted)]


def dense_factor(K: FloatArray, negligible: float) -> tuple[FloatArray, IndexArray]:
    """(L, pivots) of a full matrix by LAPACK; the rows of L at the pivots are lower triangular."""
    packed, order, rank, _ = lapack.dpstrf(K, tol=negligible, lower=1)
    factor = np.empty((len(K), rank))
    factor[order - 1] = np.tril(packed)[:, :rank]
    return factor, order[:rank] - 1
