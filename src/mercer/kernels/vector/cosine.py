"""The cosine kernel: the angle between rows, whatever their lengths."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import Array, Rows
from mercer.kernels._types import Features
from mercer.kernels.algebra.feature_maps import double_rows
from mercer.kernels.base.kernel import DotProductKernel, block_of, epsilon


@dataclass(frozen=True)
class Cosine(DotProductKernel):
    """k(x, y) = x.y / (|x| |y|), and 0 if either row is zero.

    Examples
    --------
    >>> from mercer.kernels import Cosine
    >>> Cosine()([[3.0, 4.0]], [[2.0, 0.0]])
    array([[0.6]])
    """

    is_psd = True

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        block = block_of(out, row, column, dots.shape)
        np.multiply(dots, _inverse_lengths(left_norms)[:, None], out=block)
        block *= _inverse_lengths(right_norms)

    def norms_diag(self, norms: Array) -> Array:
        return (np.asarray(norms) > 0).astype(np.float64)

    def entry_bound(self, norm_bound: float) -> float:
        return 1.0

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return 4.0 * epsilon(dtype)

    def feature_map(self, X: Rows) -> Features:
        """The rows, each divided by its length."""
        rows = double_rows(X)
        return rows * _inverse_lengths(np.einsum("ij,ij->i", rows, rows))[:, None]


def _inverse_lengths(norms: Array) -> Array:
    return np.divide(1.0, np.sqrt(norms), out=np.zeros_like(norms), where=norms > 0)
