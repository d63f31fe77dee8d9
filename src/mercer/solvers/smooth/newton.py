"""Newton's method in a feature space, for smooth losses.

Method (Keerthi, Duan, Shevade & Poo 2005; Rasmussen & Williams 2006, section 3.4): the losses are
replaced by the parabolas that touch them, the resulting least squares problem is solved (see
`newton_system`), and a line search makes sure that the objective falls. Five to ten steps are typical.
Between steps the bias is the best one for its values, so that the dual's equality holds at the
point where the parabolas touch.

Large matrices are rounded (`newton_gram`). When the goal seems to be reached, values of some points are recomputed
from the items; if rounding leaves doubt, those of all are, and steps continue from there.

If C k(x, x) is so large that coefficients cancel, and if rounding ends the steps, problems of up to `FACTORED`
points are solved in coordinates of the feature space (`feature_newton`).

Cost of a step: n^3 / 3 for up to `FACTORED` points and one function, otherwise a product with K for
each of some ten to thirty conjugate gradients. Needs of a problem: `risk`, `response` and `root`,
as in `KernelRisk` and `Multinomial`; of a matrix: `product`, `products`, `rows`.
"""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._jit.threads import Stopped, one_blas_thread
from mercer._types import FloatArray
from mercer.solvers.limits import Limits
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.linalg.low_rank_factor import low_rank_factor
from mercer.solvers.result import Solution, Status
from mercer.solvers.smooth.feature_newton import CoordinateSteps
from mercer.solvers.smooth.newton_gram import SAMPLED, NewtonMatrix
from mercer.solvers.smooth.newton_reports import early_end, gap, report
from mercer.solvers.smooth.newton_state import NewtonState
from mercer.solvers.smooth.newton_system import Preconditioner, solve_factored, solve_iterated
from mercer.solvers.smooth.optimal_bias import flat
from mercer.solvers.tolerances import SHORTEST, SUFFICIENT, ended_by_rounding

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.kernel_methods.kernel_risk import DiagonalRoot
    from mercer.solvers._types import HessianRoot, SmoothRisk
    from mercer.solvers.result import TracePoint

DOUBLE = float(np.finfo(np.float64).eps)
# From `SAMPLED` rows on, one row in this many is solved first, to this goal; fewer if there are many functions.
SHARE, SHARE_OF_MANY, MANY = 5, 8, 10
SAMPLE_GOAL = 1e-2
# Forcing term of the inner iteration, the share of the error left to the next step: usual, largest, smallest.
FORCING, COARSEST, FINEST = 0.03, 0.3, 1e-8
# If a step leaves more than this share of the violation, the next ones are solved more accurately; but less so far from
# the solution, where the quadratic model rather than the linear system is inaccurate.
POOR = 0.5
FAR, FINEST_FAR = 0.1, 3e-3
# A step that can reach the goal is solved accurately enough to do so.
LANDING = 0.1
# The goal is never below this share of the tolerance; feasible coefficients nearby should reach the tolerance.
HIGHEST_GOAL = 1e-5
# Residual of the bias equation between steps, as a share of the goal.
BALANCED = 1e-3
# Relative changes of the objective below this may be hidden by rounding.
UNSEEN = 1e-14
# Bound on the steps where max_iter sets none.
MOST_STEPS = 200
# Endings caused by rounding.
ROUNDED = (Status.STALLED, Status.OPTIMAL_INACCURATE)


def solve(
    problem: "SmoothRisk",
    matrix: "KernelMatrix",
    *,
    tol: float = 1e-4,
    limits: Limits | None = None,
    start: FloatArray | None = None,
    gap_tol: float | None = None,
    convex: bool = True,
    memory: int = 2**30,
) -> Solution:
    """Minimise a regularised risk over a kernel matrix.

    Parameters
    ----------
    problem : KernelRisk or Multinomial
        With a smooth loss.
    matrix : KernelMatrix
    tol : float
        Largest final difference between a coefficient and the response of its loss, relative to
        its C; and the relative duality gap.
    limits : Limits, optional
    start : ndarray, optional
        Coefficients to start from.
    gap_tol : float, optional
        Stop at this relative duality gap instead of `tol`.
    convex : bool
        Whether the kernel is known to be positive semidefinite.
    memory : int
        Bytes that the matrix may take.

    Returns
    -------
    Solution
        `beta` and `bias` have a column, or an entry, for each function if there are several.
    """
    return _Steps(problem, matrix, tol, limits or Limits(), start, gap_tol, convex, memory).run()


class _Steps(NewtonState):
    """The steps of `solve`. All arrays have a column for each function."""

    factor: FloatArray | Any
    trace: "list[TracePoint]"

    def __init__(
        self,
        problem: "SmoothRisk",
        matrix: "KernelMatrix",
        tol: float,
        limits: Limits,
        start: FloatArray | None,
        gap_tol: float | None,
        convex: bool,
        memory: int,
        is_sample: bool = False,
    ) -> None:
        super().__init__(problem, NewtonMatrix(problem, matrix, limits, memory), tol)
        self.is_sample, self.limits, self.tol, self.convex = is_sample, limits, tol, convex
        self.gap_tol, self.memory = gap_tol, memory
        self.start = None if start is None else self.as_columns(problem.feasible(start))
        self.iterations, self.trace, self.factor = 0, [], None
        self.forcing, self.landing = FORCING, FORCING

    # --- the steps ----------------------------------------------------------------------------

    def run(self) -> Solution:
        # BLAS threads woken between products with K spend more time waiting than working.
        with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
            try:
                status = self._run()
            except Stopped:
                status = self.limits.reached()
            except MemoryError:
                status = Status.MEMORY_LIMIT
            solution = self._solution(status)
            self.K.release()
            return solution

    def _run(self) -> Status:
        self.K.keep()
        if self.K.is_steep and (found := self._in_coordinates()) is not None:
            return found
        try:
            status = self._in_coefficients()
        except NotPositiveDefinite:
            status = Status.STALLED if self.convex else Status.NOT_CONVEX
        if status in ROUNDED and (found := self._in_coordinates()) is not None:
            return found
        return status

    def _in_coordinates(self) -> Status | None:
        """The status of a problem solved in coordinates, else None."""
        factor = self.K.coordinates(self.convex)
        if factor is None:
            return None
        limits, start = self.limits.after(self.iterations), self.beta if self.start is None else self.start
        steps = CoordinateSteps(
            self.problem, cast("FloatArray", self.K.in_memory()), factor, self.tol, self.gap_tol, limits, start
        )
        status = steps.run()
        self.beta, self.image, self.b = steps.beta, steps.image, steps.b
        self.iterations, self.trace = self.iterations + steps.iterations, self.trace + steps.trace
        return status

    def _in_coefficients(self) -> Status:
        if self.start is not None:
            self.beta, self.image = self.start, self.K.products_in_double(self.start)
        elif self.n >= SAMPLED:
            self._begin_with_sample()
        self.settle_bias()
        violation = np.inf
        while True:
            response = self.response()
            before, violation = violation, self.violation(response)
            if violation > POOR * before:
                self.forcing = max(FINEST if violation < FAR else FINEST_FAR, 0.1 * self.forcing)
            self.landing = max(FORCING * min(violation / FAR, 1.0), LANDING * self.goal / max(violation, self.goal))
            if violation <= self.goal and not (self.is_exact or self._holds_without_rounding(response, violation)):
                self.compute_exactly()
                continue
            if violation <= self.goal and self._is_accepted():
                return self._verdict()
            status = early_end(self.limits, self.iterations, MOST_STEPS)
            if status is not None:
                return status
            if self._step(response):
                self._record()
            elif self.K.keep_for_factors():
                self.compute_exactly()
            else:
                return ended_by_rounding(violation)

    def _begin_with_sample(self) -> None:
        """Start from the solution of a sample of the rows, weighted to stand for all."""
        sample = self.problem.sample(SHARE if self.k < MANY else SHARE_OF_MANY)
        if sample is None:
            return
        chosen, problem = sample
        part = self.K.matrix.view(chosen)
        limits = self.limits.unwatched()
        found = _Steps(problem, part, SAMPLE_GOAL, limits, None, None, self.convex, self.memory, is_sample=True).run()
        if found.status not in (Status.OPTIMAL, Status.STALLED):
            return
        beta = np.zeros((self.n, self.k))
        beta[chosen] = found.beta.reshape(len(chosen), self.k)
        image, b = self.K.products(beta), np.atleast_1d(found.bias).astype(np.float64)
        # With a large C the sample is overfitted, which may be worse than starting from zero.
        if self.objective(beta, image, image + b) < self.objective(self.beta, self.image, self.values()):
            self.beta, self.image, self.b, self.is_exact = beta, image, b, self.K.rounded is None

    def _holds_without_rounding(self, response: FloatArray, violation: float) -> bool:
        """Whether the violation still meets the goal once rounding is removed from the values of some points."""
        image = self.K.checked(self.beta, self.image)
        moved = self.as_columns(self.problem.response(flat(image + self.b))) - response
        shift = float(np.max(np.abs(moved) / self.problem.C[:, None], initial=0.0))
        return violation + 2.0 * shift <= self.goal

    def _is_accepted(self) -> bool:
        """At the goal: whether feasible coefficients nearby have a small gap; if so, they are taken."""
        if self.is_sample:
            return True
        before = self.beta, self.image, self.b
        self.make_feasible()
        # If they are less stationary, the goal is tightened; with a very large C this may not help, and ends here.
        is_stationary = self._is_stationary() or self.goal < HIGHEST_GOAL * self.tol
        if is_stationary and gap(self.problem, self.beta, self.image, self.b) <= (
            self.tol if self.gap_tol is None else self.gap_tol
        ):
            return True
        self.beta, self.image, self.b = before
        self.goal *= 0.1
        return False

    def _is_stationary(self) -> bool:
        return self.violation(self.response()) <= self.tol

    def _verdict(self) -> Status:
        """OPTIMAL, or OPTIMAL_INACCURATE if making the coefficients feasible made them less stationary."""
        is_reached = self.is_sample or self.gap_tol is not None or self._is_stationary()
        return Status.OPTIMAL if is_reached else Status.OPTIMAL_INACCURATE

    def _step(self, response: FloatArray) -> bool:
        """A Newton step with a line search; whether the objective fell."""
        rho, root = response - self.beta, self.problem.root(flat(self.values()))
        self.iterations += 1
        try:
            change, image, is_last = self._direction(root, rho)
        except NotPositiveDefinite:
            if self.K.rounded is None:
                raise
            # Correlated rounding, as of nearly equal entries, exceeds what independent noise would add up to.
            return self._go_on_without_rounding()
        if self.K.rounded is None:
            return self._search(change, image, is_last)
        return self._search_rounded(change, image, is_last)

    def _direction(self, root: "HessianRoot", rho: FloatArray) -> tuple[FloatArray, FloatArray, bool]:
        """(change of the coefficients, change of their values, whether time is up)."""
        K, has_bias = self.K.to_factor(), self.problem.bias == "free"
        if K is not None:
            towards = self._through(rho)
            moved, image = solve_factored(K, cast("DiagonalRoot", root), towards, has_bias)
            return rho - moved, towards - image, False
        if self.factor is None:
            self.factor = low_rank_factor(self.K, root)
        # With a rounded matrix, single precision is enough.
        root = root if self.K.rounded is None else root.in_single()
        precondition = Preconditioner(self.factor, root, self.k, has_bias)
        x, size = precondition.guess(rho)
        begin = rho - root.times(x)
        towards = self._through(begin)
        accuracy, stop = self._accuracy(size), self.limits.stop
        moved, image, _ = solve_iterated(self.K.products, root, towards, x, precondition, accuracy, stop)
        return begin - moved, towards - image, self.limits.stop()

    def _through(self, change: FloatArray) -> FloatArray:
        """The change of the values due to a change of the coefficients."""
        if self.K.rounded is None:
            return self.K.products(self.beta + change) - self.image
        return self.K.products(change)

    def _search_rounded(self, change: FloatArray, image: FloatArray, is_last: bool) -> bool:
        """`_search`; if rounding may hide a decrease of the objective, values are recomputed from the items."""
        if self._search(change, image, is_last):
            self.is_exact = False
            return True
        if not self.is_exact:
            self.compute_exactly()
        if self._search(change, self.K.products_in_double(self.beta + change) - self.image, is_last):
            return True
        return self._go_on_without_rounding() and not is_last

    def _go_on_without_rounding(self) -> bool:
        self.factor = None
        self.K.keep_without_rounding()
        if not self.is_exact:
            self.compute_exactly()
        return True

    def _accuracy(self, first: float) -> float:
        """The residual norm at which to stop, given about that of a zero step.

        It decreases with the error of the quadratic model (superlinear convergence), but no further than required, and
        always by some.
        """
        scale = float(self.problem.C.sum()) ** 0.5
        least = 0.1 * self.goal * float(self.problem.C.min()) ** 0.5
        return min(max(min(self.forcing, self.landing, first / scale) * first, least), COARSEST * first)

    def _search(self, change: FloatArray, image: FloatArray, is_last: bool) -> bool:
        """Backtrack along `change` until the objective decreases sufficiently (Armijo)."""
        values = self.values()
        slope = float(np.sum(change * self.image)) - float(np.sum(self.response() * image))
        now = self.objective(self.beta, self.image, values)
        length = 1.0
        while length >= SHORTEST:
            beta, moved = self.beta + length * change, self.image + length * image
            b = self.bias_of(moved, BALANCED * self.goal)
            if self.objective(beta, moved, moved + b) <= now + SUFFICIENT * length * min(slope, 0.0) and slope < 0:
                self.beta, self.image, self.b = beta, moved, b
                return True
            if abs(slope) <= UNSEEN * abs(now):
                return self._is_better(beta, moved, b)
            if length == 1.0 and self._is_hidden(beta, moved, b, now) and self._is_better(beta, moved, b):
                return True
            if is_last:
                return False
            length *= 0.5
        return False

    def _is_hidden(self, beta: FloatArray, image: FloatArray, b: FloatArray, now: float) -> bool:
        """Whether the objective at a point is unchanged up to the rounding of the squared norm.

        Large coefficients that cancel, as those of equal rows with different labels do, leave little else.
        """
        size = (float(self.K.matrix.diag.max(initial=0.0)) + 1.0) * float(np.abs(beta).sum()) ** 2
        return abs(self.objective(beta, image, image + b) - now) <= DOUBLE * size

    def _is_better(self, beta: FloatArray, image: FloatArray, b: FloatArray) -> bool:
        """If rounding hides a decrease of the objective, take the point if the violation falls; whether it did."""
        before, violation = (self.beta, self.image, self.b), self.violation(self.response())
        self.beta, self.image, self.b = beta, image, b
        if self.violation(self.response()) <= POOR * violation:
            return True
        self.beta, self.image, self.b = before
        return False

    # --- the end ----------------------------------------------------------------------------

    def _record(self) -> None:
        violation = self.violation(self.response())
        self.trace.append(report(self.problem, self.limits, self.iterations, violation, self.beta, self.image))

    def _solution(self, status: Status) -> Solution:
        if status != Status.OPTIMAL and self.iterations:
            self._end_feasible()
        bias = float(self.b[0]) if self.k == 1 else self.b
        gradient = flat(self.response() - self.beta)
        return Solution(flat(self.beta), gradient, bias, status, self.iterations, trace=self.trace)

    def _end_feasible(self) -> None:
        """The coefficients with a finite dual value, unless they are much worse."""
        before = self.beta, self.image, self.b
        value = self.objective(self.beta, self.image, self.values())
        try:
            self.make_feasible()
        except (Stopped, MemoryError):
            self.beta, self.image, self.b = before
            return
        if not self.objective(self.beta, self.image, self.values()) <= value + 0.1 * abs(value):
            self.beta, self.image, self.b = before
