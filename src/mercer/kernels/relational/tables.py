"""Data frames as a database."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer._types import IndexArray, Rows
from mercer.kernels.relational.schema import ForeignKey, TableSchema, require_columns, table_of
from mercer.kernels.table.frame import as_frame

if TYPE_CHECKING:
    from mercer.kernels.relational.database import Schema
    from mercer.kernels.relational.schema import Join
    from mercer.kernels.table.frame import Frame


class Tables:
    """A dict of data frames (pandas, polars, pyarrow, lists of dictionaries) with their keys.

    Parameters
    ----------
    frames : dict
        A table for each name.
    primary_keys : dict, optional
        The column, or a tuple of columns, that identifies a row of a table.
    foreign_keys : list of str
        Such as ``"atom.molecule -> molecule.id"``.

    Examples
    --------
    >>> from mercer.kernels.relational.tables import Tables
    >>> trains = Tables(
    ...     {"train": [{"id": 1}, {"id": 2}], "car": [{"train": 1, "shape": "long"}]},
    ...     foreign_keys=["car.train -> train.id"],
    ... )
    >>> str(trains.schema["car"].foreign_keys[0])
    'car.train -> train.id'
    """

    def __init__(
        self,
        frames: Mapping[str, Rows],
        primary_keys: Mapping[str, Any] | None = None,
        foreign_keys: Iterable[str] = (),
    ) -> None:
        if not isinstance(frames, Mapping) or not frames:
            raise ParameterError(f"frames must be a dict of tables by name, got {frames!r}")
        self.frames, self.primary_keys, self.foreign_keys = frames, primary_keys, foreign_keys
        self._tables = {name: as_frame(frame) for name, frame in frames.items()}
        self.schema = self._schema()

    def _schema(self) -> dict[str, TableSchema]:
        columns = {name: tuple(frame.names) for name, frame in self._tables.items()}
        plain = {name: TableSchema(name, columns[name]) for name in columns}
        keys = [_parsed(text, plain) for text in self.foreign_keys]
        primary = {name: _as_tuple(key) for name, key in (self.primary_keys or {}).items()}
        for name, key in primary.items():
            require_columns(table_of(plain, name), key)
        return {
            name: TableSchema(name, columns[name], primary.get(name, ()), tuple(k for k in keys if k.table == name))
            for name in columns
        }

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        # Nothing here changes, and frames may be large.
        return self

    def _keys(self, table: str, columns: Sequence[str]) -> list[tuple[Any, ...] | None]:
        """The value of some columns in each row, as a tuple; None if one is missing."""
        parts = [self._tables[table].column(name) for name in columns]
        values = [part.items(np.ones(len(part), bool)) for part in parts]
        gone = np.any([part.missing for part in parts], axis=0)
        return [None if absent else key for absent, key in zip(gone, zip(*values, strict=True), strict=True)]

    def _places(self, table: str, columns: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
        places = {}
        for row, key in enumerate(self._keys(table, columns)):
            if key is not None:
                places.setdefault(key, []).append(row)
        return places

    def find(self, table: str, columns: Sequence[str], keys: Iterable[tuple[Any, ...]]) -> IndexArray:
        """The row of each key."""
        places = self._places(table, columns)
        return np.array(
            [_only(places.get(key, []), key, self.schema[table], columns, len(self._tables[table])) for key in keys],
            dtype=np.int64,
        )

    def linked(self, join: "Join", rows: IndexArray) -> IndexArray:
        """(row, linked row) for every link of the given rows."""
        places, keys = self._places(join.to_table, join.to_columns), self._keys(join.table, join.columns)
        pairs = [(row, other) for row in rows for other in places.get(keys[row], [])]
        return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T

    def dangling(self, join: "Join", rows: IndexArray) -> tuple[Any, ...] | None:
        """A value of `join`'s foreign key among the rows that matches no row; None if all match."""
        places, keys = self._places(join.to_table, join.to_columns), self._keys(join.table, join.columns)
        return next((keys[row] for row in rows if keys[row] is not None and keys[row] not in places), None)

    def read(self, table: str, rows: IndexArray, columns: Sequence[str]) -> "Frame":
        """The rows, in order."""
        return self._tables[table][np.asarray(rows, dtype=np.intp)]


def _parsed(text: str, schema: "Schema") -> ForeignKey:
    """A foreign key from "table.column -> table.column"."""
    sides = [side.strip().split(".") for side in str(text).split("->")]
    if len(sides) != 2 or any(len(side) != 2 for side in sides):
        raise ParameterError(f"a foreign key must be written 'table.column -> table.column', got {text!r}")
    for name, column in sides:
        require_columns(table_of(schema, name), (column,))
    (table, column), (to_table, to_column) = sides
    return ForeignKey(table, (column,), to_table, (to_column,))


def _as_tuple(key: Any) -> tuple[Any, ...]:
    return tuple(key) if isinstance(key, list | tuple) else (key,)


def _only(rows: list[int], key: tuple[Any, ...], table: TableSchema, columns: Sequence[str], count: int) -> int:
    if len(rows) == 1:
        return rows[0]
    raise no_single_row(table.name, columns, key, len(rows), count)


def no_single_row(table: str, columns: Sequence[str], key: Sequence[Any], found: int, count: int) -> DataError:
    """The error for a key that matches no row, or several."""
    shown = ", ".join(f"{name} = {value!r}" for name, value in zip(columns, key, strict=True))
    if found:
        return DataError(
            f"key {', '.join(columns)} of table {table!r} must name one row, but {found} rows have {shown}"
        )
    return DataError(f"table {table!r}, of {count} rows, has none with {shown}")
