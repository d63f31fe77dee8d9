"""A table by its columns, whatever it came as: a data frame, an array, or a list of dictionaries."""

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._jit.once import computed_once
from mercer._types import Array, Rows
from mercer.kernels._types import ColumnName
from mercer.kernels.table.column import Column

_MICROSECONDS = 86_400e6
# Entries of a table up to which columns are kept once they are read: 32 MiB of numbers.
FEW_ENTRIES = 2**22


class Frame:
    """Rows that can be counted and chosen by position, and columns by name.

    Parameters
    ----------
    source : object
        What holds the rows: a data frame (pandas, polars, pyarrow), as `native` gives it back.
    """

    def __init__(self, source: Any) -> None:
        self.native = source

    def __len__(self) -> int:
        return self._table.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        return self._table.shape

    @property
    def names(self) -> list[Any]:
        return list(self._table.columns)

    @computed_once
    def _table(self) -> Any:
        import narwhals

        try:
            return narwhals.from_native(self.native, eager_only=True)
        except (ValueError, TypeError) as error:
            raise DataError(f"the data frame cannot be read: {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        # What was read or wrapped refers to modules, which a saved model must not.
        return {name: value for name, value in vars(self).items() if name not in ("_table", "_columns")}

    def __getitem__(self, rows: Any) -> "Frame":
        """The rows at some positions, or of a slice; the row at one position as a frame."""
        rows = [rows] if np.ndim(rows) == 0 and not isinstance(rows, slice) else rows
        rows = rows if isinstance(rows, slice) else np.arange(len(self))[np.asarray(rows)]
        part = Frame(self._table[rows].to_native())
        part._columns = {name: column.take(rows) for name, column in self._columns.items()}
        return part

    def column(self, name: ColumnName) -> Column:
        """The column called `name`, or at that position where no name is a number."""
        if name in self._columns:
            return self._columns[name]
        column = self._read_column(name)
        if math.prod(self.shape) <= FEW_ENTRIES:
            self._columns[name] = column
        return column

    @computed_once
    def _columns(self) -> dict[ColumnName, Column]:
        """Those that have been read."""
        return {}

    def _read_column(self, name: ColumnName) -> Column:
        return _narwhals_column(name, self._table.get_column(self.place(name)))

    def rows(self) -> list[dict[Any, Any]]:
        """The rows as dictionaries."""
        columns = [self.column(name).as_came() for name in self.names]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*columns, strict=True)]

    def place(self, name: ColumnName) -> Any:
        """How the table itself calls a column."""
        names = self.names
        if name in names:
            return name
        if isinstance(name, int) and 0 <= name < len(names):
            return names[name]
        raise _no_column(name, names)


class ArrayFrame(Frame):
    """A matrix of numbers or of anything; columns are called by their position."""

    def __len__(self) -> int:
        return len(self.native)

    @property
    def shape(self) -> tuple[int, int]:
        return self.native.shape

    @property
    def names(self) -> list[Any]:
        return list(range(self.native.shape[1]))

    def __getitem__(self, rows: Any) -> "ArrayFrame":
        return ArrayFrame(np.atleast_2d(self.native[rows]))

    def _read_column(self, name: ColumnName) -> Column:
        values = self.native[:, self.place(name)]
        if values.dtype.kind in "fiu":
            return Column(name, values.astype(np.float64), np.isnan(values), "number", lambda: values)
        return Column.of_objects(name, values.tolist())


class DictFrame(Frame):
    """A list of dictionaries; a key that a row does not have is missing there."""

    def __len__(self) -> int:
        return len(self.native)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.native), len(self.names)

    @property
    def names(self) -> list[Any]:
        return list(dict.fromkeys(name for row in self.native for name in row))

    def __getitem__(self, rows: Any) -> "DictFrame":
        rows = np.atleast_1d(np.arange(len(self))[rows])
        return DictFrame([self.native[row] for row in rows])

    def _read_column(self, name: ColumnName) -> Column:
        # Without rows there are no names to check against.
        name = self.place(name) if self.native else name
        return Column.of_objects(name, [row.get(name) for row in self.native])

    def place(self, name: ColumnName) -> Any:
        if not any(name in row for row in self.native):
            raise _no_column(name, self.names)
        return name


def is_data_frame(X: Rows) -> bool:
    """Whether X is a data frame: Mercer's own, or one that narwhals knows, of pandas, polars or pyarrow among them."""
    import narwhals

    return isinstance(X, Frame) or narwhals.dependencies.is_into_dataframe(X)


def as_frame(X: Rows) -> Frame:
    """The table that the user passed, as a `Frame`."""
    if isinstance(X, Frame):
        return X
    if sparse.issparse(X):
        raise DataError(f"a kernel of columns takes no sparse matrix, got one of shape {X.shape}; pass X.toarray()")
    if is_data_frame(X):
        return Frame(X)
    if isinstance(X, list | tuple) and all(isinstance(row, Mapping) for row in X):
        return DictFrame(X)
    return ArrayFrame(_matrix(X))


def _matrix(X: Rows) -> Array:
    if hasattr(X, "collect"):
        raise DataError(f"X must be a table in memory, got {type(X).__name__}; call collect() on it")
    try:
        values = np.asarray(X)
        if values.dtype.kind in "US" and not isinstance(X, np.ndarray):
            # A list of mixed rows: NumPy would have made texts of its numbers.
            values = np.array(X, dtype=object)
    except ValueError:
        values = np.empty(0)
    if values.ndim != 2:
        is_row = values.ndim == 1 and len(values) > 0 and values.dtype.kind in "biuf"
        raise DataError(
            f"X must be a table (a data frame, a two-dimensional array or a list of dictionaries), "
            f"got {type(X).__name__}{'' if values.ndim == 1 and not len(values) else f' of shape {values.shape}'}"
            + ("; Reshape your data: [x] if it is one row, numpy.reshape(x, (-1, 1)) if one column" if is_row else "")
        )
    return values


def _no_column(name: ColumnName, names: Sequence[object]) -> DataError:
    close = get_close_matches(str(name), [str(one) for one in names], n=1, cutoff=0.5)
    nearest = f" (did you mean {close[0]!r}?)" if close else ""
    shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
    return DataError(f"X has no column {name!r}{nearest}; it has {shown or 'none'}")


def _narwhals_column(name: ColumnName, series: Any) -> Column:
    """A column of a data frame; its type is believed, and objects are examined."""
    import narwhals

    dtype, missing = series.dtype, series.is_null().to_numpy().astype(bool)
    if dtype.is_numeric():
        # Arrow refuses to round whole numbers beyond 2^53, such as long identifiers.
        real = series.fill_null(0) if dtype.is_integer() else series.cast(narwhals.Float64)
        values = np.asarray(real.to_numpy(), dtype=np.float64)
        return Column(name, values, missing | np.isnan(values), "number", series.to_list)
    if isinstance(dtype, narwhals.Datetime | narwhals.Date):
        values = np.asarray(series.dt.timestamp("us").to_numpy(), dtype=np.float64) / _MICROSECONDS
        return Column(name, values, missing, "date", series.to_list)
    if isinstance(dtype, narwhals.Duration):
        values = np.asarray(series.dt.total_microseconds().to_numpy(), dtype=np.float64) / _MICROSECONDS
        return Column(name, values, missing, "number", series.to_list)
    if isinstance(dtype, narwhals.Categorical | narwhals.Enum | narwhals.Boolean):
        return Column(name, series.to_list(), missing, "category")
    return Column.of_values(name, series.to_list(), missing)
