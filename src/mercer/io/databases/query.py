"""A table, or the answer to a query, of a SQLite or DuckDB file, opened for reading only."""

import sqlite3
from contextlib import closing
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

from mercer._errors import DataError, ParameterError
from mercer.io.databases.answers import QueryLimits, answer, open_duckdb, open_sqlite
from mercer.io.databases.records import quoted
from mercer.kernels.table.column_frame import ColumnFrame

if TYPE_CHECKING:
    from mercer.io.source import Source

_LISTED = {
    "sqlite": (
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ),
    "duckdb": "SELECT table_name FROM information_schema.tables ORDER BY table_name",
}


def read_query(
    source: "Source", kind: str, table: str | None = None, query: str | None = None, time_limit: float | None = None
) -> ColumnFrame:
    """The rows of `table`, or those that `query` selects; the only table where neither is given."""
    if table is not None and query is not None:
        raise ParameterError("give a table or a query, not both")
    if source.plain_path is None:
        raise DataError(f"{source.name}: a database must be a file that is not compressed; unpack it first")
    limits = QueryLimits.of(source.most, time_limit)
    with closing(open_sqlite(source.path) if kind == "sqlite" else open_duckdb(source.path, limits)) as connection:
        sql = query if query is not None else f"SELECT * FROM {quoted(_table(source, kind, connection, table, limits))}"  # noqa: S608
        names, rows = _answer(source, connection, sql, limits)
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise DataError(f"{source.name}: the answer has the column {twice!r} twice; name columns with AS")
    if not rows:
        raise DataError(f"{source.name}: the answer has no rows")
    return ColumnFrame.of_lists(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), source.name)


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
    if table is None and len(names) == 1:
        return names[0]
    if table in names:
        return cast(str, table)
    if not names:
        raise DataError(f"{source.name}: the database has no tables")
    close = get_close_matches(str(table), names, n=1)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    asked = "several tables" if table is None else f"no table {table!r}{meant}"
    raise DataError(f"{source.name}: has {asked}; choose one of {', '.join(names)} by table (--table)")
