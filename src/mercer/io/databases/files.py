"""SQLite and DuckDB files as databases of records: the schema, and joins made by the database.

Nothing is written, not even a temporary table: the requested rows are passed as one
parameter (a JSON array, or a list), and the database joins its tables for all of them at once.
Names of tables and columns come from the schema and are quoted wherever they enter a query.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mercer._errors import DataError, MissingExtraError, ParameterError
from mercer._types import IndexArray
from mercer.io.databases.answers import QueryLimits, answer, open_duckdb, open_sqlite
from mercer.io.databases.values import plain
from mercer.kernels.relational.schema import ForeignKey, Join, TableSchema
from mercer.kernels.relational.tables import no_single_row


class FileDatabase:
    """The common part of SQLite and DuckDB."""

    if TYPE_CHECKING:  # what each of them does in its own way
        _set: str

        def _given(self, count: int) -> str: ...

        def _parameters(self, values: Sequence[Any]) -> list[Any]: ...

        def _run(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]: ...

        def _read_schema(self) -> dict[str, TableSchema]: ...

    # The database's name for a row number, and the first position of given values.
    _row = "rowid"
    _first = 0

    def __init__(self, source: Any, *, memory_limit: int | str | None = None, time_limit: float | None = None) -> None:
        self._memory_limit, self._time_limit = memory_limit, time_limit
        self._path = str(Path(source).resolve()) if isinstance(source, str | Path) else None
        self._connection = None if self._path else source
        if self._path and not Path(self._path).is_file():
            raise DataError(f"there is no database file {str(source)!r}")
        self.schema = self._read_schema()

    @property
    def _limits(self) -> QueryLimits:
        """The limits of a query, by default from the memory that is free now."""
        return QueryLimits.of(self._memory_limit, self._time_limit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({Path(self._path).name if self._path else self._connection!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Nothing here changes, and a connection cannot be copied.
        return self

    def __getstate__(self) -> dict[str, Any]:
        if self._path is None:
            raise ParameterError(
                "a database given as an open connection cannot be sent to another process; pass its path"
            )
        return vars(self)

    def find(self, table: str, columns: Sequence[str], keys: Sequence[Sequence[Any]]) -> IndexArray:
        """The row of each key."""
        if not keys:
            return np.empty(0, np.int64)
        match = " AND ".join(f"t.{quoted(name)} = given.v{k}" for k, name in enumerate(columns))
        given = f"{self._given(len(columns))} AS given LEFT JOIN {quoted(table)} t ON {match}"
        found = {}
        for place, row in self._run(f"SELECT given.place, t.{self._row} FROM {given}", self._parameters(keys)):  # noqa: S608
            found.setdefault(place - self._first, []).extend([] if row is None else [row])
        wrong = next((place for place in sorted(found) if len(found[place]) != 1), None)
        if wrong is not None:
            ((count,),) = self._run(f"SELECT count(*) FROM {quoted(table)}", [])  # noqa: S608
            raise no_single_row(table, columns, keys[wrong], len(found[wrong]), count)
        return np.array([found[place][0] for place in range(len(keys))], dtype=np.int64)

    def linked(self, join: Join, rows: IndexArray) -> IndexArray:
        """(row, linked row) for every link of the given rows."""
        answer = self._of_rows(f"a.{self._row}, b.{self._row}", self._joined(join, "JOIN"), "a", rows)
        return np.array(answer, dtype=np.int64).reshape(len(answer), 2).T

    def dangling(self, join: Join, rows: IndexArray) -> tuple[Any, ...] | None:
        """A value of `join`'s foreign key among the rows that matches no row; None if all match."""
        names = [f"a.{quoted(name)}" for name in join.columns]
        gone = " AND ".join([f"b.{self._row} IS NULL", *(f"{name} IS NOT NULL" for name in names)])
        answer = self._of_rows(", ".join(names), self._joined(join, "LEFT JOIN"), "a", rows, f"AND {gone} LIMIT 1")
        return tuple(answer[0]) if answer else None

    def _joined(self, join: Join, kind: str) -> str:
        match = zip(join.columns, join.to_columns, strict=True)
        on = " AND ".join(f"a.{quoted(own)} = b.{quoted(other)}" for own, other in match)
        return f"{quoted(join.table)} a {kind} {quoted(join.to_table)} b ON {on}"

    def read(self, table: str, rows: IndexArray, columns: Sequence[str]) -> list[dict[str, Any]]:
        """The rows, in order, as dictionaries."""
        names = ", ".join([f"t.{self._row}", *(f"t.{quoted(name)}" for name in columns)])
        answer = self._of_rows(names, f"{quoted(table)} t", "t", rows) if len(rows) else []
        known = {row: dict(zip(columns, map(plain, values), strict=True)) for row, *values in answer}
        return [known[int(row)] for row in rows]

    def _of_rows(self, what: str, tables: str, alias: str, rows: IndexArray, also: str = "") -> list[tuple[Any, ...]]:
        """The answer to SELECT `what` FROM `tables`, for rows of the table called `alias`."""
        # As a set and not as a table, so that the planner knows the sizes of everything it joins.
        sql = f"SELECT {what} FROM {tables} WHERE {alias}.{self._row} IN {self._set} {also}"  # noqa: S608
        return self._run(sql, [self._parameters([(int(row),) for row in rows])[0]])


class SQLiteDatabase(FileDatabase):
    """A SQLite database, for `Record`.

    Parameters
    ----------
    source : path or sqlite3.Connection
        A file is opened read-only for each query.
    memory_limit : int or str, optional
        Bytes (or "2GiB") that the answer to a query may take; by default, the free memory.
    time_limit : float, optional
        Seconds that a query may take; ten minutes by default.

    Examples
    --------
    >>> import sqlite3
    >>> from mercer.io import SQLiteDatabase
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript('''
    ...     CREATE TABLE train (id INTEGER PRIMARY KEY);
    ...     CREATE TABLE car (train INTEGER REFERENCES train, roof TEXT);
    ... ''')
    >>> str(SQLiteDatabase(connection).schema["car"].foreign_keys[0])
    'car.train -> train.id'
    """

    _row = "_rowid_"
    _set = "(SELECT value FROM json_each(?))"

    def _given(self, count: int) -> str:
        each = (
            "value AS v0" if count == 1 else ", ".join(f"json_extract(value, '$[{k}]') AS v{k}" for k in range(count))
        )
        return f"(SELECT key AS place, {each} FROM json_each(?))"  # noqa: S608 - numbers only

    def _parameters(self, values: Sequence[Any]) -> list[Any]:
        values = [row[0] for row in values] if values and len(values[0]) == 1 else values
        try:
            return [json.dumps(values)]
        except TypeError as error:
            raise DataError(f"keys must be texts or numbers to be looked up in SQLite: {error}") from error

    def _run(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            if self._connection is not None:
                return answer(self._connection, sql, parameters, self._limits, repr(self))[1]
            with closing(open_sqlite(self._path)) as connection:
                return answer(connection, sql, parameters, self._limits, repr(self))[1]
        except sqlite3.DatabaseError as error:
            raise _explained(error, self) from error

    def _read_schema(self) -> dict[str, TableSchema]:
        names = [
            name
            for (name,) in self._run(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name", []
            )
        ]
        columns = {name: self._run("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", [name]) for name in names}
        primary = {name: tuple(c for c, pk in sorted(columns[name], key=lambda one: one[1]) if pk) for name in names}
        return {
            name: TableSchema(
                name, tuple(c for c, _ in columns[name]), primary[name], self._foreign_keys(name, primary)
            )
            for name in names
        }

    def _foreign_keys(self, table: str, primary: Mapping[str, tuple[str, ...]]) -> tuple[ForeignKey, ...]:
        grouped = {}
        for number, other, own, target in self._run(
            'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq', [table]
        ):
            grouped.setdefault((number, other), []).append((own, target))
        keys = []
        for (_, other), pairs in grouped.items():
            # A key that names no columns refers to the primary key.
            targets = tuple(target for _, target in pairs if target is not None) or primary.get(other, ())
            keys.append(ForeignKey(table, tuple(own for own, _ in pairs), other, targets))
        return tuple(key for key in keys if key.to_table in primary and key.to_columns)


class DuckDBDatabase(FileDatabase):
    """A DuckDB database, for `Record`; needs ``pip install 'mercer[sql]'``.

    Parameters
    ----------
    source : path or duckdb.DuckDBPyConnection
        A file is opened read-only for each query.
    memory_limit : int or str, optional
        Bytes (or "2GiB") that the answer to a query may take; by default, the free memory.
    time_limit : float, optional
        Seconds that a query may take; ten minutes by default.

    Examples
    --------
    >>> import duckdb
    >>> from mercer.io import DuckDBDatabase
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE train (id INTEGER PRIMARY KEY)")
    >>> DuckDBDatabase(connection).schema["train"].primary_key
    ('id',)
    """

    _first = 1
    _set = "(SELECT unnest(?))"

    def __init__(self, source: Any, *, memory_limit: int | str | None = None, time_limit: float | None = None) -> None:
        try:
            import duckdb  # noqa: F401 - only to say so early
        except ImportError as error:
            raise MissingExtraError("DuckDBDatabase needs duckdb: pip install 'mercer[sql]'") from error
        super().__init__(source, memory_limit=memory_limit, time_limit=time_limit)

    def _given(self, count: int) -> str:
        each = ", ".join(f"unnest(?) AS v{k}" for k in range(count))
        return f"(SELECT generate_subscripts(?, 1) AS place, {each})"

    def _parameters(self, values: Sequence[Any]) -> list[Any]:
        columns = [list(column) for column in zip(*values, strict=True)]
        return [columns[0], *columns]

    def _run(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            if self._connection is not None:
                return answer(self._connection, sql, parameters, self._limits, repr(self))[1]
            limits = self._limits
            with closing(open_duckdb(self._path, limits)) as connection:
                return answer(connection, sql, parameters, limits, repr(self))[1]
        except (duckdb.Error, RuntimeError) as error:
            raise _explained(error, self) from error

    def _read_schema(self) -> dict[str, TableSchema]:
        columns, primary, foreign = {}, {}, {}
        listed = (
            "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index"
        )
        tables = {name for (name,) in self._run("SELECT table_name FROM duckdb_tables() WHERE NOT internal", [])}
        for table, name in self._run(listed, []):
            if table in tables:
                columns.setdefault(table, []).append(name)
        for table, kind, own, other, targets in self._run(
            "SELECT table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names "
            "FROM duckdb_constraints()",
            [],
        ):
            if kind == "PRIMARY KEY":
                primary[table] = tuple(own)
            elif kind == "FOREIGN KEY":
                foreign.setdefault(table, []).append(ForeignKey(table, tuple(own), other, tuple(targets)))
        return {
            name: TableSchema(name, tuple(names), primary.get(name, ()), tuple(foreign.get(name, ())))
            for name, names in columns.items()
        }


def quoted(name: str) -> str:
    """An identifier quoted for SQL."""
    return '"' + str(name).replace('"', '""') + '"'


def _explained(error: Exception, database: FileDatabase) -> DataError:
    """A database's error in terms that make sense to someone who did not write the query."""
    text = str(error)
    if "decode to UTF-8" in text:
        return DataError(
            f"{database!r} holds text that is not UTF-8: {text}; store it as UTF-8, or leave the column out"
        )
    if "rowid" in text:
        return DataError(
            f"{database!r} has a table or view without row numbers: {text}; pass its tables as data frames"
        )
    return DataError(f"{database!r} cannot answer: {text}")
