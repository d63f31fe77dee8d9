"""From keys to branches: reading the rows that a record needs, table by table."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._types import IndexArray
from mercer.kernels._types import Sparse
from mercer.kernels.relational.branch import Branch, LinkedSets
from mercer.kernels.relational.link import Link
from mercer.kernels.relational.schema import joins_from, require_columns, resolve_join, table_of
from mercer.kernels.table.columns import Columns
from mercer.kernels.table.frame import as_frame
from mercer.kernels.table.on import On
from mercer.kernels.vector.constant import Constant

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.relational.database import Database, Schema
    from mercer.kernels.relational.link import Node
    from mercer.kernels.relational.schema import ForeignKey
    from mercer.kernels.table.frame import Frame

    NodeT = TypeVar("NodeT", bound=Node)


def names_read(kernel: Any) -> set[Any]:
    """The columns that a kernel of tables reads."""
    if isinstance(kernel, On):
        return set(kernel.names)
    parts = kernel.parts if isinstance(kernel, Columns) else kernel.nested_kernels()
    return set().union(*map(names_read, parts.values()))


def declared_links(
    schema: "Schema",
    table: str,
    depth: int,
    how: str,
    exclude: Sequence[str],
    came_by: "tuple[ForeignKey | None, bool] | None" = None,
) -> tuple[Link, ...]:
    """Every declared link from a table up to a depth, never back along the key it came by."""
    if depth == 0:
        return ()
    links = []
    for join in joins_from(schema, table):
        # A key from a table to itself can be followed further, but not reversed.
        turns = came_by is not None and join.key == came_by[0] and join.is_forward != came_by[1]
        if turns or join.to_table in exclude:
            continue
        onwards = declared_links(schema, join.to_table, depth - 1, how, exclude, (join.key, join.is_forward))
        direction = "to" if join.is_forward else "from"
        links.append(
            Link(join.to_table, cast("ForeignKey", join.key).columns[0], None, onwards, how, direction=direction)
        )
    return tuple(links)


class Reader:
    """Reads the rows that a record's nodes need.

    Parameters
    ----------
    database : object
        As described in `mercer.kernels.relational.schema`.
    exclude : list of str
        ``"table.column"`` or ``"table"``: never inferred from.
    dangling : "error" or "ignore"
        How to treat a foreign key that matches no row.
    """

    def __init__(self, database: "Database", exclude: Sequence[str] = (), dangling: str = "error") -> None:
        self.database, self.schema = database, database.schema
        self.exclude, self.dangling = exclude, dangling

    def reading(self) -> AbstractContextManager[Any]:
        """A context in which a database that others may change answers from a single state."""
        begin = getattr(self.database, "reading", nullcontext)
        return cast("AbstractContextManager[Any]", begin())

    def linked(self, node: "Node", link: Link, rows: IndexArray) -> IndexArray:
        """The (row, linked row) pairs of a link."""
        join = resolve_join(self.schema, node.table, link)
        if not len(rows):
            return np.empty((2, 0), np.int64)
        value = self.database.dangling(join, rows) if join.is_forward and self.dangling == "error" else None
        if value is not None:
            raise DataError(
                f"foreign key {join.key} dangles: no row has {', '.join(map(repr, value))}; "
                "dangling='ignore' treats it as no link"
            )
        return self.database.linked(join, rows)

    def bound(self, node: "NodeT", rows: IndexArray, keys: Iterable[str] = ()) -> "NodeT":
        """The node with everything that depends on training rows bound; `keys` are columns that identify rows."""
        keys = {*keys, *(link.on[0] for link in node.onwards if isinstance(link.on, tuple))}
        kernel = node.rows_kernel if node.columns is not None else self._inferred(node, rows, keys)
        kernel = kernel.bind(self.frame(node.table, kernel, rows)) if kernel.takes_tables else kernel
        links = []
        for link in node.onwards:
            _, others = self.linked(node, link, rows)
            links.append(self.bound(link, np.unique(others), link.on[1:] if isinstance(link.on, tuple) else ()))
        return node.replace(columns=kernel, links=tuple(links))

    def _inferred(self, node: "Node", rows: IndexArray, keys: Iterable[str]) -> "Kernel":
        """Kernels for the columns that are neither keys nor excluded."""
        table = table_of(self.schema, node.table)
        joined = {name for join in joins_from(self.schema, node.table) for name in join.columns}
        hidden = {*keys, *joined, *table.primary_key}
        names = [n for n in table.columns if n not in hidden and f"{table.name}.{n}" not in self.exclude]
        if not names or not len(rows):
            return Constant(1.0)
        frame = as_frame(self.database.read(table.name, rows, names))
        if all(frame.column(name).missing.all() for name in names):
            return Constant(1.0)
        return Columns.infer(frame, exclude=[name for name in frame.names if name not in names])

    def frame(self, table: str, kernel: "Kernel", rows: IndexArray) -> "Frame":
        """The columns that a kernel reads, of the rows in order."""
        names = sorted(names_read(kernel), key=str)
        require_columns(table_of(self.schema, table), names)
        return as_frame(self.database.read(table, rows, names))

    def branch(self, node: "Node", rows: IndexArray) -> tuple[Branch, IndexArray]:
        """(the branch of the distinct rows; the position of each of the rows in it)."""
        kernel = node.rows_kernel
        frame = self.frame(node.table, kernel, rows)
        onwards = [self._onwards(node, link, rows) for link in node.onwards]
        incidences = [incidence for _, incidence in onwards]
        first, inverse = _distinct(frame, sorted(names_read(kernel), key=str), incidences, len(rows))
        frame = frame[first]
        sets = [
            LinkedSets(child, incidence[first], link)
            for link, (child, incidence) in zip(node.onwards, onwards, strict=True)
        ]
        return Branch(frame, kernel.prepare(frame, np.float64), sets), inverse

    def _onwards(self, node: "Node", link: Link, rows: IndexArray) -> tuple[Branch, Sparse]:
        """(the branch of the linked rows, how often each of the rows is linked to each of them)."""
        ours, theirs = self.linked(node, link, rows)
        others = np.unique(theirs)
        child, place = self.branch(link, others)
        at = np.searchsorted(rows, ours), place[np.searchsorted(others, theirs)]
        incidence = sparse.coo_array((np.ones(len(ours)), at), shape=(len(rows), len(child))).tocsr()
        incidence.sum_duplicates()
        return child, incidence


def _distinct(
    frame: "Frame", names: Sequence[str], incidences: Sequence[Sparse], count: int
) -> tuple[IndexArray, IndexArray]:
    """(one row of each content, the content of each row): equal columns and equal links are merged."""
    values = []
    for name in names:
        column = frame.column(name)
        items = column.items(~column.missing)
        spread = np.full(count, None, dtype=object)
        spread[np.flatnonzero(~column.missing)] = np.fromiter(items, object, len(items))
        values.append(cast("Sequence[Any]", spread))
    for matrix in incidences:
        ends = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
        values.append([(matrix.indices[a:b].tobytes(), matrix.data[a:b].tobytes()) for a, b in ends])
    contents = list(zip(*values, strict=True)) if values else [()] * count
    try:
        known = {}
        inverse = np.array([known.setdefault(content, len(known)) for content in contents], dtype=np.intp)
    except TypeError:
        # Trees and graphs may be comparable only by their kernel.
        return np.arange(count), np.arange(count)
    first = np.zeros(len(known), np.intp)
    first[inverse[::-1]] = np.arange(count)[::-1]
    return first, inverse
