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

The product K v, which would take most of the time, is put off: an event changes the rate of w by a vector
whose length is known, and with it a bound of what it does to the slope of every point. Only points that
may be the first to meet the margin are computed anew (`homotopy_events`), and all of them now and then.

Cost of an event: some f^2 multiplications for f free points, and n + f for each of those points.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer.solvers.homotopy_events import BOUNDED, FOREVER, FREE, ZERO, bias_rate_between, ends, next_event
from mercer.solvers.homotopy_state import (
    AGE,
    BIAS,
    BIAS_RATE,
    CHANGED,
    DEPENDS,
    HELD_POINT,
    HELD_RATE,
    LAST,
    N_EVENTS,
    N_FREE,
    N_PIECES,
    N_VALUES,
    OLD_RATE,
    RATES,
    RATES_SCALE,
    SUM,
    TAKEN,
    TIES,
    TIME,
    UNKNOWN,
    backward,
    border,
    make_exact,
    recompute,
    renew_slopes,
    solve_free,
    step_with_newcomer,
    subtract_rows,
    unborder,
)

# A point that went from one of its bounds to the other, beside the endings of `border`.
CROSSED = 3
ARRIVED, SLICE, LOG_FULL, FACTOR_FULL, CYCLING, INFEASIBLE, INDEFINITE = 0, 1, 2, 3, 4, 5, 6
# With no more free points than this, a product for all points is faster than looking at a few of them one by one.
FEW = 200
# With more than this, the rates after a point joined are computed from those before. Rates computed afresh are a
# little more exact, which shows where a last piece goes on for ever.
MANY_FREE = 100
# Bounds are taken so much larger than they are computed.
CAUTION = 1.001
# Events between two computations of the gradient from scratch: rounding adds up slowly, bounds of what was put off
# do not.
REFRESH, RARE_REFRESH = 64, 256
# Events without a step, for each point, that are no coincidence any more.
MOST_TIES = 8
# Distance from a bound, relative to it, that is none.
AT_BOUND = 1e-10


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
    t.counts[CHANGED], t.counts[LAST] = t.counts[CHANGED] + 1, point
    t.log[t.counts[N_EVENTS]] = 4 * point + kind
    t.counts[N_EVENTS] += 1


@jit
def admit(t, point):
    """Set a point free, unless its row depends on those of the free ones; False where the kernel
    is not positive semidefinite."""
    ending = border(t.values, t.factor, t.places, t.counts[N_FREE], t.shift, point, t.right, t.ones)
    if ending == DEPENDS and _moves(t.linear_rate):
        ending = _exchange(t, point)
        if ending == CROSSED:
            return True
    if ending != TAKEN:
        t.barred[point] = True
        return ending == DEPENDS
    t.scalars[OLD_RATE] = 0.0
    if t.status[point] == BOUNDED:
        t.scalars[OLD_RATE] = t.signs[point] * t.bound_rate[point]
        _change_drive(t, point, -1.0)
    t.counts[N_FREE] += 1
    _note(t, point, FREE)
    return True


@jit
def _settle(t, place, kind):
    """A free point stays at a bound from now on."""
    point, t.scalars[OLD_RATE] = t.places[place], t.step[place]
    unborder(t.factor, t.places, t.counts[N_FREE], place, t.ones)
    t.counts[N_FREE] -= 1
    t.gradient[point], t.drift[point] = t.scalars[BIAS], 0.0
    t.beta[point] = t.signs[point] * t.bound[point] if kind == BOUNDED else 0.0
    if kind == BOUNDED:
        _change_drive(t, point, 1.0)
    _note(t, point, kind)
    for i in range(t.beta.shape[0]):
        t.barred[i] = False


@jit
def _moves(rates):
    vector_loop()
    largest = 0.0
    for k in range(rates.shape[0]):
        size = abs(rates[k])
        largest = size if size > largest else largest
    return largest > 0.0


@jit
def _exchange(t, point):
    """While p itself moves, a point may meet the margin though its row depends on those of the free
    ones: it takes the place of one of them. Along the dependence the function stays, and the first
    bound on the way says which; CROSSED where the point comes to its own other bound before.
    """
    f, rising, t.counts[CHANGED] = t.counts[N_FREE], t.status[point] == ZERO, UNKNOWN
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
    return border(t.values, t.factor, t.places, t.counts[N_FREE], t.shift, point, t.right, t.ones)


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
    up, down = ends(t, t.gradient, t.gradient, 0.0)
    point = up if t.scalars[RATES] < 0.0 else down
    if point < 0:
        return False
    t.scalars[BIAS] = t.gradient[point]
    admit(t, point)
    return t.counts[N_FREE] == 1


@jit
def _direction(t):
    """Write the rates of free points, and of the gradient as far as they changed; the rate of the bias."""
    f, bias_rate, changed, last = t.counts[N_FREE], 0.0, t.counts[CHANGED], t.counts[LAST]
    if changed == 1 and f > MANY_FREE and t.status[last] == FREE:
        gap, before = t.slope[last] - t.scalars[BIAS_RATE], t.scalars[OLD_RATE]
        bias_rate = t.scalars[BIAS_RATE]
        bias_rate += step_with_newcomer(t.factor, f, t.right, t.has_equality, t.step, t.ones, gap, before)
    elif f > 0:
        for i in range(f):
            t.right[i] = -t.drive[t.places[i]]
        bias_rate = solve_free(t.factor, f, t.right, -t.scalars[RATES], t.has_equality, t.step, t.ones)
        bias_rate -= t.shift * t.scalars[RATES]
    if changed > 1 or f <= FEW:
        renew_slopes(t)
    elif changed == 1:
        _sway(t, bias_rate)
    t.counts[CHANGED], t.scalars[BIAS_RATE] = 0, bias_rate
    return bias_rate


@jit
def _sway(t, bias_rate):
    """Slopes stay as they were, and their errors grow by what the last change may have done to them.

    The rate of w moves by some u, and no slope by more than |u| sqrt(k(x, x)). With c the change in the rate
    of the coefficient of the point that changed its set, u'u = -sum_i c_i (change of slope i); the slopes of
    free points change by that of b, and the c_i have the sum 0.
    """
    vector_loop()
    point, f = t.counts[LAST], t.counts[N_FREE]
    if t.status[point] == FREE:
        change = t.step[f - 1] - t.scalars[OLD_RATE]
        square = change * (t.slope[point] - t.scalars[BIAS_RATE])
    else:
        make_exact(t, point)
        rate = t.signs[point] * t.bound_rate[point] if t.status[point] == BOUNDED else 0.0
        change = rate - t.scalars[OLD_RATE]
        square = change * (bias_rate - t.slope[point])
    length = CAUTION * np.sqrt(abs(square))
    for i in range(t.sway.shape[0]):
        t.sway[i] += length * t.root[i]
    t.sway[point] = 0.0


@jit
def _advance(t, length, bias_rate):
    """Log a piece, and go to its end."""
    vector_loop()
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
        t.beta[i] = t.signs[i] * t.bound[i] if t.status[i] == BOUNDED else t.beta[i]
        t.drift[i] += length * t.sway[i]
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
        if is_empty and _moves(t.drift):
            refresh(t)
        if is_empty and abs(t.scalars[RATES]) > AT_BOUND * t.scalars[RATES_SCALE]:
            if not _compensate(t):
                return INFEASIBLE
            continue
        if t.counts[AGE] >= (REFRESH if t.counts[N_FREE] > FEW else RARE_REFRESH):
            refresh(t)
        t.counts[AGE] += 1
        bias_rate = _direction(t)
        length, point, place, kind, other = next_event(t, is_empty, bias_rate)
        is_last = length >= until - t.scalars[TIME]
        length = min(length, until - t.scalars[TIME])
        if is_empty:
            bias_rate = bias_rate_between(t, length)
        if t.scalars[TIME] + length > t.scalars[TIME]:
            _advance(t, length, bias_rate)
        else:
            t.counts[TIES] += 1
        if is_last:
            return ARRIVED
        if not _take_event(t, point, place, kind, other):
            return INDEFINITE
    return SLICE
