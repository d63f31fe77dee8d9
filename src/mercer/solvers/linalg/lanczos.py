"""The largest eigenvalues of a symmetric operator, and their vectors.

Methods: `krylov` is block Lanczos with thick restarts and full orthogonalisation (Golub & Underwood
1977; Wu & Simon 2000), started from random vectors; `randomised` takes a fixed number of power steps
(Halko, Martinsson & Tropp 2011); `dense` is LAPACK's on the whole matrix.

Cost: an iteration of `krylov` takes one product with a block of columns and 4 n m b operations for a
basis of m vectors; `dense` takes at least 4/3 n^3 operations, most of them slow. If the largest
eigenvalues are too close together for `krylov`, it stops when it has cost a few times as much as `dense`.
Needs: a `SymmetricOperator` of moderate size; `dense` needs memory for two matrices (`dense_memory`).
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import linalg

from mercer._jit.threads import Stopped, one_blas_thread
from mercer._types import FloatArray
from mercer.solvers.linalg.dense_eigen import eigenpairs, is_definite
from mercer.solvers.result import Status, TracePoint

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator
    from mercer.solvers.limits import Limits

# The residual for tol=0, relative to the largest eigenvalue.
FINEST = 1e-10
# Eigenvalues below this share of the largest (times n) are rounding.
_EPS = float(np.finfo(np.float64).eps)
# Vectors that keep less than this share of their length lie in the basis already.
_DEPENDENT = 1e-10
# Most products per item, and most blocks, for `krylov`.
_PATIENCE, _BLOCKS = 2, 50


@dataclass
class EigenSolution:
    """Eigenvalues in descending order, vectors in columns, residuals |A v - value v|.

    `least` is the smallest v'Av seen with |v| = 1; if negative, A is not positive semidefinite.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    status: Status
    iterations: int
    trace: list = field(default_factory=list)
    least: float = np.inf

    @classmethod
    def none(cls, n: int, count: int, status: Status) -> Self:
        """Zeros: the state before the first step."""
        return cls(np.zeros(count), np.zeros((n, count)), np.zeros(count), status, 0)


def dense_memory(n: int, count: int) -> int:
    """Peak memory in bytes of `dense` for n items, including what is made of its vectors afterwards."""
    return 8 * n * max(2 * n, n + 2 * count, 5 * count)


def dense(
    operator: "SymmetricOperator", count: int, stop: "Stop | None" = None, margin: float | None = None
) -> EigenSolution:
    """By LAPACK, from the whole matrix.

    With a `margin` all eigenvalues are computed if one is below minus it, and `least` is the smallest of them.
    """
    n, matrix = operator.n, operator.lower(np.float64, stop).square()
    if margin is not None and not is_definite(matrix, margin, stop):
        del matrix
        return _leading(dense(operator, n, stop), count)
    found, vectors = eigenpairs(matrix, stop, count=count, driver="evr")
    if len(found) < count:
        # Asked for some of many equal eigenvalues, LAPACK may return fewer.
        found, vectors = eigenpairs(operator.lower(np.float64, stop).square(), stop)
        found, vectors = found[n - count :], vectors[:, n - count :]
    order = slice(None, None, -1)
    residuals = np.full(count, n * _EPS * float(np.abs(found).max(initial=0.0)))
    vectors, least = np.ascontiguousarray(vectors[:, order]), float(found.min(initial=np.inf))
    return EigenSolution(found[order], vectors, residuals, Status.OPTIMAL, 1, least=least)


def _leading(found: EigenSolution, count: int) -> EigenSolution:
    kept = slice(0, count)
    return replace(found, values=found.values[kept], vectors=found.vectors[:, kept], residuals=found.residuals[kept])


def randomised(
    operator: "SymmetricOperator",
    count: int,
    power: int,
    rng: np.random.Generator,
    stop: "Stop | None" = None,
    oversample: int = 10,
) -> EigenSolution:
    """By `power` products with a random block, and one more for the values."""
    width = min(operator.n, count + oversample)
    Q = linalg.qr(rng.standard_normal((operator.n, width)), mode="economic")[0]
    least = np.inf
    for _ in range(power):
        product = operator.product(Q, stop)
        least = min(least, float(_small_eigen(Q.T @ product)[0][-1]))
        Q = linalg.qr(product, mode="economic")[0]
    values, vectors, residuals = _ritz(Q, operator.product(Q, stop))
    least = min(least, float(values[-1]))
    return _leading(EigenSolution(values, vectors, residuals, Status.OPTIMAL, power + 1, least=least), count)


def _ritz(V: FloatArray, AV: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ritz values, vectors and residuals of a basis, largest first."""
    values, S = _small_eigen(V.T @ AV)
    vectors = V @ S
    return values, vectors, np.linalg.norm(AV @ S - vectors * values, axis=0)


def _small_eigen(T: FloatArray) -> tuple[FloatArray, FloatArray]:
    values, S = np.linalg.eigh((T + T.T) / 2)
    return values[::-1], S[:, ::-1]


def krylov(
    operator: "SymmetricOperator", count: int, tol: float, rng: np.random.Generator, limits: "Limits"
) -> EigenSolution:
    """The `count` largest eigenvalues, each with a residual of at most tol times the largest.

    An inexact operator states its `noise`; if that is too much, its `exact` counterpart continues from the result. The
    status is STALLED if `dense` would have been faster.
    """
    tol = max(float(tol), FINEST)
    found = _lanczos(operator, count, tol, rng, limits)
    is_exact = 2.0 * operator.noise <= tol * float(np.abs(found.values).max(initial=0.0))
    return found if found.status != Status.OPTIMAL or is_exact else _refined(found, operator, tol, rng, limits)


def _refined(
    found: EigenSolution, operator: Any, tol: float, rng: np.random.Generator, limits: "Limits"
) -> EigenSolution:
    more = _lanczos(operator.exact, len(found.values), tol, rng, limits, found.vectors)
    more.iterations, more.trace = more.iterations + found.iterations, found.trace + more.trace
    more.least = min(more.least, found.least)
    return more


def _lanczos(
    operator: "SymmetricOperator",
    count: int,
    tol: float,
    rng: np.random.Generator,
    limits: "Limits",
    start: FloatArray | None = None,
) -> EigenSolution:
    """The same to any `tol`; `start`, orthonormal columns, replaces the random vectors."""
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


def _ending(run: "_Lanczos", tol: float, limits: "Limits") -> Status | None:
    if run.is_done(tol):
        return Status.OPTIMAL
    if limits.reached() is not None:
        return limits.reached()
    if limits.iterations_left(run.iterations) <= 0:
        return Status.ITERATION_LIMIT
    return Status.STALLED if run.is_out_of_patience() else None


class _Lanczos:
    """An orthonormal basis V, the product A V, and the next block."""

    V: FloatArray
    AV: FloatArray
    T: FloatArray
    next: FloatArray
    values: FloatArray | Any
    S: FloatArray | Any
    residuals: FloatArray | Any
    trace: list[TracePoint]

    def __init__(
        self,
        operator: "SymmetricOperator",
        count: int,
        rng: np.random.Generator,
        stop: "Stop",
        start: FloatArray | None = None,
    ) -> None:
        self.operator, self.count, self.rng, self.stop = operator, count, rng, stop
        self.width = min(operator.n, max(8, min(32, count // 2)))
        self.most = min(operator.n, 2 * count + 8 * self.width)
        self.V = np.empty((operator.n, 0))
        self.AV = np.empty((operator.n, 0))
        self.T = np.empty((0, 0))
        self.next = self._random_block() if start is None else start
        self.iterations, self.probes, self.trace = 0, 0, []
        self.values = self.S = self.residuals = None
        # Largest magnitude and smallest value of all Ritz values so far; restarts drop the unwanted ones.
        self.scale, self.least = float(np.finfo(np.float64).tiny), np.inf

    def _random_block(self) -> FloatArray:
        block = self.rng.standard_normal((self.operator.n, self.width))
        return self._orthonormal(block, floor=0.0)

    def _orthonormal(self, block: FloatArray, floor: float) -> FloatArray:
        """An orthonormal basis of what `block` adds to V; empty if it adds no more than `floor`."""
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

    def grow(self) -> None:
        """Add the next block, and compute its successor."""
        if self.next.shape[1] == 0:
            self.next = self._random_block()
            self.probes += 1
        product = self.operator.product(self.next, self.stop)
        self.iterations += 1
        # Blocks have few columns: waking a second BLAS thread takes longer than the work.
        with one_blas_thread():
            self._append(product)
            self.values, self.S = _small_eigen(self.T)
            self.scale = max(self.scale, float(np.abs(self.values).max(initial=0.0)))
            self.least = min(self.least, float(self.values.min(initial=np.inf)))
            R = self.AV @ self.S[:, : self.count] - (self.V @ self.S[:, : self.count]) * self.values[: self.count]
            self.residuals = np.linalg.norm(R, axis=0)
            self.next = self._orthonormal(product, 10.0 * _EPS * self.scale)
            if self.V.shape[1] + self.width > self.most:
                self._restart()

    def _append(self, product: FloatArray) -> None:
        """Append the next block to V, its product to A V, and the resulting rows to T = V'AV."""
        self.V, self.AV = np.hstack([self.V, self.next]), np.hstack([self.AV, product])
        border = self.V.T @ product
        old = len(self.T)
        self.T = np.block([[self.T, border[:old]], [border[:old].T, border[old:]]])

    def _restart(self) -> None:
        """Keep the best Ritz vectors; with the next block they span everything relevant."""
        S = self.S[:, : min(self.count + self.width, self.V.shape[1])]
        self.V, self.AV = self.V @ S, self.AV @ S
        self.values, self.S = self.values[: S.shape[1]], np.eye(S.shape[1])
        self.T = np.diag(self.values)
        self.residuals = self.residuals[: self.count]

    def is_out_of_patience(self) -> bool:
        return self.iterations * self.width > _PATIENCE * self.operator.n + _BLOCKS * self.width

    def is_done(self, tol: float) -> bool:
        if self.V.shape[1] >= self.operator.n:
            return True
        if len(self.residuals) < self.count or (self.residuals > tol * self.scale).any():
            return False
        # A closed basis may have missed copies of an eigenvalue, so new random vectors are tried first.
        return self.next.shape[1] > 0 or self.probes > 0

    def note(self, limits: "Limits") -> None:
        share = float(self.residuals.max(initial=0.0)) / self.scale
        point = TracePoint(limits.seconds, self.iterations, share, np.nan, self.width, self.V.shape[1])
        self.trace.append(point)
        limits.report(point)

    def solution(self, status: Status) -> EigenSolution:
        if self.values is None:
            return EigenSolution.none(self.operator.n, self.count, status)
        found = EigenSolution(self.values, self.V @ self.S[:, : self.count], self.residuals, status, self.iterations)
        found.trace, found.least = self.trace, self.least
        return _leading(found, self.count)
