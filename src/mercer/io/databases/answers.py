"""The answer to a query, within a time and a memory limit: a stranger's view may never end, and a value may be huge.

Rows are fetched one after the other and their size is added up, so that an endless answer is refused as soon as it is
too large. A timer interrupts the database when the time is up. SQLite is told how long a value may be, DuckDB how much
memory it may use; a DuckDB file cannot access other files or the network.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from sys import getsizeof
from typing import Any, NamedTuple, TypeVar

from mercer._errors import DataError, MissingExtraError, ParameterError
from mercer._jit.memory import available_bytes, parse_bytes
from mercer._jit.waiting import PATIENCE_SECONDS

T = TypeVar("T")

# Default time limit of a query, in seconds; people who wait longer know that they do.
SECONDS = 600.0
# DuckDB rows whose size is added up together: it produces this many at a time.
_ROWS = 2048
# SQLite steps between two checks for Ctrl-C.
_STEPS = 100_000
# MySQL's error numbers for a query that was killed.
_STOPPED_BY_MYSQL = ((1317,), (3024,), (1969,))
# SQLite's own bound on the length of a value.
_LONGEST = 10**9


class QueryLimits(NamedTuple):
    """Bytes that an answer may take, seconds until it comes, and rows that it may have."""

    most: int
    seconds: float
    rows: int | None = None

    @classmethod
    def of(
        cls, memory_limit: Any = None, time_limit: float | None = None, row_limit: int | None = None
    ) -> "QueryLimits":
        """From the caller's limits; by default the free memory, ten minutes, and any number of rows."""
        if time_limit is not None and not time_limit > 0:
            raise ParameterError(f"time_limit must be positive, got {time_limit!r}")
        is_count = isinstance(row_limit, int) and not isinstance(row_limit, bool) and row_limit > 0
        if row_limit is not None and not is_count:
            raise ParameterError(f"row_limit must be a positive integer or None, got {row_limit!r}")
        most = available_bytes() if memory_limit is None else parse_bytes(memory_limit)
        return cls(most, SECONDS if time_limit is None else min(float(time_limit), threading.TIMEOUT_MAX), row_limit)


def open_sqlite(path: Any) -> sqlite3.Connection:
    """A read-only connection to a SQLite file; any file name is quoted."""
    connection = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)
    # Python notices Ctrl-C only when it runs.
    connection.set_progress_handler(lambda: 0, _STEPS)
    return connection


def open_duckdb(path: Any, limits: QueryLimits) -> Any:
    """A connection to a DuckDB file that reads only this file: no other files, no network."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError("DuckDB files need duckdb: pip install 'mercer[sql]'") from error
    config: dict[str, Any] = {
        "enable_external_access": "false",
        "memory_limit": f"{limits.most}B",
        "temp_directory": "",
        # They would compute a constant of any size beforehand, outside the limit.
        "disabled_optimizers": "expression_rewriter,statistics_propagation",
    }
    try:
        return duckdb.connect(str(path), read_only=True, config=config)
    except duckdb.Error as error:
        raise DataError(f"{path}: cannot be opened: {error}") from error


def answer(
    connection: Any, sql: str, parameters: Sequence[Any], limits: QueryLimits, name: str
) -> tuple[list[str] | None, list[tuple[Any, ...]]]:
    """(names of columns or None, rows); a DataError about `name` if it took too much, or the database's error."""
    is_sqlite = isinstance(connection, sqlite3.Connection)

    def ask() -> tuple[list[str] | None, list[tuple[Any, ...]]]:
        cursor = connection.execute(sql, parameters)
        columns = None if cursor.description is None else [column[0] for column in cursor.description]
        many = iter(lambda: cursor.fetchmany(1 if is_sqlite else _ROWS), [])
        return columns, weighed(many, limits, name)

    with clock(connection.interrupt, limits.seconds, name):
        if not is_sqlite:
            return _hearing_ctrl_c(connection, ask)
        longest = limits.most // (4 * _width(connection, sql, parameters))
        with _short_values(connection, min(_LONGEST, max(1, longest)), name):
            return ask()


def _hearing_ctrl_c(connection: Any, ask: Callable[[], T]) -> T:
    """``ask()`` in another thread: DuckDB checks for Ctrl-C only between its tasks, and one task may never end."""
    with ThreadPoolExecutor(1) as another:
        asked = another.submit(ask)
        try:
            # A signal for another thread is noticed at Python's next step, which no wait may put off.
            while not asked.done():
                wait([asked], PATIENCE_SECONDS)
        except KeyboardInterrupt:
            connection.interrupt()
            raise
        return asked.result()


def weighed(many: Iterable[list[tuple[Any, ...]]], limits: QueryLimits, name: str) -> list[tuple[Any, ...]]:
    """Rows that come a few at a time; refused as soon as they are too many, or take too much."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for some in many:
        size += sum(getsizeof(row) + sum(map(getsizeof, row)) for row in some)
        if size > limits.most:
            raise DataError(
                f"{name}: the answer has more than {len(rows):,} rows, which do not fit into {limits.most:,} bytes of "
                "memory; select fewer, or allow more (memory_limit, --memory-limit)"
            )
        rows += some
        if limits.rows is not None and len(rows) > limits.rows:
            raise DataError(
                f"{name}: the answer has more than {limits.rows:,} rows; select fewer, or allow more (row_limit, "
                "--row-limit)"
            )
    return rows


def _width(connection: sqlite3.Connection, sql: str, parameters: Sequence[Any]) -> int:
    """How many columns an answer will have, from SQLite's plan, before anything is computed."""
    plan = connection.execute(f"EXPLAIN {sql}", parameters).fetchall()
    return max([1, *(step[3] for step in plan if step[1] == "ResultRow")])


@contextmanager
def _short_values(connection: sqlite3.Connection, longest: int, name: str) -> Iterator[None]:
    """Limit the length of values, even intermediate ones; only for now, since the connection may be the caller's."""
    before = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    try:
        yield
    except sqlite3.Error as error:
        if "too big" not in str(error):
            raise
        raise DataError(
            f"{name}: a value is longer than {longest:,} bytes, which is more than a row may take; leave its column "
            "out, or allow more memory (memory_limit, --memory-limit)"
        ) from error
    finally:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)


@contextmanager
def clock(interrupt: Callable[[], object], seconds: float, name: str) -> Iterator[None]:
    """Interrupt a database when the time is up; its error then becomes a DataError, while Ctrl-C stays what it is."""
    end = time.monotonic() + seconds
    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if not _was_interrupted(error):
            raise
        if time.monotonic() < end:
            raise KeyboardInterrupt from error
        raise too_slow(seconds, name) from error
    finally:
        timer.cancel()
        timer.join()


def too_slow(seconds: float, name: str) -> DataError:
    """The error for a query that took too long."""
    return DataError(
        f"{name}: there was no answer within {seconds:g} seconds; select less, or allow more time (time_limit, "
        "--time-limit)"
    )


def _was_interrupted(error: Exception) -> bool:
    """Whether a database error means that it was interrupted: SQLite's message, DuckDB's and PostgreSQL's classes."""
    said = getattr(error, "orig", None) or error  # SQLAlchemy wraps it
    is_sqlite = isinstance(said, sqlite3.OperationalError) and str(said) == "interrupted"
    is_mysql = type(said).__module__.startswith("pymysql") and said.args[:1] in _STOPPED_BY_MYSQL
    return is_sqlite or is_mysql or type(said).__name__ in ("InterruptException", "QueryCanceled")
