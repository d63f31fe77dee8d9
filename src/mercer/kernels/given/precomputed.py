"""Kernels given as a matrix, or as a function that returns one."""

import reprlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._jit.compile import jit
from mercer._jit.threads import Stopped
from mercer._jit.vectors import vector_loop
from mercer._jit.waiting import PATIENCE_SECONDS, ends_in_force
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels.base.kernel import Kernel, block_of, epsilon
from mercer.kernels.items.prepare_rows import numeric_matrix, prepare_rows

# Edge of the blocks in which a matrix is compared with its transpose.
BLOCK = 64


@jit
def _compare(K: Array, top: int, bottom: int, left: int, right: int, mirror: Array) -> tuple[float, float]:
    """(largest |K_ij - K_ji|, largest |K_ij| or |K_ji|) of a block; `mirror` is room for its mirror image."""
    vector_loop()
    height, width = bottom - top, right - left
    # Strided reads, which become gathers, and whole rows written: three times as fast as the reverse.
    for i in range(height):
        target = mirror[i]
        for j in range(width):
            target[j] = K[left + j, top + i]
    widest, largest = K.dtype.type(0), K.dtype.type(0)
    for i in range(height):
        first, second = K[top + i, left:right], mirror[i, :width]
        for j in range(width):
            distance, one, other = abs(first[j] - second[j]), abs(first[j]), abs(second[j])
            widest = distance if distance > widest else widest
            larger = one if one > other else other
            largest = larger if larger > largest else largest
    return widest, largest


@jit
def most_asymmetric(K: Array) -> tuple[int, int, float, float]:
    """(i, j, |K_ij - K_ji|) where it is largest, i < j, and the largest |K_ij|, of a square C-ordered matrix.

    Block by block, so that a block and its mirror image are in the cache together.
    """
    n, row, column, worst, largest = K.shape[0], 0, 0, K.dtype.type(0), K.dtype.type(0)
    mirror = np.empty((BLOCK, BLOCK), K.dtype)
    for top in range(0, n, BLOCK):
        for left in range(top, n, BLOCK):
            widest, entry = _compare(K, top, min(top + BLOCK, n), left, min(left + BLOCK, n), mirror)
            largest = max(largest, entry)
            if widest > worst:
                worst, row, column = widest, top, left
    for i in range(row, min(row + BLOCK, n)):
        for j in range(column, min(column + BLOCK, n)):
            if abs(K[i, j] - K[j, i]) == worst and i < j:
                return i, j, worst, largest
    return 0, 0, worst, largest


@jit
def _residual_of_four(
    first: Array, second: Array, third: Array, fourth: Array, weights: Array, own: Array, out: Array, totals: Array
) -> None:
    """Four rows together: what is summed for all columns is then loaded and stored a quarter as often."""
    vector_loop()
    a, b, c, d = own[0], own[1], own[2], own[3]
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    for j in range(out.shape[0]):
        weight = weights[j]
        one += first[j] * weight
        two += second[j] * weight
        three += third[j] * weight
        four += fourth[j] * weight
        out[j] -= (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])
    totals[0] += one
    totals[1] += two
    totals[2] += three
    totals[3] += four


@jit
def add_mirror_residual(K: Array, begin: int, end: int, weights: Array, out: Array) -> None:
    """Add what the rows begin..end have to do with K v - K'v, for a square C-ordered matrix, read once.

    Entries need not be finite: nothing is decided here, and what is not finite shows in `out`.
    """
    whole = begin + (end - begin) // 4 * 4
    for i in range(begin, whole, 4):
        _residual_of_four(K[i], K[i + 1], K[i + 2], K[i + 3], weights, weights[i : i + 4], out, out[i : i + 4])
    for i in range(whole, end):
        row, total = K[i], 0.0
        for j in range(out.shape[0]):
            total += row[j] * weights[j]
            out[j] -= weights[i] * row[j]
        out[i] += total


class MatrixItems:
    """Items of a given kernel matrix: as left items its rows, as right items its columns.

    `matrix` may be None for items that only ever appear on the right, such as the support
    vectors of a model, so that a model does not carry its training matrix.
    """

    if TYPE_CHECKING:
        matrix: Array | Any  # None for items that only ever appear on the right
        dtype: np.dtype[Any]

    def __init__(self, matrix: Array | None, index: IndexArray, dtype: DTypeLike, is_whole: bool = False) -> None:
        self.matrix = matrix
        self.index = index
        self.dtype = dtype
        # Whether the items are known to be all rows, in order.
        self.is_whole = is_whole

    def __len__(self) -> int:
        return len(self.index)

    @property
    def n_features(self) -> int | None:
        return None if self.matrix is None else self.matrix.shape[1]

    def take(self, indices: IndexArray) -> "MatrixItems":
        """The items at `indices`; the matrix is shared."""
        return MatrixItems(self.matrix, self.index[indices], self.dtype)

    def slice(self, start: int, stop: int) -> "MatrixItems":
        """Items start..stop; the matrix is shared."""
        return MatrixItems(self.matrix, self.index[start:stop], self.dtype)

    def columns_only(self) -> "MatrixItems":
        """The same items without the matrix, for the right-hand side."""
        return MatrixItems(None, self.index, self.dtype)


def _consecutive(index: IndexArray) -> slice | None:
    """A slice if the positions are consecutive, which reads faster than a list of them; otherwise None."""
    if len(index) and (np.diff(index) == 1).all():
        return slice(int(index[0]), int(index[-1]) + 1)
    return None


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The data are the kernel matrix: K(train, train) to fit, K(test, train) to predict.

    Examples
    --------
    >>> from mercer.kernels import Precomputed
    >>> Precomputed()([[1.0, 0.5], [0.5, 1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    _instead_of_features = "only its values are given"

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> MatrixItems:
        matrix = prepare_rows(X, dtype, check=check).dense()
        return MatrixItems(matrix, np.arange(len(matrix)), matrix.dtype, is_whole=True)

    def __call__(
        self,
        X: Rows,
        Y: Rows | None = None,
        *,
        dtype: DTypeLike | None = None,
        callback: Callable[[float], object] | None = None,
    ) -> Array:
        """The matrix itself, at once; there is no Y to compare with, and nothing to report."""
        if Y is not None:
            raise ParameterError("Precomputed takes the matrix itself and no Y; pass K(X, Y) as X")
        matrix = numeric_matrix(X.toarray() if sparse.issparse(X) else X)
        wanted = dtype or (np.float32 if matrix.dtype == np.float32 else np.float64)
        return self.prepare(matrix, wanted).matrix.copy()

    def tile(self, left: MatrixItems, right: MatrixItems, out: Array, row: int, column: int) -> None:
        if len(right) and right.index.max() >= left.n_features:
            raise DataError(
                f"a precomputed matrix must have a column for each training item, got {left.n_features} columns; "
                "pass K(test, train)"
            )
        rows, columns = _consecutive(left.index), _consecutive(right.index)
        both = rows is not None and columns is not None
        values = left.matrix[rows, columns] if both else left.matrix[np.ix_(left.index, right.index)]
        block_of(out, row, column, (len(left), len(right)))[...] = values

    def diag_of(self, prepared: MatrixItems) -> FloatArray:
        matrix = prepared.matrix
        if matrix.shape[0] != matrix.shape[1]:
            raise DataError(f"k(x, x) is known only for a square precomputed matrix, got shape {matrix.shape}")
        diagonal = matrix.diagonal() if prepared.is_whole else matrix[prepared.index, prepared.index]
        return diagonal.astype(np.float64)

    def entry_bound(self, norm_bound: float) -> float:
        # There are no rows, so the bound is that of the entries themselves.
        return norm_bound

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return epsilon(dtype) * norm_bound


class Objects:
    """Any items, kept in the form the user's function takes."""

    def __init__(self, values: Any, dtype: np.dtype[Any]) -> None:
        self.values = values
        self.dtype = dtype

    def __len__(self) -> int:
        return self.values.shape[0] if hasattr(self.values, "shape") else len(self.values)

    @property
    def n_features(self) -> int | None:
        return self.values.shape[1] if getattr(self.values, "ndim", 1) == 2 else None

    def take(self, indices: IndexArray) -> "Objects":
        """The items at `indices`."""
        if hasattr(self.values, "shape"):
            return Objects(self.values[indices], self.dtype)
        return Objects([self.values[i] for i in np.arange(len(self))[indices]], self.dtype)

    def slice(self, start: int, stop: int) -> "Objects":
        """Items start..stop."""
        return Objects(self.values[start:stop], self.dtype)


def _indexable(X: Rows, pairwise: bool) -> Any:
    """Items in a form that can be sliced: an array, sparse rows, or a list of anything."""
    if sparse.issparse(X):
        return sparse.csr_array(X)
    if isinstance(X, np.ndarray) or hasattr(X, "__array__"):
        return np.asarray(X)
    try:
        return list(X) if pairwise else numeric_matrix(X)
    except DataError:
        return list(X)


def _ending_with_the_fit(function: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
    """`function`, checking between calls whether the fit that needs its values has ended."""
    ends = ends_in_force()
    if ends is None:
        return function
    asked = time.monotonic()

    def ask_and_call(x: Any, y: Any) -> object:
        nonlocal asked
        if time.monotonic() - asked > PATIENCE_SECONDS:
            asked = time.monotonic()
            if ends.stop():
                raise Stopped
        return function(x, y)

    return ask_and_call


def _one_number(value: Any) -> float:
    """The value that the user's function returned for two items, as a float."""
    try:
        number = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        number = None
    if number is None or number.size != 1:
        shape = getattr(value, "shape", ())
        told = f"{type(value).__name__} of shape {shape}" if shape else reprlib.repr(value)
        raise DataError(
            f"the kernel function must return one number for two items, got {told}; return a float, "
            "or use Custom(function) for one that takes two sets and returns their matrix"
        )
    return number.item()


@dataclass(frozen=True)
class Custom(Kernel):
    """A kernel given by a function, of two sets of items or of two items.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns the matrix of k(x_i, y_j), as scikit-learn's callable
        kernels do. It is called on parts of the data, and from more than one thread.
    pairwise : bool
        True: ``function(x, y)`` returns one number, and the items may be anything.

    Examples
    --------
    >>> from mercer.kernels import Custom
    >>> def shared_letters(s, t):
    ...     return len(set(s) & set(t))
    >>> Custom(shared_letters, pairwise=True)(["cat", "car", "dog"])
    array([[3., 2., 0.],
           [2., 3., 0.],
           [0., 0., 3.]])
    """

    function: object
    pairwise: bool = False

    takes_items = True

    _instead_of_features = "only its values are given"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"function must be callable, got {self.function!r}")

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Objects:
        return Objects(_indexable(X, self.pairwise), np.dtype(dtype))

    def tile(self, left: Objects, right: Objects, out: Array, row: int, column: int) -> None:
        shape = (len(left), len(right))
        values = (
            self._pairs(left, right)
            if self.pairwise
            else np.asarray(cast("Callable[..., Any]", self.function)(left.values, right.values))
        )
        if values.shape != shape:
            remedy = "; Custom(function, pairwise=True) takes a function of two items" if values.ndim == 0 else ""
            raise DataError(f"the kernel function must return shape {shape} for these rows, got {values.shape}{remedy}")
        if not np.isfinite(values).all():
            raise DataError("the kernel function must return finite numbers, got NaN or infinity")
        block_of(out, row, column, shape)[...] = values

    def _pairs(self, left: Objects, right: Objects) -> FloatArray:
        function = _ending_with_the_fit(cast("Callable[..., Any]", self.function))
        returned = [[function(x, y) for y in right.values] for x in left.values]
        try:
            values = np.array(returned, dtype=np.float64)
        except (TypeError, ValueError):
            values = None
        if values is None or values.size != len(left) * len(right):
            values = np.array([[_one_number(value) for value in row] for row in returned])
        return values.reshape(len(left), len(right))

    def diag_of(self, prepared: Objects) -> FloatArray:
        diagonal = np.empty(len(prepared))
        for i in range(len(prepared)):
            item = prepared.slice(i, i + 1)
            self.tile(item, item, diagonal[i : i + 1, None], 0, 0)
        return diagonal

    def entry_bound(self, norm_bound: float) -> float:
        # Nothing is known about the function; its values are taken to behave like inner products.
        return norm_bound

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return epsilon(dtype) * norm_bound
