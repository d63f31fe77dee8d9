"""The search for kernel weights: where it has been, what is best, and when it ends."""

from dataclasses import dataclass

import numpy as np

from mercer.solvers.result import Status, TracePoint


@dataclass(frozen=True)
class WeightPoint(TracePoint):
    """The state of a search for kernel weights after one solution of the machines.

    `violation` is the duality gap of machines and weights together in units of the primal, `dual` their bound,
    `working_set` the number of kernels that have a weight, and `active` that of all.
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
    """

    def __init__(self, allowed, machines, gap_tol, limits):
        self.allowed, self.machines, self.gap_tol, self.limits = allowed, machines, gap_tol, limits
        self.best, self.trace, self.iterations = None, [], 0
        self.since_best = 0

    def visit(self, weights):
        """Solve the machines at these weights; None if that was ended early."""
        judged = self.machines.solve(weights, self.best)
        return None if judged is None else self.note(judged)

    def note(self, judged):
        """Remember a point, and keep the one with the smallest gap."""
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

    def ended(self):
        """The status that ends the search now, or None."""
        if self.best is not None and self.best.gap(self.allowed) <= self.gap_tol:
            return Status.OPTIMAL
        status = self.limits.reached()
        if status is None and self.limits.iterations_left(self.iterations) <= 0:
            return Status.ITERATION_LIMIT
        return status
