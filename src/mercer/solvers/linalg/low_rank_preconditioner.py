"""Preconditioners for K + lambda I that need few rows of K.

Method: K is replaced by L L' with r columns, either by pivoted Cholesky (the worst approximated item next) or by
Nystroem with random landmarks, and (L L' + lambda I)^-1 is applied by the Woodbury identity. The part of
K's spectrum that is missing determines how many iterations remain.

Cost: r rows of K and n r^2 to make, 2 n r to apply.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import FloatArray
from mercer.kernels.gram.packed_triangle import Triangle
from mercer.solvers.linalg.cholesky import factorise
from mercer.solvers.linalg.nystroem import nystroem_factor
from mercer.solvers.linalg.pivoted_cholesky import partial_factor

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator
    from mercer.solvers._types import Operation, Random

# Squared distances below the first share of the largest squared norm are rounding; the second keeps landmarks
# independent.
_NEGLIGIBLE, _JITTER = 1e-13, 1e-10


def low_rank(
    operator: "SymmetricOperator",
    rank: int,
    shift: float,
    stop: "Stop | None" = None,
    rng: "Random | None" = None,
    dtype: DTypeLike = np.float64,
) -> "Operation":
    """A function R -> (L L' + shift I)^-1 R.

    With `rng`, landmarks drawn at random (Nystroem); without, pivots. L is kept in `dtype`.
    """
    largest = max(float(operator.diag.max(initial=0.0)), 1e-300)
    if rng is None:
        columns, _ = partial_factor(operator, rank, _NEGLIGIBLE * largest, stop)
    else:
        columns = nystroem_factor(operator, rank, rng, _JITTER * largest)
    columns = columns.astype(dtype, copy=False)
    inner = (columns.T @ columns).astype(np.float64)
    inner[np.diag_indices_from(inner)] += shift
    factor = factorise(Triangle.of(inner), stop=stop)

    def apply(right: FloatArray) -> FloatArray:
        inside = factor.solve((columns.T @ right.astype(dtype, copy=False)).astype(np.float64))
        return (right - columns @ inside.astype(dtype, copy=False)) / shift

    return apply
