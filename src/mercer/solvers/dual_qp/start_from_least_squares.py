"""A starting point when the sums of two groups are fixed: the bounds that least squares would choose.

A function spanned by a few hundred points, fitted to the targets of a few thousand by least squares, shows
how far every point is from its target. The farthest points of a group are set to their bound until
the sum of the group is reached. A sample solved by itself would overfit: its function is larger than that
of the whole, and points at its bounds add up to a gradient that rounds of pair steps then have to undo. Least
squares leaves residuals that are small along every direction in which the kernel is large, and so are
bounds chosen by them.

Cost: `BASIS` rows of the kernel matrix at the points fitted and at all, and m r^2 for m of them and r in the basis
(Nystroem's method, Williams & Seeger 2001). Needs: a `DualProblem` with two groups.
"""

import numpy as np
from scipy.linalg.blas import dsyrk, ssyrk
from scipy.linalg.lapack import dposv

from mercer._jit.threads import one_blas_thread
from mercer._types import Array, FloatArray
from mercer.kernels.gram.kernel_matrix import KernelMatrix
from mercer.problems.svm.signed_dual import DualProblem

# Up to this size a problem starts with the first points at their bounds.
SMALLEST = 800
BASIS, FITTED = 128, 4096
# Weight of the norm relative to the squared residuals, in units of the kernel's diagonal.
PENALTY = 1.0
# Ridge of the normal equations relative to the mean diagonal: products are in single precision.
JITTER = 1e-4


def start(problem: DualProblem, matrix: KernelMatrix) -> FloatArray:
    """A feasible point of `problem`; the first points at their bounds if least squares fails."""
    residuals = _residuals(matrix, _targets(problem), problem.upper - problem.lower)
    return problem.beginning() if residuals is None else problem.filled(residuals)


def _targets(problem: DualProblem) -> FloatArray:
    """The target of each point: p, or where that is zero, a sign for each group."""
    return problem.linear if problem.linear.any() else np.where(problem.groups == 0, 1.0, -1.0)


def _residuals(matrix: KernelMatrix, targets: FloatArray, weights: FloatArray) -> FloatArray | None:
    """Targets minus the fitted function and bias; None if the fit fails."""
    chosen = np.random.default_rng(0).permutation(matrix.n)[:FITTED]
    basis = chosen[:BASIS]
    rows = matrix.view(chosen).rows(np.arange(len(basis)))
    weights = weights[chosen] / weights[chosen].sum()
    fitted = targets[chosen] - targets[chosen] @ weights
    with one_blas_thread():  # a few milliseconds, after which BLAS threads would busy-wait
        coefficients = _solved(rows, weights, fitted, float(np.abs(matrix.diag).mean()))
    if coefficients is None:
        return None
    return targets - matrix.product(basis, coefficients)


def _solved(rows: Array, weights: FloatArray, targets: FloatArray, scale: float) -> FloatArray | None:
    """Coefficients of the basis, from the normal equations of centred rows."""
    r, m = rows.shape
    core = rows[:, :r].astype(np.float64)
    means = rows @ weights.astype(rows.dtype)
    rows = (rows - means[:, None]) * np.sqrt(m * weights).astype(rows.dtype)
    square = (ssyrk if rows.dtype == np.float32 else dsyrk)(1.0, rows.T, trans=1, lower=1).astype(np.float64)
    square += PENALTY * scale * core
    square.flat[:: r + 1] += JITTER * np.abs(square.diagonal()).mean()
    right = rows @ (np.sqrt(m * weights) * targets).astype(rows.dtype)
    _, found, failure = dposv(square, right.astype(np.float64), lower=1)
    return None if failure or not np.isfinite(found).all() else found
