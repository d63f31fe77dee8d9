"""Proximal Newton steps for the L1 penalty with the squared hinge (Yuan, Ho & Lin 2012).

At the current w the losses are replaced by their second-order model, which leaves a lasso problem over
the features that are nonzero, or should become so. If these are few, their matrix of second derivatives is
formed once a round, and cyclic coordinate descent in it alternates with Newton steps on the nonzero
features, however correlated they are; otherwise the coordinate descent goes through the columns. Then
there is a line search on the true objective. A round costs a pass over all columns for the gradient, and
the matrix, or two operations for each entry of the columns in the working set in each inner pass.

Needs the columns: a transposed copy of the rows.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from mercer._jit.compile import jit
from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import SparseRows, row_dot, row_weighted_add, row_weighted_square, view_rows
from mercer._types import FloatArray, IndexArray, Rows
from mercer.solvers.linear import lasso
from mercer.solvers.linear_result import POLISHED, LinearSolution, is_within, share_of_gap
from mercer.solvers.result import Status, TracePoint
from mercer.solvers.tolerances import ended_by_rounding

if TYPE_CHECKING:
    from mercer._jit.row_views import RowView
    from mercer.problems.linear.l1 import SparseMargin
    from mercer.solvers.limits import Limits

MOST_ROUNDS = 2000
INNER_PASSES = 50
# The inner problem is solved until its largest step is this share of the first pass's.
INNER_SHARE = 0.05
HALVINGS = 40
# How often the slope is looked at on the way along a step.
MOST_LOOKS = 20
# A whole step is taken if the objective falls by this share of what its slope promises.
ENOUGH = 0.1
HOPELESS = 30
# Objectives equal up to this share count as equal; then the slope must fall below this share of its value.
SAME_OBJECTIVE, FLATTER = 1e-14, 0.5
# The matrix of second derivatives is formed for no more features than this, nor with more multiplications.
MOST_UNKNOWNS, MOST_PRODUCTS, MOST_SPARSE_PRODUCTS = 1000, 5e9, 5e8


@jit
def _lasso_pass(
    columns: "RowView",
    working: IndexArray,
    curvature: FloatArray,
    slope: FloatArray,
    residual: FloatArray,
    goal: FloatArray,
    scale: float,
    weight: float,
    balance: float,
) -> float:
    """One cyclic pass of coordinate descent on the model; the largest decrease by a coordinate.

    `goal` is the point being built (its last entry the weight of the constant feature `scale`, penalised by `weight`),
    `residual` the model's responses of the rows there, `balance` the sum of `slope`.
    """
    largest, last = 0.0, goal.shape[0] - 1
    for k in range(working.shape[0]):
        j = working[k]
        h = curvature[j]
        if h <= 0.0:
            continue
        wish = goal[j] + row_dot(columns, j, residual) / h
        wish = wish - 1.0 / h if wish > 1.0 / h else (wish + 1.0 / h if wish < -1.0 / h else 0.0)
        step = wish - goal[j]
        if step != 0.0:
            goal[j] = wish
            row_weighted_add(columns, j, -step, slope, residual)
            largest = max(largest, h * step * step)
    h = scale * scale * balance
    if h > 0.0:
        wish = goal[last] + scale * residual.sum() / h
        cut = weight / h
        wish = wish - cut if wish > cut else (wish + cut if wish < -cut else 0.0)
        step = wish - goal[last]
        goal[last] = wish
        for i in range(residual.shape[0]):
            residual[i] -= step * scale * slope[i]
        largest = max(largest, h * step * step)
    return largest


@jit
def _sum_products(
    data: FloatArray,
    indices: IndexArray,
    indptr: IndexArray,
    moving: IndexArray,
    slope: FloatArray,
    place: IndexArray,
    G: FloatArray,
) -> None:
    """Add slope_i x_ij x_ik for rows i in `moving` of a CSR matrix; feature j has the place place[j], none if < 0."""
    longest = 0
    for k in range(moving.shape[0]):
        longest = max(longest, indptr[moving[k] + 1] - indptr[moving[k]])
    places, values = np.empty(longest, np.int64), np.empty(longest)
    for k in range(moving.shape[0]):
        i, count = moving[k], 0
        for e in range(indptr[i], indptr[i + 1]):
            if place[indices[e]] >= 0:
                places[count], values[count] = place[indices[e]], data[e]
                count += 1
        for a in range(count):
            t, p = slope[i] * values[a], places[a]
            for b in range(count):
                G[p, places[b]] += t * values[b]


@jit
def _curvatures(columns: "RowView", working: IndexArray, slope: FloatArray, out: FloatArray) -> None:
    for k in range(working.shape[0]):
        out[working[k]] = row_weighted_square(columns, working[k], slope)


def columns_of(X: Rows) -> RowProducts:
    """The transposed matrix as rows, in the same floating point type."""
    if sparse.issparse(X):
        turned = sparse.csr_array(X).T.tocsr()
        return RowProducts(view_rows(turned), X.shape[0])
    return RowProducts(view_rows(np.ascontiguousarray(X.T)), X.shape[0])


def solve(
    products: RowProducts,
    columns: RowProducts,
    problem: "SparseMargin",
    *,
    gap_tol: float,
    limits: "Limits",
    start: LinearSolution | None = None,
    polish: bool = False,
) -> LinearSolution:
    """Solve a `SparseMargin`.

    Parameters
    ----------
    products, columns : RowProducts
        The rows, and the same matrix by its columns.
    problem : SparseMargin
    gap_tol : float
    limits : Limits
    start : LinearSolution, optional
    polish : bool
        Go on to the last digits where they can be had.

    Returns
    -------
    LinearSolution
    """
    state = _State(products, columns, problem, start)
    status = state.run(POLISHED if polish else gap_tol, limits)
    if is_within(state.primal, state.dual, gap_tol):
        status = Status.OPTIMAL
    w, bias = state.best
    return LinearSolution(w, float(bias), state.best_beta, status, state.rounds, state.trace)


class _State:
    w: FloatArray
    values: FloatArray
    best: tuple[FloatArray, float]
    best_beta: FloatArray
    trace: list[TracePoint]

    def __init__(
        self, products: RowProducts, columns: RowProducts, problem: "SparseMargin", start: LinearSolution | None
    ) -> None:
        self.products, self.columns, self.problem = products, columns, problem
        d = products.n_features
        self.scale = {"free": 1.0, "penalized": problem.scale, "none": 0.0}[problem.bias]
        self.weight = 1.0 if problem.bias == "penalized" else 0.0
        self.w = np.zeros(d + 1)
        if start is not None:
            self.w[:d] = start.w
            self.w[d] = start.bias / self.scale if self.scale else 0.0
        self.values = products.dots(self.w[:d]) + self.scale * self.w[d]
        self.curvature = np.zeros(d)
        self.primal, self.dual = np.inf, -np.inf
        # Used if both objectives overflow.
        self.best, self.best_beta = (np.zeros(d), 0.0), np.zeros(products.n)
        self.rounds, self.trace = 0, []

    def run(self, gap_tol: float, limits: "Limits") -> Status | None:
        """Iterate to an end; the status."""
        last_better, least = 0, np.inf
        while True:
            beta, gradient = self._check()
            gap = share_of_gap(self.primal, self.dual)
            # Not the share: far from the optimum it stays near 1 while the primal falls by many powers of ten.
            if self.primal - self.dual < 0.99 * least:
                last_better, least = self.rounds, self.primal - self.dual
            working = self._working_set(gradient)
            point = TracePoint(limits.seconds, self.rounds, gap, self.dual, len(working), len(self.w) - 1, gap=gap)
            self.trace.append(point)
            limits.report(point)
            if is_within(self.primal, self.dual, gap_tol):
                return Status.OPTIMAL
            if limits.reached() is not None:
                return limits.reached()
            if limits.iterations_left(self.rounds) <= 0:
                return Status.ITERATION_LIMIT
            if (
                self.rounds - last_better > HOPELESS
                or self.rounds >= MOST_ROUNDS
                or not self._step(beta, gradient, working, limits)
            ):
                return ended_by_rounding(gap)
            self.rounds += 1

    def _check(self) -> tuple[FloatArray, FloatArray]:
        """Evaluate both objectives at w and keep the best of each; the response and its gradient."""
        problem, d = self.problem, len(self.w) - 1
        bias = self.scale * self.w[d]
        primal = problem.primal(self.w[:d], bias, self.values)
        if primal <= self.primal * (1.0 + SAME_OBJECTIVE):
            self.primal, self.best = primal, (self.w[:d].copy(), bias)
        beta = problem.response(self.values)
        gradient = self.columns.dots(beta)
        even, evened = beta, gradient
        if problem.bias == "free":
            even = problem.even(beta)
            evened = self.columns.dots(even)
        candidate = problem.feasible(even, evened)
        value = problem.dual(candidate)
        if value > self.dual:
            self.dual, self.best_beta = value, candidate
        return beta, gradient

    def _working_set(self, gradient: FloatArray) -> IndexArray:
        """Features with a non-zero weight, or whose gradient says they should have one, or nearly."""
        near = np.abs(gradient) > 1.0 - 1e-2
        return np.flatnonzero(near | (self.w[:-1] != 0))

    def _step(self, beta: FloatArray, gradient: FloatArray, working: IndexArray, limits: "Limits") -> bool:
        """A proximal Newton step; False if it no longer decreases the objective."""
        slope = np.where(beta != 0, 2.0 * self.problem.C, 0.0)
        G = self._second_derivatives(working, slope)
        goal = self._by_passes(beta, working, slope, limits) if G is None else self.w.copy()
        if G is not None:
            chosen = np.append(working, len(goal) - 1) if self.scale else working
            prices = np.where(chosen == len(goal) - 1, self.weight, 1.0)
            fall = np.append(gradient, self.scale * beta.sum())[chosen]
            goal[chosen] = lasso.least(G, prices, fall, goal[chosen], limits.stop)
        return self._line_search(goal - self.w)

    def _by_passes(self, beta: FloatArray, working: IndexArray, slope: FloatArray, limits: "Limits") -> FloatArray:
        """Near the least point of the model, by coordinate descent through the columns."""
        rows = self.columns.rows
        _curvatures(rows, working, slope, self.curvature)
        goal, residual, first = self.w.copy(), beta.copy(), None
        for _ in range(INNER_PASSES):
            largest = _lasso_pass(
                rows, working, self.curvature, slope, residual, goal, self.scale, self.weight, slope.sum()
            )
            first = largest if first is None else first
            if largest <= INNER_SHARE**2 * first or limits.stop():
                break
        return goal

    def _second_derivatives(self, working: IndexArray, slope: FloatArray) -> FloatArray | None:
        """Those of the losses by the weights of `working` and of the constant feature; None if that is dear."""
        if not 0 < len(working) <= MOST_UNKNOWNS:
            return None
        rows, moving = self.products.rows, np.flatnonzero(slope)
        size = len(working) + (self.scale != 0)
        G = np.zeros((size, size))
        if isinstance(rows, SparseRows):
            if np.sum(np.diff(rows.indptr)[moving].astype(np.float64) ** 2) > MOST_SPARSE_PRODUCTS:
                return None
            place = np.full(len(self.curvature), -1)
            place[working] = np.arange(len(working))
            _sum_products(rows.data, rows.indices, rows.indptr, moving, slope, place, G)
        else:
            if len(working) ** 2 * len(moving) > MOST_PRODUCTS:
                return None
            Z = rows.values[np.ix_(moving, working)] * np.sqrt(slope[moving])[:, None]
            np.matmul(Z.T, Z, out=G[: len(working), : len(working)])
        if self.scale:
            G[-1, :-1] = G[:-1, -1] = self.scale * self.products.combination(slope)[working]
            G[-1, -1] = self.scale**2 * slope.sum()
        return G

    def _line_search(self, step: FloatArray) -> bool:
        direction = self.products.dots(step[:-1]) + self.scale * step[-1]
        now, slope = self._objective(self.w, self.values), abs(self._slope(self.w, self.values, step, direction))
        t = self._turning(step, direction, now, slope)
        for _ in range(HALVINGS):
            w, values = self.w + t * step, self.values + t * direction
            after = self._objective(w, values)
            # Near the end the objective has no digits left, while its slope still has half of them.
            is_equal = after <= now + SAME_OBJECTIVE * abs(now)
            if after < now or (is_equal and abs(self._slope(w, values, step, direction)) < FLATTER * slope):
                self.w, self.values = w, values
                return True
            t *= 0.5
        return False

    def _turning(self, step: FloatArray, direction: FloatArray, now: float, slope: float) -> float:
        """Near the t <= 1 from which the objective no longer falls along `step`, where it begins with this slope."""
        # A whole step keeps its zeros.
        fallen = now - self._objective(self.w + step, self.values + direction)
        low, high, before, after = 0.0, 1.0, -slope, self._slope_at(1.0, step, direction)
        if after <= 0.0 or fallen >= ENOUGH * slope:
            return 1.0
        t = 1.0
        for _ in range(MOST_LOOKS):
            # False position, unless the slope jumps between both ends.
            t = low + (high - low) * min(max(before / (before - after), 0.1), 0.9)
            found = self._slope_at(t, step, direction)
            if abs(found) <= 0.1 * slope:
                break
            if found < 0.0:
                low, before = t, found
            else:
                high, after = t, found
        return t

    def _slope_at(self, t: float, step: FloatArray, direction: FloatArray) -> float:
        return self._slope(self.w + t * step, self.values + t * direction, step, direction)

    def _slope(self, w: FloatArray, values: FloatArray, step: FloatArray, direction: FloatArray) -> float:
        """The one-sided derivative of the objective at w along `step`."""
        weights = np.append(np.ones(len(w) - 1), self.weight)
        penalty = np.where(w == 0, np.abs(step), np.sign(w) * step)
        return float(weights @ penalty - self.problem.response(values) @ direction)

    def _objective(self, w: FloatArray, values: FloatArray) -> float:
        return self.problem.primal(w[:-1], self.scale * w[-1], values)
