"""What ends a piece of a parametric active-set method, and when (see `homotopy_steps`).

Slopes and gradients are known with bounds of their errors; who may be the first to meet the margin is
computed anew, and the first of those is the event.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer.solvers.homotopy_state import (
    BIAS,
    HELD_RATE,
    LARGEST,
    N_FREE,
    make_exact,
    renew_slopes,
)

ZERO, BOUNDED, FREE, HELD = 0, 1, 2, 3
# Rates below this, relative to what was summed up, are rounding.
NO_RATE = 1e-11
FOREVER = 1e300
UNBOUNDED = 1e308
# Where more than this share of the points may be the first, the slopes of all are computed anew.
MANY = 0.2


@jit
def _bound_arrivals(t, bias_rate, noise):
    """Write, for each point, a step before which it does not meet the margin; a step before whose end one
    of them surely has."""
    vector_loop()
    latest, bias = FOREVER, t.scalars[BIAS]
    for i in range(t.beta.shape[0]):
        side = t.signs[i] if t.status[i] == ZERO else -t.signs[i]
        side = 0.0 if t.status[i] >= FREE or t.barred[i] else side
        rate, distance = side * (t.slope[i] - bias_rate), side * (bias - t.gradient[i])
        error, drift = (t.sway[i], t.drift[i]) if side != 0.0 else (0.0, 0.0)
        near = distance - drift if distance > drift else 0.0
        far = (distance if distance > 0.0 else 0.0) + drift
        # This division does not look for zeros first, which would keep the loop from being one of vectors.
        soonest, last = np.divide(near, rate + error), np.divide(far, rate - error)
        t.early[i] = soonest if rate + error > noise else UNBOUNDED
        last = last if rate - error > noise else FOREVER
        latest = last if last < latest else latest
    return latest


@jit
def _list_first(t, bias_rate, noise, limit):
    """List the points that may be the first to meet the margin, if within `limit`; their number."""
    latest, count = min(limit, _bound_arrivals(t, bias_rate, noise)), 0
    for i in range(t.beta.shape[0]):
        if t.early[i] <= latest:
            t.queue[count] = i
            count += 1
    return count


@jit
def _next_listed(t, count):
    """Take the point that may be the first of all from the list; it becomes the last one there."""
    first = 0
    for k in range(1, count):
        first = k if t.early[t.queue[k]] < t.early[t.queue[first]] else first
    point = t.queue[first]
    t.queue[first], t.queue[count - 1] = t.queue[count - 1], point
    return point


@jit
def _next_at_margin(t, bias_rate, noise, limit):
    """(step, point): which of the points that are not free meets the margin first, if within `limit`."""
    count = _list_first(t, bias_rate, noise, limit)
    if count > MANY * t.beta.shape[0]:
        renew_slopes(t)
        count = _list_first(t, bias_rate, noise, limit)
    best, which, bias = FOREVER, -1, t.scalars[BIAS]
    while count > 0:
        i = _next_listed(t, count)
        if t.early[i] > best:
            break
        if t.sway[i] > 0.0 or t.drift[i] > 0.0:
            make_exact(t, i)
        side = t.signs[i] if t.status[i] == ZERO else -t.signs[i]
        rate = side * (t.slope[i] - bias_rate)
        distance = max(0.0, side * (bias - t.gradient[i]))
        if rate > noise and (distance < rate * best or (distance == rate * best and i < which)):
            best, which = distance / rate, i
        count -= 1
    return best, which


@jit
def _next_at_bound(t):
    """(step, place, new status): which free point meets a bound first."""
    best, which, kind, noise = FOREVER, -1, ZERO, 1.0
    for i in range(t.counts[N_FREE]):
        noise = max(noise, abs(t.step[i]))
    noise *= NO_RATE
    for i in range(t.counts[N_FREE]):
        p = t.places[i]
        alpha, rate = t.signs[p] * t.beta[p], t.signs[p] * t.step[i]
        if rate < -noise and max(0.0, alpha) < -rate * best:
            best, which, kind = max(0.0, alpha) / -rate, i, ZERO
        room, closing = max(0.0, t.bound[p] - alpha), rate - t.bound_rate[p]
        if closing > noise and room < closing * best:
            best, which, kind = room / closing, i, BOUNDED
    return best, which, kind


@jit
def ends(t, base, direction, ahead):
    """Among the points at bounds: (which may rise and has the largest value, which may fall and has
    the smallest), of the values base + ahead direction."""
    highest, lowest, up, down = -UNBOUNDED, UNBOUNDED, -1, -1
    for i in range(t.beta.shape[0]):
        if t.status[i] >= FREE:
            continue
        value = base[i] + ahead * direction[i]
        if (t.signs[i] > 0) == (t.status[i] == ZERO):
            if value > highest:
                highest, up = value, i
        elif value < lowest:
            lowest, down = value, i
    return up, down


@jit
def _next_pair(t, noise):
    """(step, rising, falling) at which no bias is left between the two kinds of bounded points.

    What is left between them is a concave function of the step; Newton's method from the right
    finds where it ends, in a few rounds.
    """
    up, down = ends(t, t.slope, t.slope, 0.0)
    best, rising, falling = FOREVER, -1, -1
    while up >= 0 and down >= 0:
        closing = t.slope[up] - t.slope[down]
        if closing <= noise:
            break
        length = max(0.0, t.gradient[down] - t.gradient[up]) / closing
        if length >= best:
            break
        best, rising, falling = length, up, down
        up, down = ends(t, t.gradient, t.slope, length)
    return best, rising, falling


@jit
def _middle(t, base, direction, ahead):
    """Halfway between the two values of `_ends`, or the one there is, or 0."""
    up, down = ends(t, base, direction, ahead)
    if up >= 0 and down >= 0:
        return 0.5 * (base[up] + base[down] + ahead * (direction[up] + direction[down]))
    point = max(up, down)
    return base[point] + ahead * direction[point] if point >= 0 else 0.0


@jit
def middle_bias(t):
    """A bias between the two kinds of bounded points, where none is free."""
    return _middle(t, t.gradient, t.gradient, 0.0)


@jit
def bias_rate_between(t, length):
    """How the bias moves where no point is free: between the middles at the two ends of the piece.

    What it may be is a convex set in the plane of parameter and bias, so it may be all of that line.
    """
    if length >= FOREVER:
        return _middle(t, t.slope, t.slope, 0.0)
    if length <= 0.0:
        return 0.0
    return (_middle(t, t.gradient, t.slope, length) - t.scalars[BIAS]) / length


@jit
def _noise(t):
    """The size of a rate that is rounding only."""
    vector_loop()
    total = abs(t.scalars[HELD_RATE])
    for i in range(t.beta.shape[0]):
        total += t.bound_rate[i] if t.status[i] == BOUNDED else 0.0
    for i in range(t.counts[N_FREE]):
        total += abs(t.step[i])
    # The rate of p has no part in K.
    largest = 0.0
    for i in range(t.beta.shape[0]):
        size = abs(t.linear_rate[i])
        largest = size if size > largest else largest
    return NO_RATE * (t.scalars[LARGEST] * total + largest)


@jit
def next_event(t, is_empty, bias_rate):
    """(step, point, place, new status, other): what ends the piece, and when.

    A free point that meets a bound has a place in the factor; two points that meet where none is
    free are `point` and `other`.
    """
    noise = _noise(t)
    if is_empty:
        t.scalars[BIAS] = middle_bias(t)
        length, point, other = _next_pair(t, noise)
        return length, point, -1, FREE, other
    to_bound, place, kind = _next_at_bound(t)
    length, point = _next_at_margin(t, bias_rate, noise, to_bound)
    if to_bound <= length:
        return to_bound, -1, place, kind, -1
    return length, point, -1, FREE, -1
