"""A column of a table as features: one for numbers, one for each label."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from mercer._errors import DataError
from mercer._types import FloatArray, IndexArray
from mercer.estimators.out_of_core.column_summary import Values
from mercer.kernels.items.column_statistics import to_scale

# Describes the position of the values, or of one row of them, in messages.
Where: TypeAlias = Callable[..., str]


class Made(Protocol):
    """Rows of features under construction: a `Stack`, or a builder of CSR rows."""

    def column(self, at: int) -> FloatArray:
        """The destination of a column's values, valid until the next one is requested."""
        ...

    def put(self, rows: IndexArray, at: IndexArray | int, values: FloatArray) -> None:
        """Single values."""
        ...


@dataclass(frozen=True)
class NumberColumn:
    """Numbers, or dates as days: offset, divisor, fill value, and whether missing values are reported."""

    name: str
    mean: float
    deviation: float
    filling: float
    has_missing: bool

    kind = None  # as the values are

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        return [self.name, *([f"{self.name} is missing"] if self.has_missing else [])]

    def fill(self, found: Values, made: Made, at: int, where: Where) -> None:
        """Write its features for some rows, the first at `at`."""
        numbers, column = self._numbers(found, where), made.column(at)
        # NaN and infinity propagate to the sum: one check in the usual case that there are none.
        if np.isfinite(to_scale(numbers, self.mean, 1.0 / self.deviation, column)):
            return
        missing = np.isnan(numbers)
        if not np.isfinite(numbers[~missing]).all():
            row = int(np.flatnonzero(~np.isfinite(numbers) & ~missing)[0])
            raise DataError(f"{where(row)}, column {self.name!r}: a finite number was expected, got {numbers[row]}")
        to_scale(np.where(missing, self.filling, numbers), self.mean, 1.0 / self.deviation, column)
        if self.has_missing:
            rows = np.flatnonzero(missing)
            made.put(rows, at + 1, np.ones(len(rows)))

    def _numbers(self, found: Values, where: Where) -> FloatArray:
        if found.numbers is not None:
            return found.numbers
        labels = found.labels or []
        row = next((row for row, label in enumerate(labels) if label is not None), None)
        if row is not None:
            raise DataError(f"{where(row)}, column {self.name!r}: a number was expected, got {labels[row]!r}")
        return np.full(len(labels), np.nan)


@dataclass(frozen=True)
class LabelColumn:
    """Labels: those with a feature each, and whether rare ones share one and missing ones have one."""

    name: str
    labels: tuple[str, ...]
    has_rare: bool
    has_missing: bool

    kind = "text"  # whatever the values look like

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        names = [f"{self.name} = {label}" for label in self.labels]
        names += [f"{self.name} is rare"] if self.has_rare else []
        return names + ([f"{self.name} is missing"] if self.has_missing else [])

    def fill(self, found: Values, made: Made, at: int, _where: Where) -> None:
        """Write its features for some rows, the first at `at`."""
        places = self._places(found.labels or [])
        rows = np.flatnonzero(places >= 0)
        made.put(rows, at + places[rows], np.ones(len(rows)))

    def _places(self, labels: list[Any]) -> IndexArray:
        """The feature of each label, -1 for none."""
        known: dict[str | None, int] = {label: place for place, label in enumerate(self.labels)}
        n = len(self.labels)
        known[None] = n + self.has_rare if self.has_missing else -1
        unknown = n if self.has_rare else -1
        return np.fromiter((known.get(label, unknown) for label in labels), np.int64, len(labels))


FeatureColumn: TypeAlias = NumberColumn | LabelColumn
