"""A series of duals on one stored matrix, each started where the last one ended.

For cross-validation: hundreds of problems that differ in their box, or in which rows are held out,
over one kernel matrix. A round considers the coordinates that are free or less than half the violation from moving,
gathers their part of the matrix if it is small (pair steps then run in the cache), takes
pair steps (Fan, Chen & Lin 2005) to a tenth of the violation or, once that is small, to the
tolerance, and updates K beta for every row. Where few entries are not nearly zero, pair steps read only those, on all
rows and straight to the tolerance (`near_pair_steps`); the next round makes up for the others. Rows held out have a
closed box, so they cost nothing, and K beta gives their decision values.

When a box grows, coefficients grow with it if most support vectors are at their bound, but not far beyond the point
where the dual is largest along them; they stay as they are if most are free.

Cost of a round: a^2 entries copied for a rows considered, a multiplications per step, n for each
coefficient that moved. Needs of a problem: `DualProblem` with at most one sum; of a matrix:
`StoredMatrix`, positive semidefinite. Accuracy: that of the matrix's entries; sums are in double
precision.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, cast

import numpy as np

from mercer._jit.compile import UNBOUNDED
from mercer._jit.scratch import Buffers
from mercer._jit.threads import Stopped
from mercer._types import FloatArray, IndexArray
from mercer.kernels.gram.kernel_matrix import KernelMatrix, StoredMatrix
from mercer.kernels.gram.near_rows import NearRows
from mercer.problems.svm.part_of_dual import narrowed
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.class_pairs.pairs_along_path import MOSTLY_FREE
from mercer.solvers.dual_qp import decomposition
from mercer.solvers.dual_qp.endings import NEVER_BINDS
from mercer.solvers.dual_qp.survey import choose_undecided, survey
from mercer.solvers.dual_qp.working_set import WorkingSet
from mercer.solvers.limits import Limits
from mercer.solvers.result import Solution, Status

# A round reduces its violation to this share, or goes straight to the tolerance once below `NEAR`, which is relative to
# the standard deviation of the linear term: of labels about 1, and of targets their own, wherever their zero is.
ROUND_ACCURACY = 0.1
NEAR = 0.1
# Above this share of the rows, all rows are used in place instead of copying some.
WORTH_COPYING = 0.6
# With more than this share undecided, steps on all rows that read only near entries are quicker than copies of some;
# and while each round leaves at most this share of the violation, leaving out the other entries does no harm.
WORTH_A_PASS, WORTH_ANOTHER = 0.25, 0.5
# Coefficients grow with their box if the dual along them is largest beyond this share of its growth, else to that point
# (a narrow kernel: all coefficients are at a bound below 1, and about 1 without it).
MOST_OF_THE_WAY = 0.55
# Rounds after which the problem is left to the general solver.
MOST_ROUNDS = 40


@dataclass
class WarmState:
    """Coefficients, and K times them for every row of the matrix, held-out rows included."""

    beta: np.ndarray
    product: np.ndarray

    @classmethod
    def zero(cls, n: int) -> Self:
        """No support vectors."""
        return cls(np.zeros(n), np.zeros(n))


def moved_to(state: WarmState, last: DualProblem, problem: DualProblem, matrix: KernelMatrix) -> WarmState:
    """The state as a starting point for the next problem.

    Parameters
    ----------
    state : WarmState
        The solution of `last`.
    last, problem : DualProblem
        They differ in their box, the linear term or the ridge.
    """
    ratio = _growth(last, problem)
    support = np.count_nonzero(state.beta)
    is_bounded = np.count_nonzero(last.is_free(state.beta)) < MOSTLY_FREE * support
    if ratio is not None and (ratio < 1.0 or is_bounded):
        factor = _best_factor(state, problem, ratio)
        full = (state.beta == last.upper) | (state.beta == last.lower)
        stays = full & (state.beta != 0) & (factor == ratio)
        bound = np.where(state.beta > 0, problem.upper, problem.lower)
        grown = np.where(stays, bound, factor * state.beta)
        return WarmState(np.clip(grown, problem.lower, problem.upper), factor * state.product)
    beta = problem.feasible(state.beta)
    change = beta - state.beta
    moved = np.flatnonzero(change)
    product = state.product.copy()
    if len(moved):
        product += matrix.product(moved, change[moved])
    return WarmState(beta, product)


def _best_factor(state: WarmState, problem: DualProblem, ratio: float) -> float:
    """By how much all coefficients grow when the box has grown by `ratio`.

    To where the dual is largest, unless that is most of the way: coefficients at their bound then stay there.
    """
    beta = state.beta
    curvature = float(beta @ (problem.linear - _gradient(problem, state)))
    rise = float(problem.linear @ beta) - problem.kink * float(np.abs(beta).sum())
    if curvature <= 0.0 or rise >= MOST_OF_THE_WAY * ratio * curvature:
        return ratio
    return max(min(1.0, ratio), rise / curvature)


def _gradient(problem: DualProblem, state: WarmState) -> FloatArray:
    gradient = problem.linear - state.product
    if problem.shift:
        gradient -= problem.shift * state.beta.sum()
    return gradient if problem.ridge is None else gradient - problem.ridge * state.beta


def _growth(last: DualProblem, problem: DualProblem) -> float | None:
    """The factor by which the box has grown if it is the same for all coordinates; else None."""
    before, after = last.upper - last.lower, problem.upper - problem.lower
    open_ = before > 0
    if not np.isfinite(before).all() or not open_.any() or not np.isfinite(after).all():
        return None
    ratios = after[open_] / before[open_]
    same_places = (after > 0) == open_
    is_uniform = same_places.all() and np.ptp(ratios) <= 1e-12 * ratios[0]
    return float(ratios[0]) if is_uniform and ratios[0] > 0 else None


def solve(
    problem: DualProblem,
    matrix: StoredMatrix,
    *,
    state: WarmState,
    tol: float,
    limits: Limits,
    memory: int = 2**30,
    buffers: Buffers | None = None,
    is_hopeless: Callable[[FloatArray, FloatArray], bool] | None = None,
) -> Solution | None:
    """Solve from a starting point.

    Parameters
    ----------
    problem : DualProblem
    matrix : StoredMatrix
    state : WarmState
        Changed in place.
    is_hopeless : callable, optional
        ``is_hopeless(beta, product)``, asked between rounds; a true answer ends the work.

    Returns
    -------
    Solution or None
        None where it was hopeless. Its gradient is that of every row, those held out included.
    """
    return _Rounds(problem, matrix, state, tol, limits, memory, buffers or Buffers(), is_hopeless).run()


class _Rounds:
    """The rounds of `solve`."""

    def __init__(
        self,
        problem: DualProblem,
        matrix: StoredMatrix,
        state: WarmState,
        tol: float,
        limits: Limits,
        memory: int,
        buffers: Buffers,
        is_hopeless: Callable[[FloatArray, FloatArray], bool] | None,
    ) -> None:
        self.problem, self.matrix, self.state = problem, matrix, state
        self.tol, self.limits, self.memory, self.buffers = tol, limits, memory, buffers
        self.is_hopeless = is_hopeless
        self.open = int(np.count_nonzero(problem.upper > problem.lower))
        self.lower, self.upper = np.maximum(problem.lower, -UNBOUNDED), np.minimum(problem.upper, UNBOUNDED)
        self.near = NEAR * float(np.std(problem.linear[problem.upper > problem.lower])) if self.open else 0.0
        self.iterations, self.last_violation = 0, np.inf
        self.may_leave_out = problem.ridge is None and problem.has_equality

    def run(self) -> Solution | None:
        for _ in range(MOST_ROUNDS):
            gradient = _gradient(self.problem, self.state)
            highest, lowest = survey(self.state.beta, gradient, self.lower, self.upper, float(self.problem.kink))
            violation = self.problem.distance(highest, lowest)
            if violation <= self.tol:
                return self._solution(gradient, Status.OPTIMAL)
            ended = self._early_end()
            if ended is not None:
                return self._solution(gradient, ended)
            if self.is_hopeless is not None and self.is_hopeless(self.state.beta, self.state.product):
                return None
            try:
                stalled = self._round(gradient, violation, cast(float, self.problem.middle(highest, lowest)))
            except Stopped:
                continue
            if stalled:
                break
        return self._by_other_means()

    def _early_end(self) -> Status | None:
        status = cast(Status | None, self.limits.reached())
        if status is None and self.limits.iterations_left(self.iterations) <= 0:
            return Status.ITERATION_LIMIT
        return status

    def _round(self, gradient: FloatArray, violation: float, level: float) -> bool:
        """Solve one working set; whether it stalled."""
        state = self.state
        # Whole rows are read once leaving entries out is seen to cost accuracy.
        self.may_leave_out &= violation <= WORTH_ANOTHER * self.last_violation
        self.last_violation = violation
        chosen, near = self._choose(gradient, violation, level)
        bias = level if self.problem.kink else 0.0
        working = WorkingSet(
            self.problem,
            self.matrix,
            chosen,
            state.beta,
            gradient,
            self.buffers,
            self.limits.stop,
            bias,
            near,
        )
        goes_on = violation >= self.near and near is None
        goal = max(0.9 * self.tol, ROUND_ACCURACY * violation) if goes_on else 0.9 * self.tol
        self.iterations += working.run(goal, self.limits, self.iterations)
        moved, change = working.change()
        state.beta[working.indices] = working.beta
        if len(moved):
            state.product += self.matrix.product(moved, change)
        return working.is_stalled or not np.abs(working.beta).max() < NEVER_BINDS

    def _choose(self, gradient: FloatArray, violation: float, level: float) -> tuple[IndexArray, NearRows | None]:
        """The working set, and the near entries if steps are to read nothing else."""
        chosen, kink = np.empty(len(gradient), np.intp), float(self.problem.kink)
        found = choose_undecided(
            self.state.beta, gradient, self.lower, self.upper, kink, level, 0.5 * violation, chosen
        )
        everything = np.arange(len(gradient))
        if found > WORTH_A_PASS * len(gradient) and self.may_leave_out and self.matrix.near_rows is not None:
            return everything, self.matrix.near_rows
        return (everything if found > WORTH_COPYING * self.open else chosen[:found]), None

    def _solution(self, gradient: FloatArray, status: Status) -> Solution:
        state = self.state
        state.beta = self.problem.balanced(state.beta)
        bias = self.problem.bias(state.beta, gradient)
        return Solution(state.beta.copy(), gradient, bias, status, self.iterations)

    def _by_other_means(self) -> Solution:
        """Rounding, or a kernel that is not what it claims: leave the rest to the general solver."""
        rows = np.flatnonzero(self.problem.upper > self.problem.lower)
        part = narrowed(self.problem, rows)
        found = decomposition.solve(
            part,
            self.matrix.view(rows),
            tol=self.tol,
            limits=self.limits.after(self.iterations),
            start=self.state.beta[rows],
            memory=self.memory,
        )
        self.iterations += found.iterations
        self.state.beta[:] = 0.0
        self.state.beta[rows] = found.beta
        support = np.flatnonzero(self.state.beta)
        self.state.product[:] = self.matrix.product(support, self.state.beta[support])
        return self._solution(_gradient(self.problem, self.state), found.status)
