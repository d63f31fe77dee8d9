"""The Laplacian kernel: the Gaussian's cousin in the 1-norm."""

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.math import exp
from mercer._types import Array, FloatArray
from mercer.kernels._types import Prepared
from mercer.kernels.base.gamma_from_data import absolute_distances
from mercer.kernels.base.kernel import PairwiseKernel, epsilon
from mercer.kernels.base.parameters import GammaFromData, require_gamma


@jit
def _laplacian(left: Array, columns: Array, gamma: float, out: Array, row: int, column: int) -> None:
    n, d = left.shape
    m = columns.shape[1]
    for i in range(n):
        target = out[row + i, column : column + m]
        for j in range(m):
            target[j] = 0
        for k in range(d):
            value = left[i, k]
            source = columns[k]
            for j in range(m):
                target[j] += abs(value - source[j])
        for j in range(m):
            target[j] = exp(-gamma * target[j])


@dataclass(frozen=True)
class Laplacian(GammaFromData, PairwiseKernel):
    """k(x, y) = exp(-gamma sum_i |x_i - y_i|).

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median"
        Positive; "scale" is 1 / (d var(X)) and "auto" is 1 / d, fixed by `bind`.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, -1.0]]).round(4)
    array([[0.3679]])
    """

    gamma: float | str = 1.0

    _distances = staticmethod(absolute_distances)

    is_psd = True
    is_translation_invariant = True

    def __post_init__(self) -> None:
        require_gamma(self.gamma)

    def pairs(self, left: Array, columns: Array, out: Array, row: int, column: int) -> None:
        _laplacian(left, columns, left.dtype.type(self.gamma), out, row, column)

    def diag_of(self, prepared: Prepared) -> FloatArray:
        return np.ones(len(prepared))

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        # Differences do not cancel; only the rounding of the rows themselves matters.
        return epsilon(dtype) * (4.0 * cast(float, self.gamma) * math.sqrt(norm_bound) + 4.0)
