"""Preconditioners for K + lambda I that take few rows of K.

Method: K is replaced by L L' with r columns, either of pivoted Cholesky (Harbrecht, Peters & Schneider
2012: the worst described item next) or of Nystroem with landmarks at random (Frangella, Tropp &
Udell 2023), and (L L' + lambda I)^-1 is applied by the Woodbury identity. What is missing of K's
spectrum decides how many iterations remain.

Cost: r rows of K and n r^2 to make, 2 n r to apply.
"""

import numpy as np

from mercer.kernels.gram.packed_triangle import Triangle
from mercer.solvers.linalg.cholesky import factorise

# A squared distance below this share of the largest squared norm is rounding.
_NEGLIGIBLE = 1e-13


def low_rank(operator, rank, shift, stop=None, rng=None, dtype=np.float64):
    """A function R -> (L L' + shift I)^-1 R.

    With `rng`, landmarks drawn at random (Nystroem); without, pivots. L is kept in `dtype`.
    """
    columns = _pivoted(operator, rank, stop) if rng is None else _nystroem(operator, rank, rng)
    columns = columns.astype(dtype, copy=False)
    inner = (columns.T @ columns).astype(np.float64)
    inner[np.diag_indices_from(inner)] += shift
    factor = factorise(Triangle.of(inner), stop=stop)

    def apply(right):
        inside = factor.solve((columns.T @ right.astype(dtype, copy=False)).astype(np.float64))
        return (right - columns @ inside.astype(dtype, copy=False)) / shift

    return apply


def _pivoted(operator, rank, stop):
    """Columns L of a pivoted Cholesky factorisation that is ended after `rank` of them."""
    left = operator.diag.copy()
    negligible = _NEGLIGIBLE * left.max(initial=0.0)
    columns = np.zeros((operator.n, min(rank, operator.n)))
    for r in range(columns.shape[1]):
        pivot = int(left.argmax())
        if left[pivot] <= negligible or (stop is not None and stop()):
            return columns[:, :r]
        column = operator.rows(np.array([pivot]))[0] - columns[:, :r] @ columns[pivot, :r]
        columns[:, r] = column / np.sqrt(left[pivot])
        left -= columns[:, r] ** 2
        left[pivot] = 0.0
    return columns


def _nystroem(operator, rank, rng):
    """Columns K(., S) chol(K(S, S))^-T for landmarks S drawn at random."""
    chosen = np.sort(rng.permutation(operator.n)[: min(rank, operator.n)])
    rows = operator.rows(chosen)
    core = np.ascontiguousarray(rows[:, chosen])
    core[np.diag_indices_from(core)] += 1e-10 * max(float(core.diagonal().max(initial=0.0)), 1e-300)
    return np.ascontiguousarray(factorise(Triangle.of(core)).half_solve(rows).T)
