"""A table, or the answer to a query, from a SQLite or DuckDB file or a server, opened read-only."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

from mercer._errors import DataError, ParameterError
from mercer.io.databases.address import Address, sqlalchemy_for
from mercer.io.databases.answers import QueryLimits, answer, open_duckdb, open_sqlite
from mercer.io.databases.files import quoted
from mercer.io.databases.server import Server
from mercer.io.databases.values import plain
from mercer.kernels.table.column_frame import ColumnFrame

if TYPE_CHECKING:
    from mercer.io.source import Source

_LISTED_AT_MOST = 20
_LISTED = {
    "sqlite": (
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ),
    "duckdb": "SELECT table_name FROM information_schema.tables ORDER BY table_name",
}


def read_query(
    source: "Source", kind: str, limits: QueryLimits, table: str | None = None, query: str | None = None
) -> ColumnFrame:
    """The rows of `table`, or those that `query` selects; by default, the only table."""
    _require_one(table, query)
    if source.plain_path is None:
        raise DataError(f"{source.name}: a database must be a file that is not compressed; unpack it first")
    with closing(open_sqlite(source.path) if kind == "sqlite" else open_duckdb(source.path, limits)) as connection:
        sql = query if query is not None else f"SELECT * FROM {quoted(_table(source, kind, connection, table, limits))}"  # noqa: S608
        names, rows = _answer(source, connection, sql, limits)
    return _frame(names, rows, source.name)


def read_address(
    address: Address, limits: QueryLimits, table: str | None = None, query: str | None = None
) -> ColumnFrame:
    """The same for the database at an address."""
    _require_one(table, query)
    server = Server(address, lambda: limits)
    with server.reading() as connection:
        statement = query if query is not None else _whole_table(server, connection, table)
        names, rows = server.answer(connection, statement)
    if names is None:
        raise DataError(f"{address.shown}: the query selects nothing")
    return _frame(names, rows, address.shown)


def _whole_table(server: Server, connection: Any, table: str | None) -> Any:
    """The statement that selects a table or a view, possibly in another schema: "sales.orders"."""
    sqlalchemy = sqlalchemy_for(f"{server.address.kind} databases")
    with server.explained():
        inspector = sqlalchemy.inspect(connection)
        names = sorted({*inspector.get_table_names(), *inspector.get_view_names()})
        schema, _, inside = (table or "").rpartition(".")
        if schema and table not in names and schema in inspector.get_schema_names():
            there = sorted({*inspector.get_table_names(schema), *inspector.get_view_names(schema)})
            chosen = _chosen(server.address.shown, inside, there)
            return sqlalchemy.select(sqlalchemy.text("*")).select_from(sqlalchemy.table(chosen, schema=schema))
        chosen = _chosen(server.address.shown, table, names)
        return sqlalchemy.select(sqlalchemy.text("*")).select_from(sqlalchemy.table(chosen))


def _require_one(table: str | None, query: str | None) -> None:
    if table is not None and query is not None:
        raise ParameterError("give a table or a query, not both")


def _frame(names: Sequence[str], rows: Sequence[tuple[Any, ...]], source: str) -> ColumnFrame:
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise DataError(f"{source}: the answer has two columns called {twice!r}; rename one with AS")
    if not rows:
        raise DataError(f"{source}: the answer has no rows")
    columns = {name: list(map(plain, values)) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
    return ColumnFrame.of_lists(columns, source)


def _answer(
    source: "Source", connection: Any, sql: str, limits: QueryLimits
) -> tuple[list[str], list[tuple[Any, ...]]]:
    try:
        names, rows = answer(connection, sql, (), limits, source.name)
    except (sqlite3.Error, sqlite3.Warning, RuntimeError, UnicodeDecodeError) as error:
        raise DataError(f"{source.name}: cannot answer: {error}") from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("duckdb", "_duckdb"):
            raise
        raise DataError(f"{source.name}: cannot answer: {error}") from error
    if names is None:
        raise DataError(f"{source.name}: the query selects nothing")
    return names, rows


def _table(source: "Source", kind: str, connection: Any, table: str | None, limits: QueryLimits) -> str:
    names = [name for (name,) in _answer(source, connection, _LISTED[kind], limits)[1]]
    return _chosen(source.name, table, names)


def _chosen(source: str, table: str | None, names: Sequence[str]) -> str:
    """The name of a table, or the only one; otherwise an error that lists them."""
    if table is None and len(names) == 1:
        return names[0]
    if table in names:
        return cast(str, table)
    if not names:
        raise DataError(f"{source}: the database has no tables")
    close = get_close_matches(str(table), names, n=1)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    asked = "several tables" if table is None else f"no table {table!r}{meant}"
    listed = ", ".join(names[:_LISTED_AT_MOST]) + (", ..." if len(names) > _LISTED_AT_MOST else "")
    raise DataError(f"{source}: the database has {asked}; choose one of {listed} with table (--table)")
