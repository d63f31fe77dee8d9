"""Dual coordinate descent for linear models (Hsieh et al. 2008; for regression Ho & Lin 2012).

Each step maximises the dual over one beta_i and keeps w = sum beta_i x_i up to date. A pass costs two
operations for each entry of the rows visited; rows firmly at a bound are left out
until the next check (shrinking). A check computes f(x_i) for all rows, on all cores, and from it
the duality gap, which decides when to stop; checks are made as often as the speed of convergence suggests.

Needs: a `LinearDual` with finite C, rows in a `RowProducts`. Best if rows are sparse and features
many; with few, ill-conditioned features `proximal_newton` is faster.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._jit.once import computed_once
from mercer._types import FloatArray
from mercer.problems.linear.dual import balanced
from mercer.solvers.linear.cd_passes import Passes
from mercer.solvers.linear.loss_loops import (
    RoundedLosses,
    bracketed_minimum,
    separable_dual,
    settled_bias,
    steepest,
    total_loss,
)
from mercer.solvers.linear_result import LinearSolution, is_within, share_of_gap
from mercer.solvers.result import Status, TracePoint

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts
    from mercer.problems.linear.dual import LinearDual
    from mercer.solvers.limits import Limits

FIRST_CHECK = 4
# The first passes use a sample of the rows: later passes undo most of a first full pass anyway.
SAMPLE, SAMPLE_PASSES, FEWEST_SAMPLED = 4, 1, 1000
# Passes between checks, as a share of those done: a check costs about half a pass.
LONGEST_WAIT = 0.5
# Ratio of the gap to the required one below which the primal point is improved by searches.
NEAR = 30.0
# Passes by which a due check may be postponed for a more promising one.
POSTPONED = 3
# Share of the rows' running gap that remains after the primal searches.
SHARE_LEFT = 0.7
# Passes without a better gap after which only rounding errors are left.
HOPELESS = 3000


def solve(
    products: "RowProducts",
    dual: "LinearDual",
    *,
    gap_tol: float,
    limits: "Limits",
    start: FloatArray | None = None,
    seed: int = 0,
    patience: float = math.inf,
) -> LinearSolution:
    """Solve a linear machine.

    Parameters
    ----------
    products : RowProducts
    dual : LinearDual
    gap_tol : float
        Stop when the duality gap is at most this share of the primal objective.
    limits : Limits
    start : ndarray (n,), optional
        Coefficients to begin from.
    seed : int
        Of the order in which rows are visited.
    patience : float
        Return with status None when more passes than this seem to be needed.

    Returns
    -------
    LinearSolution
    """
    descent = _Descent(products, dual, start, seed, gap_tol)
    status = descent.run(limits, patience)
    return descent.solution(status)


class _Descent:
    best: tuple[FloatArray, float, FloatArray] | Any
    trace: list[TracePoint]

    def __init__(
        self, products: "RowProducts", dual: "LinearDual", start: FloatArray | None, seed: int, gap_tol: float
    ) -> None:
        self.products, self.dual, self.gap_tol = products, dual, gap_tol
        self.passes = Passes(products, dual, start, seed)
        self.is_sampled = start is None and products.n >= SAMPLE * FEWEST_SAMPLED
        if self.is_sampled:
            self.passes.sample(SAMPLE)
        if start is not None and dual.has_equality:
            self.passes.hold(self._free_bias(products.dots(self.passes.w[:-1])))
        self.epochs = 0
        self.primal, self.dual_value = math.inf, -math.inf
        self.best, self.trace = None, []

    def run(self, limits: "Limits", patience: float) -> Status | None:
        """Alternate passes and checks until an end; the status, or None if patience runs out."""
        wait = FIRST_CHECK
        last_better = last_check = 0
        while True:
            status = self._descend(wait, limits)
            before = share_of_gap(self.primal, self.dual_value), last_check
            self._check()
            gap, last_check = share_of_gap(self.primal, self.dual_value), self.epochs
            point = TracePoint(
                limits.seconds, self.epochs, gap, self.dual_value, len(self.passes.active), self.products.n, gap=gap
            )
            self.trace.append(point)
            limits.report(point)
            if is_within(self.primal, self.dual_value, self.gap_tol):
                return Status.OPTIMAL
            status = status or limits.reached()
            if status is not None:
                return status
            if gap < before[0]:
                last_better = self.epochs
            elif self.epochs - last_better > HOPELESS:
                return Status.OPTIMAL_INACCURATE
            left = passes_left(before, (gap, self.epochs), self.gap_tol)
            if left > patience and self.epochs >= max(2 * FIRST_CHECK, before[1] + FIRST_CHECK):
                return None
            wait = next_wait(left, self.epochs)

    def _descend(self, count: int, limits: "Limits") -> Status | None:
        """Passes over the active rows until the gap looks small enough, or will be by the next check.

        Returns a status if a limit was reached.
        """
        passes = self.passes
        for k in range(count + POSTPONED):
            if self.is_sampled and self.epochs == SAMPLE_PASSES:
                passes.look_at(passes.all_rows())
            if limits.iterations_left(self.epochs) <= 0:
                return Status.ITERATION_LIMIT
            if len(passes.active) == 0:
                break
            before = passes.gap
            if not passes.run(limits):
                return limits.reached()
            self.epochs += 1
            goal = self.gap_tol * self._rough_primal() / (SHARE_LEFT if passes.has_preferences else 1.0)
            after = _expected_gap(before, passes.gap)
            if after <= goal or (k + 1 >= count and _expected_gap(passes.gap, after) > goal):
                break
        return None

    def _rough_primal(self) -> float:
        """The primal objective at the last check, or the estimate of the last pass before the first one."""
        if self.primal < math.inf:
            return abs(self.primal)
        w = self.passes.w
        return self.passes.loss + 0.5 * float(w[:-1] @ w[:-1])

    def _check(self) -> None:
        """Evaluate both objectives, keep the best of each, and choose the rows to visit next."""
        dual, passes = self.dual, self.passes
        w, beta = passes.w[:-1], np.ascontiguousarray(passes.beta)
        values = self.products.dots(w)
        self._keep_primal(w, values)
        self._keep_dual(beta, w)
        self._settle_bias(values, beta)
        values += passes.bias
        rows = np.empty(len(beta), passes.active.dtype)
        count, _ = steepest(
            values, dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon, beta, passes.firm, rows
        )
        passes.look_at(rows[:count] if count else passes.all_rows())

    def _settle_bias(self, values: FloatArray, beta: FloatArray) -> None:
        """Set the bias to its optimum for w if it dominates the gap, or if no active row is left to move it.

        Rows much shorter than the constant feature all reach their bounds long before the bias, which they move a
        little per pass, settles.
        """
        dual, passes = self.dual, self.passes
        is_left_alone = len(passes.active) == 0
        if dual.has_equality:
            if is_left_alone:
                passes.hold(self._free_bias(values))
        elif dual.scale:
            distance = 0.5 * (passes.bias / dual.scale - dual.scale * beta.sum()) ** 2
            if is_left_alone or distance > 0.5 * (self.primal - self.dual_value):
                passes.hold(self._penalised_bias(values, passes.bias))

    def _keep_primal(self, w: FloatArray, values: FloatArray) -> None:
        """The best point between w, with its optimal bias, and the best so far.

        With a kink, noise of the last steps affects the primal in first order and the dual only in second order:
        without these searches a fit would wait for the primal. Far from the end they do not pay.
        """
        dual = self.dual
        is_near = self.passes.gap <= NEAR * self.gap_tol * self.primal < math.inf
        bias = self.passes.bias
        if dual.has_equality:
            bias = self._free_bias(values)
        elif dual.scale and is_near:
            bias = self._penalised_bias(values, bias)
        point = w.copy(), bias, values + bias
        if is_near and self.passes.has_preferences and self.best is not None:
            point = self._between(self.best, point)
        w, bias, values = point
        primal = self.dual.penalty(w, bias) + self._loss(values)
        if self.best is None or primal < self.primal:
            self.primal, self.best = primal, point

    def _loss(self, values: FloatArray) -> float:
        dual = self.dual
        return total_loss(values, 0.0, dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon)

    def _penalised_bias(self, values: FloatArray, bias: float) -> float:
        """The bias that minimises the primal for the present w, if it is penalised."""
        scale = self.dual.scale
        step = bracketed_minimum(values + bias, np.full(len(values), scale), bias / scale, 1.0, 0.01, self._rounded)
        better = bias + scale * step
        before, after = (0.5 * (b / scale) ** 2 + self._loss(values + b) for b in (bias, better))
        return better if after < before else bias

    def _between(
        self, best: tuple[FloatArray, float, FloatArray], point: tuple[FloatArray, float, FloatArray]
    ) -> tuple[FloatArray, float, FloatArray]:
        """The best point on the line from `best` through `point`."""
        (w, bias, values), (other, other_bias, other_values) = best, point
        step, shift, direction = other - w, other_bias - bias, other_values - values
        price = 0.0 if self.dual.has_equality or self.dual.scale == 0.0 else self.dual.scale**-2
        along, square = float(w @ step) + price * bias * shift, float(step @ step) + price * shift * shift
        t = bracketed_minimum(values, direction, along, square, 1.0, self._rounded)
        return w + t * step, bias + t * shift, values + t * direction

    def _keep_dual(self, beta: FloatArray, w: FloatArray) -> None:
        if self.dual.has_equality:
            feasible = balanced(beta)
            w = self.products.combination(feasible - beta, w.copy())
            beta = feasible
        separable, balance = separable_dual(beta, self.dual.linear, self.dual.ridge, self.dual.epsilon)
        bias = 0.0 if self.dual.has_equality else (self.dual.scale * balance) ** 2
        value = separable - 0.5 * (w @ w + bias)
        if value > self.dual_value:
            self.dual_value, self.best_beta = value, beta

    def _free_bias(self, values: FloatArray) -> float:
        """The bias that minimises the primal for the present w, if it is free."""
        return settled_bias(values, self._rounded)

    @computed_once
    def _rounded(self) -> RoundedLosses:
        """Loss arguments of the searches: a negligible proximal term gives the kink a slope."""
        dual = self.dual
        tiny = np.where(dual.ridge == 0.0, 1e-9 / np.where(dual.reach > 0.0, dual.reach, 1.0), 0.0)
        return RoundedLosses(dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon, tiny, np.zeros(len(dual)))

    def solution(self, status: Status | None) -> LinearSolution:
        """The best solution found."""
        w, bias, _ = self.best
        return LinearSolution(w, float(bias), self.best_beta, status, self.epochs, self.trace)


def _expected_gap(before: float, now: float) -> float:
    """The gap after a pass, estimated from the running gaps of its rows in this pass and the one before."""
    if before == math.inf:
        return now
    return now * min(1.0, now / before) if before > 0.0 else 0.0


def next_wait(left: float, done: int) -> int:
    """Passes until the next check: most of those that seem to remain, but not too many."""
    return int(max(1, min(1.5 * left + 0.5, max(2 * FIRST_CHECK, LONGEST_WAIT * done))))


def passes_left(before: tuple[float, int], now: tuple[float, int], gap_tol: float) -> float:
    """Estimated remaining passes if the gap keeps falling at this rate."""
    if not (math.isfinite(before[0]) and now[0] < before[0]) or now[1] <= before[1]:
        return now[1] * 2.0
    rate = math.log(before[0] / now[0]) / (now[1] - before[1])
    return math.log(now[0] / gap_tol) / rate
