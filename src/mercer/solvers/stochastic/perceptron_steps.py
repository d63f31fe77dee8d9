"""Compiled loops of the perceptron: visits to examples in a given order.

A point of weight c stands for c copies visited one after the other (the last one in part, if c is
not an integer). Updates on copies end when the point is on the right side, so their number is known
before they are made. If averages are needed, `late` collects what each update has missed of the
sum of all iterates: the average after T visits is w - late / T.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.row_views import row_add, row_dot, row_square
from mercer._types import Array, FloatArray, IndexArray

if TYPE_CHECKING:
    from mercer._jit.row_views import RowView

# Indices into the state of a run.
BIAS, LATE_BIAS, VISITS, UPDATES, MISTAKES, LOSS = range(6)
STATE_SIZE = 6


@jit
def _copies_used(value: float, gain: float, copies: float) -> tuple[float, float]:
    """(steps in units of eta, updates) for a point whose y f(x) is `value` <= 0.

    Each update adds `gain` to the value.
    """
    whole = np.floor(copies)
    needed = np.floor(-value / gain) + 1.0 if gain > 0.0 else whole + 1.0
    if needed <= whole:
        return needed, needed
    return copies, np.ceil(copies)


@jit
def _missed(visits: float, steps: float, updates: float) -> float:
    """The correction of the sum of iterates for consecutive `updates`, of `steps` in all."""
    share = steps / updates
    return share * (updates * visits + 0.5 * updates * (updates - 1.0))


@jit
def visit_rows(
    rows: "RowView",
    order: IndexArray,
    begin: int,
    end: int,
    signs: FloatArray,
    copies: FloatArray,
    eta: float,
    with_bias: bool,
    w: FloatArray,
    late: FloatArray,
    state: FloatArray,
) -> None:
    """Apply the rule to the rows order[begin:end]; w, late and state are updated."""
    bias = 1.0 if with_bias else 0.0
    for place in range(begin, end):
        i = order[place]
        value = signs[i] * (row_dot(rows, i, w) + state[BIAS])
        if value <= 0.0:
            gain = eta * (row_square(rows, i) + bias)
            steps, updates = _copies_used(value, gain, copies[i])
            change = steps * eta * signs[i]
            missed = _missed(state[VISITS], steps, updates) * eta * signs[i]
            row_add(rows, i, change, w)
            row_add(rows, i, missed, late)
            state[BIAS] += bias * change
            state[LATE_BIAS] += bias * missed
            state[UPDATES] += updates
            state[MISTAKES] += 1.0
            state[LOSS] -= value * copies[i]
        state[VISITS] += copies[i]


@jit
def next_mistake(
    order: IndexArray,
    begin: int,
    end: int,
    signs: FloatArray,
    copies: FloatArray,
    scores: FloatArray,
    state: FloatArray,
) -> int:
    """The position of the first misclassified item in order[begin:end], or `end`."""
    for place in range(begin, end):
        i = order[place]
        if signs[i] * scores[i] <= 0.0:
            return place
        state[VISITS] += copies[i]
    return end


@jit
def update_on(
    i: int,
    row: Array,
    shift: float,
    signs: FloatArray,
    copies: FloatArray,
    eta: float,
    beta: FloatArray,
    late: FloatArray,
    scores: FloatArray,
    state: FloatArray,
) -> None:
    """Apply the rule to item i, whose kernel values are `row`."""
    value = signs[i] * scores[i]
    steps, updates = _copies_used(value, eta * (row[i] + shift), copies[i])
    change = steps * eta * signs[i]
    beta[i] += change
    late[i] += _missed(state[VISITS], steps, updates) * eta * signs[i]
    for j in range(scores.shape[0]):
        scores[j] += change * (row[j] + shift)
    state[UPDATES] += updates
    state[MISTAKES] += 1.0
    state[LOSS] -= value * copies[i]
    state[VISITS] += copies[i]
