"""The linear kernel."""

from dataclasses import dataclass

import numpy as np

from mercer.kernels.algebra.feature_maps import double_rows
from mercer.kernels.base.kernel import DotProductKernel, block_of, epsilon


@dataclass(frozen=True)
class Linear(DotProductKernel):
    """k(x, y) = x.y, the inner product itself.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    is_psd = True

    def transform(self, dots, left_norms, right_norms, out, row, column):
        block_of(out, row, column, dots.shape)[...] = dots

    def norms_diag(self, norms):
        return np.array(norms)

    def entry_bound(self, norm_bound):
        return norm_bound

    def entry_error(self, norm_bound, dtype):
        return 2.0 * epsilon(dtype) * norm_bound

    def feature_map(self, X):
        """The rows themselves, dense and in double precision."""
        return double_rows(X)

    def feature_names(self, X, names=None):
        """The names of the columns, or x0, x1, ..."""
        return column_names(X, names)


def column_names(X, names=None):
    """The names of the columns of X, or x0, x1, ..."""
    count = X.shape[1] if hasattr(X, "shape") else len(X[0])
    return [str(name) for name in names] if names is not None else [f"x{place}" for place in range(count)]
