"""One fit: from checked data to solved problems that share a kernel matrix."""

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError
from mercer._jit.memory import available_bytes, parse_bytes
from mercer._jit.threads import Stopped, run_parallel, thread_count
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels.base.distance_origin import largest_square, origin_of
from mercer.kernels.evaluation import tiles
from mercer.kernels.given.precomputed import MatrixItems, Precomputed
from mercer.kernels.gram.evaluated import FEW_AT_ONCE, EvaluatedMatrix
from mercer.kernels.gram.kernel_matrix import StoredMatrix, is_ordered
from mercer.kernels.items.column_statistics import summary
from mercer.kernels.items.prepare_rows import squared_norms
from mercer.kernels.items.sparse_rows import MOST_LINES
from mercer.kernels.table.frame import Frame
from mercer.problems.svm.signed_risk import SignedRisk
from mercer.solvers.dual_qp import policy
from mercer.solvers.dual_qp.policy import allows_single, is_stored_whole
from mercer.solvers.linalg.definiteness import is_seen_indefinite
from mercer.solvers.result import Solution, Status

if TYPE_CHECKING:
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits

# Fits with no more points than this need next to no memory.
SMALL_FIT, ENOUGH_FOR_SMALL = 1000, 2**26
# Most bytes for the matrix of a working set.
MOST_WORKING = 2**30
# Tiles of two threads: inner products, kernel values, transposes.
TILES = 12 * 2**20
# Share of the memory beyond twice that which the allocator retains per thread.
SLACK = 1 / 8
OVERFLOW = "kernel values overflow on X; scale the features, or lower gamma or degree"
# Rows on which a possibly indefinite kernel is checked: their factorisation takes some milliseconds.
LOOKED_AT = 500
# Negative eigenvalues smaller than this share of the largest make no difference to a machine.
NEGLIGIBLE = 1e-4
# Larger kernel values overflow when multiplied and summed.
LARGEST_ENTRY = 1e100


def require_no_overflow(X: Rows) -> None:
    """Refuse rows whose inner products might overflow."""
    values = X.data if sparse.issparse(X) else X
    if not float(np.abs(values).max(initial=0.0)) < LARGEST_ENTRY**0.5:
        raise DataError(OVERFLOW)


def require_bounded(kernel: "Kernel", matrix: Any) -> None:
    """Refuse a matrix or an operator whose entries, or the inner products in them, overflow.

    The diagonal of a Gaussian is 1 however long the rows are, so their own lengths are checked too.
    """
    with np.errstate(over="ignore"):
        is_bounded = largest_entry(kernel) < LARGEST_ENTRY or (np.abs(matrix.diag) < LARGEST_ENTRY).all()
        if is_bounded and kernel.is_dot_product_form:
            is_bounded = matrix.items.largest_norm < LARGEST_ENTRY
    if not is_bounded:
        raise DataError(OVERFLOW)


def largest_entry(kernel: "Kernel") -> float:
    """A bound of |k(x, y)| whatever the rows; infinite if there is none."""
    return kernel.entry_bound(np.inf) if kernel.is_dot_product_form else np.inf


@dataclass(frozen=True)
class Budget:
    """Bytes for cached kernel rows, for the matrix of a working set, and for all of a fit."""

    cache: int
    working: int
    left: int = 0

    @classmethod
    def resolve(cls, memory_limit: int | str | None, cache_size: float | None, X: Rows) -> Self:
        """From the user's bound, or half of the free memory; cache_size is in megabytes.

        The needs of prepared rows and tiles are set aside first.
        """
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if memory_limit is None and n <= SMALL_FIT:
            # Asking the system takes as long as a small fit.
            left = ENOUGH_FOR_SMALL
        else:
            total = available_bytes() // 2 if memory_limit is None else parse_bytes(memory_limit)
            left = max(0, total - _prepared_bytes(X) - TILES - int(SLACK * max(0, total - 2 * TILES)))
        cache = left // 2 if cache_size is None else min(left // 2, int(cache_size * 2**20))
        # A working set may be built from a second block of its size.
        return cls(cache=cache, working=min(left // 6, MOST_WORKING), left=left)

    @staticmethod
    def limit_for(needed: int, X: Rows) -> int:
        """The `memory_limit` that leaves this many bytes beside rows, tiles and slack."""
        total = needed + _prepared_bytes(X) + TILES
        return total if total <= 2 * TILES else int((total - SLACK * 2 * TILES) / (1.0 - SLACK)) + 1


def _prepared_bytes(X: Rows) -> int:
    """Approximate size of the prepared rows, transposed panels included."""
    if sparse.issparse(X):
        return 2 * (X.data.nbytes + X.indices.nbytes) + 4 * X.shape[0] * min(X.shape[1], MOST_LINES)
    return 2 * X.size * 4 if isinstance(X, np.ndarray) else 0


class TrainingData:
    """Rows with a bound kernel, which can prepare any of them in any precision.

    `source` is what a user's function computed the matrix from, if one did, else None.
    """

    source = None

    if TYPE_CHECKING:
        _summary: Any

    def __init__(self, kernel: "Kernel", X: Rows) -> None:
        self.kernel = kernel
        self.X = X
        is_dense = isinstance(X, np.ndarray) and X.ndim == 2
        self._summary = summary(X) if kernel.is_translation_invariant and is_dense and len(X) else None
        self.origin = None if self._summary is None else origin_of(kernel, X, self._summary)

    def prepare(self, dtype: DTypeLike, indices: IndexArray | None = None) -> Any:
        """The rows, or those at `indices`; of a kernel matrix, its rows and columns."""
        if isinstance(self.kernel, Precomputed) and indices is not None:
            return self.kernel.prepare(self.X, dtype, check=False).take(indices)
        rows = self.X if indices is None else self._rows(indices)
        return self.kernel.prepare(rows, dtype, origin=self.origin, check=False)

    def subset(self, indices: IndexArray) -> "TrainingData":
        """The data of some of the items, with the same kernel; the data themselves for all of them."""
        if len(indices) == self.shape[0]:
            return self
        if isinstance(self.kernel, Precomputed):
            return TrainingData(self.kernel, np.ascontiguousarray(self.X[np.ix_(indices, indices)]))
        return TrainingData(self.kernel, self.support_vectors(indices))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the training data."""
        return self.X.shape if hasattr(self.X, "shape") else (len(self.X),)

    def support_vectors(self, indices: IndexArray) -> Rows:
        """The rows at `indices` as the user gave them; none for a precomputed matrix."""
        if isinstance(self.kernel, Precomputed):
            return np.empty((0, 0))
        rows = self._rows(indices)
        return rows.native if isinstance(rows, Frame) else rows

    def _rows(self, indices: IndexArray) -> Rows:
        return [self.X[i] for i in indices] if isinstance(self.X, list) else self.X[indices]

    def expansion_vectors(self, indices: IndexArray) -> Any:
        """The part of the rows at `indices` that a predictor needs."""
        if isinstance(self.kernel, Precomputed):
            return MatrixItems(None, indices, np.float64)
        return self._rows(indices)

    def diagonal(self, indices: IndexArray) -> FloatArray:
        """k(x_i, x_i) for the rows at `indices`, in double precision."""
        if isinstance(self.kernel, Precomputed):
            return np.asarray(self.X.diagonal(), dtype=np.float64)[indices]
        return self.kernel.diag_of(self.prepare(np.float64, indices))

    def squared_norm(self, indices: IndexArray, coefficients: FloatArray, n_jobs: int | None) -> float:
        """|sum_i c_i psi(x_i)|^2, in double precision."""
        total, parts = 0.0, tiles.spans(len(indices), FEW_AT_ONCE)
        for a, b in parts:
            left = self.prepare(np.float64, indices[a:b])
            for c, d in parts:
                right = left if c == a else self.prepare(np.float64, indices[c:d])
                found = tiles.product(self.kernel, left, right, coefficients[c:d], n_jobs)
                total += float(coefficients[a:b] @ found)
        return total

    def looks_indefinite(self, indices: IndexArray) -> bool:
        """Whether the kernel is found not to be positive semidefinite on the rows at `indices`, or on all if there are
        none: on a sample, if they are many. Most kernels are positive semidefinite by construction."""
        if self.kernel.is_psd is True:
            return False
        indices = indices if len(indices) else np.arange(self.shape[0])
        places = np.linspace(0, len(indices) - 1, min(len(indices), LOOKED_AT)).astype(np.int64)
        points = self.prepare(np.float64, indices[places])
        gram = tiles.gram(self.kernel, points, np.empty((len(places), len(places))))
        return is_seen_indefinite(gram, NEGLIGIBLE)

    def matrix(self, tol: float, gap_tol: float | None, budget: Budget, n_jobs: int | None) -> "KernelMatrix":
        """The kernel matrix of all rows, in the precision that the tolerances need."""
        if isinstance(self.kernel, Precomputed):
            return StoredMatrix.of(_square(self.X), n_jobs)
        dtype, far = self._precision(tol, gap_tol)
        matrix = EvaluatedMatrix(self.kernel, self.prepare, dtype, budget.cache, n_jobs, far)
        require_bounded(self.kernel, matrix)
        return matrix

    def precision(self, tol: float) -> type[np.floating[Any]]:
        """The precision in which entries of all rows are accurate to `tol`."""
        dtype, far = self._precision(tol, None)
        return dtype if far is None else np.float64

    def _precision(self, tol: float, gap_tol: float | None) -> tuple[type[np.floating[Any]], float | None]:
        """(sufficient precision, |x - origin|^2 beyond which entries of a row may err by more than `tol`)."""
        if not (self.kernel.is_dot_product_form and allows_single(self.shape[0], tol, gap_tol)):
            return np.float64, None
        largest, typical = self._norm_bounds()
        if not largest < LARGEST_ENTRY:
            raise DataError(OVERFLOW)
        try:
            largest_error, typical_error = (self.kernel.entry_error(norm, np.float32) for norm in (largest, typical))
            is_enough = typical_error <= tol and self.kernel.entry_bound(largest) < 1e15
        except OverflowError as error:
            raise DataError(OVERFLOW) from error
        if not is_enough:
            return np.float64, None
        return np.float32, typical if largest_error > tol else None

    def _norm_bounds(self) -> tuple[float, float]:
        """Upper bounds of |x - origin|^2: for all the rows, and for three quarters of them (four times the mean)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.origin is not None:
                means, moved_by = self._summary.means, self._summary.means - self.origin
                largest = largest_square(self._summary, self.origin)
                mean = self._summary.mean_square - means @ means + moved_by @ moved_by
            else:
                norms = squared_norms(self.X)
                largest, mean = norms.max(initial=0.0), norms.mean()
        return float(largest), float(min(largest, 4.0 * max(0.0, mean)))


def _square(X: Rows) -> Array:
    return X.toarray() if sparse.issparse(X) else X


def stored_if_small(matrix: "KernelMatrix", budget: Budget, stop: Callable[..., Any] | None = None) -> "KernelMatrix":
    """Compute all of a small matrix once; a large or expensive one is computed on demand."""
    if matrix.is_stored or not is_worth_storing(matrix, matrix.n, budget):
        return matrix
    return matrix.stored(stop)


def keeping_all(matrix: "KernelMatrix", budget: Budget, stop: Callable[..., Any] | None = None) -> "KernelMatrix":
    """The whole matrix in memory if it fits, for callers that need it several times."""
    if matrix.is_stored or matrix.n**2 * matrix.dtype.itemsize > budget.cache:
        return matrix
    try:
        return matrix.stored(stop)
    except (Stopped, MemoryError):
        # The next caller notices the limit, or manages with less.
        return matrix


def is_worth_storing(matrix: "KernelMatrix", n: int, budget: Budget) -> bool:
    """Whether n items of `matrix` are few enough, and entries cheap enough, to compute all."""
    return is_stored_whole(n, matrix.entry_cost) and n**2 * matrix.dtype.itemsize <= budget.cache


def whole_matrix(
    matrix: "KernelMatrix",
    indices: IndexArray,
    budget: Budget,
    limits: "Limits",
    solve: "Callable[[KernelMatrix], Solution]",
    empty: FloatArray,
    keeps: bool = True,
) -> Solution:
    """``solve(part)`` with the matrix of some points, all of it in memory if it fits.

    For methods that use every entry repeatedly; `empty` is their coefficients if the fit ends before they start.
    `keeps` is for those that store the matrix in their own way.
    """
    part = matrix if len(indices) == matrix.n else matrix.view(indices)
    try:
        part = keeping_all(part, budget, limits.stop) if keeps else part
        solution = solve(part)
    except (Stopped, MemoryError) as end:
        status = Status.MEMORY_LIMIT if isinstance(end, MemoryError) else limits.reached()
        return Solution(empty[:, 0] if empty.shape[1] == 1 else empty, empty, 0.0 * empty[0], status, 0)
    _release(part, matrix)
    return solution


def solve_all(
    problems: Sequence[Any],
    tasks: "Sequence[BinaryTask]",
    matrix: "KernelMatrix",
    budget: Budget,
    solve: "Callable[[Any, KernelMatrix, int], Solution]",
    limits: "Limits",
    n_jobs: int | None,
) -> list[Solution]:
    """Solve the two-class problems of a fit, each with its own view of the one matrix.

    Small ones run side by side on the cores, large ones one after the other on all cores.
    """
    solutions = cast(list[Solution], [None] * len(problems))
    shared = SharedMatrix(matrix, tasks, budget, limits.stop)

    def run(k: int) -> None:
        try:
            part = shared.part(tasks[k])
            solutions[k] = solve(problems[k], part, k)
            shared.done_with(part)
        except (Stopped, MemoryError) as end:
            # Stopped before the first step: the empty solution.
            status = Status.MEMORY_LIMIT if isinstance(end, MemoryError) else limits.reached()
            bias = problems[k].best_constant() if isinstance(problems[k], SignedRisk) else 0.0
            solutions[k] = Solution.empty(len(tasks[k].indices), status, bias)

    if len(tasks) == 1:
        run(0)
        shared.release()
        return solutions
    order = sorted(range(len(tasks)), key=lambda k: -len(tasks[k].indices))
    large = [k for k in order if len(tasks[k].indices) > policy.SIDE_BY_SIDE]
    so_far = itertools.count(1)
    # Observers should know from the start that the first problem is not the whole fit.
    limits.report_solved(0, len(tasks))

    def run_and_tell(k: int) -> None:
        run(k)
        limits.report_solved(next(so_far), len(tasks))

    for k in large:
        run_and_tell(k)
    run_parallel(run_and_tell, order[len(large) :], thread_count(n_jobs))
    shared.release()
    return solutions


def _own_blocks(tasks: "Sequence[BinaryTask]") -> int:
    """Entries of all diagonal class blocks, in pairs of classes."""
    sizes = {task.label[0]: np.count_nonzero(task.signs > 0) for task in tasks}
    sizes |= {task.label[-1]: np.count_nonzero(task.signs < 0) for task in tasks}
    return cast(int, sum(cast(Any, size) ** 2 for size in sizes.values()))


def _release(part: Any, matrix: "KernelMatrix") -> None:
    if part is not None and part.is_stored and part is not matrix:
        part.release()


class SharedMatrix:
    """The kernel matrix of a fit, and the part that each two-class problem needs."""

    if TYPE_CHECKING:
        _stored: KernelMatrix | None

    def __init__(
        self, matrix: "KernelMatrix", tasks: "Sequence[BinaryTask]", budget: Budget, stop: Callable[..., Any] | None
    ) -> None:
        self.matrix, self.budget, self.stop = matrix, budget, stop
        self.is_whole = all(len(task.indices) == matrix.n and is_ordered(task.indices) for task in tasks)
        self._blocks_fit = not self.is_whole and len(tasks) > 1 and self._has_room(tasks)
        self._stored = None
        self._lock = threading.Lock()

    def _has_room(self, tasks: "Sequence[BinaryTask]") -> bool:
        return _own_blocks(tasks) * self.matrix.dtype.itemsize <= self.budget.cache // 2

    def part(self, task: "BinaryTask") -> "KernelMatrix":
        """The matrix of one problem."""
        return self._everything() if self.is_whole else self._pair(task)

    def done_with(self, part: "KernelMatrix") -> None:
        """Release the memory of a problem that is solved, unless others share it."""
        if not self.is_whole:
            _release(part, self.matrix)

    def release(self) -> None:
        """Release memory after the fit."""
        _release(self._stored, self.matrix)

    def _everything(self) -> "KernelMatrix":
        with self._lock:
            if self._stored is None:
                self._stored = stored_if_small(self.matrix, self.budget, self.stop)
        return self._stored

    def _pair(self, task: "BinaryTask") -> "KernelMatrix":
        n = len(task.indices)
        if self.matrix.is_stored or not is_worth_storing(self.matrix, n, self.budget):
            return self.matrix.view(task.indices)
        positive = np.count_nonzero(task.signs > 0)
        if len(task.label) < 2 or not self._blocks_fit:
            return self.matrix.view(task.indices).stored(self.stop)
        return cast(Any, self.matrix).stored_pair(task.indices[:positive], task.indices[positive:], self.stop)
