"""The kernel matrix of Newton's method, kept in memory in a form that conjugate gradients read fast.

From `SAMPLED` points, if entries are cheap, it is rounded to 16 bits an entry (`kernels.gram.quantised`):
this changes less than a Newton step leaves for the next one to correct. Smaller matrices are not rounded, and
those without room are evaluated product by product.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.symmetric_product import symmetric_product
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.quantised import RoundedMatrix
from mercer.solvers.smooth.feature_newton import coordinates
from mercer.solvers.smooth.optimal_bias import flat

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers._types import SmoothRisk
    from mercer.solvers.limits import Limits

# Up to this many points a step is a Cholesky factorisation; or the matrix is factored once, if all functions together
# have at most this many coordinates.
FACTORED = 700
COORDINATES = 2000
# From this C k(x, x) on, coefficients are so large that values are better computed in coordinates.
LARGE = 1e4
# Up to this many points a step may fall back on a factorisation if conjugate gradients do not converge.
FACTORED_AT_LAST = 5000
# From this many points on, the matrix may be rounded.
SAMPLED = 1500
# Rounding may change a Newton system by this share of a unit of curvature.
ROUNDED = 0.05
# Points at which values are recomputed from the items to estimate the effect of rounding.
CHECKED = 256


class NewtonMatrix:
    """K + t 11', with t = 1 where the bias is penalised.

    Parameters
    ----------
    problem : KernelRisk or Multinomial
    matrix : KernelMatrix
    limits : Limits
    memory : int
        Bytes that it may take.

    Attributes
    ----------
    rounded : RoundedMatrix or None
        What products see in its place.
    """

    rounded: RoundedMatrix | Any
    matrix: Any  # a KernelMatrix; its class says what else it supports

    def __init__(self, problem: "SmoothRisk", matrix: "KernelMatrix", limits: "Limits", memory: int) -> None:
        self.problem, self.limits, self.memory = problem, limits, memory
        self.given = self.matrix = matrix
        self.n, self.k = matrix.n, problem.n_functions
        self.rounded, self.is_hard = None, False

    def keep(self) -> None:
        """Keep the matrix in memory if it fits: rounded if that is accurate enough, else as it is."""
        matrix, n = self.matrix, self.n
        self.matrix = matrix.in_double() if matrix.is_rough or self._is_small else matrix
        if not isinstance(matrix, EvaluatedMatrix):
            return
        if n >= SAMPLED and matrix.kernel.is_dot_product_form and n**2 <= self.memory:
            self.rounded = self._if_fine(RoundedMatrix.of(matrix, self.limits.stop))
        if self.rounded is None:
            self._keep_whole()

    @property
    def _is_small(self) -> bool:
        return self.n <= FACTORED

    def _keep_whole(self) -> None:
        if self.n**2 * self.matrix.dtype.itemsize <= self.memory:
            self.matrix = self.matrix.stored(self.limits.stop)

    def _if_fine(self, rounded: RoundedMatrix | None) -> RoundedMatrix | None:
        """The rounded matrix, if the initial curvature tolerates its rounding."""
        curvature = self.problem.root(flat(np.zeros((self.n, self.k)))).largest
        return rounded if rounded is not None and rounded.noise * curvature <= ROUNDED else None

    def keep_without_rounding(self) -> None:
        """Replace the rounded matrix."""
        self.rounded = None
        self._keep_whole()

    def keep_for_factors(self) -> bool:
        """Store the matrix in double precision, for factorisations of one function; whether that is possible and
        new."""
        is_new = self.matrix.dtype != np.float64 or (self.k == 1 and self.n > FACTORED)
        if self.is_hard or not is_new or self.n > FACTORED_AT_LAST or 8 * self.n**2 > self.memory:
            return False
        self.is_hard = True
        self.rounded, self.matrix = None, self.matrix.in_double().stored(self.limits.stop)
        return True

    @property
    def is_steep(self) -> bool:
        """Whether C k(x, x) is large."""
        return float(self.problem.C.max()) * float(self.matrix.diag.max()) > LARGE

    def coordinates(self, is_definite: bool) -> FloatArray | None:
        """L with K + t 11' = L L' if that is small, in memory and positive definite, else None."""
        K = self.in_memory() if self._is_small else None
        factor = None if K is None else coordinates(K, is_definite)
        width = 0 if factor is None else self.k * factor.shape[1]
        # Space for a Hessian, its factor and their inputs.
        return factor if width <= COORDINATES and 32 * width**2 <= self.memory else None

    def release(self) -> None:
        """Give memory back."""
        if self.matrix.is_stored and self.matrix is not self.given:
            self.matrix.release()

    @property
    def is_factored(self) -> bool:
        """Whether steps are factorisations."""
        return self.k == 1 and self.n <= (FACTORED_AT_LAST if self.is_hard else FACTORED)

    def to_factor(self) -> FloatArray | None:
        """K + t 11' in double precision if it is to be factored and in memory, else None."""
        return self.in_memory() if self.is_factored else None

    def in_memory(self) -> FloatArray | None:
        """K + t 11' in double precision if it is in memory, else None."""
        if not (self.matrix.is_stored and self.matrix.dtype == np.float64):
            return None
        K = self.matrix.values[:, : self.n]
        return K + 1.0 if self.problem.bias == "penalized" else K

    def products(self, values: FloatArray) -> FloatArray:
        """(K + t 11') @ values, fast."""
        matrix = self.matrix if self.rounded is None else self.rounded
        return self._shifted(matrix.products(values, self.limits.stop), values)

    def products_in_double(self, values: FloatArray) -> FloatArray:
        """The same without rounding, summed in double precision."""
        matrix, stop = self.matrix, self.limits.stop
        if self.rounded is not None:
            return self._shifted(symmetric_product(matrix.kernel, matrix.items, values, matrix.n_jobs, stop), values)
        if matrix.dtype == np.float64 and matrix.is_stored:
            return self.products(values)
        everything = np.arange(self.n)
        columns = [matrix.product(everything, column, stop=stop) for column in values.T]
        return self._shifted(np.stack(columns, axis=1), values)

    def checked(self, beta: FloatArray, image: FloatArray) -> FloatArray:
        """`image` with a sample of rows recomputed from the items, to reveal the effect of rounding."""
        matrix, image = self.matrix, image.copy()
        rows = np.random.default_rng(0).permutation(self.n)[:CHECKED]
        found = tiles.product(
            matrix.kernel, matrix.items.take(rows), matrix.items, beta, matrix.n_jobs, self.limits.stop
        )
        image[rows] = self._shifted(found, beta)
        return image

    def _shifted(self, image: FloatArray, values: FloatArray) -> FloatArray:
        return image + values.sum(axis=0) if self.problem.bias == "penalized" else image
