"""A database queried through SQLAlchemy: one connection, one consistent read, in pieces, within limits.

Everything within one `Server.reading` sees the same state of the database: a read-only transaction
at the level REPEATABLE READ. Rows come from the server in pieces whose size is added up on the way.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mercer._errors import DataError, MercerError
from mercer.io.databases.address import Address, driver_missing, sqlalchemy_for, unknown_database
from mercer.io.databases.answers import QueryLimits, clock, too_slow, weighed

# Rows that are fetched together.
_ROWS = 2000
# Seconds to wait for a server that does not answer at all.
_CONNECT_SECONDS = 10
_LEVELS = ("REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE")
_WITH_TIMEOUT = ("psycopg", "psycopg2", "pymysql", "mysqldb")
_MOST_WORDS = 300
# Errors of servers and drivers on connecting (PostgreSQL, MySQL and MariaDB), and what they mean.
_MEANINGS = {
    r"authentication failed|Access denied for user \S+ \(using password|Login failed": "refuses the user and password",
    r"no password supplied|fe_sendauth": "asks for a password, but the address contains none",
    r'database "[^"]*" does not exist|Unknown database|Access denied for user \S+ to database': (
        "cannot be read: the server has no database of that name"
    ),
    r"refused|could not connect|Can't connect|time ?out|timed out|Name or service|could not translate|"
    r"failed to resolve|getaddrinfo|No route|unreachable|No such file": (
        "cannot be reached: no server answers there; is it running, and are host and port right?"
    ),
}


_ABOUT_PASSWORDS = tuple(_MEANINGS)[:2]


class Server:
    """A database at an address, queried within limits.

    Parameters
    ----------
    address : Address
    limits : callable
        Returns the `QueryLimits` of the next query.
    """

    def __init__(self, address: Address, limits: Callable[[], QueryLimits]) -> None:
        self.address, self.limits = address, limits

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """A SQLAlchemy connection in a transaction that sees one state of the database and changes nothing."""
        engine = self._engine()
        with self.explained(is_connecting=True):
            opened = engine.connect()
        with opened:
            with self.explained():
                connection = opened.execution_options(**self._options(engine))
                self._forbid_writing(connection)
            with connection.begin() as transaction:
                try:
                    yield connection
                finally:
                    transaction.rollback()

    def _engine(self) -> Any:
        sqlalchemy = sqlalchemy_for(f"{self.address.kind} databases")
        url = self.address.url
        has_timeout = url.drivername.rpartition("+")[2] in _WITH_TIMEOUT and "connect_timeout" not in url.query
        waiting = {"connect_timeout": _CONNECT_SECONDS} if has_timeout else {}
        try:
            return sqlalchemy.create_engine(
                url, poolclass=sqlalchemy.pool.NullPool, hide_parameters=True, connect_args=waiting
            )
        except sqlalchemy.exc.NoSuchModuleError:
            raise unknown_database(self.address) from None
        except ImportError as error:
            raise driver_missing(self.address, error) from error

    def _options(self, engine: Any) -> dict[str, Any]:
        """The isolation level with which a transaction sees one state of the database."""
        known = engine.dialect.get_isolation_level_values(None)
        level = next((each for each in _LEVELS if each in known), None)
        options = {} if level is None else {"isolation_level": level}
        return {**options, "postgresql_readonly": True} if engine.dialect.name == "postgresql" else options

    def _forbid_writing(self, connection: Any) -> None:
        """For databases that SQLAlchemy cannot make read-only by itself."""
        words = {
            "mysql": "SET SESSION TRANSACTION READ ONLY",
            "mariadb": "SET SESSION TRANSACTION READ ONLY",
            "sqlite": "PRAGMA query_only = ON",
        }.get(connection.dialect.name)
        if words is not None:
            connection.exec_driver_sql(words)
            connection.commit()

    def answer(self, connection: Any, statement: Any) -> tuple[list[str] | None, list[tuple[Any, ...]]]:
        """(names of columns, rows) selected by a SQLAlchemy statement, or SQL as text; None for no columns."""
        limits, name = self.limits(), self.address.shown
        streamed = connection.execution_options(stream_results=True, max_row_buffer=_ROWS)
        end = time.monotonic() + limits.seconds
        with self.explained(), clock(_interrupt(connection), limits.seconds, name):
            if isinstance(statement, str):
                # Verbatim: no character in it marks a parameter.
                found = streamed.execution_options(no_parameters=True).exec_driver_sql(statement)
            else:
                found = streamed.execute(statement)
            if not found.returns_rows:
                return None, []

            def some() -> list[tuple[Any, ...]]:
                if time.monotonic() > end:
                    raise too_slow(limits.seconds, name)
                return [tuple(row) for row in found.fetchmany(_ROWS)]

            try:
                return list(found.keys()), weighed(iter(some, []), limits, name)
            finally:
                found.close()

    @contextmanager
    def explained(self, is_connecting: bool = False) -> Iterator[None]:
        """Turn errors of SQLAlchemy and the driver into a DataError that names the address without its secrets."""
        sqlalchemy = sqlalchemy_for(f"{self.address.kind} databases")
        try:
            yield
        except MercerError:
            raise
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise self._meaning(getattr(error, "orig", None) or error, is_connecting) from None
        except (OSError, ValueError, OverflowError, TypeError, AttributeError) as error:
            # Errors of a driver itself, such as for a date beyond Python's range.
            raise self._meaning(error, is_connecting) from None

    def _meaning(self, error: BaseException, is_connecting: bool) -> DataError:
        is_numbered = len(error.args) == 2 and isinstance(error.args[0], int)  # as drivers of MySQL have it
        said, shown = self.address.cleaned(error.args[1] if is_numbered else error), self.address.shown
        words = next((each for each in _MEANINGS if re.search(each, said, re.IGNORECASE)), None)
        if is_connecting and words is not None:
            is_lost = self.address.is_bare and words in _ABOUT_PASSWORDS
            hint = "; passwords are not sent to other processes: set PGPASSWORD there, or write ~/.pgpass"
            return DataError(f"{shown} {_MEANINGS[words]}{hint if is_lost else ''}")
        first = said.strip().split("\nLINE")[0].split("\nHINT")[0].replace("\n", " ")[:_MOST_WORDS]
        return DataError(f"{shown} cannot answer: {first}")


def _interrupt(connection: Any) -> Callable[[], object]:
    """A function that ends the current query of a connection, from another thread."""
    driver = connection.connection.driver_connection
    if hasattr(driver, "cancel"):
        return driver.cancel
    if hasattr(driver, "interrupt"):
        return driver.interrupt
    if hasattr(driver, "thread_id"):
        return lambda: _kill(connection.engine, int(driver.thread_id()))
    return lambda: None


def _kill(engine: Any, number: int) -> None:
    """MySQL ends a query when another connection says so."""
    with engine.connect() as other:
        other.exec_driver_sql(f"KILL QUERY {number}")
