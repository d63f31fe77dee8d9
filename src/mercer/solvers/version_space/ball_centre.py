"""The ball centre of a version space: the hard margin over walls of length 1.

Method: the largest ball inside the cone touches the nearest walls, so its centre maximises the
smallest distance, which is the homogeneous hard-margin problem with rows z_i and labels +1;
`solve_dual` solves its dual (alpha >= 0, without equality). The dual is unbounded if the
version space is empty.

Cost: that of the solver, over a matrix in memory.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer._errors import DataError, NotPositiveSemidefiniteError
from mercer._types import FloatArray
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.solvers.limits import Limits

# A squared length below this exceeds rounding.
NEGATIVE = -1e-12
_STOPPED = (Status.TIME_LIMIT, Status.INTERRUPTED, Status.MEMORY_LIMIT)


@dataclass(frozen=True)
class BallCentre:
    """w = sum_i alpha_i z_i of length 1, its smallest distance to a wall, and how it was found."""

    alpha: np.ndarray
    radius: float
    status: Status
    iterations: int


def ball_centre(gram: FloatArray, *, tol: float = 1e-3, limits: "Limits", convex: bool = True) -> BallCentre:
    """The centre of the largest ball.

    Parameters
    ----------
    gram : ndarray (n, n)
        <z_i, z_j>.
    tol : float
        Largest violation of the optimality conditions.
    limits : Limits
    convex : bool
        Whether the kernel is known to be positive semidefinite.

    Returns
    -------
    BallCentre
        Its radius is not positive where a limit came first.

    Raises
    ------
    NotPositiveSemidefiniteError
        Where the kernel matrix is found to have a negative eigenvalue; the witness has coefficients
        of the z_i.
    DataError
        Where no w is on the right side of every wall.
    """
    n = len(gram)
    dual = SoftMargin(np.ones(n), np.full(n, np.inf), "hinge", "none").dual()
    found = solve_dual(dual, StoredMatrix.of(gram), tol=tol, limits=limits.with_max_iter(-1), convex=convex)
    # The coefficients of an unbounded dual grow large; only their mean matters.
    total = float(found.beta.sum()) or 1.0
    distances = gram @ (found.beta / total)
    square = float(found.beta @ distances) / total
    length = np.sqrt(max(square, np.finfo(float).tiny))
    radius = float(distances.min() / length)
    if not radius > 0 and found.status not in _STOPPED:
        if square < NEGATIVE:
            _raise_indefinite(found.beta / total)
        _raise_empty(length)
    return BallCentre(found.beta / total / length, radius, found.status, found.iterations)


def _raise_indefinite(alpha: FloatArray) -> None:
    raise NotPositiveSemidefiniteError(
        "the kernel is not positive semidefinite on these rows: a vector of the feature space would have a negative "
        "squared length (see error.witness), so there is no version space; mercer_check(kernel, X) shows more",
        witness=alpha,
    )


def _raise_empty(length: float) -> None:
    """The proof: a convex combination of the walls' normals of nearly zero length."""
    raise DataError(
        "the version space is empty: no weight vector classifies every row correctly with this kernel (a weighted "
        f"mean of the signed rows of length 1 has length {length:.1e}); slack=1.0 softens the walls, and a narrower "
        "kernel may separate the rows"
    )
