r"""The quadratic program behind every support vector machine here.

In the signed variables :math:`\beta_i = y_i \alpha_i`,

.. math::
    \min_\beta\; \tfrac12 \beta^T (K + s\,11^T + R)\,\beta - p^T\beta + \varepsilon \|\beta\|_1
    \quad\text{s.t.}\quad l_i \le \beta_i \le u_i,\qquad \textstyle\sum_i \beta_i = c
    \text{ if the bias is free.}

K is the kernel matrix; R a diagonal (squared losses); s = 1 for a penalised bias;
:math:`\varepsilon` the kink of regression, whose tube costs nothing; in the nu-forms the
coordinates form two groups and the sum of each is fixed. The negative gradient of the smooth part
is :math:`g = p - (K + s 11^T + R)\beta`; a coordinate gains
:math:`g_i \mp \varepsilon` by rising from there, so a kink only shifts the values that are
compared. Formulations differ only in p, l, u, R, s, c, the kink and the groups: they are data,
not kinds of solver.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._jit.compile import UNBOUNDED
from mercer._jit.once import computed_once
from mercer._types import BoolArray, FloatArray, IndexArray
from mercer.problems.certificate import relative_gap
from mercer.problems.svm.box_and_sum import SUM_ROUNDING, nearest_with_sum

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix


# A coefficient this close to a bound, relative to the box, is at it.
AT_BOUND = 1e-11


@dataclass(frozen=True)
class DualProblem:
    """The whole program except the kernel matrix.

    Attributes
    ----------
    linear : ndarray (n,)
        p.
    lower, upper : ndarray (n,)
        The box; `upper` may be infinite.
    has_equality : bool
        Whether the sum of beta is fixed (a free bias).
    ridge : ndarray (n,) or None
        The diagonal of R.
    shift : float
        s, added to every entry of K.
    total : float, or ndarray (2,) for two groups
        c: 0 for a free bias, 1 for the weights of a mean.
    kink : float
        The weight of |beta_i|; the box then contains 0, inside or at its end.
    groups : ndarray (n,) of 0 and 1, or None
        Which of two sums each coordinate belongs to.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    has_equality: bool = True
    ridge: np.ndarray | None = None
    shift: float = 0.0
    total: float | np.ndarray = 0.0
    kink: float = 0.0
    groups: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.linear)

    @property
    def has_total(self) -> bool:
        """Whether a sum is fixed at something other than zero."""
        return bool(self.total.any() if isinstance(self.total, np.ndarray) else self.total)

    @property
    def is_plain(self) -> bool:
        """Whether it is only a box around zero and one zero sum."""
        is_special = self.kink or self.shift or self.groups is not None or self.has_total
        return self.has_equality and not is_special and self.lower.max() <= 0.0 <= self.upper.min()

    def require_one_zero_sum(self, solver: str) -> None:
        """Refuse a program with more than a box and one zero sum, for a solver that knows nothing else.

        Such a solver would silently solve a different program.
        """
        more = [("kink", self.kink), ("groups", self.groups is not None), ("total", self.has_total)]
        found = [name for name, is_there in more if is_there]
        if found:
            raise ParameterError(
                f"solver={solver!r} solves only programs with a box and one zero sum; this one also has "
                f"{' and '.join(found)} (see DualProblem), which solver='smo' can solve"
            )

    def can_rise(self, beta: FloatArray) -> BoolArray:
        """Where beta may still grow."""
        return beta < self.upper

    def can_fall(self, beta: FloatArray) -> BoolArray:
        """Where beta may still shrink."""
        return beta > self.lower

    def quadratic_product(
        self,
        matrix: "KernelMatrix",
        columns: IndexArray,
        change: FloatArray,
        rows: IndexArray | None = None,
        stop: Callable[..., Any] | None = None,
    ) -> FloatArray:
        """(K + s 11' + R)[rows, columns] @ change, in double precision."""
        out = matrix.product(columns, change, rows, stop)
        if self.shift:
            out += self.shift * change.sum()
        if self.ridge is not None:
            own = np.zeros(len(self))
            own[columns] = self.ridge[columns] * change
            out += own if rows is None else own[rows]
        return out

    def gradient(self, matrix: "KernelMatrix", beta: FloatArray, stop: Callable[..., Any] | None = None) -> FloatArray:
        """g = p - (K + s 11' + R) beta."""
        support = np.flatnonzero(beta)
        if len(support) == 0:
            return self.linear.copy()
        return self.linear - self.quadratic_product(matrix, support, beta[support], stop=stop)

    def gradient_of(self, beta: FloatArray, projections: FloatArray) -> FloatArray:
        """g, given K beta."""
        gradient = self.linear - projections - self.shift * beta.sum()
        return gradient if self.ridge is None else gradient - self.ridge * beta

    def projections_of(self, beta: FloatArray, gradient: FloatArray) -> FloatArray:
        """K beta, given g."""
        # The two formulas mirror each other.
        return self.gradient_of(beta, gradient)

    def objective(self, beta: FloatArray, gradient: FloatArray) -> float:
        """Value of the dual (to be maximised): p'b - b'Qb/2 - eps|b| = b'(p + g)/2 - eps|b|."""
        return 0.5 * float(beta @ (self.linear + gradient)) - self.kink_cost(beta)

    def kink_cost(self, beta: FloatArray) -> float:
        """The cost of the tube of regression: eps |beta|."""
        return self.kink * float(np.abs(beta).sum()) if self.kink else 0.0

    def upward(self, beta: FloatArray, gradient: FloatArray) -> FloatArray:
        """The gain of raising each coordinate; -inf if it may not rise."""
        if self.kink:
            gradient = gradient - np.where(beta < 0, -self.kink, self.kink)
        return np.where(beta < self.upper, gradient, -np.inf)

    def downward(self, beta: FloatArray, gradient: FloatArray) -> FloatArray:
        """The loss of lowering each coordinate; inf if it may not fall."""
        if self.kink:
            gradient = gradient - np.where(beta > 0, self.kink, -self.kink)
        return np.where(beta > self.lower, gradient, np.inf)

    def is_free(self, beta: FloatArray) -> BoolArray:
        """Where beta is strictly inside its box, and not at a kink."""
        inside = (beta < self.upper) & (beta > self.lower)
        return inside & (beta != 0) if self.kink else inside

    @computed_once
    def members(self) -> list[Any]:
        """A mask for each fixed sum."""
        if self.groups is None:
            return [slice(None)]
        return [self.groups == 0, self.groups == 1]

    def extremes(self, beta: FloatArray, gradient: FloatArray) -> tuple[float, float] | FloatArray:
        """(largest g that may rise, smallest g that may fall): the maximal violating pair.

        Two groups have a pair each: arrays of two.
        """
        if self.groups is None and not self.kink:
            # The usual problem, hundreds of which in a fit of many classes must be cheap.
            highest = gradient.max(initial=-np.inf, where=beta < self.upper)
            return float(highest), float(gradient.min(initial=np.inf, where=beta > self.lower))
        up, down = self.upward(beta, gradient), self.downward(beta, gradient)
        if self.groups is None:
            return float(up.max(initial=-np.inf)), float(down.min(initial=np.inf))
        # Masked in place: extracting the members of a group from an array takes several times as long.
        tops = [np.where(m, up, -np.inf).max(initial=-np.inf) for m in self.members]
        bottoms = [np.where(m, down, np.inf).min(initial=np.inf) for m in self.members]
        return np.array([tops, bottoms])

    def distance(self, highest: float | FloatArray, lowest: float | FloatArray) -> float:
        """The violation between the two extremes; negative if there is none."""
        if self.has_equality:
            return float(np.max(np.subtract(highest, lowest)))
        return float(np.maximum(highest, -lowest))

    def violation(self, beta: FloatArray, gradient: FloatArray) -> float:
        """How far the KKT conditions are from holding; LIBSVM's stopping criterion."""
        return self.violation_between(*self.extremes(beta, gradient))

    def violation_between(self, highest: float | FloatArray, lowest: float | FloatArray) -> float:
        """Their distance, not below zero; infinite if a gradient is not a number, since then nothing can be said."""
        found = self.distance(highest, lowest)
        return np.inf if np.isnan(found) else max(0.0, found)

    def gap(self, beta: FloatArray, gradient: FloatArray, bias: float | FloatArray) -> float:
        r"""Primal minus dual value.

        A sum of what each coordinate could still gain by itself at the price b of its sum, none negative:
        :math:`\max_{l \le v \le u} \phi(v) - \phi(\beta)` with
        :math:`\phi(v) = (g + R\beta - b) v - R v^2/2 - \varepsilon |v|`.
        """
        if self.ridge is None and not self.kink:
            # The usual problem, needed in every round: each coordinate gains most at the end of its box.
            slope = gradient - self.thresholds(bias)
            room = np.where(slope > 0.0, self.upper, self.lower) - beta
            with np.errstate(invalid="ignore"):
                return float((slope * room).sum(where=slope != 0.0))
        return float(self.gains(beta, gradient, bias).sum())

    def gains(self, beta: FloatArray, gradient: FloatArray, bias: float | FloatArray) -> FloatArray:
        """The terms of `gap`: what each coordinate could still gain by itself."""
        ridge = 0.0 if self.ridge is None else self.ridge
        slope = gradient + ridge * beta - self.thresholds(bias)
        reach = np.sign(slope) * np.maximum(np.abs(slope) - self.kink, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            best = np.clip(np.where(reach == 0.0, 0.0, reach / ridge), self.lower, self.upper)
            gains = slope * (best - beta)
            if self.ridge is not None:
                gains -= 0.5 * ridge * (best * best - beta * beta)
        return gains - self.kink * (np.abs(best) - np.abs(beta)) if self.kink else gains

    def relative_gap(self, beta: FloatArray, gradient: FloatArray, bias: float | FloatArray, dual: float) -> float:
        """The gap as a fraction of the primal value, or of 1."""
        return relative_gap(dual + self.gap(beta, gradient, bias), dual)

    def middle(self, highest: float | FloatArray, lowest: float | FloatArray) -> float | FloatArray:
        """A bias, or two, between the extremes."""
        if not self.has_equality:
            return 0.0
        if self.groups is None:
            return _between(cast(float, highest), cast(float, lowest))
        return np.array(
            [_between(*ends) for ends in zip(cast(FloatArray, highest), cast(FloatArray, lowest), strict=True)]
        )

    def thresholds(
        self, bias: float | FloatArray, at: slice | IndexArray | BoolArray = slice(None)
    ) -> float | FloatArray:
        """The bias of each coordinate: one number, or that of its group."""
        return bias if self.groups is None else np.broadcast_to(bias, 2)[self.groups[at]]

    def bias(self, beta: FloatArray, gradient: FloatArray) -> float | FloatArray:
        """b such that free points have g = b: their mean, or the middle of the allowed interval.

        Two groups have one each.
        """
        if not self.has_equality:
            return 0.0
        beta = self._put_at_bounds(beta)
        values = gradient - self.kink * np.sign(beta) if self.kink else gradient
        free, members = self.is_free(beta), self.members
        if all(free[m].any() for m in members):
            found = [float(values[m][free[m]].mean()) for m in members]
        else:
            ends = np.broadcast_arrays(*self.extremes(beta, gradient))
            found = [
                float(values[m][free[m]].mean()) if free[m].any() else _between(*(np.ravel(end)[k] for end in ends))
                for k, m in enumerate(members)
            ]
        return found[0] if self.groups is None else np.array(found)

    def best_constant(self, gradient: FloatArray) -> float | FloatArray:
        """The bias of a fit stopped before its first step: of the more frequent class, or the median target."""
        nothing = np.zeros(len(self))
        if not self.has_equality or self.groups is not None or self.violation(nothing, gradient) == 0.0:
            return self.bias(nothing, gradient)
        weights = self.upper - self.lower if self.ridge is None else 1.0 / self.ridge
        if not np.all(weights < UNBOUNDED):
            weights = np.ones_like(gradient)
        order = np.argsort(gradient, kind="stable")
        below = np.cumsum(weights[order])
        middle = [np.searchsorted(below, 0.5 * below[-1], side) for side in ("left", "right")]
        return float(np.mean(gradient[order[np.minimum(middle, len(order) - 1)]]))

    def _put_at_bounds(self, beta: FloatArray) -> FloatArray:
        """`beta` with coefficients that only rounding keeps from a bound, or from a kink, put there.

        If treated as free, a single such point would determine the bias where a whole interval is allowed.
        """
        free = np.flatnonzero(self.is_free(beta))
        own, lower, upper = beta[free], self.lower[free], self.upper[free]
        slack = AT_BOUND * np.minimum(upper - lower, np.abs(beta).max(initial=0.0))
        put = np.where(own - lower <= slack, lower, np.where(upper - own <= slack, upper, own))
        if self.kink:
            put = np.where(np.abs(put) <= slack, 0.0, put)
        if np.array_equal(put, own):
            return beta
        beta = beta.copy()
        beta[free] = put
        return beta

    def beginning(self, start: FloatArray | None = None) -> FloatArray:
        """A feasible point: near `start`, or zero, or if that is not feasible, the first
        coordinates of largest p at their bound."""
        if start is not None:
            return self.feasible(start)
        if not self.has_total:
            return np.zeros(len(self))
        return self.filled(self.linear)

    def filled(self, preference: FloatArray) -> FloatArray:
        """The point with the right sums whose coordinates are at the upper bound, or for a negative
        sum at the lower one, in the order of `preference`."""
        beta = np.zeros(len(self))
        for mask, total in zip(self.members, np.atleast_1d(self.total), strict=True):
            places = np.arange(len(self))[mask]
            reach = self.upper[places] if total > 0 else -self.lower[places]
            order = np.argsort(-preference[places] if total > 0 else preference[places], kind="stable")
            amounts, slack = _shared_out(abs(total), reach[order]), SUM_ROUNDING * abs(total)
            # Within rounding of a bound counts as at the bound: otherwise it would count as free.
            amounts = np.where(reach[order] - amounts <= slack, reach[order], np.where(amounts <= slack, 0.0, amounts))
            beta[places[order]] = np.sign(total) * amounts
        return beta

    def topped_up(self, beta: FloatArray, preference: FloatArray) -> FloatArray:
        """`beta` with the right sums but for rounding: what a sum lacks is added in the order of `preference`, as far
        as each coordinate allows, and any excess is removed in the reverse order."""
        beta = self._in_box(beta)
        for mask, excess in zip(self.members, self.excess(beta), strict=True):
            places = np.arange(len(self))[mask]
            sign = -1.0 if excess > 0 else 1.0
            order = places[np.argsort(-sign * preference[places], kind="stable")]
            room = (self.upper if excess < 0 else self.lower)[order] - beta[order]
            beta[order] += sign * _shared_out(abs(excess), np.abs(room))
        return beta

    def feasible(self, beta: FloatArray) -> FloatArray:
        """A starting point near `beta`, in the box and with the right sum if it has one."""
        beta = self._in_box(beta)
        if not self.has_equality:
            return beta
        if self.has_total:
            if not np.abs(self.excess(beta)).max() <= SUM_ROUNDING * np.abs(self.total).max():
                for mask, total in zip(self.members, np.atleast_1d(self.total), strict=True):
                    beta[mask] = nearest_with_sum(beta[mask], self.lower[mask], self.upper[mask], float(total))
            return self.balanced(beta)
        excess = beta.sum()
        side = beta > 0 if excess > 0 else beta < 0
        total = np.abs(beta[side]).sum()
        if abs(excess) <= SUM_ROUNDING * total:
            return self.balanced(beta)  # coordinates at a bound stay there
        if total > 0:
            beta[side] *= 1.0 - abs(excess) / total
        return beta

    def _in_box(self, beta: FloatArray) -> FloatArray:
        """The nearest point of the box; `np.clip` takes three times as long for a few hundred coordinates."""
        return np.minimum(np.maximum(beta, self.lower), self.upper)

    def excess(self, beta: FloatArray) -> FloatArray:
        """By how much each fixed sum is missed."""
        return np.array([float(beta[m].sum()) for m in self.members]) - np.atleast_1d(self.total)

    def balanced(self, beta: FloatArray) -> FloatArray:
        """`beta` without rounding errors in its sums: one coordinate of each absorbs them, if there is room."""
        if not self.has_equality or len(beta) == 0:
            return beta
        missed = self.excess(beta)
        if not missed.any():
            return beta
        room = np.minimum(beta - self.lower, self.upper - beta)
        if self.kink:
            room = np.minimum(room, np.abs(beta))
        places = np.arange(len(beta))
        for mask, excess in zip(self.members, missed, strict=True):
            own = places[mask]
            place = own[np.argmax(room[own])] if len(own) else 0
            if excess and room[place] > 2.0 * abs(excess):
                beta[place] -= excess
        return beta


def _shared_out(amount: float, room: FloatArray) -> FloatArray:
    """How much of `amount` each coordinate takes if the first take as much as they have room for."""
    # None takes more than the whole, and sums of infinite rooms would have no difference.
    most = np.minimum(room, amount)
    return np.minimum(np.maximum(amount - (np.cumsum(most) - most), 0.0), room)


def _between(highest: float, lowest: float) -> float:
    """The middle of two ends, or the one that is finite, or 0."""
    if np.isfinite(highest) and np.isfinite(lowest):
        return 0.5 * (float(highest) + float(lowest))
    return float(highest) if np.isfinite(highest) else (float(lowest) if np.isfinite(lowest) else 0.0)
