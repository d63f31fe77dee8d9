"""The largest eigenvalues of a symmetric operator, and their vectors.

Methods: `krylov` is block Lanczos with thick restarts and full orthogonalisation (Golub & Underwood
1977; Wu & Simon 2000), begun from random vectors; `randomised` takes a fixed number of power steps
(Halko, Martinsson & Tropp 2011); `dense` is LAPACK's on the whole matrix.

Cost: of an iteration of `krylov`, one product with a block of columns and 4 n m b operations for a
basis of m vectors; `dense` takes 4/3 n^3 operations to begin with, most of them slow.
Needs: a `SymmetricOperator`; `dense` needs memory for two matrices.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from mercer._jit.threads import Stopped, one_blas_thread
from mercer.solvers.result import Status, TracePoint

# The residual that tol=0 stands for, relative to the largest eigenvalue.
FINEST = 1e-10
# Values below this share of the largest are rounding (times n).
_EPS = float(np.finfo(np.float64).eps)
# Vectors that keep less than this share of their length are in the basis already.
_DEPENDENT = 1e-10


@dataclass
class EigenSolution:
    """Eigenvalues in descending order, vectors in columns, residuals |A v - value v|."""

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    status: Status
    iterations: int
    trace: list = field(default_factory=list)

    @classmethod
    def none(cls, n, count, status):
        """Zeros: what there is before the first step."""
        return cls(np.zeros(count), np.zeros((n, count)), np.zeros(count), status, 0)


def dense(operator, count, stop=None):
    """By LAPACK, from the whole matrix."""
    n = operator.n
    values = operator.lower(np.float64, stop).square()
    found, vectors = linalg.eigh(
        values, subset_by_index=[n - count, n - 1], overwrite_a=True, check_finite=False, driver="evr"
    )
    order = slice(None, None, -1)
    residuals = np.full(count, n * _EPS * max(float(np.abs(found).max(initial=0.0)), 0.0))
    return EigenSolution(found[order], np.ascontiguousarray(vectors[:, order]), residuals, Status.OPTIMAL, 1)


def randomised(operator, count, power, rng, stop=None, oversample=10):
    """By `power` products with a random block, and one more for the values."""
    width = min(operator.n, count + oversample)
    Q = linalg.qr(rng.standard_normal((operator.n, width)), mode="economic")[0]
    for _ in range(power):
        Q = linalg.qr(operator.product(Q, stop), mode="economic")[0]
    values, vectors, residuals = _ritz(Q, operator.product(Q, stop))
    kept = slice(0, count)
    return EigenSolution(values[kept], vectors[:, kept], residuals[kept], Status.OPTIMAL, power + 1)


def _ritz(V, AV):
    """Ritz values, vectors and residuals of a basis, largest first."""
    values, S = _small_eigen(V.T @ AV)
    vectors = V @ S
    return values, vectors, np.linalg.norm(AV @ S - vectors * values, axis=0)


def _small_eigen(T):
    values, S = np.linalg.eigh((T + T.T) / 2)
    return values[::-1], S[:, ::-1]


def krylov(operator, count, tol, rng, limits):
    """The `count` largest eigenvalues, each with a residual of at most tol times the largest.

    An operator that errs says so by its `noise`; where that is too much, its `exact` goes on from what was found.
    """
    tol = max(float(tol), FINEST)
    found = _lanczos(operator, count, tol, rng, limits)
    if found.status != Status.OPTIMAL or 2.0 * operator.noise <= tol * found.values[0]:
        return found
    more = _lanczos(operator.exact, count, tol, rng, limits, found.vectors)
    more.iterations, more.trace = more.iterations + found.iterations, found.trace + more.trace
    return more


def _lanczos(operator, count, tol, rng, limits, start=None):
    """The same to any `tol`; `start`, orthonormal columns, is taken in the place of random vectors."""
    run = _Lanczos(operator, count, rng, limits.stop, start)
    status = None
    while status is None:
        try:
            run.grow()
        except Stopped:
            status = limits.reached() or Status.INTERRUPTED
            break
        run.note(limits)
        status = _ending(run, tol, limits)
    return run.solution(status)


def _ending(run, tol, limits):
    if run.is_done(tol):
        return Status.OPTIMAL
    if limits.reached() is not None:
        return limits.reached()
    return Status.ITERATION_LIMIT if limits.iterations_left(run.iterations) <= 0 else None


class _Lanczos:
    """An orthonormal basis V, the product A V, and the block that is to join them."""

    def __init__(self, operator, count, rng, stop, start=None):
        self.operator, self.count, self.rng, self.stop = operator, count, rng, stop
        self.width = min(operator.n, max(8, min(32, count // 2)))
        self.most = min(operator.n, 2 * count + 8 * self.width)
        self.V = np.empty((operator.n, 0))
        self.AV = np.empty((operator.n, 0))
        self.T = np.empty((0, 0))
        self.next = self._random_block() if start is None else start
        self.iterations, self.probes, self.trace = 0, 0, []
        self.values = self.S = self.residuals = None

    def _random_block(self):
        block = self.rng.standard_normal((self.operator.n, self.width))
        return self._orthonormal(block, floor=0.0)

    def _orthonormal(self, block, floor):
        """What `block` adds to the basis, orthonormal; nothing where it adds no more than `floor`."""
        sizes = np.linalg.norm(block, axis=0)
        for _ in range(2):
            block = block - self.V @ (self.V.T @ block)
        kept = np.linalg.norm(block, axis=0) > np.maximum(_DEPENDENT * sizes, floor)
        block = block[:, kept][:, : self.operator.n - self.V.shape[1]]
        if block.shape[1] == 0:
            return block
        Q, R, _ = linalg.qr(block, mode="economic", pivoting=True)
        sound = np.abs(R.diagonal()) > max(_DEPENDENT * np.abs(R[0, 0]), floor)
        Q = Q[:, sound]
        return linalg.qr(Q - self.V @ (self.V.T @ Q), mode="economic")[0] if Q.shape[1] else Q

    def grow(self):
        """Add the next block, and find out what follows it."""
        if self.next.shape[1] == 0:
            self.next = self._random_block()
            self.probes += 1
        product = self.operator.product(self.next, self.stop)
        self.iterations += 1
        # Blocks of a few columns: to wake a second thread of BLAS takes longer than the work.
        with one_blas_thread():
            self._append(product)
            self.values, self.S = _small_eigen(self.T)
            R = self.AV @ self.S[:, : self.count] - (self.V @ self.S[:, : self.count]) * self.values[: self.count]
            self.residuals = np.linalg.norm(R, axis=0)
            self.next = self._orthonormal(product, self._rounding())
            if self.V.shape[1] + self.width > self.most:
                self._restart()

    def _append(self, product):
        """The next block to V, its product to A V, and what follows of them to T = V'AV."""
        self.V, self.AV = np.hstack([self.V, self.next]), np.hstack([self.AV, product])
        border = self.V.T @ product
        old = len(self.T)
        self.T = np.block([[self.T, border[:old]], [border[:old].T, border[old:]]])

    def _rounding(self):
        return 10.0 * _EPS * max(float(np.abs(self.values).max(initial=0.0)), 0.0)

    def _restart(self):
        """Keep the best Ritz vectors; with the next block they span all that matters."""
        S = self.S[:, : min(self.count + self.width, self.V.shape[1])]
        self.V, self.AV = self.V @ S, self.AV @ S
        self.values, self.S = self.values[: S.shape[1]], np.eye(S.shape[1])
        self.T = np.diag(self.values)
        self.residuals = self.residuals[: self.count]

    @property
    def scale(self):
        return max(float(np.abs(self.values).max(initial=0.0)), np.finfo(np.float64).tiny)

    def is_done(self, tol):
        if self.V.shape[1] >= self.operator.n:
            return True
        if len(self.residuals) < self.count or (self.residuals > tol * self.scale).any():
            return False
        # A basis that nothing follows may have missed copies of an eigenvalue: new random vectors
        # must have had their chance.
        return self.next.shape[1] > 0 or self.probes > 0

    def note(self, limits):
        share = float(self.residuals.max(initial=0.0)) / self.scale
        point = TracePoint(limits.seconds, self.iterations, share, np.nan, self.width, self.V.shape[1])
        self.trace.append(point)
        limits.report(point)

    def solution(self, status):
        if self.values is None:
            return EigenSolution.none(self.operator.n, self.count, status)
        kept = slice(0, self.count)
        return EigenSolution(
            self.values[kept], self.V @ self.S[:, kept], self.residuals[kept], status, self.iterations, self.trace
        )
