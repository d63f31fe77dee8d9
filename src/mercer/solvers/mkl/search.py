"""The search for kernel weights: the points visited, the best one, and when it ends."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.result import Status, TracePoint

if TYPE_CHECKING:
    from mercer.problems.mkl.weighted_kernels import Judged, WeightSet
    from mercer.solvers._types import Machines
    from mercer.solvers.limits import Limits

# Give up after this many points where the machines alone miss the required gap: rounding keeps them from being solved,
# and better weights would be sought for ever.
MOST_UNSOLVED = 5
# A gap within this multiple of the required one counts as inaccurate rather than failed.
NEARLY = 10.0


@dataclass(frozen=True)
class WeightPoint(TracePoint):
    """The state of a search for kernel weights after one solution of the machines.

    `violation` is the duality gap of machines and weights together relative to the primal, `dual` the lower bound,
    `working_set` the number of kernels with a weight, and `active` the number of all.
    """

    primal: float = float("nan")
    weights: np.ndarray | None = None


class WeightSearch:
    """Points that a search has visited.

    Parameters
    ----------
    allowed : WeightSet
    machines
        ``machines.solve(weights, start)`` gives a `Judged`, or None if a limit ended it; `start` is a
        `Judged` or None. ``machines.judge(weights, betas)`` judges given coefficients,
        ``machines.curvature(judged)`` gives second derivatives, and ``machines.tighten()`` says whether
        they can be solved more finely, and has it done.
    gap_tol : float
        Gap of machines and weights together, relative to `Judged.scale`.
    limits : Limits
        Its `max_iter` bounds the number of points.

    Attributes
    ----------
    best : Judged
        The point with the smallest gap.
    since_best : int
        Points visited after it.
    unsolved : int
        Points whose machines could not be solved as finely as the gap asks for.
    """

    best: "Judged | Any"
    trace: list[WeightPoint]

    def __init__(self, allowed: "WeightSet", machines: "Machines", gap_tol: float, limits: "Limits") -> None:
        self.allowed, self.machines, self.gap_tol, self.limits = allowed, machines, gap_tol, limits
        self.best, self.trace, self.iterations = None, [], 0
        self.since_best, self.unsolved = 0, 0

    def visit(self, weights: FloatArray) -> "Judged | None":
        """Solve the machines at these weights; None if that was stopped early."""
        judged = self.machines.solve(weights, self.best)
        if judged is None:
            return None
        self.unsolved += not judged.machines_gap <= self.gap_tol * judged.scale
        return self.note(judged)

    def note(self, judged: "Judged") -> "Judged":
        """Record a point, and keep the one with the smallest gap."""
        self.iterations += 1
        self.since_best += 1
        gap = judged.gap(self.allowed)
        if self.best is None or gap < self.best.gap(self.allowed):
            self.best, self.since_best = judged, 0
        point = WeightPoint(
            self.limits.seconds,
            self.iterations,
            gap,
            judged.bound(self.allowed),
            int(np.count_nonzero(judged.weights)),
            len(judged.weights),
            gap=gap,
            primal=judged.primal,
            weights=judged.weights,
        )
        self.trace.append(point)
        self.limits.report(point)
        return judged

    def ended(self) -> Status | None:
        """The status that ends the search now, or None."""
        if self.best is not None and self.best.gap(self.allowed) <= self.gap_tol:
            return Status.OPTIMAL
        status = self.limits.reached()
        if status is None and self.limits.iterations_left(self.iterations) <= 0:
            return Status.ITERATION_LIMIT
        return self.short_of() if status is None and self.unsolved >= MOST_UNSOLVED else status

    def short_of(self) -> Status:
        """The status of a search that cannot improve and has not closed the gap."""
        is_near = self.best.gap(self.allowed) <= NEARLY * self.gap_tol
        return Status.OPTIMAL_INACCURATE if is_near else Status.STALLED
