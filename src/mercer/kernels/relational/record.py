"""A kernel of the rows of a database, with the rows they are linked to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError, ParameterError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels._types import Features
from mercer.kernels.base.kernel import Kernel, block_of, epsilon
from mercer.kernels.base.parameters import require_count
from mercer.kernels.base.structured import items_of
from mercer.kernels.relational.branch import Records, block, diagonal, features, pairs_an_entry
from mercer.kernels.relational.link import Node, require_links
from mercer.kernels.relational.read_branches import Reader, declared_links
from mercer.kernels.relational.schema import require_columns, table_of
from mercer.kernels.relational.tables import Tables

if TYPE_CHECKING:
    from mercer.kernels.relational.database import Database

# Pairs of rows compared for one tile: about a tenth of a second.
PAIRS_A_TILE = 4_000_000


@dataclass(frozen=True)
class Record(Node, Kernel):
    r"""The kernel of two rows: that of their columns, and of the rows they are linked to.

    .. math:: k(r, s) = k_{columns}(r, s) + \sum_\ell w_\ell\, S_\ell(r, s), \qquad
        S_\ell(r, s) = \sum_{a \in \ell(r)} \sum_{b \in \ell(s)} k_\ell(a, b)

    with :math:`\ell(r)` the rows that the link reaches from r, and :math:`k_\ell` a kernel of the
    same kind for them: a convolution kernel (Haussler 1999), of sets (Gaertner, Flach, Kowalczyk
    & Smola 2002). It is an inner product of :math:`\sum_{a \in \ell(r)} \psi(a)`, hence positive
    semidefinite if the kernels of the columns are.

    The items are keys of rows of `table`; the rows stay in the database.

    Parameters
    ----------
    table : str
        The table of the rows that are compared.
    key : str or tuple of str, optional
        The column (or columns, if items are tuples) that identifies a row; by default the declared
        primary key.
    columns : dict or Kernel, optional
        A kernel for each column, as in `Columns`, or a kernel of rows such as
        ``On("a", Delta()) * On("b", RBF())``. By default inferred from the training rows; ``{}`` is
        the constant 1.
    links : list of Link or of names of tables, optional
        By default every declared foreign key, in both directions, to `depth`.
    depth : int
        Of the links found automatically; it bounds cycles, and a key is never followed back.
    how : {"mean", "sum", "cosine"}
        The kernel of sets for links found automatically; see `Link`.
    combine : {"sum", "product"}
        "product" multiplies columns and links, :math:`k_{columns} (1 + \sum_\ell w_\ell S_\ell)`, so that
        links count only between rows that are themselves alike.
    exclude : list of str
        ``"table.column"`` or ``"table"``: left out when columns or links are inferred. Name the
        label here.
    dangling : {"error", "ignore"}
        What to do about a foreign key that matches no row.
    database : object
        `mercer.io.open_database` (an address), `mercer.io.SQLiteDatabase`, `mercer.io.DuckDBDatabase`, a dict of
        data frames, or `Tables` of them with declared keys.

    Examples
    --------
    >>> from mercer.kernels import Delta, Link, Record
    >>> tables = {
    ...     "train": [{"id": "a"}, {"id": "b"}],
    ...     "car": [{"train": "a", "roof": "flat"}, {"train": "a", "roof": "none"}, {"train": "b", "roof": "flat"}],
    ... }
    >>> cars = Link("car", on=("id", "train"), columns={"roof": Delta()}, how="sum")
    >>> Record("train", "id", columns={}, links=[cars], database=tables)(["a", "b"])
    array([[3., 2.],
           [2., 2.]])
    """

    table: str
    key: str | tuple | None = None
    columns: object = None
    links: tuple | None = None
    depth: int = 1
    how: str = "mean"
    combine: str = "sum"
    exclude: tuple = ()
    dangling: str = "error"
    database: object = field(default=None, repr=False, compare=False)

    takes_items = True
    _instead_of_features = "one of its columns' kernels has none"

    def __post_init__(self) -> None:
        self._check_node()
        require_count("depth", self.depth)
        if self.links is not None:
            require_links(self.links)
        if self.dangling not in ("error", "ignore"):
            raise ParameterError(f"dangling must be 'error' or 'ignore', got {self.dangling!r}")
        if self.how not in ("mean", "sum", "cosine"):
            raise ParameterError(f"how must be one of mean, sum, cosine, got {self.how!r}")
        if self.database is None:
            raise ParameterError(
                "database must be given: SQLiteDatabase(path), DuckDBDatabase(path), open_database(address) or a dict "
                "of tables"
            )

    def __hash__(self) -> int:
        return hash((type(self), self.table, self.key, self.how, self.combine))

    @property
    def _source(self) -> "Database":
        return Tables(self.database) if isinstance(self.database, Mapping) else cast("Database", self.database)

    @property
    def _excluded(self) -> tuple[str, ...]:
        return (self.exclude,) if isinstance(self.exclude, str) else tuple(self.exclude)

    @property
    def _key_columns(self) -> tuple[str, ...]:
        table = table_of(self._source.schema, self.table)
        if self.key is None:
            if not table.primary_key:
                raise DataError(
                    f"table {self.table!r} declares no primary key; name one: Record({self.table!r}, key=...)"
                )
            return table.primary_key
        names = tuple(self.key) if isinstance(self.key, list | tuple) else (self.key,)
        require_columns(table, names)
        return names

    @property
    def is_psd(self) -> bool | None:
        return True if self.all_psd else None

    @property
    def is_bound(self) -> bool:
        return self.links is not None and self.is_settled

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        reader = Reader(self._source, self._excluded, self.dangling)
        with reader.reading():
            rows = self._rows(reader, X)
            rows = np.unique(rows if weights is None else rows[np.asarray(weights) > 0])
            links = self.links
            if links is None:
                links = declared_links(reader.schema, self.table, self.depth, self.how, self._excluded)
            return reader.bound(self.replace(links=links), rows, self._key_columns)

    def _rows(self, reader: Reader, X: Rows) -> IndexArray:
        columns = self._key_columns
        keys = [_as_key(item, len(columns)) for item in items_of(X, "key")]
        return reader.database.find(self.table, columns, keys)

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Records:
        self._require_bound()
        reader = Reader(self._source, self._excluded, self.dangling)
        with reader.reading():
            found = self._rows(reader, X)
            rows, place = np.unique(found, return_inverse=True)
            branch, content = reader.branch(self, rows)
        longest = max(8, int((PAIRS_A_TILE / pairs_an_entry(self, branch)) ** 0.5))
        return Records(branch, content[place.ravel()], dtype, longest)

    def tile(self, left: Records, right: Records, out: Array, row: int, column: int) -> None:
        values = block(self, left.branch, left.index, right.branch, right.index)
        block_of(out, row, column, values.shape)[...] = values

    def diag_of(self, prepared: Records) -> FloatArray:
        return diagonal(self, prepared.branch)[prepared.index]

    def entry_bound(self, norm_bound: float) -> float:
        return norm_bound

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return epsilon(dtype) * norm_bound

    def feature_map(self, X: Rows) -> Features:
        """The features of the columns and, for each link, the sum of those of the linked rows."""
        bound = self.bind(X)
        prepared = bound.prepare(X)
        return features(bound, prepared.branch)[0][prepared.index]

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        bound = self.bind(X)
        return features(bound, bound.prepare(X).branch)[1]

    def terms(self) -> list[tuple[str | None, Kernel]]:
        """One term per column, including those of linked rows; a cosine or a product is one term."""
        return cast("list[tuple[str | None, Kernel]]", self.parts()) if self.is_bound else super().terms()


def _as_key(item: Any, count: int) -> tuple[Any, ...]:
    """A key as a tuple of plain values."""
    values = tuple(item) if isinstance(item, tuple | list | np.ndarray) else (item,)
    if len(values) != count:
        raise DataError(f"a key must have {count} value{'s' if count > 1 else ''}, got {item!r}")
    return tuple(value.item() if isinstance(value, np.generic) else value for value in values)
