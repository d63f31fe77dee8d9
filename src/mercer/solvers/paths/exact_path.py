r"""The regularisation path: the solution of Soft-SVM for every C, exactly.

With weights :math:`w_i` of the points the box is :math:`0 \le \alpha_i \le C w_i`. The solution is
piecewise linear in C: on a piece, bounded points stay at :math:`C w_i` and free ones on the margin,
which are linear equations (Hastie, Rosset, Tibshirani & Zhu 2004; their lambda is 1/C and their alpha
:math:`\alpha / C`, which is piecewise linear in lambda for the same reason).

Where it begins: as C goes to 0, w does too. If both classes weigh the same, every point is bounded.
If not, every point of the lighter class is, and the heavier one shares their weight so that |w|/C is
smallest, a quadratic program of its own. Where no point is free, the bias may be anything in an
interval; it ends where two points, one of each side, close it.

Ties are events of no length, taken one after the other. Where they do not end (which takes rounding to
conspire with them), the solution a little further on is computed afresh and led on from there.

Cost of an event: see `parametric_steps`; events are some small multiple of n. Needs: the
matrix in memory in double precision; a positive semidefinite kernel.
"""

from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np

from mercer._jit.threads import one_blas_thread
from mercer._types import BoolArray, FloatArray, IndexArray
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.signed_dual import DualProblem
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.paths.parametric_events import Cycling
from mercer.solvers.paths.parametric_qp import Homotopy
from mercer.solvers.paths.parametric_state import BOUNDED, N_EVENTS, N_PIECES, N_VALUES, TIME
from mercer.solvers.result import Status, TracePoint

# Relative difference below which class weights count as equal.
SAME_WEIGHT = 1e-12
# Tolerances to which a starting problem is solved before it is made exact; the smaller ones are for starts where ties
# do not resolve.
NEARLY = (1e-6, 1e-9, 1e-11)
# Relative increase of C at which a stuck path restarts.
NUDGE = 1e-7
MOST_LEGS = 50
EVENTS = ("zero", "bounded", "free")


@dataclass(frozen=True)
class Leg:
    """Consecutive pieces of a path, as `parametric_steps.follow` logged them."""

    initial: np.ndarray
    log: np.ndarray
    begins: np.ndarray
    frees: np.ndarray
    free_values: np.ndarray
    end: float

    @classmethod
    def of(cls, homotopy: Homotopy, initial: IndexArray) -> Self:
        """The pieces logged by a homotopy that began with the sets `initial`."""
        t = homotopy.track
        pieces, events, values = t.counts[[N_PIECES, N_EVENTS, N_VALUES]]
        end = np.inf if pieces and not t.scalars[TIME] > t.begins[pieces - 1, 0] else homotopy.time
        # Views are safe: the track goes nowhere else, and nothing beyond the end was ever written.
        return cls(initial, t.log[:events], t.begins[:pieces], t.frees[:values], t.free_values[:values], end)

    def status(self, piece: int) -> IndexArray:
        """The set of every point on a piece, by the last event of each before it."""
        out = self.initial.copy()
        events = self.log[: int(self.begins[piece, 3])]
        out[events // 4] = events % 4
        return out

    def at(self, C: float, signs: FloatArray, weights: FloatArray) -> tuple[FloatArray, float]:
        """(beta, bias) at C, within this leg."""
        piece = max(0, int(np.searchsorted(self.begins[:, 0], C, side="right")) - 1)
        begin, bias, rate, _, first = self.begins[piece]
        last = self.begins[piece + 1, 4] if piece + 1 < len(self.begins) else len(self.frees)
        beta = np.where(self.status(piece) == BOUNDED, C * signs * weights, 0.0)
        chosen = slice(int(first), int(last))
        beta[self.frees[chosen]] = self.free_values[chosen, 0] + (C - begin) * self.free_values[chosen, 1]
        return beta, float(bias + (C - begin) * rate)


class PiecewisePath:
    """alpha as a piecewise linear function of C.

    Attributes
    ----------
    breakpoints : ndarray
        Every C at which a piece begins; the first is 0.
    C_end : float
        Up to where the path is known; infinite where the last piece has no end.
    status : Status
    n_events : int
    """

    def __init__(self, legs: list[Leg], signs: FloatArray, weights: FloatArray, status: Status) -> None:
        self.legs, self.signs, self.weights, self.status = legs, signs, weights, status
        self.breakpoints = np.concatenate([leg.begins[:, 0] for leg in legs])
        self.C_end = legs[-1].end
        self.n_events = sum(len(leg.log) for leg in legs)

    def at(self, C: float) -> tuple[FloatArray, float]:
        """(beta, bias) at C: signed coefficients y_i alpha_i, and b."""
        before = None
        for leg in self.legs:
            if leg.end >= C:
                if before is not None and leg.begins[0, 0] > C:
                    return self._between(before, leg, C)
                return leg.at(C, self.signs, self.weights)
            before = leg
        raise ValueError(f"the path ends at C = {self.C_end}, before {C}")

    def _between(self, left: Leg, right: Leg, C: float) -> tuple[FloatArray, float]:
        """On the chord over the stretch where the sets could not be determined."""
        begin, end = left.end, float(right.begins[0, 0])
        share = (C - begin) / (end - begin)
        ends: Any = left.at(begin, self.signs, self.weights), right.at(end, self.signs, self.weights)
        return cast(
            "tuple[FloatArray, float]", tuple((1.0 - share) * a + share * b for a, b in zip(*ends, strict=True))
        )

    def sets(self, C: float) -> IndexArray:
        """The set of every point at C: 0 for zero, 1 for bounded, 2 for free."""
        leg = next(leg for leg in self.legs if leg.end >= C)
        return leg.status(max(0, int(np.searchsorted(leg.begins[:, 0], C, side="right")) - 1))

    def events(self) -> list[tuple[float, int, str]]:
        """(C, point, what it becomes) for every event, in order."""
        out = []
        for leg in self.legs:
            times = np.append(leg.begins[:, 0], leg.end)
            pieces = np.searchsorted(leg.begins[:, 3], np.arange(len(leg.log)), side="right")
            out += [
                (float(times[min(piece, len(times) - 1)]), int(code // 4), EVENTS[code % 4])
                for piece, code in zip(pieces, leg.log, strict=True)
            ]
        return out


# BLAS threads would busy-wait for products that are too small for them.
@one_blas_thread()
def follow_path(
    matrix: StoredMatrix,
    signs: FloatArray,
    weights: FloatArray,
    bias: str = "free",
    C_max: float = np.inf,
    limits: Limits | None = None,
) -> PiecewisePath:
    """The exact path from C = 0 to `C_max`.

    Parameters
    ----------
    matrix : StoredMatrix
        In double precision; 1 is added to it for a penalised bias.
    signs, weights : ndarray (n,)
        Labels +1 and -1, and the weight of each point in the box.
    bias : {"free", "penalized", "none"}
    C_max : float
    limits : Limits, optional
        Its iterations are events.

    Returns
    -------
    PiecewisePath
    """
    limits = limits or Limits()
    values = matrix.values
    if bias == "penalized":
        values = values.copy()
        values[:, : matrix.n] += 1.0
    homotopy = _beginning(values, signs, weights, bias == "free", limits)
    legs, events = [], 0
    while True:
        initial = homotopy.track.status.copy()
        try:
            arrived = _lead(homotopy, C_max, limits, events)
            is_stuck = False
        except Cycling:
            arrived, is_stuck = False, True
        leg = Leg.of(homotopy, initial)
        legs += [leg] if len(leg.begins) else []
        events += homotopy.n_events
        if not is_stuck or len(legs) == MOST_LEGS or homotopy.time * (1.0 + NUDGE) >= C_max:
            break
        homotopy = _again(homotopy, values, signs, weights, bias, limits)
    status = Status.OPTIMAL if arrived else limits.reached() or Status.ITERATION_LIMIT
    return PiecewisePath(legs, signs, weights, Status.STALLED if is_stuck else status)


def _lead(homotopy: Homotopy, C_max: float, limits: Limits, events: int) -> bool:
    """Follow the path in slices, each shown to the callbacks."""
    while True:
        left = limits.iterations_left(events + homotopy.n_events)
        arrived = homotopy.follow(C_max, max_events=min(left, 256))
        beta, gradient = homotopy.beta, homotopy.gradient
        dual = 0.5 * float(beta @ (homotopy.track.signs + gradient))
        f = len(homotopy.free)
        limits.report(TracePoint(limits.seconds, events + homotopy.n_events, 0.0, dual, f, homotopy.n))
        if arrived:
            return True
        if limits.iterations_left(events + homotopy.n_events) <= 0 or limits.stop():
            return False


def _beginning(
    values: FloatArray, signs: FloatArray, weights: FloatArray, has_equality: bool, limits: Limits
) -> Homotopy:
    """The solution at C = 0, with the sets of the first piece."""
    excess, heavy = float(signs @ weights), signs * float(signs @ weights) > 0
    if has_equality and abs(excess) > SAME_WEIGHT * weights.sum():
        homotopy, bounded, bias = _lightest_share(values, signs, weights, heavy, limits), ~heavy, float(np.sign(excess))
    else:
        homotopy = Homotopy(values, signs, signs, weights, has_equality)
        bounded, bias = np.ones(len(signs), bool), 0.0
    homotopy.begin(bounded, signs, bias)
    homotopy.drive(weights)
    return homotopy


def _lightest_share(
    values: FloatArray, signs: FloatArray, weights: FloatArray, heavy: BoolArray, limits: Limits
) -> Homotopy:
    """How the heavier class balances the weight of the lighter one, per unit of C: exactly."""
    rates = np.where(heavy, 0.0, signs * weights)
    linear, total = -(rates @ values)[: len(signs)], -float(rates.sum())
    reach = (signs * weights)[heavy]
    problem = DualProblem(linear[heavy], np.minimum(reach, 0.0), np.maximum(reach, 0.0), total=total)
    part, scale = StoredMatrix(values).view(np.flatnonzero(heavy)), max(float(np.abs(linear[heavy]).max()), 1e-300)
    beta = np.zeros(len(signs))
    for tol in NEARLY:
        found = solve_dual(problem, part, tol=tol * scale, limits=limits.unwatched().with_max_iter(-1), convex=True)
        beta[heavy] = found.beta
        # On all rows, so that the path can go on from here.
        first = Homotopy(values, linear, signs, weights, has_equality=True, total=total)
        try:
            return first.settle(beta, limits, held=~heavy)
        except Cycling:
            continue
    raise Cycling


def _again(
    homotopy: Homotopy, values: FloatArray, signs: FloatArray, weights: FloatArray, bias: str, limits: Limits
) -> Homotopy:
    """The exact solution slightly beyond the point where a path got stuck."""
    C = homotopy.time * (1.0 + NUDGE)
    problem = SoftMargin(signs, C * weights, bias=bias if bias == "free" else "none").dual()
    start = homotopy.beta * (1.0 + NUDGE)
    found = solve_dual(problem, StoredMatrix(values), tol=NEARLY[0], limits=limits.unwatched().with_max_iter(-1),
                        convex=True, start=start)  # fmt: skip
    again = Homotopy(values, signs, signs, C * weights, bias == "free").settle(found.beta)
    again.drive(weights)
    again.track.scalars[TIME] = C
    return again
