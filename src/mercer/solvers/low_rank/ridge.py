r"""Ridge regression restricted to landmarks, by its normal equations.

With features F = K_XZ and the factor L of the landmarks, in coordinates :math:`w = L^T v` they are

.. math:: (L^{-1} F^T W F L^{-T} + \lambda I)\, w = L^{-1} F^T W y,

positive definite with no eigenvalue below :math:`\lambda`. The matrix is summed over blocks in the precision of the
features; residuals in double precision, which take a pass each, make up for what that has lost (iterative refinement).

Cost: n m^2 multiplications, m^3 / 3 for each penalty, and 2 n m a target for each pass.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from mercer._jit.threads import Stopped
from mercer._types import Array, FloatArray
from mercer.solvers.result import Status, TracePoint

if TYPE_CHECKING:
    from mercer.problems.kernel_methods.ridge import Ridge
    from mercer.solvers.blocks.source import FeatureBlocks
    from mercer.solvers.limits import Limits

MOST_PASSES = 12
# A residual above this share of the last one is as small as rounding allows.
POOR = 0.5


@dataclass
class LowRankRidge:
    """Weights (m, t), values (n, t) and dual coefficients (n, t), and how the solver ended."""

    w: np.ndarray
    values: np.ndarray
    alpha: np.ndarray
    status: Status
    iterations: int
    trace: list[TracePoint] = field(default_factory=list)


def solve(
    blocks: "FeatureBlocks", factor: FloatArray, problem: "Ridge", tol: float, limits: "Limits", dtype: DTypeLike
) -> LowRankRidge:
    """A `LowRankRidge` of a `Ridge` whose penalties are all positive."""
    targets, weights = problem.targets, problem.scale**2
    w = np.zeros((len(factor), targets.shape[1]))
    values, passes, best, kept = np.zeros_like(targets), 0, np.inf, w
    trace: list[TracePoint] = []
    status: Status | None = None
    try:
        systems = _systems(blocks, factor, problem, dtype)
        size = max(float(np.linalg.norm(problem.right())), 1e-300)
        while True:
            found, residual = _look(blocks, factor, problem, w)
            error = float(np.linalg.norm(residual)) / size
            passes += 1
            if not error < POOR * best:
                status = Status.OPTIMAL if best <= tol else Status.OPTIMAL_INACCURATE
                break
            values, best, kept = found, error, w
            trace.append(TracePoint(limits.seconds, passes, error, 0.0, len(targets), len(targets)))
            limits.report(trace[-1])
            status = limits.reached() or (Status.ITERATION_LIMIT if passes > MOST_PASSES else None)
            if status is not None:
                break
            w = w + np.stack(
                [cho_solve(each, column) for each, column in zip(systems, residual.T, strict=True)], axis=1
            )
    except Stopped:
        status = limits.reached() or Status.INTERRUPTED
    alpha = weights[:, None] * (targets - values) / problem.penalties
    return LowRankRidge(kept, values, alpha, Status.INTERRUPTED if status is None else status, passes, trace)


def _systems(blocks: "FeatureBlocks", factor: FloatArray, problem: "Ridge", dtype: DTypeLike) -> list[Any]:
    """The factored matrix of each target, shared between equal penalties."""
    own = [(problem.scale[span],) for span in blocks.spans()]
    H, _ = blocks.total(_gram, (), own, dtype)
    half = solve_triangular(factor, H, lower=True)
    A = solve_triangular(factor, half.T, lower=True)
    A = 0.5 * (A + A.T)
    found: dict[Any, Any] = {}
    for penalty in np.unique(problem.penalties):
        # The error of single-precision features may exceed the penalty.
        shift = float(penalty)
        for _ in range(60):
            try:
                found[penalty] = cho_factor(A + shift * np.eye(len(A)), lower=True)
                break
            except np.linalg.LinAlgError:
                shift = 10.0 * max(shift, 1e-12 * float(A.diagonal().max(initial=1e-300)))
    return [found[penalty] for penalty in problem.penalties]


def _look(
    blocks: "FeatureBlocks", factor: FloatArray, problem: "Ridge", w: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(values of all rows, the residual of the normal equations in coordinates), in double precision."""
    v = solve_triangular(factor, w, lower=True, trans="T")
    own = [(problem.targets[span], problem.scale[span] ** 2) for span in blocks.spans()]
    image, parts = blocks.total(_residual, (v,), own, np.float64)
    return np.concatenate(parts), solve_triangular(factor, image, lower=True) - problem.penalties * w


def _gram(features: Array, scale: FloatArray) -> tuple[FloatArray, None]:
    part = features * scale.astype(features.dtype)[:, None]
    return (part.T @ part).astype(np.float64), None


def _residual(
    features: Array, v: FloatArray, targets: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    values = features @ v
    return features.T @ (weights[:, None] * (targets - values)), values
