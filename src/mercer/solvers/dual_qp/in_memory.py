"""A problem of up to a few thousand points whose matrix is in memory: pair steps, straight through.

What `decomposition` needs for more (working sets, parked coordinates, samples to begin with) costs as much
here as the steps do, and a fit of many classes has hundreds of such problems.

Cost of a step: two passes over the points, reading two rows of the matrix. Needs of a problem: a
box around zero and one sum that is zero (`DualProblem.is_plain`).
"""

import numpy as np

from mercer._jit.compile import UNBOUNDED
from mercer.solvers.dual_qp.block_steps import MOST_REFRESHES, STEP_SHARE, STEPS_FOR_EACH, begin, margin
from mercer.solvers.dual_qp.pair_steps import DIVERGED, pair_steps
from mercer.solvers.dual_qp.policy import Route
from mercer.solvers.dual_qp.state import rounding_error
from mercer.solvers.dual_qp.working_set import PATIENCE
from mercer.solvers.limits import SLICE_SECONDS
from mercer.solvers.result import Solution, Status, TracePoint


def solve(problem, matrix, tol, limits, is_trusted=False):
    """A `Solution`; its status is None where somebody else must go on from it.

    Parameters
    ----------
    problem : DualProblem
        A plain one, over a kernel that is positive semidefinite.
    matrix : StoredMatrix
    tol : float
        Largest violation of the KKT conditions at the end, for entries in double precision.
    limits : Limits
    is_trusted : bool
        Whether entries in single precision are known to be fine enough for `tol`.
    """
    steps = _Steps(problem, matrix)
    for _ in range(MOST_REFRESHES):
        status = steps.run(tol, limits)
        gradient = problem.gradient(matrix, steps.beta)
        violation, bias = margin(steps.beta, gradient, steps.lower, steps.upper)
        slack = tol - violation
        if status != Status.OPTIMAL or (is_trusted and slack >= 0.0):
            break
        if _holds(problem, matrix, steps.beta, gradient, bias, slack):
            break
        status = None
        steps.refresh(gradient)
    beta = problem.balanced(steps.beta)
    point = only_point(problem, beta, gradient, bias, violation, steps.taken, limits)
    return Solution(beta, gradient, bias, status, steps.taken, trace=[point])


def only_point(problem, beta, gradient, bias, violation, steps, limits, route=Route.IN_MEMORY.value):
    """The one round, told to who watches; only then is its gap worth the time, which is that of many steps."""
    n, dual = len(problem), problem.objective(beta, gradient)
    gap = problem.relative_gap(beta, gradient, bias, dual) if limits.callbacks else None
    point = TracePoint(limits.seconds, steps, violation, dual, n, n, gap=gap, route=route)
    limits.report(point)
    return point


def _holds(problem, matrix, beta, gradient, bias, slack):
    """Whether rounded entries leave the violation within the tolerance; `slack` is what is left of it."""
    if slack < 0.0 or matrix.dtype == np.float64:
        return slack >= 0.0
    return 2.0 * rounding_error(problem, matrix, beta, gradient, bias) <= slack


class _Steps:
    """Pair steps from beta = 0, in slices of time."""

    def __init__(self, problem, matrix):
        self.values, n = with_ridge(problem, matrix), len(problem)
        self.lower, self.upper = np.maximum(problem.lower, -UNBOUNDED), np.minimum(problem.upper, UNBOUNDED)
        self.beta = np.empty(n)
        self.gradient, self.diag, self.rise, self.fall, self.scores = np.empty(
            (5, self.values.shape[1]), self.values.dtype
        )
        begin(
            self.values,
            problem.linear,
            self.lower,
            self.upper,
            self.beta,
            self.gradient,
            self.diag,
            self.rise,
            self.fall,
        )
        self.taken = 0

    def refresh(self, gradient):
        """Go on from a gradient without the rounding errors of many steps."""
        self.gradient[: len(gradient)] = gradient

    def run(self, tol, limits):
        """Steps until their violation is small: OPTIMAL, a limit's status, or None where they were many or diverged."""
        # After so many, or the patience of a working set, somebody else goes on.
        single, most = self.values.dtype.type, max(PATIENCE, int(STEPS_FOR_EACH * len(self.beta)))
        pace = max(64, int(SLICE_SECONDS * 1e9 / (4.0 * self.values.shape[1] + 1000.0)))
        while True:
            if limits.stop():
                return limits.reached()
            allowed = min(pace, limits.iterations_left(self.taken), most - self.taken)
            steps, highest, lowest, _ = pair_steps(
                self.values,
                self.gradient,
                self.beta,
                self.lower,
                self.upper,
                0.0,
                self.diag,
                self.rise,
                self.fall,
                single(STEP_SHARE * tol),
                max(0, allowed),
                self.scores,
            )
            self.taken += steps
            if steps < allowed or highest - lowest <= STEP_SHARE * tol:
                return Status.OPTIMAL if highest - lowest < DIVERGED else None
            if limits.iterations_left(self.taken) <= 0:
                return Status.ITERATION_LIMIT
            if self.taken >= most:
                return None


def with_ridge(problem, matrix):
    """K + R, rows padded as those of the stored matrix; the matrix itself where there is no R."""
    if problem.ridge is None:
        return matrix.values
    values, places = matrix.values.copy(), np.arange(len(problem))
    values[places, places] += problem.ridge.astype(values.dtype)
    return values
