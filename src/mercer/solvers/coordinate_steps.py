"""Compiled passes of dual coordinate descent.

A step maximises the dual of `mercer.problems.linear_dual` over one beta_i with w kept up to date:
one inner product with a row, and one addition of it where beta_i moves. Rows are visited in random
order (any other order that was tried needs more passes), so everything that belongs to a row stands
in one cache line, and the rows that come next are fetched while this one is worked on.

Rows whose steps have lately gained more than the mean are visited more often, the others less (adaptive
coordinate frequencies, Glasmachers & Dogan 2013): their *preference* says how often.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.prefetch import prefetch
from mercer._jit.row_views import row_add, row_announce, row_dot_fresh, row_prefetch
from mercer.solvers.conjugate_losses import BEYOND, dual_slope, row_loss, shrunk

# What `points[i]` holds of row i.
LINEAR, LOWER, UPPER, RIDGE, CURVATURE, BETA, PREFERENCE = range(7)
WIDTH = 8
# How many rows ahead the data of a row, and where they stand, are asked for.
AHEAD, FAR_AHEAD = 1, 2
# How fast a preference follows what the steps of a row gain, and its bounds.
EAGERNESS, LEAST, MOST = 0.5, 0.2, 5.0


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
def schedule(active, points, credit, order):
    """Write the rows of the next pass to `order`, each as often as its preference says; (visits, mean preference)."""
    total = 0.0
    for k in range(active.shape[0]):
        total += points[np.int64(active[k]) * WIDTH + PREFERENCE]
    mean, visits = total / active.shape[0], 0
    for k in range(active.shape[0]):
        i = active[k]
        credit[i] += points[np.int64(i) * WIDTH + PREFERENCE] / mean
        while credit[i] >= 1.0 and visits < order.shape[0]:
            order[visits] = i
            credit[i] -= 1.0
            visits += 1
    return visits, mean


@jit
def remaining(active, points):
    """Move the rows that have not left to the front of `active`; how many they are."""
    kept = 0
    for k in range(active.shape[0]):
        if points[np.int64(active[k]) * WIDTH + PREFERENCE] > 0.0:
            active[kept] = active[k]
            kept += 1
    return kept


@jit
def _preference(before, gain, mean):
    """How often to visit a row whose step has gained this much."""
    if mean <= 0.0:
        return before
    change = EAGERNESS * (gain / mean - 1.0)
    wanted = before * np.exp(change if change < 3.0 else 3.0)
    wanted = wanted if wanted > LEAST else LEAST
    return wanted if wanted < MOST else MOST


@jit
def sweep(rows, points, epsilon, scale, sigma, w, order, begin, end, firm, pace):
    """A step for each of the rows order[begin:end]; (largest slope of a row that moved, gap).

    A row that sits at a bound with a slope below -`firm` leaves: its preference changes its sign. `points` is flat,
    with WIDTH numbers for each row. The last entry of w is the weight of the constant feature `scale`. Steps are
    shortened, and w moves, as if |x_i|^2 were `sigma` times as large: more than 1 where other rows are worked on
    elsewhere. `pace` holds the mean preference, the mean gain of a step, and the share that a new one has in that
    mean (0: preferences stay). The duality gap is a sum over rows, and `gap` is what these rows had of it when
    their turn came: an estimate that costs nothing.
    """
    last = w.shape[0] - 1
    largest, gap, mean, share = 0.0, 0.0, pace[1], pace[2]
    for k in range(begin, end):
        _fetch(rows, points, order, k)
        i = order[k]
        # Places without a sign, and no slice: a step on a short row takes half the time.
        place = np.uint64(i) * np.uint64(WIDTH)
        beta, ridge = points[place + np.uint64(BETA)], points[place + np.uint64(RIDGE)]
        lower, upper = points[place + np.uint64(LOWER)], points[place + np.uint64(UPPER)]
        preference = abs(points[place + np.uint64(PREFERENCE)])
        z = points[place + np.uint64(LINEAR)] - row_dot_fresh(rows, i, w) - scale * w[last]
        part = row_loss(z, lower, upper, ridge, epsilon) - (z - 0.5 * ridge * beta) * beta + epsilon * abs(beta)
        gap += part * pace[0] / preference
        gradient, gain = z - ridge * beta, 0.0
        curvature = sigma * points[place + np.uint64(CURVATURE)] + ridge
        moved = _best(beta, gradient, curvature, epsilon, lower, upper)
        if moved != beta:
            pull = abs(gradient) - epsilon
            largest = pull if pull > largest else largest
            points[place + np.uint64(BETA)] = moved
            step = sigma * (moved - beta)
            row_add(rows, i, step, w)
            w[last] += scale * step
            gain = curvature * (moved - beta) ** 2
        if share > 0.0:
            preference = _preference(preference, gain, mean)
            mean += share * (gain - mean)
        if moved == beta and firm < BEYOND and dual_slope(beta, gradient, epsilon, lower, upper) < -firm:
            preference = -preference
        points[place + np.uint64(PREFERENCE)] = preference
    pace[1] = mean
    return largest, gap
