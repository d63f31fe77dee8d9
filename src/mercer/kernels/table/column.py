"""One column of a table: its values, which of them are missing, and what a kernel can make of them."""

import datetime as dt
import numbers
import re
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from mercer._errors import DataError
from mercer._types import BoolArray, FloatArray, IndexArray
from mercer.kernels._types import ColumnName
from mercer.kernels.items.feature_keys import fingerprints

_EPOCH = dt.date(1970, 1, 1).toordinal()
_SECONDS = 86_400.0
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?")
# A 64-bit key in pieces that single precision still holds exactly.
_PIECES = ((np.uint64(42), np.uint64((1 << 22) - 1)), (np.uint64(21), np.uint64((1 << 21) - 1)))


class Column:
    """A column as numbers (`values`, float64) or as a list of anything (`values`).

    Parameters
    ----------
    name : str or int
    values : ndarray of float64, or list
        Entries that are missing may be anything.
    missing : ndarray of bool
    kind : "number", "date", "category", "text" or "object"
        Dates are numbers too: days since 1970.
    labels : callable, optional
        Gives the values as they came, where `values` are numbers made of them.
    """

    def __init__(
        self,
        name: ColumnName,
        values: FloatArray | list[Any],
        missing: BoolArray,
        kind: str,
        labels: Callable[[], Any] | None = None,
    ) -> None:
        self.name, self.values, self.missing, self.kind = name, values, missing, kind
        self._labels = labels

    def __len__(self) -> int:
        return len(self.missing)

    def take(self, rows: IndexArray | slice) -> "Column":
        """The column of some of the rows."""
        chosen = range(len(self))[rows] if isinstance(rows, slice) else rows.tolist()

        def some(values: Any) -> Any:
            return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in chosen]

        labels = self._labels
        own = None if labels is None else lambda: some(labels())
        return Column(self.name, some(self.values), self.missing[rows], self.kind, own)

    @classmethod
    def of_objects(cls, name: ColumnName, values: list[Any]) -> Self:
        """From a list of anything; None, NaN and the like are missing."""
        missing = np.fromiter((is_missing(value) for value in values), bool, len(values))
        return cls.of_values(name, values, missing)

    @classmethod
    def of_values(cls, name: ColumnName, values: list[Any], missing: BoolArray) -> Self:
        """From a list of anything, told which are missing."""
        kind = _kind([value for value, gone in zip(values, missing, strict=True) if not gone])
        if kind not in ("number", "date"):
            return cls(name, values, missing, kind)
        read = float if kind == "number" else _days
        numeric = [0.0 if gone else read(value) for value, gone in zip(values, missing, strict=True)]
        return cls(name, np.array(numeric, dtype=np.float64), missing, kind, lambda: values)

    def numbers(self, present: BoolArray) -> FloatArray:
        """The values of the rows `present` (a mask) as float64."""
        if isinstance(self.values, list) and present.any():
            raise DataError(self._not_numbers(present))
        if isinstance(self.values, list):
            return np.empty(0)
        values = self.values[present]
        if not np.isfinite(values).all():
            place = np.flatnonzero(present)[np.flatnonzero(~np.isfinite(values))[0]]
            raise DataError(f"column {self.name!r} must be finite, got {self.values[place]} in row {place}")
        return values

    def _not_numbers(self, present: BoolArray) -> str:
        row = next(row for row in np.flatnonzero(present) if not _is_number(self.values[row]))
        shown = f"{type(self.values[row]).__name__} {self.values[row]!r} in row {row}"
        return (
            f"column {self.name!r} must hold numbers for this kernel, got {shown}; "
            "use Delta() for categories, or a kernel of texts, trees or graphs"
        )

    def as_came(self) -> list[Any]:
        """The values of all rows as the user gave them; None for those that are missing."""
        values = self.values if self._labels is None else self._labels()
        values = values.tolist() if isinstance(values, np.ndarray) else values
        return [None if gone else value for value, gone in zip(values, self.missing, strict=True)]

    def items(self, present: BoolArray) -> list[Any]:
        """The values of the rows `present` as a list; bytes are read as UTF-8, dates are spelled out."""
        values = self.as_came()
        return [_decoded(values[row], self.name, row) for row in np.flatnonzero(present)]

    def codes(self, present: BoolArray) -> FloatArray:
        """The values of the rows `present` as rows of numbers that are equal where the values are."""
        try:
            keys = fingerprints(self.items(present))
        except (TypeError, ValueError) as error:
            raise DataError(f"column {self.name!r} must hold labels (texts, numbers, dates): {error}") from error
        pieces = [(keys >> shift) & mask for shift, mask in _PIECES]
        return np.column_stack([*pieces, keys & _PIECES[1][1]]).astype(np.float64)


def is_missing(value: object) -> bool:
    """Whether a value stands for none: None, NaN, NaT and pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float) and value != value  # noqa: PLR0124 - NaN is what differs from itself


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def _is_label(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_date(value: object) -> bool:
    return isinstance(value, dt.date | np.datetime64)


def _is_written_date(value: object) -> bool:
    if not isinstance(value, str) or _ISO_DATE.fullmatch(value) is None:
        return False
    try:
        dt.datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str | bytes)


_TESTS = (
    ("number", _is_number),
    ("category", _is_label),
    ("date", _is_date),
    # As SQLite and CSV files have them.
    ("date", _is_written_date),
    ("text", _is_text),
)


def _kind(values: list[Any]) -> str:
    """What all the values are; "object" for anything else, and for a mixture."""
    return next((kind for kind, test in _TESTS if values and all(map(test, values))), "object")


def _days(value: Any) -> float:
    """Days since 1970 of a date, or of a time in its own zone's universal time."""
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value)
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").astype(np.int64) / (1e6 * _SECONDS)
    days = float(value.toordinal() - _EPOCH)
    if not isinstance(value, dt.datetime):
        return days
    seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    shift = value.utcoffset() if value.tzinfo is not None else None
    return days + (seconds - (shift.total_seconds() if shift else 0.0)) / _SECONDS


def _decoded(value: Any, name: ColumnName, row: int | np.integer[Any]) -> Any:
    if isinstance(value, dt.date):
        return value.isoformat()
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"column {name!r} is not UTF-8 in row {row}: byte 0x{value[error.start]:02x} at position {error.start}; "
            "decode it first, with its own encoding"
        ) from error
