"""A solution of the hinge dual that can be led along as its problem changes.

Method: parametric active sets (Hastie, Rosset, Tibshirani & Zhu 2004 for C; Cauwenberghs & Poggio
2000 for a coefficient that is taken back to zero; Best 1996 for any linear change of a quadratic
program). The compiled steps are in `parametric_steps`. A solution that is only nearly one is made exact
by the same steps: the linear term is moved to where the point is optimal, and followed back.

Cost: see `parametric_steps`. Needs: a positive semidefinite matrix in memory, in double precision, and as much again.
"""

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from mercer._jit.threads import Stopped
from mercer._types import BoolArray, FloatArray, IndexArray
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.solvers.dual_qp.bias import common_bias
from mercer.solvers.linalg.definiteness import refuse_indefinite
from mercer.solvers.paths import parametric_steps as steps
from mercer.solvers.paths.parametric_events import FOREVER, Cycling, Infeasible
from mercer.solvers.paths.parametric_state import (
    AGE,
    BOUNDED,
    EXCHANGES,
    FREE,
    HELD,
    HELD_BETA,
    HELD_POINT,
    HELD_RATE,
    LARGEST,
    LOGS,
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
    Track,
    new_logs,
    with_longer_logs,
)
from mercer.solvers.paths.sweep_tableau import SMALL, Tableau, carry_out, has_room, read_column, take_in_order

if TYPE_CHECKING:
    from mercer.solvers.limits import Limits

# How often sweeps are applied before values and rates are recomputed: rounding accumulates slowly.
RENEW = 6
# A relative residual above this shows that the tableau has lost accuracy.
ROUGH = 1e-10
# A coefficient this close to a bound, relative to the box, is at it.
AT_BOUND = 1e-9


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

    def __init__(
        self,
        values: FloatArray,
        linear: FloatArray,
        signs: FloatArray,
        bound: FloatArray,
        has_equality: bool,
        total: float = 0.0,
    ) -> None:
        self.values, self.n_carried, self.owns_matrix = values, 0, True
        n, diagonal = len(values), values.diagonal()
        shift = max(float(diagonal.mean()), 1e-300) if has_equality else 0.0
        tableau = Tableau.of(values, n, shift, has_equality)
        scalars, counts = np.zeros(8), np.zeros(9, np.int64)
        scalars[LARGEST], scalars[RATES_SCALE] = np.abs(diagonal).max(initial=0.0), 1.0
        scalars[TOTAL], counts[HELD_POINT] = total, -1
        self.track = Track(
            tableau, *cast("tuple[FloatArray, FloatArray]", np.zeros((2, len(tableau.column)))),
            np.zeros(n), diagonal.copy(), linear.astype(np.float64), np.zeros(n), signs.astype(np.float64),
            bound.astype(np.float64), np.zeros(n), np.zeros(n, np.int8), np.zeros(n, np.bool_),
            np.zeros(n + 1, np.int64), np.zeros(n), scalars, counts, *new_logs(n), shift, has_equality,
        )  # fmt: skip

    # --- the state ------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.values)

    @property
    def beta(self) -> FloatArray:
        """The signed coefficients."""
        return self._of_all(self.track.state, self.track.bound, HELD_BETA)

    def _of_all(self, free: FloatArray, bound: FloatArray, held: int) -> FloatArray:
        """Coefficients, or their rates, from the free points, the bounds and the held point."""
        t = self.track
        out = np.where(t.status == FREE, free[: self.n], np.where(t.status == BOUNDED, t.signs * bound, 0.0))
        if t.counts[HELD_POINT] >= 0:
            out[t.counts[HELD_POINT]] = t.scalars[held]
        return out

    @property
    def gradient(self) -> FloatArray:
        """p - K beta."""
        t = self.track
        return np.where(t.status == FREE, 0.0, t.state[: self.n]) + self._own_bias(t.state) + t.shift * t.scalars[TOTAL]

    @property
    def bias(self) -> float:
        """b: that of the free points, or the middle of the allowed interval."""
        t = self.track
        if not t.has_equality:
            return 0.0
        reach = np.where(t.status == HELD, 0.0, t.signs * t.bound)
        beta = np.where(t.status == HELD, 0.0, self.beta)
        return float(common_bias(beta, self.gradient, np.minimum(reach, 0.0), np.maximum(reach, 0.0)))

    def _own_bias(self, values: FloatArray) -> float:
        """The bias in the tableau's state or rate, which lacks shift times the sum; 0 without a bias."""
        return values[self.n] if self.track.has_equality and self.track.counts[N_FREE] else 0.0

    @property
    def time(self) -> float:
        """The parameter."""
        return float(self.track.scalars[TIME])

    @property
    def free(self) -> IndexArray:
        """The free points, in the order in which they became free."""
        return self.track.places[: self.track.counts[N_FREE]]

    @property
    def n_events(self) -> int:
        """Number of set changes so far."""
        return int(self.track.counts[N_EVENTS])

    def copy(self) -> "Homotopy":
        """An independent copy; the matrices are shared, and the log starts empty."""
        self._carry_out()
        other = object.__new__(Homotopy)
        other.values, other.n_carried, other.owns_matrix = self.values, 0, False
        shared = {"diagonal", "signs", "shift", "has_equality"}
        t = self.track
        fields = {k: v if k in shared else v.copy() for k, v in t._asdict().items() if k not in (*LOGS, "tableau")}
        logs: dict[str, Any] = dict(zip(LOGS, new_logs(self.n, short=True), strict=True))
        other.track = Track(**fields, **logs, tableau=t.tableau.branch())
        other.forget()
        return other

    def forget(self) -> None:
        """Clear the log and set the parameter to 0."""
        self.track.counts[[N_PIECES, N_EVENTS, N_VALUES, TIES]] = 0
        self.track.scalars[TIME] = 0.0

    # --- moving the problem -----------------------------------------------------------------

    def drive(self, bound_rate: FloatArray, linear_rate: FloatArray | None = None, total_rate: float = 0.0) -> None:
        """From here on, move the bounds, the linear term and the sum of beta at these rates."""
        t = self.track
        t.bound_rate[:] = bound_rate
        t.linear_rate[:] = 0.0 if linear_rate is None else linear_rate
        t.scalars[RATES_SCALE], t.scalars[TOTAL_RATE] = max(float(t.bound_rate.sum()), 1e-300), total_rate
        t.scalars[HELD_RATE], t.counts[HELD_POINT], t.rate[:] = 0.0, -1, 0.0
        self.renew()

    def take_back(self, point: int) -> None:
        """Drive the coefficient of one point to zero, as if it were absent; nothing else may move."""
        t, beta = self.track, float(self.beta[point])
        t.scalars[RATES_SCALE] = 1.0
        steps.hold(t, point, beta, -float(np.sign(beta)))
        self.follow(abs(beta))
        self.track.scalars[HELD_BETA] = 0.0

    def value_at(self, point: int) -> float:
        """f of a point."""
        return float(self.values[point, : self.n] @ self.beta) + self.bias

    def follow(self, until: float, limits: "Limits | None" = None, max_events: int = 2**62) -> bool:
        """Follow the solution until the parameter has this value; False if limits stopped it."""
        until, done, retries = min(until, FOREVER), 0, 0
        while True:
            before = self.n_events
            ending = steps.follow(self.track, until, max_events - done)
            done += self.n_events - before
            if ending == steps.ARRIVED:
                return True
            if ending == steps.LOG_FULL:
                self.track = with_longer_logs(self.track)
            elif ending == steps.SWEEPS_FULL:
                self._make_room()
            elif ending == steps.AGED:
                self.renew()
            elif ending == steps.CYCLING:
                retries += 1
                if retries > 2:
                    raise Cycling
                self._sweep_anew()
                self.renew()
                self.track.counts[TIES] = 0
            elif ending == steps.INFEASIBLE:
                raise Infeasible
            elif ending == steps.REFUSED:
                self._refuse()
            if done >= max_events or (limits is not None and limits.stop()):
                return False

    def _make_room(self) -> None:
        """Make room for more sweeps, and now and then remove accumulated rounding."""
        self.n_carried += 1
        if self.n <= SMALL or self.n_carried % RENEW == 0:
            self.renew()
        else:
            self._carry_out()

    def _carry_out(self) -> None:
        tableau = carry_out(self.track.tableau, self.owns_matrix)
        self.owns_matrix |= tableau.matrix is not self.track.tableau.matrix
        self.track = self.track._replace(tableau=tableau)

    def renew(self) -> None:
        """Recompute values and rates of all points, which removes accumulated rounding."""
        self._carry_out()
        first = rest = self._what_is_left()
        if self._is_rough(rest, first):
            # From scratch: what one solution leaves over shows how accurate the tableau is.
            if self.track.rate.any():
                self.track.rate[:] = 0.0
                first = self._what_is_left()
            self._solve_for(*first)
            rest = self._what_is_left()
            if self._is_rough(rest, first):
                self._sweep_anew()
        self._solve_for(*rest)
        self.track.counts[AGE] = 0

    def _is_rough(self, rest: tuple[FloatArray, FloatArray], first: tuple[FloatArray, FloatArray]) -> bool:
        """Whether more than rounding is left for the rates of the free points."""
        return bool(np.abs(rest[1][self._inside]).max(initial=0.0) > ROUGH * np.abs(first[1]).max(initial=0.0))

    def _solve_for(self, left: FloatArray, push: FloatArray) -> None:
        """Correct values and rates by the tableau's solution for their residuals."""
        t, inside = self.track, self._inside
        t.state[:] = np.where(inside, t.state, left) - t.tableau.times(np.where(inside, left, 0.0))
        t.rate[:] = np.where(inside, t.rate, push) - t.tableau.times(np.where(inside, push, 0.0))

    @property
    def _inside(self) -> BoolArray:
        """The indices that have been swept in."""
        t = self.track
        out = np.zeros(len(t.state), bool)
        out[: self.n] = t.status == FREE
        out[self.n : self.n + t.has_equality] = t.counts[N_FREE] > 0
        return out

    def _what_is_left(self) -> tuple[FloatArray, FloatArray]:
        """Residuals of the tableau's equations, for the values and for the rates of the free points."""
        t, n, beta = self.track, self.n, self.beta
        moved = self._of_all(t.rate, t.bound_rate, HELD_RATE)
        wide, products = np.zeros((2, 2, self.values.shape[1]))
        wide[:, :n] = beta, moved
        steps.symmetric_products(self.values, *wide, *products)
        left, push = np.zeros((2, len(t.state)))
        left[:n] = t.linear - products[0, :n] - t.shift * beta.sum() - self._own_bias(t.state)
        push[:n] = t.linear_rate - products[1, :n] - t.shift * moved.sum() - self._own_bias(t.rate)
        if t.has_equality:
            left[n], push[n] = t.scalars[TOTAL] - beta.sum(), t.scalars[TOTAL_RATE] - moved.sum()
        return left, push

    def _sweep_anew(self) -> None:
        """Rebuild the tableau of the free points."""
        t = self.track
        tableau = Tableau.of(self.values, self.n, t.shift, t.has_equality)
        order = np.insert(self.free, 1, self.n) if t.has_equality else self.free
        room = len(tableau.pivots)
        for first in range(0, len(order), room):
            take_in_order(tableau, order[first : first + room])
            carry_out(tableau)
        self.track, self.owns_matrix = t._replace(tableau=tableau), True

    # --- starting ---------------------------------------------------------------------------

    def settle(self, beta: FloatArray, limits: "Limits | None" = None, held: BoolArray | None = None) -> Self:
        """Turn an approximate solution `beta` into the exact one; the points `held` take no part in it.

        Coefficients near a bound are put there and the others made independent; p is shifted to where that is optimal,
        and then led back.
        """
        self._sort(beta, held)
        t, beta, total = self.track, self.beta, self.track.scalars[TOTAL]
        if t.has_equality:
            # The change of the sum caused by that is led back as well.
            t.scalars[TOTAL] = beta.sum()
        gradient, free = t.linear - self.values[:, : self.n] @ beta, t.status == FREE
        bias = self._bias_for(gradient)
        # Mirrored beyond the margin: a point exactly at the margin would be a tie.
        excess = np.where(t.side * (gradient - bias) > 0.0, 2.0 * (bias - gradient), 0.0)
        excess[free] = bias - gradient[free]
        t.linear[:] += excess
        t.counts[EXCHANGES] = 1
        self.drive(np.zeros(self.n), -excess, total - t.scalars[TOTAL])
        if not self.follow(1.0, limits):
            raise Stopped
        self.track.counts[EXCHANGES], self.track.scalars[TOTAL] = 0, total
        self.drive(np.zeros(self.n))
        self.forget()
        return self

    def begin(self, bounded: BoolArray, linear: FloatArray, bias: float) -> None:
        """Start where all bounds are zero, with `bounded` points at theirs and those free that are; then `drive`."""
        t = self.track
        t.status[bounded] = BOUNDED
        self._take_sides()
        t.linear[:], t.bound[:], t.state[:], t.scalars[TOTAL] = linear, 0.0, 0.0, 0.0
        t.state[self.n : self.n + t.has_equality] = bias if t.counts[N_FREE] else 0.0

    def _bias_for(self, gradient: FloatArray) -> float:
        """An initial bias."""
        t = self.track
        if not t.has_equality:
            return 0.0
        if t.counts[N_FREE] == 0:
            t.state[: self.n] = gradient - t.shift * t.scalars[TOTAL]
            return self.bias
        bias = float(gradient[t.status == FREE].mean())
        t.state[self.n] = bias - t.shift * t.scalars[TOTAL]
        return bias

    def _sort(self, beta: FloatArray, held: BoolArray | None) -> None:
        """Assign every point to its set by its coefficient, and sweep the free ones into the tableau."""
        t = self.track
        alpha = t.signs * beta
        slack = AT_BOUND * np.minimum(t.bound, alpha.max(initial=0.0))
        t.status[:] = np.where(alpha <= slack, ZERO, np.where(alpha >= t.bound - slack, BOUNDED, FREE))
        if held is not None:
            t.status[held] = HELD
        self._take_sides()
        t.state[: self.n] = np.where(t.status == FREE, beta, 0.0)
        free = np.flatnonzero(t.status == FREE)
        while len(free):
            free = free[steps.take_in_all(self.track, free) :]
            self._carry_out()
            for point in free[:1]:
                while t.status[point] == FREE and not self._take_in(point):
                    self._move_along(point)
            free = free[1:]

    def _take_sides(self) -> None:
        """Note on which side of the margin every point must be."""
        t = self.track
        t.side[:] = np.where(t.status == ZERO, t.signs, np.where(t.status == BOUNDED, -t.signs, 0.0))

    def _take_in(self, point: int) -> bool:
        """Free a point at its present coefficient; False if its row depends on those of the free points."""
        if not has_room(self.track.tableau, steps.MOST_SWEEPS):
            self._carry_out()
        ending = steps.take_in(self.track, point, self.track.state[point], 0.0)
        if ending == steps.INDEFINITE_ROW:
            self._refuse()
        return ending == steps.TAKEN

    def _refuse(self) -> None:
        """Report that the kernel is not positive semidefinite."""
        refuse_indefinite(StoredMatrix(self.values), self.track.places[: self.track.counts[N_FREE] + 1])
        raise Cycling

    def _move_along(self, point: int) -> None:
        """A dependent row means that f can do without one of the free points: move along the dependence, which leaves f
        unchanged, to the first bound."""
        t = self.track
        read_column(t.tableau, point)
        points, move = np.append(self.free, point), np.append(-t.tableau.column[self.free], 1.0)
        alpha, rate = t.signs[points] * t.state[points], t.signs[points] * move
        # Towards the nearer bound of the point itself.
        towards = t.signs[point] if alpha[-1] > 0.5 * t.bound[point] else -t.signs[point]
        move, rate = towards * move, towards * rate
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(rate < 0, alpha / -rate, np.where(rate > 0, (t.bound[points] - alpha) / rate, np.inf))
        first = int(np.argmin(lengths))
        t.state[points] += max(0.0, lengths[first]) * move
        kind = ZERO if rate[first] < 0 else BOUNDED
        if points[first] != point:
            steps.let_go(t, first, kind, 0.0)
        else:
            t.status[point], t.side[point] = kind, steps.side_of(t, point, kind)
