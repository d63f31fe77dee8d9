"""Steps of one row at a time for the classifier of Crammer & Singer with a kernel.

Method (Crammer & Singer 2001): for the row that violates its optimality conditions most, the
coefficients of all classes are solved for, a projection onto a simplex with one bound (`crammer_singer`). This
happens among the rows of a working set, whose matrix is in memory, until they are done; then all
scores are updated and the rows that violate most form the next working set.

An iteration is as many steps as there are rows. Cost of a step: q K multiplications for q rows in the set
and K classes, and as many to choose the next row. With few rows, Newton steps on the
coefficients away from their bounds take over when steps become slow. Needs of a matrix: `submatrix` and `product`.

Free biases are the multipliers of one equation for each class, and are found by the method of multipliers (Hestenes
1969; Powell 1969): with biases that cost the square of their distance from a centre, solve as above; then the biases
found are the next centre. What little the equations lack at the end goes to rows with room for it.
"""

from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.threads import Stopped
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels.gram.kernel_matrix import padded
from mercer.problems.certificate import relative_gap
from mercer.solvers.crammer_singer.row_steps import newton_on_rows, row_steps, settle_rows
from mercer.solvers.limits import SLICE_SECONDS, Limits
from mercer.solvers.result import Solution, Status, TracePoint
from mercer.solvers.tolerances import ended_by_rounding

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.svm.crammer_singer import KernelCrammerSinger

# Most rows of a working set, memory permitting; a smaller problem is solved as one.
LARGEST_SET = 4000
# Each round reduces the violation among its rows to this share.
INNER_SHARE = 0.1
# Steps per row of a working set before another method is tried.
PATIENCE = 3000
# Up to this many rows, solving to rounding error costs next to nothing; the answer then does not depend on the order of
# rows, or on whether rows are repeated or weighted.
SMALL = 400
POLISHED = 1e-11
# Steps per row before Newton steps are tried, and how many times they are.
CRAWLING, RESCUES = 20, 25
# Free biases: most centres; the share of `tol` (times C) by which the class sums may be off; and how much more
# accurately each centre's problem is solved.
CENTRES, BALANCED, AHEAD = 60, 1e-3, 0.1
# Rounds, or centres, without progress before giving up: rounding may keep a centre's problem from its target.
IDLE = 5


def solve(
    problem: "KernelCrammerSinger",
    matrix: "KernelMatrix",
    *,
    tol: float = 1e-3,
    limits: Limits | None = None,
    start: FloatArray | None = None,
    gap_tol: float | None = None,
    convex: bool = True,
    memory: int = 2**30,
) -> Solution:
    """Solve a `KernelCrammerSinger` problem.

    Parameters
    ----------
    problem : KernelCrammerSinger
        All weights positive.
    matrix : KernelMatrix
    tol : float
        Largest violation of a row's optimality conditions, in units of its scores.
    limits : Limits, optional
    start : ndarray (n, K), optional
    gap_tol : float, optional
        Stop at this relative duality gap instead of `tol`.
    convex : bool
        Whether the kernel is known to be positive semidefinite.
    memory : int
        Bytes that the matrix of a working set may take.

    Returns
    -------
    Solution
        `beta` has a column, `bias` an entry for each class.
    """
    return _Rounds(problem, matrix, tol, limits or Limits(), start, gap_tol, convex, memory).run()


class _Progress:
    """Tracks whether a quantity still decreases, or the dual still grows."""

    def __init__(self) -> None:
        self.least, self.dual, self.idle = np.inf, -np.inf, 0

    def has_ended(self, value: float, dual: float = -np.inf) -> bool:
        """True after `IDLE` consecutive values hardly below the previous minimum."""
        is_better = value < 0.9 * self.least or dual > self.dual + 1e-9 * abs(dual)
        self.idle = 0 if is_better else self.idle + 1
        self.least, self.dual = min(value, self.least), max(dual, self.dual)
        return self.idle >= IDLE


class _Rounds:
    def __init__(
        self,
        problem: "KernelCrammerSinger",
        matrix: "KernelMatrix",
        tol: float,
        limits: Limits,
        start: FloatArray | None,
        gap_tol: float | None,
        convex: bool,
        memory: int,
    ) -> None:
        self.problem, self.tol, self.gap_tol = problem, tol, gap_tol
        self.limits, self.convex = limits, convex
        self.matrix = matrix.in_double() if matrix.is_rough else matrix
        self.largest = min(LARGEST_SET, max(SMALL, isqrt(memory // self.matrix.dtype.itemsize)))
        shape = matrix.n, problem.n_classes
        self.alpha = np.zeros(shape) if start is None else np.array(start, dtype=np.float64)
        self.scores = np.zeros(shape)
        self.steps, self.trace, self.target = 0, [], tol
        self.centre = np.zeros(problem.n_classes)
        self.shift = max(float(np.mean(self.matrix.diag)), 1e-12) if problem.is_free else problem.shift

    @property
    def bias(self) -> FloatArray:
        """The sum of the coefficients of each class."""
        return self.centre + self.shift * self.alpha.sum(axis=0)

    def run(self) -> Solution:
        try:
            self._refresh()
            status = self._run_with_centres() if self.problem.is_free else self._run_to_rounding()
        except Stopped:
            status = self.limits.reached()
        except MemoryError:
            status = Status.MEMORY_LIMIT
        bias = self.problem.intercept(self.alpha, self.bias)
        return Solution(self.alpha, -self.scores, bias, status, self._iterations, trace=self.trace)

    def _run_to_rounding(self) -> Status:
        status = self._run()
        if status == Status.OPTIMAL and len(self.alpha) <= SMALL:
            self._polish()
        return status

    def _run_with_centres(self) -> Status:
        """Solve with biases near a centre, then move it, until the coefficients of each class sum to zero."""
        is_small, scale = len(self.alpha) <= SMALL, float(self.problem.C.max())
        enough = POLISHED * scale if is_small else BALANCED * min(1.0, self.tol) * scale
        progress = _Progress()
        for _ in range(CENTRES):
            status = self._run_to_rounding()
            if status != Status.OPTIMAL:
                return status
            lacking = self.alpha.sum(axis=0)
            if progress.has_ended(float(np.abs(lacking).max())):
                break
            if np.abs(lacking).max() <= enough:
                self._balance()
                if self._has_small_gap():
                    return status
                self.target *= 0.1
            moved = self.shift * lacking
            self.centre += moved
            self.scores += moved
            self.target = min(self.target, max(AHEAD * float(np.abs(moved).max()), AHEAD * self.shift * enough))
        self._balance()
        # Once the sums are zero only the optimality conditions matter, however little the centres moved.
        is_solved = self._violation <= self.tol and self._has_small_gap()
        return Status.OPTIMAL if is_solved and self._is_balanced(enough) else Status.OPTIMAL_INACCURATE

    @property
    def _violation(self) -> float:
        return self.problem.violation(self.alpha, self.scores)

    def _is_balanced(self, enough: float) -> bool:
        return float(np.abs(self.alpha.sum(axis=0)).max()) <= enough

    def _has_small_gap(self) -> bool:
        if self.gap_tol is None:
            return True
        primal, dual = self.problem.objectives(self.alpha, self.scores, self.bias)
        return primal - dual <= self.gap_tol * max(1.0, abs(primal))

    def _balance(self) -> None:
        """Shift the missing sums between classes, in the rows where it does least harm; the biases stay."""
        bias, upper = self.bias, self.problem.upper()
        for _ in range(2 * self.problem.n_classes):
            lacking = self.alpha.sum(axis=0)
            giver, taker = int(lacking.argmax()), int(lacking.argmin())
            amount = min(float(lacking[giver]), -float(lacking[taker]))
            if not amount > 0:
                break
            gradient = self.scores + 1.0
            gradient[np.arange(len(self.alpha)), self.problem.codes] -= 1.0
            has_room = self.alpha[:, taker] + amount <= upper[:, taker]
            row = int(np.where(has_room, gradient.max(axis=1) - gradient[:, giver], np.inf).argmin())
            if not has_room[row]:
                break
            self.alpha[row, giver] -= amount
            self.alpha[row, taker] += amount
        self.centre = bias - self.shift * self.alpha.sum(axis=0)
        self._refresh()

    @property
    def _iterations(self) -> int:
        return -(-self.steps // max(1, len(self.alpha)))

    @property
    def _steps_left(self) -> int:
        left = self.limits.iterations_left(0)
        return left if left >= 2**62 else left * len(self.alpha) - self.steps

    def _refresh(self) -> None:
        """All scores from the coefficients, summed in double precision."""
        self.scores[...] = self.centre
        self._add(np.flatnonzero(self.alpha.any(axis=1)), self.alpha)

    def _add(self, places: IndexArray, change: FloatArray) -> None:
        for m in range(change.shape[1]):
            moved = places[change[places, m] != 0]
            if len(moved):
                self.scores[:, m] += self.matrix.product(moved, change[moved, m], stop=self.limits.stop)
        self.scores += self.shift * change[places].sum(axis=0)

    def _run(self) -> Status:
        progress = _Progress()
        while True:
            violation = self._violation
            primal, dual = self.problem.objectives(self.alpha, self.scores, self.bias)
            n = len(self.alpha)
            size, gap = min(n, self.largest), relative_gap(primal, dual)
            self.trace.append(TracePoint(self.limits.seconds, self._iterations, violation, dual, size, n, gap=gap))
            self.limits.report(self.trace[-1])
            if self._is_solved(violation, primal, dual):
                return Status.OPTIMAL
            if self.limits.stop():
                return self.limits.reached()
            if self._steps_left <= 0:
                return Status.ITERATION_LIMIT
            if progress.has_ended(violation, dual) or not self._round(violation):
                return self._stuck(violation)

    def _is_solved(self, violation: float, primal: float, dual: float) -> bool:
        if self.gap_tol is None or self.problem.is_free:
            return violation <= self.target
        # The gap is still too large, so require a smaller violation.
        self.target = min(self.target, 0.3 * violation)
        return primal - dual <= self.gap_tol * max(1.0, abs(primal))

    def _stuck(self, violation: float) -> Status:
        if self.gap_tol is None and violation <= self.tol:
            return Status.OPTIMAL  # only a centre asks for more than the user does
        if not self.convex:
            return Status.NOT_CONVEX
        return ended_by_rounding(violation)

    def _round(self, violation: float) -> bool:
        """Solve the worst-violating rows among themselves; False if none of them moved."""
        chosen = self._chosen()
        q = len(chosen)
        block = np.zeros((q, padded(q)), self.matrix.dtype)
        self.matrix.submatrix(chosen, block, self.limits.stop)
        block[:, :q] += block.dtype.type(self.shift)
        alpha, scores = self.alpha[chosen].copy(), self.scores[chosen].copy()
        is_whole = q == len(self.alpha)
        tol = 0.9 * self.target if is_whole else max(0.5 * self.target, INNER_SHARE * violation)
        if q <= SMALL:
            self._steps_and_newton(block[:, :q], chosen, alpha, scores, tol)
        else:
            self._steps(block, chosen, alpha, scores, tol, PATIENCE)
        change = np.zeros_like(self.alpha)
        change[chosen] = alpha - self.alpha[chosen]
        moved = np.flatnonzero(change.any(axis=1))
        self.alpha[chosen] = alpha
        self._add(moved, change)
        return len(moved) > 0

    def _chosen(self) -> IndexArray:
        n = len(self.alpha)
        if n <= self.largest:
            return np.arange(n)
        problem = self.problem
        gradient = self.scores + 1.0
        gradient[np.arange(n), problem.codes] -= 1.0
        inside = self.alpha < problem.upper() - 1e-13 * problem.C[:, None]
        violations = gradient.max(axis=1) - np.where(inside, gradient, np.inf).min(axis=1)
        return np.sort(np.argsort(-violations, kind="stable")[: self.largest // 2])

    def _steps_and_newton(
        self, block: Array, chosen: IndexArray, alpha: FloatArray, scores: FloatArray, tol: float
    ) -> None:
        codes, C = self.problem.codes[chosen], self.problem.C[chosen]
        for _ in range(RESCUES):
            if self._steps(block, chosen, alpha, scores, tol, CRAWLING) <= tol:
                return
            newton_on_rows(block, codes, C, alpha, scores, self.limits.stop)
            settle_rows(codes, C, alpha)

    def _polish(self) -> None:
        """Continue to rounding error, within bounds, from recomputed scores."""
        self._refresh()
        everything = np.arange(len(self.alpha))
        block = np.zeros((len(everything), padded(len(everything))), self.matrix.dtype)
        self.matrix.submatrix(everything, block, self.limits.stop)
        block[:, : len(everything)] += block.dtype.type(self.shift)
        self._steps_and_newton(block[:, : len(everything)], everything, self.alpha, self.scores, POLISHED)

    def _steps(
        self, block: Array, chosen: IndexArray, alpha: FloatArray, scores: FloatArray, tol: float, patience: int
    ) -> float:
        """Take steps in slices of 100 ms until `tol`, a limit, or too many steps.

        Returns the largest violation left, or 0 at a limit.
        """
        problem, violations = self.problem, np.zeros(len(chosen))
        codes, C = problem.codes[chosen], problem.C[chosen]
        pace = max(16, int(SLICE_SECONDS * 1e9 / (4.0 * alpha.size + 1000.0)))
        taken, violation = 0, np.inf
        while taken < patience * len(chosen):
            allowed = max(0, min(pace, self._steps_left, patience * len(chosen) - taken))
            steps, violation = row_steps(block, codes, C, alpha, scores, violations, tol, allowed)
            self.steps += steps
            taken += steps
            if self._steps_left <= 0 or self.limits.stop():
                return 0.0
            if steps < allowed:
                break
        return violation
