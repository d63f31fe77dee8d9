"""A table of Mercer's own: columns by name, the same whichever libraries are installed."""

import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError
from mercer._types import Array
from mercer.kernels._types import ColumnName
from mercer.kernels.table.column import Column, is_missing
from mercer.kernels.table.frame import Frame

TRUTH = {True: "true", False: "false"}
_SECONDS = 86_400.0
_PLAIN = (str, bytes, int, float, Decimal, dt.date, dt.time, dt.timedelta)


class ColumnFrame(Frame):
    """Columns of equal length.

    What reads files makes it, so that a model does not depend on the library that read them. An estimator of
    scikit-learn takes it as a data frame: its names are noted, and its numbers are a matrix.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Arrays of numbers (NaN where one is missing), of dates (numpy's), or of objects (None where one is missing).

    Examples
    --------
    >>> from mercer.kernels.table.column_frame import ColumnFrame
    >>> frame = ColumnFrame.of_lists({"age": [31, 60], "town": ["Ulm", None]})
    >>> frame.shape, frame.rows()[1]
    ((2, 2), {'age': 60, 'town': None})
    """

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        lengths = {len(values) if getattr(values, "ndim", 0) == 1 else -1 for values in arrays.values()}
        if len(lengths) > 1 or -1 in lengths or not all(isinstance(name, str) for name in arrays):
            raise DataError("a table must have columns of one length, each with a name")
        self.arrays = arrays

    @classmethod
    def of_lists(cls, columns: Mapping[str, Iterable[Any]], source: str = "the table") -> Self:
        """From lists of texts, numbers, dates and None; `source` is named where another value is refused.

        Truth values become the texts "true" and "false", and numbers beside texts become texts.
        """
        return cls({name: _stored(list(values), name, source) for name, values in columns.items()})

    def __repr__(self) -> str:
        return f"ColumnFrame({len(self):,} rows: {', '.join(self.names[:8])}{', ...' if len(self.names) > 8 else ''})"

    @property
    def native(self) -> Self:
        """What an estimator is given, and keeps rows of: the table itself."""
        return self

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values()))) if self.arrays else 0

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self.arrays)

    @property
    def names(self) -> list[str]:
        return list(self.arrays)

    # scikit-learn finds the names of a data frame by narwhals, in older versions by the interchange protocol.

    def __narwhals_dataframe__(self) -> "_Names":
        return _Names(self.names, len(self))

    def __dataframe__(self, **_options: Any) -> "_Names":
        return _Names(self.names, len(self))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        columns = [values if values.dtype.kind in "fiu" else values.astype(object) for values in self.arrays.values()]
        return np.column_stack(columns).astype(dtype, copy=False) if columns else np.empty((0, 0), dtype)

    def __getitem__(self, rows: Any) -> "ColumnFrame":
        places = np.atleast_1d(np.arange(len(self))[rows])
        return ColumnFrame({name: values[places] for name, values in self.arrays.items()})

    def _read_column(self, name: ColumnName) -> Column:
        values = self.arrays[self.place(name)]
        if values.dtype.kind in "fiu":
            real = values.astype(np.float64)
            return Column(name, real, np.isnan(real), "number", values.tolist)
        if values.dtype.kind == "M":
            missing = np.isnat(values)
            days = np.where(missing, 0, values.astype("datetime64[us]").astype(np.int64)) / (1e6 * _SECONDS)
            return Column(name, days, missing, "date", values.tolist)
        return Column.of_objects(name, values.tolist())

    def chosen(self, names: Iterable[str]) -> "ColumnFrame":
        """The table with these columns only, in this order."""
        return ColumnFrame({name: self.arrays[name] for name in names})

    def with_texts(self, names: Iterable[str]) -> "ColumnFrame":
        """The table with the named columns as texts."""
        changed = {name: _objects(map(_as_text, self.column(name).as_came())) for name in names}
        return ColumnFrame({**self.arrays, **changed})


class _Names:
    """What scikit-learn asks of a data frame: its columns' names, its length, and whether it is one of pandas."""

    def __init__(self, names: list[str], length: int, version: object = None) -> None:
        self.columns, self._length, self._version = names, length, version

    def __narwhals_dataframe__(self) -> Self:
        return self

    def _with_version(self, version: object) -> "_Names":
        return _Names(self.columns, self._length, version)

    @property
    def _implementation(self) -> Any:
        from narwhals import Implementation

        return Implementation.UNKNOWN

    def column_names(self) -> list[str]:
        return self.columns

    def num_rows(self) -> int:
        return self._length


def _stored(values: list[Any], name: str, source: str) -> Array:
    """An array of a column's values, by what all of them are."""
    kinds = {type(value) for value in values}
    if bool in kinds:
        values = [TRUTH.get(value, value) if isinstance(value, bool) else value for value in values]
    present = [value for value in values if not is_missing(value)]
    wrong = next((value for value in present if not isinstance(value, _PLAIN)), None)
    if wrong is not None:
        row = next(k for k, value in enumerate(values) if value is wrong)
        raise DataError(f"{source}, row {row}, column {name!r}: a number or a text was expected, got {wrong!r:.60}")
    if not present or not all(isinstance(value, int | float | Decimal | dt.timedelta) for value in present):
        is_mixed = any(isinstance(value, str) for value in present) and not all(isinstance(v, str) for v in present)
        return _objects((None if is_missing(value) else _as_text(value) if is_mixed else value) for value in values)
    if not all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in present):
        return np.array([np.nan if is_missing(value) else _real(value) for value in values])
    # Whole numbers stay whole even if some are missing: they may be the labels of classes.
    return (
        np.array(values, dtype=np.int64)
        if len(present) == len(values)
        else _objects(None if is_missing(value) else value for value in values)
    )


def _objects(values: Iterable[Any]) -> Array:
    values = list(values)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _as_text(value: object) -> str | None:
    return None if value is None else value if isinstance(value, str) else str(value)


def _real(value: Any) -> float:
    try:
        return value.total_seconds() / _SECONDS if isinstance(value, dt.timedelta) else float(value)
    except OverflowError:
        return float("inf")
