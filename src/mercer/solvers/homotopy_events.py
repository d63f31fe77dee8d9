"""What ends a piece of a parametric active-set method, and when (see `homotopy_steps`).

The slopes of all points are a product in single precision, with a bound of its error; who may be the
first to meet the margin is computed again in double precision, and the first of those is the event.
"""

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer.solvers.homotopy_state import BIAS, DRIFT, ERROR, HELD_RATE, LARGEST, N_FREE

ZERO, BOUNDED, FREE, HELD = 0, 1, 2, 3
# Rates below this, relative to what was summed up, are rounding.
NO_RATE = 1e-11
FOREVER = 1e300
UNBOUNDED = 1e308


@jit
def _latest_at_margin(t, bias_rate, noise):
    """A step before whose end some point that is not free has surely met the margin."""
    best, bias, error, drift = FOREVER, t.scalars[BIAS], t.scalars[ERROR], t.scalars[DRIFT]
    for i in range(t.beta.shape[0]):
        if t.status[i] >= FREE or t.barred[i]:
            continue
        side = t.signs[i] if t.status[i] == ZERO else -t.signs[i]
        rate = side * (t.slope[i] - bias_rate) - error
        distance = max(0.0, side * (bias - t.gradient[i])) + drift
        if rate > noise and distance < rate * best:
            best = distance / rate
    return best


@jit
def _make_exact(t, point):
    """The gradient and the slope of one point in double precision."""
    vector_loop()
    row, gradient, slope = t.values[point], t.linear[point], -t.drive[point]
    for k in range(t.beta.shape[0]):
        gradient -= row[k] * t.beta[k]
    for i in range(t.counts[N_FREE]):
        slope -= row[t.places[i]] * t.step[i]
    t.gradient[point], t.slope[point] = gradient, slope


@jit
def _next_at_margin(t, bias_rate, noise):
    """(step, point): which of the points that are not free meets the margin first."""
    best, which, latest = FOREVER, -1, _latest_at_margin(t, bias_rate, noise)
    bias, error, drift = t.scalars[BIAS], t.scalars[ERROR], t.scalars[DRIFT]
    for i in range(t.beta.shape[0]):
        if t.status[i] >= FREE or t.barred[i]:
            continue
        side = t.signs[i] if t.status[i] == ZERO else -t.signs[i]
        rate = side * (t.slope[i] - bias_rate) + error
        if rate <= noise or side * (bias - t.gradient[i]) - drift > rate * min(best, latest):
            continue
        _make_exact(t, i)
        rate = side * (t.slope[i] - bias_rate)
        distance = max(0.0, side * (bias - t.gradient[i]))
        if rate > noise and distance < rate * best:
            best, which = distance / rate, i
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
    total = abs(t.scalars[HELD_RATE])
    for i in range(t.beta.shape[0]):
        if t.status[i] == BOUNDED:
            total += t.bound_rate[i]
    for i in range(t.counts[N_FREE]):
        total += abs(t.step[i])
    # The rate of p has no part in K.
    largest = 0.0
    for i in range(t.beta.shape[0]):
        largest = max(largest, abs(t.linear_rate[i]))
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
    length, point = _next_at_margin(t, bias_rate, noise)
    to_bound, place, kind = _next_at_bound(t)
    if to_bound <= length:
        return to_bound, -1, place, kind, -1
    return length, point, -1, FREE, -1
