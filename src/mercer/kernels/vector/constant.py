"""The constant kernel, which ``k + 1.0`` adds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import Features, Prepared
from mercer.kernels.base.kernel import DotProductKernel, block_of, epsilon
from mercer.kernels.base.parameters import require_non_negative
from mercer.kernels.given.precomputed import Objects

if TYPE_CHECKING:
    from mercer.kernels.items.rows import Rows as PreparedRows


@dataclass(frozen=True)
class Constant(DotProductKernel):
    """k(x, y) = value, the same for every pair.

    Parameters
    ----------
    value : float
        0 or more.

    Examples
    --------
    >>> from mercer.kernels import Constant, Linear
    >>> Constant(2.0)([[1.0]], [[5.0]])
    array([[2.]])
    >>> Linear() + 1.0
    Linear() + 1.0
    """

    value: float = 1.0

    is_psd = True
    is_translation_invariant = True
    takes_items = None

    def __post_init__(self) -> None:
        require_non_negative("value", self.value)

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> "PreparedRows | Objects":
        if _are_rows(X):
            return super().prepare(X, dtype, origin=origin, check=check)
        # Beside a kernel of texts, tables or graphs, whose items need not be looked at here.
        return Objects(np.empty(X.shape[0] if hasattr(X, "shape") else len(X)), np.dtype(dtype))

    def tile(self, left: Prepared, right: Prepared, out: Array, row: int, column: int) -> None:
        block_of(out, row, column, (len(left), len(right)))[...] = self.value

    def diag_of(self, prepared: Prepared) -> FloatArray:
        return np.full(len(prepared), float(self.value))

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        block_of(out, row, column, dots.shape)[...] = self.value

    def norms_diag(self, norms: Array) -> Array:
        return np.full(np.shape(norms), float(self.value))

    def entry_bound(self, norm_bound: float) -> float:
        return self.value

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return epsilon(dtype) * self.value

    def feature_map(self, X: Rows) -> Features:
        """One feature, the square root of the value."""
        return np.full((len(self.prepare(X)), 1), math.sqrt(self.value))

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        return ["constant"]


def _are_rows(X: Rows) -> bool:
    """Whether these are rows of numbers rather than texts, tables or graphs."""
    if sparse.issparse(X):
        return True
    first = np.asarray(X[:1]) if isinstance(X, (np.ndarray, list, tuple)) else np.empty(0)
    return first.ndim == 2 and first.dtype.kind in "fiubc"
