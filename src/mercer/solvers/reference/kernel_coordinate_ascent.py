"""Dual coordinate ascent on a kernel matrix (Hsieh et al. 2008, with kernels).

One coefficient at a time, in a new random order in each pass, is set to its best value while all
others are fixed. Without a bias, or with a penalised one, the dual has only its box and this is
all. A free bias adds the constraint Σβ = 0, which no single coefficient can keep: it is priced at
a multiplier b, a violation also costs ρ(Σβ)²/2, and after each pass the multiplier moves by ρΣβ
(Hestenes 1969). When the violation is small, pair steps make the constraint exact and end at `tol`.

Cost of a pass: n for each coefficient that changes. Needs the matrix in memory; for a linear kernel
and many points, `mercer.LinearSVC` does the same on the features.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.dual_qp.working_set import WorkingSet
from mercer.solvers.limits import Limits
from mercer.solvers.result import Solution, Status, TracePoint
from mercer.solvers.tolerances import SMALLEST_CURVATURE

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix, StoredMatrix
    from mercer.problems.svm.signed_dual import DualProblem

# Passes stop at this multiple of the tolerance, where pair steps take over.
HANDOVER = 10.0
MOST_PASSES = 200


@jit
def _step_back(row: Array, step: float, gradient: FloatArray) -> None:
    vector_loop()
    for k in range(gradient.shape[0]):
        gradient[k] -= step * row[k]


@jit
def one_pass(
    matrix: Array,
    order: IndexArray,
    lower: FloatArray,
    upper: FloatArray,
    beta: FloatArray,
    gradient: FloatArray,
    price: float,
    penalty: float,
    total: float,
) -> tuple[float, float]:
    """Optimise the coordinates in `order`, one after the other.

    `gradient` is p - Q beta; the price and the penalty of the sum are added here. Returns the sum of beta and the
    largest violation encountered.
    """
    worst = 0.0
    for i in order:
        slope = gradient[i] - price - penalty * total
        can_rise, can_fall = beta[i] < upper[i], beta[i] > lower[i]
        push = slope if (slope > 0.0 and can_rise) or (slope < 0.0 and can_fall) else 0.0
        worst = max(worst, abs(push))
        if push == 0.0:
            continue
        curvature = max(matrix[i, i] + penalty, SMALLEST_CURVATURE)
        target = min(max(beta[i] + slope / curvature, lower[i]), upper[i])
        step = target - beta[i]
        beta[i] = target
        total += step
        _step_back(matrix[i], step, gradient)
    return total, worst


def solve(
    problem: "DualProblem",
    matrix: "KernelMatrix",
    *,
    tol: float = 1e-3,
    limits: Limits | None = None,
    start: FloatArray | None = None,
    memory: int = 2**30,
    **finish: Any,
) -> Solution:
    """As `decomposition.solve`."""
    problem.require_one_zero_sum("dual_cd")
    n, limits = len(problem), limits or Limits()
    if 8 * n * n > memory:
        return Solution.empty(n, Status.MEMORY_LIMIT)
    stored = matrix.in_double().stored(limits.stop)
    beta = np.zeros(n) if start is None else problem.feasible(start)
    steps, trace = _passes(problem, stored, beta, tol, limits)
    solution = solve_dual(problem, stored, tol=tol, limits=limits.after(steps), start=beta, memory=memory, **finish)
    solution.iterations += steps
    solution.trace[:0] = trace
    return solution


def _passes(
    problem: "DualProblem", stored: "StoredMatrix", beta: FloatArray, tol: float, limits: Limits
) -> tuple[int, list[TracePoint]]:
    """Update `beta` in place; the number of steps, and a trace of the passes."""
    n = len(problem)
    whole = WorkingSet(problem, stored, np.arange(n), beta, problem.gradient(stored, beta))
    rng, penalty, price = np.random.default_rng(0), 0.0, 0.0
    if problem.has_equality:
        penalty = max(float(whole.diag[:n].mean()), SMALLEST_CURVATURE)
    trace, total, done = [], float(beta.sum()), 0
    for _ in range(MOST_PASSES):
        order = rng.permutation(n)[: limits.iterations_left(done)]
        total, violation = one_pass(
            whole.values, order, whole.lower, whole.upper, beta, whole.gradient, price, penalty, total
        )
        done += len(order)
        price += penalty * total
        violation = max(violation, penalty * abs(total))
        trace.append(TracePoint(limits.seconds, done, violation, problem.objective(beta, whole.gradient[:n]), n, n))
        limits.report(trace[-1])
        if violation <= HANDOVER * tol or limits.stop() or limits.iterations_left(done) <= 0:
            break
    return done, trace
