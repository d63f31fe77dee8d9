"""The reports common to both forms of Newton's method in a feature space (`newton`, `feature_newton`)."""

from typing import TYPE_CHECKING, Any

from mercer._types import FloatArray
from mercer.solvers.result import Status, TracePoint
from mercer.solvers.smooth.optimal_bias import flat

if TYPE_CHECKING:
    from mercer.solvers._types import SmoothRisk
    from mercer.solvers.limits import Limits


def parts(problem: "SmoothRisk", beta: FloatArray, image: FloatArray, b: FloatArray) -> tuple[FloatArray, Any]:
    """Projections and intercepts, separately, of coefficients with values ``image + b``."""
    total = beta.sum(axis=0)
    is_penalised = problem.bias == "penalized"
    intercept = total if is_penalised else b
    projections = flat(image - total if is_penalised else image)
    return projections, float(intercept[0]) if beta.shape[1] == 1 else intercept


def gap(problem: "SmoothRisk", beta: FloatArray, image: FloatArray, b: FloatArray) -> float:
    """The relative duality gap of such coefficients."""
    return problem.gap(flat(beta), *parts(problem, beta, image, b))


def early_end(limits: "Limits", iterations: int, most: int) -> Status | None:
    """The status of a fit that has to end after this many iterations, None if it may go on."""
    if (status := limits.reached()) is not None:
        return status
    if limits.iterations_left(iterations) <= 0:
        return Status.ITERATION_LIMIT
    return Status.STALLED if iterations >= most else None


def report(
    problem: "SmoothRisk", limits: "Limits", iterations: int, violation: float, beta: FloatArray, image: FloatArray
) -> TracePoint:
    """A `TracePoint` of coefficients, reported to the callbacks."""
    dual = problem.dual_value(flat(beta), parts(problem, beta, image, 0.0 * image[0])[0])
    point = TracePoint(limits.seconds, iterations, violation, dual, len(beta), len(beta))
    limits.report(point)
    return point
