"""One fit: from checked data to solved problems that share a kernel matrix."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._jit.memory import available_bytes, parse_bytes
from mercer._jit.threads import run_parallel, thread_count
from mercer.kernels.matrix import WORTH_KEEPING, EvaluatedMatrix, StoredMatrix
from mercer.kernels.matrix_form import MatrixItems, Precomputed
from mercer.kernels.rows import column_means
from mercer.solvers import smo

# Problems larger than this use both cores inside; smaller ones run side by side.
SIDE_BY_SIDE = 12_000
# Up to this many points, and entries this cheap, the whole matrix is computed at once.
STORED_SIZE = 6_000
# Below this tolerance, entries rounded to single precision are of no use.
FINEST_SINGLE_TOL = 1e-5


@dataclass(frozen=True)
class Budget:
    """Bytes for kernel rows kept, and for the matrix of a working set."""

    cache: int
    working: int

    @classmethod
    def resolve(cls, memory_limit, cache_size):
        """From the user's bound, or half of what is free; cache_size is in megabytes."""
        total = available_bytes() // 2 if memory_limit is None else parse_bytes(memory_limit)
        cache = total // 2 if cache_size is None else min(total // 2, int(cache_size * 2**20))
        return cls(cache=cache, working=min(total // 4, 2**30))


class TrainingData:
    """Rows with a bound kernel: knows how to prepare any of them in any precision."""

    def __init__(self, kernel, X):
        self.kernel = kernel
        self.X = X
        dense = isinstance(X, np.ndarray) and X.ndim == 2
        self.origin = column_means(X) if kernel.is_translation_invariant and dense else None

    def prepare(self, dtype, indices=None):
        if indices is None:
            rows = self.X
        elif isinstance(self.X, list):
            rows = [self.X[i] for i in indices]
        else:
            rows = self.X[indices]
        return self.kernel.prepare(rows, dtype, origin=self.origin, check=False)

    @property
    def shape(self):
        """Shape of the training data."""
        return self.X.shape if hasattr(self.X, "shape") else (len(self.X),)

    def support_vectors(self, indices):
        """The rows at `indices` as the user gave them; none are kept of a precomputed matrix."""
        if isinstance(self.kernel, Precomputed):
            return np.empty((0, 0))
        return [self.X[i] for i in indices] if isinstance(self.X, list) else self.X[indices]

    def expansion_vectors(self, indices):
        """What a predictor needs of the rows at `indices`."""
        if isinstance(self.kernel, Precomputed):
            return MatrixItems(None, indices, np.float64)
        return self.support_vectors(indices)

    def matrix(self, tol, budget, n_jobs, stop=None):
        """The kernel matrix of all rows, in the precision that `tol` needs."""
        if isinstance(self.kernel, Precomputed):
            return StoredMatrix.of(_square(self.X), n_jobs)
        single = tol >= FINEST_SINGLE_TOL and self._single_is_enough(tol)
        matrix = EvaluatedMatrix(
            self.kernel, self.prepare, np.float32 if single else np.float64, budget.cache, n_jobs
        )
        _require_finite_diagonal(matrix)
        return matrix

    def _single_is_enough(self, tol):
        if not self.kernel.is_dot_product_form:
            return False
        bound = self._norm_bound()
        return self.kernel.entry_error(bound, np.float32) <= tol and self.kernel.entry_bound(bound) < 1e15

    def _norm_bound(self):
        """An upper bound of |x - origin|^2 over the rows."""
        if sparse.issparse(self.X):
            return float(np.asarray(self.X.multiply(self.X).sum(axis=1)).max(initial=0.0))
        if self.origin is None:
            return float(np.einsum("ij,ij->i", self.X, self.X, dtype=np.float64).max(initial=0.0))
        spread = np.maximum(self.X.max(axis=0) - self.origin, self.origin - self.X.min(axis=0))
        return float(spread @ spread)


def _square(X):
    return X.toarray() if sparse.issparse(X) else X


def _require_finite_diagonal(matrix):
    if not np.isfinite(matrix.diag).all():
        raise DataError("kernel values overflow on X; scale the features, or lower gamma or degree")


def stored_if_small(matrix, budget, stop=None):
    """Compute all of a small matrix once; leave a large or expensive one to be asked."""
    if isinstance(matrix, StoredMatrix):
        return matrix
    small = matrix.n <= smo.DIRECT_SIZE or (matrix.n <= STORED_SIZE and matrix.entry_cost <= WORTH_KEEPING)
    fits = matrix.n**2 * matrix.dtype.itemsize <= budget.cache
    return matrix.stored(stop) if small and fits else matrix


def solve_all(problems, tasks, matrix, budget, solve, n_jobs, stop=None):
    """Solve the two-class problems of a fit; each sees its own view of the one matrix.

    Small ones run side by side on the cores, large ones one after the other on all cores.
    """
    solutions = [None] * len(problems)
    whole = len(tasks) and all(len(task.indices) == matrix.n for task in tasks)
    shared = stored_if_small(matrix, budget, stop) if whole else matrix

    def run(k):
        part = shared if whole else stored_if_small(shared.view(tasks[k].indices), budget, stop)
        solutions[k] = solve(problems[k], part, k)

    order = sorted(range(len(tasks)), key=lambda k: -len(tasks[k].indices))
    large = [k for k in order if len(tasks[k].indices) > SIDE_BY_SIDE or (whole and len(tasks) == 1)]
    for k in large:
        run(k)
    run_parallel(run, [k for k in order if k not in set(large)], thread_count(n_jobs))
    return solutions
