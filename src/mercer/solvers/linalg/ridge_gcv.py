"""The penalty of a ridge regression, chosen by leave-one-out or generalised cross-validation.

Method (Golub, Heath & Wahba 1979): with K = U diag(e) U', every penalty's coefficients and the diagonal
of its inverse cost n^2 operations.

Cost: one eigenvalue decomposition, 9 n^3, and n^2 for each penalty. Needs: memory for three matrices.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mercer._types import FloatArray
from mercer.problems.kernel_methods.ridge import LeaveOneOut, Ridge
from mercer.solvers.linalg.dense_eigen import eigenpairs

if TYPE_CHECKING:
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator
    from mercer.solvers.limits import Limits


@dataclass(frozen=True)
class Choice:
    """The problem with its chosen penalty, and the criterion for every penalty."""

    problem: Ridge
    errors: np.ndarray


def memory(n: int) -> int:
    """Bytes for n items: their matrix, its eigenvectors and the squares of those."""
    return 3 * 8 * n**2


def choose_penalty(
    operator: "SymmetricOperator", problem: Ridge, penalties: FloatArray, criterion: str, limits: "Limits"
) -> Choice:
    """The penalty of least error among `penalties`; those not reached in time have infinite error."""
    values, vectors = eigenpairs(operator.lower(np.float64, limits.stop).square(), limits.stop, driver="evr")
    projected, squares = vectors.T @ problem.right(), vectors**2
    errors = np.full(len(penalties), np.inf)
    for k, penalty in enumerate(penalties):
        if k and limits.reached() is not None:
            break
        errors[k] = _error(values, vectors, projected, squares, problem, penalty, criterion)
    best = penalties[int(errors.argmin())]
    return Choice(replace(problem, penalties=np.full(len(problem.penalties), best)), errors)


def _error(
    values: FloatArray,
    vectors: FloatArray,
    projected: FloatArray,
    squares: FloatArray,
    problem: Ridge,
    penalty: float,
    criterion: str,
) -> float:
    inverse = 1.0 / (np.maximum(values, 0.0) + penalty)
    alpha = problem.scale[:, None] * (vectors @ (inverse[:, None] * projected))
    diagonal = np.repeat((squares @ inverse)[:, None], alpha.shape[1], axis=1)
    found = LeaveOneOut.of(problem, alpha, diagonal)
    return found.mean_squared_error if criterion == "loo" else found.generalized
