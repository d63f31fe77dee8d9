"""The sigmoid kernel, which has the shape of a neuron but is not a Mercer kernel."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.math import exp
from mercer._types import Array
from mercer.kernels.base.kernel import DotProductKernel, epsilon
from mercer.kernels.base.parameters import GammaFromData, require_finite, require_gamma

# Squares of arguments below this: the first omitted term of the series is 6e-16 of tanh there.
SMALL = 4e-4


@jit
def _sigmoid(dots: Array, gamma: float, coef0: float, out: Array, row: int, column: int) -> None:
    n, m = dots.shape
    one = dots.dtype.type(1)
    two = dots.dtype.type(2)
    third, fifth, seventh = dots.dtype.type(-1.0 / 3.0), dots.dtype.type(2.0 / 15.0), dots.dtype.type(-17.0 / 315.0)
    small = dots.dtype.type(SMALL)
    for i in range(n):
        source = dots[i]
        target = out[row + i, column : column + m]
        for j in range(m):
            t = gamma * source[j] + coef0
            # tanh by the exponential, which vectorises; exp stops before it overflows.
            below = exp(two * t) + one
            # The test is never needed, but with it no division by zero is looked for.
            far = one - two / (below if below > one else one)
            # Near zero that is a difference of ones: Taylor's series has all digits there.
            square = t * t
            near = t + t * square * (third + square * (fifth + square * seventh))
            target[j] = near if square < small else far


@dataclass(frozen=True)
class Sigmoid(GammaFromData, DotProductKernel):
    """k(x, y) = tanh(gamma x.y + coef0).

    It is indefinite for most parameters: `mercer_check` tests it on given data, and a
    solver may stop at a stationary point that is not an optimum.

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median"
        Positive; "scale" is 1 / (d var(X)) and "auto" is 1 / d, fixed by `bind`.
    coef0 : float
        Constant term.

    Examples
    --------
    >>> from mercer.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5)([[1.0]], [[2.0]]).round(4)
    array([[0.7616]])
    """

    gamma: float | str = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        require_gamma(self.gamma)
        require_finite("coef0", self.coef0)

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        number = dots.dtype.type
        _sigmoid(dots, number(self.gamma), number(self.coef0), out, row, column)

    def norms_diag(self, norms: Array) -> Array:
        return np.tanh(cast(float, self.gamma) * norms + self.coef0)

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return epsilon(dtype) * (3.0 * cast(float, self.gamma) * norm_bound + abs(self.coef0) + 2.0)
