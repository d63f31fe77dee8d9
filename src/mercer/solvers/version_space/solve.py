"""From a version space and its kernel matrix to the coefficients of one of its centres."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._errors import NotPositiveSemidefiniteError
from mercer._types import FloatArray
from mercer.solvers.result import Solution, Status
from mercer.solvers.version_space.analytic_centre import Centre, analytic_centre
from mercer.solvers.version_space.ball_centre import ball_centre
from mercer.solvers.version_space.hit_and_run import centre_of_mass
from mercer.solvers.version_space.mcmc_diagnostics import ChainDiagnostics

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.version_space.centres import VersionSpace
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import TracePoint

# Most matrices of the size of the kernel matrix in memory at once.
COPIES = 8
# Accurate enough to start from.
START_TOL = 1e-3

_STOPPED = (Status.TIME_LIMIT, Status.INTERRUPTED, Status.MEMORY_LIMIT)


@dataclass
class SampledSolution(Solution):
    """A solution with the diagnostics of its chains."""

    diagnostics: ChainDiagnostics | None = None


def nothing(n_chains: int) -> ChainDiagnostics:
    """Diagnostics of chains that never began."""
    return ChainDiagnostics.of_nothing(n_chains)


def require_room(n: int, room: float) -> None:
    """Raise MemoryError if the matrices of n rows do not fit into `room` bytes."""
    if COPIES * 8 * n**2 > room:
        raise MemoryError


def solve_analytic(
    problem: "VersionSpace", matrix: "KernelMatrix", *, tol: float, limits: "Limits", convex: bool = True
) -> Solution:
    """The analytic centre of a `VersionSpace`, with w of length 1.

    Parameters
    ----------
    problem : VersionSpace
    matrix : KernelMatrix
    tol : float
        Newton decrement at the end.
    limits : Limits
    convex : bool
        Whether the kernel is known to be positive semidefinite.
    """
    gram, factors = _walls(problem, matrix, limits)
    found = _analytic(gram, factors, problem.weights, tol, limits, convex)
    return _solution(found.alpha * factors, found.status, found.iterations, found.trace)


def solve_bayes(
    problem: "VersionSpace",
    matrix: "KernelMatrix",
    *,
    seeds: Sequence[Any],
    n_draws: int,
    tol: float,
    min_ess: float,
    limits: "Limits",
    convex: bool = True,
    n_jobs: int | None = None,
) -> SampledSolution:
    """The centre of mass of a `VersionSpace`, with w of length 1.

    The parameters are those of `centre_of_mass`. The analytic centre is computed first, and is the answer if a limit
    leaves no time for more.
    """
    gram, factors = _walls(problem, matrix, limits)
    uniform = np.ones(len(gram))
    centre = _analytic(gram, factors, uniform, START_TOL, limits.with_max_iter(-1), convex)
    if centre.status in (*_STOPPED, Status.NOT_CONVEX):
        solution = _solution(centre.alpha * factors, centre.status, 0, centre.trace)
        return SampledSolution(**vars(solution), diagnostics=nothing(len(seeds)))
    found = centre_of_mass(
        gram,
        centre.alpha,
        seeds=seeds,
        n_draws=n_draws,
        tol=tol,
        min_ess=min_ess,
        limits=limits,
        n_jobs=n_jobs,
    )
    solution = _solution(found.alpha * factors, found.status, found.diagnostics.steps, found.trace)
    return SampledSolution(**vars(solution), diagnostics=found.diagnostics)


def _walls(problem: "VersionSpace", matrix: "KernelMatrix", limits: "Limits") -> tuple[FloatArray, FloatArray]:
    rows = matrix.rows(np.arange(matrix.n), limits.stop)
    return problem.walls(np.ascontiguousarray(rows, dtype=np.float64))


def _analytic(
    gram: FloatArray, factors: FloatArray, weights: FloatArray, tol: float, limits: "Limits", convex: bool
) -> Centre:
    """The analytic centre, or the ball centre if there was no time for more."""
    try:
        ball = ball_centre(gram, tol=START_TOL, limits=limits, convex=convex)
    except NotPositiveSemidefiniteError as error:
        # In terms of the rows, whose kernel matrix it proves indefinite.
        error.witness = error.witness * factors
        raise
    if not ball.radius > 0:
        return Centre(ball.alpha, np.inf, ball.status, 0)
    return analytic_centre(gram, weights, ball.alpha, tol=tol, limits=limits)


def _solution(beta: FloatArray, status: Status, iterations: int, trace: "list[TracePoint]") -> Solution:
    return Solution(beta, np.zeros(len(beta)), 0.0, status, iterations, False, trace)
