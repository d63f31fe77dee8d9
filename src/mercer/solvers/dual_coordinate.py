"""Dual coordinate descent for linear machines (Hsieh et al. 2008; for regression Ho & Lin 2012).

Each step maximises the dual over one beta_i and keeps w = sum beta_i x_i up to date. A pass costs two
operations for each entry of the rows that are looked at; rows that sit firmly at a bound are left out
until the next check (shrinking). A check computes f(x_i) for all rows, on all cores, and from it
the duality gap, which decides when to stop; how often one is made follows from how fast the gap falls.

A free bias is the multiplier of sum beta_i = 0 (Hestenes 1969): the constraint is priced at the
present bias, violations of it cost like a penalised bias, and each check moves the price.

Needs: a `LinearDual` with finite C, rows in a `RowProducts`. Best where rows are sparse and features
many; on few, ill-conditioned features `primal_newton` is faster.
"""

import math

import numpy as np

from mercer.problems.linear_dual import balanced
from mercer.solvers.conjugate_losses import BEYOND, separable_dual, settled_bias, steepest, total_loss
from mercer.solvers.coordinate_steps import BETA, CURVATURE, LINEAR, LOWER, RIDGE, UPPER, WIDTH, shuffle, sweep
from mercer.solvers.linear_result import LinearSolution, is_within, share_of_gap
from mercer.solvers.result import Status, TracePoint

# Entries of rows in a slice: some 50 ms.
SLICE_ENTRIES = 15_000_000
FIRST_CHECK = 4
# The first passes are over a share of the rows: most of what a first pass over all of them does is undone later.
SAMPLE, SAMPLE_PASSES, FEWEST_SAMPLED = 4, 2, 1000
# Passes between checks, as a share of those done: a check costs about half a pass.
LONGEST_WAIT = 0.5
# A row at a bound is left out if its slope is below minus this share of the largest among those that moved. The
# whole of it is what Hsieh et al. take; a check brings back what was left out too early, so less is safe and faster.
FIRM = 0.1
# Passes at one price of a free bias.
LONGEST_PRICE = 8
SEED = 0x9E3779B97F4A7C15
# Passes without a better gap after which rounding errors are all that is left.
HOPELESS = 3000


def solve(products, dual, *, gap_tol, limits, start=None, seed=0, patience=math.inf):
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
    descent = _Descent(products, dual, start, seed)
    status = descent.run(gap_tol, limits, patience)
    return descent.solution(status)


class _Descent:
    def __init__(self, products, dual, start, seed):
        self.products, self.dual = products, dual
        n, d = products.n, products.n_features
        self.points = self._points(start)
        self.state = np.array([(seed * 2 + 1) * SEED % 2**64], dtype=np.uint64)
        self.w = np.zeros(d + 1)
        if start is not None:
            products.combination(self.beta, self.w[:d])
            self.w[d] = dual.scale * self.beta.sum()
        self.active = self._all_rows()
        self.is_sampled = start is None and n >= SAMPLE * FEWEST_SAMPLED
        if self.is_sampled:
            shuffle(self.active, self.state)
            self.active = self.active[: n // SAMPLE]
        self.price, self.epochs, self.gap_of_pass = 0.0, 0, math.inf
        self.firm = BEYOND
        self.primal, self.dual_value = math.inf, -math.inf
        self.best, self.trace = None, []

    def _points(self, start):
        dual = self.dual
        points = np.zeros((self.products.n, WIDTH))
        points[:, LINEAR], points[:, LOWER], points[:, UPPER] = dual.linear, dual.lower, dual.upper
        points[:, RIDGE] = dual.ridge
        # A row of zeros moves to its bound at once, whatever its curvature is called.
        points[:, CURVATURE] = np.maximum(self.products.squares() + dual.scale**2 + dual.ridge, 1e-300)
        if start is not None:
            points[:, BETA] = dual.feasible(start)
        return points.ravel()

    def _all_rows(self):
        return np.arange(self.products.n, dtype=np.int32 if self.products.n < 2**31 else np.int64)

    @property
    def beta(self):
        return self.points[BETA::WIDTH]

    def run(self, gap_tol, limits, patience):
        """Passes and checks until an end; the status, or None if patience is out."""
        wait = FIRST_CHECK
        last_better = last_check = 0
        while True:
            status = self._descend(wait, limits, gap_tol)
            before = share_of_gap(self.primal, self.dual_value), last_check
            self._check()
            gap, last_check = share_of_gap(self.primal, self.dual_value), self.epochs
            point = TracePoint(
                limits.seconds, self.epochs, gap, self.dual_value, len(self.active), self.products.n, gap=gap
            )
            self.trace.append(point)
            limits.report(point)
            if is_within(self.primal, self.dual_value, gap_tol):
                return Status.OPTIMAL
            status = status or limits.reached()
            if status is not None:
                return status
            if gap < before[0]:
                last_better = self.epochs
            elif self.epochs - last_better > HOPELESS:
                return Status.OPTIMAL_INACCURATE
            left = passes_left(before, (gap, self.epochs), gap_tol)
            if left > patience and self.epochs >= 2 * FIRST_CHECK:
                return None
            wait = next_wait(left, self.epochs)
            if self.dual.has_equality:
                # Only a check moves the price.
                wait = min(wait, LONGEST_PRICE)

    def _descend(self, passes, limits, gap_tol):
        """Passes over the active rows until the gap seems small enough; a status, if a limit was met."""
        for _ in range(passes):
            if self.is_sampled and self.epochs == SAMPLE_PASSES:
                self.active = self._all_rows()
            if limits.iterations_left(self.epochs) <= 0:
                return Status.ITERATION_LIMIT
            if len(self.active) == 0:
                break
            before = self.gap_of_pass
            if not self._pass(limits):
                return limits.reached()
            self.epochs += 1
            if self._expected_gap(before) <= gap_tol * abs(self.primal) < math.inf:
                break
        return None

    def _expected_gap(self, before):
        """The gap after a pass, from that of its rows on the way and of the pass before."""
        return self.gap_of_pass * min(1.0, self.gap_of_pass / before) if before > 0.0 else 0.0

    def _pass(self, limits):
        """One pass in slices; False if a limit was met within."""
        shuffle(self.active, self.state)
        n = len(self.active)
        mean = max(1, self.products.n_entries // self.products.n)
        size = max(1, SLICE_ENTRIES // mean)
        kept, largest, done, self.gap_of_pass = 0, 0.0, 0, 0.0
        while done < n:
            if done and limits.stop():
                break
            end = min(n, done + size)
            kept, met, gap = sweep(
                self.products.rows, self.points, self.dual.epsilon, self.dual.scale, self.w,
                self.active, done, end, kept, self.firm,
            )  # fmt: skip
            largest, done = max(largest, met), end
            self.gap_of_pass += gap
        is_whole = done == n
        self.active = np.concatenate([self.active[:kept], self.active[done:]]) if not is_whole else self.active[:kept]
        self.firm = FIRM * largest
        return is_whole

    def _check(self):
        """Both objectives, the best of each kept; which rows to look at next."""
        dual, d = self.dual, self.products.n_features
        w, beta = self.w[:d], np.ascontiguousarray(self.beta)
        values = self.products.dots(w)
        bias = self.price + dual.scale * self.w[d]
        if dual.has_equality:
            bias = self._free_bias(values)
        loss = total_loss(values, bias, dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon)
        primal = dual.penalty(w, bias) + loss
        if self.best is None or primal < self.primal:
            self.primal, self.best = primal, (w.copy(), bias)
        self._keep_dual(beta, w)
        values += self.price + dual.scale * self.w[d]
        if dual.has_equality:
            self._move_price(values, beta)
        rows = np.empty(len(beta), self.active.dtype)
        count, _ = steepest(
            values, dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon, beta, self.firm, rows
        )
        self.active = rows[:count]

    def _keep_dual(self, beta, w):
        if self.dual.has_equality:
            feasible = balanced(beta)
            w = self.products.combination(feasible - beta, w.copy())
            beta = feasible
        separable, balance = separable_dual(beta, self.dual.linear, self.dual.ridge, self.dual.epsilon)
        bias = 0.0 if self.dual.has_equality else (self.dual.scale * balance) ** 2
        value = separable - 0.5 * (w @ w + bias)
        if value > self.dual_value:
            self.dual_value, self.best_beta = value, beta

    def _free_bias(self, values):
        """The bias that minimises the primal for the present w."""
        dual = self.dual
        # Where the loss has a kink, a proximal term too small to be seen gives the response a slope.
        tiny = np.where(dual.ridge == 0.0, 1e-9 / np.where(dual.reach > 0.0, dual.reach, 1.0), 0.0)
        nothing = np.zeros(len(dual))
        bounds = dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon
        return settled_bias(values, *bounds, tiny, nothing)

    def _move_price(self, values, beta):
        """One step of the multiplier; `values` and the steps to come see the new price."""
        step = self.dual.scale**2 * beta.sum()
        self.price += step
        values += step
        self.points[LINEAR::WIDTH] = self.dual.linear - self.price

    def solution(self, status):
        """The best that was met."""
        w, bias = self.best
        return LinearSolution(w, float(bias), self.best_beta, status, self.epochs, self.trace)


def next_wait(left, done):
    """Passes until the next check: most of those that seem to be left, but not too many blindly."""
    return int(max(1, min(1.5 * left + 0.5, max(2 * FIRST_CHECK, LONGEST_WAIT * done))))


def passes_left(before, now, gap_tol):
    """How many more passes there are if the gap goes on falling as it did."""
    if not (math.isfinite(before[0]) and now[0] < before[0]) or now[1] <= before[1]:
        return now[1] * 2.0
    rate = math.log(before[0] / now[0]) / (now[1] - before[1])
    return math.log(now[0] / gap_tol) / rate
