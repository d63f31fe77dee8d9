"""Compiled steps of a parametric active-set method for the dual of the hinge loss.

A parameter t moves the problem; the solution follows on straight pieces. With
h_i = y_i (g_i - b) = 1 - y_i f(x_i), every point is ZERO (alpha = 0, h <= 0), BOUNDED (alpha = u_i,
h >= 0), FREE (h = 0) or HELD (moved from outside, asked nothing). The points that are not free move
at known rates d, which move the gradient at the rate -s, s = K d; the free ones answer with v,

    K_FF v + b' 1 = -s_F,    1'v = -1'd,

until a free point meets a bound, or another one meets the margin: an event, after which the sets
are others and the next piece begins.

The Cholesky factor of K_FF + c 11' is kept up to date by bordering and by rotations. On steps of a
given sum the constant c changes nothing but b', and makes the matrix definite wherever the system
has one solution. A point whose row depends on those of the free ones has a constant h while they
are free, so that it never has to join them; what rounding says to the contrary is not believed.

Cost of an event: n f multiplications for f free points, and a few f^2.
"""

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer.solvers.homotopy_state import (
    AGE,
    BIAS,
    DEPENDS,
    HELD_POINT,
    HELD_RATE,
    LARGEST,
    N_EVENTS,
    N_FREE,
    N_PIECES,
    N_VALUES,
    RATES,
    RATES_SCALE,
    SUM,
    TAKEN,
    TIES,
    TIME,
    backward,
    border,
    solve_free,
    subtract_rows,
    unborder,
)

ZERO, BOUNDED, FREE, HELD = 0, 1, 2, 3
# A point that went from one of its bounds to the other, beside the endings of `border`.
CROSSED = 3
ARRIVED, SLICE, LOG_FULL, FACTOR_FULL, CYCLING, INFEASIBLE, INDEFINITE = 0, 1, 2, 3, 4, 5, 6
# Rates below this, relative to what was summed up, are rounding.
NO_RATE = 1e-11
FOREVER = 1e300
UNBOUNDED = 1e308
# Events between two computations of the gradient from scratch.
REFRESH = 64
# Events without a step, for each point, that are no coincidence any more.
MOST_TIES = 8
# Distance from a bound, relative to it, that is none.
AT_BOUND = 1e-10


@jit
def _next_at_margin(t, bias_rate, noise):
    """(step, point): which of the points that are not free meets the margin first."""
    best, which, bias = FOREVER, -1, t.scalars[BIAS]
    for i in range(t.beta.shape[0]):
        if t.status[i] >= FREE or t.barred[i]:
            continue
        side = t.signs[i] if t.status[i] == ZERO else -t.signs[i]
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
def _ends(t, base, direction, ahead):
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
    up, down = _ends(t, t.slope, t.slope, 0.0)
    best, rising, falling = FOREVER, -1, -1
    while up >= 0 and down >= 0:
        closing = t.slope[up] - t.slope[down]
        if closing <= noise:
            break
        length = max(0.0, t.gradient[down] - t.gradient[up]) / closing
        if length >= best:
            break
        best, rising, falling = length, up, down
        up, down = _ends(t, t.gradient, t.slope, length)
    return best, rising, falling


@jit
def _middle(t, base, direction, ahead):
    """Halfway between the two values of `_ends`, or the one there is, or 0."""
    up, down = _ends(t, base, direction, ahead)
    if up >= 0 and down >= 0:
        return 0.5 * (base[up] + base[down] + ahead * (direction[up] + direction[down]))
    point = max(up, down)
    return base[point] + ahead * direction[point] if point >= 0 else 0.0


@jit
def middle_bias(t):
    """A bias between the two kinds of bounded points, where none is free."""
    return _middle(t, t.gradient, t.gradient, 0.0)


@jit
def _bias_rate(t, length):
    """How the bias moves where no point is free: between the middles at the two ends of the piece.

    What it may be is a convex set in the plane of parameter and bias, so it may be all of that line.
    """
    if length >= FOREVER:
        return _middle(t, t.slope, t.slope, 0.0)
    if length <= 0.0:
        return 0.0
    return (_middle(t, t.gradient, t.slope, length) - t.scalars[BIAS]) / length


@jit
def recompute(t):
    """gradient = linear - K beta, from scratch."""
    vector_loop()
    for k in range(t.gradient.shape[0]):
        t.gradient[k] = t.linear[k]
    for i in range(t.beta.shape[0]):
        if t.beta[i] != 0.0:
            row, a = t.values[i], t.beta[i]
            for k in range(t.gradient.shape[0]):
                t.gradient[k] -= a * row[k]


@jit
def refresh(t):
    """The gradient from scratch; what rounding has left at free points is taken out of it."""
    recompute(t)
    t.counts[AGE] = 0
    f = t.counts[N_FREE]
    if f == 0:
        return
    excess = -t.scalars[SUM]
    for i in range(t.beta.shape[0]):
        excess += t.beta[i]
    for i in range(f):
        t.right[i] = t.gradient[t.places[i]]
    bias = solve_free(t.factor, f, t.right, -excess, t.has_equality, t.step, t.ones)
    t.scalars[BIAS] = bias - t.shift * excess
    for i in range(f):
        t.beta[t.places[i]] += t.step[i]
    subtract_rows(t.values, t.places, f, t.step, t.gradient)


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
def _change_drive(t, point, factor):
    """A point begins (factor 1) or ends (-1) to move with its bound."""
    rate = factor * t.signs[point] * t.bound_rate[point]
    if rate != 0.0:
        row = t.values[point]
        for k in range(t.drive.shape[0]):
            t.drive[k] += rate * row[k]
        t.scalars[RATES] += rate


@jit
def _note(t, point, kind):
    """Change the set of a point, and log it."""
    t.status[point] = kind
    t.log[t.counts[N_EVENTS]] = 4 * point + kind
    t.counts[N_EVENTS] += 1


@jit
def admit(t, point):
    """Set a point free, unless its row depends on those of the free ones; False where the kernel
    is not positive semidefinite."""
    ending = border(t.values, t.factor, t.places, t.counts[N_FREE], t.shift, point, t.right)
    if ending == DEPENDS and _moves(t.linear_rate):
        ending = _exchange(t, point)
        if ending == CROSSED:
            return True
    if ending != TAKEN:
        t.barred[point] = True
        return ending == DEPENDS
    if t.status[point] == BOUNDED:
        _change_drive(t, point, -1.0)
    t.counts[N_FREE] += 1
    _note(t, point, FREE)
    return True


@jit
def _settle(t, place, kind):
    """A free point stays at a bound from now on."""
    point = t.places[place]
    unborder(t.factor, t.places, t.counts[N_FREE], place)
    t.counts[N_FREE] -= 1
    t.beta[point] = t.signs[point] * t.bound[point] if kind == BOUNDED else 0.0
    if kind == BOUNDED:
        _change_drive(t, point, 1.0)
    _note(t, point, kind)
    for i in range(t.beta.shape[0]):
        t.barred[i] = False


@jit
def _moves(rates):
    largest = 0.0
    for k in range(rates.shape[0]):
        largest = max(largest, abs(rates[k]))
    return largest > 0.0


@jit
def _exchange(t, point):
    """While p itself moves, a point may meet the margin though its row depends on those of the free
    ones: it takes the place of one of them. Along the dependence the function stays, and the first
    bound on the way says which; CROSSED where the point comes to its own other bound before.
    """
    f, rising = t.counts[N_FREE], t.status[point] == ZERO
    # What `border` has left in t.right is half of the solution.
    backward(t.factor, f, t.right)
    change = t.signs[point] if rising else -t.signs[point]
    best, place, kind = t.bound[point], -1, ZERO
    for i in range(f):
        p = t.places[i]
        alpha, rate = t.signs[p] * t.beta[p], -t.signs[p] * change * t.right[i]
        if rate < 0.0 and max(0.0, alpha) < -rate * best:
            best, place, kind = max(0.0, alpha) / -rate, i, ZERO
        elif rate > 0.0 and max(0.0, t.bound[p] - alpha) < rate * best:
            best, place, kind = max(0.0, t.bound[p] - alpha) / rate, i, BOUNDED
    for i in range(f):
        t.beta[t.places[i]] -= best * change * t.right[i]
    t.beta[point] += best * change
    if place < 0:
        _note(t, point, BOUNDED if rising else ZERO)
        t.beta[point] = t.signs[point] * t.bound[point] if rising else 0.0
        return CROSSED
    _settle(t, place, kind)
    return border(t.values, t.factor, t.places, t.counts[N_FREE], t.shift, point, t.right)


@jit
def _settle_last(t):
    """A single free point that moves with a bound is at it."""
    if t.counts[N_FREE] != 1 or not t.has_equality:
        return
    point = t.places[0]
    alpha, rate = t.signs[point] * t.beta[point], -t.signs[point] * t.scalars[RATES]
    slack, still = AT_BOUND * t.bound[point], AT_BOUND * t.scalars[RATES_SCALE]
    if abs(alpha) <= slack and abs(rate) <= still:
        _settle(t, 0, ZERO)
    elif abs(t.bound[point] - alpha) <= slack and abs(rate - t.bound_rate[point]) <= still:
        _settle(t, 0, BOUNDED)


@jit
def _compensate(t):
    """Where a point is moved and none is free, one must answer; False where none can."""
    up, down = _ends(t, t.gradient, t.gradient, 0.0)
    point = up if t.scalars[RATES] < 0.0 else down
    if point < 0:
        return False
    t.scalars[BIAS] = t.gradient[point]
    admit(t, point)
    return t.counts[N_FREE] == 1


@jit
def _direction(t):
    """Write the rates of free points and of the gradient; the rate of the bias."""
    f, bias_rate = t.counts[N_FREE], 0.0
    if f > 0:
        for i in range(f):
            t.right[i] = -t.drive[t.places[i]]
        bias_rate = solve_free(t.factor, f, t.right, -t.scalars[RATES], t.has_equality, t.step, t.ones)
        bias_rate -= t.shift * t.scalars[RATES]
    for k in range(t.slope.shape[0]):
        t.slope[k] = -t.drive[k]
    subtract_rows(t.values, t.places, f, t.step, t.slope)
    return bias_rate


@jit
def _advance(t, length, bias_rate):
    """Log a piece, and go to its end."""
    f, piece, first = t.counts[N_FREE], t.counts[N_PIECES], t.counts[N_VALUES]
    t.begins[piece, 0], t.begins[piece, 1], t.begins[piece, 2] = t.scalars[TIME], t.scalars[BIAS], bias_rate
    t.begins[piece, 3], t.begins[piece, 4] = t.counts[N_EVENTS], first
    for i in range(f):
        t.frees[first + i] = t.places[i]
        t.free_values[first + i, 0], t.free_values[first + i, 1] = t.beta[t.places[i]], t.step[i]
    t.counts[N_PIECES], t.counts[N_VALUES], t.counts[TIES] = piece + 1, first + f, 0
    if length >= FOREVER:
        return
    for i in range(f):
        t.beta[t.places[i]] += length * t.step[i]
    if t.counts[HELD_POINT] >= 0:
        t.beta[t.counts[HELD_POINT]] += length * t.scalars[HELD_RATE]
    for i in range(t.beta.shape[0]):
        t.bound[i] += length * t.bound_rate[i]
        if t.status[i] == BOUNDED:
            t.beta[i] = t.signs[i] * t.bound[i]
    for k in range(t.slope.shape[0]):
        t.gradient[k] += length * t.slope[k]
        t.linear[k] += length * t.linear_rate[k]
    t.scalars[TIME] += length
    t.scalars[BIAS] += length * bias_rate


@jit
def _full(t):
    """Why there is no room for another event, or SLICE."""
    f = t.counts[N_FREE]
    if f + 3 > t.factor.shape[0]:
        return FACTOR_FULL
    logs = t.counts[N_PIECES] + 2 > t.begins.shape[0] or t.counts[N_EVENTS] + 4 > t.log.shape[0]
    if logs or t.counts[N_VALUES] + f > t.frees.shape[0]:
        return LOG_FULL
    return CYCLING if t.counts[TIES] > MOST_TIES * t.beta.shape[0] else SLICE


@jit
def _next_event(t, is_empty, bias_rate):
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


@jit
def _take_event(t, point, place, kind, other):
    """Change the sets; False where the kernel is not positive semidefinite."""
    if place >= 0:
        _settle(t, place, kind)
        _settle_last(t)
        return True
    if other >= 0:
        t.scalars[BIAS] = t.gradient[point]
    fine = admit(t, point)
    return fine and (other < 0 or admit(t, other))


@jit
def follow(t, until, max_events):
    """Follow the solution until the parameter is `until`, or for `max_events` events.

    Returns
    -------
    int
        ARRIVED, SLICE, LOG_FULL, FACTOR_FULL, CYCLING, INFEASIBLE or INDEFINITE.
    """
    for _ in range(max_events):
        ending = _full(t)
        if ending != SLICE:
            return ending
        is_empty = t.has_equality and t.counts[N_FREE] == 0
        if is_empty and abs(t.scalars[RATES]) > AT_BOUND * t.scalars[RATES_SCALE]:
            if not _compensate(t):
                return INFEASIBLE
            continue
        if t.counts[AGE] >= REFRESH:
            refresh(t)
        t.counts[AGE] += 1
        bias_rate = _direction(t)
        length, point, place, kind, other = _next_event(t, is_empty, bias_rate)
        is_last = length >= until - t.scalars[TIME]
        length = min(length, until - t.scalars[TIME])
        if is_empty:
            bias_rate = _bias_rate(t, length)
        if t.scalars[TIME] + length > t.scalars[TIME]:
            _advance(t, length, bias_rate)
        else:
            t.counts[TIES] += 1
        if is_last:
            return ARRIVED
        if not _take_event(t, point, place, kind, other):
            return INDEFINITE
    return SLICE
