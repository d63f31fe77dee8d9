"""How much memory a fit will take, from the rules by which it is allocated and from fits to samples."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._jit.memory import available_bytes
from mercer._types import Rows
from mercer.estimators.fitting.training import MOST_WORKING, Budget
from mercer.estimators.mkl.base import WeightedKernelModel
from mercer.estimators.mkl.kernels import WIDTHS, is_given
from mercer.kernels.gram.evaluated import WORTH_KEEPING
from mercer.kernels.gram.kernel_matrix import padded
from mercer.kernels.items.sparse_rows import MOST_LINES
from mercer.solvers.dual_qp import decomposition, policy

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


# Machines for several classes: none of them has most of the points.
SEVERAL = "several"


def bytes_of_fit(
    estimator: "BaseEstimator", X: Rows, n: int, d: int, fitted: Sequence[tuple[int, Any]], is_transformed: bool = False
) -> int:
    """Bytes that a fit needs beyond the data: prepared rows, and the matrix, or a working set, of them.

    Parameters
    ----------
    estimator : estimator
    X : array, sparse matrix or list
        All of n rows of d columns, or some of them.
    n, d : int
    fitted : list of (rows, model)
        Fits to growing samples.
    is_transformed : bool, default=False
        Whether the rows are not the data themselves, but made from them.
    """
    if sparse.issparse(X):
        cost = X.nnz / X.shape[0]
        own = (X.data.nbytes + X.indices.nbytes) * n // X.shape[0]
        # Sparse rows, and what is written out of them.
        rows = 2 * own + 4 * n * min(d, MOST_LINES)
    else:
        rows, cost, own = 2 * 4 * n * max(d, 1), d, 8 * n * d
    rows += own if is_transformed else 0
    if not hasattr(estimator, "kernel"):
        return int(rows)
    several = _of_several(estimator, X, n, d) if isinstance(estimator, WeightedKernelModel) else None
    if several is not None:
        return int(rows + several)
    entry = 8 if n <= policy.DIRECT_SIZE // 5 else 4
    if n <= policy.STORED_SIZE:
        matrix = entry * n**2
    else:
        # A working set holds what is free and a few thousand more, and is built from a block beside it.
        free, support = support_of(fitted, n)
        largest = min(n, decomposition.WORKING_SIZE + free)
        matrix = min(entry * (decomposition.WORKING_SIZE**2 + largest**2), MOST_WORKING)
        if cost > WORTH_KEEPING or d == 0:
            # Rows of expensive entries are kept as points become support vectors, within a quarter of what is free.
            matrix += min(entry * n * support, available_bytes() // 4)
    return int(rows + matrix + 40 * n)


def _of_several(estimator: "BaseEstimator", X: Rows, n: int, d: int) -> int | None:
    """Bytes for the matrices of all kernels that are not given, and two sums of them; None if there is no room."""
    if is_given(estimator.kernels):
        own = 0
    elif isinstance(estimator.kernels, str):
        own = d
    else:
        own = 1 + len(WIDTHS) if estimator.kernels is None else len(estimator.kernels)
    needed = 8 * (own + 2) * n * padded(n)
    return needed if needed <= Budget.resolve(estimator.memory_limit, None, X).cache else None


def support_of(fitted: Sequence[Any], n: int) -> tuple[int, int]:
    """How many points of a machine will be strictly inside their box, and how many will be support vectors,
    as they grew between the last samples; all of them if there are no samples."""
    counted = [(rows, _counts(model)) for rows, model in fitted[-2:]]
    if not counted or counted[-1][1] is None:
        return 0, n
    if counted[-1][1] == SEVERAL:
        # With several classes a machine has two of them: its working set is small, and it keeps no rows of all points.
        return 0, 0
    free, support = (_grown([(rows, each[k]) for rows, each in counted], n) for k in range(2))
    return free, min(n, support)


def _counts(model: "BaseEstimator") -> Any:
    """(points strictly inside their box, support vectors) of a two-class machine; None if there are none."""
    coefficients = getattr(model, "dual_coef_", None)
    if coefficients is None:
        return None
    table = np.atleast_2d(coefficients.toarray() if sparse.issparse(coefficients) else np.asarray(coefficients))
    if len(table) > 1:
        return SEVERAL
    sizes = np.abs(table[0])
    return np.count_nonzero((sizes > 0) & (sizes < (1.0 - 1e-9) * sizes.max(initial=0.0))), table.shape[1]


def _grown(counted: Sequence[tuple[int, int]], n: int) -> int:
    """A count extrapolated to n rows: as it grew between two samples, or by its share of one."""
    rows, last = counted[-1]
    slope = 1.0
    if len(counted) > 1 and counted[0][1] > 0 and last > 0:
        slope = np.clip(np.log(last / counted[0][1]) / np.log(rows / counted[0][0]), 0.0, 1.0)
    return int(last * (n / rows) ** slope)
