"""What ends a piece of a parametric active-set method, and when (see `parametric_steps`)."""

from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import UNBOUNDED, jit
from mercer._jit.vectors import vector_loop
from mercer.solvers.paths.parametric_state import (
    BIAS,
    BOUNDED,
    FREE,
    HELD_RATE,
    LARGEST,
    N_FREE,
    RATES_SCALE,
    TOTAL,
    TOTAL_RATE,
    ZERO,
)

if TYPE_CHECKING:
    from mercer.solvers.paths.parametric_state import Track

# Rates below this, relative to the terms summed, are rounding.
NO_RATE = 1e-11
FOREVER = 1e300


class Cycling(Exception):
    """The ties do not resolve: the sets at this point could not be determined."""


class Infeasible(Exception):
    """No other point can compensate for the one that is moved."""


@jit
def _next_at_margin(t: "Track", noise: float) -> tuple[float, int]:
    """(step, point): the first non-free point to reach the margin."""
    vector_loop()
    best, side = FOREVER, t.side
    rates, states = t.rate[: side.shape[0]], t.state[: side.shape[0]]
    for i in range(side.shape[0]):
        closing, room = side[i] * rates[i], -side[i] * states[i]
        room = room if room > 0.0 else 0.0
        # np.divide skips the check for zeros, which would prevent vectorisation.
        length = np.divide(room, closing)
        length = length if closing > noise else FOREVER
        t.lengths[i] = length
        best = length if length < best else best
    if best >= FOREVER:
        return FOREVER, -1
    which = 0
    while t.lengths[which] > best:
        which += 1
    return best, which


@jit
def _noise(t: "Track") -> float:
    """The magnitude below which a rate is rounding."""
    vector_loop()
    total = abs(t.scalars[HELD_RATE])
    for i in range(t.status.shape[0]):
        total += t.bound_rate[i] if t.status[i] == BOUNDED else 0.0
    for i in range(t.counts[N_FREE]):
        total += abs(t.rate[t.places[i]])
    # The rate of p is not multiplied by K.
    largest = 0.0
    for i in range(t.linear_rate.shape[0]):
        size = abs(t.linear_rate[i])
        largest = size if size > largest else largest
    return NO_RATE * (t.scalars[LARGEST] * total + largest)


@jit
def _noise_of_free(t: "Track") -> float:
    """The magnitude below which the rate of a coefficient is rounding."""
    largest = 1.0
    for i in range(t.counts[N_FREE]):
        largest = max(largest, abs(t.rate[t.places[i]]))
    return NO_RATE * largest


@jit
def stand_still(t: "Track") -> None:
    """Set rates of rounding size to 0; over an unbounded piece their effect would not stay small."""
    noise, n = _noise_of_free(t), t.status.shape[0]
    for i in range(t.counts[N_FREE]):
        p = t.places[i]
        t.rate[p] = t.rate[p] if abs(t.rate[p]) > noise else 0.0
    # Relative to the rates that were summed, some of which have since cancelled.
    if t.has_equality and abs(t.rate[n]) <= NO_RATE * t.scalars[LARGEST] * t.scalars[RATES_SCALE]:
        t.rate[n] = 0.0


@jit
def _next_at_bound(t: "Track") -> tuple[float, int, int]:
    """(step, position, new status): the first free point to reach a bound."""
    best, which, kind, noise = FOREVER, -1, ZERO, _noise_of_free(t)
    for i in range(t.counts[N_FREE]):
        p = t.places[i]
        alpha, rate = t.signs[p] * t.state[p], t.signs[p] * t.rate[p]
        if rate < -noise and max(0.0, alpha) < -rate * best:
            best, which, kind = max(0.0, alpha) / -rate, i, ZERO
        room, closing = max(0.0, t.bound[p] - alpha), rate - t.bound_rate[p]
        if closing > noise and room < closing * best:
            best, which, kind = room / closing, i, BOUNDED
    return best, which, kind


@jit
def ends(t: "Track", ahead: float, weight: float) -> tuple[int, int]:
    """Among the bounded points, (the one that may rise with the largest value, the one that may fall with the
    smallest), for the values weight g + ahead g'."""
    highest, lowest, up, down = -UNBOUNDED, UNBOUNDED, -1, -1
    for i in range(t.status.shape[0]):
        if t.status[i] >= FREE:
            continue
        value = weight * t.state[i] + ahead * t.rate[i]
        if (t.signs[i] > 0) == (t.status[i] == ZERO):
            if value > highest:
                highest, up = value, i
        elif value < lowest:
            lowest, down = value, i
    return up, down


@jit
def _next_pair(t: "Track", noise: float) -> tuple[float, int, int]:
    """(step, rising, falling) at which no bias is left between the two kinds of bounded points.

    The interval between them is a concave function of the step; Newton's method from the right finds its zero in a few
    rounds.
    """
    up, down = ends(t, 1.0, 0.0)
    best, rising, falling = FOREVER, -1, -1
    while up >= 0 and down >= 0:
        closing = t.rate[up] - t.rate[down]
        if closing <= noise:
            break
        length = max(0.0, t.state[down] - t.state[up]) / closing
        if length >= best:
            break
        best, rising, falling = length, up, down
        up, down = ends(t, length, 1.0)
    return best, rising, falling


@jit
def _middle(t: "Track", ahead: float, weight: float) -> float:
    """The midpoint of the two values of `ends`, or the only one, or 0."""
    up, down = ends(t, ahead, weight)
    if up >= 0 and down >= 0:
        return 0.5 * (weight * (t.state[up] + t.state[down]) + ahead * (t.rate[up] + t.rate[down]))
    point = max(up, down)
    return weight * t.state[point] + ahead * t.rate[point] if point >= 0 else 0.0


@jit
def middle_bias(t: "Track") -> float:
    """A bias between the two kinds of bounded points, where none is free."""
    return _middle(t, 0.0, 1.0) + t.shift * t.scalars[TOTAL]


@jit
def bias_rate_between(t: "Track", length: float) -> float:
    """The rate of the bias where no point is free: between the midpoints at the two ends of the piece.

    The feasible (parameter, bias) pairs form a convex set, so the whole line lies in it.
    """
    from_sum = t.shift * t.scalars[TOTAL_RATE]
    if length >= FOREVER:
        return _middle(t, 1.0, 0.0) + from_sum
    if length <= 0.0:
        return 0.0
    return (_middle(t, length, 1.0) + t.shift * t.scalars[TOTAL] - t.scalars[BIAS]) / length + from_sum


@jit
def next_event(t: "Track", is_empty: bool) -> tuple[float, int, int, int, int]:
    """(step, point, position, new status, other): the event that ends the piece.

    A free point that reaches a bound has a position in the list of free points; if none is free, the two points that
    meet are `point` and `other`.
    """
    noise = _noise(t)
    if is_empty:
        t.scalars[BIAS] = middle_bias(t)
        length, point, other = _next_pair(t, noise)
        return length, point, -1, FREE, other
    to_bound, place, kind = _next_at_bound(t)
    length, point = _next_at_margin(t, noise)
    if to_bound <= length:
        return to_bound, -1, place, kind, -1
    return length, point, -1, FREE, -1
