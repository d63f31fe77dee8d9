"""Compiled loops over the losses of `mercer.problems.linear.dual`, each through its conjugate.

The beta that attains h_i(f) is the *response* of row i to the value f. With a proximal term
(1/2) v_i (beta - centre_i)^2 in the dual, the loss is rounded off over a width of v_i times the box,
and the response becomes continuous and piecewise linear (Rockafellar 1976).

Loops over all rows have choices but no branches, so that they become vector instructions.
"""

from typing import NamedTuple

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import FloatArray, IndexArray

# Stands for infinity, which compiled code must not use, in a bracket that is still open.
BEYOND = 1e300


class RoundedLosses(NamedTuple):
    """The losses of all rows with their proximal term.

    Attributes
    ----------
    linear, lower, upper, ridge : ndarray (n,)
    epsilon : float
        p_i, the box, the ridge and the kink of the dual.
    inverse, centre : ndarray (n,)
        v_i, 0 where there is a ridge, and where the term is zero.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    ridge: np.ndarray
    epsilon: float
    inverse: np.ndarray
    centre: np.ndarray


@jit
def shrunk(z: float, epsilon: float) -> float:
    """Soft threshold: z moved towards zero by epsilon."""
    return z - max(-epsilon, min(epsilon, z))


@jit
def row_loss(z: float, lower: float, upper: float, ridge: float, epsilon: float) -> float:
    """h_i where p_i - f = z."""
    excess = shrunk(z, epsilon)
    beta = max(lower, min(upper, excess / (ridge if ridge > 0.0 else 1.0)))
    end = upper if excess > 0.0 else lower
    beta = beta if ridge > 0.0 else (end if excess != 0.0 else 0.0)
    return (excess - 0.5 * ridge * beta) * beta


@jit
def total_loss(
    values: FloatArray,
    shift: float,
    linear: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    ridge: FloatArray,
    epsilon: float,
) -> float:
    """Sum of h_i at values + shift."""
    vector_loop()
    total = 0.0
    for i in range(values.shape[0]):
        total += row_loss(linear[i] - values[i] - shift, lower[i], upper[i], ridge[i], epsilon)
    return total


@jit
def _response(
    z: float, lower: float, upper: float, curvature: float, pull: float, epsilon: float
) -> tuple[float, bool]:
    """(beta, whether it varies with z): the maximiser of (z + pull) b - epsilon |b| - curvature b^2 / 2."""
    goal = shrunk(z + pull, epsilon) / curvature
    inside = (goal > lower) & (goal < upper) & ((goal != 0.0) | (epsilon == 0.0))
    return max(lower, min(upper, goal)), inside


@jit
def respond(
    values: FloatArray, losses: RoundedLosses, beta: FloatArray, change: FloatArray, slope: FloatArray
) -> tuple[float, float]:
    """Responses to `values` with the proximal term; (total loss, size of the proximal term).

    `change` receives the move of each beta, `slope` its derivative (0 at a bound or kink).
    """
    vector_loop()
    linear, lower, upper, ridge, epsilon, inverse, centre = losses
    loss, distance = 0.0, 0.0
    for i in range(values.shape[0]):
        z = linear[i] - values[i]
        loss += row_loss(z, lower[i], upper[i], ridge[i], epsilon)
        curvature = ridge[i] + inverse[i]
        moved, inside = _response(z, lower[i], upper[i], curvature, inverse[i] * centre[i], epsilon)
        change[i] = moved - beta[i]
        beta[i] = moved
        slope[i] = 1.0 / curvature if inside else 0.0
        distance += inverse[i] * (moved - centre[i]) ** 2
    return loss, distance


@jit
def slope_along(
    t: float, values: FloatArray, direction: FloatArray | None, losses: RoundedLosses
) -> tuple[float, float]:
    """First and second derivative of the rounded losses at values + t direction; None stands for ones."""
    vector_loop()
    linear, lower, upper, ridge, epsilon, inverse, centre = losses
    first, second = 0.0, 0.0
    for i in range(values.shape[0]):
        along = 1.0 if direction is None else direction[i]
        z = linear[i] - values[i] - t * along
        curvature = ridge[i] + inverse[i]
        beta, inside = _response(z, lower[i], upper[i], curvature, inverse[i] * centre[i], epsilon)
        first -= beta * along
        second += along * along / curvature if inside else 0.0
    return first, second


@jit
def line_minimum(
    values: FloatArray, direction: FloatArray, along: float, square: float, losses: RoundedLosses
) -> float:
    """The t > 0 that minimises along t + square t^2 / 2 + rounded losses(values + t direction).

    Newton steps on the derivative, which is increasing and piecewise linear, within a shrinking bracket.
    """
    vector_loop()
    first, second = slope_along(0.0, values, direction, losses)
    goal = 0.1 * abs(first + along)
    low, high, t = 0.0, BEYOND, 1.0
    for _ in range(60):
        first, second = slope_along(t, values, direction, losses)
        first += along + square * t
        second += square
        if abs(first) <= goal:
            break
        if first > 0.0:
            high = t
        else:
            low = t
        step = t - first / second if second > 0.0 else 2.0 * t
        if step <= low or step >= high:
            step = 2.0 * t if high == BEYOND else 0.5 * (low + high)
        t = step
    return t


@jit
def bracketed_minimum(
    values: FloatArray, direction: FloatArray, along: float, square: float, step: float, losses: RoundedLosses
) -> float:
    """A t, of either sign, that nearly minimises along t + square t^2 / 2 + losses(values + t direction).

    The Illinois variant of false position (Dowell & Jarratt 1971) on the derivative, until it has fallen to a tenth;
    the first guess of t is `step`.
    """
    vector_loop()
    at, _ = slope_along(0.0, values, direction, losses)
    at += along
    if at == 0.0:
        return 0.0
    goal, here, ahead = 0.1 * abs(at), 0.0, -step if at > 0.0 else step
    then = at
    for _ in range(40):
        then, _ = slope_along(ahead, values, direction, losses)
        then += along + square * ahead
        if then * at <= 0.0:
            break
        here, at, ahead = ahead, then, 4.0 * ahead
    if then * at > 0.0:
        return here
    t = ahead
    for _ in range(30):
        t = (here * then - ahead * at) / (then - at)
        now, _ = slope_along(t, values, direction, losses)
        now += along + square * t
        if abs(now) <= goal:
            break
        if now * then < 0.0:
            here, at = ahead, then
        else:
            at *= 0.5
        ahead, then = t, now
    return t


@jit
def settled_bias(values: FloatArray, losses: RoundedLosses) -> float:
    """The shift of all values at which the responses sum to zero."""
    vector_loop()
    low, high, t, reach = -BEYOND, BEYOND, 0.0, 1.0
    for _ in range(200):
        first, second = slope_along(t, values, None, losses)
        if first == 0.0:
            break
        if first > 0.0:
            high = t
        else:
            low = t
        if high - low <= 1e-15 * (abs(high) + abs(low)):
            break
        step = t - first / second if second > 0.0 else t
        if step <= low or step >= high or second == 0.0:
            reach *= 2.0
            if high == BEYOND:
                step = t + reach
            elif low == -BEYOND:
                step = t - reach
            else:
                step = 0.5 * (low + high)
        t = step
    return t


@jit
def steepest(
    values: FloatArray,
    linear: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    ridge: FloatArray,
    epsilon: float,
    beta: FloatArray,
    firm: float,
    active: IndexArray,
) -> tuple[int, float]:
    """Write to `active` the rows whose slope in the dual is at least -firm; their number, and the largest slope."""
    count, largest = 0, 0.0
    for i in range(values.shape[0]):
        gradient = linear[i] - values[i] - ridge[i] * beta[i]
        slope = dual_slope(beta[i], gradient, epsilon, lower[i], upper[i])
        if slope >= -firm:
            active[count] = i
            count += 1
        largest = slope if slope > largest else largest
    return count, largest


@jit
def dual_slope(beta: float, gradient: float, epsilon: float, lower: float, upper: float) -> float:
    """The rate at which moving beta_i can increase the dual; negative if it is firmly at a bound or a kink."""
    rise = gradient - epsilon if beta >= 0.0 else gradient + epsilon
    fall = -gradient - epsilon if beta <= 0.0 else epsilon - gradient
    rise = rise if beta < upper else -1e300
    fall = fall if beta > lower else -1e300
    return rise if rise > fall else fall


@jit
def separable_dual(beta: FloatArray, linear: FloatArray, ridge: FloatArray, epsilon: float) -> tuple[float, float]:
    """(p'b - epsilon |b|_1 - b'Rb / 2, sum of b)."""
    value, total = 0.0, 0.0
    for i in range(beta.shape[0]):
        value += (linear[i] - 0.5 * ridge[i] * beta[i]) * beta[i] - epsilon * abs(beta[i])
        total += beta[i]
    return value, total


@jit
def improve_dual(
    best: FloatArray,
    best_sum: FloatArray,
    value: float,
    beta: FloatArray,
    total: FloatArray,
    linear: FloatArray,
    ridge: FloatArray,
    epsilon: float,
    scale: float,
) -> float:
    """Move `best` (with its sum of rows and its dual value) towards beta as far as the dual grows.

    The dual is concave along the segment, so its values at the ends and its curvature give the parabola to maximise.
    (With epsilon it is only piecewise a parabola, and the maximum a good guess.) Returns the dual value reached.
    `scale` is 0 where a free bias does not count.
    """
    square, balance = 0.0, 0.0
    for i in range(beta.shape[0]):
        step = beta[i] - best[i]
        square += ridge[i] * step * step
        balance += step
    square += (scale * balance) ** 2
    for j in range(total.shape[0]):
        square += (total[j] - best_sum[j]) ** 2
    rise = dual_value(beta, total, linear, ridge, epsilon, scale) - value
    # Zero rows have no curvature: the dual is linear along the segment.
    t = 0.5 + rise / square if square > 0.0 else rise
    if t <= 0.0:
        return value
    t = t if t < 1.0 and square > 0.0 else 1.0
    for i in range(beta.shape[0]):
        best[i] += t * (beta[i] - best[i])
    for j in range(total.shape[0]):
        best_sum[j] += t * (total[j] - best_sum[j])
    return dual_value(best, best_sum, linear, ridge, epsilon, scale)


@jit
def dual_value(
    beta: FloatArray, total: FloatArray, linear: FloatArray, ridge: FloatArray, epsilon: float, scale: float
) -> float:
    """The dual objective at beta, given the sum of beta_i x_i."""
    separable, balance = separable_dual(beta, linear, ridge, epsilon)
    square = (scale * balance) ** 2
    for j in range(total.shape[0]):
        square += total[j] * total[j]
    return separable - 0.5 * square
