"""The answer to a query, within a time and a memory: a view of a stranger's may have no end, and a value no size.

Rows are taken one after the other and weighed, so that what does not end is refused as soon as it is too much.
A clock of its own interrupts the database when the time is up. SQLite is told how long a value may be, DuckDB how much
memory it may take for itself; a file of DuckDB's is also asked nothing that another file or the network would answer.
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

# Seconds that a query may take unless told; people who wait for longer know that they do.
SECONDS = 600.0
# Rows of DuckDB's that are weighed together: it makes this many at a time.
_ROWS = 2048
# Steps of SQLite's between two looks at Ctrl-C.
_STEPS = 100_000
# Numbers of MySQL's errors for a query that was killed.
_STOPPED_BY_MYSQL = ((1317,), (3024,), (1969,))
# SQLite's own bound on the length of a value.
_LONGEST = 10**9


class QueryLimits(NamedTuple):
    """Bytes that an answer may take, seconds that it may take to come, and rows that it may have."""

    most: int
    seconds: float
    rows: int | None = None

    @classmethod
    def of(
        cls, memory_limit: Any = None, time_limit: float | None = None, row_limit: int | None = None
    ) -> "QueryLimits":
        """From what a caller says; what is free, ten minutes, and any number of rows, where nothing is said."""
        if time_limit is not None and not time_limit > 0:
            raise ParameterError(f"time_limit must be positive, got {time_limit!r}")
        is_count = isinstance(row_limit, int) and not isinstance(row_limit, bool) and row_limit > 0
        if row_limit is not None and not is_count:
            raise ParameterError(f"row_limit must be a positive integer or None, got {row_limit!r}")
        most = available_bytes() if memory_limit is None else parse_bytes(memory_limit)
        return cls(most, SECONDS if time_limit is None else min(float(time_limit), threading.TIMEOUT_MAX), row_limit)


def open_sqlite(path: Any) -> sqlite3.Connection:
    """A connection to a SQLite file that can be read and not written; any name that a file may have is quoted."""
    connection = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)
    # Python hears Ctrl-C only when it is asked for something.
    connection.set_progress_handler(lambda: 0, _STEPS)
    return connection


def open_duckdb(path: Any, limits: QueryLimits) -> Any:
    """A connection to a DuckDB file that reads it and nothing else: no other files, no network."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError("DuckDB files need duckdb: pip install 'mercer[sql]'") from error
    config: dict[str, Any] = {
        "enable_external_access": "false",
        "memory_limit": f"{limits.most}B",
        "temp_directory": "",
        # They would compute a constant of any size beforehand, which counts for nothing.
        "disabled_optimizers": "expression_rewriter,statistics_propagation",
    }
    try:
        return duckdb.connect(str(path), read_only=True, config=config)
    except duckdb.Error as error:
        raise DataError(f"{path}: cannot be opened: {error}") from error


def answer(
    connection: Any, sql: str, parameters: Sequence[Any], limits: QueryLimits, name: str
) -> tuple[list[str] | None, list[tuple[Any, ...]]]:
    """(names of columns or None, rows); a DataError says of `name` that it took too much, else the database speaks."""
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
    """``ask()`` in another thread: DuckDB looks for Ctrl-C between its tasks only, and one task may have no end."""
    with ThreadPoolExecutor(1) as another:
        asked = another.submit(ask)
        try:
            # A signal that another thread was given is heard at the next step of Python's, which no wait may put off.
            while not asked.done():
                wait([asked], PATIENCE_SECONDS)
        except KeyboardInterrupt:
            connection.interrupt()
            raise
        return asked.result()


def weighed(many: Iterable[list[tuple[Any, ...]]], limits: QueryLimits, name: str) -> list[tuple[Any, ...]]:
    """Rows that come some at a time; refused as soon as they are too many, or take too much."""
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
    """How many columns an answer will have, from SQLite's plan for it: nothing is computed yet."""
    plan = connection.execute(f"EXPLAIN {sql}", parameters).fetchall()
    return max([1, *(step[3] for step in plan if step[1] == "ResultRow")])


@contextmanager
def _short_values(connection: sqlite3.Connection, longest: int, name: str) -> Iterator[None]:
    """Let no value be longer, also not on the way to another; the connection may be the caller's, so only for now."""
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
    """Interrupt a database when the time is up; what it then says becomes a DataError, Ctrl-C stays what it is."""
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
    """The error that says so."""
    return DataError(
        f"{name}: there was no answer within {seconds:g} seconds; ask for less, or allow more time (time_limit, "
        "--time-limit)"
    )


def _was_interrupted(error: Exception) -> bool:
    """Whether a database says that it was asked to stop: SQLite's words, the classes of DuckDB and PostgreSQL."""
    said = getattr(error, "orig", None) or error  # as SQLAlchemy has it
    is_sqlite = isinstance(said, sqlite3.OperationalError) and str(said) == "interrupted"
    is_mysql = type(said).__module__.startswith("pymysql") and said.args[:1] in _STOPPED_BY_MYSQL
    return is_sqlite or is_mysql or type(said).__name__ in ("InterruptException", "QueryCanceled")
