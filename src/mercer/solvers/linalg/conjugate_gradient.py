"""Conjugate gradients with a preconditioner: the recursion, and the solution of A X = B with it.

Method (Hestenes & Stiefel 1952; Golub & Van Loan 2013, section 11.5). `Recursion` is the part that Newton methods
share: its user computes products with the matrix, accumulates the steps, and decides
when to stop. `solve` does this for several right-hand sides at once: each has its own step lengths, and all
share each product with the matrix. With a Cholesky factor in single precision as preconditioner, this is
iterative refinement that cannot diverge: two or three products in double precision give a solution in double
precision.

Cost of an iteration: one product of the matrix with k columns, and one use of the preconditioner.
Needs: a positive definite matrix and preconditioner, as functions of n by k arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._jit.threads import Stopped
from mercer._types import FloatArray
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.result import Status, TracePoint

if TYPE_CHECKING:
    from mercer.solvers._types import Operation
    from mercer.solvers.limits import Limits

# Iterations without a smaller residual after which only rounding is left.
PATIENCE = 25


def by_column(left: FloatArray, right: FloatArray) -> FloatArray:
    """Inner products by column, for independent right-hand sides."""
    return np.einsum("ij,ij->j", left, right)


def in_all(left: FloatArray, right: FloatArray) -> float:
    """One inner product: all columns form one unknown."""
    return float(np.sum(left * right))


class Recursion:
    """Residual r, direction p and size r'z, z the preconditioned residual.

    Parameters
    ----------
    residual : ndarray
        The initial residual: B, or B minus A times the start.
    precondition : callable
        ``precondition(r)`` is z, about A^-1 r.
    inner : callable
        ``inner(r, z)``, a number, or one for each column.
    ahead : ndarray, optional
        The first z, where it is known.
    """

    residual: FloatArray
    direction: FloatArray | Any
    size: Any
    _ahead: FloatArray | None

    def __init__(
        self,
        residual: FloatArray,
        precondition: "Operation",
        inner: Callable[[FloatArray, FloatArray], Any] = by_column,
        ahead: FloatArray | None = None,
    ) -> None:
        self.residual, self.precondition, self.inner = residual, precondition, inner
        self.direction, self.size, self._ahead = None, None, ahead

    def turn(self) -> Any:
        """Compute the next direction; r'z, roughly the squared error in the A-norm."""
        ahead = self.precondition(self.residual) if self._ahead is None else self._ahead
        size, self._ahead = self.inner(self.residual, ahead), None
        self.direction = ahead if self.size is None else ahead + _ratio(size, self.size) * self.direction
        self.size = size
        return size

    def advance(self, bent: FloatArray) -> Any:
        """Minimise the error along the direction p, given A p as `bent`; the step length.

        Raises NotPositiveDefinite if p' A p or r'z shows that the matrix or the preconditioner is not.
        """
        curvature = self.inner(bent, self.direction)
        if not np.all(((curvature > 0) & (self.size >= 0)) | (self.size == 0)):
            raise NotPositiveDefinite
        length = _ratio(self.size, curvature)
        self.residual = self.residual - length * bent
        return length


@dataclass
class LinearSolution:
    """X with A X = B, its residual, and how the method ended."""

    X: np.ndarray
    residual: np.ndarray  # |b - A x| / |b| for each column, by the recursion
    status: Status
    iterations: int
    trace: list


def solve(
    apply: "Operation",
    right: FloatArray,
    precondition: "Operation",
    tol: float,
    limits: "Limits",
    patience: int = PATIENCE,
) -> LinearSolution:
    """Solve A X = right until |b - A x| <= tol |b| for every column.

    Parameters
    ----------
    apply : callable
        ``apply(V)`` is A V in double precision; it may raise `Stopped`.
    right : ndarray of shape (n, k)
    precondition : callable
        ``precondition(R)`` is about A^-1 R.
    tol : float
    limits : Limits
    """
    run = _Run(apply, right, precondition)
    best, since = run.share, 0
    while (status := _ending(run, tol, limits, since, patience)) is None:
        try:
            run.step()
        except Stopped:
            status = limits.reached() or Status.INTERRUPTED
            break
        except NotPositiveDefinite:
            status = Status.STALLED
            break
        run.note(limits)
        since = 0 if run.share < best else since + 1
        best = min(best, run.share)
    return LinearSolution(run.best, run.best_share, status, run.iterations, run.trace)


def _ending(run: "_Run", tol: float, limits: "Limits", since: int, patience: int) -> Status | None:
    if run.share <= tol:
        return Status.OPTIMAL
    if run.iterations and limits.reached() is not None:
        return limits.reached()
    if limits.iterations_left(run.iterations) <= 0:
        return Status.ITERATION_LIMIT
    return Status.STALLED if since >= patience or not np.isfinite(run.share) else None


class _Run:
    """The recursion, x, and the best x so far, column by column."""

    X: FloatArray
    best: FloatArray
    best_share: FloatArray
    norms: FloatArray
    trace: list[TracePoint]

    def __init__(self, apply: "Operation", right: FloatArray, precondition: "Operation") -> None:
        self.apply = apply
        self.norms = np.linalg.norm(right, axis=0)
        self.norms[self.norms == 0] = 1.0
        self.X = np.zeros(right.shape)
        self.recursion = Recursion(np.array(right, dtype=np.float64), precondition)
        self.iterations, self.trace = 0, []
        self.best, self.best_share = self.X.copy(), np.full(right.shape[1], np.inf)
        self._measure()

    def step(self) -> None:
        self.recursion.turn()
        direction = self.recursion.direction
        self.X += self.recursion.advance(self.apply(direction)) * direction
        self.iterations += 1
        self._measure()

    def _measure(self) -> None:
        """|r| / |b| of each column, with `share` their maximum; the best x of each column is kept."""
        shares = np.linalg.norm(self.recursion.residual, axis=0) / self.norms
        self.share = float(shares.max(initial=0.0))
        better = shares <= self.best_share
        self.best[:, better] = self.X[:, better]
        self.best_share = np.where(better, shares, self.best_share)

    def note(self, limits: "Limits") -> None:
        """Report to the callbacks."""
        n, k = self.X.shape
        point = TracePoint(limits.seconds, self.iterations, self.share, np.nan, k, n)
        self.trace.append(point)
        limits.report(point)


def _ratio(a: Any, b: Any) -> Any:
    """a / b, and zero where a is zero: a solved column stays as it is."""
    if np.ndim(a) == 0:
        return a / b if a != 0 else 0.0
    return np.divide(a, b, out=np.zeros_like(a), where=(a != 0) & (b != 0))
