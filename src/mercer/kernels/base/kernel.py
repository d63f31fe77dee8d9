"""The base class of kernels: a small immutable value that prepares data once and evaluates often.

A kernel of vectors takes one of two forms. In *dot-product form* it is an element-wise
function of (x.y, |x|^2, |y|^2), one matrix product and one pass over a tile. In
*pairwise form* it is a compiled loop over two rows. `precomputed` holds the third.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import kernels  # loads its names when first used: the operators make kernels of other files
from mercer._errors import DataError, ParameterError
from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import Features, Prepared, Stop
from mercer.kernels.base.distance_origin import origin_of
from mercer.kernels.base.parameters import Parameters, is_number
from mercer.kernels.base.progress import reported
from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.exact_distances import LOST
from mercer.kernels.items.prepare_rows import common_dtype, numeric_matrix, prepare_rows
from mercer.kernels.notation.written import written

if TYPE_CHECKING:
    from mercer.kernels.items.rows import Rows as PreparedRows


class Kernel(Parameters):
    """Base class of kernels; subclasses are frozen dataclasses.

    A subclass implements ``prepare``, ``tile`` and ``diag_of``, usually by deriving from
    `DotProductKernel` or `PairwiseKernel`.
    """

    if TYPE_CHECKING:
        # For kernels in dot-product form.
        def transform(
            self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int
        ) -> None: ...
        def norms_diag(self, norms: Array) -> Array: ...

    # What to do instead of calling `feature_map`, if there is none.
    _instead_of_features = "use the kernel itself"
    # NumPy scalars on the left of * and + must leave the work to the kernel.
    __array_ufunc__ = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A dataclass generates a repr for each class that does not define one.
        if "__repr__" not in vars(cls):
            cls.__repr__ = Kernel.__repr__

    def __repr__(self) -> str:
        return written(self)

    @property
    def is_psd(self) -> bool | None:
        """True: positive semidefinite by construction; None: unknown; False: known not to be."""
        return None

    @property
    def is_translation_invariant(self) -> bool:
        """Whether k(x + t, y + t) = k(x, y), so that rows may be centred before computing distances."""
        return False

    @property
    def is_dot_product_form(self) -> bool:
        """Whether `transform` can be used on tiles of inner products."""
        return False

    @property
    def takes_items(self) -> bool | None:
        """True: the items may be anything, and the kernel reads them itself; None: it does not look
        at them; False: they are rows of numbers."""
        return False

    @property
    def takes_tables(self) -> bool:
        """Whether the items are rows of a table whose columns the kernel looks up by name."""
        return False

    @property
    def is_bound(self) -> bool:
        """False while a parameter waits for training data; `bind` sets it."""
        return True

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        """Turn rows into arrays for `tile`; see `mercer.kernels.items.prepare_rows.prepare_rows`.

        `origin` is subtracted from the rows when the kernel is translation invariant.
        """
        self._require_bound()
        origin = origin if self.is_translation_invariant else None
        rows = prepare_rows(X, dtype, origin=origin, check=check)
        rows = rows.skipping_zeros() if self.is_dot_product_form else rows
        rows.by_differences = self.loses_distances(rows)
        return rows

    def loses_distances(self, rows: "PreparedRows") -> bool:
        """Whether inner products lose the distances between these rows, as far as double precision has them."""
        if not self.is_dot_product_form or rows.dtype == np.float32 or self.distance_error(1.0, rows.dtype) == 0.0:
            return False
        # Values that overflow have no distances either way, and are refused for that.
        return rows.largest_norm < np.inf and self.distance_error(rows.largest_norm, rows.dtype) > LOST

    def distance_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        """Like `entry_error`, for the part due to distances that inner products lose; 0 if there are none."""
        if not (self.is_dot_product_form and self.is_translation_invariant):
            return 0.0
        try:
            return self.entry_error(norm_bound, dtype)
        except OverflowError:
            return np.inf

    def tile(self, left: Prepared, right: Prepared, out: Array, row: int, column: int) -> None:
        """Write K(left_i, right_j) to out[row + i, column + j]."""
        raise NotImplementedError

    def diag_of(self, prepared: Prepared) -> FloatArray:
        """k(x, x) for each prepared row, in double precision."""
        raise NotImplementedError

    def entry_bound(self, norm_bound: float) -> float:
        """An upper bound on |k(x, y)| over rows of squared norm at most `norm_bound`."""
        raise NotImplementedError

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        """Estimated absolute error of one entry evaluated in `dtype`.

        For rows of squared norm at most `norm_bound`. It includes the rounding of the
        rows to `dtype`, and is what decides between single and double precision.
        """
        raise NotImplementedError

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        """Set parameters that depend on training data; returns the kernel itself if none does.

        `weights` are multiplicities: a row of weight two counts as a row that occurs twice.
        """
        nested = self.nested_kernels()
        bound = {name: child.bind(X, weights) for name, child in nested.items()}
        changes = {name: child for name, child in bound.items() if child is not nested[name]}
        return self.replace(**changes) if changes else self

    def __call__(
        self,
        X: Rows,
        Y: Rows | None = None,
        *,
        dtype: DTypeLike | None = None,
        callback: Callable[[float], object] | None = None,
    ) -> Array:
        """The Gram matrix of the rows of X, or the matrix between the rows of X and Y.

        `callback`, if given, is called with the fraction done, between 0 and 1, up to ten times a
        second; if it returns True, the work ends with `CancelledError`.
        """
        with reported(callback) as stop:
            return self._evaluated(X, Y, dtype, stop)

    def _evaluated(self, X: Rows, Y: Rows | None, dtype: DTypeLike | None, stop: Stop | None) -> Array:
        kernel = self.bind(X) if Y is None else self
        dtype = common_dtype(X, Y) if dtype is None else np.dtype(dtype)
        origin = kernel._origin(X, Y)
        left = kernel.prepare(X, dtype, origin=origin)
        if Y is None:
            out = tiles.gram(kernel, left, np.empty((len(left), len(left)), dtype), stop=stop)
            np.fill_diagonal(out, kernel.diag_of(left))
            return out
        right = kernel.prepare(Y, dtype, origin=origin)
        require_same_features(left, right)
        return tiles.fill(kernel, left, right, np.empty((len(left), len(right)), dtype), stop=stop)

    def diag(self, X: Rows) -> FloatArray:
        """k(x, x) for each row x, without the rest of the Gram matrix."""
        kernel = self.bind(X)
        return kernel.diag_of(kernel.prepare(X, np.float64, origin=kernel._origin(X, None)))

    def feature_map(self, X: Rows) -> Features:
        """Explicit features psi(X) whose inner products are the kernel, if there are finitely many."""
        raise ParameterError(f"{type(self).__name__} has no finite feature map; {self._instead_of_features}")

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """A readable name for each column of ``feature_map(X)``; `names` are those of X's columns."""
        raise ParameterError(f"{type(self).__name__} has no names for its features; {self._instead_of_features}")

    def terms(self) -> "list[tuple[str | None, Kernel]]":
        """Kernels that add up to this one, as (name, kernel); the name may be None."""
        return [(None, self)]

    def _origin(self, X: Rows, Y: Rows | None) -> FloatArray | None:
        dense = not sparse.issparse(X) and not sparse.issparse(Y)
        if not (self.is_translation_invariant and dense and len(X)):
            return None
        self._require_bound()
        return origin_of(self, numeric_matrix(X))

    def _require_bound(self) -> None:
        if not self.is_bound:
            raise ParameterError(f"{self!r} depends on training data; call bind(X) on it first")

    def normalized(self) -> "Kernel":
        """k(x, y) / sqrt(k(x, x) k(y, y))."""
        return kernels.Normalized(self)

    def centered(self) -> "Kernel":
        """The kernel after shifting the mean of the training features to the origin."""
        return kernels.Centered(self)

    def __add__(self, other: "Kernel | float") -> "Kernel":
        return kernels.Sum.of(self, other)

    def __radd__(self, other: "Kernel | float") -> "Kernel":
        return kernels.Sum.of(other, self)

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        return kernels.Product.of(self, other)

    def __rmul__(self, other: "Kernel | float") -> "Kernel":
        return self.__mul__(other) if is_number(other) else NotImplemented

    def __pow__(self, exponent: float) -> "Kernel":
        return kernels.Power(self, exponent)


class DotProductKernel(Kernel):
    """A kernel that is an element-wise function of x.y, |x|^2 and |y|^2."""

    if TYPE_CHECKING:

        def prepare(
            self, X: Rows, dtype: DTypeLike = ..., *, origin: Array | None = ..., check: bool = ...
        ) -> PreparedRows: ...

    is_dot_product_form = True

    def transform(self, dots: Array, left_norms: Array, right_norms: Array, out: Array, row: int, column: int) -> None:
        """Write the kernel of a tile of inner products to out[row:, column:]."""
        raise NotImplementedError

    def norms_diag(self, norms: Array) -> Array:
        """k(x, x) from |x|^2."""
        raise NotImplementedError

    def tile(self, left: "PreparedRows", right: "PreparedRows", out: Array, row: int, column: int) -> None:
        self.transform(*left.products(right, self.is_translation_invariant), out, row, column)

    def diag_of(self, prepared: "PreparedRows") -> FloatArray:
        return self.norms_diag(prepared.norms.astype(np.float64))


class PairwiseKernel(Kernel):
    """A kernel evaluated by a compiled loop over pairs of dense rows."""

    if TYPE_CHECKING:

        def prepare(
            self, X: Rows, dtype: DTypeLike = ..., *, origin: Array | None = ..., check: bool = ...
        ) -> PreparedRows: ...

    def pairs(self, left: Array, columns: Array, out: Array, row: int, column: int) -> None:
        """Write the kernel of rows `left` (n, d) and `columns` (d, m) to out[row:, column:]."""
        raise NotImplementedError

    def tile(self, left: "PreparedRows", right: "PreparedRows", out: Array, row: int, column: int) -> None:
        # The right-hand rows are stored as columns, so that the innermost loop is over pairs
        # and vectorises for any number of features.
        columns = np.ascontiguousarray(right.dense().T)
        self.pairs(left.dense(), columns, out, row, column)


def block_of(out: Array, row: int, column: int, shape: tuple[int, ...]) -> Array:
    """The part of `out` that a tile of this shape fills, as a view."""
    return out[row : row + shape[0], column : column + shape[1]]


def epsilon(dtype: DTypeLike) -> float:
    """Distance from 1 to the next larger number of `dtype`."""
    return float(np.finfo(dtype).eps)


def require_same_features(left: Prepared, right: Prepared) -> None:
    """Refuse to compare rows of different lengths."""
    widths = [getattr(part, "n_features", None) for part in (left, right)]
    if widths[0] != widths[1]:
        raise DataError(f"X and Y must have the same number of features, got {widths[0]} and {widths[1]}")
