"""The user's data as prepared by a kernel, once, so that evaluation sees only arrays.

`Rows` is the dot-product form: dense or sparse rows with their squared norms. Dense and
sparse rows support the same three operations (a slice, a subset, the inner products with another
`Rows`), so nothing above this file knows which it has.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._jit.lanes import FEWEST_ROWS
from mercer._jit.once import computed_once
from mercer._jit.scratch import scratch
from mercer._types import Array, IndexArray
from mercer.kernels._types import T
from mercer.kernels.evaluation.exact_distances import negative_half_squares
from mercer.kernels.items.column_statistics import squared_lengths
from mercer.kernels.items.line_products import FEW_COLUMNS, in_lines, line_products
from mercer.kernels.items.sparse_rows import MOST_LINES, SPARSE_COST, Panels, SparseRows, is_mostly_zeros


class Rows:
    """Rows of numbers, dense (C order) or sparse, with their squared norms.

    Parameters
    ----------
    values : ndarray of shape (n, d) in C order, scipy CSR with sorted indices, or SparseRows
        The rows, float32 or float64, already checked to be finite.
    norms : ndarray of shape (n,), optional
        Squared norms, if they are already known.
    by_differences : bool
        Whether the rows are so far from the origin that inner products lose their distances.
    """

    if TYPE_CHECKING:
        values: Any  # an array, or `SparseRows` where `is_sparse`

    by_differences = False
    # Whether these rows are right-hand sides again and again, so that it pays to write them out for that.
    stay = False

    def __init__(self, values: Any, norms: Array | None = None, by_differences: bool = False) -> None:
        self.by_differences = by_differences
        self.values = SparseRows.from_scipy(values) if sparse.issparse(values) else values
        self.is_sparse = isinstance(self.values, SparseRows)
        self._whole, self._span, self._panels = None, None, {}
        if norms is not None:
            self.norms = norms

    @computed_once
    def norms(self) -> Array:
        """Squared norms |x|^2, accumulated in double precision."""
        if self.is_sparse:
            return self.values.squared_norms().astype(self.dtype)
        return squared_lengths(self.values).astype(self.dtype, copy=False)

    @computed_once
    def largest_norm(self) -> float:
        """The largest of the squared norms, 0 if there are no rows."""
        return float(self.norms.max(initial=0.0))

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @property
    def n_features(self) -> int:
        return self.values.shape[1]

    @property
    def product_cost(self) -> float:
        """Approximate number of single-precision multiplications in an inner product, at the speed of dense ones."""
        return SPARSE_COST * len(self.values.data) / max(1, len(self)) if self.is_sparse else self.n_features

    def __len__(self) -> int:
        return self.values.shape[0]

    def take(self, indices: IndexArray) -> "Rows":
        """The rows at `indices`, copied."""
        taken = self.values.take(indices) if self.is_sparse else self.values[indices]
        return Rows(taken, self.norms[indices], self.by_differences)

    def slice(self, start: int, stop: int) -> "Rows":
        """Rows start..stop, without a copy."""
        part = self.values.slice(start, stop) if self.is_sparse else self.values[start:stop]
        rows = Rows(part, self.norms[start:stop], self.by_differences)
        rows._whole, rows._span = self, (start, stop)
        return rows

    def dense(self) -> Array:
        """The rows as a dense C-ordered array."""
        return self.values.to_scipy().toarray() if self.is_sparse else self.values

    @computed_once
    def sparse(self) -> SparseRows:
        """The rows without their zeros."""
        return self.values if self.is_sparse else SparseRows.from_dense(self.values)

    def skipping_zeros(self) -> "Rows":
        """The rows without their zeros if most of their numbers are, so that products take fewer multiplications."""
        return Rows(self.sparse) if not self.is_sparse and is_mostly_zeros(self.values) else self

    def products(self, right: "Rows", of_distances: bool = False) -> tuple[Array, Array, Array]:
        """The arguments of a kernel in dot-product form: (<x, y>, |x|^2, |y|^2) of these rows and of `right`.

        A kernel of distances gets them by differences if the rows are far away.
        """
        if of_distances and (self.by_differences or right.by_differences):
            nothing = np.zeros(max(len(self), len(right)), self.dtype)
            return negative_half_squares(self, right), nothing[: len(self)], nothing[: len(right)]
        return self.dots(right), self.norms, right.norms

    def dots(self, right: "Rows") -> Array:
        """Inner products of these rows with those of `right`: a C-ordered tile, in a buffer
        that the next call in this thread reuses."""
        if self.is_sparse or right.is_sparse:
            return self.sparse.times(right.panels)
        if right.has_lines and 0 < self.n_features <= FEW_COLUMNS and len(self) >= FEWEST_ROWS:
            return line_products(self.values, right.lines, len(right))
        # With a transpose of itself, `np.matmul` computes one triangle; `np.dot` does too, but copies it slowly.
        return np.matmul(self.values, right.transposed, out=scratch("dots", (len(self), len(right)), self.dtype))

    @property
    def panels(self) -> Panels:
        """The rows written out for sparse ones beside them. The rows from which these were sliced keep them, unless
        there are so many features that this would take far more memory than the rows."""
        if self.n_features > MOST_LINES:
            return self.sparse.panels
        return self._remembered("panels", lambda: self.sparse.panels)

    @property
    def has_lines(self) -> bool:
        """Whether these rows are part of some that stay, so that to write them out pays."""
        return self._whole is not None and self._whole.stay

    @property
    def lines(self) -> Array:
        """The rows written out for dense ones beside them. The rows from which these were sliced keep them."""
        return self._remembered("lines", lambda: in_lines(self.values))

    @property
    def transposed(self) -> Array:
        """The transpose in C order, for many features: beside few rows BLAS takes up to half as long again with
        a view. The rows from which these were sliced keep it."""
        if self.n_features <= FEW_COLUMNS:
            return self.values.T
        return self._remembered("transposed", lambda: np.ascontiguousarray(self.values.T))

    def _remembered(self, form: str, make: Callable[[], T]) -> T:
        """These rows in the form of a right-hand side of products, kept by those they are part of."""
        if self._whole is None:
            return make()
        known, key = self._whole._panels, (form, self._span)
        if key not in known:
            known[key] = make()
        return known[key]
