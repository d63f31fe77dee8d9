"""A small problem with a free bias, from start to finish in one compiled call.

Pair steps, then Newton steps to rounding error, as in `polish`, for the usual case: a box and
one zero sum. A fit of a hundred points takes less time than setting it up step by step in Python
would. If entries are rounded to single precision, Newton steps would be needlessly exact, so
pair steps alone go to the tolerance.
"""

import numpy as np
from numba.core import types
from numba.extending import overload

from mercer._jit.compile import UNBOUNDED, jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray
from mercer.solvers.dual_qp.active_set_newton import EXACT, newton_steps
from mercer.solvers.dual_qp.bias import common_bias
from mercer.solvers.dual_qp.endings import NEGATIVE_CURVATURE, NEVER_BINDS
from mercer.solvers.dual_qp.pair_steps import MASK, pair_steps, set_masks
from mercer.solvers.tolerances import INACCURATE

# Pair steps per point before Newton steps are tried; three are typical.
PAIR_STEPS = 20
# Newton steps take over at this multiple of the tolerance: most of the eventual free points are free by then, and each
# of the others costs one Newton step. If that is too early, pair steps continue to the tolerance.
TAKE_OVER = 20.0
# Newton steps between checks of the limits.
NEWTON_SLICE = 16
# Most restarts of single-precision steps from a recomputed gradient.
MOST_REFRESHES = 4
# They aim for this share of the tolerance, since their accumulated gradient is rounded.
STEP_SHARE = 0.9
# Pairs of small classes: a twentieth of the tolerance costs few extra steps and the relative gap of a small objective
# needs it; but no less than single-precision gradients can resolve.
FINE_SHARE, FINEST = 0.05, 5e-5
# Single-precision steps per point before giving up.
STEPS_FOR_EACH = 50
# A violation this small counts as zero.
ROUNDING = 1e-11
UNDERFLOW = 1e-290
# Endings: values of `Status`, or LEFT for the caller to solve.
OPTIMAL, OPTIMAL_INACCURATE, ITERATION_LIMIT, STALLED, NOT_CONVEX, LEFT = 0, 1, 2, 5, 6, -1


@jit
def begin(
    matrix: Array,
    linear: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    beta: FloatArray,
    gradient: Array,
    diag: Array,
    rise: Array,
    fall: Array,
) -> None:
    """The `pair_steps` state at beta = 0."""
    m = matrix.shape[0]
    for i in range(m):
        beta[i], gradient[i], diag[i] = 0.0, linear[i], matrix[i, i]
        set_masks(i, beta, lower, upper, 0.0, rise, fall)
    for i in range(m, matrix.shape[1]):
        gradient[i], diag[i], rise[i], fall[i] = 0.0, 1.0, -MASK, MASK


@jit
def gradient_afresh(matrix: Array, linear: FloatArray, beta: FloatArray, gradient: Array) -> float:
    """Recompute gradient = linear - matrix beta; the largest |beta|."""
    m, largest = beta.shape[0], 0.0
    for i in range(m):
        gradient[i] = linear[i]
    for k in range(m):
        if beta[k] != 0.0:
            _subtract(matrix[k], beta[k], gradient[:m])
            largest = max(largest, abs(beta[k]))
    return largest


@jit
def _subtract(row: Array, factor: float, values: Array) -> None:
    vector_loop()
    for i in range(values.shape[0]):
        values[i] -= factor * row[i]


@jit
def margin(beta: FloatArray, gradient: Array, lower: FloatArray, upper: FloatArray) -> tuple[float, float]:
    """(violation, bias) as in `DualProblem.violation` and `DualProblem.bias`."""
    highest, lowest = -UNBOUNDED, UNBOUNDED
    for i in range(beta.shape[0]):
        if beta[i] < upper[i]:
            highest = max(highest, gradient[i])
        if beta[i] > lower[i]:
            lowest = min(lowest, gradient[i])
    bias = common_bias(beta, gradient, lower, upper)
    # Underflowing kernel values leave a residue of their own size.
    return max(0.0, highest - lowest), bias if abs(bias) > UNDERFLOW else 0.0


@jit
def solve_plain(
    matrix: Array,
    linear: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    convex: bool,
    tol: float,
    max_iter: int,
    beta: FloatArray,
    gradient: Array,
) -> tuple[int, int, float, float]:
    """Solve a small problem from beta = 0. Returns (steps, ending, violation, bias).

    Parameters
    ----------
    matrix : ndarray (m, whole vectors)
        K + R, rows padded with zeros.
    linear, lower, upper : ndarray (m,)
        The linear term and finite bounds.
    convex : bool
        Whether the kernel is known to be positive semidefinite.
    max_iter : int
        Bound on the pair steps; -1 for none.
    beta : ndarray (m,)
    gradient : ndarray, as long as a row of `matrix`
        Receive the solution.
    """
    m, width = matrix.shape
    # One allocation, since every form of it takes time to compile.
    room = np.empty((7, width))
    diag, scores, rise, fall = room[0], room[1], room[2], room[3]
    begin(matrix, linear, lower, upper, beta, gradient, diag, rise, fall)
    allowed, taken = PAIR_STEPS * m if max_iter < 0 else min(PAIR_STEPS * m, max_iter), 0
    fine = STEP_SHARE * tol
    enough = TAKE_OVER * tol if convex else fine
    while True:
        steps, highest, lowest, curvature = pair_steps(
            matrix, gradient, beta, lower, upper, 0.0, diag, rise, fall, enough, allowed - taken, scores
        )
        taken += steps
        largest = gradient_afresh(matrix, linear, beta, gradient)
        violation, bias = margin(beta, gradient, lower, upper)
        stepped = highest - lowest <= max(tol, enough)
        if not stepped and taken == max_iter:
            return taken, ITERATION_LIMIT, violation, bias
        if not largest < NEVER_BINDS or not (stepped or convex):
            return taken, LEFT, violation, bias
        if not convex and curvature < NEGATIVE_CURVATURE:
            return taken, NOT_CONVEX, violation, bias
        if violation <= ROUNDING:
            return taken, OPTIMAL if violation <= tol else OPTIMAL_INACCURATE, violation, bias
        exact, violation, bias = _finish(matrix, linear, lower, upper, violation, bias, beta, gradient, room)
        if violation <= tol:
            return taken, OPTIMAL, violation, bias
        if enough == fine or not stepped:
            break
        enough = fine
        for i in range(m):
            set_masks(i, beta, lower, upper, 0.0, rise, fall)
    if not exact or _reach(lower, upper) > NEVER_BINDS:
        return taken, LEFT, violation, bias
    return taken, OPTIMAL_INACCURATE if violation <= INACCURATE else STALLED, violation, bias


@jit
def _finish(
    matrix: Array,
    linear: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    violation: float,
    bias: float,
    beta: FloatArray,
    gradient: Array,
    room: FloatArray,
) -> tuple[bool, float, float]:
    """Newton steps to rounding error: (whether they converged, violation, bias); the better point is in `beta`."""
    m, width = matrix.shape
    better, free, moved = room[4, :m], room[5, :m], room[6]
    for i in range(width):
        moved[i] = gradient[i]
    for i in range(m):
        better[i], free[i] = beta[i], lower[i] < beta[i] < upper[i]
    exact = newton_steps(matrix, better, moved, lower, upper, free, None, 1, ROUNDING, NEWTON_SLICE) == EXACT
    if gradient_afresh(matrix, linear, better, moved) < NEVER_BINDS:
        improved, its_bias = margin(better, moved, lower, upper)
        if improved <= violation:
            for i in range(m):
                beta[i], gradient[i] = better[i], moved[i]
            return exact, improved, its_bias
    return exact, violation, bias


@jit
def _reach(lower: FloatArray, upper: FloatArray) -> float:
    """The widest box."""
    reach = 0.0
    for i in range(lower.shape[0]):
        reach = max(reach, upper[i] - lower[i])
    return reach


@jit
def step_plain(
    matrix: Array,
    linear: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    convex: bool,
    tol: float,
    max_iter: int,
    beta: FloatArray,
    gradient: Array,
) -> tuple[int, int, float, float]:
    """`solve_plain` for a single-precision matrix, by pair steps alone and to `tol`.

    A possibly indefinite kernel is left to the caller. `gradient` is in double precision.
    """
    m, width, single = matrix.shape[0], matrix.shape[1], matrix.dtype.type
    rough, diag, scores = np.empty(width, matrix.dtype), np.empty(width, matrix.dtype), np.empty(width, matrix.dtype)
    rise, fall = np.empty(width, matrix.dtype), np.empty(width, matrix.dtype)
    begin(matrix, linear, lower, upper, beta, rough, diag, rise, fall)
    most = STEPS_FOR_EACH * m if max_iter < 0 else min(STEPS_FOR_EACH * m, max_iter)
    taken, violation, bias = 0, 0.0, 0.0
    enough = single(max(FINE_SHARE * tol, min(STEP_SHARE * tol, FINEST)))
    for _ in range(MOST_REFRESHES if convex else 0):
        steps, _, _, _ = pair_steps(
            matrix, rough, beta, lower, upper, 0.0, diag, rise, fall, enough, most - taken, scores
        )
        taken += steps
        gradient_afresh(matrix, linear, beta, gradient)
        violation, bias = margin(beta, gradient, lower, upper)
        if violation <= tol:
            return taken, OPTIMAL, violation, bias
        if taken == max_iter:
            return taken, ITERATION_LIMIT, violation, bias
        for i in range(m):
            rough[i] = gradient[i]
    return taken, LEFT, violation, bias


def _rounded(matrix: Array) -> bool | None:
    """True for a matrix in single precision, None for one in double: a branch that asks for None is compiled or not."""
    return None if matrix.dtype == np.float64 else True


@overload(_rounded)
def _rounded_by_type(matrix):
    return (lambda matrix: None) if matrix.dtype == types.float64 else (lambda matrix: True)  # noqa: ARG005


@jit
def solve_in_precision(
    matrix: Array,
    linear: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    convex: bool,
    tol: float,
    max_iter: int,
    beta: FloatArray,
    gradient: Array,
) -> tuple[int, int, float, float]:
    """`solve_plain` for a matrix in double precision, `step_plain` for one in single."""
    return _solve_or_step(matrix, linear, lower, upper, convex, tol, max_iter, beta, gradient, _rounded(matrix))


@jit
def _solve_or_step(
    matrix: Array,
    linear: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    convex: bool,
    tol: float,
    max_iter: int,
    beta: FloatArray,
    gradient: Array,
    is_rounded: bool | None,
) -> tuple[int, int, float, float]:
    if is_rounded is None:
        return solve_plain(matrix, linear, lower, upper, convex, tol, max_iter, beta, gradient)
    return step_plain(matrix, linear, lower, upper, convex, tol, max_iter, beta, gradient)
