"""Conjugate gradients with a preconditioner, for several right-hand sides at once.

Method (Hestenes & Stiefel 1952; Golub & Van Loan 2013, section 11.5): every right-hand side has its
own step lengths, and all share each product with the matrix. With a Cholesky factor in single
precision as preconditioner this is iterative refinement that cannot diverge: two or three products
in double precision give a solution in double precision.

Cost of an iteration: one product of the matrix with k columns, and one use of the preconditioner.
Needs: a positive definite matrix and preconditioner, as functions of n by k arrays.
"""

from dataclasses import dataclass

import numpy as np

from mercer._jit.threads import Stopped
from mercer.solvers.result import Status, TracePoint

# So many iterations without a smaller residual, and rounding is all that is left.
PATIENCE = 25


@dataclass
class LinearSolution:
    """X with A X = B, how far it is from that, and how the method ended."""

    X: np.ndarray
    residual: np.ndarray  # |b - A x| / |b| for each column, as the recursion has it
    status: Status
    iterations: int
    trace: list


def solve(apply, right, precondition, tol, limits, patience=PATIENCE):
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
    best, since = run.share(), 0
    while (status := _ending(run, tol, limits, since, patience)) is None:
        try:
            run.step()
        except Stopped:
            status = limits.reached() or Status.INTERRUPTED
            break
        run.note(limits)
        since = 0 if run.share() < best else since + 1
        best = min(best, run.share())
    return LinearSolution(run.best, run.best_share, status, run.iterations, run.trace)


def _ending(run, tol, limits, since, patience):
    if (run.shares() <= tol).all():
        return Status.OPTIMAL
    if run.iterations and limits.reached() is not None:
        return limits.reached()
    if limits.iterations_left(run.iterations) <= 0:
        return Status.ITERATION_LIMIT
    return Status.STALLED if since >= patience or run.is_broken else None


class _Run:
    """The state of the method: x, residual r, direction p, and r'z of the last step."""

    def __init__(self, apply, right, precondition):
        self.apply, self.precondition = apply, precondition
        self.norms = np.linalg.norm(right, axis=0)
        self.norms[self.norms == 0] = 1.0
        self.X, self.R = np.zeros(right.shape), np.array(right, dtype=np.float64)
        self.P, self.rho = None, None
        self.iterations, self.trace, self.is_broken = 0, [], False
        self.best, self.best_share = self.X.copy(), self.shares()

    def shares(self):
        """|r| / |b| of each column."""
        return np.linalg.norm(self.R, axis=0) / self.norms

    def share(self):
        return float(self.shares().max(initial=0.0))

    def step(self):
        Z = self.precondition(self.R)
        rho = np.einsum("ij,ij->j", self.R, Z)
        if self.P is None:
            self.P = Z.copy()  # Z may be the residual itself, which changes below
        else:
            self.P = Z + _ratio(rho, self.rho) * self.P
        AP = self.apply(self.P)
        length = _ratio(rho, np.einsum("ij,ij->j", self.P, AP))
        if not np.isfinite(length).all() or (length < 0).any():
            self.is_broken = True
            length = np.where(np.isfinite(length) & (length > 0), length, 0.0)
        self.X += length * self.P
        self.R -= length * AP
        self.rho = rho
        self.iterations += 1
        self._keep_best()

    def _keep_best(self):
        shares = self.shares()
        better = shares <= self.best_share
        self.best[:, better] = self.X[:, better]
        self.best_share = np.where(better, shares, self.best_share)

    def note(self, limits):
        """Tell the callbacks."""
        point = TracePoint(limits.seconds, self.iterations, self.share(), np.nan, self.R.shape[1], len(self.R))
        self.trace.append(point)
        limits.report(point)


def _ratio(a, b):
    """a / b, and zero where a is: a column that is solved stays as it is."""
    return np.divide(a, b, out=np.zeros_like(a), where=(a != 0) & (b != 0))
