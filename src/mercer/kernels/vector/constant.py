"""The constant kernel, what ``k + 1.0`` adds."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer.kernels.base.kernel import DotProductKernel, block_of, epsilon
from mercer.kernels.base.parameters import require_non_negative
from mercer.kernels.given.precomputed import Objects


@dataclass(frozen=True)
class Constant(DotProductKernel):
    """k(x, y) = value, the same for every pair.

    Parameters
    ----------
    value : float
        Not negative.

    Examples
    --------
    >>> from mercer.kernels import Constant, Linear
    >>> Constant(2.0)([[1.0]], [[5.0]])
    array([[2.]])
    >>> Linear() + 1.0
    Sum(kernels=(Linear(), Constant(value=1.0)))
    """

    value: float = 1.0

    is_psd = True
    is_translation_invariant = True
    takes_items = None

    def __post_init__(self):
        require_non_negative("value", self.value)

    def prepare(self, X, dtype=np.float64, *, origin=None, check=True):
        if _are_rows(X):
            return super().prepare(X, dtype, origin=origin, check=check)
        # Beside a kernel of texts, tables or graphs, whose items nobody needs to look at here.
        return Objects(np.empty(X.shape[0] if hasattr(X, "shape") else len(X)), np.dtype(dtype))

    def tile(self, left, right, out, row, column):
        block_of(out, row, column, (len(left), len(right)))[...] = self.value

    def diag_of(self, prepared):
        return np.full(len(prepared), float(self.value))

    def transform(self, dots, left_norms, right_norms, out, row, column):
        block_of(out, row, column, dots.shape)[...] = self.value

    def norms_diag(self, norms):
        return np.full(np.shape(norms), float(self.value))

    def entry_bound(self, norm_bound):
        return self.value

    def entry_error(self, norm_bound, dtype):
        return epsilon(dtype) * self.value

    def feature_map(self, X):
        """One feature, the square root of the value."""
        return np.full((len(self.prepare(X)), 1), math.sqrt(self.value))

    def feature_names(self, X, names=None):
        return ["constant"]


def _are_rows(X):
    """Whether these are rows of numbers, and not texts, tables or graphs."""
    if sparse.issparse(X):
        return True
    first = np.asarray(X[:1]) if isinstance(X, (np.ndarray, list, tuple)) else np.empty(0)
    return first.ndim == 2 and first.dtype.kind in "fiubc"
