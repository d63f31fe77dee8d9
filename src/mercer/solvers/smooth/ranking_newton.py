"""Newton's method for ranking, in the feature space of a kernel.

Method (Chapelle & Keerthi 2010, with kernels): at values f = K beta the losses give coefficients r
and second derivatives H; the step d solves (I + H K) d = r - beta. That operator is self-adjoint in
the inner product of the feature space, so conjugate gradients solve it there: an iteration is one
product with K and one sum over active pairs, of n log n. Where they are slow and rows are few, the step is computed
directly, in coordinates of the feature space. A line search makes the objective fall.

The objective is piecewise quadratic: a handful of steps is typical. The corner of the hinge is rounded off
over a width, which is narrowed until the gap of the hinge itself is small; each width continues from the
solution of the one before (as Chapelle 2007 does for classes). Needs of a problem: `at(f)`, as in
`Ranking`; of a matrix: `product` and `products`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer._jit.threads import Stopped
from mercer._types import FloatArray
from mercer.problems.certificate import relative_gap
from mercer.problems.svm.rank import NARROWER, NARROWEST
from mercer.solvers.limits import Limits
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.linalg.conjugate_gradient import Recursion
from mercer.solvers.result import SOLVED, Solution, Status, TracePoint
from mercer.solvers.smooth.feature_newton import coordinates
from mercer.solvers.tolerances import SHORTEST, SUFFICIENT, ended_by_rounding

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.svm.rank import Ranking, RankPoint

MOST_STEPS = 200
# Most conjugate gradient iterations per step, and the share of the error left to the next step.
MOST_ITERATIONS = 300
FORCING = 0.03
# After a step of this many iterations, the others are computed directly, for up to this many rows.
SLOW, FEW_ROWS = 100, 1000
# The two ways to compute the values of a direct step may differ by this share of the largest.
AGREEING = 1e-3
# Objectives equal up to this share count as equal.
ROUNDING = 1e-13
# By what share of the tolerance an objective may rise where coefficients become the responses of the losses.
SETTLING = 0.1
# The finest accuracy for a rounded hinge, and how many narrower widths may be worse before giving up. Coefficients are
# differences of values divided by the width, accurate to 1e-8 at the narrowest, so any tolerance below 1e-9 gives the
# same steps and the same answer.
FINEST, MOST_WORSE = 5e-10, 2
# Endings not caused by a limit.
SETTLED = (*SOLVED, Status.STALLED)


# A very large C may overflow; the status reports the outcome.
@np.errstate(over="ignore", invalid="ignore")
def solve(
    problem: "Ranking",
    matrix: "KernelMatrix",
    *,
    tol: float = 1e-3,
    limits: Limits | None = None,
    start: FloatArray | None = None,
    gap_tol: float | None = None,
    convex: bool = True,
) -> Solution:
    """Minimise a `Ranking` objective.

    Parameters
    ----------
    problem : Ranking
    matrix : KernelMatrix
    tol : float
        Largest difference between a coefficient and the response of the losses, relative to the largest;
        and the relative duality gap.
    limits : Limits, optional
    start : ndarray (n,), optional
    gap_tol : float, optional
        Stop at this relative gap instead of `tol`.
    convex : bool
        Whether the kernel is known to be positive semidefinite.

    Returns
    -------
    Solution
    """
    limits = limits or Limits()
    if problem.loss == "hinge":
        return _by_narrowing(problem, matrix, tol, limits, start, gap_tol, convex)
    return _Steps(problem, matrix, tol, limits, start, gap_tol, convex).run()


def _by_narrowing(
    problem: "Ranking",
    matrix: "KernelMatrix",
    tol: float,
    limits: Limits,
    start: FloatArray | None,
    gap_tol: float | None,
    convex: bool,
) -> Solution:
    """The hinge, by rounding its corner more and more narrowly; the best solution is kept.

    Each width is solved no further than `FINEST`: rounding errors at a wide one are no reason to skip narrower ones,
    and once narrower ones are worse, rounding dominates there too and the search ends.
    """
    goal, done, trace, width = tol if gap_tol is None else gap_tol, 0, [], 1.0
    best: Solution | Any = None
    factor: FloatArray | None = None
    least, worse = np.inf, 0
    while width >= NARROWEST and worse < MOST_WORSE:
        # Half of the tolerance: the certificate recomputes the values with different rounding.
        accuracy = max(0.5 * min(tol, goal), FINEST)
        steps = _Steps(problem.narrowed(width), matrix, accuracy, limits.after(done), start, None, convex)
        steps.factor, steps.before = factor, done
        found = steps.run()
        factor = steps.factor
        done, trace, start = done + found.iterations, trace + found.trace, found.beta
        gap, worse = steps.gap_of_hinge(), worse + 1
        if best is None or gap < least:
            best, least, worse = found, gap, 0
        if found.status in SOLVED and gap <= goal:
            return _as_of(found, found.status, done, trace)
        if found.status not in SETTLED:
            return _as_of(best, found.status, done, trace)
        width *= NARROWER
    return _as_of(best, ended_by_rounding(least), done, trace)


def _as_of(solution: Solution, status: Status, iterations: int, trace: list[TracePoint]) -> Solution:
    """The solution with the state at the time of stopping."""
    solution.status, solution.iterations, solution.trace = status, iterations, trace
    return solution


class _Steps:
    beta: FloatArray
    f: FloatArray
    trace: list[TracePoint]
    # L with L L' = K, once conjugate gradients were slow.
    factor: FloatArray | None = None
    # Steps taken at wider widths.
    before: int = 0

    def __init__(
        self,
        problem: "Ranking",
        matrix: "KernelMatrix",
        tol: float,
        limits: Limits,
        start: FloatArray | None,
        gap_tol: float | None,
        convex: bool,
    ) -> None:
        self.problem, self.tol, self.gap_tol = problem, tol, gap_tol
        self.limits, self.convex, self.may_factor = limits, convex, True
        self.matrix = matrix.in_double() if matrix.is_rough else matrix
        self.beta = np.zeros(matrix.n) if start is None else np.array(start, dtype=np.float64)
        self.f = np.zeros(matrix.n)
        self.iterations, self.trace = 0, []

    def run(self) -> Solution:
        try:
            status = self._run()
        except Stopped:
            status = self.limits.reached()
        except NotPositiveDefinite:
            status = Status.STALLED if self.convex else Status.NOT_CONVEX
        return Solution(self.beta, -self.f, 0.0, status, self.iterations, trace=self.trace)

    def _values(self, beta: FloatArray) -> FloatArray:
        """K beta, summed in double precision."""
        support = np.flatnonzero(beta)
        if len(support) == 0:
            return np.zeros(len(beta))
        return self.matrix.product(support, beta[support], stop=self.limits.stop)

    def _run(self) -> Status:
        self.f, has_settled = self._values(self.beta), False
        while True:
            point = self.problem.at(self.f)
            residual = point.response - self.beta
            ahead = self._values(residual)
            violation, dual = point.violation(self.beta), point.dual(self.f + ahead)
            primal = 0.5 * float(self.beta @ self.f) + point.risk
            gap = relative_gap(primal, dual)
            self._record(violation, dual, gap)
            if self._is_solved(violation, gap):
                return Status.OPTIMAL
            if self.limits.stop():
                return self.limits.reached()
            if self.limits.iterations_left(self.iterations) <= 0:
                return Status.ITERATION_LIMIT
            has_steps = self.iterations < MOST_STEPS
            # The predicted decrease is only known to rounding, so it may keep shrinking for ever.
            if has_steps and gap <= self.tol and self._settled(point, ahead, primal, violation):
                continue
            if has_steps and self._step(point, residual, ahead, primal):
                continue
            # Where no step is left, what an objective loses to rounding matters less than coefficients that fit. Once:
            # recomputed, their violation need not have fallen.
            if has_settled or not self._settled(point, ahead, np.inf, violation):
                return ended_by_rounding(violation)
            has_settled = True

    def gap_of_hinge(self) -> float:
        """Relative gap of the hinge itself, whatever the width."""
        point = self.problem.at(self.f)
        primal = 0.5 * float(self.beta @ self.f) + point.hinges
        return relative_gap(primal, point.dual_of_hinge(self._values(point.response)))

    def _is_solved(self, violation: float, gap: float) -> bool:
        return gap <= self.gap_tol if self.gap_tol is not None else violation <= self.tol and gap <= self.tol

    def _record(self, violation: float, dual: float, gap: float) -> None:
        n = len(self.beta)
        steps = self.before + self.iterations
        self.trace.append(TracePoint(self.limits.seconds, steps, violation, dual, n, n, gap=gap))
        self.limits.report(self.trace[-1])

    def _settled(self, point: "RankPoint", ahead: FloatArray, primal: float, violation: float) -> bool:
        """Take the responses of the losses as coefficients; False if that does not help.

        If K is singular, values do not determine coefficients, and the steps end at equivalent ones. The objective may
        rise by a share of the tolerance, which no step could win back: its gap is judged again.
        """
        f = self.f + ahead
        found = self.problem.at(f)
        value = 0.5 * float(point.response @ f) + found.risk
        allowed = max(ROUNDING, SETTLING * self.tol) * abs(primal)
        if value > primal + allowed or not found.violation(point.response) < 0.5 * violation:
            return False
        self.beta, self.f = point.response, self._values(point.response)
        self.iterations += 1
        return True

    def _step(self, point: "RankPoint", residual: FloatArray, ahead: FloatArray, primal: float) -> bool:
        """One Newton step; False if it cannot decrease the objective."""
        step, image = self._direction(point, residual, ahead)
        # Directional derivative along the step: losses plus norm.
        slope = -float(residual @ image)
        if not slope < 0:
            return False
        length, slack = 1.0, ROUNDING * abs(primal)
        while length >= SHORTEST:
            beta, f = self.beta + length * step, self.f + length * image
            if 0.5 * float(beta @ f) + self.problem.at(f).risk <= primal + SUFFICIENT * length * slope + slack:
                self.beta, self.f = beta, self._values(beta)
                self.iterations += 1
                return True
            length *= 0.5
        return False

    def _direction(self, point: "RankPoint", residual: FloatArray, ahead: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(d, K d) of a Newton step; `ahead` is K residual."""
        if self.factor is not None:
            try:
                return self._directly(point, residual, self.factor)
            except (LinAlgError, ValueError):
                # What a few iterations reach is better.
                self.factor, self.may_factor = None, False
        pair = np.zeros((2, len(residual)))
        iterations = 0
        for direction in self._conjugate_steps(point, residual, ahead):
            pair += direction
            iterations += 1
        n = len(residual)
        if iterations > SLOW and n <= FEW_ROWS and self.may_factor:
            K = self.matrix.rows(np.arange(n), self.limits.stop)
            self.factor = coordinates(np.asarray(K, np.float64), self.convex)
            self.may_factor = self.factor is not None
        return pair[0], pair[1]

    def _directly(self, point: "RankPoint", residual: FloatArray, factor: FloatArray) -> tuple[FloatArray, FloatArray]:
        """With K = L L', K d = L (I + L' H L)^-1 L' residual, and d = residual - H K d.

        Raises LinAlgError if rounding errors outweigh the identity, or the residual.
        """
        hessian = factor.T @ point.curved(factor)
        hessian[np.diag_indices_from(hessian)] += 1.0
        w = cho_solve(cho_factor(hessian), factor.T @ residual)
        image = factor @ w
        step = residual - point.curved(image)
        values = self._values(step)
        if not np.abs(values - image).max() <= AGREEING * np.abs(image).max():
            raise LinAlgError("the step was lost to cancellation")
        return step, values

    def _conjugate_steps(self, point: "RankPoint", residual: FloatArray, ahead: FloatArray) -> Iterator[FloatArray]:
        """What conjugate gradients add to (d, K d), one after the other.

        Directions are pairs too, so that K d is a sum of known products.
        """
        goal = FORCING**2 * float(residual @ ahead)
        recursion = Recursion(residual, self._with_values, _in_feature_space, np.stack([residual, ahead]))
        for _ in range(MOST_ITERATIONS):
            if recursion.turn() <= goal:
                break
            if self.limits.stop():
                raise Stopped
            step, through = recursion.direction
            yield recursion.advance(step + point.curved(through)) * recursion.direction

    def _with_values(self, residual: FloatArray) -> FloatArray:
        return np.stack([residual, self.matrix.products(residual[:, None], self.limits.stop)[:, 0]])


def _in_feature_space(coefficients: FloatArray, pair: FloatArray) -> float:
    """The inner product of two functions, given the values of one."""
    return float(coefficients @ pair[1])
