"""The rational quadratic kernel: a mixture of Gaussians of many widths."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import Array
from mercer.kernels.base.kernel import DotProductKernel, block_of, epsilon
from mercer.kernels.base.parameters import require_positive
from mercer.kernels.vector.squared_distances import squared_distances


@dataclass(frozen=True)
class RationalQuadratic(DotProductKernel):
    """k(x, y) = (1 + |x - y|^2 / (2 alpha length_scale^2)) ** -alpha.

    A mixture of Gaussians over widths; as alpha grows it becomes the Gaussian with
    gamma = 1 / (2 length_scale^2).

    Parameters
    ----------
    alpha : float
        Positive; the smaller, the heavier the tails.
    length_scale : float
        Positive.

    Examples
    --------
    >>> from mercer.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=1.0)([[0.0]], [[2.0]]).round(4)
    array([[0.3333]])
    """

    alpha: float = 1.0
    length_scale: float = 1.0

    is_psd = True
    is_translation_invariant = True

    def __post_init__(self) -> None:
        require_positive("alpha", self.alpha)
        require_positive("length_scale", self.length_scale)

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        number = dots.dtype.type
        block = squared_distances(dots, left_norms, right_norms, block_of(out, row, column, dots.shape))
        block *= number(0.5 / (self.alpha * self.length_scale**2))
        block += number(1)
        if self.alpha == 1:
            np.reciprocal(block, out=block)
        else:
            np.power(block, number(-self.alpha), out=block)

    def norms_diag(self, norms: Array) -> Array:
        return np.ones_like(norms)

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        # The slope in the squared distance is at most 1 / (2 length_scale^2), at zero.
        return epsilon(dtype) * (2.0 * norm_bound / self.length_scale**2 + self.alpha + 2.0)
