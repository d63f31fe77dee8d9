r"""The support vector machine as a quadratic program for a general solver.

The textbook approach (Magdon-Ismail's QP(Q, p, A, c)): write the problem down and hand it over. Here
it goes to Clarabel, an interior point method (Goulart & Chen 2024), which shares no code
with the other solvers and so can check them. There are two forms of the same problem:

*dual*, one variable per point: min ½ β'(K + s11' + R)β - p'β over the box, with Σβ = 0;

*primal*, if K = LL' has a low rank r: min ½|w|² + Σ u_i ξ_i with ⟨w, L_i⟩ + b + ξ_i >= p_i.

Cost of an iteration, of which there are 10 to 30: n³/3 for the dual, n r² for the primal, and
n² numbers of memory for the first. For a few thousand points. An interior point ends inside
the box; the coordinates at a bound are read off, and pair steps finish from there.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._jit.threads import Stopped
from mercer._types import FloatArray
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.dual_qp.working_set import WorkingSet
from mercer.solvers.linalg.clarabel_qp import MOST_ITERATIONS, solve_quadratic_program
from mercer.solvers.linalg.dense_eigen import eigenvalues
from mercer.solvers.linalg.pivoted_cholesky import partial_factor
from mercer.solvers.result import SOLVED, Solution, Status

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.kernel_matrix import KernelMatrix, StoredMatrix
    from mercer.problems.svm.signed_dual import DualProblem
    from mercer.solvers.limits import Limits
    from mercer.solvers.linalg.clarabel_qp import QuadraticSolution

# A sixth of the actual need, since `memory` is that share: 80 bytes per pair were observed, most in Clarabel's factor.
BYTES_A_PAIR = 16
# Beyond this many points, factoring the full matrix takes minutes.
LARGEST = 5_000
# The primal form pays if the rank is at most this share of the points.
LOW_RANK = 0.2
# Residual of the diagonal at which the factor is complete.
RANK_TOL = 1e-13


def solve(
    problem: "DualProblem",
    matrix: "KernelMatrix",
    *,
    tol: float = 1e-3,
    limits: "Limits",
    convex: bool = True,
    start: FloatArray | None = None,
    gap: Callable[..., float] | None = None,
    gap_tol: float | None = None,
    memory: int = 2**30,
    **finish: Any,
) -> Solution:
    """As `decomposition.solve`. An interior point method starts in the middle of the box, so `start` is only used by
    the pair steps that take over should it fail."""
    problem.require_one_zero_sum("qp")
    n = len(problem)
    if n > LARGEST:
        raise ParameterError(f'solver="qp" is for at most {LARGEST} points, got {n}; solver="smo" has no such bound')
    if BYTES_A_PAIR * n * n > memory:
        return Solution.empty(n, Status.MEMORY_LIMIT)
    stored = matrix.in_double().stored(limits.stop)
    if not convex:
        _require_convex(stored.values[:, :n], limits.stop)
    beta, iterations, is_solved = _interior_point(problem, stored, limits)
    if limits.stop():
        return _as_far_as_it_came(problem, stored, beta, limits.reached(), iterations)
    begin = _polished(problem, stored, beta, limits.stop) if is_solved else start
    solution = solve_dual(
        problem,
        stored,
        tol=tol,
        limits=limits.after(iterations),
        convex=convex,
        start=begin,
        gap=gap,
        gap_tol=gap_tol,
        memory=memory,
        **finish,
    )
    solution.iterations += iterations
    return solution


def _as_far_as_it_came(
    problem: "DualProblem", stored: "StoredMatrix", beta: FloatArray, status: Status, iterations: int
) -> Solution:
    beta = problem.feasible(beta)
    gradient = problem.gradient(stored, beta)
    return Solution(beta, gradient, problem.bias(beta, gradient), status, iterations)


def _polished(problem: "DualProblem", stored: "StoredMatrix", beta: FloatArray, stop: "Stop") -> FloatArray:
    """`beta` after Newton steps on its face: ten digits become sixteen."""
    beta = problem.feasible(beta)
    whole = WorkingSet(problem, stored, np.arange(len(beta)), beta, problem.gradient(stored, beta))
    whole.newton(stop)
    whole.newton(stop)  # removes the remaining rounding
    return whole.beta


def _require_convex(K: FloatArray, stop: "Stop") -> None:
    lowest, *_, highest = eigenvalues(K, stop)
    if lowest < -1e-9 * max(abs(highest), 1e-300):
        raise ParameterError(
            f'solver="qp" needs a positive semidefinite kernel, but its smallest eigenvalue here is {lowest:.3g}; '
            'solver="smo" trains with it'
        )


def _interior_point(problem: "DualProblem", stored: "StoredMatrix", limits: "Limits") -> tuple[FloatArray, int, bool]:
    """(beta, with coordinates set to the bounds they tend to; iterations; whether it was solved)."""
    K = stored.values[:, : stored.n]
    floor = RANK_TOL * max(stored.diag.max(initial=0.0), 1e-300)
    factor, is_partial = partial_factor(stored, int(LOW_RANK * stored.n), floor, limits.stop)
    if limits.stop():
        raise Stopped
    ends = {"stop": limits.stop, "max_iter": min(MOST_ITERATIONS, limits.iterations_left(0))}
    try:
        beta, residual, found = _dual_form(problem, K, ends) if is_partial else _primal_form(problem, factor, ends)
    except DataError:
        # To Clarabel a box spanning many orders of magnitude looks infeasible, so this is left to pair steps.
        return np.zeros(stored.n), 0, False
    return _snapped(problem, beta, residual), found.iterations, found.status in SOLVED


def _dual_form(problem: "DualProblem", K: FloatArray, ends: Any) -> "tuple[FloatArray, FloatArray, QuadraticSolution]":
    n = len(problem)
    Q = K + problem.shift
    if problem.ridge is not None:
        Q = Q + np.diag(problem.ridge)
    bounded = np.flatnonzero(np.isfinite(problem.upper))
    identity = sparse.identity(n, format="csr")
    sums = sparse.csr_matrix(np.ones((int(problem.has_equality), n)))
    A = sparse.vstack([sums, identity, -identity[bounded]])
    c = np.concatenate([np.zeros(sums.shape[0]), problem.lower, -problem.upper[bounded]])
    found = solve_quadratic_program(Q, -problem.linear, A, c, n_equalities=sums.shape[0], **ends)
    bias = -found.multipliers[0] if problem.has_equality else 0.0
    return found.u, problem.linear - Q @ found.u - bias, found


def _primal_form(
    problem: "DualProblem", L: FloatArray, ends: Any
) -> "tuple[FloatArray, FloatArray, QuadraticSolution]":
    """Variables (w, b, ξ), with a slack for each side of p_i on which point i can be penalised."""
    n = len(problem)
    features = np.column_stack([L, *([np.full(n, problem.shift**0.5)] if problem.shift else [])])
    sides = np.concatenate([np.flatnonzero(problem.upper > 0), np.flatnonzero(problem.lower < 0)])
    signs = np.concatenate(
        [np.ones(np.count_nonzero(problem.upper > 0)), -np.ones(np.count_nonzero(problem.lower < 0))]
    )
    costs = np.where(signs > 0, problem.upper[sides], -problem.lower[sides])
    squared = np.zeros(len(sides)) if problem.ridge is None else 1.0 / problem.ridge[sides]
    soft = np.flatnonzero(np.isfinite(costs) | (squared > 0))
    linear_costs = np.where(np.isfinite(costs[soft]), costs[soft], 0.0)
    n_weights, n_bias = features.shape[1], int(problem.has_equality)
    Q = sparse.diags(np.concatenate([np.ones(n_weights), np.zeros(n_bias), squared[soft]]))
    p = np.concatenate([np.zeros(n_weights + n_bias), linear_costs])
    slack = sparse.identity(len(sides), format="csc")[:, soft]
    margins = sparse.hstack([signs[:, None] * features[sides], signs[:, None][:, :n_bias], slack])
    positive = sparse.hstack([sparse.csr_matrix((len(soft), n_weights + n_bias)), sparse.identity(len(soft))])
    c = np.concatenate([signs * problem.linear[sides], np.zeros(len(soft))])
    found = solve_quadratic_program(Q, p, sparse.vstack([margins, positive]), c, **ends)
    beta: Any = np.bincount(sides, weights=signs * found.multipliers[: len(sides)], minlength=n)
    bias = found.u[n_weights] if n_bias else 0.0
    residual = problem.linear - features @ found.u[:n_weights] - bias
    return beta, residual if problem.ridge is None else residual - problem.ridge * beta, found


def _snapped(problem: "DualProblem", beta: FloatArray, residual: FloatArray) -> FloatArray:
    """`beta` with each coordinate set to a bound if it is closer to it than the multiplier of that bound is to zero
    (strict complementarity)."""
    scale = max(np.abs(beta).max(initial=0.0), 1e-300)
    size = max(np.abs(residual).max(initial=0.0), 1e-300)
    at_lower = (residual < 0) & ((beta - problem.lower) / scale < -residual / size)
    at_upper = (residual > 0) & ((problem.upper - beta) / scale < residual / size)
    return np.where(at_lower, problem.lower, np.where(at_upper, problem.upper, beta))
