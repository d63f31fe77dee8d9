"""The responses of a block's rows to their values, and everything that is summed over rows except the rows themselves.

One compiled loop does it for all losses with a quadratic conjugate: a dozen passes of NumPy over the rows of a block
would take as long as reading them does. Its responses are those of `mercer.solvers.linear.loss_loops.respond`, written
without branches, so that they become vector instructions.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray
from mercer.problems.linear.block_machine import RowLosses
from mercer.problems.linear.dual import LinearDual
from mercer.solvers.linear.loss_loops import RoundedLosses
from mercer.solvers.linear.small_newton import weights_of_rounding

# Rows whose losses stay in the nearest cache while slopes along a step are taken at several of its points.
_NEAR = 512


class Responses(NamedTuple):
    """What the rows of a block make of their values.

    Attributes
    ----------
    beta, slope : ndarray (n,)
        Coefficients, and how they change with the values.
    balance, gain, square : ndarray (2,)
        Sums of beta_i, of its dual gain (p beta - epsilon |beta|), and of R beta^2 / 2, over positive and over negative
        coefficients.
    loss, envelope, distance : float
        The losses, the rounded losses, and the size of the proximal term.
    moving, idle : int
        Rows whose response moves, and rows without any.
    """

    beta: FloatArray
    slope: FloatArray
    balance: FloatArray
    gain: FloatArray
    square: FloatArray
    loss: float
    envelope: float
    distance: float
    moving: int
    idle: int

    @property
    def sides(self) -> FloatArray:
        """The positive and the negative coefficients, each padded with zeros."""
        return np.stack([np.maximum(self.beta, 0.0), np.minimum(self.beta, 0.0)])


@jit
def _respond(values: FloatArray, losses: RoundedLosses, beta: FloatArray, slope: FloatArray, sums: FloatArray) -> None:
    """Responses with the proximal term; `sums` receives those of `Responses`, without the envelope, in a row."""
    vector_loop()
    linear, lower, upper, ridge, epsilon, inverse, centre = losses
    rise, fall, gain_up, gain_down, square_up, square_down = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    loss, distance, product, moving, used = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(values.shape[0]):
        z = linear[i] - values[i]
        # Soft threshold.
        excess = z - max(-epsilon, min(epsilon, z))
        pulled = z + inverse[i] * centre[i]
        pulled -= max(-epsilon, min(epsilon, pulled))
        curvature = ridge[i] + inverse[i]
        goal = pulled / curvature
        b = max(lower[i], min(upper[i], goal))
        inside = goal > lower[i] and goal < upper[i] and (goal != 0.0 or epsilon == 0.0)
        beta[i] = b
        slope[i] = 1.0 / curvature if inside else 0.0
        # The exact loss, through its conjugate.
        at = max(lower[i], min(upper[i], excess / (ridge[i] if ridge[i] > 0.0 else 1.0)))
        end = upper[i] if excess > 0.0 else lower[i]
        at = at if ridge[i] > 0.0 else (end if excess != 0.0 else 0.0)
        loss += (excess - 0.5 * ridge[i] * at) * at
        distance += inverse[i] * (b - centre[i]) * (b - centre[i])
        product += b * values[i]
        gain, square = linear[i] * b - epsilon * abs(b), 0.5 * ridge[i] * b * b
        rise += max(b, 0.0)
        fall += min(b, 0.0)
        gain_up += gain if b > 0.0 else 0.0
        gain_down += gain if b < 0.0 else 0.0
        square_up += square if b > 0.0 else 0.0
        square_down += square if b < 0.0 else 0.0
        moving += 1.0 if inside else 0.0
        used += 1.0 if b != 0.0 else 0.0
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5] = rise, fall, gain_up, gain_down, square_up, square_down
    sums[6], sums[7], sums[8], sums[9], sums[10] = loss, distance, product, moving, used


@jit
def _slopes(
    parts: FloatArray, values: FloatArray, direction: FloatArray, losses: RoundedLosses, out: FloatArray
) -> None:
    """out[k] = the derivative of the rounded losses at values + parts[k] direction."""
    vector_loop()
    linear, lower, upper, ridge, epsilon, inverse, centre = losses
    out[:] = 0.0
    for begin in range(0, values.shape[0], _NEAR):
        end = min(values.shape[0], begin + _NEAR)
        for k in range(parts.shape[0]):
            t, total = parts[k], 0.0
            for i in range(begin, end):
                pulled = linear[i] - values[i] - t * direction[i] + inverse[i] * centre[i]
                pulled -= max(-epsilon, min(epsilon, pulled))
                total += max(lower[i], min(upper[i], pulled / (ridge[i] + inverse[i]))) * direction[i]
            out[k] -= total


@dataclass
class Losses:
    """The losses of a block's rows, rounded around some centres.

    Attributes
    ----------
    rows : RowLosses
    dual : LinearDual
    centre : ndarray (n,)
    """

    rows: RowLosses
    dual: LinearDual
    centre: FloatArray

    @classmethod
    def of(cls, rows: RowLosses, constant: float, is_free: bool, centre: FloatArray | None) -> Self:
        """The losses of some rows, around zero if no centre is given."""
        dual = rows.dual(constant, is_free)
        return cls(rows, dual, np.zeros(len(dual)) if centre is None else centre)

    def around(self, centre: FloatArray) -> "Losses":
        """The same with other centres."""
        return Losses(self.rows, self.dual, centre)

    def _rounded(self, width: float) -> RoundedLosses:
        """Arguments of the compiled loops; losses with a ridge are not rounded."""
        dual, form = self.dual, self.rows.loss.form
        has_ridge = form is not None and form.curvature > 0.0
        inverse = np.zeros(len(dual)) if has_ridge else weights_of_rounding(dual, width)
        return RoundedLosses(dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon, inverse, self.centre)

    def respond(self, values: FloatArray, width: float) -> Responses:
        """The responses to values, rounded over a width; smooth losses are not rounded."""
        if self.rows.is_smooth:
            return self._smooth(values)
        beta, slope, sums = np.empty(len(values)), np.empty(len(values)), np.empty(11)
        _respond(values, self._rounded(width), beta, slope, sums)
        balance, gain, square = sums[:2], sums[2:4], sums[4:6]
        loss, distance, product, moving, used = (float(each) for each in sums[6:])
        envelope = float(gain.sum() - square.sum()) - product - 0.5 * distance
        idle = len(beta) - int(used)
        return Responses(beta, slope, balance, gain, square, loss, envelope, distance, int(moving), idle)

    def _smooth(self, values: FloatArray) -> Responses:
        beta, slope = self.rows.smooth_response(values)
        each, rises = self.rows.separable(beta), beta > 0.0
        gain = np.array([each[rises].sum(), each[~rises].sum()])
        balance = np.array([beta[rises].sum(), beta[~rises].sum()])
        envelope, used = float(each.sum() - beta @ values), np.count_nonzero(beta)
        return Responses(
            beta, slope, balance, gain, np.zeros(2), self.rows.risk(values), envelope, 0.0,
            int(np.count_nonzero(slope)), len(beta) - int(used),
        )  # fmt: skip

    def slopes(self, values: FloatArray, direction: FloatArray, width: float, parts: FloatArray) -> FloatArray:
        """The derivative of the rounded losses at fractions of a step."""
        if self.rows.is_smooth:
            return np.array([-(self.rows.smooth_response(values + t * direction)[0] @ direction) for t in parts])
        found = np.empty(len(parts))
        _slopes(np.ascontiguousarray(parts), values, direction, self._rounded(width), found)
        return found


def sum_of_sides(sums: Any, share: FloatArray) -> FloatArray:
    """The sum of rows over both sides (2, m), each scaled."""
    return share[0] * sums[0] + share[1] * sums[1]


def shares_of_sides(balance: Array, is_free: bool) -> FloatArray:
    """By how much the coefficients of each sign are scaled so that they sum to zero, if they must."""
    up, down = abs(float(balance[0])), abs(float(balance[1]))
    if not is_free:
        return np.ones(2)
    return np.array([min(1.0, down / up) if up else 1.0, min(1.0, up / down) if down else 1.0])


def scale_sides(beta: FloatArray, share: FloatArray) -> FloatArray:
    """The coefficients of each sign times its share, in place: of 10^7 rows, each copy takes 80 MB."""
    if (share != 1.0).any():
        np.multiply(beta, share[0], out=beta, where=beta > 0.0)
        np.multiply(beta, share[1], out=beta, where=beta < 0.0)
    return beta


def joined_rows(parts: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """The values and the coefficients of all rows, from those of each block; the list is emptied on the way."""
    n = sum(len(values) for values, _ in parts)
    values, beta = np.empty(n), np.empty(n)
    end = n
    while parts:
        own_values, own_beta = parts.pop()
        begin = end - len(own_values)
        values[begin:end], beta[begin:end] = own_values, own_beta
        end = begin
    return values, beta
