"""The linear kernel."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import Array, Rows
from mercer.kernels._types import Features
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

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        block_of(out, row, column, dots.shape)[...] = dots

    def norms_diag(self, norms: Array) -> Array:
        return np.array(norms)

    def entry_bound(self, norm_bound: float) -> float:
        return norm_bound

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return 2.0 * epsilon(dtype) * norm_bound

    def feature_map(self, X: Rows) -> Features:
        """The rows themselves, dense and in double precision."""
        return double_rows(X)

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The names of the columns, or x0, x1, ..."""
        return column_names(X, names)


def column_names(X: Rows, names: Sequence[str] | None = None) -> list[str]:
    """The names of the columns of X, or x0, x1, ..."""
    count = X.shape[1] if hasattr(X, "shape") else len(X[0])
    return [str(name) for name in names] if names is not None else [f"x{place}" for place in range(count)]
