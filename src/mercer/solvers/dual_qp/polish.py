"""Small problems, solved to rounding error: pair steps first, Newton steps at the end.

A few pair steps per point determine which coordinates stay at a bound. Given that,
the free ones solve a linear system, and one factorisation takes them to rounding error
(see `active_set_newton`). So the answer does not depend on the order of rows, on dense or sparse storage, or on
weights instead of repeated rows, and a badly scaled kernel does not cost millions
of pair steps.
"""

from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np

from mercer._jit.compile import UNBOUNDED
from mercer._types import Array, FloatArray
from mercer.kernels._types import Stop
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp.active_set_newton import EPSILON, EXACT, UNFINISHED, newton_steps
from mercer.solvers.dual_qp.block_steps import LEFT, NEWTON_SLICE, PAIR_STEPS, ROUNDING, solve_plain
from mercer.solvers.dual_qp.endings import NEGATIVE_CURVATURE, NEVER_BINDS, reach_of
from mercer.solvers.dual_qp.policy import Route
from mercer.solvers.dual_qp.working_set import Piece, WorkingSet
from mercer.solvers.limits import Limits
from mercer.solvers.result import Solution, Status, TracePoint
from mercer.solvers.tolerances import ended_by_rounding

# Most Newton steps per point: one suffices even from a bad start.
NEWTON_STEPS = 10
# Most restarts of Newton steps from a recomputed gradient.
REFINEMENTS = 3
# How often coordinates at a kink may switch to its other side.
MOST_PIECES = 20
# Points whose squared distance is below this, relative to the largest norm, are equal.
EQUAL = 1e-14
# Averaging over them may change the violation by this much: points equal up to rounding are not quite equal.
SAME = 1e-9

Gap: TypeAlias = Callable[[FloatArray, FloatArray], float]
"""The relative duality gap of coefficients and their gradient."""

Found: TypeAlias = tuple[FloatArray, FloatArray, float, bool]
"""(beta, gradient, violation, whether only rounding errors are left)."""


def solve(
    problem: DualProblem,
    matrix: StoredMatrix,
    *,
    tol: float,
    limits: Limits,
    convex: bool,
    start: FloatArray | None = None,
    gap: Gap | None = None,
    gap_tol: float | None = None,
) -> Solution | None:
    """A `Solution`, or None if the steps do not converge: an indefinite kernel, an unbounded dual."""
    solution = None
    if start is None and gap_tol is None and problem.is_plain and not limits.stop():
        solution = _solve_at_once(problem, matrix, tol, limits, convex)
    if solution is None:
        solution = _solve_in_steps(problem, matrix, tol, limits, convex, start, gap, gap_tol)
    return solution


def _solve_at_once(
    problem: DualProblem, matrix: StoredMatrix, tol: float, limits: Limits, convex: bool
) -> Solution | None:
    """The usual case in one compiled call; None if that does not converge."""
    n, values = len(problem), _with_ridge(problem, matrix)
    beta, gradient = np.empty(n), np.empty(values.shape[1])
    lower, upper = np.maximum(problem.lower, -UNBOUNDED), np.minimum(problem.upper, UNBOUNDED)
    steps, ending, violation, bias = solve_plain(
        values, problem.linear, lower, upper, convex, tol, limits.max_iter, beta, gradient
    )
    if ending == LEFT:
        return None
    gradient = gradient[:n]
    point = _only_point(problem, beta, gradient, bias, violation, steps, limits)
    return Solution(beta, gradient, bias, Status(ending), steps, trace=[point], rounding=0.0)


def _solve_in_steps(
    problem: DualProblem,
    matrix: StoredMatrix,
    tol: float,
    limits: Limits,
    convex: bool,
    start: FloatArray | None,
    gap: Gap | None,
    gap_tol: float | None,
) -> Solution | None:
    """Pair steps, then Newton steps; None if those do not converge."""
    n = len(problem)
    beta = problem.beginning(start)
    working = WorkingSet(problem, matrix, np.arange(n), beta, problem.gradient(matrix, beta))
    steps = working.run(0.9 * tol, limits.at_most(PAIR_STEPS * n), 0)
    status = _ending(working.violation, tol, limits, steps)
    has_diverged = not np.abs(working.beta).max() < NEVER_BINDS
    if has_diverged or (status is None and not convex):
        return None
    beta, gradient = _in_order(working, working.beta), _in_order(working, working.gradient[:n])
    violation = working.violation
    if status == Status.OPTIMAL and not convex and working.curvature < NEGATIVE_CURVATURE:
        status = Status.NOT_CONVEX
    elif status in (Status.OPTIMAL, None):
        beta, gradient, violation, is_exact = _finish(problem, working, limits.stop)
        is_solved = violation <= tol if gap_tol is None else cast(Gap, gap)(beta, gradient) <= gap_tol
        status = Status.OPTIMAL if is_solved else _short_of(violation, is_exact, problem)
    if status is None:
        return None
    if status == Status.OPTIMAL and _rounding(matrix, beta) > tol:
        status = Status.OPTIMAL_INACCURATE
    if problem.has_total:
        beta, gradient, violation = _shared_among_equals(problem, matrix, beta, gradient, violation)
    bias = problem.bias(beta, gradient)
    point = _only_point(problem, beta, gradient, bias, violation, steps, limits)
    return Solution(beta, gradient, bias, status, steps, trace=[point], rounding=0.0)


def _with_ridge(problem: DualProblem, matrix: StoredMatrix) -> Array:
    """K + R, its rows padded like those of the stored matrix; the matrix itself if there is no R."""
    if problem.ridge is None:
        return matrix.values
    values, places = matrix.values.copy(), np.arange(len(problem))
    values[places, places] += problem.ridge.astype(values.dtype)
    return values


def _only_point(
    problem: DualProblem,
    beta: FloatArray,
    gradient: FloatArray,
    bias: float | FloatArray,
    violation: float,
    steps: int,
    limits: Limits,
) -> TracePoint:
    """Report the single round to the callbacks; only then is its gap computed, which costs as much as many steps."""
    n, dual = len(problem), problem.objective(beta, gradient)
    gap = problem.relative_gap(beta, gradient, bias, dual) if limits.callbacks else None
    point = TracePoint(limits.seconds, steps, violation, dual, n, n, gap=gap, route=Route.EXACT.value)
    limits.report(point)
    return point


def _ending(violation: float, tol: float, limits: Limits, steps: int) -> Status | None:
    """The status of pair steps; None if they only ran out of steps."""
    if violation <= tol:
        return Status.OPTIMAL
    if limits.stop():
        return limits.reached()
    return Status.ITERATION_LIMIT if limits.iterations_left(steps) <= 0 else None


def _short_of(violation: float, is_exact: bool, problem: DualProblem) -> Status | None:
    """The status if rounding errors explain the remaining violation; None if something else may."""
    if not is_exact or reach_of(problem) > NEVER_BINDS:
        return None
    return ended_by_rounding(violation)


def _in_order(working: WorkingSet, values: Array) -> Array:
    """`values` of a working set that holds every coordinate, in the problem's order."""
    out = np.empty_like(values)
    out[working.indices] = values
    return out


def _finish(problem: DualProblem, working: WorkingSet, stop: Stop) -> Found:
    """(beta, gradient, violation, whether only rounding errors are left) after Newton steps.

    The previous point is kept if they do not improve it.
    """
    # Recomputed: rounding accumulates over many steps, most of all from a distant start.
    found = working.beta, *_afresh(problem, working, working.beta), False
    for _ in range(REFINEMENTS):
        beta, is_exact = _newton(problem, working, found, stop)
        if not np.abs(beta).max() < NEVER_BINDS:
            break
        # The next round removes the rounding accumulated in this one.
        gradient, violation = _afresh(problem, working, beta)
        if violation > found[2]:
            break
        found = beta, gradient, violation, is_exact
        if violation <= ROUNDING or not is_exact:
            break
    return _in_order(working, found[0]), _in_order(working, found[1]), *found[2:]


def _afresh(problem: DualProblem, working: WorkingSet, beta: FloatArray) -> tuple[FloatArray, float]:
    """(gradient, violation) of coefficients, from the full matrix."""
    gradient = problem.linear[working.indices] - working.values[:, : len(problem)] @ beta
    return gradient, problem.violation(_in_order(working, beta), _in_order(working, gradient))


def _newton(problem: DualProblem, working: WorkingSet, found: Found, stop: Stop) -> tuple[FloatArray, bool]:
    """(beta after Newton steps from the best point, whether they converged)."""
    n, beta, gradient = len(problem), found[0].copy(), working.gradient.copy()
    gradient[:n] = found[1]
    ending = UNFINISHED if found[2] > ROUNDING else EXACT
    bias = problem.bias(_in_order(working, beta), _in_order(working, gradient[:n])) if problem.kink else 0.0
    for _ in range(MOST_PIECES if problem.kink else 1):
        if ending == EXACT or stop():
            break
        ending = _newton_on_piece(problem, working, beta, gradient, bias, stop)
        if problem.kink:
            # Once the bias has moved, the other side of a kink may be the right one.
            ordered, slopes = _in_order(working, beta), _in_order(working, gradient[:n])
            bias = problem.bias(ordered, slopes)
            if ending == EXACT and problem.violation(ordered, slopes) > 10.0 * ROUNDING * max(1.0, float(np.abs(bias))):
                ending = UNFINISHED
    return beta, ending == EXACT


def _rounding(matrix: StoredMatrix, beta: FloatArray) -> float:
    """Approximate rounding error of the gradient: that of sums of terms of this size."""
    return 0.1 * EPSILON * float((np.abs(matrix.values[:, : matrix.n]) @ np.abs(beta)).max(initial=0.0))


def _shared_among_equals(
    problem: DualProblem, matrix: StoredMatrix, beta: FloatArray, gradient: FloatArray, violation: float
) -> tuple[FloatArray, FloatArray, float]:
    """(beta, gradient, violation) with the coefficients of equal points in proportion to their bounds: any split of
    their sum is optimal, and the one the steps end at is arbitrary."""
    n, K = len(problem), matrix.values[:, : len(problem)]
    diag = K.diagonal()
    distances = diag[:, None] + diag[None, :] - 2.0 * K
    # Relative to the two points themselves: relative to a distant outlier, all others would be equal.
    size = np.maximum(np.abs(diag)[:, None], np.abs(diag)[None, :])
    equal = (distances <= EQUAL * size) & (problem.linear[:, None] == problem.linear[None, :])
    reach = problem.upper - problem.lower
    # Only points whose boxes lie on the same side of zero can share.
    key = np.sign(problem.upper + problem.lower)
    equal &= key[:, None] == key[None, :]
    first = equal.argmax(axis=1)
    if (first == np.arange(n)).all():
        return beta, gradient, violation
    totals, reaches = np.bincount(first, beta), np.bincount(first, reach)
    shared = np.clip(reach * (totals / np.maximum(reaches, 1e-300))[first], problem.lower, problem.upper)
    gradient_then = problem.gradient(matrix, shared)
    violation_then = problem.violation(shared, gradient_then)
    if violation_then > violation + _rounding(matrix, shared) + SAME:
        return beta, gradient, violation
    return shared, gradient_then, violation_then


def _newton_on_piece(
    problem: DualProblem,
    working: WorkingSet,
    beta: FloatArray,
    gradient: FloatArray,
    bias: float | FloatArray,
    stop: Stop,
) -> int:
    """Newton steps within the piece where the dual is quadratic; `beta` and the padded `gradient` are updated."""
    n, ending, slices = len(problem), UNFINISHED, 0
    piece = Piece(problem, beta, working.lower, working.upper, gradient[:n], bias)
    groups = None if problem.groups is None else problem.groups[working.indices].astype(np.int64)
    n_groups = int(problem.has_equality) if problem.groups is None else 2
    free = (beta > piece.lower) & (beta < piece.upper)
    gradient[:n] -= piece.slope
    while ending == UNFINISHED and slices * NEWTON_SLICE < NEWTON_STEPS * n and not stop():
        ending = newton_steps(
            working.values,
            beta,
            gradient,
            piece.lower,
            piece.upper,
            free,
            groups,
            n_groups,
            ROUNDING,
            NEWTON_SLICE,
        )
        slices += 1
    gradient[:n] += piece.slope
    return ending
