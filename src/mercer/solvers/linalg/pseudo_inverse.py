"""The least-squares solution of K X = B with the smallest norm.

Method: eigenvalues of K (Golub & Van Loan 2013, section 5.5); those below a cutoff are taken to be zero.
Cost: 9 n^3 operations, once. Needs: memory for four matrices.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.linalg.dense_eigen import eigenpairs

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class LeastNorm:
    """X, the eigenvalues kept, the smallest of all relative to the largest, and the relative cutoff."""

    X: np.ndarray
    eigenvalues: np.ndarray
    smallest: float
    cutoff: float = 0.0


def memory(n: int) -> int:
    """Bytes for n items: their matrix, its eigenvectors, and the workspace of LAPACK's divide and conquer."""
    return 4 * 8 * n**2


def solve(
    operator: "SymmetricOperator", right: FloatArray, cutoff: float | None = None, stop: "Stop | None" = None
) -> LeastNorm:
    """The minimum-norm solution; eigenvalues of magnitude below cutoff times the largest count as zero.

    `cutoff` None is n times the machine epsilon.
    """
    values, vectors = eigenpairs(operator.lower(np.float64, stop).square(), stop)
    largest = float(np.abs(values).max(initial=0.0))
    cutoff = operator.n * _EPS if cutoff is None else cutoff
    kept = (np.abs(values) > cutoff * largest) & (largest > 0)
    vectors, kept_values = vectors[:, kept], values[kept]
    X = vectors @ ((vectors.T @ right) / kept_values[:, None])
    return LeastNorm(X, kept_values, float(values.min(initial=0.0)) / max(largest, 1e-300), cutoff)
