"""The polynomial kernel and its two explicit feature maps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._jit.compile import jit
from mercer._types import Array, Rows
from mercer.kernels._types import Features
from mercer.kernels.algebra.feature_maps import double_rows, monomial_features, monomial_names, sequence_features
from mercer.kernels.base.kernel import DotProductKernel, epsilon
from mercer.kernels.base.parameters import GammaFromData, require_count, require_finite, require_gamma, require_power
from mercer.kernels.vector.linear import column_names


@jit
def _polynomial(dots: Array, gamma: float, coef0: float, degree: int, out: Array, row: int, column: int) -> None:
    n, m = dots.shape
    one = dots.dtype.type(1)
    bits = 0
    while degree >> bits:
        bits += 1
    for i in range(n):
        source = dots[i]
        target = out[row + i, column : column + m]
        for j in range(m):
            target[j] = one
        # By squaring, starting with the first binary digit of the degree. One pass per digit: the row stays in the
        # first-level cache.
        for bit in range(bits - 1, -1, -1):
            if (degree >> bit) & 1:
                for j in range(m):
                    target[j] = target[j] * target[j] * (gamma * source[j] + coef0)
            else:
                for j in range(m):
                    target[j] *= target[j]


@dataclass(frozen=True)
class Polynomial(GammaFromData, DotProductKernel):
    """k(x, y) = (gamma x.y + coef0) ** degree.

    Parameters
    ----------
    degree : int
        A whole number, 0 to a million.
    gamma : float, "scale", "auto" or "median"
        Positive; "scale" is 1 / (d var(X)) and "auto" is 1 / d, fixed by `bind`.
    coef0 : float
        With coef0 = 0 only products of exactly `degree` coordinates count; with 1 and
        gamma = 1, the kernel is (1 + x.y) ** degree. If it is negative, the kernel may be indefinite.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> Polynomial(degree=2, coef0=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int = 3
    gamma: float | str = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        require_count("degree", self.degree)
        require_power("degree", self.degree)
        require_gamma(self.gamma)
        require_finite("coef0", self.coef0)

    @property
    def is_psd(self) -> bool | None:
        # Expanding the power gives non-negative combinations of products of x.y.
        return True if self.coef0 >= 0 or self.degree == 0 else None

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        number = dots.dtype.type
        _polynomial(dots, number(self.gamma), number(self.coef0), int(self.degree), out, row, column)

    def norms_diag(self, norms: Array) -> Array:
        return (cast(float, self.gamma) * norms + self.coef0) ** int(self.degree)

    def entry_bound(self, norm_bound: float) -> float:
        return (cast(float, self.gamma) * norm_bound + abs(self.coef0)) ** int(self.degree)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        base = cast(float, self.gamma) * norm_bound + abs(self.coef0)
        return 3.0 * epsilon(dtype) * self.degree * base ** int(self.degree)

    def feature_map(self, X: Rows, form: str = "monomials") -> Features:
        """Explicit features psi(X), whose inner products are the kernel.

        Parameters
        ----------
        X : array-like of shape (n, d)
        form : "monomials" or "sequences"
            "monomials" has one feature for each distinct monomial, weighted by the square
            root of its multinomial coefficient. "sequences" has one for each sequence
            J in {0..d}^degree, the product of the coordinates it names, with x_0 = 1
            when coef0 = 1: many features repeat, but each is a plain product.
        """
        maps = {"monomials": monomial_features, "sequences": sequence_features}
        if form not in maps:
            raise ParameterError(f'form must be "monomials" or "sequences", got {form!r}')
        if self.coef0 < 0:
            raise ParameterError(f"coef0 must not be negative for a feature map, got {self.coef0!r}")
        gamma = self.bind(X).gamma
        return maps[form](np.sqrt(gamma) * double_rows(X), int(self.degree), self.coef0)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The monomials, in the order of the columns of ``feature_map(X)``: "1", "a", "b", "a²", "ab".

        The features have weights: with gamma = coef0 = 1, that of "ab" in a kernel of degree 2 is sqrt(2) a b.

        Examples
        --------
        >>> from mercer.kernels import Polynomial
        >>> Polynomial(degree=2, coef0=1.0).feature_names([[1.0, 2.0]], names=["a", "b"])
        ['1', 'a', 'b', 'a²', 'ab', 'b²']
        """
        return monomial_names(column_names(X, names), int(self.degree), self.coef0)
