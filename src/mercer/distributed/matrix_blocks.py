"""Kernel matrices by blocks: for kernels with costly entries, and matrices that this process has room for."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, Rows
from mercer.distributed.connection import crew_in_force
from mercer.selection.tuning.shared_matrix import take

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


def gram(kernel: "Kernel", X: Rows, Y: Rows | None = None, *, block_rows: int | None = None) -> Array:
    """The kernel matrix of X, or between X and Y, computed by the active cluster.

    Entries are those of ``kernel(X, Y)`` up to rounding, and bit for bit the same whatever the number of workers, as
    long as `block_rows` is the same.

    Parameters
    ----------
    kernel : Kernel
        Parameters that depend on data are taken from X.
    X, Y : rows or items
        Y is X by default; half of the matrix is then computed, and the other half is its mirror image.
    block_rows : int, default=512
        Rows and columns of a block.

    Returns
    -------
    ndarray of shape (n, n) or (n, m)

    Examples
    --------
    >>> import numpy as np
    >>> from distributed import LocalCluster
    >>> from mercer import distributed
    >>> from mercer.kernels import RBF
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as local:
    ...     with distributed.cluster(local):
    ...         K = distributed.gram(RBF(0.1), X)
    >>> np.allclose(K, RBF(0.1)(X))
    True
    """
    crew = crew_in_force()
    block_rows = 512 if block_rows is None else block_rows
    if not isinstance(block_rows, int) or block_rows < 1:
        raise ParameterError(f"block_rows must be a positive integer, got {block_rows!r}")
    bound = kernel.bind(X)
    left = _spans(count_of(X), block_rows)
    right = left if Y is None else _spans(count_of(Y), block_rows)
    chosen = [(i, j) for i in range(len(left)) for j in range(len(right)) if Y is not None or j >= i]
    items = [(left[i], None if Y is None and i == j else right[j]) for i, j in chosen]
    blocks = crew.each(_block, (bound, Items(X), Items(X if Y is None else Y)), items, name=_told(items))
    K: Array | None = None
    for (i, j), block in zip(chosen, blocks, strict=True):
        if K is None:
            K = np.empty((count_of(X), count_of(X if Y is None else Y)), block.dtype)
        K[slice(*left[i]), slice(*right[j])] = block
        if Y is None and i != j:
            K[slice(*left[j]), slice(*right[i])] = block.T
    return np.empty((0, 0)) if K is None else K


class Items:
    """Rows or items that a worker is sent once."""

    stays_elsewhere = True

    def __init__(self, X: Any) -> None:
        self.X = X

    def part(self, span: tuple[int, int]) -> Any:
        return take(self.X, np.arange(*span))


def _block(kernel: "Kernel", X: Items, Y: Items, rows: tuple[int, int], columns: tuple[int, int] | None) -> Array:
    """One block of the matrix; on the diagonal, with what the kernel knows of equal rows."""
    return kernel(X.part(rows)) if columns is None else kernel(X.part(rows), Y.part(columns))


def count_of(X: Any) -> int:
    """How many rows or items there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _spans(n: int, size: int) -> list[tuple[int, int]]:
    return [(begin, min(n, begin + size)) for begin in range(0, n, size)]


def _told(items: list[Any]) -> Any:
    return lambda k: f"the block of rows {items[k][0][0]} to {items[k][0][1] - 1}"
