"""How well a solution solves its problem, recomputed from data and coefficients alone."""

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mercer._types import FloatArray

if TYPE_CHECKING:
    from mercer.problems.svm.signed_dual import DualProblem

# The default basis of a certificate.
EVERYTHING = "everything recomputed in double precision"


@dataclass(frozen=True)
class Certificate:
    """Primal and dual values, their gap, and how well the KKT conditions hold.

    Everything is computed in double precision from the data, the labels and the dual coefficients; nothing comes from
    the solver. For a large fit, the solver's values for rows that cannot change the outcome are reused, after a random
    sample of them has been recomputed; `basis` says so.

    Attributes
    ----------
    primal, dual : float
        Objectives of (1/2)|w|^2 + sum C_i loss_i and of its dual.
    gap : float
        primal - dual, never negative: the primal objective is at most this far from its minimum.
    relative_gap : float
        gap / max(1, |primal|); infinite if no multiple of w has the hard margin.
    kkt_violation : float
        Largest violation of the optimality conditions (LIBSVM's stopping criterion).
    equality_residual, box_violation : float
        How far the dual coefficients are from being feasible.
    n_free, n_bounded, n_zero : int
        Points on the margin, points at the bound, points that are not support vectors.
    basis : str
        What was recomputed, and what was reused and with what certainty.
    accuracy : float
        By how much `primal` and `dual` may both be off, in the same direction; zero if everything was recomputed.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    equality_residual: float
    box_violation: float
    n_free: int
    n_bounded: int
    n_zero: int
    basis: str = field(default=EVERYTHING, kw_only=True)
    accuracy: float = field(default=0.0, kw_only=True)

    @classmethod
    def of(cls, primal: float, dual: float, **conditions: Any) -> Self:
        """The certificate of two objectives, whose gap follows from them, and of how the conditions stand."""
        return cls(primal, dual, primal - dual, relative_gap(primal, dual), **conditions)

    def __post_init__(self) -> None:
        # No feasible dual value exceeds the primal one, so a negative difference is the error of the two numbers, from
        # rounding or because beta is not feasible. Its size shows how inexact they are, so it is reported as
        # the gap. Zero would claim that they are exact, and would hide a large error.
        for name in ("gap", "relative_gap"):
            object.__setattr__(self, name, abs(getattr(self, name)))

    def is_optimal(self, tol: float = 1e-3, gap_tol: float | None = None) -> bool:
        """Whether the KKT conditions hold to within `tol` or, if `gap_tol` is given, the relative gap does."""
        return self.kkt_violation <= tol if gap_tol is None else self.relative_gap <= gap_tol

    @property
    def is_full(self) -> bool:
        """Whether everything was recomputed."""
        return self.basis == EVERYTHING

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"primal {self.primal:.10g}  dual {self.dual:.10g}  gap {self.gap:.2e} "
            f"(relative {self.relative_gap:.1e})\n"
            f"KKT violation {self.kkt_violation:.2e}  equality {self.equality_residual:.1e}  "
            f"box {self.box_violation:.1e}\n"
            f"points: {self.n_free} free, {self.n_bounded} bounded, {self.n_zero} not support vectors\n"
            f"basis: {self.basis}"
        )


def dual_conditions(dual: "DualProblem", beta: FloatArray, gradient: FloatArray) -> dict[str, Any]:
    """The fields of a certificate that describe how well beta meets the conditions of a `DualProblem`."""
    free = dual.is_free(beta)
    return {
        "kkt_violation": dual.violation(beta, gradient),
        "equality_residual": float(np.abs(dual.excess(beta)).max()) if dual.has_equality else 0.0,
        "box_violation": float(np.max(np.maximum(dual.lower - beta, beta - dual.upper), initial=0.0)),
        "n_free": int(np.sum((beta != 0) & free)),
        "n_bounded": int(np.sum((beta != 0) & ~free)),
        "n_zero": int(np.sum(beta == 0)),
    }


def relative_gap(primal: float, dual: float) -> float:
    """gap / max(1, |primal|); infinite if the primal is."""
    return (primal - dual) / max(1.0, abs(primal)) if np.isfinite(primal) else np.inf
