"""Is it a kernel? By construction, by eigenvalues on given rows, or not, with a proof.

Mercer's condition is that every Gram matrix is positive semidefinite. A matrix that is
not has a vector v with v'Gv < 0, which anyone can check: the witness.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from mercer._errors import DataError, ParameterError
from mercer._types import ArrayLike, FloatArray, Rows
from mercer.kernels.evaluation import tiles
from mercer.kernels.items.prepare_rows import numeric_matrix

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


@dataclass(frozen=True, eq=False)
class MercerVerdict:
    """The result of `mercer_check`; true if the kernel may be used, and printable.

    Attributes
    ----------
    kind : "by_construction", "checked" or "invalid"
        "checked" holds only for the given rows.
    message : str
        The verdict in a sentence.
    smallest_eigenvalue : float or None
        Of the Gram matrix, if one was computed.
    witness : ndarray or None
        A unit vector v with v'Gv < 0, if there is one.
    pair : tuple or None
        Rows (i, j) whose k(x_i, x_j) and k(x_j, x_i) differ most, if they do.
    matrix_size : int
        Number of rows examined.
    """

    kind: str
    message: str
    smallest_eigenvalue: float | None = None
    witness: np.ndarray | None = field(default=None, repr=False)
    pair: tuple | None = None
    matrix_size: int = 0

    def __bool__(self) -> bool:
        return self.kind != "invalid"

    def __str__(self) -> str:
        return self.message


def mercer_check(kernel: "Kernel", X: Rows | None = None, tol: float | None = None) -> MercerVerdict:
    """Check whether a kernel is positive semidefinite, and prove it if it is not.

    Parameters
    ----------
    kernel : Kernel
        The kernel to check.
    X : array-like, optional
        Rows to check on; required unless the kernel is valid by construction. The cost
        grows as the cube of their number, so use a sample of large data.
    tol : float, optional
        How far below zero an eigenvalue may be; by default, what rounding explains.

    Returns
    -------
    MercerVerdict

    Examples
    --------
    >>> from mercer.kernels import RBF, Sigmoid, mercer_check
    >>> print(mercer_check(RBF()))
    RBF(gamma=1.0) is positive semidefinite by construction
    >>> verdict = mercer_check(Sigmoid(gamma=1.0, coef0=-1.0), [[0.0], [1.0]])
    >>> verdict.kind, round(verdict.smallest_eigenvalue, 4)
    ('invalid', -1.2323)
    """
    if kernel.is_psd:
        return MercerVerdict("by_construction", f"{kernel!r} is positive semidefinite by construction")
    if X is None:
        raise ParameterError(f"X must be given to check {kernel!r}, which is not valid by construction")
    return _check_matrix(repr(kernel), _square_matrix(kernel, X), tol)


def _square_matrix(kernel: "Kernel", X: Rows) -> FloatArray:
    """Every entry as the kernel computes it: neither triangle is copied from the other."""
    kernel = kernel.bind(X)
    rows = kernel.prepare(X, np.float64, origin=kernel._origin(X, None))
    return tiles.fill(kernel, rows, rows, np.empty((len(rows), len(rows))))


def _check_matrix(name: str, matrix: FloatArray, tol: float | None) -> MercerVerdict:
    n = len(matrix)
    allowed = _rounding(matrix) if tol is None else tol
    difference = np.abs(matrix - matrix.T)
    if n and difference.max() > allowed:
        pair = tuple(int(index) for index in np.unravel_index(difference.argmax(), difference.shape))
        return MercerVerdict("invalid", _asymmetric(name, matrix, pair), pair=pair, matrix_size=n)
    smallest, vector = _smallest(matrix) if n else (0.0, None)
    if smallest >= -allowed:
        message = f"{name} is positive semidefinite on these {n} rows: smallest eigenvalue {smallest:.3g}"
        return MercerVerdict("checked", message, smallest, matrix_size=n)
    message = f"{name} is not positive semidefinite on these {n} rows: smallest eigenvalue {smallest:.3g}"
    return MercerVerdict("invalid", message, smallest, vector, matrix_size=n)


def _rounding(matrix: FloatArray) -> float:
    """Ten rounding errors of the largest eigenvalue, which the row sums bound."""
    largest = np.abs(matrix).sum(axis=1).max() if matrix.size else 0.0
    return 10.0 * np.finfo(np.float64).eps * largest


def _asymmetric(name: str, matrix: FloatArray, pair: tuple[int, ...]) -> str:
    i, j = pair
    return f"{name} is not symmetric: k(x{i}, x{j}) = {matrix[i, j]:.6g}, but k(x{j}, x{i}) = {matrix[j, i]:.6g}"


def _smallest(matrix: FloatArray) -> tuple[float, FloatArray]:
    values, vectors = linalg.eigh(0.5 * (matrix + matrix.T), subset_by_index=[0, 0])
    return float(values[0]), vectors[:, 0]


def repair(gram: ArrayLike, how: str = "clip") -> FloatArray:
    """Make an indefinite Gram matrix usable by making its spectrum nonnegative.

    Parameters
    ----------
    gram : array-like of shape (n, n)
        Symmetric.
    how : "clip", "flip" or "shift"
        "clip" sets negative eigenvalues to zero, which is nearest in the Frobenius norm;
        "flip" takes their absolute values; "shift" adds to the diagonal until none is
        left, which changes only the similarity of an item to itself.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric and, up to rounding, positive semidefinite.

    Examples
    --------
    >>> from mercer.kernels import repair
    >>> repair([[1.0, 2.0], [2.0, 1.0]], how="clip")
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    if how not in ("clip", "flip", "shift"):
        raise ParameterError(f'how must be "clip", "flip" or "shift", got {how!r}')
    gram = _symmetric(gram)
    values, vectors = linalg.eigh(gram)
    if not len(gram) or values[0] >= 0:
        return gram
    if how == "shift":
        return gram - values[0] * np.eye(len(gram))
    changed = np.maximum(values, 0.0) if how == "clip" else np.abs(values)
    repaired = (vectors * changed) @ vectors.T
    return 0.5 * (repaired + repaired.T)


def _symmetric(gram: ArrayLike) -> FloatArray:
    gram = numeric_matrix(gram).astype(np.float64)
    if gram.shape[0] != gram.shape[1]:
        raise DataError(f"gram must be square, got shape {gram.shape}")
    if not np.isfinite(gram).all():
        raise DataError("gram must be finite, but it contains NaN or infinity")
    if gram.size and np.abs(gram - gram.T).max() > 1e3 * _rounding(gram):
        raise DataError("gram must be symmetric; pass (G + G.T) / 2")
    return 0.5 * (gram + gram.T)
