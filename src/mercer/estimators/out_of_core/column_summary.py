"""Summaries of columns, gathered block by block: means and deviations, labels and their counts.

Means and sums of squares of two parts are combined as in Chan, Golub & LeVeque (1983, eq. 1.5), which loses no digits
however large the mean is. Blocks are combined in their order, so the result has the same bits wherever they were read.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._types import Array, BoolArray, FloatArray
from mercer.kernels.items.column_statistics import mean_and_squares
from mercer.kernels.table.column import Column
from mercer.kernels.table.column_frame import TRUTH, ColumnFrame

# Most distinct labels of a column counted at a time; beyond that, the rarest are dropped.
MOST_COUNTED = 200_000


@dataclass
class Values:
    """The values of a column of a block: numbers with NaN for missing ones, or a list of labels with None."""

    kind: str  # "number", "date" or "text"
    numbers: FloatArray | None
    labels: list[Any] | None

    @property
    def missing(self) -> BoolArray:
        """The mask of missing values."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        return np.fromiter((label is None for label in self.labels or ()), bool, len(self.labels or ()))


def values_of(name: str, array: Array, kind: str | None = None) -> Values:
    """The contents of an array of a `ColumnFrame`; as text, if they are known to be text."""
    if array.dtype.kind in "fiu" and kind != "text":
        return Values("number", array.astype(np.float64, copy=False), None)
    if kind == "text" and array.dtype.kind == "O":
        return Values("text", None, [None if each is None else str(each) for each in array.tolist()])
    return values_of_column(ColumnFrame({name: array}).column(name), kind)


def values_of_column(column: Column, kind: str | None = None) -> Values:
    """The same for a column of any table."""
    if column.kind in ("number", "date") and kind != "text":
        numbers = np.array(column.values, np.float64)
        numbers[column.missing] = np.nan
        return Values(column.kind, numbers, None)
    return Values("text", None, [None if each is None else _label(each) for each in column.as_came()])


def _label(value: Any) -> str:
    """A label as written in files."""
    return TRUTH[bool(value)] if isinstance(value, bool | np.bool_) else str(value)


@dataclass
class ColumnSummary:
    """A column so far.

    Attributes
    ----------
    kinds : dict of str to int
        For each kind that was met, the first block.
    count, missing : number
        Rows with a value (or their weight), and without one.
    mean, squares : float
        Of the numbers: mean, and sum of squared distances from it.
    labels : Counter
        Rows of each label, low by at most `forgotten`.
    """

    kinds: dict[str, int] = field(default_factory=dict)
    count: float = 0
    missing: int = 0
    mean: float = 0.0
    squares: float = 0.0
    labels: Counter[str] = field(default_factory=Counter)
    forgotten: int = 0

    @classmethod
    def of(cls, values: Values, block: int) -> "ColumnSummary":
        """The summary of one block."""
        if values.numbers is not None and len(values.numbers):
            mean, squares = mean_and_squares(np.ascontiguousarray(values.numbers))
            if np.isfinite(mean):  # then none is missing
                return cls({values.kind: block}, len(values.numbers), 0, mean, squares)
        missing = int(np.count_nonzero(values.missing))
        n = len(values.missing) - missing
        kinds = {values.kind: block} if n else {}
        if values.numbers is None:
            return cls(kinds, n, missing, labels=Counter(label for label in values.labels or () if label is not None))
        numbers = np.ascontiguousarray(values.numbers[~np.isnan(values.numbers)])
        mean, squares = mean_and_squares(numbers) if n else (0.0, 0.0)
        return cls(kinds, n, missing, mean, squares)

    def add(self, other: "ColumnSummary") -> None:
        """The same with the rows of a later block."""
        total = self.count + other.count
        for kind, block in other.kinds.items():
            self.kinds.setdefault(kind, block)
        if total:
            step = other.mean - self.mean
            self.mean += step * (other.count / total)
            self.squares += other.squares + step**2 * (self.count * other.count / total)
        self.count, self.missing = total, self.missing + other.missing
        self.labels.update(other.labels)
        self._forget()

    def _forget(self) -> None:
        """Bound the memory by dropping labels below the median count, as in lossy counting (Manku & Motwani 2002)."""
        if len(self.labels) <= MOST_COUNTED:
            return
        least = int(np.median(np.fromiter(self.labels.values(), np.int64, len(self.labels))))
        self.labels = Counter({label: count for label, count in self.labels.items() if count > least})
        self.forgotten += least

    @property
    def deviation(self) -> float:
        """The standard deviation of the numbers; 1 if they are all equal."""
        found = float(np.sqrt(self.squares / max(1, self.count)))
        # The computed deviation of equal numbers is pure rounding.
        return found if found > 1e-14 * abs(self.mean) and np.isfinite(found) else 1.0


def joined(summaries: Iterable[dict[str, ColumnSummary]]) -> dict[str, ColumnSummary]:
    """The summaries of all blocks, added in order of arrival."""
    found: dict[str, ColumnSummary] = {}
    for each in summaries:
        for name, summary in each.items():
            if name in found:
                found[name].add(summary)
            else:
                found[name] = summary
    return found
