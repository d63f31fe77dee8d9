"""The analytic centre of a version space by damped Newton steps.

Method (Trafalis & Malyscheff 2002 for the classifier; Nesterov & Nemirovskii 1994 for the steps):
F of `mercer.problems.version_space.centres` is self-concordant once it is divided by the smallest
weight. The Newton decrement d then says how far to go, 1 / (1 + d) of the step while d is large
and all of it when d is small, so that no step leaves the cone, and how far away the minimum is.

With w = sum_i alpha_i z_i (the representer theorem) a step solves
(M + W^(1/2) G W^(1/2)) x = b, where W = diag(c_i / s_i^2): well conditioned however singular
the kernel matrix is.

Cost of a step: n^3 / 3. Needs: the walls' Gram matrix in memory, and a point inside.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.threads import Stopped
from mercer._types import FloatArray
from mercer.kernels.gram.packed_triangle import Triangle
from mercer.solvers.linalg.cholesky import NotPositiveDefinite, factorise
from mercer.solvers.result import Status, TracePoint

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.solvers.limits import Limits

# Below this decrement, full steps converge quadratically and stay inside.
FULL_STEP = 0.25
# Bound on the steps where max_iter sets none; ten to thirty are usual.
MOST_STEPS = 500
# If rounding ends progress, a decrement up to this still counts as OPTIMAL_INACCURATE.
INACCURATE = 1e-4


@dataclass
class Centre:
    """w = sum_i alpha_i z_i, and how it was found."""

    alpha: np.ndarray
    decrement: float
    status: Status
    iterations: int
    trace: list[TracePoint] = field(default_factory=list)


def analytic_centre(
    gram: FloatArray, weights: FloatArray, start: FloatArray, *, tol: float, limits: "Limits"
) -> Centre:
    """The analytic centre, from a point inside.

    Parameters
    ----------
    gram : ndarray (n, n)
        <z_i, z_j>.
    weights : ndarray (n,)
        c_i.
    start : ndarray (n,)
        Coefficients of a point strictly inside the cone.
    tol : float
        Newton decrement at the end.
    limits : Limits

    Returns
    -------
    Centre
    """
    alpha, total = start.copy(), float(weights.sum())
    best, fruitless, trace = np.inf, 0, []
    while True:
        distances = gram @ alpha
        try:
            step, decrement = _newton_step(gram, weights, alpha, distances, total, limits.stop)
        except NotPositiveDefinite:
            # Only a Gram matrix with negative eigenvalues gets here.
            return Centre(alpha, np.inf, Status.NOT_CONVEX, len(trace), trace)
        except Stopped:
            return Centre(alpha, best, limits.reached(), len(trace), trace)
        trace.append(_point(limits, len(trace), decrement, weights, alpha, distances))
        limits.report(trace[-1])
        fruitless = fruitless + 1 if 0.9 * best < decrement < FULL_STEP else 0
        best = min(best, decrement)
        status = _ending(decrement, tol, fruitless, len(trace) - 1, limits)
        # The last step is already computed, and squares the remaining error.
        if status in (None, Status.OPTIMAL):
            alpha = alpha + (step if decrement < FULL_STEP else step / (1.0 + decrement))
        if status is not None:
            return Centre(alpha, decrement, status, len(trace) - 1, trace)


def _newton_step(
    gram: FloatArray, weights: FloatArray, alpha: FloatArray, distances: FloatArray, total: float, stop: "Stop"
) -> tuple[FloatArray, float]:
    """The step of alpha and its decrement, in the norm of F / min(c)."""
    residual = weights / distances - total * alpha
    root = np.sqrt(weights) / distances
    factor = factorise(_system(gram, root, total, stop), 1, stop)
    slope = gram @ residual
    step = (residual - root * factor.solve((root * slope)[:, None])[:, 0]) / total
    squared = float(slope @ step) / float(weights.min())
    if not np.isfinite(squared):
        raise NotPositiveDefinite(len(alpha))
    return step, float(np.sqrt(max(squared, 0.0)))


def _system(gram: FloatArray, root: FloatArray, total: float, stop: "Stop") -> Triangle:
    """root_i root_j gram_ij + total I, panel by panel: of thousands of rows it takes half a second."""
    system = Triangle(len(gram), np.float64)
    for begin, end, rows in system:
        if stop is not None and stop():
            raise Stopped
        np.multiply(gram[begin:end, :end], root[begin:end, None], out=rows)
        np.multiply(rows, root[:end], out=rows)
    system.set_diagonal(system.diagonal + total)
    return system


def _point(
    limits: "Limits", iterations: int, decrement: float, weights: FloatArray, alpha: FloatArray, distances: FloatArray
) -> TracePoint:
    """A trace point; the dual value is that of alpha if all entries are positive."""
    scaled = float(weights.sum()) * alpha
    dual = -np.inf
    if scaled.min() > 0:
        dual = float(weights @ (1.0 + np.log(scaled / weights)) - 0.5 * scaled @ distances)
    return TracePoint(limits.seconds, iterations, decrement, dual, len(alpha), len(alpha))


def _ending(decrement: float, tol: float, fruitless: int, iterations: int, limits: "Limits") -> Status | None:
    if decrement <= tol:
        return Status.OPTIMAL
    if limits.stop():
        return limits.reached()
    if limits.iterations_left(iterations) <= 0:
        return Status.ITERATION_LIMIT
    if fruitless >= 3 or iterations >= MOST_STEPS:
        return Status.OPTIMAL_INACCURATE if decrement <= INACCURATE else Status.STALLED
    return None
