"""Sequential minimal optimisation with large working sets.

Method (Platt 1998; Joachims 1999; Fan, Chen & Lin 2005): a round takes the free coordinates
and a few thousand that violate the KKT conditions, builds their matrix in memory, solves them
among themselves by pair steps, and updates the gradient of all the others with one fused
kernel product. Small problems are a single round over everything.

Cost of a round: m^2/2 kernel entries for the working set of size m, then n entries for each
coordinate that moved. Needs of a problem: `DualProblem`; of a matrix: `KernelMatrix`.
"""

from collections.abc import Callable
from typing import cast

import numpy as np

from mercer._jit.scratch import Buffers
from mercer._jit.threads import Stopped, one_blas_thread
from mercer._types import FloatArray, IndexArray
from mercer.kernels.gram.kernel_matrix import LANES, KernelMatrix
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp import policy
from mercer.solvers.dual_qp.endings import (
    NEGATIVE_CURVATURE,
    NEVER_BINDS,
    Diverged,
    Patience,
    Progress,
    most_steps,
)
from mercer.solvers.dual_qp.policy import Route
from mercer.solvers.dual_qp.state import DualState
from mercer.solvers.dual_qp.working_set import WorkingSet
from mercer.solvers.dual_qp.working_set_selection import Violations, room_for_free
from mercer.solvers.limits import Limits
from mercer.solvers.result import Solution, Status, TracePoint
from mercer.solvers.tolerances import ended_by_rounding

# Violators in a working set, beside the free coordinates: at first, one in so many of all where those are few, and at
# most.
SMALLEST_WORKING_SIZE, FIRST_SHARE = 1024, 8
WORKING_SIZE = 3072
# A working set smaller than this is not worth starting.
SMALLEST_STORE = 16
# A larger ridge is not added to a matrix in single precision.
LARGEST_SINGLE_RIDGE = 1e15
# From this share of the coordinates on, a working set is left out of the product over all of them.
WORTH_LEAVING_OUT = 0.1
# A round reduces the violation of its working set to this share.
ROUND_ACCURACY = 0.1
MOST_REFINEMENTS = 4


def solve(
    problem: DualProblem,
    matrix: KernelMatrix,
    *,
    tol: float = 1e-3,
    limits: Limits | None = None,
    start: FloatArray | None = None,
    gap: Callable[[FloatArray, FloatArray], float] | None = None,
    gap_tol: float | None = None,
    memory: int = 2**30,
    convex: bool = True,
    is_trusted: bool = False,
) -> Solution:
    """Solve a dual problem over a kernel matrix.

    Parameters
    ----------
    problem : DualProblem
    matrix : KernelMatrix
    tol : float
        Largest violation of the KKT conditions at the end.
    limits : Limits, optional
    start : ndarray, optional
        Coefficients to start from.
    gap : callable, optional
        ``gap(beta, gradient)``, the relative duality gap.
    gap_tol : float, optional
        Stop as soon as the gap is this small, instead of at `tol`.
    memory : int
        Bytes that a working set's matrix may take.
    convex : bool
        Whether the kernel is known to be positive semidefinite.
    is_trusted : bool
        Whether entries in single precision are known to be fine enough for `tol`: else they are compared with
        double precision at the end.

    Returns
    -------
    Solution
    """
    limits = limits or Limits()
    return _Rounds(problem, matrix, tol, limits, start, gap, gap_tol, memory, convex, is_trusted).run()


class _Rounds:
    """The rounds of `solve`."""

    def __init__(
        self,
        problem: DualProblem,
        matrix: KernelMatrix,
        tol: float,
        limits: Limits,
        start: FloatArray | None,
        gap: Callable[[FloatArray, FloatArray], float] | None,
        gap_tol: float | None,
        memory: int,
        convex: bool,
        is_trusted: bool,
    ) -> None:
        self.problem, self.limits = problem, limits
        self.tol, self.gap, self.gap_tol, self.convex = tol, gap, gap_tol, convex
        self.target = tol
        # Near the solution few coordinates violate, and only those are worth checking.
        self.is_warm = start is not None and len(problem) > policy.DIRECT_SIZE
        if problem.ridge is not None and problem.ridge.max(initial=0.0) > LARGEST_SINGLE_RIDGE:
            matrix = matrix.in_double()
        self.state = DualState(problem, matrix, start, limits.stop)
        self.largest = int((memory / matrix.dtype.itemsize) ** 0.5) - 2 * LANES
        self.rng = np.random.default_rng(0)
        self.scale = self._scale()
        # A non-zero sum makes all gradients large; only their differences matter.
        self.is_shifted = problem.has_equality and bool(problem.kink or problem.has_total)
        self.bias: float | FloatArray | None = None
        self.buffers = Buffers(min(memory, len(problem) ** 2 * matrix.dtype.itemsize))
        self.iterations, self.moved = 0, 0
        self.trace: list[TracePoint] = []
        self.curvature = 1.0
        self.is_trusted, self.is_refined, self.refinements = is_trusted, False, 0
        # What single precision may add to the violation of the last round.
        self.rounding = np.inf
        self.progress, self.patience = Progress(), Patience(most_steps(problem))

    def _scale(self) -> float:
        """The scale of a large violation: the size of the labels, or the spread of the gradient."""
        if self.problem.kink or self.problem.has_total:
            return max(1e-300, float(np.std(self.state.gradient)))
        return max(1e-300, float(np.abs(self.problem.linear).max(initial=0.0)))

    @property
    def _spread(self) -> float:
        """The scale, or the present spread where gradients are residuals, which shrink."""
        if not (self.problem.kink or self.problem.groups is not None):
            return self.scale
        return min(self.scale, float(np.std(self.state.gradient - self.problem.thresholds(self._level))))

    def run(self) -> Solution:
        return self._solution(self._status())

    def _status(self) -> Status:
        try:
            # Outside parallel regions the work is too short for BLAS threads, which then busy-wait.
            with one_blas_thread():
                return self._run()
        except Stopped:
            return cast(Status, self.limits.reached())
        except MemoryError:
            return Status.MEMORY_LIMIT
        except Diverged:
            return Status.STALLED

    def _run(self) -> Status:
        if self.largest < SMALLEST_STORE:
            return Status.MEMORY_LIMIT
        while True:
            highest, lowest = self.state.extremes()
            violation = self.problem.distance(highest, lowest)
            if violation <= self.target:
                if self._accepted(violation):
                    return Status.OPTIMAL
                continue
            status = self._early_end(violation)
            if status is not None:
                return status
            if self.bias is None:
                self.bias = self.problem.middle(highest, lowest)
            self._round(violation)

    # --- stopping -------------------------------------------------------------------------

    def _accepted(self, violation: float) -> bool:
        """At the target violation: is it accurate, and is the gap small enough?"""
        if self.state.matrix.dtype == np.float32 and not self._holds_in_double(violation):
            return False
        if self.gap_tol is not None and self._gap() > self.gap_tol:
            self.target *= 0.1
            self.progress.idle_rounds = 0
            return False
        return True

    def _gap(self) -> float:
        return cast(Callable[..., float], self.gap)(self.state.beta, self.state.gradient)

    def _early_end(self, violation: float) -> Status | None:
        """The status that ends the fit before the target is reached, or None."""
        status = self.limits.reached()
        if status is not None:
            return cast(Status, status)
        if self.limits.iterations_left(self.iterations) <= 0:
            return Status.ITERATION_LIMIT
        gap = cast(float, self.trace[-1].gap) if self.trace else 1.0
        if self.limits.max_iter < 0 and self.patience.is_over(self.iterations, gap):
            return self._give_up(violation)
        if self.gap_tol is not None and self._gap() <= self.gap_tol:
            return Status.OPTIMAL
        return self._give_up(violation) if self.progress.has_ended(violation, self.state.dual, self._turns) else None

    @property
    def _turns(self) -> int:
        """Rounds needed for every free coordinate to have been in a working set."""
        free = int(np.count_nonzero(self.problem.is_free(self.state.beta)))
        return max(1, -(-free // room_for_free(self.largest)))

    def _give_up(self, violation: float) -> Status | None:
        """Switch to double precision; stop only if it is already in use."""
        if self.state.matrix.dtype == np.float32:
            self._switch_to_double()
            return None
        return ended_by_rounding(violation / self.scale)

    # --- one round ------------------------------------------------------------------------

    def _round(self, violation: float) -> None:
        state, chosen = self.state, self._choose(violation)
        working = WorkingSet(
            self.problem,
            state.matrix,
            chosen,
            state.beta,
            state.gradient,
            self.buffers,
            self.limits.stop,
            self._level if self.is_shifted else np.zeros_like(self._level),
        )
        self.iterations += working.run(self._round_tol(violation, len(chosen)), self.limits, self.iterations)
        self.curvature = min(self.curvature, working.curvature)
        self._apply(working)
        self.rounding = np.inf if state.matrix.dtype == np.float32 else 0.0
        self._record(len(chosen))
        if working.is_stalled and state.matrix.dtype == np.float32:
            self._switch_to_double()

    def _choose(self, violation: float) -> IndexArray:
        n = len(self.problem)
        if n <= min(self._manageable, self.largest):
            return np.arange(n)
        near = min(violation, 0.1 * self._spread)
        return self._violations().choose(self._working_size(), near, self.largest, self.rng)

    def _violations(self) -> Violations:
        return Violations(self.problem, self.state.beta, self.state.gradient, self._level)

    @property
    def _level(self) -> float | FloatArray:
        """The current bias; zero before the first round."""
        if self.bias is not None:
            return self.bias
        return 0.0 if self.problem.groups is None else np.zeros(2)

    @property
    def _manageable(self) -> int:
        """A problem this small is solved as one working set, so only its own gradient is needed."""
        is_stored = self.state.matrix.is_stored
        if is_stored and not self.trace and not self.is_warm:
            return len(self.problem)
        if self.problem.groups is not None and not is_stored:
            # Duplicated items: their matrix would be four times as large as that of the items.
            return self._working_size()
        return max(policy.DIRECT_SIZE, self._working_size())

    def _working_size(self) -> int:
        """Twice the number of support vectors so far: if they are few, small sets suffice.

        Two groups start with most support vectors in place, so the coordinates that move are counted, three times.
        """
        likely = 2 * np.count_nonzero(self.state.beta) if self.problem.groups is None else 3 * self.moved
        return int(np.clip(likely, min(SMALLEST_WORKING_SIZE, len(self.problem) // FIRST_SHARE), WORKING_SIZE))

    def _round_tol(self, violation: float, size: int) -> float:
        # Two groups start with many coordinates at the wrong bound, where smaller sets would leave them.
        most = policy.DIRECT_SIZE if self.problem.groups is None else 2 * policy.DIRECT_SIZE
        if size == len(self.problem) and size <= most:
            return 0.9 * self.target
        return max(0.5 * self.target, ROUND_ACCURACY * violation)

    def _apply(self, working: WorkingSet) -> None:
        if not np.abs(working.beta).max() < NEVER_BINDS:
            raise Diverged
        if self.problem.has_equality:
            self.bias = working.middle
        self.is_refined = False
        own = working.own_product(self.state.matrix.n_jobs) if self._has_many(working.indices) else None
        moved, change = working.change()
        self.moved = len(moved)
        self.state.move(working.indices, working.beta, moved, change, own)

    def _has_many(self, indices: IndexArray) -> bool:
        """Whether leaving the working set out of the product pays; cached rows are computed in full."""
        return self.state.matrix.keeps_nothing and len(indices) >= WORTH_LEAVING_OUT * len(self.problem)

    def _record(self, size: int) -> None:
        state, violation = self.state, self.problem.distance(*self.state.extremes())
        point = TracePoint(
            self.limits.seconds,
            self.iterations,
            violation,
            state.dual,
            size,
            len(self.problem),
            gap=self.problem.relative_gap(state.beta, state.gradient, self._level, state.dual),
            route=Route.ROUNDS.value,
        )
        self.trace.append(point)
        self.limits.report(point)

    # --- precision ------------------------------------------------------------------------

    def _holds_in_double(self, violation: float) -> bool:
        """Whether the violation is at most `tol` in double precision too.

        If single precision cannot tell, the gradient is recomputed in double precision where it matters, and the solver
        continues from there: the remaining changes are small, and so is their rounding (iterative refinement).
        """
        if self.is_refined or self.is_trusted:
            return True
        rough = self.state.matrix.rough_rows()
        error = np.inf if len(rough) == len(self.problem) else self.state.rounding_error(self._level, rough)
        holds = violation + 2.0 * error <= self.tol
        if holds and len(rough) == 0:
            self.rounding = policy.ROWS_NOT_COMPARED * error
            return True
        if self.refinements == MOST_REFINEMENTS:
            self._switch_to_double()
        else:
            self._refine(rough if holds else np.union1d(rough, self._undecided(4.0 * error + self.tol)))
        return False

    def _undecided(self, slack: float) -> IndexArray:
        """All coordinates not firmly at a bound."""
        return np.flatnonzero(~self._violations().settled(slack))

    def _refine(self, rows: IndexArray) -> None:
        """Recompute the gradient at `rows` in double precision."""
        self.state.gradient[rows] = self.state.gradient_in_double(rows)
        self.refinements += 1
        self.is_refined = True

    def _switch_to_double(self) -> None:
        self.state.switch_to_double()
        self.rounding = np.inf  # the violation of the last round was in single precision
        self.patience.renew(self.iterations)
        self.largest = max(SMALLEST_STORE, int(self.largest / 2**0.5))
        self.progress.forgive()

    # --- the end --------------------------------------------------------------------------

    def _solution(self, status: Status) -> Solution:
        state = self.state
        solved_or_stuck = (Status.OPTIMAL, Status.OPTIMAL_INACCURATE, Status.STALLED)
        if not self.convex and self.curvature < NEGATIVE_CURVATURE and status in solved_or_stuck:
            status = Status.NOT_CONVEX
        state.balance()
        bias = self._level
        if state.is_current and self.problem.has_equality:
            bias = self.problem.bias(state.beta, state.gradient)
            if not state.beta.any():  # stopped before its first step, or the solution is zero
                bias = self.problem.best_constant(state.gradient)
        return Solution(
            state.beta, state.gradient, bias, status, self.iterations, state.is_current, self.trace, self.rounding
        )
