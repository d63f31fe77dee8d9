"""The kernel matrix of Newton's method: kept in memory in a form that conjugate gradients read fast.

From `SAMPLED` points on, and where entries are cheap, it is rounded to 16 bits an entry
(`mercer.kernels.gram.quantised`): what that changes is less than a Newton step leaves to the next one anyway. For many
functions there is a second copy, of 8 bits an entry (`mercer.kernels.gram.quantised_bytes`), in which a step is looked
for; what it does to the values, the first one tells. Smaller matrices are kept as they are, and those without room are
evaluated product by product.
"""

import numpy as np

from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.symmetric_product import symmetric_product
from mercer.kernels.gram import quantised_bytes
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.kernels.gram.quantised import RoundedMatrix
from mercer.kernels.gram.quantised_bytes import ByteMatrix
from mercer.solvers.smooth.feature_newton import coordinates
from mercer.solvers.smooth.optimal_bias import flat

# Up to this many points a step is a Cholesky factorisation, or the matrix is factored once and for all, if all
# functions together have no more coordinates than that.
FACTORED = 700
COORDINATES = 2000
# From this C k(x, x) on, coefficients are so large that their values are better computed without them.
LARGE = 1e4
# Up to this many a step may be a factorisation, where conjugate gradients do not come to their end.
FACTORED_AT_LAST = 5000
# From this many points on, the matrix may be rounded.
SAMPLED = 1500
# Rounding may change the system of a step by this share of a unit of curvature.
ROUNDED = 0.05
# And that to 8 bits by this share of it.
BYTES = 0.3
# Points at which values are computed from the items to see what rounding has done.
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
    rough : ByteMatrix or None
        What rough products see.
    """

    def __init__(self, problem, matrix, limits, memory):
        self.problem, self.limits, self.memory = problem, limits, memory
        self.given = self.matrix = matrix
        self.n, self.k = matrix.n, problem.n_functions
        self.rounded, self.rough, self.is_hard = None, None, False

    def keep(self):
        """Keep the matrix in memory where it has room: rounded if that will do, else as it is."""
        matrix, n = self.matrix, self.n
        self.matrix = matrix.in_double() if matrix.is_rough or self._is_small else matrix
        if not isinstance(matrix, EvaluatedMatrix):
            return
        if n >= SAMPLED and matrix.kernel.is_dot_product_form and n**2 <= self.memory:
            self.rounded = self._if_fine(RoundedMatrix.of(matrix, self.limits.stop))
        if self.rounded is None:
            self._keep_whole()

    @property
    def _is_small(self):
        return self.n <= FACTORED

    def _keep_whole(self):
        if self.n**2 * self.matrix.dtype.itemsize <= self.memory:
            self.matrix = self.matrix.stored(self.limits.stop)

    def _if_fine(self, rounded):
        """The rounded matrix, if the curvature that there is to begin with allows for its rounding."""
        curvature = self.problem.root(flat(np.zeros((self.n, self.k)))).largest
        return rounded if rounded is not None and rounded.noise * curvature <= ROUNDED else None

    def keep_bytes(self, root):
        """A copy of 8 bits an entry, if there are functions enough and the curvature that there is allows for it."""
        if self.rounded is None or self.k < quantised_bytes.FEWEST_COLUMNS or 2 * self.n**2 > self.memory:
            return
        # Of errors between points of different curvature, the product of both is seen.
        curvature = (root.largest * float(np.trace(root.total)) / (self.n * self.k)) ** 0.5
        rough = ByteMatrix.of(self.rounded)
        self.rough = rough if rough is not None and rough.noise * curvature <= BYTES else None

    def keep_without_bytes(self):
        """Leave the copy of 8 bits behind; whether there was one."""
        had, self.rough = self.rough is not None, None
        return had

    def keep_without_rounding(self):
        """Leave the rounded matrix behind."""
        self.rounded = self.rough = None
        self._keep_whole()

    def keep_for_factors(self):
        """All of it in double precision, for factorisations of one function; whether that is possible, and new."""
        is_new = self.matrix.dtype != np.float64 or (self.k == 1 and self.n > FACTORED)
        if self.is_hard or not is_new or self.n > FACTORED_AT_LAST or 8 * self.n**2 > self.memory:
            return False
        self.is_hard = True
        self.rounded, self.rough, self.matrix = None, None, self.matrix.in_double().stored(self.limits.stop)
        return True

    @property
    def is_steep(self):
        """Whether C k(x, x) is large."""
        return float(self.problem.C.max(initial=0.0)) * float(self.matrix.diag.max(initial=0.0)) > LARGE

    def coordinates(self, is_definite):
        """L with K + t 11' = L L', where that is small, in memory and definite, else None."""
        K = self.in_memory() if self._is_small else None
        factor = None if K is None else coordinates(K, is_definite)
        width = 0 if factor is None else self.k * factor.shape[1]
        # A Hessian, its factor and what they are made from.
        return factor if width <= COORDINATES and 32 * width**2 <= self.memory else None

    def release(self):
        """Give memory back."""
        if isinstance(self.matrix, StoredMatrix) and self.matrix is not self.given:
            self.matrix.release()

    @property
    def is_factored(self):
        """Whether steps are factorisations."""
        return self.k == 1 and self.n <= (FACTORED_AT_LAST if self.is_hard else FACTORED)

    def to_factor(self):
        """K + t 11' in double precision where it is to be factored and in memory, else None."""
        return self.in_memory() if self.is_factored else None

    def in_memory(self):
        """K + t 11' in double precision where it is in memory, else None."""
        if not (isinstance(self.matrix, StoredMatrix) and self.matrix.dtype == np.float64):
            return None
        K = self.matrix.values[:, : self.n]
        return K + 1.0 if self.problem.bias == "penalised" else K

    def products(self, values):
        """(K + t 11') @ values, fast."""
        matrix = self.matrix if self.rounded is None else self.rounded
        return self._shifted(matrix.products(values, self.limits.stop), values)

    def rough_products(self, values):
        """The same, from 8 bits an entry where there are some."""
        if self.rough is None:
            return self.products(values)
        return self._shifted(self.rough.products(values, self.limits.stop), values)

    def products_in_double(self, values):
        """The same without rounding, summed in double precision."""
        matrix, stop = self.matrix, self.limits.stop
        if self.rounded is not None:
            return self._shifted(symmetric_product(matrix.kernel, matrix.items, values, matrix.n_jobs, stop), values)
        if matrix.dtype == np.float64 and isinstance(matrix, StoredMatrix):
            return self.products(values)
        everything = np.arange(self.n)
        columns = [matrix.product(everything, column, stop=stop) for column in values.T]
        return self._shifted(np.stack(columns, axis=1), values)

    def checked(self, beta, image):
        """`image` with rows here and there computed from the items: what rounding has done shows in them."""
        matrix, image = self.matrix, image.copy()
        rows = np.random.default_rng(0).permutation(self.n)[:CHECKED]
        found = tiles.product(
            matrix.kernel, matrix.items.take(rows), matrix.items, beta, matrix.n_jobs, self.limits.stop
        )
        image[rows] = self._shifted(found, beta)
        return image

    def _shifted(self, image, values):
        return image + values.sum(axis=0) if self.problem.bias == "penalised" else image
