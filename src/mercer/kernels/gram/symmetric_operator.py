"""A symmetric kernel matrix as an operator: products in double precision, and its lower triangle.

This is what direct and Krylov methods need. There are three implementations: evaluated from the items on
demand (nothing is stored), given as an array, and either of these after weighting or centring.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.once import computed_once
from mercer._jit.threads import run_parallel, thread_count
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Stop
from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.symmetric_product import symmetric_product
from mercer.kernels.gram.packed_triangle import Triangle

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.fixed_point import FixedPointOperator

# Rows of an array that are processed together.
_PANEL = 1024
# Entries up to this, and down to its inverse, can be squared and summed safely.
MODERATE = 1e100


class SymmetricOperator(ABC):
    """A symmetric matrix K of n items."""

    # How far a product with a vector of length 1 is from that with the exact matrix.
    noise = 0.0
    # The precision that entries were rounded to, relative to the largest.
    eps = float(np.finfo(np.float64).eps)

    def __init__(self, n: int, n_jobs: int | None = None) -> None:
        self.n, self.n_jobs = n, n_jobs

    @property
    @abstractmethod
    def diag(self) -> FloatArray:
        """K_ii, float64."""

    @property
    def size(self) -> float:
        """The largest absolute value on the diagonal: of all entries, if K is positive semidefinite."""
        return float(np.abs(self.diag).max(initial=0.0))

    @property
    def summed_diag(self) -> FloatArray:
        """The diagonal of the matrix whose entries a product sums: its trace bounds the scale of rounding errors."""
        return self.diag

    @abstractmethod
    def product(self, columns: FloatArray, stop: Stop | None = None) -> FloatArray:
        """K @ columns in double precision; `columns` has shape (n, k)."""

    @abstractmethod
    def rows(self, indices: IndexArray) -> FloatArray:
        """The rows at `indices` in double precision, shape (len(indices), n)."""

    @abstractmethod
    def lower(self, dtype: DTypeLike, stop: Stop | None = None) -> Triangle:
        """The lower triangle, a new `Triangle`."""

    def suits_single(self, tolerance: float) -> bool:
        """Whether entries in single precision err by at most `tolerance` times the largest."""
        return False


class EvaluatedOperator(SymmetricOperator):
    """K(x_i, x_j) computed on demand.

    Parameters
    ----------
    kernel : Kernel
        Bound to its training data.
    prepare : callable
        ``prepare(dtype)`` gives the kernel's prepared form of the items.
    """

    def __init__(self, kernel: "Kernel", prepare: Callable[[DTypeLike], Any], n_jobs: int | None = None) -> None:
        self.kernel, self.prepare = kernel, prepare
        self.items = prepare(np.float64)
        super().__init__(len(self.items), n_jobs)

    @property
    def diag(self) -> FloatArray:
        return self.kernel.diag_of(self.items)

    def product(self, columns: FloatArray, stop: Stop | None = None) -> FloatArray:
        return symmetric_product(self.kernel, self.items, columns, self.n_jobs, stop)

    def rows(self, indices: IndexArray) -> FloatArray:
        out = np.empty((len(indices), self.n))
        return tiles.fill(self.kernel, self.items.take(indices), self.items, out, self.n_jobs)

    def lower(self, dtype: DTypeLike, stop: Stop | None = None) -> Triangle:
        items = self.items if np.dtype(dtype) == np.float64 else self.prepare(np.dtype(dtype))
        triangle = Triangle(self.n, dtype)
        tiles.lower_triangle(self.kernel, items, triangle, self.n_jobs, stop)
        triangle.set_diagonal(self.diag)
        return triangle

    def suits_single(self, tolerance: float) -> bool:
        if not self.kernel.is_dot_product_form:
            return False
        norms = self.items.norms
        largest, typical = float(norms.max(initial=0.0)), 4.0 * float(norms.mean())
        try:
            bound = self.kernel.entry_bound(min(largest, typical))
            error = self.kernel.entry_error(min(largest, typical), np.float32)
            return self.kernel.entry_bound(largest) < 1e15 and error <= tolerance * bound
        except OverflowError:
            return False

    def stored(self, stop: Stop | None = None) -> "GivenOperator":
        """The whole matrix in memory, in double precision: for small ones, and slow kernels."""
        values = np.empty((self.n, self.n))
        tiles.gram(self.kernel, self.items, values, self.n_jobs, stop)
        np.fill_diagonal(values, self.diag)
        return GivenOperator(values, self.n_jobs)


class GivenOperator(SymmetricOperator):
    """A whole matrix in memory, which is only read."""

    def __init__(self, values: Array, n_jobs: int | None = None) -> None:
        super().__init__(len(values), n_jobs)
        self.values = values

    @property
    def diag(self) -> FloatArray:
        return self.values.diagonal().astype(np.float64)

    @computed_once
    def size(self) -> float:
        """The largest absolute value of all entries: nothing is known about the diagonal of a given matrix."""
        return max(float(self.values.max(initial=0.0)), -float(self.values.min(initial=0.0)))

    @property
    def eps(self) -> float:
        """Single precision if all entries fit it, whatever the precision of the array."""
        panels = [self.values[begin : begin + _PANEL] for begin in range(0, self.n, _PANEL)]
        # Counts and other small integers fit too, but were not rounded to it.
        is_exact = self.size < 2.0**24 and all((panel == np.rint(panel)).all() for panel in panels)
        is_single = not is_exact and all(map(_is_single, panels))
        return float(np.finfo(np.float32).eps) if is_single else SymmetricOperator.eps

    def product(self, columns: FloatArray, stop: Stop | None = None) -> FloatArray:
        out = np.empty((self.n, columns.shape[1]))

        def panel(begin: int) -> None:
            end = begin + _PANEL
            np.matmul(self.values[begin:end], columns, out=out[begin:end])

        run_parallel(panel, range(0, self.n, _PANEL), _workers(self), stop)
        return out

    def rows(self, indices: IndexArray) -> FloatArray:
        return self.values[indices].astype(np.float64)

    def lower(self, dtype: DTypeLike, stop: Stop | None = None) -> Triangle:
        return Triangle.of(self.values, dtype)

    def suits_single(self, tolerance: float) -> bool:
        return tolerance >= float(np.finfo(np.float32).eps)


class WeightedOperator(SymmetricOperator):
    """S K S with S = diag(scale)."""

    def __init__(self, base: SymmetricOperator, scale: FloatArray) -> None:
        super().__init__(base.n, base.n_jobs)
        self.base, self.scale = base, scale

    @property
    def diag(self) -> FloatArray:
        return self.base.diag * self.scale**2

    @property
    def summed_diag(self) -> FloatArray:
        return self.base.summed_diag * self.scale**2

    @property
    def size(self) -> float:
        """A bound: that of the base, times the largest weight twice."""
        return self.base.size * float(np.abs(self.scale).max(initial=0.0)) ** 2

    @property
    def eps(self) -> float:
        return self.base.eps

    def product(self, columns: FloatArray, stop: Stop | None = None) -> FloatArray:
        return self.scale[:, None] * self.base.product(self.scale[:, None] * columns, stop)

    def rows(self, indices: IndexArray) -> FloatArray:
        return self.base.rows(indices) * self.scale * self.scale[indices][:, None]

    def lower(self, dtype: DTypeLike, stop: Stop | None = None) -> Triangle:
        triangle, scale = self.base.lower(dtype, stop), self.scale.astype(dtype)
        for begin, end, rows in triangle:
            np.multiply(rows, scale[:end], out=rows)
            np.multiply(rows, scale[begin:end, None], out=rows)
        return triangle

    def suits_single(self, tolerance: float) -> bool:
        return self.base.suits_single(tolerance)


class CenteredOperator(SymmetricOperator):
    """H K H' with H = I - 1p': the features minus their mean, to which item i contributes p_i; 1/n by default."""

    def __init__(
        self,
        base: SymmetricOperator,
        means: FloatArray | None = None,
        stop: Stop | None = None,
        shares: FloatArray | None = None,
    ) -> None:
        super().__init__(base.n, base.n_jobs)
        self.base = base
        self.shares = np.full(base.n, 1.0 / base.n) if shares is None else shares
        self.means = base.product(self.shares[:, None], stop)[:, 0] if means is None else means
        self.grand_mean = float(self.shares @ self.means)

    @property
    def noise(self) -> float:
        return self.base.noise

    @property
    def eps(self) -> float:
        return self.base.eps

    @property
    def size(self) -> float:
        """That before centring, to which its rounding is relative."""
        return max(self.base.size, float(np.abs(self.means).max(initial=0.0)))

    @property
    def exact(self) -> "CenteredOperator":
        """The same without noise."""
        return CenteredOperator(cast("FixedPointOperator", self.base).exact, self.means, shares=self.shares)

    @property
    def diag(self) -> FloatArray:
        return self.base.diag - 2.0 * self.means + self.grand_mean

    @property
    def summed_diag(self) -> FloatArray:
        """That before centring: rows far from the origin have little in common with what is left of them."""
        return self.base.summed_diag

    def product(self, columns: FloatArray, stop: Stop | None = None) -> FloatArray:
        moved = self.base.product(columns - self.shares[:, None] * columns.sum(axis=0), stop)
        return moved - self.shares @ moved

    def rows(self, indices: IndexArray) -> FloatArray:
        return self.base.rows(indices) - self.means - (self.means[indices] - self.grand_mean)[:, None]

    def lower(self, dtype: DTypeLike, stop: Stop | None = None) -> Triangle:
        triangle = self.base.lower(dtype, stop)
        for begin, end, rows in triangle:
            # In double precision: what is subtracted may be almost everything.
            rows[...] = (rows - self.means[:end]) - (self.means[begin:end] - self.grand_mean)[:, None]
        return triangle

    def suits_single(self, tolerance: float) -> bool:
        # Centring leaves only the part of single precision's digits that is not common to all.
        share = float(self.diag.max(initial=0.0)) / max(float(self.base.diag.max(initial=0.0)), 1e-300)
        return self.base.suits_single(tolerance * max(share, 0.0))


def of_moderate_size(operator: SymmetricOperator) -> tuple[SymmetricOperator, float]:
    """(the operator divided by `unit`, unit): a power of four if squares would overflow or vanish, otherwise 1."""
    size = operator.size
    if not 0 < size < np.inf or 1.0 / MODERATE < size < MODERATE:
        return operator, 1.0
    half = int(np.clip(np.frexp(size)[1] // 2, -511, 511))
    return WeightedOperator(operator, np.full(operator.n, 2.0**-half)), 4.0**half


def _is_single(values: Array) -> bool:
    with np.errstate(over="ignore"):
        return values.dtype == np.float32 or np.array_equal(values.astype(np.float32), values)


def _workers(operator: SymmetricOperator) -> int:
    return 1 if operator.n**2 < tiles.SERIAL_ENTRIES * 8 else thread_count(operator.n_jobs)
