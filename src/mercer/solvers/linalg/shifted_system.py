"""Solve (K + lambda I) X = B for a kernel matrix K.

Method: if the triangle of K fits into memory, a Cholesky factorisation, in single precision if
the entries allow that, preconditions conjugate gradients whose products with K are in
double precision. Two or three of them give an answer as accurate as double precision
throughout, in half the time and a quarter of the memory. If single precision is too coarse, the
factor is computed in double; if K + lambda I is singular even there, lambda is raised by a jitter,
which is reported. If the triangle does not fit, the preconditioner has low rank.

If lambda is large enough that rounded entries hardly change the equations, and a low-rank preconditioner
leaves a few dozen iterations, a factorisation is not worth its n^3: the triangle is kept as integers
(`kernels.gram.fixed_point`), and conjugate gradients with sums in single precision are refined with sums in double.

Cost: n^3 / 3 and two or three products; or r rows of K, and a product for each iteration.
Needs: a `SymmetricOperator`, positive semidefinite. If it is not, its eigenvalues are used,
and the status says so.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._jit.threads import Stopped, one_blas_thread
from mercer._types import FloatArray
from mercer.kernels.gram.fixed_point import FixedPointOperator
from mercer.kernels.gram.symmetric_operator import EvaluatedOperator
from mercer.solvers.linalg import conjugate_gradient
from mercer.solvers.linalg.cholesky import NotPositiveDefinite, factorise
from mercer.solvers.linalg.dense_eigen import eigenpairs
from mercer.solvers.linalg.low_rank_preconditioner import low_rank
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator
    from mercer.solvers._types import Operation, Random
    from mercer.solvers.limits import Limits

METHODS = ("auto", "cholesky", "cg")
# Single precision is tried if its entries err by at most this share of the largest.
COARSEST_ENTRY = 1e-5
# A factor that needs more refinements than this is too coarse.
MOST_REFINEMENTS = 20
# From this many items on, iterating on a stored triangle may beat a factorisation.
ITERATED = 3000
# Error of single-precision sums, as a share of lambda, that refinement can repair.
ROUGH = 0.05
# Factor by which one refinement reduces the residual.
REFINED = 1e-4
# Most landmarks of the preconditioner.
LANDMARKS = 256
# Iterations, per item and column, that take as long as half a factorisation.
WORTHWHILE = 0.04
# Jitters tried, as multiples of n eps max K_ii.
JITTERS = (1e3, 1e5, 1e7)
_EPS = float(np.finfo(np.float64).eps)
SINGLE = float(np.finfo(np.float32).eps)


@dataclass
class RegularisedSolution:
    """X, how the method ended, and the jitter added to lambda."""

    X: np.ndarray
    status: Status
    method: str
    iterations: int = 0
    jitter: float = 0.0
    residual: np.ndarray | None = None
    inverse_diagonal: np.ndarray | None = None
    trace: list = field(default_factory=list)

    @property
    def known_residual(self) -> float:
        """An upper bound of |right - (K + lambda I) X| / |right|, where the solver has computed it."""
        return np.inf if self.residual is None else float(np.max(self.residual, initial=0.0))


@dataclass(frozen=True)
class Request:
    """Options of `solve`: tolerance, limits, memory in bytes, and method."""

    tol: float
    limits: "Limits"
    memory: float
    method: str = "auto"
    rank: int = 500
    rng: "Random | None" = None
    with_inverse: bool = False
    n_jobs: int | None = None

    def chosen(self, n: int) -> str:
        """The method for n items: direct if a triangle in single precision fits."""
        if self.method != "auto":
            return self.method
        return "cholesky" if self.factor_bytes(n) <= self.memory else "cg"

    def rank_for(self, n: int) -> int:
        """The rank of a preconditioner of n items: as asked for, if its columns and a copy of them fit."""
        return max(1, min(self.rank, int(self.memory / (2 * 8 * n))))

    def factor_bytes(self, n: int) -> int:
        """Bytes of the factorised triangle: in single precision, unless the inverse is required."""
        return n * n * (8 if self.with_inverse else 4) // 2


def solve(operator: "SymmetricOperator", right: FloatArray, shift: float, request: Request) -> RegularisedSolution:
    """Solve (K + shift I) X = right.

    Parameters
    ----------
    operator : SymmetricOperator
    right : ndarray of shape (n, k)
    shift : float
        Not negative.
    request : Request
    """
    method = request.chosen(operator.n)
    try:
        if shift == 0 and _is_zero(operator, request.limits.stop):
            return _nothing(right, method, request)
        if method == "cg":
            return _by_iterations(operator, right, shift, request)
        found = _by_refined_iterations(operator, right, shift, request)
        return found if found is not None else _by_factor(operator, right, shift, request)
    except Stopped:
        return RegularisedSolution(np.zeros(right.shape), request.limits.reached() or Status.INTERRUPTED, method)
    except MemoryError:
        return RegularisedSolution(np.zeros(right.shape), Status.MEMORY_LIMIT, method)


def _is_zero(operator: "SymmetricOperator", stop: "Stop") -> bool:
    """Whether K = 0: then no jitter is relatively small. A zero diagonal alone may belong to an indefinite K."""
    if operator.diag.any():
        return False
    return not operator.product(np.random.default_rng(0).normal(size=(operator.n, 1)), stop).any()


def _nothing(right: FloatArray, method: str, request: Request) -> RegularisedSolution:
    """X = 0, the minimum-norm solution: with K = 0 and no penalty every X is optimal, and fits only a zero target."""
    status = Status.OPTIMAL_INACCURATE if right.any() else Status.OPTIMAL
    inverse = np.zeros(len(right)) if request.with_inverse else None
    return RegularisedSolution(np.zeros(right.shape), status, method, inverse_diagonal=inverse)


def _by_factor(operator: "SymmetricOperator", right: FloatArray, shift: float, request: Request) -> RegularisedSolution:
    if not request.with_inverse and shift > 0 and operator.n > 1000 and operator.suits_single(COARSEST_ENTRY):
        found = _attempt(operator, right, shift, 0.0, np.float32, request)
        if found is not None and found.status != Status.STALLED:
            return found
    scale = operator.n * _EPS * float(operator.diag.max(initial=0.0))
    for jitter in (0.0, *(factor * scale for factor in JITTERS)):
        found = _attempt(operator, right, shift, jitter, np.float64, request)
        if found is not None:
            return found
    return _by_eigenvalues(operator, right, shift, request)


def _attempt(
    operator: "SymmetricOperator", right: FloatArray, shift: float, jitter: float, dtype: Any, request: Request
) -> RegularisedSolution | None:
    """Factor K + (shift + jitter) I in `dtype`; None if it is not positive definite."""
    triangle = operator.lower(dtype, request.limits.stop)
    triangle.set_diagonal(operator.diag + (shift + jitter))
    try:
        factor = factorise(triangle, request.n_jobs, request.limits.stop)
    except NotPositiveDefinite:
        return None
    limits = request.limits.at_most(MOST_REFINEMENTS) if dtype == np.float32 else request.limits
    total = shift + jitter
    # Single-precision errors that are large in a few rows only take a few more products.
    patience = 8 if dtype == np.float32 else 2
    found = _certain(operator, right, total, factor.solve, request, limits, patience)
    status = _judged(found, jitter, dtype)
    inverse = factor.inverse_diagonal(request.n_jobs, request.limits.stop) if request.with_inverse else None
    return RegularisedSolution(
        found.X, status, "cholesky", found.iterations, jitter, found.residual, inverse, found.trace
    )


def _certain(
    operator: "SymmetricOperator",
    right: FloatArray,
    shift: float,
    precondition: "Operation",
    request: Request,
    limits: "Limits",
    patience: int,
) -> conjugate_gradient.LinearSolution:
    """Conjugate gradients, with the residual recomputed where rounding may have misled them.

    The recursive residual is accurate to eps |A| |x|, and |A| is at most the trace of A.
    """
    apply = _shifted(operator, shift, request)
    found = conjugate_gradient.solve(apply, right, precondition, request.tol, limits, patience)
    sizes = np.linalg.norm(right, axis=0)
    sizes[sizes == 0] = 1.0
    doubt = _EPS * (np.abs(operator.summed_diag).sum() + shift) * np.linalg.norm(found.X, axis=0) / sizes
    if found.status != Status.OPTIMAL or (found.residual + doubt <= request.tol).all():
        found.residual = found.residual + doubt
        return found
    left = right - apply(found.X)
    more = conjugate_gradient.solve(apply, left, precondition, 1e-3, limits, patience)
    for X in (found.X + more.X, found.X):
        found.X, found.residual = X, np.linalg.norm(right - apply(X), axis=0) / sizes
        if (found.residual <= request.tol).all():
            return found
    found.status = Status.STALLED
    return found


def _judged(found: conjugate_gradient.LinearSolution, jitter: float, dtype: Any) -> Status:
    if found.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
        return found.status
    if found.status == Status.OPTIMAL:
        return Status.OPTIMAL_INACCURATE if jitter else Status.OPTIMAL
    # A single-precision factor that fails is replaced by one in double precision.
    return Status.STALLED if dtype == np.float32 else Status.OPTIMAL_INACCURATE


def _by_iterations(
    operator: "SymmetricOperator", right: FloatArray, shift: float, request: Request
) -> RegularisedSolution:
    scale = operator.n * _EPS * float(operator.diag.max(initial=0.0))
    jitter = 0.0 if shift > scale else scale
    total = shift + jitter
    preconditioner = low_rank(operator, request.rank_for(operator.n), total, request.limits.stop, request.rng)
    found = _certain(operator, right, total, preconditioner, request, request.limits, patience=200)
    status = Status.OPTIMAL_INACCURATE if jitter and found.status == Status.OPTIMAL else found.status
    return RegularisedSolution(found.X, status, "cg", found.iterations, jitter, found.residual, None, found.trace)


def _by_refined_iterations(
    operator: "SymmetricOperator", right: FloatArray, shift: float, request: Request
) -> RegularisedSolution | None:
    """Conjugate gradients on a fixed-point triangle; None if a factorisation is preferable."""
    is_worth_it = request.method == "auto" and not request.with_inverse and operator.n >= ITERATED
    if not (is_worth_it and isinstance(operator, EvaluatedOperator)):
        return None
    if operator.n * float(operator.diag.max()) * SINGLE > ROUGH * shift:
        return None
    kept = FixedPointOperator.of(operator, request.limits.stop)
    most = int(WORTHWHILE * operator.n / right.shape[1])
    if kept is None or most < 1:
        return None
    rank, rng = min(request.rank, LANDMARKS), np.random.default_rng(0)
    # BLAS threads woken between products with K spend more time waiting than working.
    with one_blas_thread():
        precondition = low_rank(kept, rank, shift, request.limits.stop, rng, np.float32)
        return _refined(kept, right, shift, precondition, request, most)


def _refined(
    kept: FixedPointOperator, right: FloatArray, shift: float, precondition: "Operation", request: Request, most: int
) -> RegularisedSolution | None:
    """Iterative refinement with corrections by conjugate gradients; None after `most` iterations."""
    limits, done, trace, method = request.limits, 0, [], "cg"
    sizes = np.linalg.norm(right, axis=0)
    sizes[sizes == 0] = 1.0
    X, left = np.zeros(right.shape), right

    def rough(columns: FloatArray) -> FloatArray:
        return kept.rough_product(columns, limits.stop) + shift * columns

    exact: SymmetricOperator = kept
    while True:
        found = conjugate_gradient.solve(rough, left, precondition, REFINED, limits.after(done).at_most(most - done))
        X, done, trace = X + found.X, done + found.iterations, trace + found.trace
        if limits.reached() is not None or limits.iterations_left(done) <= 0:
            status = limits.reached() or Status.ITERATION_LIMIT
            return RegularisedSolution(X, status, method, done, 0.0, None, None, trace)
        if done >= most or found.status == Status.STALLED:
            return None
        doubt = kept.noise * np.linalg.norm(X, axis=0) / sizes
        if (doubt > 0.5 * request.tol).any():
            # Beyond fixed-point accuracy, kernel values are recomputed from the items.
            exact, doubt = kept.exact, 0.0
        left = right - _shifted(exact, shift, request)(X)
        residual = np.linalg.norm(left, axis=0) / sizes
        if (residual + doubt <= request.tol).all():
            return RegularisedSolution(X, Status.OPTIMAL, method, done, 0.0, residual + doubt, None, trace)


def _by_eigenvalues(
    operator: "SymmetricOperator", right: FloatArray, shift: float, request: Request
) -> RegularisedSolution:
    """The minimum-norm stationary point, for K that is not positive semidefinite."""
    stop = request.limits.stop
    values, vectors = eigenpairs(operator.lower(np.float64, stop).square(), stop)
    moved = values + shift
    kept = np.abs(moved) > operator.n * _EPS * np.abs(moved).max(initial=0.0)
    inverse = np.divide(1.0, moved, out=np.zeros_like(moved), where=kept)
    X = vectors @ (inverse[:, None] * (vectors.T @ right))
    diagonal = (vectors**2) @ inverse if request.with_inverse else None
    return RegularisedSolution(X, Status.NOT_CONVEX, "eigenvalues", inverse_diagonal=diagonal)


def _shifted(operator: "SymmetricOperator", shift: float, request: Request) -> "Operation":
    def apply(columns: FloatArray) -> FloatArray:
        return operator.product(columns, request.limits.stop) + shift * columns

    return apply
