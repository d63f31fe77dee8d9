"""The Gaussian kernel, in each of its usual parametrisations."""

import math
from dataclasses import dataclass
from typing import Self, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.math import exp_negative
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, Rows
from mercer.kernels.algebra.feature_maps import double_rows, taylor_features
from mercer.kernels.base.kernel import DotProductKernel, epsilon
from mercer.kernels.base.parameters import GammaFromData, require_count, require_gamma, require_positive


@jit
def _rbf(dots: Array, left_norms: Array, right_norms: Array, gamma: float, out: Array, row: int, column: int) -> None:
    vector_loop()
    n, m = dots.shape
    zero = dots.dtype.type(0)
    for i in range(n):
        source = dots[i]
        target = out[row + i, column : column + m]
        norm = left_norms[i]
        for j in range(m):
            distance = (norm - source[j]) + (right_norms[j] - source[j])
            distance = distance if distance > zero else zero
            target[j] = exp_negative(-gamma * distance)


@dataclass(frozen=True)
class RBF(GammaFromData, DotProductKernel):
    """k(x, y) = exp(-gamma |x - y|^2), the Gaussian kernel.

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median"
        Positive; "scale" is 1 / (d var(X)), "auto" is 1 / d and "median" is one over the median
        squared distance between different rows (of a thousand of them); fixed by `bind`.
        The other two ways to write a width are `from_sigma_squared` and `from_two_sigma`.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    gamma: float | str = 1.0

    is_psd = True
    is_translation_invariant = True
    _instead_of_features = "truncated_feature_map(X, order) gives the first of its infinitely many features"

    def __post_init__(self) -> None:
        require_gamma(self.gamma)

    @classmethod
    def from_sigma_squared(cls, sigma: float) -> Self:
        """exp(-|x - y|^2 / sigma^2), so gamma = 1 / sigma^2.

        Examples
        --------
        >>> from mercer.kernels import RBF
        >>> RBF.from_sigma_squared(2.0)
        RBF(gamma=0.25)
        """
        require_positive("sigma", sigma)
        return cls(1.0 / sigma**2)

    @classmethod
    def from_two_sigma(cls, sigma: float) -> Self:
        """exp(-|x - y|^2 / (2 sigma)), so gamma = 1 / (2 sigma); sigma is not squared.

        Examples
        --------
        >>> from mercer.kernels import RBF
        >>> RBF.from_two_sigma(2.0)
        RBF(gamma=0.25)
        """
        require_positive("sigma", sigma)
        return cls(1.0 / (2.0 * sigma))

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        _rbf(dots, left_norms, right_norms, dots.dtype.type(self.gamma), out, row, column)

    def norms_diag(self, norms: Array) -> Array:
        return np.ones_like(norms)

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        # |x|^2 + |y|^2 - 2 x.y loses up to 4 norm_bound eps, and the slope in it is gamma.
        return epsilon(dtype) * (4.0 * cast(float, self.gamma) * norm_bound + 2.0)

    def truncated_feature_map(self, X: Rows, order: int) -> FloatArray:
        """The features of the Taylor series, up to products of `order` coordinates.

        The full map is infinite: exp(-gamma |x|^2) sqrt((2 gamma)^|a| / a!) x^a over all
        exponents a. Inner products of the truncated one converge to the kernel as the
        order grows, fast when 2 gamma |x| |y| is small.

        Parameters
        ----------
        X : array-like of shape (n, d)
        order : int
            Largest total exponent |a|.

        Examples
        --------
        >>> from mercer.kernels import RBF
        >>> features = RBF(gamma=1.0).truncated_feature_map([[0.5], [-0.25]], order=8)
        >>> float((features[0] @ features[1]).round(6))
        0.569783
        """
        require_count("order", order)
        gamma = self.bind(X).gamma
        rows = math.sqrt(2.0 * cast(float, gamma)) * double_rows(X)
        damping = np.exp(-0.5 * np.einsum("ij,ij->i", rows, rows))
        return damping[:, None] * taylor_features(rows, int(order))
