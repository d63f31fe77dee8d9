"""Several kernels on the same items: weighted sums, products with each, and inner products of pairs.

Kernels in dot-product form share their inner products. If there is room, the matrices are
computed once and kept; otherwise everything is computed tile by tile, and no matrix is ever complete.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._jit.compile import jit
from mercer._jit.threads import Stopped, run_parallel, thread_count
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Span, Stop
from mercer.kernels.algebra.scaled_power import Scaled
from mercer.kernels.evaluation import tiles as engine
from mercer.kernels.gram.kernel_matrix import StoredMatrix, padded
from mercer.kernels.gram.weighted_gram_sum import UnroundedSum, weighted_sum

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel

# Edge of the tiles: those of all kernels are in memory together.
EDGE = 256
# Entries that are read in less time than it takes to wake another thread.
FEW_ENTRIES = 1_000_000


def _given(items: Any) -> FloatArray | None:
    """The whole matrix if the items are those of a given one, in order and in double precision; otherwise None."""
    matrix = getattr(items, "matrix", None)
    if matrix is None or matrix.dtype != np.float64 or not matrix.flags.c_contiguous:
        return None
    return matrix if items.is_whole else None


@jit
def _form(matrix: Array, coefficients: Array) -> float:
    """c'Kc of a symmetric matrix, from what is left of the diagonal; rows without a coefficient are not read."""
    vector_loop()
    whole = 0.0
    for i in range(matrix.shape[0]):
        own = coefficients[i]
        if own != 0.0:
            row, total = matrix[i], 0.0
            for j in range(i):
                total += row[j] * coefficients[j]
            whole += own * (2.0 * total + own * row[i])
    return whole


class SeveralKernels:
    """M bound kernels on n items, in double precision.

    Parameters
    ----------
    kernels : list of Kernel
    items : list
        The prepared form of the items for each kernel; kernels may share one.
    n_jobs : int, optional

    Attributes
    ----------
    matrices : list of ndarray or None
        If they are kept.
    total : ndarray or None
        Their sum without weights, if it is already known; consumed by the first request for such a sum.
    """

    if TYPE_CHECKING:
        matrices: list[FloatArray] | Any  # None until they are kept
        _diagonals: FloatArray | Any
        total: FloatArray | None

    def __init__(self, kernels: "Sequence[Kernel]", items: Sequence[Any], n_jobs: int | None = None) -> None:
        self.kernels, self.items, self.n_jobs = list(kernels), list(items), n_jobs
        self.n, self.matrices, self.factors = len(items[0]), None, np.ones(len(kernels))
        self._diagonals, self.total = None, None

    def __len__(self) -> int:
        return len(self.kernels)

    @property
    def bytes_needed(self) -> int:
        """The memory for the matrices that are not given, together with two of their sums."""
        return 8 * (2 + sum(_given(items) is None for items in self.items)) * self.n * padded(self.n)

    def keep(self, stop: Stop | None = None) -> None:
        """Compute all matrices, one triangle of each, and keep them; given ones are not copied."""
        found = [_given(items) for items in self.items]
        places = [m for m, matrix in enumerate(found) if matrix is None]
        if places:
            part = SeveralKernels([self.kernels[m] for m in places], [self.items[m] for m in places], self.n_jobs)
            for m, matrix in zip(places, part._computed(stop), strict=True):
                found[m] = matrix
        self.matrices = found

    def _computed(self, stop: Stop | None) -> Sequence[FloatArray]:
        matrices = [np.empty((self.n, self.n)) for _ in self.kernels]
        tiles = self._tiles

        def panel(place: int) -> None:
            rows = tiles[place]
            for columns in tiles[: place + 1]:
                for matrix, block in zip(matrices, self._blocks(rows, columns, stop), strict=True):
                    matrix[slice(*rows), slice(*columns)] = block
                    matrix[slice(*columns), slice(*rows)] = block.T

        run_parallel(panel, reversed(range(len(tiles))), self._workers, stop)
        for matrix, diagonal in zip(matrices, self.diagonals(), strict=True):
            np.fill_diagonal(matrix, diagonal)
        return matrices

    @property
    def _tiles(self) -> list[Span]:
        """Spans of items; short if an entry of some kernel takes long."""
        longest = [getattr(items, "longest_tile", None) or EDGE for items in self.items]
        return engine.spans(self.n, min(EDGE, *longest))

    def scaled(self, factors: FloatArray | Sequence[float]) -> "SeveralKernels":
        """The same kernels, each times its factor; kept matrices are reused."""
        kernels = [Scaled.of(float(factor), kernel) for factor, kernel in zip(factors, self.kernels, strict=True)]
        other = SeveralKernels(kernels, self.items, self.n_jobs)
        other.matrices, other.factors = self.matrices, self.factors * factors
        # The user of the sum writes over it, so only one of the two may have it.
        other.total, self.total = self.total, None
        if self._diagonals is not None:
            other._diagonals = np.asarray(factors)[:, None] * self._diagonals
        return other

    def diagonals(self) -> FloatArray:
        """k_m(x_i, x_i), shape (M, n); computed once."""
        if self._diagonals is None:
            each = zip(self.kernels, self.items, strict=True)
            self._diagonals = np.stack([kernel.diag_of(items) for kernel, items in each])
        return self._diagonals

    def weighted(
        self, weights: FloatArray, dtype: DTypeLike = np.float64, ridge: FloatArray | None = None
    ) -> StoredMatrix:
        """The sum of the kept matrices with these weights, as a `StoredMatrix` that knows its entries in double.

        `ridge`, if given, is added to its diagonal.
        """
        factors = weights * self.factors
        if self.total is not None and self.total.dtype == dtype and (factors == factors[0]).all():
            # The next request would have to read all of them.
            out, self.total = self.total, None
            out *= out.dtype.type(factors[0])
        else:
            out = weighted_sum(self.matrices, factors, dtype, self._workers)
        if ridge is not None:
            np.einsum("ii->i", out[:, : self.n])[...] += ridge
        source = None if out.dtype == np.float64 else UnroundedSum(self, weights, ridge)
        return StoredMatrix(out, self.n_jobs, source)

    @property
    def _workers(self) -> int:
        few = engine.SERIAL_ENTRIES if self.matrices is None else FEW_ENTRIES
        return 1 if len(self) * self.n**2 < few else thread_count(self.n_jobs)

    def products(
        self, coefficients: FloatArray, chosen: IndexArray | None = None, stop: Stop | None = None
    ) -> FloatArray:
        """K_m[chosen, chosen] @ coefficients for each m, shape (M, len(chosen), k)."""
        if self.matrices is not None:
            return self._kept_products(coefficients, chosen)
        part = self if chosen is None else self._taken(chosen)
        out = np.zeros((len(self), part.n, coefficients.shape[1]))

        def panel(rows: Span) -> None:
            for columns in part._tiles:
                for m, block in enumerate(part._blocks(rows, columns, stop)):
                    out[m, slice(*rows)] += block @ coefficients[slice(*columns)]

        run_parallel(panel, part._tiles, part._workers, stop)
        return out

    def _taken(self, chosen: IndexArray) -> "SeveralKernels":
        """The kernels on some of the items; those that shared a prepared form share its part."""
        parts = {id(items): items for items in self.items}
        parts = {key: items.take(chosen) for key, items in parts.items()}
        return SeveralKernels(self.kernels, [parts[id(items)] for items in self.items], self.n_jobs)

    def _kept_products(self, coefficients: FloatArray, chosen: IndexArray | None) -> FloatArray:
        whole = coefficients
        if chosen is not None:
            whole = np.zeros((self.n, coefficients.shape[1]))
            whole[chosen] = coefficients
        out = np.empty((len(self), self.n, whole.shape[1]))

        def one(job: tuple[int, Span]) -> None:
            m, (begin, end) = job
            np.matmul(self.matrices[m][begin:end], self.factors[m] * whole, out=out[m, begin:end])

        jobs = [(m, rows) for m in range(len(self)) for rows in engine.spans(self.n, 1024)]
        run_parallel(one, jobs, self._workers)
        return out if chosen is None else out[:, chosen]

    def quadratic_forms(self, coefficients: FloatArray, chosen: IndexArray) -> FloatArray:
        """c'K_m[chosen, chosen] c, summed over the columns c, for each m."""
        if self.matrices is None:
            return np.einsum("mst,st->m", self.products(coefficients, chosen), coefficients)
        whole = np.zeros((self.n, coefficients.shape[1]))
        whole[chosen] = coefficients
        if whole.shape[1] == 1:
            return self._forms(whole[:, 0])
        spans = engine.spans(self.n, EDGE)
        out = np.empty((len(self), len(spans)))

        def one(job: tuple[int, int]) -> None:
            m, place = job
            begin, end = spans[place]
            rows, own = self.matrices[m][begin:end], whole[begin:end]
            # Entries left of the diagonal block also count for those above it.
            sums = rows[:, begin:end] @ own
            if begin:
                sums += 2.0 * (rows[:, :begin] @ whole[:begin])
            out[m, place] = np.vdot(own, sums)

        jobs = [(m, place) for m in range(len(self)) for place in range(len(spans))]
        run_parallel(one, jobs, self._workers)
        return self.factors * out.sum(axis=1)

    def _forms(self, coefficients: FloatArray) -> FloatArray:
        """c'K_m c for each m."""
        out = np.empty(len(self))

        def one(m: int) -> None:
            out[m] = _form(self.matrices[m], coefficients)

        run_parallel(one, range(len(self)), self._workers)
        return self.factors * out

    def inner_products(self, weights: FloatArray, stop: Stop | None = None) -> FloatArray:
        """sum_ij w_i w_j K_m,ij K_l,ij for every pair of kernels, shape (M, M)."""
        tiles = self._tiles
        totals, is_plain = np.zeros((len(tiles), len(self), len(self))), bool((weights == 1.0).all())

        def panel(place: int) -> None:
            rows = tiles[place]
            for columns in tiles[: place + 1]:
                blocks = np.stack([block.ravel() for block in self._blocks(rows, columns, stop)])
                weighted = blocks
                if not is_plain:
                    weighted = blocks * np.outer(weights[slice(*rows)], weights[slice(*columns)]).ravel()
                totals[place] += (1.0 if rows == columns else 2.0) * (weighted @ blocks.T)

        run_parallel(panel, reversed(range(len(tiles))), self._workers, stop)
        return totals.sum(axis=0)

    def _blocks(self, rows: Span, columns: Span, stop: Stop | None = None) -> Iterator[FloatArray]:
        """The tile of each kernel in turn."""
        if stop is not None and stop():
            raise Stopped
        if self.matrices is not None:
            for matrix, factor in zip(self.matrices, self.factors, strict=True):
                block = matrix[slice(*rows), slice(*columns)]
                yield block if factor == 1.0 else factor * block
            return
        products = {}
        for kernel, items in zip(self.kernels, self.items, strict=True):
            left, right = items.slice(*rows), items.slice(*columns)
            block = np.empty((len(left), len(right)), items.dtype)
            if kernel.is_dot_product_form and not items.by_differences:
                if id(items) not in products:
                    products[id(items)] = left.dots(right).copy()
                kernel.transform(products[id(items)], left.norms, right.norms, block, 0, 0)
            else:
                kernel.tile(left, right, block, 0, 0)
            yield block

    def spreads(self, weights: FloatArray, stop: Stop | None = None) -> tuple[FloatArray, FloatArray]:
        """(mean of k(x, x), variance of the features) of each kernel over rows with multiplicities `weights`.

        The variance is the mean of k(x, x) minus the mean of all entries: what is left of the kernel
        when the mean of its features is shifted to the origin.
        """
        shares = weights / weights.sum()
        sums = self.products(shares[:, None], stop=stop)[:, :, 0]
        means = self.diagonals() @ shares
        return means, means - sums @ shares
