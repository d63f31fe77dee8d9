"""The two halves of a Newton step of `proximal_newton`, each compiled as a unit, for one thread.

On a few hundred rows a step takes microseconds, and calls between its parts would take longer than
the parts. Beyond `LARGEST` unknowns LAPACK's factorisation is faster than the one here.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.row_views import row_add, row_dot, row_outer
from mercer._types import FloatArray
from mercer.solvers.linalg.compiled_cholesky import factorise, substitute
from mercer.solvers.linear.loss_loops import improve_dual, line_minimum, respond, settled_bias

if TYPE_CHECKING:
    from mercer._jit.row_views import RowView
    from mercer.problems.linear.dual import LinearDual
    from mercer.solvers.linear.loss_loops import RoundedLosses

LARGEST = 72
# Beyond this many entries two threads are faster than one compiled call.
MOST_ENTRIES = 400_000
# Up to this many entries, this many steps are made in one call, which takes less than 100 ms.
FEW_ENTRIES, STEPS_IN_ONE = 50_000, 50
# A proximal step is done when the squared residual of the inner problem is below this share of its length; then the
# rounded zone shrinks by this factor.
INNER, NARROWER = 2.0, 4.0
# The inverse of a smaller proximal weight would overflow, by itself or in a sum.
SMALLEST = 1e-290


def weights_of_rounding(dual: "LinearDual", width: float) -> FloatArray:
    """v of each loss rounded over `width`: divided by the range of its box, and 0 where there is a ridge."""
    reach = dual.reach
    weights = np.maximum(width / np.where(reach > 0.0, reach, 1.0), SMALLEST)
    return np.where(dual.ridge == 0.0, weights, 0.0)


class Point(NamedTuple):
    """Where the method stands; every array is written in place.

    Attributes
    ----------
    w : ndarray (d + 1,)
        The last is the weight of the constant feature.
    values, beta : ndarray (n,)
        What w makes of the rows, and their responses to that.
    total : ndarray (d,)
        The sum of beta_i x_i.
    change, slope : ndarray (n,)
        How far each response moved, and its derivative.
    """

    w: np.ndarray
    values: np.ndarray
    beta: np.ndarray
    total: np.ndarray
    change: np.ndarray
    slope: np.ndarray


class Best(NamedTuple):
    """The best primal and dual points so far: weights; coefficients with their sum of rows; both values."""

    w: np.ndarray
    beta: np.ndarray
    total: np.ndarray
    values: np.ndarray


class Constant(NamedTuple):
    """The constant feature, 0 without a bias, and its weight in the norm, 0 for a free bias."""

    scale: float
    weight: float


class Room(NamedTuple):
    """Buffers for a system, with a row below it for its right-hand side, and for the effect of a step on the values."""

    H: np.ndarray
    direction: np.ndarray


@jit
def fused_response(rows: "RowView", losses: "RoundedLosses", point: Point) -> tuple[float, float, float]:
    """`respond`, and `total` += sum of change_i x_i; (loss, length of the proximal step, sum of beta)."""
    beta, change = point.beta, point.change
    loss, distance = respond(point.values, losses, beta, change, point.slope)
    balance = 0.0
    for i in range(beta.shape[0]):
        balance += beta[i]
        if change[i] != 0.0:
            row_add(rows, i, change[i], point.total)
    return loss, distance, balance


@jit
def _system(rows: "RowView", slope: FloatArray, scale: float, weight: float, H: FloatArray) -> None:
    last = H.shape[1] - 1
    for j in range(last + 1):
        for k in range(last + 1):
            H[j, k] = 0.0
    for i in range(slope.shape[0]):
        if slope[i] != 0.0:
            row_outer(rows, i, slope[i], H)
            if scale != 0.0:
                row_add(rows, i, slope[i] * scale, H[last])
                H[last, last] += slope[i] * scale * scale
    for j in range(last):
        H[j, j] += 1.0
    H[last, last] += weight if scale != 0.0 else 1.0
    if H[last, last] == 0.0:
        H[last, last] = 1.0


@jit
def fused_step(
    rows: "RowView", losses: "RoundedLosses", point: Point, step: FloatArray, constant: Constant, room: Room
) -> bool:
    """Solve the system for the right-hand side in `step`, search along it, update w and the values.

    False, with nothing changed, if the system cannot be factorised.
    """
    w, values, direction = point.w, point.values, room.direction
    scale, weight = constant.scale, constant.weight
    last = w.shape[0] - 1
    _system(rows, point.slope, scale, weight, room.H)
    if not factorise(room.H, last + 1):
        return False
    substitute(room.H, last + 1, step)
    if scale == 0.0:
        step[last] = 0.0
    along, square = weight * step[last] * w[last], weight * step[last] * step[last]
    for j in range(last):
        along += step[j] * w[j]
        square += step[j] * step[j]
    for i in range(values.shape[0]):
        direction[i] = row_dot(rows, i, step) + scale * step[last]
    t = line_minimum(values, direction, along, square, losses)
    for j in range(last + 1):
        w[j] += t * step[j]
    for i in range(values.shape[0]):
        values[i] += t * direction[i]
    return True


@jit
def fused_run(
    rows: "RowView",
    losses: "RoundedLosses",
    point: Point,
    best: Best,
    constant: Constant,
    room: Room,
    has_kinks: bool,
    gap_tol: float,
    steps: int,
) -> tuple[int, float, float]:
    """Up to `steps` steps of `proximal_newton` in one call.

    Returns (steps made, length of the proximal step, sum of beta); the length is -1 unless the gap is small enough.
    """
    w, values = point.w, point.values
    scale, weight = constant.scale, constant.weight
    last = w.shape[0] - 1
    residual = room.H[last + 1]
    for done in range(steps):
        if weight == 0.0:
            shift = settled_bias(values, losses)
            w[last] += shift
            for i in range(values.shape[0]):
                values[i] += shift
        primal, distance, balance = fused_response(rows, losses, point)
        primal += 0.5 * weight * w[last] * w[last]
        for j in range(last):
            primal += 0.5 * w[j] * w[j]
        if primal < best.values[0]:
            best.values[0] = primal
            _copy(w, best.w)
        best.values[1] = improve_dual(
            best.beta, best.total, best.values[1], point.beta, point.total,
            losses.linear, losses.ridge, losses.epsilon, weight * scale,
        )  # fmt: skip
        if best.values[0] - best.values[1] <= gap_tol * abs(best.values[0]):
            return done, distance, balance
        square = _residual(point.total, w, scale * balance, weight, residual)
        if has_kinks and square <= INNER * distance:
            _copy(point.beta, losses.centre)
            narrow(losses.inverse, NARROWER)
            _, _, balance = fused_response(rows, losses, point)
            _residual(point.total, w, scale * balance, weight, residual)
        if not fused_step(rows, losses, point, residual, constant, room):
            return done, -1.0, balance
    return steps, -1.0, 0.0


@jit
def _copy(values: FloatArray, into: FloatArray) -> None:
    """``into[:] = values``, without the shape error, whose message takes longer to compile than a step."""
    for i in range(values.shape[0]):
        into[i] = values[i]


@jit
def narrow(inverse: FloatArray, times: float) -> None:
    """Shrink the proximal weights in place, but not below what can be inverted, as those of a huge box would be."""
    for i in range(inverse.shape[0]):
        if inverse[i] > 0.0:
            inverse[i] = max(inverse[i] / times, SMALLEST)


@jit
def _residual(total: FloatArray, w: FloatArray, pull: FloatArray, weight: float, out: FloatArray) -> float:
    """Minus the gradient of the rounded primal, and its square."""
    last = w.shape[0] - 1
    out[last] = pull - weight * w[last]
    square = out[last] * out[last]
    for j in range(last):
        out[j] = total[j] - w[j]
        square += out[j] * out[j]
    return square
