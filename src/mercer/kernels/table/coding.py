"""One column of a table as numbers on a common scale: how it is measured, and what it then makes of values.

Every way has mean 0 and, over all its numbers together, variance 1 on the training rows, so that columns of any kind
can stand side by side in one distance. What says nothing (a missing value where training had none, a label that
training has not seen) is 0: the middle.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from mercer._errors import ParameterError
from mercer._types import BoolArray, FloatArray

if TYPE_CHECKING:
    from mercer.kernels.table.column import Column

# In days, as dates are counted; a week began on a Thursday then, which no difference shows.
PERIODS = {"day": 1.0, "week": 7.0, "year": 365.2425}
WAYS = ("number", "log", "rank", "category", *PERIODS)
# Labels of a smaller share of the rows, or of a single row, are rare: they are one label.
RARE_SHARE, RARE_ROWS = 0.005, 2.0
# Most labels that a column keeps apart.
MOST_LABELS = 100
# Most points at which the ranks of a column are kept.
MOST_KNOTS = 200
NO_VALUE, OTHERS = "no value", "others"


@dataclass(frozen=True)
class Coding:
    """What was measured of a column on the training rows, for one way to read it.

    Parameters
    ----------
    way : one of WAYS
    place, scale : float
        What is subtracted from a number, and what it is divided by; of "log", before the logarithm.
    mean, deviation : float
        The same after the logarithm or the ranks.
    knots, heights : tuple of float
        Of "rank": values, and the normal scores of their ranks.
    labels, shares : tuple
        Of "category": the labels kept apart, and the share of the rows that has each; the last two shares are those
        of rare labels and of rows without a value, 0 where that makes no label of its own.
    gap : float
        The share of rows without a value, of ways that read numbers; 1 where no row has one, and all values are new.
    """

    way: str
    place: float = 0.0
    scale: float = 1.0
    mean: float = 0.0
    deviation: float = 1.0
    knots: tuple = ()
    heights: tuple = ()
    labels: tuple = ()
    shares: tuple = ()
    gap: float = 0.0

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise ParameterError(f"way must be one of {', '.join(WAYS)}, got {self.way!r}")
        numbers = (
            self.place,
            self.scale,
            self.mean,
            self.deviation,
            *self.knots,
            *self.heights,
            *self.shares,
            self.gap,
        )
        if not all(isinstance(each, int | float) and math.isfinite(each) for each in numbers):
            raise ParameterError(f"a coding must hold finite numbers, got {self!r:.200}")
        if not (self.scale > 0 and self.deviation > 0 and 0 <= self.gap <= 1):
            raise ParameterError(f"a coding must have positive scales, got {self!r:.200}")
        if len(self.knots) != len(self.heights) or (self.way == "category") != bool(self.shares):
            raise ParameterError(
                f"a coding must have a height for each knot and a share for each label, got {self!r:.200}"
            )
        if not all(isinstance(label, str | bool | int | float) for label in self.labels):
            raise ParameterError(f"labels must be texts, numbers or booleans, got {self.labels!r:.200}")
        if self.shares and (
            len(self.shares) != len(self.labels) + 2 or not all(0 <= each <= 1 for each in self.shares)
        ):
            raise ParameterError(f"a coding must have a share for each label, from 0 to 1, got {self!r:.200}")

    @property
    def parts(self) -> list[str]:
        """What each of its numbers stands for, in words that go after the column's name."""
        if self.way == "category":
            every = [*map(str, self.labels), OTHERS, NO_VALUE]
            return [each for each, share in zip(every, self.shares, strict=True) if share > 0]
        own = [f"{self.way}, {axis}" for axis in ("cos", "sin")] if self.way in PERIODS else [""]
        return [*own, NO_VALUE] if self.has_gap else own

    @property
    def has_gap(self) -> bool:
        """Whether some training rows had a value and others had none, so that a number of its own says which."""
        return 0.0 < self.gap < 1.0

    def numbers_of(self, column: "Column") -> FloatArray:
        """The numbers of a column's rows, of shape (n, len(parts))."""
        if self.way == "category":
            return self._indicators(column)
        if self.gap == 1.0:
            return np.zeros((len(column), len(self.parts)))
        missing = column.missing
        values = np.zeros(len(column))
        values[~missing] = column.numbers(~missing)
        if self.way in PERIODS:
            angle = 2.0 * math.pi * np.remainder(values / PERIODS[self.way], 1.0)
            own = np.column_stack([np.cos(angle), np.sin(angle)])
        else:
            own = ((self._bent(values) - self.mean) / self.deviation)[:, None]
        own[missing] = 0.0
        if not self.has_gap:
            return own
        return np.column_stack([own, (missing - self.gap) / math.sqrt(self.gap * (1.0 - self.gap))])

    def _bent(self, values: FloatArray) -> FloatArray:
        if self.way == "rank":
            return np.interp(values, self.knots, self.heights)
        moved = (values - self.place) / self.scale
        return np.arcsinh(moved) if self.way == "log" else moved

    def _indicators(self, column: "Column") -> FloatArray:
        shares = np.array(self.shares)
        places = _places(column, self.labels)
        marks = np.zeros((len(column), len(shares)))
        known = places >= 0
        marks[np.flatnonzero(known), places[known]] = 1.0
        rare = ~known & ~column.missing
        spread = math.sqrt(float((shares * (1.0 - shares)).sum())) or 1.0
        numbers = (marks - shares) / spread
        for rows, place in ((rare, -2), (column.missing, -1)):
            numbers[rows] = (
                ((np.arange(len(shares)) == len(shares) + place) - shares) / spread if shares[place] else 0.0
            )
        return numbers[:, shares > 0]


def measured(way: str, column: "Column", weights: FloatArray | None = None) -> Coding:
    """The coding of a column, measured on its rows; `weights` count them."""
    weights = np.ones(len(column)) if weights is None else np.asarray(weights, dtype=np.float64)
    if way == "category":
        return _of_labels(column, weights)
    present = ~column.missing & (weights > 0)
    values, own = column.numbers(present), weights[present]
    if len(values) == 0:
        return Coding(way, gap=1.0)
    # Not by what the others leave of the whole, which rounding may leave where no row of any weight is missing.
    lost = float(weights[column.missing & (weights > 0)].sum())
    gap = lost / (float(own.sum()) + lost)
    gap = gap if gap < 1.0 else 0.0
    return _MEASURES.get(way, _of_period)(way, values, own, gap)


def _moments(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """(mean, deviation), the latter 1 where nothing varies."""
    mean = float(np.average(values, weights=weights))
    deviation = math.sqrt(float(np.average((values - mean) ** 2, weights=weights)))
    # The deviation of equal values is rounding, not quite zero.
    return mean, deviation if deviation > 1e-12 * max(1e-300, float(np.abs(values).max())) else 1.0


def _of_number(way: str, values: FloatArray, weights: FloatArray, gap: float) -> Coding:
    place, scale = _moments(values, weights)
    return Coding(way, place, scale, gap=gap)


def _of_logarithm(way: str, values: FloatArray, weights: FloatArray, gap: float) -> Coding:
    knots, ranks = _ranked(values, weights)
    low, place, high = np.interp([0.25, 0.5, 0.75], ranks, knots)
    scale = 0.5 * (high - low) or _moments(values, weights)[1]
    mean, deviation = _moments(np.arcsinh((values - place) / scale), weights)
    return Coding(way, float(place), float(scale), mean, deviation, gap=gap)


def _ranked(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(distinct values in order, the middle of the ranks of each, between 0 and 1)."""
    knots, inverse = np.unique(values, return_inverse=True)
    total = np.bincount(inverse, weights)
    return knots, (np.cumsum(total) - 0.5 * total) / total.sum()


def _of_ranks(way: str, values: FloatArray, weights: FloatArray, gap: float) -> Coding:
    knots, ranks = _ranked(values, weights)
    if len(knots) > MOST_KNOTS:
        kept = np.unique(np.searchsorted(ranks, np.linspace(0.0, 1.0, MOST_KNOTS)).clip(max=len(knots) - 1))
        knots, ranks = knots[kept], ranks[kept]
    heights = ndtri(ranks)
    mean, deviation = _moments(np.interp(values, knots, heights), weights)
    return Coding(
        way, mean=mean, deviation=deviation, knots=tuple(knots.tolist()), heights=tuple(heights.tolist()), gap=gap
    )


def _of_period(way: str, _values: FloatArray, _weights: FloatArray, gap: float) -> Coding:
    return Coding(way, gap=gap)


_MEASURES: dict[str, Callable[[str, FloatArray, FloatArray, float], Coding]] = {
    "number": _of_number,
    "log": _of_logarithm,
    "rank": _of_ranks,
}


def _of_labels(column: "Column", weights: FloatArray) -> Coding:
    labels, places = _distinct(column, ~column.missing)
    counts = np.bincount(places[places >= 0], weights[places >= 0], minlength=len(labels))
    gone = float(weights[column.missing].sum())
    # In another order, weights of very different sizes may add up to less than those of one label.
    total = float(counts.sum()) + gone
    least = max(RARE_ROWS, RARE_SHARE * total)
    frequent = np.flatnonzero(counts >= least)
    # In an order of their own, whatever that of the rows.
    frequent = np.array(sorted(frequent, key=lambda k: (-counts[k], str(labels[k]))), dtype=np.intp)
    kept = np.array(sorted(frequent[:MOST_LABELS], key=lambda k: str(labels[k])), dtype=np.intp)
    shares = counts[kept] / total
    rest = total - gone - float(counts[kept].sum())
    # What is left over is a label of its own where it is no rarer than the others.
    ends = [count / total if count >= least and count < total else 0.0 for count in (rest, gone)]
    return Coding("category", labels=tuple(labels[k] for k in kept), shares=(*shares.tolist(), *ends))


def _distinct(column: "Column", present: BoolArray) -> tuple[list[Any], Any]:
    """(the labels of a column in the order of first sight, the place of each row's label, -1 where there is none)."""
    found: dict[Any, int] = {}
    places = np.full(len(column), -1)
    places[present] = [found.setdefault(label, len(found)) for label in _labels(column, present)]
    return list(found), places


def _places(column: "Column", labels: tuple[Any, ...]) -> Any:
    """The place of each row's label among `labels`, -1 where it is none of them."""
    known = {label: place for place, label in enumerate(labels)}
    present = ~column.missing
    places = np.full(len(column), -1)
    places[present] = [known.get(label, -1) for label in _labels(column, present)]
    return places


def _labels(column: "Column", present: BoolArray) -> list[Any]:
    if isinstance(column.values, np.ndarray) and column.kind == "number":
        # The same label, whichever type of number a file or a frame has it in.
        return column.values[present].tolist()
    return [label if isinstance(label, str | bool | int | float) else str(label) for label in column.items(present)]
