"""K ≈ L L' of low rank, computed once for a fit: the preconditioner for the conjugate gradients of `smooth.newton`."""

from typing import TYPE_CHECKING

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.linalg.nystroem import nystroem_factor
from mercer.solvers.linalg.pivoted_cholesky import partial_factor

if TYPE_CHECKING:
    from mercer.solvers._types import HessianRoot
    from mercer.solvers.smooth.newton_gram import NewtonMatrix

# Rank of the preconditioner: for one function, and for all together.
RANK = 160
RANK_OF_ALL = 480
# The same where the matrix is quantised, so that random rows of it are cheap.
LANDMARKS = 192
LANDMARKS_OF_ALL = 480
# Rows approximated to this share of a unit of curvature need no further coordinate.
DESCRIBED = 0.03
SINGLE = float(np.finfo(np.float32).eps)


def low_rank_factor(K: "NewtonMatrix", root: "HessianRoot") -> FloatArray:
    """L for a `NewtonMatrix` and the root of the initial Hessian."""
    factor = _pivoted(K, root) if K.rounded is None else _of_landmarks(K)
    if K.problem.bias == "penalized":
        factor = np.column_stack([factor, np.ones(K.n, factor.dtype)])
    return factor


def _pivoted(K: "NewtonMatrix", root: "HessianRoot") -> FloatArray:
    """From pivots of the largest residual; for an indefinite kernel, as far as they go."""
    most, largest = max(8, min(RANK, RANK_OF_ALL // K.k)), float(K.matrix.diag.max(initial=0.0))
    curvature = float(np.max(root.total)) / K.n
    negligible = max(DESCRIBED / max(curvature, 1e-300), 1e-6 * largest)
    factor, _ = partial_factor(K.matrix, most, negligible, K.limits.stop)
    # Single precision is enough if its rounding is below the approximation error.
    is_mild = K.n * largest * curvature * SINGLE <= DESCRIBED
    return factor.astype(np.float32) if is_mild else factor


def _of_landmarks(K: "NewtonMatrix") -> FloatArray:
    """From random rows of the quantised matrix."""
    most = min(K.n, max(8, min(LANDMARKS, LANDMARKS_OF_ALL // K.k)))
    jitter = max(2.0 * K.rounded.noise, most * K.rounded.unit)
    return nystroem_factor(K.rounded, most, np.random.default_rng(0), jitter)
