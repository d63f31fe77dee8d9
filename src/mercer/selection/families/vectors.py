"""Families of kernels for rows of numbers.

Widths are in units of the median distance between rows, so that 1 is the usual one whatever the data. Dense columns are
brought to mean 0 and standard deviation 1 first, measured once on all rows: no labels are involved.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from mercer._types import FloatArray, Rows
from mercer.kernels.base.gamma_from_data import absolute_distances, median_distance
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.table.columns import Columns
from mercer.kernels.table.standardized import Standardized
from mercer.kernels.vector.cosine import Cosine
from mercer.kernels.vector.laplacian import Laplacian
from mercer.kernels.vector.linear import Linear
from mercer.kernels.vector.matern import Matern
from mercer.kernels.vector.rational_quadratic import RationalQuadratic
from mercer.kernels.vector.rbf import RBF
from mercer.selection.families.family import Family, by_width
from mercer.selection.families.learnt_table import learnt

# More columns than this are not given a kernel, or a relevance, each.
MOST_ADDED = 60
MOST_RELEVANT = 200
# Columns whose standard deviations differ by less than this factor may need no scaling, like pixels.
SAME_SCALE = 100.0


def vector_families(X: Rows, weights: FloatArray | None = None) -> tuple[Family, ...]:
    """Families that may suit rows of numbers, the simplest first; `weights` say how many rows each counts for.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection.families.vectors import vector_families
    >>> [family.name for family in vector_families(np.random.default_rng(0).normal(size=(9, 2)))]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['rough', 'rbf', 'linear', 'laplacian', 'matern', 'rational_quadratic', 'unscaled', 'additive', 'additive+joint',
     'relevance']
    """
    return _of_sparse(X, weights) if sparse.issparse(X) else _of_dense(np.asarray(X), weights)


def _of_sparse(X: Any, weights: FloatArray | None) -> tuple[Family, ...]:
    far = math.sqrt(median_distance(X, weights))
    return (
        Family("linear", lambda _: Linear()),
        Family("cosine", lambda _: Cosine()),
        by_width("rbf", lambda width: RBF(1.0 / (width * far) ** 2), 0.5, 1.0, 2.0),
    )


def _of_dense(X: np.ndarray, weights: FloatArray | None) -> tuple[Family, ...]:
    scaling = Standardized(Linear()).bind(X, weights)
    rows = (np.asarray(X, dtype=np.float64) - np.asarray(scaling.mean)) / np.asarray(scaling.deviation)
    far = math.sqrt(median_distance(rows, weights))
    absolute = median_distance(rows, weights, absolute_distances)
    d = X.shape[1]

    def scaled(make: Callable[[float], Kernel]) -> Callable[[float], Kernel]:
        return lambda width: scaling.replace(kernel=make(width))

    def rbf(width: float) -> Kernel:
        return RBF(1.0 / (width * far) ** 2)

    found = [
        by_width("rbf", scaled(rbf), 0.25, 0.5, 1.0, 2.0),
        Family("linear", scaled(lambda _: Linear())),
        by_width("laplacian", scaled(lambda width: Laplacian(1.0 / (width * absolute))), 0.5, 1.0, 2.0),
        by_width("matern", scaled(lambda width: Matern(1.5, width * far)), 0.5, 1.0, 2.0),
        by_width("rational_quadratic", scaled(lambda width: RationalQuadratic(1.0, width * far)), 0.25, 0.5, 1.0),
    ]
    if d > 1 and _is_of_one_scale(np.asarray(scaling.deviation)):
        # Distances of rows as they are.
        plain = math.sqrt(median_distance(X, weights))
        found.append(by_width("unscaled", lambda width: RBF(1.0 / (width * plain) ** 2), 0.25, 0.5, 1.0))
    if 1 < d <= MOST_ADDED:
        found.append(by_width("additive", lambda width: _additive(scaling, width), 0.5, 1.0))
        # One by one and all together, half and half.
        both = lambda width: 0.5 * _additive(scaling, 1.0) + 0.5 * scaling.replace(kernel=rbf(width))  # noqa: E731
        found.append(by_width("additive+joint", both, 0.5, 1.0))
    if 1 < d <= MOST_RELEVANT and np.ptp(X, axis=0).any():
        rule = by_width("rough", learnt("rough"), 0.5, 1.0, 2.0)
        found = [rule, *found, by_width("relevance", learnt("gaussian"), 0.5, 1.0)]
    return tuple(found)


def _additive(scaling: Standardized, width: float) -> Kernel:
    """The mean over columns of a Gaussian of each, whose width is in standard deviations."""
    means, deviations = np.asarray(scaling.mean), np.asarray(scaling.deviation)
    one = RBF(0.5 / width**2)
    parts = {j: Standardized(one, (float(means[j]),), (float(deviations[j]),)) for j in range(len(means))}
    return Columns(parts, combine="mean", missing="error")


def _is_of_one_scale(deviations: FloatArray) -> bool:
    return float(deviations.max()) < SAME_SCALE * float(np.median(deviations))
