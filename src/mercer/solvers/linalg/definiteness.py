"""An indefinite kernel matrix is refused, with a vector that proves it, or reported by a status."""

from typing import TYPE_CHECKING

import numpy as np

from mercer._errors import NotPositiveSemidefiniteError
from mercer._types import FloatArray, IndexArray
from mercer.kernels.given.precomputed import most_asymmetric
from mercer.solvers.linalg import dense_eigen

if TYPE_CHECKING:
    from mercer.solvers._types import RowSource

# Negative eigenvalues above this share of the largest entry are rounding errors.
INDEFINITE = -1e-8
# Negative eigenvalues above minus this share of the largest, or of a bound on it, are explained by single precision.
ROUNDING = 1e-7


def is_seen_indefinite(gram: FloatArray, share: float = ROUNDING) -> bool:
    """Whether a symmetric matrix has an eigenvalue below minus a share of an upper bound on its eigenvalues."""
    largest = float(np.abs(gram).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return False
    gram = gram / largest
    return not is_definite(gram, share * float(np.abs(gram).sum(axis=1).max()), is_symmetric=True)


def refuse_indefinite(matrix: "RowSource", indices: IndexArray | list[int]) -> None:
    """Raise if K[indices, indices] has a negative eigenvalue, with its eigenvector as the witness.

    Raises NotPositiveSemidefiniteError with a witness v, of the length of the matrix: v'Kv < 0.
    """
    indices = np.asarray(indices)
    values, vectors = np.linalg.eigh(matrix.rows(indices)[:, indices].astype(np.float64))
    if values[0] >= 0.0:
        return
    witness = np.zeros(matrix.n)
    witness[indices] = vectors[:, 0]
    raise NotPositiveSemidefiniteError(
        f"the kernel is not positive semidefinite on these rows: v'Kv = {values[0]:.3g} for v = error.witness, so "
        "there is no feature space to separate them in; SVC(C=...) finds a stationary point; try other parameters",
        witness,
    )


def is_definite(gram: FloatArray, tolerance: float, is_symmetric: bool = False) -> bool:
    """Whether a matrix is symmetric with no eigenvalue below minus `tolerance`, so that it can be factored."""
    if not is_symmetric and most_asymmetric(np.array(gram, dtype=np.float64, order="C"))[2] > tolerance:
        return False
    return dense_eigen.is_definite(gram, tolerance)


def are_definite(grams: FloatArray) -> bool:
    """Whether all of several symmetric matrices can be factored."""
    try:
        np.linalg.cholesky(grams)
    except np.linalg.LinAlgError:
        return False
    return True
