r"""What each column adds to a decision value, for kernels that multiply over columns.

A Gaussian kernel is a product with one factor per column, :math:`k(x, y) = \prod_i k_i(x_i, y_i)`, not a sum. But it
can be evaluated without some of them: let :math:`v(S)` be the decision value with only the factors of the columns in
S, the others being 1. What a column adds depends on which are already there; its Shapley value (1953) is
the mean over all orders in which the columns may come, and these add up to :math:`v(all) - v(none)`. The value
without any column is :math:`\sum_j c_j`, which is zero for models with a free bias.

There are :math:`2^d` sets, but they need not be enumerated: for a product,

.. math:: \phi_i = \sum_j c_j (k_i - 1) \int_0^1 \prod_{l \ne i} (1 - t (1 - k_l)) \, dt,

since :math:`\int t^s (1 - t)^{d - 1 - s} dt = s! (d - 1 - s)! / d!` is the weight of a set of s columns. The integrand
is a polynomial of degree d - 1, which Gauss-Legendre quadrature with d / 2 points integrates exactly.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._types import FloatArray, Rows
from mercer.explanation.explanation import Contributions
from mercer.explanation.polynomials import DUST
from mercer.kernels.algebra.normalized import Normalized
from mercer.kernels.algebra.scaled_power import Power, Scaled
from mercer.kernels.algebra.sum_product import Product, Sum
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.given.precomputed import MatrixItems
from mercer.kernels.vector.chi_squared import ChiSquared
from mercer.kernels.vector.constant import Constant
from mercer.kernels.vector.laplacian import Laplacian
from mercer.kernels.vector.linear import Linear
from mercer.kernels.vector.rbf import RBF

if TYPE_CHECKING:
    from mercer.kernels.base.expansion import Expansion

# Multiplications that an explanation may take: a few seconds.
MOST_WORK = 2e9
# The part that does not depend on the columns.
ANY_ROW = "any row"


def by_column(
    expansion: "Expansion", X: Rows, coefficients: FloatArray, named: Sequence[str] | None
) -> Contributions | None:
    """The contributions of the columns of x, if the kernel is made of products over columns; otherwise None."""
    if isinstance(expansion.vectors, MatrixItems) or not _may_be_divided(expansion.kernel):
        return None
    n, d = np.shape(expansion.vectors)
    if n * d * max(1, d // 2) > MOST_WORK:
        return None
    row, vectors = (_dense(rows) for rows in (X, expansion.vectors))
    parts, rest = _divided(expansion.kernel, row, vectors)
    values, constant = coefficients.T @ parts, coefficients.T @ rest
    names = [f"x{k}" for k in range(d)] if named is None else [str(name) for name in named]
    if (np.abs(constant) > DUST * np.abs(values).max(initial=1.0)).any():
        values, names = np.column_stack([values, constant]), [*names, ANY_ROW]
    return Contributions("column", names, values)


def _dense(rows: Rows) -> FloatArray:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


def _may_be_divided(kernel: Kernel) -> bool:
    """Whether a kernel is a sum of products over columns, not all of them linear: those have coordinates."""
    terms = [_unscaled(part) for part in (kernel.kernels if isinstance(kernel, Sum) else (kernel,))]
    products = [term for term in terms if not isinstance(term, Linear | Constant)]
    return bool(products) and all(map(_is_product, products))


def _unscaled(kernel: Any) -> Kernel:
    return _unscaled(kernel.kernel) if isinstance(kernel, Scaled) else kernel


def _is_product(kernel: Kernel) -> bool:
    if isinstance(kernel, Product):
        return all(map(_is_product, kernel.kernels))
    if isinstance(kernel, Power | Normalized):
        return _is_product(kernel.kernel)
    return isinstance(kernel, RBF | Laplacian | ChiSquared)


def _divided(kernel: Any, row: FloatArray, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(contribution of each column to k(x, x_j), shape (n, d); the value without any column)."""
    if isinstance(kernel, Sum):
        pairs = [_divided(part, row, vectors) for part in kernel.kernels]
        return sum(parts for parts, _ in pairs), sum(rest for _, rest in pairs)  # type: ignore[return-value] # some
    if isinstance(kernel, Scaled):
        parts, rest = _divided(kernel.kernel, row, vectors)
        return kernel.factor * parts, kernel.factor * rest
    if isinstance(kernel, Linear):
        return row * vectors, np.zeros(len(vectors))
    if isinstance(kernel, Constant):
        return np.zeros_like(vectors), np.full(len(vectors), float(kernel.value))
    return _shapley(_factors(kernel, row, vectors)), np.ones(len(vectors))


def _factors(kernel: Any, row: FloatArray, vectors: FloatArray) -> FloatArray:
    """k_i(x_i, x_ji), shape (n, d)."""
    if isinstance(kernel, Product):
        return np.prod([_factors(part, row, vectors) for part in kernel.kernels], axis=0)
    if isinstance(kernel, Power):
        return _factors(kernel.kernel, row, vectors) ** kernel.exponent
    if isinstance(kernel, Normalized):
        # k(x, x) = 1 for all of these.
        return _factors(kernel.kernel, row, vectors)
    differences = np.abs(row - vectors)
    if isinstance(kernel, RBF):
        differences = differences**2
    elif isinstance(kernel, ChiSquared):
        total = row + vectors
        differences = np.divide(differences**2, total, out=np.zeros_like(total), where=total > 0)
    return np.exp(-kernel.gamma * differences)


def _shapley(factors: FloatArray) -> FloatArray:
    """The Shapley values of the columns in a product of factors (see the top of this file)."""
    lost = 1.0 - factors
    total = np.zeros_like(factors)
    points, weights = np.polynomial.legendre.leggauss(max(1, -(-factors.shape[1] // 2)))
    for at, weight in zip(0.5 * (points + 1.0), 0.5 * weights, strict=True):
        left = 1.0 - at * lost
        # At most 1, and at least 1 - t, which is not 0 at any of the points.
        total += weight * np.prod(left, axis=1, keepdims=True) / left
    return -lost * total
