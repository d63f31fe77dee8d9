"""Where a search that finds its own way may go: kernels along lines, each with its values of C.

A line is a family of kernels that differ in one number, such as a width; it begins with a few values and goes on
beyond its ends, or between its values, when the scores suggest it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._types import FloatArray
from mercer.selection.tuning.ties import comparable


@dataclass(frozen=True)
class Line:
    """Kernels that differ in one number.

    Attributes
    ----------
    fixed : dict
        What they have in common, as part of a setting.
    name : str or None
        The name of the number; None if the line is a single kernel.
    values : tuple of float
        The values to begin with, ascending.
    step : float
        The ratio of neighbours, or the difference of whole numbers. 0 if there are no others.
    ends : (float, float)
        Bounds beyond which nothing is tried.
    is_whole : bool
    """

    fixed: Mapping[str, Any]
    name: str | None = None
    values: tuple[float, ...] = (1.0,)
    step: float = 0.0
    ends: tuple[float, float] = (0.0, math.inf)
    is_whole: bool = False

    def setting(self, value: float) -> dict[str, Any]:
        """The part of a setting that names one of the kernels."""
        number = int(value) if self.is_whole else value
        return {**self.fixed, **({} if self.name is None else {self.name: number})}

    def beyond(self, tried: Sequence[float], best: float) -> list[float]:
        """The next value outwards, if the best of those tried is the last on its side."""
        return _beyond(tried, best, self.step, self.ends, self.is_whole)

    def between(self, tried: Sequence[float], best: float) -> list[float]:
        """Values half a step from the best that have not been tried."""
        if not self.step or self.is_whole:
            return []
        half = math.sqrt(self.step)
        found = [value for value in (best / half, best * half) if self.ends[0] <= value <= self.ends[1]]
        return [value for value in found if not _is_known(value, tried)]


@dataclass(frozen=True)
class Point:
    """One kernel of a line; `extras` are other parameters of the machine that are tried with it."""

    line: int
    value: float
    extras: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Space:
    """Everything that a search may try.

    Attributes
    ----------
    lines : tuple of Line
    Cs : tuple of float
        The values of C to begin with, ascending.
    step : float
        The ratio of neighbouring values of C; 1 if no others are to be tried.
    ends : (float, float)
        The bounds of C.
    extras : tuple of dict
        Other parameters of the machine, tried with the best kernel; each instead of what the template has.
    """

    lines: tuple[Line, ...]
    Cs: tuple[float, ...]
    step: float = 4.0
    ends: tuple[float, float] = (0.0, math.inf)
    extras: tuple[Mapping[str, Any], ...] = ()

    def setting(self, point: Point, C: float) -> dict[str, Any]:
        """A setting as it is numbered, tried and reported."""
        return {**self.lines[point.line].setting(point.value), **dict(point.extras), "C": C}

    def beginning(self) -> list[Point]:
        """Every kernel to begin with."""
        return [Point(k, value) for k, line in enumerate(self.lines) for value in line.values]


@dataclass
class Judged:
    """What is known of one kernel on the rows of one rung: the scores on the folds, for each C."""

    folds: dict[float, FloatArray] = field(default_factory=dict)

    def mean(self, C: float) -> float:
        return comparable(float(np.mean(self.folds[C])))

    @property
    def best_C(self) -> float:
        """The smallest C with the best mean score."""
        return max(sorted(self.folds), key=self.mean)

    @property
    def score(self) -> float:
        return self.mean(self.best_C)

    @property
    def error(self) -> float:
        """The standard error of the best mean score over the folds."""
        scores = self.folds[self.best_C]
        return float(np.std(scores, ddof=1) / math.sqrt(len(scores))) if len(scores) > 1 else 0.0

    def wider_Cs(self, space: Space) -> list[float]:
        """The next C outwards, if the best is the last on its side."""
        return _beyond(sorted(self.folds), self.best_C, space.step if space.step > 1 else 0.0, space.ends, False)

    def window(self, known: Iterable[float]) -> list[float]:
        """The best C and its neighbours among those known."""
        Cs = sorted(known)
        place = Cs.index(self.best_C)
        return Cs[max(0, place - 1) : place + 2]


def _beyond(tried: Sequence[float], best: float, step: float, ends: tuple[float, float], is_whole: bool) -> list[float]:
    if not step:
        return []
    low, high = min(tried), max(tried)
    found = [best - step if is_whole else best / step] if best == low else []
    found += [best + step if is_whole else best * step] if best == high else []
    return [value for value in found if ends[0] <= value <= ends[1]]


def _is_known(value: float, tried: Iterable[float]) -> bool:
    return any(math.isclose(value, other, rel_tol=1e-6) for other in tried)
