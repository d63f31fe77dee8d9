"""The exponential chi-squared kernel, for histograms."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError
from mercer._jit.compile import jit
from mercer._jit.math import exp
from mercer._types import Array, FloatArray
from mercer._types import Rows as GivenRows
from mercer.kernels.base.kernel import PairwiseKernel, epsilon
from mercer.kernels.base.parameters import GammaFromData, require_gamma

if TYPE_CHECKING:
    from mercer.kernels.items.rows import Rows


@jit
def _chi_squared(left: Array, columns: Array, gamma: float, out: Array, row: int, column: int) -> None:
    n, d = left.shape
    m = columns.shape[1]
    zero = left.dtype.type(0)
    one = left.dtype.type(1)
    for i in range(n):
        target = out[row + i, column : column + m]
        for j in range(m):
            target[j] = zero
        for k in range(d):
            value = left[i, k]
            source = columns[k]
            for j in range(m):
                difference = value - source[j]
                total = value + source[j]
                # Both are zero or the total is not: 0 / 0 counts as 0.
                target[j] += difference * difference / (total if total > zero else one)
        for j in range(m):
            target[j] = exp(-gamma * target[j])


@dataclass(frozen=True)
class ChiSquared(GammaFromData, PairwiseKernel):
    """k(x, y) = exp(-gamma sum_i (x_i - y_i)^2 / (x_i + y_i)), for non-negative rows.

    Terms with x_i = y_i = 0 count as zero.

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median"
        Positive; "scale" is 1 / (d var(X)) and "auto" is 1 / d, fixed by `bind`.

    Examples
    --------
    >>> from mercer.kernels import ChiSquared
    >>> ChiSquared(gamma=1.0)([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.1353]])
    """

    gamma: float | str = 1.0

    is_psd = True

    def __post_init__(self) -> None:
        require_gamma(self.gamma)

    def prepare(
        self, X: GivenRows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> "Rows":
        rows = super().prepare(X, dtype, origin=origin, check=check)
        values = rows.values.data if rows.is_sparse else rows.values
        if values.size and values.min() < 0:
            raise DataError(f"X must not be negative for ChiSquared, which compares histograms, got {values.min():.3g}")
        return rows

    def pairs(self, left: Array, columns: Array, out: Array, row: int, column: int) -> None:
        _chi_squared(left, columns, left.dtype.type(self.gamma), out, row, column)

    def diag_of(self, prepared: "Rows") -> FloatArray:
        return np.ones(len(prepared))

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return epsilon(dtype) * (4.0 * cast(float, self.gamma) * norm_bound**0.5 + 4.0)
