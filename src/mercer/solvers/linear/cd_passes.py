"""Passes of dual coordinate descent: which rows to visit, and how often.

Rows firmly at a bound are left out; if the loss has a kink, the others are visited as often as their
preferences say (`cd_steps`). A pass makes as many steps as there are active rows.

A bias is a feature that all rows have. If its value s in the dual is as large as a whole row, each step
changes the bias as much as its own row does, and the next steps undo that: twice the passes. So the bias is held by
a proximal term (Rockafellar 1976), 1/(2t) (b - centre)^2 with 1/t = 1/scale^2 - 1/s^2, which leaves a constant
feature of a smaller value `scale` and a *price*, the fraction (1 - scale^2/s^2) of the centre; after each pass the
centre moves to the bias. For a free bias, with infinite s, this is the method of multipliers (Hestenes 1969).
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._jit.splitmix import GOLDEN
from mercer._types import FloatArray, IndexArray
from mercer.solvers.linear.cd_steps import (
    BETA,
    CURVATURE,
    LINEAR,
    LOWER,
    RIDGE,
    UPPER,
    WIDTH,
    remaining,
    schedule,
    shuffle,
    sweep,
)
from mercer.solvers.linear.loss_loops import BEYOND

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts
    from mercer.problems.linear.dual import LinearDual
    from mercer.solvers.limits import Limits

# Row entries per slice: about 50 ms.
SLICE_ENTRIES = 15_000_000
# A row at a bound is dropped if its slope is below minus this share of the largest among those that moved. Hsieh et al.
# use 1; a check restores rows dropped too early, so less is safe and faster.
FIRM = 0.1
# The constant feature's share of the mean curvature of a step; larger if rows are few, since the bias must settle
# within a pass.
CONSTANT, ENOUGH_ROWS = 0.02, 5000
# Passes before preferences start to follow the gains of steps, and before they are used.
SETTLING, SETTLED = 2, 4


class Passes:
    """The state of coordinate descent: coefficients, weights, active rows.

    Parameters
    ----------
    products : RowProducts
    dual : LinearDual
    start : ndarray (n,) or None
    seed : int
    """

    credit: FloatArray | Any
    w: FloatArray
    points: FloatArray
    preferences: FloatArray
    pace: FloatArray
    active: IndexArray

    def __init__(self, products: "RowProducts", dual: "LinearDual", start: FloatArray | None, seed: int) -> None:
        self.products, self.dual = products, dual
        self.scale, self.price, self.bias = self._constant(), 0.0, 0.0
        self.points = self._points(start)
        self.state = np.array([(seed * 2 + 1) * int(GOLDEN) % 2**64], np.uint64)
        self.w = np.zeros(products.n_features + 1)
        if start is not None:
            products.combination(self.beta, self.w[:-1])
            self.w[-1] = self.scale * self.beta.sum()
            if not dual.has_equality:
                self.hold(dual.scale**2 * self.beta.sum())
        self.firm, self.done, self.gap, self.loss = BEYOND, 0, math.inf, math.inf
        # Without a kink all rows keep moving, so none deserves extra visits.
        self.has_preferences = not dual.ridge.all()
        self.preferences = np.ones(products.n, np.float32)
        self.credit, self.pace = None, np.array([1.0, 0.0, 0.0])
        self.active = self.all_rows()

    def _constant(self) -> float:
        """The constant feature used in the steps."""
        dual = self.dual
        mean = float(np.mean(self.products.squares() + dual.ridge))
        if dual.scale == 0.0 or mean == 0.0:
            return dual.scale
        scale = math.sqrt(CONSTANT * max(1.0, ENOUGH_ROWS / self.products.n) * mean)
        return scale if dual.has_equality else min(scale, dual.scale)

    def hold(self, bias: float) -> None:
        """Move the centre of the proximal term to `bias`, the value the rows last used."""
        self.bias = bias
        self.price = bias if self.dual.has_equality else (1.0 - (self.scale / self.dual.scale) ** 2) * bias

    def _points(self, start: FloatArray | None) -> FloatArray:
        dual = self.dual
        points = np.zeros((self.products.n, WIDTH))
        points[:, LINEAR], points[:, LOWER], points[:, UPPER] = dual.linear, dual.lower, dual.upper
        points[:, RIDGE] = dual.ridge
        # A zero row moves to its bound at once, whatever curvature it is given.
        points[:, CURVATURE] = np.maximum(self.products.squares() + self.scale**2 + dual.ridge, 1e-300)
        if start is not None:
            points[:, BETA] = dual.feasible(start)
        return points.ravel()

    def all_rows(self) -> IndexArray:
        """Every row, in order."""
        return np.arange(self.products.n, dtype=np.int32 if self.products.n < 2**31 else np.int64)

    def look_at(self, rows: IndexArray) -> None:
        """Set the rows of the next passes."""
        self.active = rows
        np.abs(self.preferences, out=self.preferences)

    def sample(self, share: int) -> None:
        """Restrict the passes to one row in `share`."""
        shuffle(self.active, self.state)
        self.look_at(self.active[: self.products.n // share])

    @property
    def beta(self) -> FloatArray:
        return self.points[BETA::WIDTH]

    def run(self, limits: "Limits") -> bool:
        """One pass in slices; False if a limit was reached."""
        order = self._order()
        self.pace[2] = 1.0 / max(1, len(order))
        pace = self.pace if self.has_preferences and self.done >= SETTLING else None
        mean = max(1, self.products.n_entries // self.products.n)
        size, begin, largest, self.gap, self.loss = max(1, SLICE_ENTRIES // mean), 0, 0.0, 0.0, 0.0
        while begin < len(order):
            if (begin or self.done) and limits.stop():  # a pass over few rows is one slice
                break
            met, gap, loss = sweep(
                self.products.rows, self.points, self.dual.epsilon, self.scale, self.price, self.w,
                order, begin, min(begin + size, len(order)), self.firm, self.preferences, pace,
            )  # fmt: skip
            begin, largest = begin + size, max(largest, met)
            self.gap, self.loss = self.gap + gap, self.loss + loss
        if self.scale:
            self.hold(self.price + self.scale * self.w[-1])
        self.firm = FIRM * largest
        self.active = self.active[: remaining(self.active, self.preferences)]
        is_whole = begin >= len(order)
        self.done += is_whole
        return is_whole

    def _order(self) -> IndexArray:
        """The rows to visit, in order."""
        if not (self.has_preferences and self.done >= SETTLED):
            shuffle(self.active, self.state)
            return self.active
        if self.credit is None:
            self.credit = np.full(self.products.n, 0.5, np.float32)
        order = np.empty(2 * len(self.active), self.active.dtype)
        visits, self.pace[0] = schedule(self.active, self.preferences, self.credit, order)
        order = order[:visits]
        shuffle(order, self.state)
        return order
