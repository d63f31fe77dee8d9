"""Data frames as a database."""

from collections.abc import Mapping

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer.kernels.relational.schema import ForeignKey, TableSchema, require_columns, table_of
from mercer.kernels.table.frame import as_frame


class Tables:
    """A dict of data frames (pandas, polars, pyarrow, lists of dictionaries) with their keys.

    Parameters
    ----------
    frames : dict
        A table for each name.
    primary_keys : dict, optional
        The column, or a tuple of columns, that names a row of a table.
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

    def __init__(self, frames, primary_keys=None, foreign_keys=()):
        if not isinstance(frames, Mapping) or not frames:
            raise ParameterError(f"frames must be a dict of tables by name, got {frames!r}")
        self.frames, self.primary_keys, self.foreign_keys = frames, primary_keys, foreign_keys
        self._tables = {name: as_frame(frame) for name, frame in frames.items()}
        self.schema = self._schema()

    def _schema(self):
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

    def __deepcopy__(self, memo):
        # Nothing here changes; frames may be large.
        return self

    def _keys(self, table, columns):
        """The value of some columns in each row, as a tuple; None where one is missing."""
        parts = [self._tables[table].column(name) for name in columns]
        values = [part.items(np.ones(len(part), bool)) for part in parts]
        gone = np.any([part.missing for part in parts], axis=0)
        return [None if absent else key for absent, key in zip(gone, zip(*values, strict=True), strict=True)]

    def _places(self, table, columns):
        places = {}
        for row, key in enumerate(self._keys(table, columns)):
            if key is not None:
                places.setdefault(key, []).append(row)
        return places

    def find(self, table, columns, keys):
        """The row of each key."""
        places = self._places(table, columns)
        return np.array(
            [_only(places.get(key, []), key, self.schema[table], columns, len(self._tables[table])) for key in keys],
            dtype=np.int64,
        )

    def linked(self, join, rows):
        """(row, linked row) for every link of the given rows."""
        places, keys = self._places(join.to_table, join.to_columns), self._keys(join.table, join.columns)
        pairs = [(row, other) for row in rows for other in places.get(keys[row], [])]
        return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T

    def dangling(self, join, rows):
        """A value of `join`'s foreign key among the rows that names no row; None if all do."""
        places, keys = self._places(join.to_table, join.to_columns), self._keys(join.table, join.columns)
        return next((keys[row] for row in rows if keys[row] is not None and keys[row] not in places), None)

    def read(self, table, rows, columns):
        """The rows, in their order."""
        return self._tables[table][np.asarray(rows, dtype=np.intp)]


def _parsed(text, schema):
    """A foreign key from "table.column -> table.column"."""
    sides = [side.strip().split(".") for side in str(text).split("->")]
    if len(sides) != 2 or any(len(side) != 2 for side in sides):
        raise ParameterError(f"a foreign key must be written 'table.column -> table.column', got {text!r}")
    for name, column in sides:
        require_columns(table_of(schema, name), (column,))
    (table, column), (to_table, to_column) = sides
    return ForeignKey(table, (column,), to_table, (to_column,))


def _as_tuple(key):
    return tuple(key) if isinstance(key, list | tuple) else (key,)


def _only(rows, key, table, columns, count):
    if len(rows) == 1:
        return rows[0]
    raise no_single_row(table.name, columns, key, len(rows), count)


def no_single_row(table, columns, key, found, count):
    """The error for a key that names no row, or several."""
    shown = ", ".join(f"{name} = {value!r}" for name, value in zip(columns, key, strict=True))
    if found:
        return DataError(
            f"key {', '.join(columns)} of table {table!r} must name one row, but {found} rows have {shown}"
        )
    return DataError(f"table {table!r}, of {count} rows, has none with {shown}")
