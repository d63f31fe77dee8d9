"""Pairs of classes, solved together (see `mercer.solvers.class_pairs.solve_pairs`).

The matrix of all points is computed once where classes are small. Larger classes come pair by pair, on all cores side
by side: the block of a class with itself is computed once for all its pairs, that of two classes for the one pair.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from mercer._jit.compile import UNBOUNDED
from mercer._jit.threads import Stopped, one_blas_thread, run_parallel, thread_count
from mercer._types import FloatArray, IndexArray
from mercer.estimators.fitting.support import Support
from mercer.estimators.fitting.tasks import pair_columns
from mercer.estimators.fitting.two_class import TwoClassProblems
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.losses.margin_losses import MARGIN_LOSSES
from mercer.solvers.class_pairs import solve_pairs as report_of
from mercer.solvers.class_pairs.out_of_fold_pairs import Goal, left_out_class_pairs
from mercer.solvers.class_pairs.solve_pairs import solve_class_pair, solve_class_pairs
from mercer.solvers.dual_qp import policy
from mercer.solvers.dual_qp.block_steps import LEFT, ROUNDING
from mercer.solvers.dual_qp.policy import Route
from mercer.solvers.result import Status, TracePoint

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.kernels.gram.evaluated import EvaluatedMatrix
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits


# Entries of pair matrices that are worth another thread, and turns that are enough for threads to share evenly.
TURN, MOST_TURNS = 20_000, 12
NOT_BEGUN = -2
# Points whose gradients are compared with double precision.
SAMPLE = 32


# A lookup table: constructing 45 statuses takes as long as solving a pair.
_STATUSES = {status.value: status for status in Status}


@lru_cache(maxsize=8)
def _pairs_of(n_classes: int) -> IndexArray:
    """The classes i < j of each pair; read-only."""
    pairs = np.column_stack(np.triu_indices(n_classes, 1))
    pairs.flags.writeable = False
    return pairs


def are_small(setup: TwoClassProblems, cache_bytes: int) -> bool:
    """Whether every pair is small, the bias free, and the matrix of all points fits."""
    if not setup.has_pairs or setup.bias != "free" or 8 * len(setup.codes) ** 2 > cache_bytes:
        return False
    return 2 * int(np.bincount(setup.codes).max()) <= policy.EXACT_SIZE


def share_blocks(setup: TwoClassProblems, matrix: "KernelMatrix", cache_bytes: int) -> bool:
    """Whether pairs are of a size to be solved one by one over their own matrices, rounded to single precision."""
    if not setup.has_pairs or setup.bias != "free" or matrix.is_stored or matrix.dtype != np.float32 or matrix.is_rough:
        return False
    sizes = np.bincount(setup.codes)
    pair = 2 * int(sizes.max())
    room = matrix.dtype.itemsize * (int(sizes @ sizes) + pair**2 * thread_count(matrix.n_jobs))
    return pair <= policy.STORED_SIZE and room <= cache_bytes


def solve_by_blocks(
    matrix: "EvaluatedMatrix",
    setup: TwoClassProblems,
    tol: float,
    is_convex: bool,
    limits: "Limits",
    solve_one: Callable[..., Any],
) -> "PairsSolved":
    """All pairs, each over the matrix of its two classes."""
    return PairsSolved(setup, limits).solve_by_blocks(matrix, tol, is_convex, solve_one)


def solve(
    data: "TrainingData",
    setup: TwoClassProblems,
    tol: float,
    budget: "Budget",
    n_jobs: int | None,
    limits: "Limits",
    solve_one: Callable[..., Any],
    folds: IndexArray | None = None,
) -> "tuple[PairsSolved, list[FloatArray]]":
    """(`PairsSolved`, out-of-fold decision values of each pair's points if there are folds)."""

    def solve_pairs(part: TwoClassProblems, matrix: StoredMatrix | None = None) -> "PairsSolved":
        return PairsSolved(part, limits).solve(data, tol, budget, n_jobs, solve_one, matrix)

    solved = solve_pairs(setup)
    if folds is None:
        solved.forget_matrix()
        return solved, []
    scores, status = solved.out_of_fold(data, setup, folds, tol, n_jobs, limits, solve_pairs)
    solved.statuses[0] = Status.worst([solved.statuses[0], status])
    return solved, [scores[task.indices, k] for k, task in enumerate(setup.tasks)]


class PairsSolved:
    """As `Solved`, from one table of coefficients and one report for all pairs.

    Parameters
    ----------
    setup : TwoClassProblems
    limits : Limits
    """

    if TYPE_CHECKING:
        _matrix: Any

    def __init__(self, setup: TwoClassProblems, limits: "Limits") -> None:
        used = np.flatnonzero(setup.C)
        self._order = used[np.argsort(setup.codes[used], kind="stable")]
        self._edges = np.concatenate([[0], np.cumsum(np.bincount(setup.codes[used], minlength=setup.n_classes))])
        self._pairs = _pairs_of(setup.n_classes)
        self._table = np.zeros((setup.n_classes - 1, len(used)))
        self._report = np.zeros((len(self._pairs), 5))
        self._report[:, report_of.ENDING] = NOT_BEGUN
        self._setup, self._limits, self._matrix = setup, limits, None
        self._seconds, self._alone = 0.0, np.arange(len(self._pairs))
        self._rounding = np.zeros(len(self._pairs))

    def solve(
        self,
        data: "TrainingData",
        tol: float,
        budget: "Budget",
        n_jobs: int | None,
        solve_one: Callable[..., Any],
        matrix: "KernelMatrix | None" = None,
    ) -> Self:
        """Solve all pairs; `solve_one(problem, matrix, k)` gets those left over.

        `matrix`, if known, is that of the participating points in the order of their classes.
        """
        limits = self._limits
        convex = data.kernel.is_psd is True
        if matrix is None:
            is_rounded = convex and data.shape[0] > policy.PAIRS_IN_SINGLE_FROM
            matrix = data.matrix(tol if is_rounded else min(tol, ROUNDING), None, budget, n_jobs)
            # If the entries of some rows are too rough, those of all are computed in double precision.
            matrix = (matrix.in_double() if matrix.is_rough else matrix).view(self._order)
        try:
            with one_blas_thread():  # once for both
                self._matrix = matrix = matrix.stored(limits.stop)
                self._solve_all(matrix.values, convex, tol, n_jobs)
            self._check_and_solve_rest(matrix, tol, solve_one)
        except Stopped:
            pass
        return self._concluded()

    def solve_by_blocks(
        self, matrix: "EvaluatedMatrix", tol: float, is_convex: bool, solve_one: Callable[..., Any]
    ) -> Self:
        """Solve pair by pair over matrices of their own, parts of that of all points."""
        limits, matrix = self._limits, matrix.view(self._order)
        *_, box, ridge = self._problems(np.empty((0, 0)), self._setup)

        def turn(k: int) -> None:
            first, second = (np.arange(*span) for span in self._spans(k))
            places, beta = np.concatenate([first, second]), np.empty(len(first) + len(second))
            part = matrix.stored_pair(first, second, limits.stop)
            goal = is_convex, tol, limits.max_iter
            solve_class_pair(part.values, len(first), box[places], ridge[places], *goal, beta, self._report[k])
            part.release()
            self._write_down(k, beta)

        try:
            run_parallel(turn, range(len(self._pairs)), thread_count(matrix.n_jobs), limits.stop)
            self._seconds = limits.seconds
            self._check_and_solve_rest(matrix, tol, solve_one)
        except Stopped:
            pass
        return self._concluded()

    def _check_and_solve_rest(
        self, matrix: "StoredMatrix | EvaluatedMatrix", tol: float, solve_one: Callable[..., Any]
    ) -> None:
        if matrix.dtype == np.float32:
            self._leave_inaccurate(matrix, tol)
        self._alone = np.flatnonzero(self._report[:, report_of.ENDING] != Status.OPTIMAL)
        if len(self._alone):
            self._solve_rest(matrix, solve_one)

    def _concluded(self) -> Self:
        """Statuses, intercepts and support vectors from table and report."""
        report, limits = self._report, self._limits
        ended = report[:, report_of.ENDING].astype(int)
        early = limits.reached() or Status.STALLED
        self.statuses = [_STATUSES.get(code, early) for code in ended.tolist()]
        self.iterations = report[:, report_of.STEPS].astype(np.int32)
        self.intercepts = report[:, report_of.BIAS].copy()
        for k in np.flatnonzero((ended != Status.OPTIMAL) & (self.iterations == 0)):
            self.intercepts[k] = self._setup.problems[k].best_constant()
        self.support = Support.of_table(self._order, self._edges, self._table)
        self._setup = self._limits = cast(Any, None)
        return self

    def forget_matrix(self) -> None:
        """Out-of-fold values will not be needed: release the memory for the next fit."""
        if isinstance(self._matrix, StoredMatrix):
            self._matrix.release()
        self._matrix = None

    def out_of_fold(
        self,
        data: "TrainingData",
        setup: TwoClassProblems,
        folds: IndexArray,
        tol: float,
        n_jobs: int | None,
        limits: "Limits",
        solve_pairs: Callable[..., Any],
    ) -> tuple[FloatArray, Status]:
        """(decision values of each pair for its points by a solution without them, worst status).

        ``solve_pairs(setup, matrix)`` solves the pairs of a subset of the points.
        """
        matrix, self._matrix = self._matrix, None
        scores = np.zeros((len(setup.codes), len(self._pairs)))
        if not isinstance(matrix, StoredMatrix):
            # Stopped before there was a matrix: the decision values are the intercepts.
            return scores + self.intercepts, Status.OPTIMAL
        own = folds[self._order]
        try:
            scores[self._order] = self._scores_of_folds(matrix.values, data, setup, own, tol, n_jobs, limits)
        except Stopped:
            scores[self._order] = self._values(matrix.values[:, : matrix.n], self.intercepts)
            return scores, limits.reached()
        left = np.flatnonzero(self._report[:, report_of.ENDING] == LEFT)
        status = Status.OPTIMAL
        for fold in np.unique(own[own >= 0]) if len(left) else []:
            found, held = self._solve_fold(matrix, setup, folds, fold, own, solve_pairs)
            scores[np.ix_(self._order[held], left)] = found._values(matrix.values[held, : matrix.n], found.intercepts)[
                :, left
            ]
            status = Status.worst([status, *found.statuses])
        matrix.release()
        return scores, status

    def _scores_of_folds(
        self,
        K: FloatArray,
        data: "TrainingData",
        setup: TwoClassProblems,
        own: IndexArray,
        tol: float,
        n_jobs: int | None,
        limits: "Limits",
    ) -> FloatArray:
        """The out-of-fold scores of the sorted points; unsolved pairs are marked LEFT."""
        report, scores = self._report, np.zeros((len(own), len(self._pairs)))
        # A pair that was solved separately, or not to the end, will need that without some points too.
        report[self._alone, report_of.ENDING] = LEFT
        problems, n_folds = self._problems(K, setup), int(own.max(initial=-1)) + 1
        goal = Goal(data.kernel.is_psd is True, float(tol), limits.max_iter)

        def turn(span: tuple[int, int]) -> None:
            left_out_class_pairs(problems, own, n_folds, goal, *span, self._table, report, scores)

        run_parallel(turn, self._turns(), thread_count(n_jobs), limits.stop)
        return scores

    def _solve_fold(
        self,
        matrix: "KernelMatrix",
        setup: TwoClassProblems,
        folds: IndexArray,
        fold: int,
        own: IndexArray,
        solve_pairs: Callable[..., Any],
    ) -> "tuple[PairsSolved, IndexArray]":
        """(all pairs without a fold, its points)."""
        held, kept = np.flatnonzero(own == fold), np.flatnonzero(own != fold)
        C = np.where(folds == fold, 0.0, setup.C)
        without = TwoClassProblems(setup.codes, setup.n_classes, setup.multi_class, C, *setup.kind)
        found = solve_pairs(without, matrix.view(kept))
        found.forget_matrix()
        found._spread(self._edges, kept)
        return found, held

    def _spread(self, edges: IndexArray, places: IndexArray) -> None:
        """Insert zero coefficients for the points that took no part: copying whole rows of a matrix is faster than
        copying some columns."""
        table = np.zeros((len(self._table), edges[-1]))
        table[:, places] = self._table
        self._edges, self._table = edges, table

    def _values(self, K: FloatArray, intercepts: float | FloatArray) -> FloatArray:
        """Decision values of all pairs, from kernel values with the participating points."""
        n_classes = len(self._edges) - 1
        out = np.zeros((len(K), len(self._pairs))) + intercepts
        for c in range(n_classes):
            span = slice(self._edges[c], self._edges[c + 1])
            out[:, pair_columns(c, n_classes)] += K[:, span] @ self._table[:, span].T
        return out

    def _problems(
        self, K: FloatArray, setup: TwoClassProblems
    ) -> tuple[FloatArray, IndexArray, IndexArray, FloatArray, FloatArray]:
        """The matrix, the first index of each class, the pairs, and the box and ridge of each sorted point."""
        C = setup.C[self._order]
        box, ridge = np.minimum(MARGIN_LOSSES[setup.loss].box(C), UNBOUNDED), MARGIN_LOSSES[setup.loss].ridge(C)
        return K, self._edges, self._pairs, box, np.zeros(len(C)) if ridge is None else ridge

    def _solve_all(self, K: FloatArray, convex: bool, tol: float, n_jobs: int | None) -> None:
        limits, problems, results = self._limits, self._problems(K, self._setup), (self._table, self._report)

        def turn(span: tuple[int, int]) -> None:
            solve_class_pairs(*problems, convex, tol, limits.max_iter, *span, *results)

        run_parallel(turn, self._turns(), thread_count(n_jobs), limits.stop)
        self._seconds = limits.seconds

    def _turns(self) -> list[tuple[int, int]]:
        """Consecutive pairs that together are worth a thread."""
        sizes, n_pairs = np.diff(self._edges), len(self._pairs)
        # The sum over pairs of (a + b)^2.
        if sizes.sum() ** 2 + (len(sizes) - 2) * (sizes @ sizes) < 2 * TURN:
            return [(0, n_pairs)]
        work = np.cumsum(sizes[self._pairs].sum(axis=1) ** 2)
        cuts = np.flatnonzero(np.diff(work // max(TURN, work[-1] // MOST_TURNS))) + 1
        return list(pairwise([0, *cuts.tolist(), n_pairs]))

    def _leave_inaccurate(self, matrix: "StoredMatrix | EvaluatedMatrix", tol: float) -> None:
        """Mark pairs whose gradient differs in double precision, so that they are solved again.

        The gradient is compared at a few points only, as in `rounding_error`.
        """
        sample = np.arange(0, matrix.n, -(-matrix.n // SAMPLE))
        sample = np.union1d(sample, matrix.longest(np.arange(matrix.n), SAMPLE // 4))
        rounding = matrix.rows_in_double(sample) - matrix.rows(sample)
        errors = np.abs(self._values(rounding, 0.0)).max(axis=0)
        self._rounding = policy.ROWS_NOT_COMPARED * errors
        report = self._report
        is_solved = report[:, report_of.ENDING] == Status.OPTIMAL
        report[is_solved & (2.0 * errors > tol - report[:, report_of.VIOLATION]), report_of.ENDING] = LEFT

    def _solve_rest(self, matrix: "KernelMatrix", solve_one: Callable[..., Any]) -> None:
        def turn(k: int) -> None:
            places = np.concatenate([np.arange(*span) for span in self._spans(k)])
            solution = solve_one(self._setup.problems[k], matrix.view(places), k)
            self._write_down(k, solution.beta)
            # Stopped before its first look, a solution has no trace.
            last = solution.trace[-1] if solution.trace else None
            violation, dual = (np.inf, 0.0) if last is None else (last.violation, last.dual)
            self._report[k] = solution.iterations, solution.status, violation, solution.bias, dual
            self._rounding[k] = solution.rounding

        left = np.flatnonzero(self._report[:, report_of.ENDING] == LEFT)
        run_parallel(turn, left.tolist(), thread_count(matrix.n_jobs))

    def _write_down(self, k: int, beta: FloatArray) -> None:
        """The coefficients of a pair into the table."""
        (first, second), (i, j) = self._spans(k), self._pairs[k]
        own = first[1] - first[0]
        self._table[j - 1, slice(*first)] = beta[:own]
        self._table[i, slice(*second)] = beta[own:]

    def _spans(self, k: int) -> list[tuple[int, int]]:
        """The positions of a pair's two classes among the sorted points."""
        return [(int(self._edges[c]), int(self._edges[c + 1])) for c in self._pairs[k]]

    def betas(self) -> list[FloatArray]:
        """Signed dual coefficients of each pair."""
        found = []
        for k, (i, j) in enumerate(self._pairs):
            first, second = self._spans(k)
            found.append(np.concatenate([self._table[j - 1, slice(*first)], self._table[i, slice(*second)]]))
        return found

    def reaches(self) -> list[float]:
        """The sum of |coefficients| of each pair, from those of each class (none of which is empty)."""
        sums = np.add.reduceat(np.abs(self._table), self._edges[:-1], axis=1)
        first, second = self._pairs.T
        return cast(list[float], (sums[second - 1, first] + sums[first, second]).tolist())

    def violations(self) -> list[float]:
        """An upper bound of each pair's violation, as far as its solver knows."""
        return (self._report[:, report_of.VIOLATION] + self._rounding).tolist()

    def traces(self) -> list[Any]:
        """The single round of each pair."""
        sizes = np.diff(self._edges)[self._pairs].sum(axis=1).tolist()
        return [
            [TracePoint(self._seconds, int(steps), violation, dual, m, m, route=Route.CLASS_PAIRS.value)]
            for (steps, _, violation, _, dual), m in zip(self._report.tolist(), sizes, strict=True)
        ]
