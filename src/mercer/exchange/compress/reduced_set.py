r"""Functions :math:`w_i = \sum_j c_{ji} \psi(x_j)` approximated over fewer of the vectors.

Method: orthogonal least squares (Chen, Cowan & Grant 1991) in the feature space, with an incomplete
Cholesky factorisation. Each step adds the vector that, together with those already chosen, brings the
projections nearest to the :math:`w_i`; projections have the best coefficients possible. Vectors that
depend linearly on the chosen ones are never needed (Downs, Gates & Masters 2001), so a kernel
with r features ends with r vectors, exactly.

Bound: by the Cauchy-Schwarz inequality,
:math:`|f_i(x) - g_i(x)| = |\langle w_i - v_i, \psi(x)\rangle| \le \|w_i - v_i\| \sqrt{k(x, x)}` for every
x, and :math:`\|w_i - v_i\|^2 = e_i' K e_i`, with e the difference of the coefficients. It is computed from
the kernel and the coefficients alone, after the method has ended, with an allowance for rounding:
:math:`64 \epsilon (\sum_j |e_j| \sqrt{k(x_j, x_j)})^2`.

Cost of choosing s of n vectors: s rows of the kernel matrix and n s^2 operations; the bound takes two products
with the matrix.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

from mercer._types import FloatArray, IndexArray

if TYPE_CHECKING:
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator

# A vector closer than this to the span of the chosen ones, relative to its length, depends on them.
DEPENDENT = 1e-12
# As long as others are further away by this factor, it may wait: choosing it would make coefficients large, and
# with them their rounding errors.
NEARLY_DEPENDENT = 1e-3
# Possible error of a kernel value, and of a sum of such values in tiles, relative to sqrt(k(x, x) k(y, y)).
ROUNDING = 64.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class ReducedSet:
    r"""Some of the vectors and their coefficients.

    Attributes
    ----------
    chosen : ndarray of int (s,)
        Which vectors, in order.
    coefficients : ndarray (s, m)
    bounds : ndarray (m,)
        At least :math:`\|w_i - v_i\|` of each function.
    path : ndarray
        The largest :math:`\|w_i - v_i\|` after each vector, as estimated along the way.
    """

    chosen: np.ndarray
    coefficients: np.ndarray
    bounds: np.ndarray
    path: np.ndarray


def reduced_set(
    operator: "SymmetricOperator",
    coefficients: FloatArray,
    max_error: float | None = None,
    n_vectors: int | None = None,
) -> ReducedSet:
    """The smallest set that the method finds, within `max_error` or with `n_vectors`.

    Parameters
    ----------
    operator : SymmetricOperator
        The kernel matrix of the vectors.
    coefficients : ndarray (n, m)
    max_error : float, optional
        Upper limit of all bounds.
    n_vectors : int, optional
        Largest number of vectors.

    Returns
    -------
    ReducedSet
    """
    greedy = _Greedy(operator, coefficients)
    most = len(coefficients) if n_vectors is None else min(n_vectors, len(coefficients))
    target = 0.0 if max_error is None else max_error
    while True:
        greedy.extend(target, most)
        found = greedy.verified()
        is_done = max_error is None or found.bounds.max(initial=0.0) <= max_error
        if is_done or greedy.is_exhausted or len(found.chosen) >= most:
            return found if is_done else _everything(coefficients, found.path)
        # Because of rounding, the proven bound is larger than the method's estimate.
        target *= 0.7


def _everything(coefficients: FloatArray, path: FloatArray) -> ReducedSet:
    """All vectors unchanged, if fewer are not enough."""
    n, m = coefficients.shape
    return ReducedSet(np.arange(n), coefficients, np.zeros(m), path)


class _Greedy:
    """The state of the method: the factorisation, and the remainders of the functions."""

    def __init__(self, operator: "SymmetricOperator", coefficients: FloatArray) -> None:
        self.operator, self.coefficients = operator, coefficients
        n = len(coefficients)
        self.lengths = np.array(operator.diag, dtype=np.float64)
        # Squared distances to the span; inner products with the remainders; squared norms of those.
        self.distances = self.lengths.copy()
        self.values = operator.product(coefficients)
        self.left = np.einsum("ij,ij->j", coefficients, self.values)
        self.factor = np.empty((n, min(n, 64)))
        self.order, self.steps, self.path = [], [], []

    @property
    def is_exhausted(self) -> bool:
        """Whether every vector depends on the chosen ones."""
        return not (self.distances > DEPENDENT * self.lengths).any()

    def extend(self, target: float, most: int) -> None:
        """Choose vectors until no remainder is larger than `target`, or there are `most`."""
        while len(self.order) < most and not self.is_exhausted and self._error() > target:
            self._join(self._best(target))

    def _error(self) -> float:
        return float(np.sqrt(np.maximum(self.left, 0.0).max(initial=0.0)))

    def _best(self, target: float) -> int:
        """The vector that reduces most the functions whose remainder is too large."""
        waiting = self.left > target**2
        gains = np.einsum("ij,ij->i", self.values[:, waiting], self.values[:, waiting])
        shares = self.distances / np.where(self.lengths > 0.0, self.lengths, 1.0)
        free = shares > max(DEPENDENT, NEARLY_DEPENDENT * shares.max())
        return int(np.argmax(np.where(free, gains / np.where(free, self.distances, 1.0), -1.0)))

    def _join(self, j: int) -> None:
        t, pivot = len(self.order), np.sqrt(self.distances[j])
        column = self.operator.rows(np.array([j]))[0] - self.factor[:, :t] @ self.factor[j, :t]
        column /= pivot
        if t == self.factor.shape[1]:
            self.factor = np.hstack([self.factor, np.empty_like(self.factor)])
        self.factor[:, t] = column
        step = self.values[j] / pivot
        self.values -= np.outer(column, step)
        self.left -= step**2
        self.distances -= column**2
        self.distances[j] = 0.0
        self.order.append(j)
        self.steps.append(step)
        self.path.append(self._error())

    def verified(self) -> ReducedSet:
        """The chosen vectors with their best coefficients and the proven bounds."""
        order = np.array(self.order, dtype=np.intp)
        triangle = self.factor[order, : len(order)]
        steps = np.array(self.steps).reshape(len(order), self.coefficients.shape[1])
        found = solve_triangular(triangle, steps, trans="T", lower=True, check_finite=False) if len(order) else steps
        # One more correction for rounding: the residual is orthogonal to the chosen vectors.
        residual = self.operator.product(self._difference(order, found))[order]
        if len(order):
            inner = solve_triangular(triangle, residual, lower=True, check_finite=False)
            found = found + solve_triangular(triangle, inner, trans="T", lower=True, check_finite=False)
        sort = np.argsort(order)
        return ReducedSet(order[sort], found[sort], self._bounds(order, found), np.array(self.path))

    def _difference(self, order: IndexArray, found: FloatArray) -> FloatArray:
        difference = self.coefficients.copy()
        difference[order] -= found
        return difference

    def _bounds(self, order: IndexArray, found: FloatArray) -> FloatArray:
        """sqrt(e' K e), with the rounding of K and of the sums added."""
        difference = self._difference(order, found)
        squares = np.einsum("ij,ij->j", difference, self.operator.product(difference))
        size = np.abs(difference).T @ np.sqrt(np.maximum(self.lengths, 0.0))
        return np.sqrt(np.maximum(squares, 0.0) + ROUNDING * size**2)
