"""The perceptron (Rosenblatt 1958), online, averaged and in batches, on rows or on kernel values.

Online: visit the points one by one, and at a mistake, y f(x) <= 0, add y x (times eta) to w. It ends after an
epoch without a mistake, when the data are separated. Averaged (Freund & Schapire 1999): the same, but
the answer is the mean of w over all visits. Batch: each epoch adds the mean of y x over all
mistakes, the gradient of the mean loss; that is one update, by a vector of norm at most rho
and margin at least gamma, so the same bound holds for their number. (A point of weight c is c copies
of it, the last one in part, here and in `perceptron_steps`.)

Cost of an epoch: one product with every row; on kernel values one visit to every item, and a row of
the matrix for each mistake. Needs: rows (`_jit.row_views`) or a `KernelMatrix`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._jit.row_views import view_rows
from mercer._types import FloatArray, IndexArray, Rows
from mercer.solvers.result import Solution, Status, TracePoint
from mercer.solvers.stochastic import perceptron_steps as steps

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits

METHODS = ("online", "averaged", "batch")
# Row entries per compiled slice: some milliseconds.
SLICE_ENTRIES = 4_000_000


@dataclass
class Trained:
    """Where the epochs ended.

    Attributes
    ----------
    coefficients : ndarray
        w, or the signed coefficients of items.
    bias : float
        b of rows; for items it is the sum of the coefficients.
    updates : int
    iterations : int
        Epochs, or steps of the simplex method.
    multipliers : ndarray or None
        Dual variables, where there are any.
    is_fresh : bool
        Whether it all began with w = 0.
    """

    coefficients: np.ndarray
    bias: float
    status: Status
    updates: int
    iterations: int
    trace: list[TracePoint] = field(default_factory=list)
    multipliers: np.ndarray | Any = None
    is_fresh: bool = True


@dataclass
class ItemSolution(Solution):
    """The coefficients of items, the number of updates, and dual variables if any; see `Trained`."""

    updates: int = 0
    is_fresh: bool = True
    multipliers: np.ndarray | None = None


@dataclass(frozen=True)
class Schedule:
    """How often, and in which order, points are visited.

    Attributes
    ----------
    order : ndarray of int
        The points that are visited, in the order of the first epoch.
    copies : ndarray (n,)
        The weight of each point.
    seed : int or None
        From which the order of each epoch is drawn; None for the order given.
    epochs : int
        At most.
    tol : float or None
        Stop if the mean loss of an epoch is not below the best before by this much ...
    patience : int
        ... for this many consecutive epochs.
    stands_for : ndarray of int (n,), optional
        For each point, the index in `order` of the point visited on its behalf: itself, or an equal one; -1 for points
        without weight.
    """

    order: np.ndarray
    copies: np.ndarray
    seed: int | None
    epochs: int
    tol: float | None = None
    patience: int = 5
    stands_for: np.ndarray | None = None

    def orders(self) -> Iterator[IndexArray]:
        """The visiting order, epoch by epoch; the same for every problem of a fit."""
        rng = None if self.seed is None else np.random.default_rng(self.seed)
        while True:
            yield self.order if rng is None else self.order[rng.permutation(len(self.order))]


def never() -> bool:
    """No limits."""
    return False


class _Machine:
    """The counters that both machines share."""

    # Whether the run started from w = 0.
    is_fresh = True
    answer: Callable[[], tuple[FloatArray, float]]

    def __init__(self, method: str, eta: float) -> None:
        self.method, self.eta = method, eta
        self.state = np.zeros(steps.STATE_SIZE)

    @property
    def updates(self) -> int:
        return int(self.state[steps.UPDATES])

    @property
    def visits(self) -> float:
        return float(self.state[steps.VISITS])

    @property
    def mistakes(self) -> int:
        """Points on the wrong side when visited in the last epoch."""
        return int(self.state[steps.MISTAKES])

    @property
    def loss(self) -> float:
        """The sum of their losses -y f(x)."""
        return float(self.state[steps.LOSS])

    def _begin(self) -> None:
        self.state[steps.MISTAKES] = self.state[steps.LOSS] = 0.0

    def trained(
        self, status: Status = Status.OPTIMAL, epochs: int = 1, trace: Iterable[TracePoint] = (), is_fresh: bool = True
    ) -> Trained:
        """The state as a result."""
        return Trained(*self.answer(), status, self.updates, epochs, list(trace), is_fresh=is_fresh)


class RowPerceptron(_Machine):
    """w and b, learnt from rows, with the state needed to continue a stream.

    Parameters
    ----------
    n_features : int
    method : {"online", "averaged", "batch"}
    eta : float
    with_bias : bool
    """

    def __init__(self, n_features: int, method: str, eta: float, with_bias: bool) -> None:
        super().__init__(method, eta)
        self.with_bias = with_bias
        self.w, self.late = np.zeros(n_features), np.zeros(n_features)

    def epoch(self, X: Rows, signs: FloatArray, copies: FloatArray, order: IndexArray, stop: "Stop") -> bool:
        """Visit the points once; whether all of them were visited."""
        self._begin()
        if self.method == "batch":
            self._batch(X, signs, copies, order)
            return True
        rows = view_rows(X)
        length = max(1, SLICE_ENTRIES // max(1, rows.n_entries // max(1, rows.n_rows)))
        for begin in range(0, len(order), length):
            if stop():
                return False
            end = min(begin + length, len(order))
            steps.visit_rows(
                rows, order, begin, end, signs, copies, self.eta, self.with_bias, self.w, self.late, self.state
            )
        return True

    def _batch(self, X: Rows, signs: FloatArray, copies: FloatArray, order: IndexArray) -> None:
        values = signs * (X @ self.w + self.state[steps.BIAS])
        wrong = np.zeros(len(signs), bool)
        wrong[order] = values[order] <= 0.0
        if wrong.any():
            weights = np.where(wrong, copies, 0.0)
            change = self.eta * signs * weights / np.ceil(weights).sum()
            self.w += change @ X
            self.state[steps.BIAS] += change.sum() if self.with_bias else 0.0
            self.state[steps.UPDATES] += 1.0
            self.state[steps.MISTAKES] = wrong.sum()
            self.state[steps.LOSS] = -float(weights @ values)
        self.state[steps.VISITS] += copies[order].sum()

    def answer(self) -> tuple[FloatArray, float]:
        """(w, b): the last ones, or their averages."""
        if self.method != "averaged" or self.state[steps.VISITS] == 0.0:
            return self.w.copy(), float(self.state[steps.BIAS])
        share = 1.0 / self.state[steps.VISITS]
        return self.w - share * self.late, float(self.state[steps.BIAS] - share * self.state[steps.LATE_BIAS])


class ItemPerceptron(_Machine):
    """Signed coefficients of items, learnt from kernel values.

    Parameters
    ----------
    matrix : KernelMatrix
        In double precision.
    method : {"online", "averaged", "batch"}
    eta : float
    shift : float
        Added to every kernel value: 1 for a bias.
    """

    def __init__(self, matrix: "KernelMatrix", method: str, eta: float, shift: float) -> None:
        super().__init__(method, eta)
        self.matrix, self.shift = matrix, shift
        self.beta, self.late, self.scores = np.zeros(matrix.n), np.zeros(matrix.n), np.zeros(matrix.n)

    def start(self, beta: FloatArray) -> None:
        """Start from given coefficients."""
        support = np.flatnonzero(beta)
        self.beta[:] = beta
        self.scores[:] = self.shift * beta.sum()
        if len(support):
            self.scores += self.matrix.product(support, beta[support])
            # Earlier visits do not count for averages, but they do for bounds.
            self.is_fresh = False

    def epoch(self, signs: FloatArray, copies: FloatArray, order: IndexArray, stop: "Stop") -> bool:
        """Visit the items once; whether all of them were visited."""
        self._begin()
        if self.method == "batch":
            self._batch(signs, copies, order, stop)
            return True
        place = 0
        while place < len(order):
            place = steps.next_mistake(order, place, len(order), signs, copies, self.scores, self.state)
            if stop():
                return False
            if place < len(order):
                self._update(int(order[place]), signs, copies)
                place += 1
        return True

    def _update(self, i: int, signs: FloatArray, copies: FloatArray) -> None:
        row = self.matrix.rows(np.array([i]))[0]
        steps.update_on(i, row, self.shift, signs, copies, self.eta, self.beta, self.late, self.scores, self.state)

    def _batch(self, signs: FloatArray, copies: FloatArray, order: IndexArray, stop: "Stop") -> None:
        values = signs * self.scores
        wrong = order[values[order] <= 0.0]
        if len(wrong):
            change = self.eta * signs[wrong] * copies[wrong] / np.ceil(copies[wrong]).sum()
            self.beta[wrong] += change
            self.scores += self.matrix.product(wrong, change, stop=stop) + self.shift * change.sum()
            self.state[steps.UPDATES] += 1.0
            self.state[steps.MISTAKES] = len(wrong)
            self.state[steps.LOSS] = -float(copies[wrong] @ values[wrong])
        self.state[steps.VISITS] += copies[order].sum()

    def solution(self, trained: Trained, signs: FloatArray) -> ItemSolution:
        """`Trained` as the solution of a dual problem."""
        return ItemSolution(
            beta=trained.coefficients,
            gradient=signs - self.scores,
            bias=trained.bias,
            status=trained.status,
            iterations=trained.iterations,
            trace=trained.trace,
            updates=trained.updates,
            is_fresh=trained.is_fresh,
        )

    def answer(self) -> tuple[FloatArray, float]:
        """(coefficients, their sum if there is a bias): the last ones, or their averages."""
        beta = self.beta.copy()
        if self.method == "averaged" and self.state[steps.VISITS] > 0.0:
            beta -= self.late / self.state[steps.VISITS]
        return beta, self.shift * float(beta.sum())


def train(
    machine: RowPerceptron | ItemPerceptron,
    epoch: "Callable[[IndexArray, Stop], bool]",
    schedule: Schedule,
    limits: "Limits",
) -> Trained:
    """Epochs until one has no mistake, or a limit is reached.

    Parameters
    ----------
    machine : RowPerceptron or ItemPerceptron
    epoch : callable
        ``epoch(order, stop)`` visits the points once; whether all of them were visited.
    schedule : Schedule
    limits : Limits

    Returns
    -------
    Trained
    """
    trace, done, best, since_best, status = [], 0, np.inf, 0, None
    is_fresh = machine.is_fresh and machine.visits == 0.0
    total = max(float(schedule.copies[schedule.order].sum()), np.finfo(np.float64).tiny)
    orders = schedule.orders()
    while status is None:
        is_whole = epoch(next(orders), limits.stop)
        done += is_whole
        loss = machine.loss / total
        improves = schedule.tol is None or loss < best - schedule.tol
        best, since_best = min(best, loss), 0 if improves else since_best + 1
        trace.append(TracePoint(limits.seconds, done, loss, 0.0, machine.mistakes, len(schedule.order)))
        limits.report(trace[-1])
        status = Status.OPTIMAL if is_whole and machine.mistakes == 0 else limits.reached()
        if status is None and since_best >= schedule.patience:
            status = Status.STALLED
        elif status is None and done >= schedule.epochs:
            status = Status.ITERATION_LIMIT
    return machine.trained(status, done, trace, is_fresh)
