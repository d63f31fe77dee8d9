"""K ≈ L L' from rows of K drawn at random (Nystroem's method; Frangella, Tropp & Udell 2023).

Cost: r rows of K, and n r^2 multiplications in the precision of these rows.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from mercer._types import FloatArray
from mercer.solvers.linalg.cholesky import NotPositiveDefinite

if TYPE_CHECKING:
    from mercer.solvers._types import Random, RowSource


def nystroem_factor(matrix: "RowSource", rank: int, rng: "Random", jitter: float) -> FloatArray:
    """L, shape (n, r), with L L' = K(., S) (K(S, S) + jitter I)^-1 K(S, .) for r items S.

    Parameters
    ----------
    matrix : RoundedMatrix or SymmetricOperator
    rank : int
    rng : Generator or RandomState
    jitter : float
        What outweighs the rounding of entries, which may be negative.

    Raises
    ------
    NotPositiveDefinite
    """
    chosen = np.sort(rng.permutation(matrix.n)[:rank])
    rows = matrix.rows(chosen)
    core = rows[:, chosen].astype(np.float64)
    core[np.diag_indices_from(core)] += jitter
    try:
        inverse = solve_triangular(cholesky(core, lower=True), np.eye(len(chosen)), lower=True)
    except LinAlgError as error:
        raise NotPositiveDefinite from error
    return rows.T @ inverse.T.astype(rows.dtype)
