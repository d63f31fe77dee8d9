"""A solution of the hinge dual that can be led along as its problem changes.

Method: parametric active sets (Hastie, Rosset, Tibshirani & Zhu 2004 for C; Cauwenberghs & Poggio
2000 for a coefficient that is taken back to zero; Best 1996 for any linear change of a quadratic
program). The compiled steps are in `homotopy_steps`. A solution that is only nearly one is made exact
by the same steps: the linear term is moved to where the point is optimal, and followed back.

Cost: see `homotopy_steps`. Needs: the matrix in memory, in double
precision; a positive semidefinite kernel.
"""

import numpy as np

from mercer._jit.compile import announce_compilation
from mercer._jit.threads import Stopped
from mercer.kernels.matrix import StoredMatrix
from mercer.solvers import homotopy_steps as steps
from mercer.solvers.definiteness import refuse_indefinite
from mercer.solvers.homotopy_events import BOUNDED, FOREVER, FREE, HELD, ZERO, middle_bias
from mercer.solvers.homotopy_state import (
    BIAS,
    CHANGED,
    HELD_POINT,
    HELD_RATE,
    INDEFINITE_ROW,
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
    UNKNOWN,
    Track,
    backward,
    border,
    border_all,
    forward,
    unborder,
)
from mercer.solvers.homotopy_steps import ARRIVED, FACTOR_FULL, LOG_FULL

# Multiplications between two looks at the limits: some 20 ms.
SLICE_WORK = 5e7
FIRST_CAPACITY = 64
# Room for so many values of free points, for each point, before the log has to grow.
FREE_IN_ALL = 2000
# A coefficient this near to a bound, relative to the box, is at it.
AT_BOUND = 1e-9


class Cycling(Exception):
    """Ties without end: the sets at this point could not be told."""


class Infeasible(Exception):
    """No other point can answer for the one that is moved."""


class Homotopy:
    """The solution of one problem, exact but for rounding, and where it is led.

    Parameters
    ----------
    values : ndarray (n, padded(n))
        The kernel matrix in double precision, rows padded with zeros.
    linear, signs, bound : ndarray (n,)
        p, y and u: y_i beta_i is between 0 and u_i.
    has_equality : bool
        Whether the sum of beta is fixed.
    total : float
        That sum.
    """

    def __init__(self, values, linear, signs, bound, has_equality, total=0.0):
        announce_compilation()
        n, width = values.shape
        wide = np.zeros((5, width))
        wide[0, :n] = linear
        wide[2] = wide[0]
        diagonal = values.diagonal()
        shift = max(float(diagonal.mean()), 1e-300) if has_equality else 0.0
        scalars, counts = np.zeros(9), np.zeros(9, np.int64)
        scalars[LARGEST], scalars[RATES_SCALE], counts[HELD_POINT] = np.abs(diagonal).max(initial=0.0), 1.0, -1
        scalars[SUM], counts[CHANGED] = total, UNKNOWN
        capacity = min(FIRST_CAPACITY, n + 3)
        self.track = Track(
            values, *wide, np.sqrt(np.maximum(diagonal, 0.0)), *np.zeros((3, n)), np.zeros(n, np.int64),
            signs.astype(np.float64), bound.astype(np.float64), np.zeros(n), np.zeros(n),
            np.zeros(n, np.int8), np.zeros(n, np.bool_),
            np.zeros(capacity, np.int64), np.zeros((capacity, capacity)), *np.zeros((3, capacity)),
            scalars, counts, *_logs(n), shift, has_equality,
        )  # fmt: skip

    # --- what there is --------------------------------------------------------------------

    @property
    def n(self):
        """Number of points."""
        return len(self.track.beta)

    @property
    def beta(self):
        """The signed coefficients."""
        return self.track.beta

    @property
    def gradient(self):
        """p - K beta; while it is followed, as far as it has been needed (see `steps.recompute`)."""
        return self.track.gradient[: self.n]

    @property
    def bias(self):
        """b: that of the free points, or the middle of what is allowed."""
        if self.track.has_equality and self.track.counts[N_FREE] == 0:
            return float(middle_bias(self.track))
        return float(self.track.scalars[BIAS])

    @property
    def time(self):
        """The parameter."""
        return float(self.track.scalars[TIME])

    @property
    def free(self):
        """The free points, in the order of the factor."""
        return self.track.places[: self.track.counts[N_FREE]]

    @property
    def n_events(self):
        """Changes of the sets so far."""
        return int(self.track.counts[N_EVENTS])

    def copy(self):
        """Another solution that may be led elsewhere; the matrix is shared, the log begins anew."""
        other = object.__new__(Homotopy)
        shared = {"values", "root", "signs", "linear_rate", "shift", "has_equality"}
        fields = {k: v if k in shared else v.copy() for k, v in self.track._asdict().items() if k not in _LOGS}
        other.track = Track(**fields, **dict(zip(_LOGS, _logs(self.n, short=True), strict=True)))
        other.forget()
        return other

    def forget(self):
        """Begin the log anew, at parameter 0."""
        self.track.counts[[N_PIECES, N_EVENTS, N_VALUES, TIES]] = 0
        self.track.scalars[TIME] = 0.0

    # --- where it is led ------------------------------------------------------------------

    def drive(self, bound_rate, linear_rate=None):
        """Move the bounds, and the linear term, at these rates from here on."""
        t = self.track
        t.bound_rate[:] = bound_rate
        t.linear_rate[:] = 0.0
        if linear_rate is not None:
            t.linear_rate[: self.n] = linear_rate
        rates = np.where(t.status == BOUNDED, t.signs * t.bound_rate, 0.0)
        moving = np.flatnonzero(rates)
        t.drive[:] = rates[moving] @ t.values[moving] - t.linear_rate
        t.scalars[RATES], t.scalars[RATES_SCALE] = rates.sum(), max(float(t.bound_rate.sum()), 1e-300)
        t.scalars[HELD_RATE], t.counts[HELD_POINT], t.counts[CHANGED] = 0.0, -1, UNKNOWN

    def take_back(self, point):
        """Lead the coefficient of one point to zero, as if it were not there."""
        t = self.track
        amount, rate = abs(t.beta[point]), -float(np.sign(t.beta[point]))
        if t.status[point] == FREE:
            unborder(t.factor, t.places, t.counts[N_FREE], int(np.flatnonzero(self.free == point)[0]), t.ones)
            t.counts[N_FREE] -= 1
        t.status[point] = HELD
        t.bound_rate[:] = t.linear_rate[:] = 0.0
        t.drive[:] = rate * t.values[point]
        t.scalars[RATES], t.scalars[RATES_SCALE] = rate, 1.0
        t.scalars[HELD_RATE], t.counts[HELD_POINT], t.counts[CHANGED] = rate, point, UNKNOWN
        self.follow(amount)
        self.track.beta[point] = 0.0
        steps.refresh(self.track)

    def follow(self, until, limits=None, max_events=2**62):
        """Lead the solution until the parameter has this value; False where limits ended it before."""
        until, done = min(until, FOREVER), 0
        while True:
            share = max(1, int(SLICE_WORK / (self.n * (4 + self.track.counts[N_FREE]))))
            before = self.n_events
            ending = steps.follow(self.track, until, min(share, max_events - done))
            done += self.n_events - before
            if ending == ARRIVED:
                return True
            if ending in (LOG_FULL, FACTOR_FULL):
                self._grow(ending)
            elif ending == steps.CYCLING:
                raise Cycling
            elif ending == steps.INFEASIBLE:
                raise Infeasible
            elif ending == steps.INDEFINITE:
                self._refuse()
            if done >= max_events or (limits is not None and limits.stop()):
                return False

    def _grow(self, ending):
        """Twice the room for the factor, or for the log."""
        t = self.track
        if ending == LOG_FULL:
            self.track = t._replace(**{name: _longer(getattr(t, name)) for name in _LOGS})
            return
        capacity = min(2 * len(t.factor), self.n + 3)
        factor = np.zeros((capacity, capacity))
        factor[: len(t.factor), : len(t.factor)] = t.factor
        rows = {name: np.resize(getattr(t, name), capacity) for name in ("places", "right", "step", "ones")}
        self.track = t._replace(factor=factor, **rows)

    # --- how it begins --------------------------------------------------------------------

    def settle(self, beta, limits=None):
        """Make `beta`, which nearly solves the problem, its exact solution.

        Coefficients near a bound are put there and the others made independent; p is moved to
        where that is optimal, and led back.
        """
        self._sort(beta)
        t = self.track
        steps.recompute(t)
        free = t.status == FREE
        bias = float(self.gradient[free].mean()) if free.any() and t.has_equality else self.bias
        distance = t.signs * (self.gradient - bias)
        wrong = np.where(t.status == ZERO, distance > 0, distance < 0)
        # Beyond the margin by as much as they fell short of it: a point at the margin would be a tie.
        excess = np.where(wrong & (t.status != FREE), 2.0 * (bias - self.gradient), 0.0)
        excess[free] = bias - self.gradient[free]
        t.linear[: self.n] += excess
        t.gradient[: self.n] += excess
        t.scalars[BIAS] = bias
        self.drive(np.zeros(self.n), -excess)
        # What putting them there has changed in the sum is led back as well.
        t.scalars[RATES] = t.beta.sum() - t.scalars[SUM] if t.has_equality else 0.0
        if not self.follow(1.0, limits):
            raise Stopped
        self.drive(np.zeros(self.n))
        steps.refresh(self.track)
        self.forget()
        return self

    def _sort(self, beta):
        """Give every point its set, and the free ones their factor."""
        t = self.track
        alpha = t.signs * beta
        slack = AT_BOUND * np.minimum(t.bound, alpha.max(initial=0.0))
        t.status[:] = np.where(alpha <= slack, ZERO, np.where(alpha >= t.bound - slack, BOUNDED, FREE))
        t.beta[:] = t.signs * np.where(t.status == ZERO, 0.0, np.where(t.status == BOUNDED, t.bound, alpha))
        free = np.flatnonzero(t.status == FREE)
        while len(self.track.factor) < min(len(free) + 3, self.n + 3):
            self._grow(FACTOR_FULL)
        while len(free):
            free = free[border_all(self.track, free) :]
            for point in free[:1]:
                while t.status[point] == FREE and not self.take_in(point):
                    self._move_along(point)
            free = free[1:]

    def take_in(self, point):
        """Make a point one of the free ones; False where its row depends on theirs."""
        t = self.track
        if t.counts[N_FREE] + 3 > len(t.factor):
            self._grow(FACTOR_FULL)
            t = self.track
        ending = border(t.values, t.factor, t.places, t.counts[N_FREE], t.shift, point, t.right, t.ones)
        if ending == INDEFINITE_ROW:
            self._refuse()
        t.counts[N_FREE] += ending == TAKEN
        return ending == TAKEN

    def _refuse(self):
        """The kernel is not positive semidefinite."""
        refuse_indefinite(StoredMatrix(self.track.values), self.track.places[: self.track.counts[N_FREE] + 1])
        raise Cycling

    def _move_along(self, point):
        """Where the row of a point depends on those of the free ones, f can be had without one of
        them: move along the dependence, which changes nothing, to the first bound."""
        t, f = self.track, int(self.track.counts[N_FREE])
        answer = t.values[point, self.free] + t.shift
        forward(t.factor, f, answer)
        backward(t.factor, f, answer)
        points, move = np.append(self.free, point), np.append(-answer, 1.0)
        alpha, rate = t.signs[points] * t.beta[points], t.signs[points] * move
        # Down or up for the point itself, whichever is nearer.
        if alpha[-1] > 0.5 * t.bound[point]:
            move, rate = t.signs[point] * move, t.signs[point] * rate
        else:
            move, rate = -t.signs[point] * move, -t.signs[point] * rate
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(rate < 0, alpha / -rate, np.where(rate > 0, (t.bound[points] - alpha) / rate, np.inf))
        first = int(np.argmin(lengths))
        t.beta[points] += max(0.0, lengths[first]) * move
        leaving = points[first]
        kind = ZERO if rate[first] < 0 else BOUNDED
        t.status[leaving], t.beta[leaving] = kind, 0.0 if kind == ZERO else t.signs[leaving] * t.bound[leaving]
        if leaving != point:
            unborder(t.factor, t.places, f, first, t.ones)
            t.counts[N_FREE] -= 1


_LOGS = ("log", "begins", "frees", "free_values")


def _logs(n, short=False):
    """Room for events, pieces, free points and their values: pages that are not written to cost nothing."""
    room, values = (64, n + 64) if short else (4 * n + 64, FREE_IN_ALL * n + 64)
    return np.empty(room, np.int64), np.empty((room, 5)), np.empty(values, np.int32), np.empty((values, 2))


def _longer(values):
    out = np.empty((4 * len(values), *values.shape[1:]), values.dtype)
    out[: len(values)] = values
    return out
