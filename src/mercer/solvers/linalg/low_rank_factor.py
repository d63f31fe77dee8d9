"""K ≈ L L' of low rank, computed once for a fit: the preconditioner for the conjugate gradients of `smooth.newton`."""

from typing import TYPE_CHECKING

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.linalg.nystroem import nystroem_factor
from mercer.solvers.linalg.pivoted_cholesky import partial_factor

if TYPE_CHECKING:
    from mercer.solvers._types import HessianRoot
    from mercer.solvers.smooth.newton_gram import NewtonMatrix

# Rank of the preconditioner for one function: by pivots, and by random rows of a quantised matrix, which are cheap.
RANK, LANDMARKS = 160, 192
# The rank of all functions together, where values are computed again in every product.
RANK_OF_ALL = 480
# Where they are in memory, the Hessian of the preconditioner may cost as much as this many products.
WORTH = 1.0
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
    of_all = _affordable(K) if K.matrix.is_stored else RANK_OF_ALL
    most, largest = max(8, min(RANK, of_all // K.k)), float(K.matrix.diag.max(initial=0.0))
    curvature = float(np.max(root.total)) / K.n
    negligible = max(DESCRIBED / max(curvature, 1e-300), 1e-6 * largest)
    factor, _ = partial_factor(K.matrix, most, negligible, K.limits.stop)
    # Single precision is enough if its rounding is below the approximation error.
    is_mild = K.n * largest * curvature * SINGLE <= DESCRIBED
    return factor.astype(np.float32) if is_mild else factor


def _of_landmarks(K: "NewtonMatrix") -> FloatArray:
    """From random rows of the quantised matrix."""
    most = min(K.n, max(8, min(LANDMARKS, _affordable(K) // K.k)))
    jitter = max(2.0 * K.rounded.noise, most * K.rounded.unit)
    return nystroem_factor(K.rounded, most, np.random.default_rng(0), jitter)


def _affordable(K: "NewtonMatrix") -> int:
    """The rank r of all functions together whose n r^2 / 2 multiplications are worth their n^2 k for each product."""
    return int((2.0 * WORTH * K.n * K.k) ** 0.5)
