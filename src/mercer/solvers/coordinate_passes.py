"""Passes of dual coordinate descent: which rows, how often, on how many cores.

A pass over few entries is one compiled loop. From `JOINED` entries on the move of a pass is joined with that of
the pass before, and from `SHARED` entries on two cores take half of the rows each (`joint_moves`). Which of these
it is depends on the data and the number of cores, not on `n_jobs`, and so do the results.
"""

import math

import numpy as np

from mercer.solvers.conjugate_losses import BEYOND
from mercer.solvers.coordinate_steps import (
    BETA,
    CURVATURE,
    LINEAR,
    LOWER,
    PREFERENCE,
    RIDGE,
    UPPER,
    WIDTH,
    remaining,
    schedule,
    shuffle,
    sweep,
)
from mercer.solvers.joint_moves import JointMoves

# Entries of rows in a slice: some 50 ms.
SLICE_ENTRIES = 15_000_000
SEED = 0x9E3779B97F4A7C15
# A row at a bound is left out if its slope is below minus this share of the largest among those that moved. The
# whole of it is what Hsieh et al. take; a check brings back what was left out too early, so less is safe and faster.
FIRM = 0.1
# Active entries from which on moves are joined, and from which on two cores share them; and how many there must be
# for each row and feature, all of which a join looks at.
JOINED, SHARED, EACH = 50_000, 150_000, 4
# How much larger a core takes |x_i|^2 to be, for what the other one does meanwhile: 1 diverges without a
# search for the best combination, 2 is safe without.
SIGMA = 1.5
# Passes after which moves go on where the last one went, and preferences are heeded.
SETTLED = 4


class Passes:
    """The state of coordinate descent: coefficients, weights, active rows.

    Parameters
    ----------
    products : RowProducts
    dual : LinearDual
    start : ndarray (n,) or None
    seed : int
    """

    def __init__(self, products, dual, start, seed):
        self.products, self.dual = products, dual
        self.points = self._points(start)
        self.states = [np.array([(seed * 2 + 1) * SEED % 2**64], np.uint64) for _ in range(2)]
        self.states[1][0] ^= np.uint64(SEED >> 7)
        self.w = np.zeros(products.n_features + 1)
        if start is not None:
            products.combination(self.beta, self.w[:-1])
            self.w[-1] = dual.scale * self.beta.sum()
        self.firm, self.done, self.gap = BEYOND, 0, math.inf
        # Where the loss has no kink all rows go on moving, and none deserves more visits.
        self.has_preferences = not dual.ridge.all()
        self.credit, self.paces = None, [np.array([1.0, 0.0, 0.0]) for _ in range(2)]
        self.side, self.joint = np.zeros(products.n, np.int8), None
        self.active = self.all_rows()

    def _points(self, start):
        dual = self.dual
        points = np.zeros((self.products.n, WIDTH))
        points[:, LINEAR], points[:, LOWER], points[:, UPPER] = dual.linear, dual.lower, dual.upper
        points[:, RIDGE], points[:, PREFERENCE] = dual.ridge, 1.0
        # A row of zeros moves to its bound at once, whatever its curvature is called.
        points[:, CURVATURE] = np.maximum(self.products.squares() + dual.scale**2, 1e-300)
        if start is not None:
            points[:, BETA] = dual.feasible(start)
        return points.ravel()

    def all_rows(self):
        """Every row, in order."""
        return np.arange(self.products.n, dtype=np.int32 if self.products.n < 2**31 else np.int64)

    def look_at(self, rows):
        """The rows of the next passes, until they leave."""
        self.active = rows
        self.points[PREFERENCE::WIDTH] = np.abs(self.points[PREFERENCE::WIDTH])

    def sample(self, share):
        """Look at one row in `share` only."""
        shuffle(self.active, self.states[0])
        self.look_at(self.active[: self.products.n // share])

    @property
    def beta(self):
        return self.points[BETA::WIDTH]

    def run(self, limits):
        """One pass; False if a limit was met within."""
        shuffle(self.active, self.states[0])
        crew = self._crew()
        orders = self._orders(max(1, crew))
        if crew == 0:
            weights = [self.w]
        else:
            self.joint = self.joint or JointMoves(self.products, self.points, self.dual.epsilon, self.dual.scale)
            self.joint.begin()
            weights = self.joint.copies[:crew]
        is_whole = self._sweep(orders, weights, SIGMA if crew == 2 else 1.0, limits)
        if crew:
            self.w = self.joint.join(
                self.w, self.side, crew, SIGMA if crew == 2 else 1.0, is_early=self.done < SETTLED or not is_whole
            )
        self.active = self.active[: remaining(self.active, self.points)]
        self.done += is_whole
        return is_whole

    def _crew(self):
        """Cores for the next pass; 0 if its move is not to be joined with the last one."""
        entries = self.products.n_entries / self.products.n * len(self.active)
        enough = max(JOINED, EACH * (self.products.n + self.products.n_features))
        if entries < enough:
            self.joint = None
            return 0
        return 2 if len(self.products.chunks) > 1 and entries >= SHARED else 1

    def _orders(self, crew):
        """The rows that each of the crew visits, in order."""
        n = len(self.active)
        parts = [self.active[: n // crew], self.active[n // crew :]] if crew == 2 else [self.active]
        if crew == 2:
            self.side[parts[0]], self.side[parts[1]] = 0, 1
        else:
            self.side[self.active] = 0
        if not self.has_preferences:
            return parts
        for pace, part in zip(self.paces, parts, strict=False):
            pace[2] = 1.0 / len(part) if self.done >= SETTLED - 2 else 0.0
        return [self._scheduled(k, part) for k, part in enumerate(parts)] if self.done >= SETTLED else parts

    def _scheduled(self, k, part):
        if self.credit is None:
            self.credit = np.full(self.products.n, 0.5)
        order = np.empty(2 * len(part), part.dtype)
        visits, self.paces[k][0] = schedule(part, self.points, self.credit, order)
        order = order[:visits]
        shuffle(order, self.states[k])
        return order

    def _sweep(self, orders, weights, sigma, limits):
        """Steps for all orders side by side, in slices; False if a limit was met between them."""
        mean = max(1, self.products.n_entries // self.products.n)
        size, begin, largest = max(1, SLICE_ENTRIES // mean), 0, 0.0
        longest = max(map(len, orders))
        self.gap = 0.0
        while begin < longest:
            if begin and limits.stop():
                break
            found = [(0.0, 0.0)] * len(orders)

            def work(k, begin=begin, found=found):
                order = orders[k]
                if begin == 0 and weights[k] is not self.w:
                    weights[k][:] = self.w
                found[k] = sweep(
                    self.products.rows, self.points, self.dual.epsilon, self.dual.scale, sigma, weights[k],
                    order, min(begin, len(order)), min(begin + size, len(order)), self.firm, self.paces[k],
                )  # fmt: skip

            self.products.side_by_side(work, len(orders))
            begin += size
            largest = max(largest, *(each[0] for each in found))
            self.gap += sum(each[1] for each in found)
        self.firm = FIRM * largest
        return begin >= longest
