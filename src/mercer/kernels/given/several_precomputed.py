"""Several given kernel matrices: an item is its row in each of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import require_count
from mercer.kernels.given.precomputed import MatrixItems, Precomputed


class GivenMatrices:
    """Rows of M matrices of one shape; taking rows copies nothing.

    Parameters
    ----------
    matrices : list of ndarray (n, n_train), or None
        None for items that only ever appear on the right, such as support vectors.
    index : ndarray of int
        The rows or, on the right, the columns in question.
    is_whole : bool
        Whether these are all rows, in order.

    Attributes
    ----------
    total : ndarray or None
        The sum of the matrices, if it has been computed.
    """

    if TYPE_CHECKING:
        matrices: list[FloatArray] | Any  # None for items that only ever appear on the right

    total = None

    def __init__(self, matrices: list[FloatArray] | None, index: IndexArray, is_whole: bool = False) -> None:
        self.matrices, self.index, self.is_whole = matrices, index, is_whole

    @classmethod
    def of(cls, X: Rows, check_finite: bool = True) -> Self:
        """From a list of matrices, or an array of shape (M, n, n_train). A caller that looks at every entry anyway may
        skip the check that they are finite."""
        if isinstance(X, cls):
            return X
        if sparse.issparse(X) or not (isinstance(X, list | tuple) or np.ndim(X) == 3) or not len(X):
            raise DataError(
                "X must be a list of kernel matrices, or an array of shape (n_kernels, n, n_train), "
                f"got {type(X).__name__}{'' if np.ndim(X) != 2 else f' of shape {np.shape(X)}'}"
            )
        matrices = [_checked(matrix, place) for place, matrix in enumerate(X)]
        for place, matrix in enumerate(matrices):
            if matrix.shape != matrices[0].shape:
                raise DataError(f"X[{place}] must have the shape of X[0], {matrices[0].shape}, got {matrix.shape}")
        found = cls(matrices, np.arange(len(matrices[0])), is_whole=True)
        if check_finite:
            for place in range(len(matrices)):
                found.require_finite(place)
        return found

    def require_finite(self, place: int) -> None:
        """Refuse a matrix with an entry that is NaN or infinite."""
        # One pass without a temporary; a closer look only if it overflows.
        with np.errstate(over="ignore", invalid="ignore"):
            total = self.matrices[place].sum()
        if not np.isfinite(total) and not np.isfinite(self.matrices[place]).all():
            raise DataError(f"X[{place}] must be finite, but it contains NaN or infinity")

    def __len__(self) -> int:
        return len(self.index)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of items, number of columns)."""
        return len(self), self.matrices[0].shape[1] if self.matrices else 0

    def __getitem__(self, rows: Any) -> "GivenMatrices":
        return GivenMatrices(self.matrices, np.atleast_1d(self.index[rows]))

    def columns_only(self, indices: IndexArray) -> "GivenMatrices":
        """Items for the right-hand side, without the matrices."""
        return GivenMatrices(None, np.asarray(indices))


def _checked(matrix: Rows, place: int) -> FloatArray:
    matrix = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise DataError(f"X[{place}] must be a matrix of real numbers, got shape {matrix.shape} of {matrix.dtype}")
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)


@dataclass(frozen=True)
class GivenMatrix(Precomputed):
    """One of several kernel matrices given as data: K_m(train, train), or K_m(test, train).

    Parameters
    ----------
    place : int
        Which of them.

    Examples
    --------
    >>> from mercer.kernels import GivenMatrix
    >>> matrices = [[[1.0, 0.5], [0.5, 1.0]], [[2.0, 0.0], [0.0, 2.0]]]
    >>> (GivenMatrix(0) + 0.5 * GivenMatrix(1))(matrices)
    array([[2. , 0.5],
           [0.5, 2. ]])
    """

    place: int = 0

    takes_items = True

    def __post_init__(self) -> None:
        require_count("place", self.place)

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> MatrixItems:
        X = GivenMatrices.of(X)
        if X.matrices is None:
            return MatrixItems(None, X.index, np.dtype(dtype))
        if self.place >= len(X.matrices):
            raise DataError(f"there is no matrix X[{self.place}]: X holds {len(X.matrices)}")
        return MatrixItems(X.matrices[self.place], X.index, np.dtype(dtype), X.is_whole)

    def __call__(self, X: Rows, Y: Rows | None = None, *, dtype: DTypeLike | None = None) -> Array:
        """The matrix itself; there are no items Y to compare with."""
        if Y is not None:
            raise ParameterError("GivenMatrix takes the matrices themselves and no Y; pass K(X, Y) as X")
        return Kernel.__call__(self, X, dtype=dtype)
