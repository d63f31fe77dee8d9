"""The requests made to a block in one pass over all of them, and the sums it answers with.

A pass serves several machines at once: the features of a block are read, or computed, once. Values take one matrix
product, the responses of the rows come from `mercer.solvers.blocks.responses`, and the Hessian from the rows whose
response varies, which for the hinge are few.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import iadd
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._jit.scratch import scratch
from mercer._types import Array, FloatArray, IndexArray
from mercer.problems.linear.block_machine import RowLosses
from mercer.solvers.blocks.responses import Losses, Responses
from mercer.solvers.blocks.row_sums import row_dots, row_sums, scaled_rows
from mercer.solvers.blocks.triangle import matrix_of, triangle_of

# Fractions of a step at which the slope is evaluated, in case the full step is too long.
PARTS = np.array([0.003, 0.01, 0.03, 0.1, 0.25, 0.5])
# Rows of a block multiplied at a time.
CHUNK = 4096


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
    curvature : float32, float64 or None
        The precision in which the Hessian is added up, if it is requested.
    is_later : bool
        Whether the Hessian is to be had later (`Curvature`): each block then tells the slopes of its rows' responses.
    """

    at: Place
    step: tuple[FloatArray, float] | None = None
    moved: Place | None = None
    narrower: float | None = None
    curvature: DTypeLike | None = np.float64
    is_later: bool = False


@dataclass(frozen=True)
class Curvature:
    """The Hessian in a precision, from the slopes that an evaluation told: only rows that move are read."""

    dtype: DTypeLike


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
class Prove:
    """What a certificate needs at a point: f of every row without the bias, its response, and the sums of rows."""

    at: Place


@dataclass(frozen=True)
class Take:
    """A selection of the rows (`own` says which)."""


@dataclass(frozen=True)
class Asked:
    """A machine's constant feature, its kind of bias, and its current request."""

    constant: float
    is_free: bool
    what: Evaluate | Curvature | Slopes | Multiply | Prove | Take


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
        Symmetric, in the precision asked for: its sums are what takes long.
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

    def __getstate__(self) -> dict[str, Any]:
        # The matrix dominates what goes from one process to another.
        return {**vars(self), "H": None if self.H is None else triangle_of(self.H)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        triangle = state["H"]
        vars(self).update(state, H=None if triangle is None else matrix_of(triangle))

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
    told : sequence of centres, slopes or places
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
    losses, moved_to = _losses(asked, rows, centre), None
    if what.moved is not None:
        moved_to = losses.respond(columns[-1] + what.moved.b, what.moved.width).beta
        losses = losses.around(moved_to)
    values = columns[0] + what.at.b
    found = [losses.respond(values, what.at.width)]
    slopes: FloatArray = np.zeros(len(PARTS))
    if what.step is not None:
        direction = columns[1] + what.step[1]
        slopes = losses.slopes(values - direction, direction, what.at.width, PARTS)
    if what.narrower is not None:
        found.append(losses.around(found[0].beta).respond(values, what.narrower))
    sums = combinations(features, [side for each in found for side in each.sides])
    now, *after = [
        _response(each, sums[2 * k : 2 * k + 2], _curvature(features, each.slope, asked))
        for k, each in enumerate(found)
    ]
    told = np.stack([each.slope for each in found]) if what.is_later else None
    return Evaluation(found[0].loss, slopes, now, after[0] if after else None), (moved_to, told)


def _curvature(features: Any, slope: FloatArray, asked: Asked) -> Array | None:
    what: Any = asked.what
    return None if what.curvature is None else gram(features, slope, asked.constant, what.curvature)


def _losses(asked: Asked, rows: RowLosses, centre: FloatArray | None) -> Losses:
    return Losses.of(rows, asked.constant, asked.is_free, centre)


def _response(each: Responses, sums: FloatArray, H: Array | None) -> Response:
    return Response(
        sums[0], sums[1], each.balance, each.gain, each.square, each.envelope, each.distance, each.moving, each.idle, H
    )


def _later_curvature(features: Any, asked: Asked, _rows: RowLosses, slope: FloatArray) -> tuple[Array, None]:
    what: Any = asked.what
    return gram(features, slope, asked.constant, what.dtype), None


def _slopes(features: Any, asked: Asked, rows: RowLosses, centre: FloatArray | None) -> tuple[FloatArray, None]:
    what: Any = asked.what
    values, along = products(features, [what.at.v, what.step[0]])
    direction = along + what.step[1]
    return _losses(asked, rows, centre).slopes(values + what.at.b, direction, what.at.width, what.parts), None


def _multiply(features: Any, asked: Asked, rows: RowLosses, centre: FloatArray | None) -> tuple[FloatArray, Any]:
    what: Any = asked.what
    values, along = products(features, [what.at.v, what.vector[:-1]])
    slope = _losses(asked, rows, centre).respond(values + what.at.b, what.at.width).slope
    pull = slope * (along + asked.constant * what.vector[-1])
    return np.append(combination(features, pull), asked.constant * pull.sum()), None


def _prove(features: Any, asked: Asked, rows: RowLosses, centre: FloatArray | None) -> tuple[FloatArray, Any]:
    what: Any = asked.what
    values = products(features, [what.at.v])[0]
    found = _losses(asked, rows, centre).respond(values + what.at.b, what.at.width)
    return np.column_stack([combinations(features, list(found.sides)), found.balance]), (values, found.beta)


def _take(features: Any, _asked: Asked, _rows: RowLosses, places: IndexArray) -> tuple[None, Any]:
    return None, features[places]


_ANSWERS: dict[type, Any] = {
    Evaluate: _evaluate,
    Curvature: _later_curvature,
    Slopes: _slopes,
    Multiply: _multiply,
    Prove: _prove,
    Take: _take,
}


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


def gram(features: Any, slope: FloatArray, constant: float, dtype: DTypeLike) -> Array:
    """Z' S Z for the features with the constant appended, from the rows of a slope alone, in a precision."""
    m = features.shape[1]
    chosen = np.flatnonzero(slope)
    roots = np.sqrt(slope[chosen]).astype(dtype)
    # Zeros would be written, and read, for nothing.
    is_empty = len(chosen) == 0 or sparse.issparse(features)
    H = (np.zeros if is_empty else np.empty)((m + 1, m + 1), dtype)
    for begin in range(0, len(chosen), CHUNK):
        places, root = chosen[begin : begin + CHUNK], roots[begin : begin + CHUNK]
        if sparse.issparse(features):
            part = sparse.diags(root) @ features[places].astype(dtype)
            H[:m, :m] += (part.T @ part).toarray()
            H[m, :m] += constant * combination(part, root)
            H[m, m] += constant**2 * float(slope[places].sum())
            H[:m, m] = H[m, :m]
            continue
        # In reused memory: where malloc returns pages at once, as in Dask's workers, page faults take a third of the
        # time.
        part = scratch("rows that move", (len(places), m + 1), dtype)
        scaled_rows(features, places, root, constant, part)
        if begin == 0:
            np.matmul(part.T, part, out=H)
        else:
            H += np.matmul(part.T, part, out=scratch("their products", H.shape, dtype))
    return H
