"""The second-order polynomial transform and its kernel."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import Array, Rows
from mercer.kernels._types import Features
from mercer.kernels.algebra.feature_maps import double_rows, monomial_features, monomial_names
from mercer.kernels.base.kernel import DotProductKernel, block_of, epsilon
from mercer.kernels.vector.linear import column_names


@dataclass(frozen=True)
class SecondOrder(DotProductKernel):
    """k(x, y) = (1/2 + x.y)^2 - 1/4 = x.y + (x.y)^2.

    In the plane it is the inner product of (x1, x2, x1^2, sqrt(2) x1 x2, x2^2): the
    features of a quadratic surface, without a constant.

    Examples
    --------
    >>> from mercer.kernels import SecondOrder
    >>> SecondOrder()([[1.0, 2.0]], [[3.0, -1.0]])
    array([[2.]])
    >>> SecondOrder().feature_map([[1.0, 2.0]]).round(4)
    array([[1.    , 2.    , 1.    , 2.8284, 4.    ]])
    """

    is_psd = True

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        block = block_of(out, row, column, dots.shape)
        np.add(dots, dots.dtype.type(1), out=block)
        block *= dots

    def norms_diag(self, norms: Array) -> Array:
        return norms * (norms + 1.0)

    def entry_bound(self, norm_bound: float) -> float:
        return norm_bound * (norm_bound + 1.0)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return epsilon(dtype) * 2.0 * norm_bound * (1.0 + 2.0 * norm_bound)

    def feature_map(self, X: Rows) -> Features:
        """The coordinates, then their squares and sqrt(2) times their products."""
        rows = double_rows(X)
        return np.hstack([rows, monomial_features(rows, 2, 0.0)])

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The coordinates, then their squares and products: "a", "b", "a²", "ab", "b²"."""
        columns = column_names(X, names)
        return columns + monomial_names(columns, 2, 0.0)
