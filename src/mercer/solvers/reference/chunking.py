"""Chunking: solve a chunk, keep its support vectors, add points that violate, repeat.

The first way to train on more points than a matrix of all pairs has room for (Vapnik 1982;
Osuna, Freund & Girosi 1997): a quadratic program over a chunk of the points, whose support
vectors stay, joined by the points that violate the KKT conditions most. Every round raises the
dual, because its chunk contains a violating pair, and no chunk comes twice.

Cost of a round: that of the inner solver on the chunk, and n kernel entries for each
coefficient that changed. The chunk grows to all the support vectors, so they must fit in memory;
`decomposition` has no such requirement, and is what `solver="auto"` uses.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._jit.threads import Stopped
from mercer._types import FloatArray, IndexArray
from mercer.problems.svm.signed_dual import DualProblem
from mercer.solvers.dual_qp.endings import MOST_STEPS
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.dual_qp.state import DualState
from mercer.solvers.dual_qp.working_set_selection import Violations
from mercer.solvers.limits import Limits
from mercer.solvers.result import Solution, Status, TracePoint

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix

# Violators added to the support vectors in each chunk.
CHUNK = 500
# A chunk is solved to this share of the tolerance, so that its own error is not mistaken for new violations.
INNER_ACCURACY = 0.5
ROUNDS_WITHOUT_PROGRESS = 5


def solve(
    problem: DualProblem,
    matrix: "KernelMatrix",
    *,
    tol: float = 1e-3,
    limits: Limits | None = None,
    start: FloatArray | None = None,
    memory: int = 2**30,
    inner: Callable[..., Solution] = solve_dual,
    chunk: int = CHUNK,
    **options: Any,
) -> Solution:
    """As `decomposition.solve`; `inner`, with the same signature, solves each chunk of `chunk` new points."""
    problem.require_one_zero_sum("chunking")
    return _Chunks(problem, matrix.in_double(), tol, limits or Limits(), start, memory, inner, chunk, options).run()


class _Chunks:
    """The rounds of `solve`."""

    def __init__(
        self,
        problem: DualProblem,
        matrix: "KernelMatrix",
        tol: float,
        limits: Limits,
        start: FloatArray | None,
        memory: int,
        inner: Callable[..., Solution],
        chunk: int,
        options: dict[str, Any],
    ) -> None:
        self.problem, self.tol, self.limits = problem, tol, limits
        self.state = DualState(problem, matrix, start, limits.stop)
        self.inner, self.chunk, self.options = inner, chunk, options
        self.largest = int((memory / (2 * matrix.dtype.itemsize)) ** 0.5)
        self.gap, self.gap_tol = options.pop("gap", None), options.pop("gap_tol", None)
        self.target, self.memory = tol, memory
        self.iterations, self.trace = 0, []
        self.rounds_since_best = 0

    def run(self) -> Solution:
        try:
            status = self._rounds()
        except Stopped:
            status = self.limits.reached()
        except MemoryError:
            status = Status.MEMORY_LIMIT
        state = self.state
        state.balance()
        bias = self.problem.bias(state.beta, state.gradient)
        return Solution(state.beta, state.gradient, bias, status, self.iterations, state.is_current, self.trace)

    def _rounds(self) -> Status:
        while True:
            highest, lowest = self.state.extremes()
            violation = highest - lowest if self.problem.has_equality else max(highest, -lowest)
            if violation <= self.target and self._gap_is_small():
                return Status.OPTIMAL
            status = self._early_end()
            if status is not None:
                return status
            places = self._choose(0.5 * (highest + lowest) if self.problem.has_equality else 0.0)
            if len(places) > self.largest:
                return Status.MEMORY_LIMIT
            status = self._round(places, violation)
            if status != Status.OPTIMAL and self.rounds_since_best > ROUNDS_WITHOUT_PROGRESS:
                return Status.STALLED if status == Status.OPTIMAL_INACCURATE else status

    def _gap_is_small(self) -> bool:
        if self.gap_tol is None or self.gap(self.state.beta, self.state.gradient) <= self.gap_tol:
            return True
        self.target *= 0.1
        return False

    def _early_end(self) -> Status | None:
        reached = self.limits.reached()
        if reached is None and self.limits.iterations_left(self.iterations) <= 0:
            return Status.ITERATION_LIMIT
        if reached is None and self.limits.max_iter < 0 and self.iterations >= MOST_STEPS:
            return Status.STALLED
        return reached

    def _choose(self, bias: float | FloatArray) -> IndexArray:
        """The support vectors, and the worst violators on either side."""
        state = self.state
        violations = Violations(self.problem, state.beta, state.gradient, bias)
        chosen = state.beta != 0
        for side in (violations.upward, violations.downward):
            worst = np.argsort(-np.where(chosen, -np.inf, side), kind="stable")[: self.chunk // 2]
            chosen[worst[side[worst] > 0]] = True
        # Both ends of the maximal violating pair, so that the dual increases.
        chosen[[violations.upward.argmax(), violations.downward.argmax()]] = True
        return np.flatnonzero(chosen)

    def _round(self, places: IndexArray, violation: float) -> Status:
        state, part = self.state, self.state.matrix.view(places).stored(self.limits.stop)
        before = state.beta[places]
        found = self.inner(
            _restricted(self.problem, places, state, part),
            part,
            tol=INNER_ACCURACY * self.target,
            limits=self.limits.after(self.iterations).unwatched(),
            start=before,
            memory=self.memory,
            **self.options,
        )
        change = found.beta - before
        moved = np.flatnonzero(change)
        dual = state.dual
        state.move(places, found.beta, places[moved], change[moved])
        self.rounds_since_best = 0 if state.dual > dual + 1e-12 * abs(dual) else self.rounds_since_best + 1
        self.iterations += found.iterations
        n, bias = len(self.problem), self.problem.bias(state.beta, state.gradient)
        gap = self.problem.relative_gap(state.beta, state.gradient, bias, state.dual)
        point = TracePoint(self.limits.seconds, self.iterations, violation, state.dual, len(places), n, gap=gap)
        self.trace.append(point)
        self.limits.report(point)
        return found.status


def _restricted(problem: DualProblem, places: IndexArray, state: DualState, part: "KernelMatrix") -> DualProblem:
    """The problem over `places` with all others fixed (at zero, as they are not support vectors), so that its gradient
    is the present one."""
    beta = state.beta[places]
    moved = np.flatnonzero(beta)
    sub = DualProblem(
        linear=problem.linear[places],
        lower=problem.lower[places],
        upper=problem.upper[places],
        has_equality=problem.has_equality,
        ridge=None if problem.ridge is None else problem.ridge[places],
        shift=problem.shift,
    )
    own = sub.quadratic_product(part, moved, beta[moved]) if len(moved) else 0.0
    # The rest enters linearly, so it is contained in the gradient.
    return DualProblem(state.gradient[places] + own, sub.lower, sub.upper, sub.has_equality, sub.ridge, sub.shift)
