"""The Newton steps of one machine, as a generator of requests to the blocks (see `mercer.solvers.blocks.newton`)."""

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any, cast

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.first_rounding import first_bias, first_centre, mean_residual
from mercer.solvers.blocks.line_search import crossing, inner_points, root
from mercer.solvers.blocks.passes import (
    PARTS,
    Asked,
    Curvature,
    Evaluate,
    Evaluation,
    Place,
    Prove,
    Response,
    Slopes,
)
from mercer.solvers.blocks.penalty import Penalty
from mercer.solvers.blocks.products import step_by_products
from mercer.solvers.blocks.responses import joined_rows, scale_sides, shares_of_sides, sum_of_sides
from mercer.solvers.blocks.solution import BlockSolution, by_sums
from mercer.solvers.blocks.state import flat, place_of, request_of, state_of
from mercer.solvers.elsewhere import State
from mercer.solvers.limits import Limits
from mercer.solvers.linear.small_newton import INNER, NARROWER
from mercer.solvers.linear_result import share_of_gap
from mercer.solvers.result import Status, TracePoint
from mercer.solvers.tolerances import INACCURATE, ended_by_rounding

# Most features for which the Hessian is formed.
DIRECT = 5000
# Up to this many features, the Hessian at the moved centres is formed too, once this many steps have been taken around
# the present ones.
SPECULATES, PROMPT = 2000, 2
# Initial width of the rounded zone: in mean residuals; and, after a solution on a sample or on all rows, in its final
# widths.
FIRST_WIDTH, WIDTH_AFTER_SAMPLE, WIDTH_AFTER_ALL = 3.0, 4.0, 2.0
# A step is too long if the objective is not lower at its end, or rises there faster than this times its initial fall.
TOO_LONG = 0.5
# Points per interval at which slopes are evaluated in the line search, and how many such searches at most.
LOOKS, MOST_LOOKS = 24, 3
# If the steps around one centre exceed this, the width is not reduced when the centre moves.
QUICK = 4
MOST_STEPS = 500
# Steps without a better gap after which only rounding is left, in single and in double precision, and beyond a gap FAR.
HOPELESS_IN_SINGLE, HOPELESS, HOPELESS_FAR, FAR = 6, 25, 60, 1e-2
# Share of the gap asked for that is reached in single precision, so that double precision does not refute it.
IN_SINGLE = 0.95
# Share of the gap asked for that is expected after the next step where a certificate takes the place of its evaluation.
# Without kinks, a step reduces the gap by the last reduction to this power (2 for smooth losses; 1.4 to 1.6 was seen).
EXPECTED, ORDER = 0.1, 1.5

# The progress of the steps apart from points: integers, then floats.
_COUNTS = ("steps", "moved_at", "last_better", "sums_in_double")
_NUMBERS = (*_COUNTS, "gap", "best_primal", "best_dual", "strictness")

Turn = Generator[Asked, tuple[Any, list[Any]], Any]


class Newton:
    """The Newton steps of one machine, as a generator of requests to the blocks."""

    def __init__(
        self, machine: BlockMachine, penalty: Penalty, start: BlockSolution | None, gap_tol: float,
        dtype: np.dtype[Any], limits: Limits, proves: bool = True, keeps: Callable[[Any], bool] = lambda _: False,
    ) -> None:  # fmt: skip
        self._keeps = keeps
        self.proves, self.machine, self.penalty, self.gap_tol = proves, machine, penalty, gap_tol
        self.dtype, self.limits = dtype, limits
        m, rows = penalty.m, machine.rows(slice(0, 1))
        form = rows.loss.form
        self.has_kinks = form is not None and form.curvature == 0.0
        self.weight = {"free": 0.0, "penalized": 1.0, "none": 1.0}[machine.bias]
        v: FloatArray = np.zeros(m)
        b, width = first_bias(machine), np.inf
        if start is not None:
            v, b, width = penalty.coefficients(np.asarray(start.w)), float(start.bias), start.width
        self.centre = first_centre(machine, start) if self.has_kinks else None
        if self.has_kinks and not 0.0 < width < np.inf:
            width = FIRST_WIDTH * mean_residual(machine, b)
        elif self.has_kinks:
            knows_rows = start is not None and len(start.beta) == len(machine.targets)
            width *= WIDTH_AFTER_ALL if knows_rows else WIDTH_AFTER_SAMPLE
        self.at = Place(v, b, width if self.has_kinks else 0.0)
        self.moved: Place | None = None
        self.moved_at = 0
        self.best_primal, self.best, self.gap = np.inf, self.at, np.inf
        # The gap that is expected after the next step.
        self.best_dual, self.counts, self.coarsest, self.expected = -np.inf, (0, 0), dtype, np.inf
        self.steps, self.last_better = 0, 0
        # 1 once sums in single precision have made the Hessian indefinite.
        self.sums_in_double = 0
        self.trace: list[TracePoint] = []
        # Factor by which the required gap is reduced after a certificate has refuted one.
        self.strictness = 1.0
        self.status: Status | None = None
        self.beta: FloatArray | None = None
        self.certificate: Certificate | None = None
        self.image: FloatArray | None = None
        # The last requested evaluation with the centres at that time; the initial one; the present point.
        self._asked: tuple[Evaluate, FloatArray | None] | None = None
        self._next: Evaluate | None = None
        # The precision of the features in that evaluation; the slopes it told, with those after moving last; and those
        # whose Hessian is asked for.
        self._asked_in = dtype
        self._slopes: list[FloatArray] = []
        self._moving: FloatArray | None = None
        self._state: State = {}

    def told(self, span: slice) -> Any:
        """Per-machine data sent to the blocks beside the losses."""
        own = self.centre if self._moving is None else self._moving
        return None if own is None else own[span]

    def _ask(self, what: Any) -> Asked:
        return Asked(self.machine.constant, self.machine.is_free, what)

    # --- the steps ---------------------------------------------------------------------------

    def run(self) -> Turn:
        """Iterate to an end, then certify; a generator of requests."""
        while True:
            status = yield from self._descend()
            if not self._is_certified():
                yield from self._certify()
            if status != Status.OPTIMAL or not self.proves or self._is_certified():
                break
            # Double precision refutes what single precision reported as solved, or the centres had not settled.
            if self.dtype == np.float64 and self.gap_tol < INACCURATE:
                status = Status.OPTIMAL_INACCURATE
                break
            self._asks_for_more()
        self.status = status

    def _is_certified(self) -> bool:
        found = self.certificate
        return found is not None and found.gap <= self.gap_tol * max(abs(found.primal), 1e-300)

    def _asks_for_more(self) -> None:
        if self.dtype == np.float64:
            self.strictness *= 0.25
        self.dtype = self.coarsest = np.dtype(np.float64)
        self.gap, self.last_better = np.inf, self.steps
        self.best_primal, self.best_dual = np.inf, -np.inf

    def _descend(self) -> Turn:
        evaluation = yield from self._evaluate(self._next or self._request(self.at, None))
        response = evaluation.now
        while True:
            self._state, self._next = self._reached(), None
            primal, dual = self._objectives(evaluation, response)
            status = self._judge(primal, dual, response)
            if status is not None:
                return status
            gradient = self._gradient(response)
            if self.has_kinks and self._is_inner_solved(gradient, response):
                response = yield from self._move(evaluation)
                gradient = self._gradient(response)
            step = yield from self._step(gradient, response)
            self.steps += 1
            if (yield from self._ends_with(step, response)):
                return Status.OPTIMAL
            evaluation = yield from self._advance(step, gradient, response)
            response = evaluation.now

    def _request(self, at: Place, step: tuple[FloatArray, float] | None) -> Evaluate:
        # Ask now for what will be wanted once the answer arrives.
        is_likely = self.steps - self.moved_at >= PROMPT and self.penalty.m <= SPECULATES
        narrower = self._next_width(at) if self.has_kinks and is_likely else None
        return self._with_curvature(Evaluate(at, step, self.moved, narrower))

    def _with_curvature(self, request: Evaluate) -> Evaluate:
        """The request with the precision of its Hessian, where that is formed at once.

        Where features are kept, it waits until a step needs it: half of them are never needed.
        """
        if self.penalty.m > DIRECT:
            return replace(request, curvature=None)
        is_later = self._keeps(self.dtype)
        return replace(request, curvature=None if is_later else self._sums_in(self.dtype), is_later=is_later)

    def _sums_in(self, dtype: "np.dtype[Any]") -> "np.dtype[Any]":
        """The precision in which the Hessian of such features is added up."""
        return np.dtype(np.float64) if self.sums_in_double else dtype

    def _evaluate(self, request: Evaluate) -> Turn:
        self._asked, self._asked_in = (request, self.centre), self.dtype
        evaluation, told = yield self._ask(request)
        moved_to, slopes = zip(*told, strict=True)
        if request.moved is not None:
            self.centre, self.moved = np.concatenate(moved_to), None
        self._slopes = list(np.concatenate(slopes, axis=1)) if request.is_later else []
        self.at = request.at
        return evaluation

    def _hessian(self, response: Response) -> Turn:
        """That of the present response: at hand, or asked for now; None where it is never formed."""
        if not self._slopes:
            return response.H
        before, self.dtype, self._moving = self.dtype, self._asked_in, self._slopes[0]
        H, _ = yield self._ask(Curvature(self._sums_in(self.dtype)))
        self.dtype, self._moving = before, None
        return H

    def _move(self, evaluation: Evaluation) -> Turn:
        """The present responses become the centres, and the width shrinks."""
        self.moved = self.at
        self.at = self.at._replace(width=self._next_width(self.at))
        self.moved_at = self.steps
        if evaluation.after is not None:
            self._slopes = self._slopes[1:]
            return evaluation.after
        again = yield from self._evaluate(self._request(self.at, None))
        return again.now

    def _next_width(self, at: Place) -> float:
        """The width after the centres move: smaller, unless the last one was hard to solve."""
        return at.width / NARROWER if self.steps - self.moved_at <= QUICK else at.width

    def _advance(self, step: FloatArray, gradient: FloatArray, before: Response) -> Turn:
        """The evaluation at the end of the step, or of a fraction where the full step is too long."""
        begin, end = self.at, self._end_of(self.at, step)
        dv, db = step[:-1], self.machine.constant * float(step[-1])
        fell, along = -abs(float(gradient @ step)), self.penalty.along(begin.v, self._c(begin), step, self.weight)
        evaluation = yield from self._evaluate(self._request(end, (dv, db)))
        rises = float(self._gradient(evaluation.now) @ step)
        lower = along[0] + 0.5 * along[1] + evaluation.now.envelope - before.envelope <= 0.0
        if lower and not rises > TOO_LONG * abs(fell):
            return evaluation
        t = np.concatenate([[0.0], PARTS, [1.0]])
        slopes = np.concatenate([[fell], along[0] + along[1] * PARTS + evaluation.slopes, [rises]])
        for _ in range(MOST_LOOKS):
            place = crossing(slopes)
            if slopes[place + 1] <= TOO_LONG * abs(fell) or rises <= 0.0:
                break
            inside = inner_points(t[place], t[place + 1], LOOKS)
            found, _ = yield self._ask(Slopes(begin, (dv, db), inside))
            slopes = np.concatenate([[slopes[place]], along[0] + along[1] * inside + found, [slopes[place + 1]]])
            t = np.concatenate([[t[place]], inside, [t[place + 1]]])
        share = root(t, slopes)
        return (yield from self._evaluate(self._request(self._end_of(begin, share * step), None)))

    def _end_of(self, at: Place, step: FloatArray) -> Place:
        return Place(at.v + step[:-1], at.b + self.machine.constant * float(step[-1]), at.width)

    def _ends_with(self, step: FloatArray, response: Response) -> Turn:
        """Whether the full step ends at the solution: its certificate, where a small gap is expected, saves a pass."""
        if not self.proves or self.expected > EXPECTED * self.gap_tol:
            return False
        before = self.best
        yield from self._certify(self._end_of(self.at, step))
        if not self._is_certified():
            self.best, self.certificate, self.beta, self.image = before, None, None, None
            return False
        found: Any = self.certificate
        self._record(share_of_gap(found.primal, found.dual), found.dual, response.moving)
        return True

    def _c(self, at: Place) -> float:
        """The bias as a coefficient beside the others."""
        return at.b / self.machine.constant if self.machine.constant else 0.0

    def _gradient(self, response: Response) -> FloatArray:
        """Minus the gradient of the rounded primal in (v, c)."""
        out = np.empty(self.penalty.m + 1)
        out[:-1] = self.penalty.times(self.at.v) - response.up - response.down
        out[-1] = self.weight * self._c(self.at) - self.machine.constant * response.balance.sum()
        return out

    def _is_inner_solved(self, gradient: FloatArray, response: Response) -> bool:
        residual = self.penalty.whitened(gradient[:-1])
        return float(residual @ residual + gradient[-1] ** 2) <= INNER * response.distance

    def _step(self, gradient: FloatArray, response: Response) -> Turn:
        H = yield from self._hessian(response)
        if H is None:
            last = self.weight if self.machine.constant else 1.0
            return (yield from step_by_products(-gradient, self.at, self.penalty, last, self._ask))
        system = -gradient, self.machine.constant, self.weight
        step = self.penalty.step(H, *system, is_damped=H.dtype == np.float64)
        if step is not None:
            return step
        # The sums alone made it indefinite: rounded features are features too, and their squares are not negative.
        self.sums_in_double = 1
        again = yield from self._evaluate(self._request(self.at, None))
        return self.penalty.step((yield from self._hessian(again.now)), *system)

    # --- progress and certificate ------------------------------------------------------------

    def _objectives(self, evaluation: Evaluation, response: Response) -> tuple[float, float]:
        w, constant = self.penalty.weights(self.at.v), self.machine.constant
        bias = 0.0 if self.machine.is_free else self._c(self.at) ** 2
        primal = 0.5 * float(w @ w + bias) + evaluation.loss
        share = shares_of_sides(response.balance, self.machine.is_free)
        image = self.penalty.whitened(sum_of_sides((response.up, response.down), share))
        total = 0.0 if self.machine.is_free else (constant * float(response.balance.sum())) ** 2
        # By concavity, scaling keeps at least that share of the gain.
        dual = float(share @ response.gain - share**2 @ response.square) - 0.5 * (float(image @ image) + total)
        return primal, dual

    def _judge(self, primal: float, dual: float, response: Response) -> Status | None:
        """The status that ends the iteration, or None."""
        before = self.best_primal - self.best_dual
        self.best_dual = max(dual, self.best_dual)
        if primal < self.best_primal:
            self.best_primal, self.best, self.counts = primal, self.at, (response.moving, response.idle)
        gap = share_of_gap(primal, dual)
        is_quick = not self.has_kinks and 0.0 < gap < self.gap < np.inf
        self.expected = gap * (gap / self.gap) ** ORDER if is_quick else np.inf
        # Far from the optimum the share stays near 1 while the primal falls by many powers of ten.
        if gap < 0.99 * self.gap or self.best_primal - self.best_dual < 0.99 * before:
            self.gap, self.last_better = min(gap, self.gap), self.steps
        self._record(gap, dual, response.moving)
        asked = self.gap_tol if self.dtype == np.float64 else IN_SINGLE * self.gap_tol
        if np.isfinite(primal) and gap <= self.strictness * asked:
            return Status.OPTIMAL
        reached = self.limits.reached()
        if reached is not None:
            return reached
        if self.limits.iterations_left(self.steps) <= 0:
            return Status.ITERATION_LIMIT
        return self._hopeless(gap)

    def _record(self, gap: float, dual: float, moving: int) -> None:
        n = len(self.machine.targets)
        point = TracePoint(self.limits.seconds, self.steps, gap, dual, moving, n, gap=gap)
        self.trace.append(point)
        self.limits.report(point)

    def _hopeless(self, gap: float) -> Status | None:
        since = self.steps - self.last_better
        if self.dtype == np.float32:
            if since > HOPELESS_IN_SINGLE:
                self.dtype, self.last_better = np.dtype(np.float64), self.steps
            return None
        if since > (HOPELESS_FAR if gap > FAR else HOPELESS) or self.steps >= MOST_STEPS:
            return ended_by_rounding(gap)
        return None

    def _certify(self, at: Place | None = None) -> Turn:
        """Values of all rows, their responses and the sum of those in one pass in double precision, and the certificate
        they give; in working precision where nothing is to be proved. Unless given, at the last point or the best."""
        if at is None:
            at = self.at if self.trace[-1].violation <= self.gap_tol else self.best
        before, self.dtype = self.dtype, np.dtype(np.float64) if self.proves else self.dtype
        sums, parts = yield self._ask(Prove(at))
        self.dtype, self.best = before, at
        values, beta = joined_rows(parts)
        share = shares_of_sides(sums[:, -1], self.machine.is_free)
        self.beta = scale_sides(beta, share)
        if self.proves:
            self.image = self.penalty.whitened(sum_of_sides(sums[:, :-1], share))
            weights = self.penalty.weights(at.v)
            values += at.b
            self.certificate = self.machine.certificate(weights, at.b, values, self.beta, self.image)

    def end_early(self) -> None:
        """Stopped during a pass: the best point so far, with what complete passes say about it."""
        self.status = self.limits.reached() or Status.INTERRUPTED
        if np.isfinite(self.best_primal):
            n, precision = len(self.machine.targets), self.coarsest
            self.certificate = by_sums(self.best_primal, self.best_dual, n, *self.counts, precision)

    def state(self) -> State:
        """The state after the last completed step; empty before the first."""
        return self._state

    def _reached(self) -> State:
        """The last evaluation and the rest of the state."""
        numbers = (*self.counts, *(getattr(self, name) for name in _NUMBERS))
        precisions = self.dtype.itemsize, self.coarsest.itemsize
        more = {"best": flat(self.best), "numbers": np.array([*precisions, *numbers])}
        return {**state_of(*cast(Any, self._asked)), **more}

    def go_on(self, state: State) -> None:
        """Resume another fit of the same problem by repeating its last evaluation."""
        fine, coarse, moving, idle, *numbers = state["numbers"].tolist()
        for name, number in zip(_NUMBERS, numbers, strict=True):
            setattr(self, name, int(number) if name in _COUNTS else number)
        self.dtype, self.coarsest = np.dtype(f"f{int(fine)}"), np.dtype(f"f{int(coarse)}")
        self.counts, self.best = (int(moving), int(idle)), place_of(state["best"])
        self.centre = state["centre"] if self.has_kinks else None
        self._state, self._next = state, self._with_curvature(request_of(state))

    def solution(self) -> BlockSolution:
        """The best point found."""
        v = self.best.v
        beta = np.zeros(len(self.machine.targets)) if self.beta is None else self.beta
        status = Status.INTERRUPTED if self.status is None else self.status
        return BlockSolution(
            self.penalty.weights(v).copy(), v.copy(), float(self.best.b), beta, status, self.steps,
            self.certificate, self.trace, self.best.width, self.image,
        )  # fmt: skip
