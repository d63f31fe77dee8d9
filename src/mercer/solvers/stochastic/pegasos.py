r"""Stochastic gradient descent for Soft-SVM (Pegasos).

Method (Shalev-Shwartz, Singer & Srebro 2007; Shalev-Shwartz & Ben-David 2014, section 15.5):
minimise lambda/2 |w|^2 + the mean hinge loss. From theta = 0, step t takes
w = theta / (lambda t), draws a row at random, and adds y x to theta if y <w, x> < 1. The
answer is the mean of the iterates, or the last one. Variants: several rows in a step
(`batch_size`), and a projection of w onto the ball in which the minimiser must lie.

Cost of a step: the entries of its rows, dense or sparse, averaged or not (see `pegasos_steps`).
Needs of a problem: the hinge loss, and no bias or a penalised one. With a free bias it is not strongly
convex: use `solve_dual`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer._jit.compile import UNBOUNDED
from mercer._jit.row_steps import rows_ahead
from mercer._jit.row_views import view_rows
from mercer._jit.threads import Stopped
from mercer._types import FloatArray, IndexArray, Rows
from mercer.solvers.limits import SLICE_SECONDS, Limits
from mercer.solvers.result import Status
from mercer.solvers.stochastic.pegasos_steps import (
    LOSS,
    NORM,
    ROWS,
    SCALE,
    SHORT,
    STEP,
    SUM,
    Rule,
    linear_steps,
    new_clock,
    single_steps,
)
from mercer.solvers.stochastic.visit_order import Sampler

if TYPE_CHECKING:
    from mercer.kernels._types import Stop

# Most points of a trace.
TRACE_POINTS = 50
# Row entries in the first slice of a run.
FIRST_SLICE = 2**20
# Larger weights overflow when multiplied.
LARGEST = 1e100
OVERFLOW = "the weights overflow on X; scale the features, or raise lam"


@dataclass(frozen=True)
class Steps:
    """The settings of a step.

    Attributes
    ----------
    lam : float
        lambda of lambda/2 |w|^2 + mean loss.
    batch_size : int
        Rows at each step.
    radius : float
        Of the ball onto which w is projected; infinite for none.
    has_bias : bool
        Whether there is a penalised bias: a feature that is 1 everywhere.
    averaged : bool
        Whether the mean of the iterates is wanted.
    """

    lam: float
    batch_size: int = 1
    radius: float = np.inf
    has_bias: bool = False
    averaged: bool = True

    @property
    def rule(self) -> Rule:
        """The same for compiled code."""
        return Rule(self.batch_size, float(self.lam), min(self.radius, UNBOUNDED), float(self.has_bias))


@dataclass(frozen=True)
class StepPoint:
    """How a run of SGD stands.

    Attributes
    ----------
    seconds : float
    iterations : int
        Steps taken.
    loss : float
        Mean loss of the rows visited since the last point, each at the iterate that met it.
    short : float
        Share of them that fell short of the margin.
    """

    seconds: float
    iterations: int
    loss: float
    short: float


@dataclass
class SGDSolution:
    """Weights, and how the run ended.

    Attributes
    ----------
    weights : ndarray (d,)
        The mean of the iterates, or the last one without averaging.
    intercept : float
    status : Status
        OPTIMAL when all steps were taken.
    iterations : int
    trace : list of StepPoint
    iterate : LinearIterate
        To continue the run from.
    """

    weights: np.ndarray
    intercept: float
    status: Status
    iterations: int
    trace: list[StepPoint] = field(default_factory=list)
    iterate: object = None


class Iterate:
    """The state of a run: what every form of SGD keeps, and how a run is cut into slices."""

    _slice: int | None

    # Least visits between two points of a trace, so that tracing costs next to nothing.
    visits_a_point = 2**15

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.clock = new_clock()
        self._slice = None

    @property
    def iterations(self) -> int:
        """Steps taken so far."""
        return int(self.clock[STEP]) - 1

    def advance(
        self, source: Any, signs: FloatArray, weights: FloatArray, order: IndexArray, stop: "Stop | None" = None
    ) -> None:
        """Visit the rows of `order`."""
        raise NotImplementedError

    def run(
        self,
        source: Any,
        signs: FloatArray,
        weights: FloatArray,
        order: tuple[Callable[[int, int], IndexArray], int],
        limits: Limits,
        on_slice: Callable[[], object] | None = None,
    ) -> Status | None:
        """Visit rows in slices; the status that ended it, or None once all were visited.

        `order` is a function of (first, count) that gives the rows to visit, for `total` visits.
        """
        draw, total = order
        done, size = 0, self._slice or self._first_slice(source)
        while done < total:
            status = limits.reached()
            if status is not None:
                return status
            begin = time.monotonic()
            try:
                self.advance(source, signs, weights, draw(done, min(size, total - done)), limits.stop)
            except Stopped:
                return limits.reached()
            done += size
            if done < total and time.monotonic() - begin < 0.4 * SLICE_SECONDS:
                size *= 2
        self._slice = size
        return None

    def _first_slice(self, source: Any) -> int:
        """Visits known to fit into one slice."""
        return self.steps.batch_size

    def take_trace(self, limits: Limits) -> StepPoint:
        """A trace point for the visits since the last one."""
        rows = max(1.0, self.clock[ROWS])
        point = StepPoint(limits.seconds, self.iterations, self.clock[LOSS] / rows, self.clock[SHORT] / rows)
        self.clock[[ROWS, SHORT, LOSS]] = 0.0
        return point


class LinearIterate(Iterate):
    """theta, and the sum of all iterates, of one two-class problem over rows."""

    def __init__(self, n_features: int, steps: Steps) -> None:
        super().__init__(steps)
        self.theta = np.zeros(n_features + 1)
        self.sums = np.zeros(n_features + 1 if steps.averaged else 0)

    def advance(
        self, source: Rows, signs: FloatArray, weights: FloatArray, order: IndexArray, stop: "Stop | None" = None
    ) -> None:
        """Visit the rows of `order` of a dense array or CSR matrix."""
        steps, rows = self.steps, view_rows(source)
        visits = rows, signs, weights, order, rows_ahead(rows)
        if steps.batch_size == 1 and steps.radius == np.inf:
            single_steps(*visits, steps.lam, float(steps.has_bias), self.clock, self.theta, self.sums)
        else:
            self.clock[NORM] = self.theta @ self.theta
            short = np.empty(steps.batch_size, np.int64)
            linear_steps(*visits, steps.rule, self.clock, self.theta, self.sums, short)
        if not np.isfinite(self.clock).all():
            raise DataError(OVERFLOW)

    def _first_slice(self, source: Rows) -> int:
        rows, batch = view_rows(source), self.steps.batch_size
        return batch * max(1, FIRST_SLICE * rows.n_rows // max(1, rows.n_entries * batch))

    def last(self) -> FloatArray:
        """The iterate that the next step uses, bias included."""
        return self.clock[SCALE] / (self.steps.lam * self.clock[STEP]) * self.theta

    def mean(self) -> FloatArray:
        """The mean of all iterates so far, bias included."""
        return (self.clock[SUM] * self.theta - self.sums) / max(1, self.iterations)

    def weights(self) -> tuple[FloatArray, float]:
        """(w, b) as requested: the mean, or the last iterate."""
        found = self.mean() if self.steps.averaged else self.last()
        if not np.abs(found).max(initial=0.0) < LARGEST:
            raise DataError(OVERFLOW)
        return found[:-1], float(found[-1])


def run_steps(
    iterate: Iterate, source: Any, signs: FloatArray, weights: FloatArray, sampler: Sampler, T: int, limits: Limits
) -> tuple[Status, list[StepPoint]]:
    """Take T steps, with a trace; (status, trace)."""
    batch, trace = iterate.steps.batch_size, []
    points = min(max(1, T * batch // iterate.visits_a_point), TRACE_POINTS)
    edges = [T * k // points for k in range(points + 1)]
    first = iterate.iterations
    for begin, end in pairwise(edges):

        def draw(done: int, count: int, offset: int = (first + begin) * batch) -> IndexArray:
            return sampler.draw(offset + done, count)

        status = iterate.run(source, signs, weights, (draw, (end - begin) * batch), limits)
        if iterate.clock[ROWS]:
            trace.append(iterate.take_trace(limits))
            limits.report(trace[-1])
        if status is not None:
            return status, trace
    return Status.OPTIMAL, trace


def solve(
    X: Rows,
    signs: FloatArray,
    lam: float,
    *,
    T: int | None = None,
    epochs: float | None = None,
    batch_size: int = 1,
    average: bool = True,
    projected: bool = False,
    bias: str = "none",
    sampling: str = "replacement",
    limits: Limits | None = None,
    seed: int = 0,
) -> SGDSolution:
    """Minimise lambda/2 |w|^2 + mean hinge by stochastic gradient descent.

    Parameters
    ----------
    X : ndarray (n, d) in C order, or CSR matrix; float32 or float64, checked
    signs : ndarray (n,)
        Labels, +1 or -1.
    lam : float
    T : int, optional
        Number of steps; or `epochs`, a multiple of the number of rows. One of them is required.
    batch_size : int
    average : bool
        Whether the answer is the mean of the iterates or the last one.
    projected : bool
        Project w onto the ball of radius 1/sqrt(lambda) after each step.
    bias : {"none", "penalized"}
    sampling : {"replacement", "permutation"}
    limits : Limits, optional
    seed : int

    Returns
    -------
    SGDSolution

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.stochastic.pegasos import solve
    >>> found = solve(np.array([[1.0], [-2.0]]), np.array([1.0, -1.0]), lam=0.5, T=10_000)
    >>> print(found.weights.round(2), found.status.name)
    [1.] OPTIMAL
    """
    if bias not in ("none", "penalized"):
        raise ParameterError(f'bias must be "none" or "penalized" for SGD, got {bias!r}; solver="smo" takes a free one')
    limits = limits or Limits()
    weights = np.ones(len(signs))
    radius = ball_radius(lam, weights) if projected else np.inf
    iterate = LinearIterate(X.shape[1], Steps(lam, batch_size, radius, bias == "penalized", average))
    sampler = Sampler(len(signs), seed, sampling)
    T = step_count(T, epochs, sampler.epoch_size, batch_size)
    status, trace = run_steps(iterate, X, signs, weights, sampler, T, limits)
    w, b = iterate.weights()
    return SGDSolution(w, b, status, iterate.iterations, trace, iterate)


def ball_radius(lam: float, weights: FloatArray) -> float:
    """sqrt(mean loss weight / lambda): a bound on the norm of the minimiser, by strong duality."""
    return float(np.sqrt(np.mean(weights) / lam))


def step_count(T: int | None, epochs: float | None, rows: int, batch_size: int, default: int | None = None) -> int:
    """Steps of a run: T, or as many as `epochs` visits of every row take."""
    if T is not None and epochs is not None:
        raise ParameterError(f"T and epochs cannot both be given, got T={T!r} and epochs={epochs!r}")
    if T is None and epochs is None:
        if default is None:
            raise ParameterError("one of T and epochs is needed, got neither")
        return default
    return int(T) if T is not None else max(1, int(np.ceil(cast(float, epochs) * rows / batch_size)))
