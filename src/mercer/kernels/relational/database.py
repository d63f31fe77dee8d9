"""What a record asks of its database; `Tables` is one, and `mercer.io` has those of SQLite and DuckDB."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from mercer._types import IndexArray, Rows
from mercer.kernels.relational.schema import Join, TableSchema

Schema: TypeAlias = Mapping[str, TableSchema]
"""Tables by name."""


class Database(Protocol):
    """Rows that go by whole numbers of the database's own, and links between them."""

    @property
    def schema(self) -> Schema:
        """The tables."""

    def find(self, table: str, columns: Sequence[str], keys: Iterable[tuple[Any, ...]], /) -> IndexArray:
        """The row of each key."""

    def linked(self, join: Join, rows: IndexArray, /) -> IndexArray:
        """(row, linked row) for every link of the given rows."""

    def dangling(self, join: Join, rows: IndexArray, /) -> tuple[Any, ...] | None:
        """A value of the join's foreign key among the rows that names no row; None if all do."""

    def read(self, table: str, rows: IndexArray, columns: Sequence[str], /) -> Rows:
        """Some columns of the rows, in their order, as a table."""
