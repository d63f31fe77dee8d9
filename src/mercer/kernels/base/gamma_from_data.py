"""The median distance between rows, which sets the scale of a kernel.

A Gaussian kernel whose gamma is one over the median squared distance is 1/e for half of all pairs: it
makes rows neither all alike nor all different (Caputo, Sim, Furesjo & Smola 2002 find anything between
the tenth and the ninetieth percentile useful).
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from mercer._errors import DataError
from mercer._types import FloatArray, Rows

# Rows examined: every k-th, so that the same data give the same number.
MOST_ROWS = 1_000


def squared_distances(rows: FloatArray) -> FloatArray:
    """|x - y|^2 for all pairs, shape (n, n)."""
    rows = rows - rows.mean(axis=0)
    squares = np.einsum("ij,ij->i", rows, rows)
    return np.maximum(squares[:, None] + squares[None, :] - 2.0 * (rows @ rows.T), 0.0)


def absolute_distances(rows: FloatArray) -> FloatArray:
    """The sum of |x_k - y_k| for all pairs."""
    return cdist(rows, rows, "cityblock")


def median_distance(
    X: Rows, weights: FloatArray | None = None, distances: Callable[[FloatArray], FloatArray] = squared_distances
) -> float:
    """The median distance between different rows; 1 if all are the same.

    A row of weight two counts as two: pairs count with the product of their weights, and the zero distances between a
    row and its own copies do not count.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
    weights : ndarray (n,), optional
    distances : callable
        Of dense rows, a square matrix.
    """
    rows, weights = _some_rows(X, weights)
    with np.errstate(over="ignore", invalid="ignore"):
        table = distances(rows)
    if not np.isfinite(table).all():
        raise DataError('gamma="median" needs features of a usable size, but distances overflow; scale X')
    first, second = np.triu_indices(len(rows), 1)
    found = table[first, second]
    # Equal rows are at distance zero, up to rounding.
    apart = found > 1e-14 * max(float(found.max(initial=0.0)), 1e-300)
    if not apart.any():
        return 1.0
    found, counts = found[apart], (weights[first] * weights[second])[apart]
    order = np.argsort(found, kind="stable")
    total = np.cumsum(counts[order])
    return float(found[order][np.searchsorted(total, 0.5 * total[-1])])


def _some_rows(X: Rows, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Dense rows of positive weight, at most MOST_ROWS of them, with their weights."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    used = np.arange(n) if weights is None else np.flatnonzero(weights)
    used = used[:: -(-len(used) // MOST_ROWS) or 1]
    if sparse.issparse(X):
        rows = X[used].toarray()
    else:
        rows = np.asarray(X if hasattr(X, "shape") else list(X))[used]
    return np.asarray(rows, dtype=np.float64), np.ones(len(used)) if weights is None else np.asarray(weights)[used]
