"""The result of a linear solver, and how both solvers keep the best point so far."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from mercer.solvers.result import Status, TracePoint


@dataclass
class LinearSolution:
    """Weights and bias with the dual coefficients that prove them.

    Attributes
    ----------
    w : ndarray (d,)
    bias : float, or ndarray (n_classes,) where there is a row of w for each class
    beta : ndarray (n,)
        Signed dual coefficients; the sum of beta_i x_i is close to w, not the same numbers.
    status : Status or None
        None, if the solver was asked to hand over to another.
    iterations : int
        Passes over the rows, or Newton steps.
    trace : list of TracePoint
        Its `violation` is the relative duality gap.
    """

    w: np.ndarray
    bias: float | Any
    beta: np.ndarray
    status: Status | None
    iterations: int
    trace: list[TracePoint] = field(default_factory=list)


# The relative gap at which a polishing solver stops.
POLISHED = 1e-15


def is_within(primal: float, dual: float, gap_tol: float) -> bool:
    """Whether the gap is at most `gap_tol` of the primal objective; False if that overflows."""
    return isfinite(primal) and primal - dual <= gap_tol * abs(primal)


def share_of_gap(primal: float, dual: float) -> float:
    """The gap relative to the primal objective; one below zero is rounding."""
    return max(primal - dual, 0.0) / max(abs(primal), 1e-300)
