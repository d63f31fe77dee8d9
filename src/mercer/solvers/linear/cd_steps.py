"""Compiled passes of dual coordinate descent.

A step maximises the dual of `mercer.problems.linear.dual` over one beta_i, keeping w up to date:
one inner product with a row, and one addition of it if beta_i moves. Rows are visited in random
order (every other order that was tried needs more passes), so everything that belongs to a row is
in one cache line, and the next rows are fetched during each step.

Rows whose steps have recently gained more than the mean are visited more often, the others less (adaptive
coordinate frequencies, Glasmachers & Dogan 2013): their *preference* says how often.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.prefetch import prefetch
from mercer._jit.row_views import row_add, row_announce, row_dot_fresh, row_prefetch
from mercer._types import Array, FloatArray, IndexArray
from mercer.solvers.linear.loss_loops import BEYOND, dual_slope, row_loss, shrunk

if TYPE_CHECKING:
    from mercer._jit.row_views import RowView

# Columns of `points`.
LINEAR, LOWER, UPPER, RIDGE, CURVATURE, BETA = range(6)
WIDTH = 8
# How many rows ahead to prefetch a row's data, and its position.
AHEAD, FAR_AHEAD = 1, 2
# How fast a preference follows the gains of its row's steps, and its bounds.
EAGERNESS, LEAST, MOST = 0.5, 0.2, 5.0


@jit
def next_random(state: Array, below: int) -> np.int64:
    """A random integer in [0, below), below < 2^32, by xorshift (Marsaglia 2003)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(((x >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))


@jit
def shuffle(order: IndexArray, state: Array) -> None:
    """Shuffle `order`."""
    for k in range(order.shape[0] - 1, 0, -1):
        j = next_random(state, k + 1)
        order[k], order[j] = order[j], order[k]


@jit
def _best(beta: float, gradient: float, curvature: float, epsilon: float, lower: float, upper: float) -> float:
    """The beta_i that maximises the dual with all others fixed."""
    goal = shrunk(curvature * beta + gradient, epsilon) / curvature
    goal = goal if goal > lower else lower
    return goal if goal < upper else upper


@jit
def _fetch(rows: "RowView", points: FloatArray, active: IndexArray, k: int) -> None:
    """Prefetch the rows that follow the k-th."""
    n = active.shape[0]
    if k + FAR_AHEAD < n:
        i = active[k + FAR_AHEAD]
        prefetch(points, i * WIDTH)
        row_announce(rows, i)
    if k + AHEAD < n:
        row_prefetch(rows, active[k + AHEAD])


@jit
def schedule(active: IndexArray, preferences: FloatArray, credit: FloatArray, order: IndexArray) -> tuple[int, float]:
    """Write the rows of the next pass to `order`, each as often as its preference says; (visits, mean preference)."""
    total = 0.0
    for k in range(active.shape[0]):
        total += preferences[active[k]]
    mean, visits = total / active.shape[0], 0
    for k in range(active.shape[0]):
        i = active[k]
        credit[i] += preferences[i] / mean
        while credit[i] >= 1.0 and visits < order.shape[0]:
            order[visits] = i
            credit[i] -= 1.0
            visits += 1
    return visits, mean


@jit
def remaining(active: IndexArray, preferences: FloatArray) -> int:
    """Move the rows that remain active to the front of `active`; their number."""
    kept = 0
    for k in range(active.shape[0]):
        if preferences[active[k]] > 0.0:
            active[kept] = active[k]
            kept += 1
    return kept


@jit
def _follow(preferences: FloatArray, i: int, gain: float, pace: FloatArray) -> None:
    """Adapt the preference of a row to the gain of its step."""
    mean = pace[1]
    if mean > 0.0:
        change = EAGERNESS * (gain / mean - 1.0)
        wanted = abs(preferences[i]) * np.exp(change if change < 3.0 else 3.0)
        preferences[i] = min(max(wanted, LEAST), MOST)
    pace[1] = mean + pace[2] * (gain - mean)


@jit
def sweep(
    rows: "RowView",
    points: FloatArray,
    epsilon: float,
    scale: float,
    price: float,
    w: FloatArray,
    order: IndexArray,
    begin: int,
    end: int,
    firm: float,
    preferences: FloatArray,
    pace: FloatArray | None,
) -> tuple[float, float, float]:
    """A step for each of the rows order[begin:end]; (largest slope of a row that moved, gap, loss).

    A row at a bound with a slope below -`firm` is dropped: its preference changes sign. `points` is flat,
    with WIDTH numbers for each row. The bias is `price` plus `scale` times the last entry of w. `pace`, or None to
    leave preferences unchanged, holds the mean preference, the mean gain of a step, and the weight of a new one in
    that mean. The duality gap is a sum over rows; `gap` and `loss` add up the terms of these rows when visited,
    estimates that cost nothing.
    """
    last = w.shape[0] - 1
    largest, gap, losses = 0.0, 0.0, 0.0
    for k in range(begin, end):
        _fetch(rows, points, order, k)
        i = order[k]
        # Unsigned indices and no slice: halves the time of a step on a short row.
        place = np.uint64(i) * np.uint64(WIDTH)
        beta, ridge = points[place + np.uint64(BETA)], points[place + np.uint64(RIDGE)]
        lower, upper = points[place + np.uint64(LOWER)], points[place + np.uint64(UPPER)]
        z = points[place + np.uint64(LINEAR)] - row_dot_fresh(rows, i, w) - price - scale * w[last]
        loss = row_loss(z, lower, upper, ridge, epsilon)
        part = loss - (z - 0.5 * ridge * beta) * beta + epsilon * abs(beta)
        gradient, curvature = z - ridge * beta, points[place + np.uint64(CURVATURE)]
        moved = _best(beta, gradient, curvature, epsilon, lower, upper)
        if pace is not None:
            part *= pace[0] / abs(preferences[i])
            _follow(preferences, i, curvature * (moved - beta) ** 2, pace)
        gap += part
        losses += loss
        if moved == beta:
            if firm < BEYOND and dual_slope(beta, gradient, epsilon, lower, upper) < -firm:
                preferences[i] = -abs(preferences[i])
        else:
            pull = abs(gradient) - epsilon
            largest = pull if pull > largest else largest
            points[place + np.uint64(BETA)] = moved
            row_add(rows, i, moved - beta, w)
            w[last] += scale * (moved - beta)
    return largest, gap, losses
