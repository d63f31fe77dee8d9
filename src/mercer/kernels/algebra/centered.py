"""A kernel after shifting the mean of the training features to the origin.

Schoelkopf, Smola & Mueller (1998), eq. 13: with m(x) the mean of k(x, .) over the
reference rows and M the mean of m over them, k(x, y) - m(x) - m(y) + M.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.once import computed_once
from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import Features, Prepared
from mercer.kernels.algebra.normalized import Weighted
from mercer.kernels.algebra.scaled_power import Wrapped
from mercer.kernels.base.kernel import Kernel, block_of
from mercer.kernels.evaluation import tiles
from mercer.kernels.items.prepare_rows import numeric_matrix


@dataclass(frozen=True, eq=False)
class Centered(Wrapped):
    """The kernel of features minus their mean over reference rows; written ``k.centered()``.

    Parameters
    ----------
    kernel : Kernel
        The kernel to centre.
    reference : array-like, optional
        The rows whose features have mean zero afterwards; `bind` sets it to the
        training rows.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().centered()([[1.0], [2.0], [6.0]])
    array([[ 4.,  2., -6.],
           [ 2.,  1., -3.],
           [-6., -3.,  9.]])
    """

    kernel: Kernel
    reference: object = field(default=None, repr=False)

    is_dot_product_form = False

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.kernel == other.kernel and _same_rows(self.reference, other.reference)

    def __hash__(self) -> int:
        return hash((type(self), self.kernel))

    @property
    def is_bound(self) -> bool:
        return self.reference is not None and self.kernel.is_bound

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        if self.is_bound:
            return self
        reference = X if self.reference is None else self.reference
        return type(self)(self.kernel.bind(reference, weights), reference)

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Weighted:
        self._require_bound()
        part = self.kernel.prepare(X, dtype, origin=origin, check=check)
        reference = self.kernel.prepare(self.reference, dtype, origin=origin, check=check)
        return Weighted(part, self._means(part, reference) - 0.5 * self._grand_mean)

    def _means(self, part: Prepared, reference: Prepared) -> FloatArray:
        return tiles.product(self.kernel, part, reference, np.full(len(reference), 1.0 / len(reference)))

    @computed_once
    def _grand_mean(self) -> float:
        """Mean of the whole Gram matrix of the reference rows."""
        origin = self.kernel._origin(self.reference, None)
        rows = self.kernel.prepare(self.reference, np.float64, origin=origin)
        return float(self._means(rows, rows).mean())

    def tile(self, left: Weighted, right: Weighted, out: Array, row: int, column: int) -> None:
        self.kernel.tile(left.part, right.part, out, row, column)
        block = block_of(out, row, column, (len(left), len(right)))
        block -= left.weights.astype(block.dtype)[:, None]
        block -= right.weights.astype(block.dtype)

    def diag_of(self, prepared: Weighted) -> FloatArray:
        return self.kernel.diag_of(prepared.part) - 2.0 * prepared.weights

    def entry_bound(self, norm_bound: float) -> float:
        return 4.0 * self.kernel.entry_bound(norm_bound)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return 4.0 * self.kernel.entry_error(norm_bound, dtype)

    def feature_map(self, X: Rows) -> Features:
        """The features of the kernel, minus their mean over the reference rows."""
        bound = self.bind(X)
        mean = bound.kernel.feature_map(bound.reference).mean(axis=0)
        return bound.kernel.feature_map(X) - mean


def _same_rows(left: Rows, right: Rows) -> bool:
    if left is None or right is None or left is right:
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return left == right
    return np.array_equal(numeric_matrix(left), numeric_matrix(right))
