"""The result of a solver: a status, the coefficients, and a trace."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Self

import numpy as np


class Status(IntEnum):
    """How a fit ended. Values are never renumbered; all leave a usable model."""

    OPTIMAL = 0
    OPTIMAL_INACCURATE = 1
    ITERATION_LIMIT = 2
    TIME_LIMIT = 3
    MEMORY_LIMIT = 4
    STALLED = 5
    NOT_CONVEX = 6
    INTERRUPTED = 7

    # Printed as its name; the number is for files.
    def __str__(self) -> str:
        return self.name

    __format__ = Enum.__format__

    @property
    def meaning(self) -> str:
        """One sentence for people."""
        return _MEANINGS[self.name]

    @classmethod
    def worst(cls, statuses: Iterable[Any]) -> "Status":
        """The status of several problems solved together: the first that is not OPTIMAL."""
        return max(statuses, default=cls.OPTIMAL)


SOLVED = (Status.OPTIMAL, Status.OPTIMAL_INACCURATE)

_MEANINGS = {
    "OPTIMAL": "solved to the tolerance",
    "OPTIMAL_INACCURATE": "as accurate as double precision allows, but not to the tolerance asked for",
    "ITERATION_LIMIT": "stopped after as many steps as were allowed, before the tolerance was met",
    "TIME_LIMIT": "stopped at time_limit before the tolerance was met, or shown to be met",
    "MEMORY_LIMIT": "stopped because memory_limit leaves no room for a working set",
    "STALLED": "stopped because no step improved the solution any more",
    "NOT_CONVEX": "the kernel is not positive semidefinite here: a stationary point, perhaps not the optimum",
    "INTERRUPTED": "interrupted; this is the best model so far",
}


@dataclass(frozen=True)
class TracePoint:
    """The state of a solver after one round.

    `gap` is the relative duality gap of the solver's current points, or None if it is not known. In the `stage`
    "kernel" the kernel matrix is being computed, and `working_set` per cent of it are done; in "problems",
    `working_set` of `active` problems are solved; in "pass", `working_set` of `active` rows have been read in pass
    `iterations` over the blocks. `route` names the way a dual is solved (`mercer.solvers.dual_qp.policy.Route`) where
    there are several.
    """

    seconds: float
    iterations: int
    violation: float
    dual: float
    working_set: int
    active: int
    stage: str = "solve"
    gap: float | None = None
    route: str = ""


@dataclass
class Solution:
    """Signed dual coefficients with their negative gradient, and how the solver ended.

    `gradient` is p - Q beta for every point if `is_gradient_complete`; a solver that was stopped may leave it stale
    away from its last working set. `bias` has two entries if two sums are fixed. `rounding` is what single-precision
    entries may add to the final violation of the trace: infinite if they were never compared with double precision.
    """

    beta: np.ndarray
    gradient: np.ndarray
    bias: float | np.ndarray
    status: Status
    iterations: int
    is_gradient_complete: bool = True
    trace: list[TracePoint] = field(default_factory=list)
    rounding: float = np.inf

    @classmethod
    def empty(cls, n: int, status: Status, bias: float = 0.0) -> Self:
        """No support vectors: the state before the first step."""
        return cls(np.zeros(n), np.zeros(n), bias, status, 0, is_gradient_complete=False)
