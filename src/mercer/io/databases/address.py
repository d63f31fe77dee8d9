"""The address of a database, in SQLAlchemy's form: postgresql://me@host/bank. Its secrets are never shown."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mercer._errors import DataError, MissingExtraError, ParameterError

_ADDRESS = re.compile(r"(?P<kind>[A-Za-z][A-Za-z0-9_.-]+)(\+[A-Za-z0-9_.-]+)?://")
# The default driver of each database: those that `mercer[sql]` installs.
_DRIVERS = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
_FILES = ("sqlite", "duckdb")
_WEB = ("http", "https", "ftp", "s3", "gs", "file")
# Secret parts of an address other than the password, by the names that drivers give them.
_SECRET = re.compile(r"pass|pwd|secret|token|key", re.IGNORECASE)
_HIDDEN = "***"


def is_address(source: object) -> bool:
    """Whether a source is the address of a database rather than the name of a file.

    Examples
    --------
    >>> from mercer.io.databases.address import is_address
    >>> is_address("postgresql://me@localhost/bank"), is_address("people.csv"), is_address("C://people.csv")
    (True, False, False)
    """
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def file_of(address: str) -> tuple[str, Path] | None:
    """(kind, path) if an address is that of a SQLite or DuckDB file, which needs no server; otherwise None."""
    kind = kind_of(address)
    if kind not in _FILES:
        return None
    path = address.partition("://")[2].partition("?")[0].removeprefix("/")
    if not path or path == ":memory:":
        raise ParameterError(f"the address must name a file, such as {kind}:///bank.db, got {address!r}")
    return kind, Path(path)


def kind_of(address: str) -> str:
    """The kind of database of an address, such as "postgresql"."""
    found = _ADDRESS.match(address)
    if found is None:
        raise ParameterError("the address of a database must begin with its kind, such as postgresql://")
    return found["kind"].lower()


class Address:
    """An address whose password is used but never shown: not in messages, as text, or in copies for other processes.

    Parameters
    ----------
    text : str
        Such as ``postgresql://me:secret@host:5432/bank``; the password may be left out (PGPASSWORD, ~/.pgpass).

    Examples
    --------
    >>> from mercer.io.databases.address import Address
    >>> Address("postgresql://me:secret@localhost/bank")
    postgresql://me:***@localhost/bank
    """

    def __init__(self, text: str) -> None:
        kind = kind_of(text)
        if kind in _WEB:
            raise ParameterError(f"{kind}:// is not a database; download the file first, and pass its path")
        sqlalchemy = sqlalchemy_for(f"{kind} databases")
        try:
            url = sqlalchemy.engine.make_url(text)
        except (sqlalchemy.exc.ArgumentError, ValueError):
            # An unreadable part may be a password, so nothing of it is repeated.
            raise _unreadable(kind) from None
        if "@" in f"{url.host}{url.database}":
            raise _unreadable(kind)
        self.url: Any = url.set(drivername=_DRIVERS.get(url.drivername.lower(), url.drivername))
        self.kind, self.is_bare = kind, False
        self.shown = _shown(self.url, kind)

    def __repr__(self) -> str:
        return self.shown

    def __getstate__(self) -> dict[str, Any]:
        query = {name: value for name, value in self.url.query.items() if not _SECRET.search(name)}
        # SQLAlchemy's own way to hide a password leaves it in if there is none to put in its place.
        bare = self.url.create(
            self.url.drivername, self.url.username, None, self.url.host, self.url.port, self.url.database, query
        )
        return {"url": bare, "kind": self.kind, "shown": self.shown, "is_bare": bool(self._secrets()) or self.is_bare}

    def _secrets(self) -> list[str]:
        given = [value for name, value in self.url.query.items() if _SECRET.search(name)]
        texts = [each for value in given for each in ([value] if isinstance(value, str) else value)]
        return [text for text in (*texts, str(self.url.password or "")) if text]

    def cleaned(self, text: object) -> str:
        """A message without secrets, in case a driver has repeated them."""
        found = str(text)
        for secret in self._secrets():
            found = found.replace(secret, _HIDDEN)
        return found


def sqlalchemy_for(what: str) -> Any:
    """The library, or an error that names the extra."""
    try:
        import sqlalchemy
    except ImportError as error:
        raise MissingExtraError(f"{what} need SQLAlchemy: pip install 'mercer[sql]'") from error
    return sqlalchemy


def driver_missing(address: Address, error: ImportError) -> MissingExtraError:
    """The error for a driver that is not installed."""
    name = error.name or address.url.drivername.partition("+")[2] or address.kind
    if address.url.drivername in _DRIVERS.values() and find_spec(name) is None:
        return MissingExtraError(f"{address.kind} databases need {name}: pip install 'mercer[sql]'")
    return MissingExtraError(f"{address.shown} needs the driver {name}, which is not installed: pip install {name}")


def unknown_database(address: Address) -> ParameterError:
    """The error for an unknown kind of database."""
    return ParameterError(
        f"{address.url.drivername!r} is not a known database; addresses begin with postgresql://, mysql:// or "
        "sqlite:///, for example, and others need their SQLAlchemy dialect installed"
    )


def _unreadable(kind: str) -> DataError:
    return DataError(
        f"the address of the {kind} database cannot be read; it must look like {kind}://user:password@host:port/name; "
        "in a password @ is written %40, / is %2F and : is %3A"
    )


def _shown(url: Any, kind: str) -> str:
    """The address as given, with stars for its secrets."""
    hidden = {name: _HIDDEN for name in url.query if _SECRET.search(name)}
    text = url.update_query_dict(hidden).render_as_string(hide_password=True) if hidden else str(url)
    rest = text.partition("://")[2].replace("%2A%2A%2A", _HIDDEN)
    return f"{kind}://{rest}"
