"""The cosine kernel: the angle between rows, whatever their lengths."""

from dataclasses import dataclass

import numpy as np

from mercer.kernels.algebra.feature_maps import double_rows
from mercer.kernels.base.kernel import DotProductKernel, block_of, epsilon


@dataclass(frozen=True)
class Cosine(DotProductKernel):
    """k(x, y) = x.y / (|x| |y|), and 0 where a row is zero.

    Examples
    --------
    >>> from mercer.kernels import Cosine
    >>> Cosine()([[3.0, 4.0]], [[2.0, 0.0]])
    array([[0.6]])
    """

    is_psd = True

    def transform(self, dots, left_norms, right_norms, out, row, column):
        block = block_of(out, row, column, dots.shape)
        np.multiply(dots, _inverse_lengths(left_norms)[:, None], out=block)
        block *= _inverse_lengths(right_norms)

    def norms_diag(self, norms):
        return (np.asarray(norms) > 0).astype(np.float64)

    def entry_bound(self, norm_bound):
        return 1.0

    def entry_error(self, norm_bound, dtype):
        return 4.0 * epsilon(dtype)

    def feature_map(self, X):
        """The rows, each divided by its length."""
        rows = double_rows(X)
        return rows * _inverse_lengths(np.einsum("ij,ij->i", rows, rows))[:, None]


def _inverse_lengths(norms):
    return np.divide(1.0, np.sqrt(norms), out=np.zeros_like(norms), where=norms > 0)
