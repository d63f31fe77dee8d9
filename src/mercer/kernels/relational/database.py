"""The interface that a record needs from its database; `Tables` has it, and so do those of `mercer.io`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from mercer._types import IndexArray, Rows
from mercer.kernels.relational.schema import Join, TableSchema

Schema: TypeAlias = Mapping[str, TableSchema]
"""Tables by name."""


class Database(Protocol):
    """Rows identified by the database's own integers, and links between them."""

    @property
    def schema(self) -> Schema:
        """The tables."""

    def find(self, table: str, columns: Sequence[str], keys: Iterable[tuple[Any, ...]], /) -> IndexArray:
        """The row of each key."""

    def linked(self, join: Join, rows: IndexArray, /) -> IndexArray:
        """(row, linked row) for every link of the given rows."""

    def dangling(self, join: Join, rows: IndexArray, /) -> tuple[Any, ...] | None:
        """A value of the join's foreign key among the rows that matches no row; None if all match."""

    def read(self, table: str, rows: IndexArray, columns: Sequence[str], /) -> Rows:
        """Some columns of the rows, in order, as a table."""
