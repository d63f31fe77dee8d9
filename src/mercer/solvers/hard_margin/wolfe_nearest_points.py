"""The nearest points of two convex hulls, or the point of a hull nearest to the origin.

Method (Wolfe 1976, for one hull; Lawson & Hanson 1974 for the same as least squares): keep a
corral, an affinely independent set of points whose affine hull has its point z of smallest norm
inside their convex hull. The point with the smallest inner product with z joins it; members whose
weights would become negative leave it, one at a time, on the way to the new z. The norm of z
falls with every round, so the method ends, with a solution that is exact up to rounding.

Cost of a round: one inner product with every point, and an update of a factorisation of the
members. Needs: a corral, of coordinates (`qr_corral`) or of a kernel matrix (`cholesky_corral`).
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._types import FloatArray, IndexArray
from mercer.solvers.result import Status, TracePoint
from mercer.solvers.tolerances import ended_by_rounding

if TYPE_CHECKING:
    from mercer.solvers._types import Corral
    from mercer.solvers.limits import Limits

# Rounds without a shorter z after which only rounding errors are left.
PATIENCE = 5
# Points tried before concluding that none can join.
CANDIDATES = 8
# |z| below this share of the radius is zero.
ZERO = 16.0 * float(np.finfo(np.float64).eps)


@dataclass
class Nearest:
    """Where the search ended.

    Attributes
    ----------
    members : ndarray of int
        The points with a positive weight.
    weights : ndarray
        Their weights; those of each group sum to one.
    scores : ndarray (n,)
        z_i.z for every point.
    square : float
        |z|^2.
    lows : ndarray (n_groups,)
        The smallest score of each group. If their sum is positive, z separates.
    point : ndarray or None
        z in coordinates, where there are any.
    noise : float
        About the error of a score.
    """

    members: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    square: float
    lows: np.ndarray
    point: np.ndarray | Any
    noise: float
    status: Status
    iterations: int
    trace: list[TracePoint] = field(default_factory=list)

    @property
    def is_separating(self) -> bool:
        """Whether the scores prove that the hulls are disjoint, or that the origin lies outside."""
        return float(self.lows.sum()) > 2.0 * len(self.lows) * self.noise


def nearest_points(corral: "Corral", limits: "Limits", tol: float = 1e-12) -> Nearest:
    """Search from the shortest point of each group.

    Parameters
    ----------
    corral : FeatureCorral or KernelCorral
    limits : Limits
    tol : float
        Stop when |z|^2 exceeds its lower bound by less than this share.

    Returns
    -------
    Nearest
    """
    return _Search(corral, limits, tol).run()


class _Search:
    trace: list[TracePoint]
    best: tuple[IndexArray, FloatArray, FloatArray, float, FloatArray, FloatArray | None]

    def __init__(self, corral: "Corral", limits: "Limits", tol: float) -> None:
        self.corral, self.limits, self.tol = corral, limits, tol
        self.groups = [np.flatnonzero(corral.groups == g) for g in range(corral.n_groups)]
        self.trace = []
        self.best = cast(Any, None)

    def run(self) -> Nearest:
        corral, rounds, since_best = self.corral, 0, 0
        corral.start([int(group[corral.squares[group].argmin()]) for group in self.groups])
        weights = corral.minimiser()
        while True:
            scores, square = corral.scores(weights)
            lows = np.array([scores[group].min() for group in self.groups])
            gap = square - lows.sum()
            since_best = 0 if self._remember(weights, scores, square, lows) else since_best + 1
            self._report(rounds, gap, square)
            status = self._ending(gap, square, rounds, since_best)
            if status is None:
                weights, status = self._improve(weights, scores, gap / square)
            if status is not None:
                return Nearest(*self.best, corral.noise(self.best[3]), status, rounds, self.trace)
            rounds += 1

    def _remember(self, weights: FloatArray, scores: FloatArray, square: float, lows: FloatArray) -> bool:
        """Keep the shortest z so far; whether this is it."""
        if self.best is not None and not square < self.best[3]:
            return False
        self.best = np.array(self.corral.members), weights, scores, square, lows, self.corral.nearest
        return True

    def _report(self, rounds: int, gap: float, square: float) -> None:
        # In the units of the margin problem, whose objective is proportional to 1 / |z|^2.
        dual = len(self.groups) ** 2 / (2.0 * square) if square > 0.0 else np.inf
        violation = gap / square if square > 0.0 else 0.0
        point = TracePoint(self.limits.seconds, rounds, violation, dual, len(self.corral.members), self.corral.n)
        self.trace.append(point)
        self.limits.report(point)

    def _ending(self, gap: float, square: float, rounds: int, since_best: int) -> Status | None:
        corral = self.corral
        has_vanished = square <= (ZERO * corral.radius) ** 2
        if has_vanished or gap <= max(self.tol * square, len(self.groups) * corral.noise(square)):
            return Status.OPTIMAL
        if since_best > PATIENCE:
            return ended_by_rounding(gap / square)
        if self.limits.iterations_left(rounds) <= 0:
            return Status.ITERATION_LIMIT
        return self.limits.reached()

    def _improve(self, weights: FloatArray, scores: FloatArray, violation: float) -> tuple[FloatArray, Status | None]:
        """(weights, status or None) after adding a point; the status says why none could be added."""
        corral = self.corral
        own = corral.groups[corral.members]
        levels = np.array([scores[corral.members][own == g].mean() for g in range(len(self.groups))])
        above = scores - levels[corral.groups]
        above[corral.members] = 0.0
        try:
            lowest = np.argpartition(above, min(CANDIDATES, corral.n) - 1)[:CANDIDATES]
            for j in lowest[np.argsort(above[lowest], kind="stable")]:
                if above[j] < 0.0 and corral.add(int(j)):
                    return self._into_the_hull(np.append(weights, 0.0)), None
        except MemoryError:
            return weights, Status.MEMORY_LIMIT
        return weights, ended_by_rounding(violation)

    def _into_the_hull(self, weights: FloatArray) -> FloatArray:
        """Weights at the minimum-norm point of the members' affine hull, after removals."""
        target = self.corral.minimiser()
        while not (target > 0.0).all():
            outside = np.flatnonzero(target <= 0.0)
            lengths = weights[outside] / np.maximum(weights[outside] - target[outside], 1e-300)
            first = int(lengths.argmin())
            place = int(outside[first])
            weights = np.delete(weights + lengths[first] * (target - weights), place)
            self.corral.remove(place)
            target = self.corral.minimiser()
        return target
