"""The requests made to a block in one pass over all of them, and the sums it answers with.

A pass serves several machines at once: the features of a block are read, or computed, once. Values take one matrix
product, the responses of the rows come from the compiled loops of `mercer.solvers.linear.loss_loops`, and the Hessian
from the rows whose response varies, which for the hinge are few.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import iadd
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy import sparse

from mercer._jit.scratch import scratch
from mercer._types import Array, FloatArray, IndexArray
from mercer.problems.linear.block_machine import RowLosses
from mercer.problems.linear.dual import LinearDual
from mercer.solvers.blocks.row_sums import row_dots, row_sums
from mercer.solvers.linear.loss_loops import RoundedLosses, respond, slope_along
from mercer.solvers.linear.small_newton import weights_of_rounding

# Fractions of a step at which the slope is evaluated, in case the full step is too long.
PARTS = np.array([0.003, 0.01, 0.03, 0.1, 0.25, 0.5])
# Rows of a block multiplied at a time.
CHUNK = 4096


# The positive and the negative coefficients of the rows, each padded with zeros.
Sides: TypeAlias = tuple[FloatArray, FloatArray]


class Place(NamedTuple):
    """A point (v, b), and the width over which the losses are rounded there, relative to the range of the box."""

    v: np.ndarray
    b: float
    width: float


@dataclass(frozen=True)
class Evaluate:
    """A request for both objectives, the gradient and the Hessian at a point.

    Attributes
    ----------
    at : Place
    step : (dv, db) or None
        The step that led there, along which slopes are requested.
    moved : Place or None
        The point whose responses become the centres of rounding.
    narrower : float or None
        The next width, if the responses here became the centres: the responses under it are requested too,
        which saves a pass.
    curvature : bool
        Whether the Hessian is requested.
    """

    at: Place
    step: tuple[FloatArray, float] | None = None
    moved: Place | None = None
    narrower: float | None = None
    curvature: bool = True


@dataclass(frozen=True)
class Slopes:
    """The slope of the rounded losses at fractions of a step."""

    at: Place
    step: tuple[FloatArray, float]
    parts: FloatArray


@dataclass(frozen=True)
class Multiply:
    """The Hessian at a point times a vector (whose last entry belongs to the constant)."""

    at: Place
    vector: FloatArray


@dataclass(frozen=True)
class Dots:
    """f of every row, without the bias."""

    v: FloatArray


@dataclass(frozen=True)
class Combine:
    """The sum of rows weighted by their coefficients (in `own`), and f of every row without the bias."""

    v: FloatArray


@dataclass(frozen=True)
class Take:
    """A selection of the rows (`own` says which)."""


@dataclass(frozen=True)
class Asked:
    """A machine's constant feature, its kind of bias, and its current request."""

    constant: float
    is_free: bool
    what: Evaluate | Slopes | Multiply | Dots | Combine | Take | None


@dataclass
class Response:
    """The responses of the rows at a point.

    Attributes
    ----------
    up, down : ndarray (m,)
        Sums of beta_i phi_i over positive and over negative coefficients.
    balance, gain, square : ndarray (2,)
        Sums of beta_i, of its dual gain (p beta - epsilon |beta|), and of R beta^2 / 2, split in the same way.
    envelope, distance : float
        The rounded losses, and the size of the proximal term.
    moving, idle : int
        Rows whose response moves, and rows without any.
    H : ndarray (m + 1, m + 1) or None
        In the precision of the features: its sums are what takes long.
    """

    up: FloatArray
    down: FloatArray
    balance: FloatArray
    gain: FloatArray
    square: FloatArray
    envelope: float
    distance: float
    moving: int
    idle: int
    H: Array | None

    def __add__(self, other: Self) -> "Response":
        return Response(
            self.up + other.up,
            self.down + other.down,
            self.balance + other.balance,
            self.gain + other.gain,
            self.square + other.square,
            self.envelope + other.envelope,
            self.distance + other.distance,
            self.moving + other.moving,
            self.idle + other.idle,
            None if self.H is None or other.H is None else self.H + other.H,
        )

    def __iadd__(self, other: Self) -> "Response":
        # The matrix dominates the memory.
        H, self.H = self.H, None
        total = self + other
        if H is not None and other.H is not None:
            H += other.H
            total.H = H
        return total


@dataclass
class Evaluation:
    """The answer to `Evaluate`: the exact loss, slopes along the step, and the responses (now, and after moving)."""

    loss: float
    slopes: FloatArray
    now: Response
    after: Response | None

    def __add__(self, other: Self) -> "Evaluation":
        after = None if self.after is None or other.after is None else self.after + other.after
        return Evaluation(self.loss + other.loss, self.slopes + other.slopes, self.now + other.now, after)

    def __iadd__(self, other: Self) -> Self:
        self.loss, self.slopes = self.loss + other.loss, self.slopes + other.slopes
        self.now += other.now
        if self.after is None or other.after is None:
            self.after = None
        else:
            self.after += other.after
        return self


class Answers(list[Any]):
    """One answer per machine; addition is machine by machine."""

    def __add__(self, other: "Answers") -> "Answers":  # type: ignore[override]
        return Answers(None if a is None else a + b for a, b in zip(self, other, strict=True))

    def __iadd__(self, other: "Answers") -> "Answers":  # type: ignore[override]
        return Answers(None if a is None else iadd(a, b) for a, b in zip(self, other, strict=True))


def answer(
    features: Any, asked: dict[int, Asked], rows: Sequence[RowLosses | None], told: Sequence[Any]
) -> tuple[Answers, list[Any]]:
    """The answer of a block to some machines: (sums, data of its own rows).

    Parameters
    ----------
    features : ndarray or CSR matrix (n, m)
    asked : {machine: Asked}
    rows : sequence of RowLosses
        For each machine, whether it asks or not.
    told : sequence of centres, coefficients or places
        For each machine that asks.
    """
    sums, kept = Answers(), []
    for (machine, each), extra in zip(asked.items(), told, strict=True):
        total, mine = _ANSWERS[type(each.what)](features, each, rows[machine], extra)
        sums.append(total)
        kept.append(mine)
    return sums, kept


def _evaluate(features: Any, asked: Asked, rows: RowLosses, centre: FloatArray | None) -> tuple[Evaluation, Any]:
    what: Any = asked.what
    vectors = [what.at.v] + ([] if what.step is None else [what.step[0]])
    vectors += [] if what.moved is None else [what.moved.v]
    columns = products(features, vectors)
    losses, moved_to = Losses(rows, asked, centre), None
    if what.moved is not None:
        before, _, _ = losses.respond(columns[-1] + what.moved.b, what.moved.width)
        losses, moved_to = Losses(rows, asked, before), before
    values = columns[0] + what.at.b
    beta, slope, distance = losses.respond(values, what.at.width)
    slopes: FloatArray = np.zeros(len(PARTS))
    if what.step is not None:
        direction = columns[1] + what.step[1]
        slopes = losses.slopes(values - direction, direction, what.at.width, PARTS)
    responses = [losses.response(features, values, beta, slope, distance, what.curvature)]
    if what.narrower is not None:
        moved = Losses(rows, asked, beta)
        responses.append(moved.response(features, values, *moved.respond(values, what.narrower), what.curvature))
    now, *after = _summed(features, responses)
    return Evaluation(rows.risk(values), slopes, now, after[0] if after else None), moved_to


def _summed(features: Any, responses: "list[tuple[Response, Sides]]") -> list[Response]:
    """The responses with their sums of rows, for which the features are gone through once."""
    sums = combinations(features, [side for _, sides in responses for side in sides])
    for k, (response, _) in enumerate(responses):
        response.up, response.down = sums[2 * k], sums[2 * k + 1]
    return [response for response, _ in responses]


def _slopes(features: Any, asked: Asked, rows: RowLosses, centre: FloatArray | None) -> tuple[FloatArray, None]:
    what: Any = asked.what
    values, along = products(features, [what.at.v, what.step[0]])
    direction = along + what.step[1]
    return Losses(rows, asked, centre).slopes(values + what.at.b, direction, what.at.width, what.parts), None


def _multiply(features: Any, asked: Asked, rows: RowLosses, centre: FloatArray | None) -> tuple[FloatArray, Any]:
    what: Any = asked.what
    values, along = products(features, [what.at.v, what.vector[:-1]])
    _, slope, _ = Losses(rows, asked, centre).respond(values + what.at.b, what.at.width)
    pull = slope * (along + asked.constant * what.vector[-1])
    return np.append(combination(features, pull), asked.constant * pull.sum()), None


def _dots(features: Any, asked: Asked, _rows: RowLosses, _extra: Any) -> tuple[None, FloatArray]:
    what: Any = asked.what
    return None, products(features, [what.v])[0]


def _combine(features: Any, asked: Asked, _rows: RowLosses, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    what: Any = asked.what
    return combination(features, beta), products(features, [what.v])[0]


def _take(features: Any, _asked: Asked, _rows: RowLosses, places: IndexArray) -> tuple[None, Any]:
    return None, features[places]


_ANSWERS: dict[type, Any] = {
    Evaluate: _evaluate,
    Slopes: _slopes,
    Multiply: _multiply,
    Dots: _dots,
    Combine: _combine,
    Take: _take,
}


class Losses:
    """The rounded losses of a block's rows, and their responses."""

    def __init__(self, rows: RowLosses, asked: Asked, centre: FloatArray | None) -> None:
        self.rows, self.asked, self.centre = rows, asked, centre
        self.dual: LinearDual = rows.dual(asked.constant, asked.is_free)

    def rounded(self, width: float) -> RoundedLosses:
        """Arguments of the compiled loops; smooth losses, and those with a ridge, are not rounded."""
        dual, centre = self.dual, np.zeros(len(self.dual)) if self.centre is None else self.centre
        inverse = weights_of_rounding(dual, width)
        return RoundedLosses(dual.linear, dual.lower, dual.upper, dual.ridge, dual.epsilon, inverse, centre)

    def respond(self, values: FloatArray, width: float) -> tuple[FloatArray, FloatArray, float]:
        """(coefficients, their slopes, the size of the proximal term)."""
        if self.rows.is_smooth:
            return *self.rows.smooth_response(values), 0.0
        beta, change, slope = np.zeros(len(values)), np.empty(len(values)), np.empty(len(values))
        _, distance = respond(values, self.rounded(width), beta, change, slope)
        slope[self.dual.reach == 0.0] = 0.0
        return beta, slope, float(distance)

    def slopes(self, values: FloatArray, direction: FloatArray, width: float, parts: FloatArray) -> FloatArray:
        """The derivative of the rounded losses at fractions of a step."""
        if self.rows.is_smooth:
            return np.array([-(self.rows.smooth_response(values + t * direction)[0] @ direction) for t in parts])
        losses = self.rounded(width)
        return np.array([slope_along(t, values, direction, losses)[0] for t in parts])

    def response(
        self, features: Any, values: FloatArray, beta: FloatArray, slope: FloatArray, distance: float, curvature: bool
    ) -> tuple[Response, Sides]:
        """Everything that is summed over rows except the sums of rows, and the coefficients those need."""
        rises = beta > 0.0
        sides = np.where(rises, beta, 0.0), np.where(rises, 0.0, beta)
        gain, square = self._separable(beta, rises)
        envelope = float((gain - square).sum() - beta @ values) - 0.5 * distance
        H = gram(features, slope, self.asked.constant) if curvature else None
        balance, nothing = np.array([side.sum() for side in sides]), np.zeros(0)
        moving, idle = np.count_nonzero(slope), len(beta) - np.count_nonzero(beta)
        return (
            Response(nothing, nothing, balance, gain, square, envelope, distance, int(moving), int(idle), H),
            sides,
        )

    def _separable(self, beta: FloatArray, rises: Array) -> tuple[FloatArray, FloatArray]:
        if self.rows.is_smooth:
            each = self.rows.separable(beta)
            return np.array([each[rises].sum(), each[~rises].sum()]), np.zeros(2)
        dual = self.dual
        gains = dual.linear * beta - dual.epsilon * np.abs(beta)
        squares = 0.5 * dual.ridge * beta**2
        return (
            np.array([gains[rises].sum(), gains[~rises].sum()]),
            np.array([squares[rises].sum(), squares[~rises].sum()]),
        )


def products(features: Any, vectors: list[FloatArray]) -> list[FloatArray]:
    """Features times each vector, in double precision or that of the features, as double."""
    if not sparse.issparse(features):
        return list(row_dots(features, np.stack(vectors)))
    columns = np.ascontiguousarray(np.stack(vectors, axis=1), dtype=features.dtype)
    return list(np.ascontiguousarray((features @ columns).T, dtype=np.float64))


def combinations(features: Any, factors: Sequence[FloatArray]) -> FloatArray:
    """The sum of rows, each times its factor, for each of some lists of factors: a row each."""
    if not sparse.issparse(features):
        return row_sums(features, np.stack(factors))
    return np.asarray((features.T @ np.stack(factors, axis=1).astype(features.dtype)).T, dtype=np.float64)


def combination(features: Any, factors: FloatArray) -> FloatArray:
    """The sum of rows, each times its factor."""
    return combinations(features, [factors])[0]


def gram(features: Any, slope: FloatArray, constant: float) -> Array:
    """Z' S Z for the features with the constant appended, from the rows of a slope alone, in their precision."""
    m = features.shape[1]
    chosen = np.flatnonzero(slope)
    # Zeros would be written, and read, for nothing.
    is_empty = len(chosen) == 0 or sparse.issparse(features)
    H = (np.zeros if is_empty else np.empty)((m + 1, m + 1), features.dtype)
    H[m] = 0.0
    for begin in range(0, len(chosen), CHUNK):
        places = chosen[begin : begin + CHUNK]
        root = np.sqrt(slope[places]).astype(features.dtype)
        if sparse.issparse(features):
            part = sparse.diags(root) @ features[places]
            H[:m, :m] += (part.T @ part).toarray()
        else:
            # In reused memory: where malloc returns pages at once, as in Dask's workers, page faults take a third of
            # the time.
            part = scratch("rows that move", (len(places), m), features.dtype)
            np.take(features, places, axis=0, out=part, mode="clip")
            part *= root[:, None]
            if begin == 0:
                np.matmul(part.T, part, out=H[:m, :m])
            else:
                H[:m, :m] += np.matmul(part.T, part, out=scratch("their products", (m, m), features.dtype))
        if constant:
            H[m, :m] += constant * combination(part, root)
            H[m, m] += constant**2 * float(slope[places].sum())
    H[:m, m] = H[m, :m]
    return H
