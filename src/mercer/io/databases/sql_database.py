"""Any database that SQLAlchemy supports as a database of records: reflected keys, and rows looked up by them.

A row is identified by its primary key. Without one, it is identified by all its values, and equal rows by their number
among each other: asking for one of them by a column returns all. Within one `SQLDatabase.reading` nothing changes, so
nothing is queried twice.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Self, TypeAlias

import numpy as np

from mercer._types import IndexArray
from mercer.io.databases.address import Address, file_of, is_address, sqlalchemy_for
from mercer.io.databases.answers import QueryLimits
from mercer.io.databases.files import DuckDBDatabase, SQLiteDatabase
from mercer.io.databases.server import Server
from mercer.io.databases.values import plain
from mercer.kernels.relational.schema import ForeignKey, Join, TableSchema
from mercer.kernels.relational.tables import no_single_row

# Values per query; some databases take no more than a thousand.
_MOST_VALUES = 1000
_TUPLES = ("postgresql", "mysql", "mariadb", "sqlite")

Key: TypeAlias = tuple[Any, ...]


def open_database(source: Any, **limits: Any) -> "SQLDatabase | SQLiteDatabase | DuckDBDatabase":
    """Open the database at an address, for `Record`; a SQLite or DuckDB file needs no server and is read directly.

    Parameters
    ----------
    source : str
        An address, such as ``postgresql://me@host/bank`` or ``sqlite:///bank.db``.
    **limits
        ``memory_limit``, ``time_limit``: see `SQLDatabase`.

    Examples
    --------
    >>> import sqlite3, tempfile, pathlib
    >>> from mercer.io import open_database
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trains.db"
    >>> with sqlite3.connect(path) as connection:
    ...     _ = connection.execute("CREATE TABLE train (id INTEGER PRIMARY KEY, speed REAL)")
    >>> connection.close()
    >>> open_database(f"sqlite:///{path}").schema["train"].primary_key
    ('id',)
    """
    found = file_of(source) if is_address(source) else None
    if found is None:
        return SQLDatabase(source, **limits)
    return (SQLiteDatabase if found[0] == "sqlite" else DuckDBDatabase)(found[1], **limits)


class SQLDatabase:
    """A database on a server, for `Record`; needs ``pip install 'mercer[sql]'``.

    Parameters
    ----------
    address : str
        In SQLAlchemy's form: ``postgresql://me@host/bank``, ``mysql://...``. The password is used to connect, but
        neither shown nor kept in models, reports or copies.
    schema : str, optional
        The schema of the tables; by default the user's own.
    memory_limit : int or str, optional
        Bytes (or "2GiB") that the answer to a query may take; by default, the free memory.
    time_limit : float, optional
        Seconds that a query may take; ten minutes by default.
    row_limit : int, optional
        Rows that the answer to a query may have; more are refused.

    Examples
    --------
    >>> from mercer.io import SQLDatabase
    >>> SQLDatabase("postgresql://me@localhost:1/bank")
    Traceback (most recent call last):
    mercer._errors.DataError: postgresql://me@localhost:1/bank cannot be reached: no server answers there; ...
    """

    def __init__(
        self,
        address: str,
        *,
        schema: str | None = None,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        row_limit: int | None = None,
    ) -> None:
        self._address, self._namespace = Address(address), schema
        self._asked = (memory_limit, time_limit, row_limit)
        QueryLimits.of(*self._asked)
        self._forget()
        with self.reading():
            self._reflect()

    def _forget(self) -> None:
        self._lock, self._connection = threading.RLock(), None
        self._server = Server(self._address, lambda: QueryLimits.of(*self._asked))
        self._rows: dict[str, _Rows] = {}

    def __repr__(self) -> str:
        return f"SQLDatabase({self._address.shown!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Nothing here changes, and a connection cannot be copied.
        return self

    def __getstate__(self) -> dict[str, Any]:
        lost = ("_lock", "_connection", "_server", "_rows")
        return {name: value for name, value in vars(self).items() if name not in lost}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Make everything within see one state of the database: ``with database.reading(): model.fit(keys, y)``."""
        with self._lock:
            if self._connection is not None:
                yield
                return
            with self._server.reading() as connection:
                self._connection, self._rows = connection, {}
                try:
                    yield
                finally:
                    self._connection = None

    def _reflect(self) -> None:
        """The schema, and the tables with the types of their columns."""
        sqlalchemy = sqlalchemy_for("databases")
        with self._server.explained():
            inspector = sqlalchemy.inspect(self._connection)
            columns = inspector.get_multi_columns(self._namespace)
            primary = inspector.get_multi_pk_constraint(self._namespace)
            foreign = inspector.get_multi_foreign_keys(self._namespace)
        known = sqlalchemy.MetaData()
        self._tables: dict[str, Any] = {}
        self.schema: dict[str, TableSchema] = {}
        for place in sorted(columns, key=str):
            name, own = place[1], tuple(column["name"] for column in columns[place])
            typed = [sqlalchemy.Column(column["name"], _type(sqlalchemy, column["type"])) for column in columns[place]]
            self._tables[name] = sqlalchemy.Table(name, known, *typed, schema=self._namespace)
            keys = [
                _foreign_key(name, key) for key in foreign.get(place, []) if key["referred_schema"] == self._namespace
            ]
            found = (primary.get(place) or {}).get("constrained_columns", ())
            self.schema[name] = TableSchema(name, own, tuple(found), tuple(keys))

    def find(self, table: str, columns: Sequence[str], keys: Sequence[Key]) -> IndexArray:
        """The row of each key."""
        with self._continued():
            rows = self._matching(table, tuple(columns), keys)
            found = [rows.get(tuple(key), []) for key in keys]
            wrong = next((k for k, each in enumerate(found) if len(each) != 1), None)
            if wrong is not None:
                raise no_single_row(table, columns, keys[wrong], len(found[wrong]), self._count(table))
        return np.array([each[0] for each in found], dtype=np.int64)

    def linked(self, join: Join, rows: IndexArray) -> IndexArray:
        """(row, linked row) for every link of the given rows."""
        with self._continued():
            values = self._values(join.table, rows, tuple(join.columns))
            others = self._matching(join.to_table, tuple(join.to_columns), values)
        pairs = [(row, other) for row, value in zip(rows, values, strict=True) for other in others.get(value, ())]
        return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T

    def dangling(self, join: Join, rows: IndexArray) -> Key | None:
        """A value of `join`'s foreign key among the rows that matches no row; None if all match."""
        with self._continued():
            values = self._values(join.table, rows, tuple(join.columns))
            others = self._matching(join.to_table, tuple(join.to_columns), values)
        return next((value for value in values if None not in value and value not in others), None)

    def read(self, table: str, rows: IndexArray, columns: Sequence[str]) -> list[dict[str, Any]]:
        """The rows, in order, as dictionaries."""
        with self._continued():
            values = self._values(table, rows, tuple(columns))
        return [dict(zip(columns, each, strict=True)) for each in values]

    @contextmanager
    def _continued(self) -> Iterator[None]:
        """A single query keeps the numbers given to rows by the last one."""
        with self._lock:
            known = self._rows
            with self.reading():
                self._rows = known
                yield

    def _of(self, table: str) -> "_Rows":
        own = self.schema[table]
        return self._rows.setdefault(table, _Rows(own.primary_key or own.columns, is_unique=bool(own.primary_key)))

    def _matching(self, table: str, columns: tuple[str, ...], keys: Sequence[Key]) -> dict[Key, list[int]]:
        """The rows that have each of the keys in some columns; keys without any are absent."""
        rows = self._of(table)
        known = rows.matches.setdefault(columns, {})
        wanted = dict.fromkeys(tuple(key) for key in keys if None not in key)
        missing = [key for key in wanted if key not in known]
        for some in _chunks(missing, _MOST_VALUES // len(columns)):
            known.update({key: [] for key in some})
            for answer in self._ask(table, (*columns, *rows.columns), columns, some):
                key = tuple(answer[: len(columns)])
                known.setdefault(key, []).append(rows.number(answer[len(columns) :]))
            rows.end_answer()
        return {key: known[key] for key in wanted if known.get(key)}

    def _values(self, table: str, numbers: IndexArray, columns: tuple[str, ...]) -> list[Key]:
        """The values of some columns of rows."""
        rows = self._of(table)
        keys = [rows.key(int(number)) for number in numbers]
        if set(columns) <= set(rows.columns):
            places = [rows.columns.index(name) for name in columns]
            return [tuple(key[k] for k in places) for key in keys]
        found = {}
        for some in _chunks(list(dict.fromkeys(keys)), _MOST_VALUES // len(rows.columns)):
            for answer in self._ask(table, (*rows.columns, *columns), rows.columns, some):
                found[tuple(answer[: len(rows.columns)])] = tuple(answer[len(rows.columns) :])
        return [found[key] for key in keys]

    def _ask(self, table: str, what: Sequence[str], where: Sequence[str], keys: Sequence[Key]) -> list[Key]:
        """Some columns of the rows that have one of the keys in others."""
        sqlalchemy, own = sqlalchemy_for("databases"), self._tables[table].c
        columns = [own[name] for name in where]
        if len(columns) == 1:
            condition = columns[0].in_([key[0] for key in keys])
        elif self._address.url.get_backend_name() in _TUPLES:
            condition = sqlalchemy.tuple_(*columns).in_([tuple(key) for key in keys])
        else:
            equal = [sqlalchemy.and_(*(c == v for c, v in zip(columns, key, strict=True))) for key in keys]
            condition = sqlalchemy.or_(*equal)
        chosen = [own[name].label(f"c{k}") for k, name in enumerate(what)]
        _, rows = self._server.answer(self._connection, sqlalchemy.select(*chosen).where(condition))
        # PostgreSQL pads CHAR(8) with blanks, which are not part of a key.
        padded = [isinstance(column.type, sqlalchemy.CHAR) for column in chosen]
        return [tuple(_key_value(*each) for each in zip(row, padded, strict=True)) for row in rows]

    def _count(self, table: str) -> int:
        sqlalchemy = sqlalchemy_for("databases")
        statement = sqlalchemy.select(sqlalchemy.func.count()).select_from(self._tables[table])
        return int(self._server.answer(self._connection, statement)[1][0][0])


class _Rows:
    """Numbers for the rows of a table, each identified by the values of some columns."""

    def __init__(self, columns: Sequence[str], is_unique: bool) -> None:
        self.columns, self._is_unique = tuple(columns), is_unique
        self.matches: dict[tuple[str, ...], dict[Key, list[int]]] = {}
        self._numbers: dict[tuple[Key, int], int] = {}
        self._keys: list[Key] = []
        self._seen: dict[Key, int] = {}

    def number(self, key: Key) -> int:
        """The number of a row; equal rows of one answer are distinguished by their order, on which nothing depends."""
        again = 0 if self._is_unique else self._seen.get(key, 0)
        if not self._is_unique:
            self._seen[key] = again + 1
        found = self._numbers.setdefault((key, again), len(self._keys))
        if found == len(self._keys):
            self._keys.append(key)
        return found

    def end_answer(self) -> None:
        """Equal rows all come in one answer, so the next answer starts counting again."""
        self._seen = {}

    def key(self, number: int) -> Key:
        return self._keys[number]


def _type(sqlalchemy: Any, kind: Any) -> Any:
    """The type of a column, with identifiers as texts, as in keys."""
    return sqlalchemy.Uuid(as_uuid=False) if isinstance(kind, sqlalchemy.Uuid) else kind


def _key_value(value: Any, is_padded: bool) -> Any:
    return value.rstrip(" ") if is_padded and isinstance(value, str) else plain(value)


def _foreign_key(table: str, key: Any) -> ForeignKey:
    return ForeignKey(table, tuple(key["constrained_columns"]), key["referred_table"], tuple(key["referred_columns"]))


def _chunks(keys: Sequence[Key], size: int) -> Iterator[list[Key]]:
    rest = iter(keys)
    while some := list(islice(rest, max(1, size))):
        yield some
