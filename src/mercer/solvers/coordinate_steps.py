"""Compiled passes of dual coordinate descent.

A step maximises the dual of `mercer.problems.linear_dual` over one beta_i with w kept up to date:
one inner product with a row, and one addition of it where beta_i moves. Rows are visited in random
order (any other order that was tried needs more passes), so everything that belongs to a row stands
in one cache line, and the rows that come next are fetched while this one is worked on.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.prefetch import prefetch
from mercer._jit.row_views import row_add, row_announce, row_dot_fresh, row_prefetch
from mercer.solvers.conjugate_losses import BEYOND, dual_slope, row_loss, shrunk

# What `points[i]` holds of row i.
LINEAR, LOWER, UPPER, RIDGE, CURVATURE, BETA = range(6)
WIDTH = 8
# How many rows ahead the data of a row, and where they stand, are asked for.
AHEAD, FAR_AHEAD = 1, 2


@jit
def next_random(state, below):
    """A whole number in [0, below), below < 2^32, by xorshift (Marsaglia 2003)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(((x >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))


@jit
def shuffle(order, state):
    """Put the entries of `order` in random order."""
    for k in range(order.shape[0] - 1, 0, -1):
        j = next_random(state, k + 1)
        order[k], order[j] = order[j], order[k]


@jit
def _best(beta, gradient, curvature, epsilon, lower, upper):
    """The beta_i that maximises the dual when all others stay."""
    goal = shrunk(curvature * beta + gradient, epsilon) / curvature
    goal = goal if goal > lower else lower
    return goal if goal < upper else upper


@jit
def _fetch(rows, points, active, k):
    """Ask for the rows that come after the k-th."""
    n = active.shape[0]
    if k + FAR_AHEAD < n:
        i = active[k + FAR_AHEAD]
        prefetch(points, i * WIDTH)
        row_announce(rows, i)
    if k + AHEAD < n:
        row_prefetch(rows, active[k + AHEAD])


@jit
def sweep(rows, points, epsilon, scale, w, active, begin, end, kept, firm):
    """A step for each of the rows active[begin:end]; (rows still active, largest slope of a row that moved, gap).

    `active` is shortened in place: a row leaves whose slope is below -`firm`; `kept` rows before
    `begin` have stayed. `points` is flat, with WIDTH numbers for each row. The last entry of w is the
    weight of the constant feature `scale`. The duality gap is a sum over rows, and `gap` is what these
    rows had of it when their turn came: an estimate that costs nothing.
    """
    last = w.shape[0] - 1
    largest, gap = 0.0, 0.0
    for k in range(begin, end):
        _fetch(rows, points, active, k)
        i = active[k]
        # Places without a sign, and no slice: a step on a short row takes half the time.
        place = np.uint64(i) * np.uint64(WIDTH)
        beta, ridge = points[place + np.uint64(BETA)], points[place + np.uint64(RIDGE)]
        lower, upper = points[place + np.uint64(LOWER)], points[place + np.uint64(UPPER)]
        z = points[place + np.uint64(LINEAR)] - row_dot_fresh(rows, i, w) - scale * w[last]
        gap += row_loss(z, lower, upper, ridge, epsilon) - (z - 0.5 * ridge * beta) * beta + epsilon * abs(beta)
        gradient = z - ridge * beta
        moved = _best(beta, gradient, points[place + np.uint64(CURVATURE)], epsilon, lower, upper)
        if moved == beta:
            if firm < BEYOND and dual_slope(beta, gradient, epsilon, lower, upper) < -firm:
                continue
        else:
            pull = abs(gradient) - epsilon
            largest = pull if pull > largest else largest
            points[place + np.uint64(BETA)] = moved
            row_add(rows, i, moved - beta, w)
            w[last] += scale * (moved - beta)
        active[kept] = i
        kept += 1
    return kept, largest, gap
