"""Steps of one row at a time for the machine of Crammer & Singer with a kernel.

Method (Crammer & Singer 2001): the row that violates its optimality conditions most has its
coefficients of all classes solved for, a projection onto a simplex with one bound (`crammer_singer`). This
happens among the rows of a working set, whose matrix is in memory, until they are done; then all
scores are brought up to date and the rows that violate most are the next working set.

Cost of a step: q K multiplications for q rows in the set and K classes, and as many for the choice of the
next one. Needs of a matrix: `submatrix` and `product`.
"""

import numpy as np

from mercer._jit.compile import announce_compilation, jit
from mercer._jit.threads import Stopped
from mercer.kernels.matrix import padded
from mercer.solvers.crammer_singer import project, settle
from mercer.solvers.limits import SLICE_SECONDS, Limits
from mercer.solvers.result import Solution, Status, TracePoint

# Rows of a working set at most; so many or fewer are solved together.
LARGEST_SET = 4000
# Each round goes on until the violation among its rows is this share of what it was.
INNER_SHARE = 0.1
# Steps for each row of a working set, after which something else is tried.
PATIENCE = 3000
# A violation this small counts as solved where rounding ends progress.
INACCURATE = 1e-6


@jit
def _row_violation(scores, alpha, code, C):
    """Largest score (plus 1 for other classes) minus the smallest of those that may still rise."""
    largest, smallest = -np.inf, np.inf
    for m in range(scores.shape[0]):
        value = scores[m] if m == code else scores[m] + 1.0
        largest = max(largest, value)
        if alpha[m] < (C if m == code else 0.0) - 1e-13 * C:
            smallest = min(smallest, value)
    return largest - smallest if smallest < np.inf else 0.0


@jit
def row_steps(matrix, codes, C, alpha, scores, violations, tol, max_steps):
    """Steps until no row violates by more than `tol`; (their number, the largest violation)."""
    n, n_classes = alpha.shape
    B, goal, change = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for r in range(n):
        violations[r] = _row_violation(scores[r], alpha[r], codes[r], C[r])
    for step in range(max_steps + 1):
        i = 0
        for r in range(1, n):
            if violations[r] > violations[i]:
                i = r
        if violations[i] <= tol or step == max_steps:
            return step, violations[i]
        curvature = max(np.float64(matrix[i, i]), 1e-12)
        for m in range(n_classes):
            B[m] = scores[i, m] + (0.0 if m == codes[i] else 1.0) - curvature * alpha[i, m]
        project(B, codes[i], C[i], curvature, goal)
        settle(goal, codes[i])
        for m in range(n_classes):
            change[m] = goal[m] - alpha[i, m]
            alpha[i, m] = goal[m]
        row = matrix[i]
        for r in range(n):
            entry = np.float64(row[r])
            for m in range(n_classes):
                scores[r, m] += entry * change[m]
            violations[r] = _row_violation(scores[r], alpha[r], codes[r], C[r])
    return max_steps, violations[0]


def solve(problem, matrix, *, tol=1e-3, limits=None, start=None, gap_tol=None, convex=True):
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
        The relative duality gap to end at, in the place of `tol`.
    convex : bool
        Whether the kernel is known to be positive semidefinite.

    Returns
    -------
    Solution
        `beta` has a column, `bias` an entry for each class.
    """
    return _Rounds(problem, matrix, tol, limits or Limits(), start, gap_tol, convex).run()


class _Rounds:
    def __init__(self, problem, matrix, tol, limits, start, gap_tol, convex):
        self.problem, self.tol, self.gap_tol = problem, tol, gap_tol
        self.limits, self.convex = limits, convex
        self.matrix = matrix.in_double() if matrix.is_rough else matrix
        shape = matrix.n, problem.n_classes
        self.alpha = np.zeros(shape) if start is None else np.array(start, dtype=np.float64)
        self.scores = np.zeros(shape)
        self.steps, self.trace, self.target = 0, [], tol

    def run(self):
        announce_compilation()
        try:
            self._refresh()
            status = self._run()
        except Stopped:
            status = self.limits.reached()
        except MemoryError:
            status = Status.MEMORY_LIMIT
        bias = self.problem.intercept(self.alpha, None)
        return Solution(self.alpha, -self.scores, bias, status, self.steps, trace=self.trace)

    def _refresh(self):
        """All scores from the coefficients, summed in double precision."""
        self.scores[...] = 0.0
        self._add(np.flatnonzero(self.alpha.any(axis=1)), self.alpha)

    def _add(self, places, change):
        for m in range(change.shape[1]):
            moved = places[change[places, m] != 0]
            if len(moved):
                self.scores[:, m] += self.matrix.product(moved, change[moved, m], stop=self.limits.stop)
        self.scores += self.problem.shift * change[places].sum(axis=0)

    def _run(self):
        while True:
            violation = self.problem.violation(self.alpha, self.scores)
            primal, dual = self.problem.objectives(self.alpha, self.scores)
            n = len(self.alpha)
            self.trace.append(TracePoint(self.limits.seconds, self.steps, violation, dual, min(n, LARGEST_SET), n))
            self.limits.report(self.trace[-1])
            if self._is_solved(violation, primal, dual):
                return Status.OPTIMAL
            if self.limits.stop():
                return self.limits.reached()
            if self.limits.iterations_left(self.steps) <= 0:
                return Status.ITERATION_LIMIT
            if not self._round(violation):
                return self._stuck(violation)

    def _is_solved(self, violation, primal, dual):
        if self.gap_tol is None:
            return violation <= self.tol
        # A gap that is still too large asks for less violation.
        self.target = min(self.target, 0.3 * violation)
        return primal - dual <= self.gap_tol * max(1.0, abs(primal))

    def _stuck(self, violation):
        if not self.convex:
            return Status.NOT_CONVEX
        return Status.OPTIMAL_INACCURATE if violation <= INACCURATE else Status.STALLED

    def _round(self, violation):
        """Solve the rows that violate most among themselves; False if none of them moved."""
        chosen = self._chosen()
        q = len(chosen)
        block = np.zeros((q, padded(q)), self.matrix.dtype)
        self.matrix.submatrix(chosen, block, self.limits.stop)
        block[:, :q] += block.dtype.type(self.problem.shift)
        alpha, scores = self.alpha[chosen].copy(), self.scores[chosen].copy()
        is_whole = q == len(self.alpha)
        tol = 0.9 * self.target if is_whole else max(0.5 * self.target, INNER_SHARE * violation)
        self._steps(block, chosen, alpha, scores, tol)
        change = np.zeros_like(self.alpha)
        change[chosen] = alpha - self.alpha[chosen]
        moved = np.flatnonzero(change.any(axis=1))
        self.alpha[chosen] = alpha
        self._add(moved, change)
        return len(moved) > 0

    def _chosen(self):
        n = len(self.alpha)
        if n <= LARGEST_SET:
            return np.arange(n)
        problem = self.problem
        gradient = self.scores + 1.0
        gradient[np.arange(n), problem.codes] -= 1.0
        inside = self.alpha < problem.upper() - 1e-13 * problem.C[:, None]
        violations = gradient.max(axis=1) - np.where(inside, gradient, np.inf).min(axis=1)
        return np.sort(np.argsort(-violations, kind="stable")[: LARGEST_SET // 2])

    def _steps(self, block, chosen, alpha, scores, tol):
        """Steps in slices of 100 ms, until `tol`, a limit, or too many of them."""
        problem, violations = self.problem, np.zeros(len(chosen))
        codes, C = problem.codes[chosen], problem.C[chosen]
        pace, taken = max(16, int(SLICE_SECONDS * 1e9 / (4.0 * alpha.size + 1000.0))), 0
        while taken < PATIENCE * len(chosen):
            allowed = min(pace, self.limits.iterations_left(self.steps))
            steps, _ = row_steps(block, codes, C, alpha, scores, violations, tol, allowed)
            self.steps += steps
            taken += steps
            if steps < allowed or allowed <= 0 or self.limits.stop():
                return
