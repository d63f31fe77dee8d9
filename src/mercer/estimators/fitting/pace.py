"""How far a fit has come: its gap in words, the share that is done, the seconds that are left."""

import math
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.solvers.result import TracePoint


# Below this share done, no estimate is made.
LEAST_SHARE = 0.02


class Pace:
    """How far a fit has come, and how long it may still take, by the points of its trace.

    The quantity to be reduced falls roughly exponentially from its largest value to the goal, so its logarithm tells
    the share done. Several problems count equally.

    Parameters
    ----------
    goal : float
        Of the violation at which a problem is solved; or of the relative gap, if `by_gap`.
    time_limit : float, optional
        When the fit ends at the latest.
    by_gap : bool

    Examples
    --------
    >>> from mercer.estimators.fitting.pace import Pace
    >>> from mercer.solvers.result import TracePoint
    >>> pace = Pace(1e-3)
    >>> pace.note(TracePoint(0.0, 10, 1.0, 0.0, 100, 100))
    >>> pace.note(TracePoint(2.0, 90, 0.1, 5.0, 100, 100))
    >>> f"{pace.share:.2f}", pace.words()
    ('0.33', '4.0 s left')
    """

    def __init__(self, goal: float, time_limit: float | None = None, by_gap: bool = False) -> None:
        self.goal, self.time_limit, self.by_gap = goal, time_limit, by_gap
        self.seconds, self._solved, self._problems = 0.0, 0, 1
        self._largest, self._own = 0.0, 0.0

    @classmethod
    def of(cls, estimator: "BaseEstimator") -> Self:
        """The pace of an estimator's fit, by what will end it."""
        gap_tol = getattr(estimator, "gap_tol", None)
        goal = estimator.tol if gap_tol is None else gap_tol
        return cls(goal, getattr(estimator, "time_limit", None), gap_tol is not None)

    def note(self, point: "TracePoint") -> None:
        """Update with the next point of the trace."""
        self.seconds, stage = point.seconds, getattr(point, "stage", "solve")
        if stage == "problems":
            self._solved, self._problems = point.working_set, point.active
            self._largest, self._own = 0.0, 0.0
        elif stage == "solve":
            self._measure(point.gap if self.by_gap and point.gap is not None else point.violation)

    def _measure(self, value: float) -> None:
        if not 0.0 < value < math.inf:
            return
        self._largest = max(self._largest, value)
        if self._largest > self.goal:
            done = math.log(self._largest / value) / math.log(self._largest / self.goal)
            self._own = max(self._own, min(0.99, done))

    @property
    def share(self) -> float:
        """The share of the whole fit done, from 0 to 1."""
        return min(1.0, (self._solved + self._own) / self._problems)

    @property
    def seconds_left(self) -> float:
        """An estimate; infinite while nothing is known."""
        left = self.seconds * (1.0 / self.share - 1.0) if self.share > LEAST_SHARE else math.inf
        return left if self.time_limit is None else min(left, max(0.0, self.time_limit - self.seconds))

    def words(self) -> str:
        """The time left, in words."""
        left = self.seconds_left
        return "time left unknown" if math.isinf(left) else f"{left:.{0 if left >= 10 else 1}f} s left"


def standing(point: "TracePoint") -> str:
    """In a few words, how far a solver is from the optimum: by the relative duality gap if known."""
    gap = getattr(point, "gap", None)
    return f"violation {point.violation:.1e}" if gap is None else f"gap {gap:.1e}"
