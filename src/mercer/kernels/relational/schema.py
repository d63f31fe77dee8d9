"""Tables, keys and the links from one table to another.

A *database* here is any object with a ``schema`` (tables by name) and three methods that work on
many rows at once: ``find`` the rows of some keys, the rows ``linked`` to
given rows, and ``read`` some columns of rows. Rows are identified by the database's own
integers. `Tables` does this for data frames, `mercer.io.databases` for SQLite, DuckDB and servers. A database that
others may change also has ``reading()``, a context in which all answers are from a single state.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from mercer._errors import DataError

if TYPE_CHECKING:
    from mercer.kernels.relational.database import Schema
    from mercer.kernels.relational.link import Link


@dataclass(frozen=True)
class ForeignKey:
    """Columns of one table that identify a row of another."""

    table: str
    columns: tuple
    to_table: str
    to_columns: tuple

    def __str__(self) -> str:
        return f"{self.table}.{', '.join(self.columns)} -> {self.to_table}.{', '.join(self.to_columns)}"


@dataclass(frozen=True)
class TableSchema:
    """A table's columns, its primary key (empty if none is declared), and its foreign keys."""

    name: str
    columns: tuple
    primary_key: tuple = ()
    foreign_keys: tuple = ()


@dataclass(frozen=True)
class Join:
    """The link from rows of one table to those of another, along a foreign key or given columns."""

    table: str
    columns: tuple
    to_table: str
    to_columns: tuple
    key: ForeignKey | None = None

    @property
    def is_forward(self) -> bool:
        """Whether each row should match a row: it has the foreign key itself."""
        return self.key is not None and (self.key.table, self.key.columns) == (self.table, self.columns)


def table_of(schema: "Schema", name: str) -> TableSchema:
    """The table called `name`, or an error that suggests the nearest."""
    if name not in schema:
        raise DataError(
            f"the database has no table {name!r}{nearest(name, schema)}; it has {', '.join(schema) or 'none'}"
        )
    return schema[name]


def require_columns(table: TableSchema, names: Iterable[str]) -> None:
    """Refuse names that a table does not have."""
    for name in names:
        if name not in table.columns:
            raise DataError(
                f"table {table.name!r} has no column {name!r}{nearest(name, table.columns)}; "
                f"it has {', '.join(table.columns)}"
            )


def nearest(name: object, names: Iterable[object]) -> str:
    """A suggestion for a name that does not exist, in parentheses."""
    close = get_close_matches(str(name), [str(one) for one in names], n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def joins_from(schema: "Schema", table: str) -> list[Join]:
    """Every link from a table along declared foreign keys: forward, then backward."""
    forward = [Join(table, key.columns, key.to_table, key.to_columns, key) for key in schema[table].foreign_keys]
    backward = [
        Join(table, key.to_columns, other.name, key.columns, key)
        for other in schema.values()
        for key in other.foreign_keys
        if key.to_table == table
    ]
    return forward + backward


def resolve_join(schema: "Schema", table: str, link: "Link") -> Join:
    """The join for a link from `table`; an ambiguous or undeclared one is an error."""
    here, there = table_of(schema, table), table_of(schema, link.table)
    if isinstance(link.on, tuple):
        own, other = link.on
        require_columns(here, (own,))
        require_columns(there, (other,))
        return Join(table, (own,), link.table, (other,))
    found = [join for join in joins_from(schema, table) if join.to_table == link.table and _matches(join, link)]
    if len(found) == 1:
        return found[0]
    wanted = f" on {link.on!r}" if link.on is not None else ""
    if not found:
        raise DataError(
            f"no declared foreign key links {table!r} and {link.table!r}{wanted}; "
            f"name the columns: Link({link.table!r}, on=('column of {table}', 'column of {link.table}'))"
        )
    raise DataError(
        f"more than one foreign key links {table!r} and {link.table!r}{wanted}: "
        f"{'; '.join(str(join.key) for join in found)}; choose one by on='column', or by direction='to' or 'from'"
    )


def _matches(join: Join, link: "Link") -> bool:
    wanted = {None: (True, False), "to": (True,), "from": (False,)}[link.direction]
    return join.is_forward in wanted and (link.on is None or link.on in cast(ForeignKey, join.key).columns)
