"""The machines of one fold, for a series of settings that share a kernel matrix.

A series is a list of setups (two-class problems, or one regression) that differ in C alone. They are solved one after
the other over the matrix of all rows, each from where the last one ended and the first from the solution for all rows,
which the folds share (DeCoste & Wagstaff 2000). The results are the decision values of the rows that are judged.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._jit.compile import UNBOUNDED
from mercer._jit.scratch import Buffers
from mercer._jit.threads import Stopped
from mercer._types import FloatArray, IndexArray
from mercer.estimators.fitting.tasks import pair_columns
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.losses.margin_losses import MARGIN_LOSSES
from mercer.problems.svm.part_of_dual import widened
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.calibration.out_of_fold import start_without
from mercer.solvers.class_pairs import pairs_along_path, solve_pairs
from mercer.solvers.class_pairs.pairs_along_path import solve_pair_paths
from mercer.solvers.class_pairs.solve_pairs import solve_class_pairs
from mercer.solvers.dual_qp import policy, warm_sequence
from mercer.solvers.dual_qp.policy import is_exact
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.dual_qp.warm_sequence import WarmState
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


# Pairs of classes up to this many points are solved in one compiled loop; its slices are about so many entries.
LARGEST_PAIR = 1500
SLICE_ENTRIES = 2_000_000
# With many rows, a fit that only serves a score takes at most this many steps per row. Few settings are not solved by
# then (a large C on overlapping classes), and their scores hardly change in the hundreds of steps per row still to go.
MANY_ROWS = 2000
STEPS_A_ROW = 10
# A problem with more than this share of all rows is solved in the place of the matrix, without a copy.
IN_PLACE = 0.5


@dataclass
class FoldFit:
    """One setting on one fold: decision values, or None if it was cut, and how long they took."""

    values: np.ndarray | None
    status: Status
    seconds: float


class FoldSeries:
    """Solves series of setups on one fold.

    Parameters
    ----------
    matrix : StoredMatrix
        Of all rows.
    convex : bool
        Whether the kernel is known to be positive semidefinite.
    train : ndarray of int
        Rows to learn from; setups count from the first of them.
    rows : ndarray of int
        Rows whose decision values are asked for.
    tol : float
    limits : Limits
    memory : int
        Bytes for the matrix of a working set.
    """

    def __init__(
        self,
        matrix: "KernelMatrix",
        convex: bool,
        train: IndexArray,
        rows: IndexArray,
        tol: float,
        limits: "Limits",
        memory: int,
    ) -> None:
        self.matrix, self.convex, self.train, self.rows = matrix, convex, train, rows
        self.tol, self.limits, self.memory = tol, limits, memory
        self.is_capped = matrix.n >= MANY_ROWS and limits.max_iter < 0
        if self.is_capped:
            self.limits = limits.at_most(STEPS_A_ROW * len(train))
        self.buffers = Buffers()

    def on(self, rows: IndexArray) -> "FoldSeries":
        """The same for other rows to learn from."""
        return FoldSeries(self.matrix, self.convex, rows, self.rows, self.tol, self.limits, self.memory)

    def seed(self, setup: Any) -> "Seed | None":
        """The solution of a setup, for folds to begin with; None if they do not solve in place."""
        if len(setup.tasks) != 1 or self._are_pairs(setup):
            return None
        machine = self._machine(setup.tasks[0])
        if type(machine) is not _InPlace:
            return None
        machine.next(setup.problems[0], None)
        return Seed(machine.state, cast(DualProblem, machine.last))

    def solve(
        self, setups: Sequence[Any], hopeless: Sequence[Any] | None = None, seed: "Seed | None" = None
    ) -> list[FoldFit]:
        """A `FoldFit` for each setup.

        `hopeless`, where given, has for each setup a function of the coefficients and the decision values
        without bias of all rows, whose true answer cuts the setting short; `seed` is the `Seed` of the first.
        """
        if self._are_pairs(setups[0]):
            return self._pairs(setups)
        fits = []
        hopeless = hopeless or [None] * len(setups)
        machines = [self._machine(task) for task in setups[0].tasks]
        if seed is not None and type(machines[0]) is _InPlace:
            machines[0].seed = seed
        for k, setup in enumerate(setups):
            begin = time.perf_counter()
            found = [m.next(p, hopeless[k]) for m, p in zip(machines, setup.problems, strict=True)]
            fits.append(_joined(found, time.perf_counter() - begin))
        return fits

    def _machine(self, task: "BinaryTask") -> "_InPlace | _Afresh":
        places = self.train[task.indices]
        if self.matrix.n > policy.EXACT_SIZE and self.convex:
            in_place = len(places) > IN_PLACE * self.matrix.n
            return (_InPlace if in_place else _Apart)(self, places)
        return _Afresh(self, places)

    # --- all pairs of classes ---------------------------------------------------------------

    def _are_pairs(self, setup: Any) -> bool:
        if not setup.has_pairs or setup.bias != "free" or not (self.convex or is_exact(self.matrix)):
            return False
        return 2 * int(np.bincount(setup.codes).max()) <= LARGEST_PAIR

    def _pairs(self, setups: Sequence[Any]) -> list[FoldFit]:
        begin = time.perf_counter()
        paths = (_SmallPairs if is_exact(self.matrix) else _PairPaths)(self, setups)
        paths.run()
        values = paths.values()
        seconds = (time.perf_counter() - begin) / len(setups)
        return [FoldFit(values[c], paths.statuses[c], seconds) for c in range(len(setups))]


def _joined(found: Sequence[tuple[Any, Status]], seconds: float) -> FoldFit:
    """The columns of several two-class problems."""
    if any(values is None for values, _ in found):
        return FoldFit(None, Status.OPTIMAL, seconds)
    return FoldFit(np.stack([v for v, _ in found], axis=1), Status.worst([s for _, s in found]), seconds)


@dataclass(frozen=True)
class Seed:
    """The solution of a problem of all rows: a fold leaves out its own and goes on from there."""

    state: WarmState
    dual: DualProblem

    def state_for(self, dual: DualProblem, matrix: "KernelMatrix") -> WarmState:
        """Where a fold begins: few coefficients are not those for all rows, and K beta follows them."""
        held, whole = dual.upper <= dual.lower, self.dual
        same = (whole.upper == dual.upper) & (whole.lower == dual.lower)
        if not (held | same).all():
            return WarmState.zero(len(held))
        beta = start_without(dual, self.state.beta, held)
        change = beta - self.state.beta
        moved = np.flatnonzero(change)
        product = self.state.product.copy()
        if len(moved):
            product += matrix.product(moved, change[moved])
        return WarmState(beta, product)


class _InPlace:
    """A problem of most rows: the others are held out by shutting their box."""

    if TYPE_CHECKING:
        seed: Seed | None
        last: DualProblem | None

    def __init__(self, series: "FoldSeries | _Part", places: IndexArray) -> None:
        self.series, self.places, self.seed = series, places, None
        self.state, self.last = WarmState.zero(series.matrix.n), None

    def next(self, problem: Any, hopeless: Callable[..., Any] | None) -> tuple[FloatArray | None, Status]:
        """(decision values or None, status) of the next setting of the series."""
        series = self.series
        dual = self._dual(problem)
        if self.last is not None:
            self.state = warm_sequence.moved_to(self.state, self.last, dual, series.matrix)
        elif self.seed is not None:
            self.state = self.seed.state_for(dual, series.matrix)
        self.last = dual
        found = warm_sequence.solve(
            dual,
            cast(StoredMatrix, series.matrix),
            state=self.state,
            tol=series.tol,
            limits=series.limits,
            memory=series.memory,
            buffers=series.buffers,
            is_hopeless=hopeless,
        )
        if found is None:
            return None, Status.OPTIMAL
        _require_time(found.status)
        return self._projections() + problem.intercept(found.beta, found.bias), found.status

    def _dual(self, problem: Any) -> DualProblem:
        return widened(problem.dual(), self.places, self.series.matrix.n)

    def _projections(self) -> FloatArray:
        return self.state.product[cast(FoldSeries, self.series).rows]


class _Apart(_InPlace):
    """A problem of few of the rows, such as a pair of classes: on a copy of its part of the matrix."""

    def __init__(self, series: FoldSeries, places: IndexArray) -> None:
        super().__init__(_Part(series, places), places)
        self.whole = series

    def next(self, problem: Any, _hopeless: Any) -> tuple[FloatArray | None, Status]:
        """As `_InPlace.next`, to the end: a hopeless setting is known by values of all rows, not kept here."""
        return super().next(problem, None)

    def _dual(self, problem: Any) -> DualProblem:
        return problem.dual()

    def _projections(self) -> FloatArray:
        return _projections(self.whole, self.places, self.state.beta)


class _Part:
    """What `_InPlace` asks of a series, for some of the rows."""

    def __init__(self, series: FoldSeries, places: IndexArray) -> None:
        self.matrix = series.matrix.view(places)
        self.tol, self.limits, self.memory, self.buffers = series.tol, series.limits, series.memory, series.buffers


class _Afresh:
    """A small problem, solved to rounding error as `SVC` does it; or one whose kernel may be indefinite."""

    def __init__(self, series: FoldSeries, places: IndexArray) -> None:
        self.series, self.places = series, places
        self.matrix = series.matrix.view(places)

    def next(self, problem: Any, _hopeless: Any) -> tuple[FloatArray | None, Status]:
        """(decision values, status)."""
        found = _afresh(self.series, problem, self.matrix)
        _require_time(found.status)
        values = _projections(self.series, self.places, found.beta)
        return values + problem.intercept(found.beta, found.bias), found.status


def _afresh(series: Any, problem: Any, part: "KernelMatrix") -> "Solution":
    return solve_dual(
        problem.dual(),
        part,
        tol=series.tol,
        limits=series.limits,
        convex=series.convex,
        gap=problem.gap,
        memory=series.memory,
    )


def _require_time(status: Status) -> None:
    """A solution that was cut off by a limit of the whole search is not a score."""
    if status in (Status.TIME_LIMIT, Status.INTERRUPTED):
        raise Stopped


def _projections(series: Any, places: IndexArray, beta: FloatArray) -> FloatArray:
    support = np.flatnonzero(beta)
    K = cast(StoredMatrix, series.matrix).block(series.rows, places[support])
    return K.astype(np.float64) @ beta[support]


class _PairPaths:
    """All pairs of classes along a series of boxes (see `mercer.solvers.class_pairs.pairs_along_path`)."""

    def __init__(self, series: FoldSeries, setups: Sequence[Any]) -> None:
        first = setups[0]
        used = np.flatnonzero(first.C)
        self.series, self.setups = series, setups
        self.order = used[np.argsort(first.codes[used], kind="stable")]
        self.edges = np.concatenate([[0], np.cumsum(np.bincount(first.codes[used], minlength=first.n_classes))])
        self.pairs = np.column_stack(np.triu_indices(first.n_classes, 1))
        self.tables = np.zeros((len(setups), first.n_classes - 1, len(used)))
        self.report = np.zeros((len(setups), len(self.pairs), 3))
        self.statuses = [Status.OPTIMAL] * len(setups)

    def _boxes_and_ridges(self) -> tuple[FloatArray, FloatArray]:
        """Bounds of alpha, and what is added to the diagonal: of each setting, in the order of the classes."""
        loss, C = MARGIN_LOSSES[self.setups[0].loss], np.stack([setup.C[self.order] for setup in self.setups])
        ridges = (
            np.zeros_like(C) if loss.ridge(C[0]) is None else np.stack([cast(FloatArray, loss.ridge(row)) for row in C])
        )
        return np.minimum([loss.box(row) for row in C], UNBOUNDED), ridges

    def run(self) -> None:
        """Solve everything, in slices."""
        series = self.series
        boxes, ridges = self._boxes_and_ridges()
        arguments = (
            cast(StoredMatrix, series.matrix).values,
            series.train[self.order],
            self.edges,
            self.pairs,
            boxes,
            ridges,
        )
        ratios, steps = _growth(boxes), STEPS_A_ROW if series.is_capped else pairs_along_path.MOST_STEPS
        for span in self._turns():
            if series.limits.stop():
                raise Stopped
            solve_pair_paths(*arguments, ratios, series.tol, steps, span, self.tables, self.report)
        for c, p in np.argwhere(self.report[:, :, pairs_along_path.ENDING] == pairs_along_path.LEFT):
            if series.is_capped:
                self.statuses[c] = Status.ITERATION_LIMIT
            else:
                self._solve_one(c, p)

    def _turns(self) -> Iterable[tuple[int, int]]:
        sizes = np.diff(self.edges)[self.pairs].sum(axis=1)
        work = np.cumsum(sizes**2 * (1 + len(self.setups)))
        cuts = np.flatnonzero(np.diff(work // SLICE_ENTRIES)) + 1
        return pairwise([0, *cuts.tolist(), len(work)])

    def _solve_one(self, c: int, p: int | np.integer[Any]) -> None:
        """A pair that the compiled loop has left."""
        problem, task = self.setups[c].problems[p], self.setups[c].tasks[p]
        found = _afresh(self.series, problem, self.series.matrix.view(self.series.train[task.indices]))
        _require_time(found.status)
        i, j = self.pairs[p]
        own = self.edges[i + 1] - self.edges[i]
        self.tables[c, j - 1, self.edges[i] : self.edges[i + 1]] = found.beta[:own]
        self.tables[c, i, self.edges[j] : self.edges[j + 1]] = found.beta[own:]
        self.report[c, p, pairs_along_path.BIAS] = found.bias
        self.statuses[c] = Status.worst([self.statuses[c], found.status])

    def values(self) -> FloatArray:
        """Decision values of all pairs, shape (settings, rows, pairs)."""
        series, n_classes = self.series, len(self.edges) - 1
        K = cast(StoredMatrix, series.matrix).block(series.train[self.order], series.rows)
        # Coefficients of a pair sum to zero, so a constant may be taken off K. Without what the entries have in common,
        # sums in their own precision err no more than the entries do.
        K -= K.mean()
        biases, tables = self.report[:, :, pairs_along_path.BIAS].astype(K.dtype), self.tables.astype(K.dtype)
        out = np.repeat(biases[:, :, None], len(series.rows), axis=2)
        for c in range(n_classes):
            span = slice(self.edges[c], self.edges[c + 1])
            own = tables[:, :, span]
            sums = own.reshape(-1, own.shape[2]) @ K[span]
            out[:, pair_columns(c, n_classes)] += sums.reshape(len(out), n_classes - 1, -1)
        return out.transpose(0, 2, 1)


class _SmallPairs(_PairPaths):
    """The same for few rows: every box afresh and to rounding error, as `SVC` does it."""

    def run(self) -> None:
        """Solve everything, a setting at a time."""
        series, found = self.series, np.empty((len(self.pairs), 5))
        boxes, ridges = self._boxes_and_ridges()
        K = series.matrix.view(series.train[self.order]).stored().values
        for c, (box, ridge) in enumerate(zip(boxes, ridges, strict=True)):
            if series.limits.stop():
                raise Stopped
            solve_class_pairs(
                K, self.edges, self.pairs, box, ridge, series.convex, series.tol, series.limits.max_iter,
                0, len(self.pairs), self.tables[c], found,
            )  # fmt: skip
            self.report[c, :, pairs_along_path.BIAS] = found[:, solve_pairs.BIAS]
            for p in np.flatnonzero(found[:, solve_pairs.ENDING] != Status.OPTIMAL):
                self._solve_one(c, p)


def _growth(boxes: FloatArray) -> FloatArray:
    """By how much each box is larger than the one before; 0 where that is not one number."""
    ratios = np.zeros(len(boxes))
    for c in range(1, len(boxes)):
        if (boxes[c - 1 : c + 1] < UNBOUNDED).all():
            growth = boxes[c] / boxes[c - 1]
            ratios[c] = growth[0] if np.ptp(growth) <= 1e-12 * growth[0] else 0.0
    return ratios
