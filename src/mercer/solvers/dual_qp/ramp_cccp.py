"""The concave-convex procedure for the ramp loss.

Method (Yuille & Rangarajan 2003; Collobert, Sinz, Weston & Bottou 2006): the ramp objective is
the difference of two convex functions. Start from the hinge loss, which is the ramp without its
flat part; then repeatedly replace the subtracted part by its tangent at the current
point and minimise. The result lies above the ramp objective and touches it at the
current point, so the objective never rises; there are finitely many tangents, so the procedure ends, at a
point that minimises its own tangent problem. If some margin lies exactly at s there are two tangents, and such a point
may even be a local maximum: the others are tried too (`ramp_kinks`), and if one leads down, the procedure continues
from there. The end need not be the global minimum, which is hard to find: `solve_from_several` starts from
several sets of outliers and keeps the best end.

Cost of a step: one dual problem, started from the coefficients of the last one, over the same
kernel matrix. Needs of a problem: `RampMargin`; of a matrix: `KernelMatrix`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from mercer._types import BoolArray, FloatArray
from mercer.kernels.gram.kernel_matrix import KernelMatrix
from mercer.problems.svm.ramp import RampMargin
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.result import SOLVED, Solution, Status, TracePoint

# How often the convex problems are solved more accurately after the objective has risen.
MOST_REFINEMENTS = 3
# A relative rise of the objective this small is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class CCCPStep:
    """One convex problem on the way, solved.

    Attributes
    ----------
    objective : float
        The ramp objective J at its solution.
    bound : float
        The convex objective there, nowhere below J: the ramp objective of the step before, or
        less, up to the accuracy of the solver.
    gap : float
        Relative duality gap of the convex problem.
    n_outliers, n_changed : int
        Points taken for outliers, and how many of them were not in the step before or are not
        any more.
    iterations : int
        Steps of the solver.
    seconds : float
        Since the fit began.
    """

    objective: float
    bound: float
    gap: float
    n_outliers: int
    n_changed: int
    iterations: int
    seconds: float


@dataclass
class RampSolution(Solution):
    """A solution with the last convex problem solved, and the steps that led there."""

    problem: object = None
    steps: list[CCCPStep] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)


def solve(
    problem: RampMargin,
    matrix: KernelMatrix,
    *,
    tol: float,
    limits: Limits,
    start: FloatArray | None = None,
    max_steps: int = 100,
    **options: Any,
) -> RampSolution:
    """Find a stationary point of the ramp objective.

    Parameters
    ----------
    problem : RampMargin
        Its outliers are those of the first step.
    matrix : KernelMatrix
    tol : float
        Largest violation of the KKT conditions of each convex problem, and of the margins
        against the tangent.
    limits : Limits
    start : ndarray, optional
        Coefficients to start from.
    max_steps : int
        Convex problems at most.
    options
        As in `solve_dual`.

    Returns
    -------
    RampSolution
    """
    return _Steps(replace(problem, near=tol), matrix, tol, limits, max_steps, options).run(start)


def solve_from_several(
    problem: RampMargin,
    matrix: KernelMatrix,
    outlier_sets: Sequence[BoolArray | None],
    *,
    limits: Limits,
    start: FloatArray | None = None,
    **options: Any,
) -> RampSolution:
    """The best stationary point found from several sets of outliers.

    `start`, as in `solve`, is for the first of them. `objectives` of the solution holds the ramp objective of each.
    """
    best: RampSolution | None = None
    objectives: list[float] = []
    for outliers in outlier_sets:
        found = solve(problem.linearised(outliers), matrix, limits=limits, start=start, **options)
        start = None
        objectives.append(found.steps[-1].objective if found.steps else np.inf)
        if best is None or objectives[-1] < min(objectives[:-1]):
            best = found
        if limits.stop():
            # A start that was not tried might have been better.
            best.status = limits.reached()
            break
    best = cast(RampSolution, best)
    best.objectives = objectives
    return best


def random_outliers(n: int, count: int, rng: np.random.RandomState) -> list[BoolArray]:
    """`count` sets of outliers, each containing every row with a probability between 0 and one half."""
    return [rng.random(n) < share for share in rng.uniform(0.0, 0.5, count)]


class _Steps:
    """The steps of `solve`."""

    def __init__(
        self,
        problem: RampMargin,
        matrix: KernelMatrix,
        tol: float,
        limits: Limits,
        max_steps: int,
        options: dict[str, Any],
    ) -> None:
        self.problem, self.matrix, self.limits = problem, matrix, limits
        self.tol, self.max_steps, self.options = tol, max_steps, options
        self.accuracy, self.refinements = tol, 0
        self.steps: list[CCCPStep] = []
        self.trace: list[TracePoint] = []
        self.iterations = 0
        self.before = problem.current_outliers
        self.seen = {self.before.tobytes()}
        self.best: tuple[Solution, RampMargin] | None = None

    def run(self, start: FloatArray | None) -> RampSolution:
        while True:
            solution = self._solve_convex(start)
            if not solution.is_gradient_complete or solution.status not in SOLVED:
                return self._stopped(solution)
            step, following = self._judge(solution)
            if self._has_risen(step.objective):
                if self.refinements == MOST_REFINEMENTS:
                    return self._ended(Status.OPTIMAL_INACCURATE)
                self.refinements, self.accuracy = self.refinements + 1, 0.1 * self.accuracy
                start = solution.beta
                continue
            self.steps.append(step)
            self.best = solution, self.problem
            if np.array_equal(following, self.problem.current_outliers):
                start = self._across_kinks(solution)
                if start is None:
                    return self._ended(self.limits.reached() or solution.status)
                if len(self.steps) >= self.max_steps:
                    return self._ended(Status.ITERATION_LIMIT)
                continue
            if following.tobytes() in self.seen:
                return self._ended(Status.OPTIMAL_INACCURATE)
            if self.limits.stop():
                return self._ended(self.limits.reached())
            if len(self.steps) >= self.max_steps:
                return self._ended(Status.ITERATION_LIMIT)
            self.seen.add(following.tobytes())
            self.before, start = self.problem.current_outliers, solution.beta
            self.problem = self.problem.linearised(following)

    def _across_kinks(self, solution: Solution) -> FloatArray | None:
        """Better coefficients on another side of a kink, which define the next convex problem; None if there are
        none."""
        here = self.problem
        for problem in here.other_sides(here.at_kink(*self._parts(here, solution))):
            if self.limits.stop():
                break
            found = self._solve_convex(solution.beta, problem)
            is_solved = found.is_gradient_complete and found.status in SOLVED
            if is_solved and self._has_fallen(problem.objective(found.beta, *self._parts(problem, found))):
                self.before, self.problem = here.current_outliers, problem
                self.seen = {problem.current_outliers.tobytes()}
                return found.beta
        return None

    @staticmethod
    def _parts(problem: RampMargin, solution: Solution) -> tuple[FloatArray, float]:
        """Projections and intercept."""
        return problem.projections(solution.beta, solution.gradient), problem.intercept(solution.beta, solution.bias)

    def _solve_convex(self, start: FloatArray | None, problem: RampMargin | None = None) -> Solution:
        problem = self.problem if problem is None else problem
        solution = solve_dual(
            problem.dual(),
            self.matrix,
            tol=self.accuracy,
            limits=self.limits,
            start=start,
            gap=problem.gap,
            **self.options,
        )
        self.iterations += solution.iterations
        self.trace.extend(solution.trace)
        return solution

    def _judge(self, solution: Solution) -> tuple[CCCPStep, BoolArray]:
        """The reported step, and the outliers of the next one."""
        problem, beta = self.problem, solution.beta
        projections, intercept = self._parts(problem, solution)
        following = problem.next_outliers(projections, intercept)
        step = CCCPStep(
            objective=problem.objective(beta, projections, intercept),
            bound=problem.primal(beta, projections, intercept),
            gap=problem.gap(beta, solution.gradient),
            n_outliers=int(problem.current_outliers.sum()),
            n_changed=int((problem.current_outliers != self.before).sum()),
            iterations=solution.iterations,
            seconds=self.limits.seconds,
        )
        return step, following

    def _has_risen(self, objective: float) -> bool:
        if not self.steps:
            return False
        last = self.steps[-1].objective
        return objective > last + ROUNDING * max(1.0, abs(last))

    def _has_fallen(self, objective: float) -> bool:
        last = self.steps[-1].objective
        return objective < last - ROUNDING * max(1.0, abs(last))

    def _stopped(self, solution: Solution) -> RampSolution:
        """A convex problem was left unfinished: the last finished one is the better model."""
        if self.best is None:
            self.best = solution, self.problem
        return self._ended(solution.status)

    def _ended(self, status: Status) -> RampSolution:
        solution, problem = cast(tuple[Solution, RampMargin], self.best)
        return RampSolution(
            solution.beta,
            solution.gradient,
            solution.bias,
            status,
            self.iterations,
            solution.is_gradient_complete,
            self.trace,
            problem=problem,
            steps=self.steps,
        )
