"""Newton's method on the primal of a linear model, with proximal steps in the dual for losses with kinks.

Squared losses have a gradient that is piecewise linear in (w, b), and Newton steps with an exact line
search end after a handful of steps (Mangasarian 2002; Keerthi & DeCoste 2005). The hinge and the
epsilon-insensitive loss are rounded off by a proximal term around the current dual coefficients, which
moves with them and shrinks: the method of multipliers, whose inner problems are again solved by
Newton steps in which only the rows within the rounded zone take part (Rockafellar 1976; Yan & Li 2020).

Every step has a feasible dual point, the responses of the rows; the best combination of the last two is
kept. A step costs two passes over the rows (the second only over those whose response changed) and the
system of `proximal_newton_system`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.problems.linear.dual import balanced
from mercer.solvers.linear import small_newton
from mercer.solvers.linear.loss_loops import (
    RoundedLosses,
    dual_value,
    improve_dual,
    line_minimum,
    respond,
    settled_bias,
)
from mercer.solvers.linear.proximal_newton_system import NewtonSystem
from mercer.solvers.linear.small_newton import INNER, NARROWER, Best, Constant, Point, Room
from mercer.solvers.linear_result import LinearSolution, is_within, share_of_gap
from mercer.solvers.result import Status, TracePoint
from mercer.solvers.tolerances import ended_by_rounding

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts
    from mercer.problems.linear.dual import LinearDual
    from mercer.solvers.limits import Limits

# Initial width of the rounded zone, in mean residuals.
FIRST_WIDTH = 3.0
MOST_STEPS = 1000
# Steps without a better gap after which only rounding errors are left.
HOPELESS = 15
# Steps without any change of the responses before the weights of the best dual point are tried.
STUCK = 5
# A residual this small relative to w is rounding.
ROUNDING = 1e-11
MOST_POLISHING = 20


def solve(
    products: "RowProducts",
    dual: "LinearDual",
    *,
    gap_tol: float,
    limits: "Limits",
    start: LinearSolution | None = None,
    polish: bool = False,
) -> LinearSolution:
    """Solve a linear machine.

    Parameters
    ----------
    products : RowProducts
    dual : LinearDual
    gap_tol : float
        Stop when the duality gap is at most this share of the primal objective.
    limits : Limits
    start : LinearSolution, optional
        Weights, bias and coefficients to begin from.
    polish : bool
        Continue until only rounding errors are left: a few more steps, since the method is finite once it
        has found the rows whose response varies.

    Returns
    -------
    LinearSolution
    """
    newton = _Newton(products, dual, start)
    status = newton.run(gap_tol, limits, MOST_POLISHING if polish else 0)
    return newton.solution(status)


class _Newton:
    w: FloatArray
    values: FloatArray
    beta: FloatArray
    sum: FloatArray
    change: FloatArray
    slope: FloatArray
    inverse: FloatArray
    centre: FloatArray
    best_beta: FloatArray
    best_sum: FloatArray
    best: tuple[FloatArray, float]
    trace: list[TracePoint]

    def __init__(self, products: "RowProducts", dual: "LinearDual", start: LinearSolution | None) -> None:
        self.products, self.dual = products, dual
        n, d = products.n, products.n_features
        self.w = np.zeros(d + 1)  # the last entry is the weight of the constant feature
        self.beta, self.sum = np.zeros(n), np.zeros(d)
        self.values, self.centre = np.zeros(n), np.zeros(n)
        if start is not None:
            self._begin_from(start)
        self.constant = Constant(float(dual.scale), 0.0 if dual.has_equality else 1.0)
        self.system = NewtonSystem(products, *self.constant)
        self.change, self.slope = np.empty(n), np.empty(n)
        self.is_fused = d < small_newton.LARGEST and products.n_entries <= small_newton.MOST_ENTRIES
        if self.is_fused:
            self.room = Room(np.empty((d + 2, d + 1)), np.empty(n))
        self.best_beta, self.best_sum = self.beta.copy(), self.sum.copy()
        self.has_kinks = not dual.ridge.all()
        self.width = FIRST_WIDTH * max(float(np.mean(np.abs(dual.linear - self.values))), 1e-12)
        self._narrow(1.0)
        # With a free bias the sum of beta is zero, and not penalised.
        self.priced = 0.0 if dual.has_equality else dual.scale
        self.primal = np.inf
        self.dual_value = 0.0
        if start is not None:
            self.dual_value = dual_value(self.beta, self.sum, dual.linear, dual.ridge, dual.epsilon, self.priced)
        self.best, self.steps, self.trace = (self.w.copy(), 0.0), 0, []
        self.flat_steps = 0

    def _begin_from(self, start: LinearSolution) -> None:
        dual = self.dual
        self.w[:-1] = start.w
        self.w[-1] = start.bias / dual.scale if dual.scale else 0.0
        self.beta = dual.feasible(start.beta)
        self.centre = self.beta.copy()
        self.sum = self.products.combination(self.beta)
        self.values = self.products.dots(self.w[:-1])
        self.values += self._bias

    @property
    def _bias(self) -> float:
        return self.dual.scale * self.w[-1]

    @property
    def _rounded(self) -> RoundedLosses:
        """Arguments of the compiled loops over rounded losses."""
        dual = self.dual
        return RoundedLosses(dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon, self.inverse, self.centre)

    @property
    def _point(self) -> Point:
        return Point(self.w, self.values, self.beta, self.sum, self.change, self.slope)

    def _narrow(self, times: float) -> None:
        self.width /= times
        self.inverse = small_newton.weights_of_rounding(self.dual, self.width)

    def run(self, gap_tol: float, limits: "Limits", polish: int) -> Status:
        """Iterate to an end; the status."""
        last_better, least = 0, np.inf
        patience = HOPELESS * (5 if self.has_kinks else 1)
        distance = -1.0
        if (
            self.is_fused
            and self.products.n_entries <= small_newton.FEW_ENTRIES
            and not (limits.callbacks or limits.stop())
        ):
            distance = self._run_in_one(gap_tol, min(small_newton.STEPS_IN_ONE, limits.iterations_left(0)))
        while True:
            if distance < 0.0:
                distance = self._respond()
            residual = self._residual()
            gap = share_of_gap(self.primal, self.dual_value)
            # Not the share: far from the optimum it stays near 1 while the primal falls by many powers of ten.
            if self.primal - self.dual_value < 0.99 * least:
                last_better, least = self.steps, self.primal - self.dual_value
            self._report(gap, limits)
            is_solved = is_within(self.primal, self.dual_value, gap_tol)
            if is_solved and not (polish > 0 and self._is_rough(residual, distance)):
                return Status.OPTIMAL
            polish -= is_solved
            status = limits.reached() or self._limit(limits, last_better, patience, gap)
            if status is not None:
                return Status.OPTIMAL if is_solved else status
            if self.has_kinks and residual @ residual <= INNER * distance:
                self.centre = self.beta.copy()
                self._narrow(NARROWER)
                self._respond()
                residual = self._residual()
            elif self._is_stuck():
                residual = self._restarted()
            self._step(residual)
            distance = -1.0

    def _is_stuck(self) -> bool:
        """Whether steps have been tiny for long: all responses are at bounds, and a free bias and w hold each other."""
        if self.has_kinks and self.dual.has_equality and not self.slope.any():
            self.flat_steps += 1
        return self.flat_steps == STUCK

    def _restarted(self) -> FloatArray:
        """Restart at the w of the best dual point, which may be optimal already; the residual there."""
        self.flat_steps = 0
        self.w[:-1] = self.best_sum
        self.values = self.products.dots(self.best_sum)
        self.values += self._bias
        self._respond()
        return self._residual()

    def _run_in_one(self, gap_tol: float, steps: int) -> float:
        """The first steps in one compiled call, which callbacks cannot see one by one.

        Returns the length of the proximal step if the gap is small enough, and -1 if it is not known.
        """
        best = Best(self.w.copy(), self.best_beta, self.best_sum, np.array([1e300, self.dual_value]))
        before = self.inverse.max(initial=0.0)
        self.steps, distance, self.balance = small_newton.fused_run(
            self.products.rows, self._rounded, self._point, best, self.constant, self.room,
            self.has_kinks, gap_tol, steps,
        )  # fmt: skip
        self.primal, self.dual_value = best.values
        self.best = best.w, self.dual.scale * best.w[-1]
        if before > 0.0:
            self.width *= self.inverse.max() / before
        return distance

    def _limit(self, limits: "Limits", last_better: int, patience: int, gap: float) -> Status | None:
        """The status that ends the iteration, or None."""
        if limits.iterations_left(self.steps) <= 0:
            return Status.ITERATION_LIMIT
        if self.steps - last_better > patience or self.steps >= MOST_STEPS:
            return ended_by_rounding(gap)
        return None

    def _is_rough(self, residual: FloatArray, distance: float) -> bool:
        """Whether another step would change more than rounding does."""
        size: Any = self.w @ self.w + 1e-300
        return residual @ residual > ROUNDING**2 * size or distance > ROUNDING**2 * size

    def _report(self, gap: float, limits: "Limits") -> None:
        moving = int(np.count_nonzero(self.slope))
        point = TracePoint(limits.seconds, self.steps, gap, self.dual_value, moving, len(self.beta), gap=gap)
        self.trace.append(point)
        limits.report(point)

    def _respond(self) -> float:
        """Evaluate responses and both objectives, keep the best of each; the length of the proximal step."""
        dual = self.dual
        if dual.has_equality:
            shift = settled_bias(self.values, self._rounded)
            self.w[-1] += shift
            self.values += shift
        if self.is_fused:
            loss, distance, self.balance = small_newton.fused_response(self.products.rows, self._rounded, self._point)
        else:
            loss, distance = respond(self.values, self._rounded, self.beta, self.change, self.slope)
            self.products.combination(self.change, self.sum)
            self.balance = self.beta.sum()
        primal = dual.penalty(self.w[:-1], self._bias) + loss
        if primal < self.primal:
            self.primal, self.best = primal, (self.w.copy(), self._bias)
        self.dual_value = improve_dual(
            self.best_beta, self.best_sum, self.dual_value, self.beta, self.sum,
            dual.linear, dual.ridge, dual.epsilon, self.priced,
        )  # fmt: skip
        return distance

    def _residual(self) -> FloatArray:
        """Minus the gradient of the rounded primal."""
        out = np.empty_like(self.w)
        out[:-1] = self.sum
        out[-1] = self.dual.scale * self.balance
        if self.dual.has_equality:
            out[:-1] -= self.w[:-1]
        else:
            out -= self.w
        return out

    def _step(self, residual: FloatArray) -> None:
        self.steps += 1
        if self.is_fused and small_newton.fused_step(
            self.products.rows, self._rounded, self._point, residual, self.constant, self.room
        ):
            return
        step = self.system.solve(self.slope, residual)
        if not self.dual.scale:
            step[-1] = 0.0
        direction = self.products.dots(step[:-1])
        direction += self.dual.scale * step[-1]
        part = step[:-1] if self.dual.has_equality else step
        along, square = float(part @ self.w[: len(part)]), float(part @ part)
        t = line_minimum(self.values, direction, along, square, self._rounded)
        self.w += t * step
        self.values += t * direction

    def solution(self, status: Status) -> LinearSolution:
        """The best solution found."""
        (w, bias), beta = self.best, self.best_beta
        if self.dual.has_equality:
            beta = balanced(beta)
        return LinearSolution(w[:-1].copy(), float(bias), beta, status, self.steps, self.trace)
