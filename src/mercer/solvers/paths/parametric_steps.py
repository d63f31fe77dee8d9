"""Compiled steps of a parametric active-set method for the dual of the hinge loss.

A parameter t moves the problem; the solution follows on straight pieces. With
h_i = y_i (g_i - b) = 1 - y_i f(x_i), every point is ZERO (alpha = 0, h <= 0), BOUNDED (alpha = u_i,
h >= 0), FREE (h = 0) or HELD (moved from outside, asked nothing). The points that are not free move
at known rates d, which move the gradient at the rate -s, s = K d; the free ones answer with v,

    K_FF v + b' 1 = -s_F,    1'v = -1'd,

until a free point meets a bound, or another one meets the margin: an event, after which the sets
are others and the next piece begins.

Values and rates of all points, free or not, are those of one `sweep_tableau`. A point that joins the free ones, or
leaves them, changes all rates by a multiple of its column there. The matrix has c 11' added: on steps of a
given sum the constant c changes nothing but b', and makes the matrix definite wherever the system
has one solution. A point whose row depends on those of the free ones has a constant h while they
are free, so that it never has to join them; what rounding says to the contrary is not believed.

Cost of an event: that of a column and of a sweep of the tableau, and a few loops over n points.
"""

from typing import TYPE_CHECKING

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import FloatArray, IndexArray
from mercer.solvers.linalg.definiteness import INDEFINITE
from mercer.solvers.paths.parametric_events import FOREVER, bias_rate_between, ends, next_event, stand_still
from mercer.solvers.paths.parametric_state import (
    AGE,
    BIAS,
    BOUNDED,
    EXCHANGES,
    FREE,
    HELD,
    HELD_BETA,
    HELD_POINT,
    HELD_RATE,
    N_BARRED,
    N_EVENTS,
    N_FREE,
    N_PIECES,
    N_VALUES,
    RATES_SCALE,
    TIES,
    TIME,
    TOTAL,
    TOTAL_RATE,
    ZERO,
)
from mercer.solvers.paths.sweep_tableau import has_room, read_column, sweep

if TYPE_CHECKING:
    from mercer.solvers.paths.parametric_state import Track

# Outcomes for a point that reaches the margin.
TAKEN, DEPENDS, INDEFINITE_ROW, CROSSED = 0, 1, 2, 3
ARRIVED, SLICE, LOG_FULL, SWEEPS_FULL, CYCLING, INFEASIBLE, REFUSED, AGED = range(8)
# A pivot below this share of its diagonal shows a dependent row.
DEPENDENT = 1e-11
# Most sweeps of one event: two points that meet and the bias, or an exchange and the last free point.
MOST_SWEEPS = 8
# Zero-length events, per point, beyond which they are no coincidence.
MOST_TIES = 8
# A piece this long, relative to the parameter, needs exact rates.
LONG = 0.25
# Relative distance from a bound that counts as zero.
AT_BOUND = 1e-10


@jit
def _change_rates(t: "Track", share: float) -> None:
    """Subtract `share` times the last column read from all rates."""
    vector_loop()
    column, rate = t.tableau.column, t.rate
    t.counts[AGE] += 1
    for k in range(rate.shape[0]):
        rate[k] -= share * column[k]


@jit
def _join(t: "Track", index: int, old_rate: float) -> None:
    """Sweep in an index whose column was read; its value moved at `old_rate` until now."""
    share = t.rate[index] / t.tableau.column[index]
    _change_rates(t, share)
    t.rate[index] = old_rate + share
    sweep(t.tableau, index, True)


@jit
def _part(t: "Track", index: int, new_rate: float) -> None:
    """Sweep out an index; its value moves at `new_rate` from now on."""
    pivot = read_column(t.tableau, index)
    share = (t.rate[index] - new_rate) / pivot
    _change_rates(t, share)
    t.rate[index] = -share
    sweep(t.tableau, index, False)


@jit
def _shift_states(t: "Track", amount: float) -> None:
    """Shift the values of all non-free points."""
    for i in range(t.status.shape[0]):
        if t.status[i] != FREE:
            t.state[i] += amount


@jit
def take_in(t: "Track", point: int, beta: float, old_rate: float) -> int:
    """Free a point, unless its row depends on those of the free points; the outcome."""
    pivot, own, f = read_column(t.tableau, point), t.diagonal[point] + t.shift, t.counts[N_FREE]
    t.places[f] = point
    if not pivot > DEPENDENT * own:
        return INDEFINITE_ROW if pivot < INDEFINITE * abs(own) else DEPENDS
    _join(t, point, old_rate)
    t.status[point], t.side[point] = FREE, 0.0
    if t.has_equality and f == 0:
        # The first free point determines the bias.
        bias, n = t.state[point], t.status.shape[0]
        read_column(t.tableau, n)
        _join(t, n, 0.0)
        t.state[n] = bias
        _shift_states(t, -bias)
    t.state[point] = beta
    t.counts[N_FREE] = f + 1
    return TAKEN


@jit
def take_in_all(t: "Track", points: IndexArray) -> int:
    """Free points whose state is their beta, up to the first that cannot be; how many were."""
    for k in range(points.shape[0]):
        if not has_room(t.tableau, MOST_SWEEPS):
            return k
        if take_in(t, points[k], t.state[points[k]], 0.0) != TAKEN:
            return k
    return points.shape[0]


@jit
def let_go(t: "Track", place: int, kind: int, rate: float) -> None:
    """Put a free point at a bound, or hold it; it moves at `rate`."""
    point, f, n = t.places[place], t.counts[N_FREE], t.status.shape[0]
    for i in range(place, f - 1):
        t.places[i] = t.places[i + 1]
    t.counts[N_FREE] = f - 1
    if t.has_equality and f == 1:
        _part(t, n, 0.0)
    _part(t, point, rate)
    t.state[point] = 0.0
    t.status[point], t.side[point] = kind, side_of(t, point, kind)
    if t.has_equality and f == 1:
        _shift_states(t, t.state[n])
        t.state[n] = 0.0


@jit
def hold(t: "Track", point: int, beta: float, rate: float) -> None:
    """From a standstill, move the coefficient of a point at a given rate."""
    t.scalars[HELD_BETA], t.scalars[HELD_RATE], t.counts[HELD_POINT] = beta, rate, point
    if t.status[point] == FREE:
        place = 0
        while t.places[place] != point:
            place += 1
        let_go(t, place, HELD, rate)
    else:
        read_column(t.tableau, point)
        _change_rates(t, rate)
        t.status[point], t.side[point] = HELD, 0.0


@jit
def side_of(t: "Track", point: int, kind: int) -> float:
    """The sign with which g - b of a non-free point falls to 0 as it approaches the margin."""
    return t.signs[point] if kind == ZERO else -t.signs[point] if kind == BOUNDED else 0.0


@jit
def _bar(t: "Track", point: int) -> None:
    """Keep a point from being freed until another one leaves."""
    t.barred[point], t.side[point] = True, 0.0
    t.counts[N_BARRED] += 1


@jit
def _unbar(t: "Track") -> None:
    if t.counts[N_BARRED] > 0:
        for i in range(t.barred.shape[0]):
            if t.barred[i]:
                t.barred[i], t.side[i] = False, side_of(t, i, t.status[i])
        t.counts[N_BARRED] = 0


@jit
def _note(t: "Track", point: int, kind: int) -> None:
    """Log an event."""
    t.log[t.counts[N_EVENTS]] = 4 * point + kind
    t.counts[N_EVENTS] += 1


@jit
def admit(t: "Track", point: int) -> bool:
    """Free a point, unless its row depends on those of the free points; False if the kernel is not positive
    semidefinite."""
    ending = _take_in_as_it_moves(t, point)
    if ending == DEPENDS and t.counts[EXCHANGES] == 1:
        ending = _exchange(t, point)
        if ending == CROSSED:
            return True
    if ending != TAKEN:
        _bar(t, point)
        return ending == DEPENDS
    _note(t, point, FREE)
    return True


@jit
def _take_in_as_it_moves(t: "Track", point: int) -> int:
    """Free a point with the value and rate that it has at its bound."""
    if t.status[point] == BOUNDED:
        return take_in(t, point, t.signs[point] * t.bound[point], t.signs[point] * t.bound_rate[point])
    return take_in(t, point, 0.0, 0.0)


@jit
def _settle(t: "Track", place: int, kind: int) -> None:
    """Put a free point at a bound."""
    point = t.places[place]
    let_go(t, place, kind, t.signs[point] * t.bound_rate[point] if kind == BOUNDED else 0.0)
    _note(t, point, kind)
    _unbar(t)


@jit
def _exchange(t: "Track", point: int) -> int:
    """Exchange a dependent point, which may reach the margin while p moves, for a free one. Moving along the dependence
    leaves f unchanged, and the first bound reached decides which; CROSSED if it is the point's own opposite bound."""
    f, rising, column = t.counts[N_FREE], t.status[point] == ZERO, t.tableau.column
    change = t.signs[point] if rising else -t.signs[point]
    best, place, kind = t.bound[point], -1, ZERO
    for i in range(f):
        p = t.places[i]
        alpha, rate = t.signs[p] * t.state[p], -t.signs[p] * change * column[p]
        if rate < 0.0 and max(0.0, alpha) < -rate * best:
            best, place, kind = max(0.0, alpha) / -rate, i, ZERO
        elif rate > 0.0 and max(0.0, t.bound[p] - alpha) < rate * best:
            best, place, kind = max(0.0, t.bound[p] - alpha) / rate, i, BOUNDED
    for i in range(f):
        t.state[t.places[i]] -= best * change * column[t.places[i]]
    if place < 0:
        t.status[point] = BOUNDED if rising else ZERO
        t.side[point] = side_of(t, point, t.status[point])
        _note(t, point, t.status[point])
        return CROSSED
    beta = best * change + (0.0 if rising else t.signs[point] * t.bound[point])
    _settle(t, place, kind)
    return take_in(t, point, beta, 0.0)


@jit
def _settle_last(t: "Track") -> None:
    """A single free point that moves with a bound is at it."""
    if t.counts[N_FREE] != 1 or not t.has_equality:
        return
    point = t.places[0]
    alpha, rate = t.signs[point] * t.state[point], t.signs[point] * t.rate[point]
    slack, still = AT_BOUND * t.bound[point], AT_BOUND * t.scalars[RATES_SCALE]
    if abs(alpha) <= slack and abs(rate) <= still:
        _settle(t, 0, ZERO)
    elif abs(t.bound[point] - alpha) <= slack and abs(rate - t.bound_rate[point]) <= still:
        _settle(t, 0, BOUNDED)


@jit
def _compensate(t: "Track") -> bool:
    """While a point is driven and none is free, one must compensate; False if none can."""
    up, down = ends(t, 0.0, 1.0)
    point = up if t.rate[t.status.shape[0]] > 0.0 else down
    if point < 0:
        return False
    admit(t, point)
    return t.counts[N_FREE] == 1


@jit
def _bias_line(t: "Track", is_empty: bool, length: float) -> tuple[float, float]:
    """(bias, its rate) on the next piece."""
    n = t.status.shape[0]
    if is_empty:
        return t.scalars[BIAS], bias_rate_between(t, length)
    if t.has_equality:
        return t.state[n] + t.shift * t.scalars[TOTAL], t.rate[n] + t.shift * t.scalars[TOTAL_RATE]
    return 0.0, 0.0


@jit
def _log_piece(t: "Track", is_empty: bool, length: float) -> None:
    bias, bias_rate = _bias_line(t, is_empty, length)
    f, piece, first = t.counts[N_FREE], t.counts[N_PIECES], t.counts[N_VALUES]
    t.begins[piece, 0], t.begins[piece, 1], t.begins[piece, 2] = t.scalars[TIME], bias, bias_rate
    t.begins[piece, 3], t.begins[piece, 4] = t.counts[N_EVENTS], first
    for i in range(f):
        p = t.places[i]
        t.frees[first + i] = p
        t.free_values[first + i, 0], t.free_values[first + i, 1] = t.state[p], t.rate[p]
    t.counts[N_PIECES], t.counts[N_VALUES], t.counts[TIES] = piece + 1, first + f, 0


@jit
def _advance(t: "Track", length: float) -> None:
    """Advance to the end of a piece."""
    vector_loop()
    for k in range(t.state.shape[0]):
        t.state[k] += length * t.rate[k]
    for i in range(t.bound.shape[0]):
        t.bound[i] += length * t.bound_rate[i]
        t.linear[i] += length * t.linear_rate[i]
    t.scalars[TIME] += length
    t.scalars[TOTAL] += length * t.scalars[TOTAL_RATE]
    t.scalars[HELD_BETA] += length * t.scalars[HELD_RATE]


@jit
def _full(t: "Track") -> int:
    """Why there is no room for another event, or SLICE."""
    if not has_room(t.tableau, MOST_SWEEPS):
        return SWEEPS_FULL
    logs = t.counts[N_PIECES] + 2 > t.begins.shape[0] or t.counts[N_EVENTS] + 6 > t.log.shape[0]
    if logs or t.counts[N_VALUES] + t.counts[N_FREE] > t.frees.shape[0]:
        return LOG_FULL
    return CYCLING if t.counts[TIES] > MOST_TIES * t.status.shape[0] else SLICE


@jit
def _take_event(t: "Track", point: int, place: int, kind: int, other: int) -> bool:
    """Update the sets; False if the kernel is not positive semidefinite."""
    if place >= 0:
        _settle(t, place, kind)
        _settle_last(t)
        return True
    return admit(t, point) and (other < 0 or admit(t, other))


@jit
def follow(t: "Track", until: float, max_events: int) -> int:
    """Follow the solution until the parameter is `until`, or for `max_events` events.

    Returns
    -------
    int
        ARRIVED, SLICE, LOG_FULL, SWEEPS_FULL, CYCLING, INFEASIBLE, REFUSED, or AGED: a long piece is next.
    """
    n = t.status.shape[0]
    for _ in range(max_events):
        ending = _full(t)
        if ending != SLICE:
            return ending
        is_empty = t.has_equality and t.counts[N_FREE] == 0
        if is_empty and abs(t.rate[n]) > AT_BOUND * t.scalars[RATES_SCALE]:
            if not _compensate(t):
                return INFEASIBLE
            continue
        length, point, place, kind, other = next_event(t, is_empty)
        if t.counts[AGE] > 0 and t.counts[HELD_POINT] < 0 and length > LONG * t.scalars[TIME]:
            return AGED
        is_last = length >= until - t.scalars[TIME]
        length = min(length, until - t.scalars[TIME])
        if length >= FOREVER:
            stand_still(t)
        if t.scalars[TIME] + length > t.scalars[TIME]:
            _log_piece(t, is_empty, length)
            if length < FOREVER:
                _advance(t, length)
        else:
            t.counts[TIES] += 1
        if is_last:
            return ARRIVED
        if not _take_event(t, point, place, kind, other):
            return REFUSED
    return SLICE


@jit
def symmetric_products(
    values: FloatArray, first: FloatArray, second: FloatArray, out_first: FloatArray, out_second: FloatArray
) -> None:
    """Accumulate the products of a symmetric matrix, given by its upper triangle, with two vectors."""
    vector_loop()
    for i in range(values.shape[0]):
        row, a, b = values[i, i + 1 :], first[i + 1 :], second[i + 1 :]
        x, y, p, q, u, v = out_first[i + 1 :], out_second[i + 1 :], first[i], second[i], 0.0, 0.0
        for k in range(row.shape[0]):
            u += row[k] * a[k]
            v += row[k] * b[k]
            x[k] += row[k] * p
            y[k] += row[k] * q
        out_first[i] += u + values[i, i] * p
        out_second[i] += v + values[i, i] * q
