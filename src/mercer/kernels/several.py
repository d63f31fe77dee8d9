"""Several kernels on the same items: weighted sums, products with each, and inner products of pairs.

Kernels in dot-product form share their inner products. Where there is room the matrices are
computed once and kept; else every question is answered tile by tile, and no matrix is ever whole.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.threads import Stopped, run_parallel, thread_count
from mercer._jit.vectors import vector_loop
from mercer.kernels import engine
from mercer.kernels.matrix import StoredMatrix, padded
from mercer.kernels.wrapped import Scaled

# Edge of the tiles: those of all kernels are in memory together.
EDGE = 256


@jit
def _add_weighted(stack, weights, out, begin, end):
    """out[i] = sum_m weights[m] stack[m, i] for the rows begin..end."""
    vector_loop()
    for i in range(begin, end):
        target = out[i]
        for j in range(target.shape[0]):
            target[j] = 0.0
        for m in range(weights.shape[0]):
            w = weights[m]
            if w != 0.0:
                row = stack[m, i]
                for j in range(target.shape[0]):
                    target[j] += w * row[j]


class SeveralKernels:
    """M bound kernels on n items, in double precision.

    Parameters
    ----------
    kernels : list of Kernel
    items : list
        The prepared form of the items for each kernel; kernels may share one.
    n_jobs : int, optional
    """

    def __init__(self, kernels, items, n_jobs=None):
        self.kernels, self.items, self.n_jobs = list(kernels), list(items), n_jobs
        self.n, self.stack = len(items[0]), None

    def __len__(self):
        return len(self.kernels)

    @property
    def bytes_needed(self):
        """What the matrices take, together with two of their sums."""
        return 8 * (len(self) + 2) * self.n * padded(self.n)

    def keep(self, stop=None):
        """Compute all matrices, one triangle of each, and keep them."""
        stack = np.zeros((len(self), self.n, padded(self.n)))
        tiles = self._tiles

        def panel(place):
            rows = tiles[place]
            for columns in tiles[: place + 1]:
                for matrix, block in zip(stack, self._blocks(rows, columns, stop), strict=True):
                    matrix[slice(*rows), slice(*columns)] = block
                    matrix[slice(*columns), slice(*rows)] = block.T

        run_parallel(panel, reversed(range(len(tiles))), self._workers, stop)
        for matrix, diagonal in zip(stack, self.diagonals(), strict=True):
            np.fill_diagonal(matrix, diagonal)
        self.stack = stack

    @property
    def _tiles(self):
        """Spans of items; short where an entry of some kernel takes long."""
        longest = [getattr(items, "longest_tile", None) or EDGE for items in self.items]
        return engine.spans(self.n, min(EDGE, *longest))

    def scaled(self, factors):
        """The same kernels, each times its factor; matrices that were kept are scaled in place."""
        kernels = [Scaled.of(float(factor), kernel) for factor, kernel in zip(factors, self.kernels, strict=True)]
        other = SeveralKernels(kernels, self.items, self.n_jobs)
        if self.stack is not None:
            for matrix, factor in zip(self.stack, factors, strict=True):
                matrix *= factor
            other.stack, self.stack = self.stack, None
        return other

    def diagonals(self):
        """k_m(x_i, x_i), shape (M, n)."""
        return np.stack([kernel.diag_of(items) for kernel, items in zip(self.kernels, self.items, strict=True)])

    def weighted(self, weights):
        """The sum of the kept matrices with these weights, as a `StoredMatrix`."""
        out = np.empty(self.stack.shape[1:])
        weights = np.ascontiguousarray(weights, np.float64)

        def panel(rows):
            _add_weighted(self.stack, weights, out, *rows)

        run_parallel(panel, engine.spans(self.n, EDGE), self._workers)
        return StoredMatrix(out, self.n_jobs)

    @property
    def _workers(self):
        return 1 if len(self) * self.n**2 < engine.SERIAL_ENTRIES else thread_count(self.n_jobs)

    def products(self, coefficients, chosen=None, stop=None):
        """K_m[chosen, chosen] @ coefficients for each m, shape (M, len(chosen), k)."""
        if self.stack is not None:
            return self._kept_products(coefficients, chosen)
        part = self if chosen is None else self._taken(chosen)
        out = np.zeros((len(self), part.n, coefficients.shape[1]))

        def panel(rows):
            for columns in part._tiles:
                for m, block in enumerate(part._blocks(rows, columns, stop)):
                    out[m, slice(*rows)] += block @ coefficients[slice(*columns)]

        run_parallel(panel, part._tiles, part._workers, stop)
        return out

    def _taken(self, chosen):
        """The kernels on some of the items; those that shared a prepared form share its part."""
        parts = {id(items): items for items in self.items}
        parts = {key: items.take(chosen) for key, items in parts.items()}
        return SeveralKernels(self.kernels, [parts[id(items)] for items in self.items], self.n_jobs)

    def _kept_products(self, coefficients, chosen):
        whole = coefficients
        if chosen is not None:
            whole = np.zeros((self.n, coefficients.shape[1]))
            whole[chosen] = coefficients
        out = np.empty((len(self), self.n, whole.shape[1]))

        def one(job):
            m, (begin, end) = job
            np.matmul(self.stack[m, begin:end, : self.n], whole, out=out[m, begin:end])

        jobs = [(m, rows) for m in range(len(self)) for rows in engine.spans(self.n, 1024)]
        run_parallel(one, jobs, self._workers)
        return out if chosen is None else out[:, chosen]

    def inner_products(self, weights, stop=None):
        """sum_ij w_i w_j K_m,ij K_l,ij for every pair of kernels, shape (M, M)."""
        tiles = self._tiles
        totals = np.zeros((len(tiles), len(self), len(self)))

        def panel(place):
            rows = tiles[place]
            for columns in tiles[: place + 1]:
                blocks = np.stack([block.ravel() for block in self._blocks(rows, columns, stop)])
                both = np.outer(weights[slice(*rows)], weights[slice(*columns)]).ravel()
                totals[place] += (1.0 if rows == columns else 2.0) * ((blocks * both) @ blocks.T)

        run_parallel(panel, reversed(range(len(tiles))), self._workers, stop)
        return totals.sum(axis=0)

    def _blocks(self, rows, columns, stop=None):
        """The tile of each kernel, one after the other."""
        if stop is not None and stop():
            raise Stopped
        if self.stack is not None:
            yield from self.stack[:, slice(*rows), slice(*columns)]
            return
        dots = {}
        for kernel, items in zip(self.kernels, self.items, strict=True):
            left, right = items.slice(*rows), items.slice(*columns)
            block = np.empty((len(left), len(right)), items.dtype)
            if kernel.is_dot_product_form:
                if id(items) not in dots:
                    dots[id(items)] = left.dots(right).copy()
                kernel.transform(dots[id(items)], left.norms, right.norms, block, 0, 0)
            else:
                kernel.tile(left, right, block, 0, 0)
            yield block

    def spreads(self, weights, stop=None):
        """(mean of k(x, x), variance of the features) of each kernel over rows that count `weights` times.

        The variance is the mean of k(x, x) less the mean of all entries: what is left of the kernel
        when the mean of its features is moved to the origin.
        """
        shares = weights / weights.sum()
        sums = self.products(shares[:, None], stop=stop)[:, :, 0]
        means = self.diagonals() @ shares
        return means, means - sums @ shares
