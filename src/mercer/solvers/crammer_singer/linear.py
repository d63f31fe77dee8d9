"""The sequential dual method for the classifier of Crammer & Singer (Keerthi et al. 2008).

A step solves the dual over all alpha_i^m of one row: a projection onto a simplex with one bound, found by
a monotone Newton iteration on its multiplier. An iteration is a pass over all rows and some over those
that moved in it; a pass costs two operations for each entry and class.
Weights are stored feature by feature, so that the classes of a feature are adjacent in memory.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.row_views import row_adds, row_dots
from mercer._jit.splitmix import GOLDEN
from mercer._types import FloatArray, IndexArray
from mercer.solvers.linear.cd_steps import shuffle
from mercer.solvers.linear.dual_cd import FIRST_CHECK, HOPELESS, next_wait, passes_left
from mercer.solvers.linear_result import POLISHED, LinearSolution, is_within, share_of_gap
from mercer.solvers.result import Status, TracePoint

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts
    from mercer._jit.row_views import RowView
    from mercer.problems.linear.crammer_singer import CrammerSinger
    from mercer.solvers.limits import Limits

SLICE_PRODUCTS = 30_000_000
# After each pass over all rows, at most this many over those that still move.
INNER_PASSES = 30
INNER_SHARE = 0.1


@jit
def project(B: FloatArray, code: int, C: float, A: float, alpha: FloatArray) -> None:
    """The alpha that minimises A |alpha|^2 / 2 + B alpha, sum zero, alpha[m] <= C if m is `code`, else <= 0.

    alpha[m] = min(bound, (t - B[m]) / A): the sum is concave and increasing in t with its root at or above the mean of
    B, so Newton's method from there increases monotonically and takes a few steps.
    """
    K = B.shape[0]
    t = B.sum() / K
    for _ in range(K + 1):
        free, total = 0, 0.0
        for m in range(K):
            bound = C if m == code else 0.0
            if (t - B[m]) < A * bound:
                free += 1
                total += B[m]
            else:
                total -= A * bound
        if free == 0:
            break
        following = total / free
        if following <= t:
            break
        t = following
    for m in range(K):
        bound = C if m == code else 0.0
        value = (t - B[m]) / A
        # A difference of rounding size from the bound counts as being at it.
        alpha[m] = value if value < bound - 1e-14 * C else bound


@jit
def settle(alpha: FloatArray, code: int, C: float) -> None:
    """Make the sum zero by changing the entry of the row's own class, or the others if that is at its bound.

    An entry that misses its bound by a rounding error would look free, though no step could move it.
    """
    total = 0.0
    for m in range(alpha.shape[0]):
        if m != code:
            total -= alpha[m]
    if total < C and alpha[code] < C:
        alpha[code] = total
        return
    alpha[code] = C
    for m in range(alpha.shape[0]):
        if m != code:
            alpha[m] *= C / total


@jit
def crammer_singer_pass(
    rows: "RowView",
    codes: IndexArray,
    C: FloatArray,
    squares: FloatArray,
    scale: float,
    W: FloatArray,
    alpha: FloatArray,
    active: IndexArray,
    begin: int,
    end: int,
) -> tuple[int, float]:
    """One step for each of the rows active[begin:end]; how many moved, and the largest move.

    The rows that moved are put first.
    """
    K, last, largest, count = W.shape[1], W.shape[0] - 1, 0.0, begin
    B, goal, steps = np.empty(K), np.empty(K), np.empty(K)
    for k in range(begin, end):
        i = active[k]
        if C[i] <= 0.0:
            continue
        A = squares[i] + scale * scale
        if A <= 0.0:
            continue
        for m in range(K):
            B[m] = (0.0 if m == codes[i] else 1.0) - A * alpha[i, m] + scale * W[last, m]
        row_dots(rows, i, W, B)
        project(B, codes[i], C[i], A, goal)
        settle(goal, codes[i], C[i])
        moved = 0.0
        for m in range(K):
            steps[m] = goal[m] - alpha[i, m]
            moved = max(moved, abs(steps[m]))
        if moved > 1e-15 * C[i]:
            for m in range(K):
                alpha[i, m] = goal[m]
                W[last, m] += scale * steps[m]
            row_adds(rows, i, steps, W)
            largest = max(largest, moved / C[i])
            active[k], active[count] = active[count], i
            count += 1
    return count - begin, largest


@jit
def _scores(rows: "RowView", W: FloatArray, scale: float, out: FloatArray, begin: int, end: int) -> None:
    last = W.shape[0] - 1
    for i in range(begin, end):
        for m in range(W.shape[1]):
            out[i, m] = scale * W[last, m]
        row_dots(rows, i, W, out[i])


def solve(
    products: "RowProducts",
    problem: "CrammerSinger",
    *,
    gap_tol: float,
    limits: "Limits",
    start: LinearSolution | None = None,
    seed: int = 0,
    polish: bool = False,
) -> LinearSolution:
    """Solve a `CrammerSinger` problem; w, bias and beta of the solution have a row for each class.

    Parameters
    ----------
    products : RowProducts
    problem : CrammerSinger
    gap_tol : float
    limits : Limits
    start : LinearSolution, optional
    seed : int
    polish : bool
        Go on to the last digits where they can be had.

    Returns
    -------
    LinearSolution
        With w (K, d), bias (K,) and beta (n, K).
    """
    descent = _Descent(products, problem, start, seed)
    found = descent.run(POLISHED if polish else gap_tol, limits)
    if is_within(descent.primal, descent.dual, gap_tol):
        found.status = Status.OPTIMAL
    return found


class _Descent:
    def __init__(
        self, products: "RowProducts", problem: "CrammerSinger", start: LinearSolution | None, seed: int
    ) -> None:
        self.products, self.problem = products, problem
        n, K = products.n, problem.n_classes
        self.alpha = np.zeros((n, K)) if start is None else start.beta.copy()
        self.W = np.zeros((products.n_features + 1, K))
        self._place_rows_of_zeros()
        if start is not None:
            self._fit_weights()
        self.state = np.array([(seed * 2 + 1) * int(GOLDEN) % 2**64], dtype=np.uint64)
        self.primal, self.dual = np.inf, -np.inf
        # Used if the objective overflows.
        self.best = np.zeros((K, products.n_features)), np.zeros(K)
        self.epochs, self.trace = 0, []

    def _place_rows_of_zeros(self) -> None:
        """Put the coefficients of a zero row into a corner and skip it: its loss does not depend on W."""
        problem = self.problem
        zeros = np.flatnonzero((self.products.squares() + problem.scale**2 <= 0.0) & (problem.C > 0.0))
        own = problem.codes[zeros]
        self.alpha[zeros] = 0.0
        self.alpha[zeros, own] = problem.C[zeros]
        self.alpha[zeros, (own + 1) % problem.n_classes] = -problem.C[zeros]

    def _fit_weights(self) -> None:
        for m in range(self.alpha.shape[1]):
            column = np.ascontiguousarray(self.alpha[:, m])
            self.W[:-1, m] = self.products.combination(column)
            self.W[-1, m] = self.problem.scale * column.sum()

    def run(self, gap_tol: float, limits: "Limits") -> LinearSolution:
        """Alternate passes and checks until an end."""
        wait, last_better = FIRST_CHECK, 0
        while True:
            status = self._descend(wait, limits)
            before = share_of_gap(self.primal, self.dual), self.epochs - wait
            self._check()
            gap = share_of_gap(self.primal, self.dual)
            n = self.products.n
            point = TracePoint(limits.seconds, self.epochs, gap, self.dual, n, n, gap=gap)
            self.trace.append(point)
            limits.report(point)
            if is_within(self.primal, self.dual, gap_tol):
                return self._solution(Status.OPTIMAL)
            status = status or limits.reached()
            if status is not None:
                return self._solution(status)
            if gap < before[0]:
                last_better = self.epochs
            elif self.epochs - last_better > HOPELESS // INNER_PASSES:
                return self._solution(Status.OPTIMAL_INACCURATE)
            left = passes_left(before, (gap, self.epochs), gap_tol)
            wait = next_wait(left, self.epochs)

    def _descend(self, passes: int, limits: "Limits") -> Status | None:
        problem = self.problem
        mean = max(1, self.products.n_entries // self.products.n) * problem.n_classes
        size = max(1, SLICE_PRODUCTS // mean)
        for _ in range(passes):
            if limits.iterations_left(self.epochs) <= 0:
                return Status.ITERATION_LIMIT
            moved, first = self._pass(np.arange(self.products.n), size, limits)
            for _ in range(INNER_PASSES):
                if len(moved) == 0 or limits.stop():
                    break
                moved, largest = self._pass(moved, size, limits)
                if largest <= INNER_SHARE * first:
                    break
            self.epochs += 1
            if limits.reached() is not None:
                return limits.reached()
        return None

    def _pass(self, chosen: IndexArray, size: int, limits: "Limits") -> tuple[IndexArray, float]:
        """One step for each of the given rows, in slices; (those that moved, the largest move)."""
        problem, moved, largest = self.problem, [], 0.0
        shuffle(chosen, self.state)
        for begin in range(0, len(chosen), size):
            if begin and limits.stop():
                break
            count, most = crammer_singer_pass(
                self.products.rows, problem.codes, problem.C, self.products.squares(), problem.scale,
                self.W, self.alpha, chosen, begin, min(begin + size, len(chosen)),
            )  # fmt: skip
            moved.append(chosen[begin : begin + count])
            largest = max(largest, most)
        return np.concatenate(moved), largest

    def _check(self) -> None:
        problem = self.problem
        values = np.empty_like(self.alpha)
        self.products.run(lambda begin, end: _scores(self.products.rows, self.W, problem.scale, values, begin, end))
        W, bias = self.W[:-1].T, problem.scale * self.W[-1]
        primal = problem.primal(W, bias, values)
        if primal < self.primal:
            # A copy: the transpose of a single feature is already contiguous, and later steps would overwrite it.
            self.primal, self.best = primal, (W.copy(), bias)
        self.dual = problem.dual(self.alpha, W)

    def _solution(self, status: Status) -> LinearSolution:
        W, bias = self.best
        return LinearSolution(W, bias, self.alpha, status, self.epochs, self.trace)
