"""The common part of a record and its linked rows: columns, and further links."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from mercer._errors import ParameterError
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import Parameters, require_non_negative
from mercer.kernels.table.columns import Columns
from mercer.kernels.vector.constant import Constant

_WAYS = ("sum", "mean", "cosine")
_COMBINATIONS = ("sum", "product")


class Node(Parameters):
    """A table with the kernel of its columns and its further links."""

    if TYPE_CHECKING:
        table: str
        columns: Any
        links: Any
        combine: str

    def _check_node(self) -> None:
        if not isinstance(self.table, str):
            raise ParameterError(f"table must be the name of a table, got {self.table!r}")
        is_known = self.columns is None or isinstance(self.columns, Mapping | Kernel)
        if not is_known or (isinstance(self.columns, Kernel) and not self._reads_rows):
            raise ParameterError(
                "columns must be a dict of kernels by name, or a kernel of rows such as On or Columns, "
                f"got {self.columns!r}"
            )
        if self.combine not in _COMBINATIONS:
            raise ParameterError(f"combine must be 'sum' or 'product', got {self.combine!r}")
        if self.columns:
            _ = self.rows_kernel

    @property
    def _reads_rows(self) -> bool:
        return self.columns.takes_tables or self.columns.takes_items is None

    @property
    def rows_kernel(self) -> Kernel | Any:
        """The kernel of two rows' own columns; None before it is inferred."""
        if self.columns is None or isinstance(self.columns, Kernel):
            return self.columns
        # A row without columns still counts: it is like any other.
        return Columns(self.columns) if self.columns else Constant(1.0)

    @property
    def onwards(self) -> "tuple[Link, ...]":
        """The links, each a `Link`; none before they are found."""
        return tuple(Link(one) if isinstance(one, str) else one for one in self.links or ())

    @property
    def labels(self) -> list[str]:
        """A name for each link, in order: its table, and its key if that is not enough."""
        tables = [link.table for link in self.onwards]
        names = []
        for link in self.onwards:
            on = link.on if isinstance(link.on, str) else "_".join(link.on or ())
            name = (
                link.table if tables.count(link.table) == 1 else f"{link.table}_{on}_{link.direction or ''}".rstrip("_")
            )
            names.append(f"{name}_{len(names)}" if name in names else name)
        return names

    @property
    def is_settled(self) -> bool:
        """Whether nothing here waits for training data."""
        kernel = self.rows_kernel
        return kernel is not None and kernel.is_bound and all(link.is_settled for link in self.onwards)

    @property
    def all_psd(self) -> bool | None:
        return (self.rows_kernel is None or self.rows_kernel.is_psd) and all(link.all_psd for link in self.onwards)

    def nested_kernels(self) -> dict[str, Any]:
        own = {"columns": self.rows_kernel} if self.columns else {}
        return {**own, **dict(zip(self.labels, self.onwards, strict=True))}

    def _with_nested(self, fields: dict[str, Any], nested: dict[str, Any]) -> dict[str, Any]:
        changed = dict(fields)
        if fields["columns"] is self.columns and self.columns and nested["columns"] != self.rows_kernel:
            changed["columns"] = nested["columns"]
        if fields["links"] is self.links and self.links:
            changed["links"] = tuple(nested[label] for label in self.labels)
        return changed

    def parts(self) -> list[tuple[str | None, Self]]:
        """Nodes that add up to this one, as (name, node); a single one if it is not a sum."""
        if self.combine == "product":
            return [(None, self)]
        unnamed = "constant" if isinstance(self.rows_kernel, Constant) else "columns"
        own = [(name or unnamed, self.replace(columns=term, links=())) for name, term in self.rows_kernel.terms()]
        for label, link in zip(self.labels, self.onwards, strict=True):
            inner = [(None, link)] if link.how == "cosine" else link.parts()
            own += [
                (label if name is None else f"{label}.{name}", self.replace(columns=Constant(0.0), links=(part,)))
                for name, part in inner
            ]
        return own


@dataclass(frozen=True)
class Link(Node):
    """The rows of another table that a row is linked to, compared as sets.

    Parameters
    ----------
    table : str
        The table of the linked rows.
    on : str or (str, str), optional
        The column of the foreign key, if there is a choice; or, if none is declared, a pair: the
        column of the table the link starts from and that of `table`, which must be equal.
    columns : dict or Kernel, optional
        A kernel for each column of `table`, or a kernel of its rows; inferred by default.
    links : list of Link
        Further links from there.
    how : {"mean", "sum", "cosine"}
        The kernel of two sets of rows: the mean or the sum of the kernel over all pairs of a row
        of one and a row of the other, or the sum scaled to k(S, S) = 1. An empty set has k = 0.
    weight : float
        The weight of the link, nonnegative.
    combine : {"sum", "product"}
        Whether columns and further links are added or multiplied.
    direction : {"to", "from"}, optional
        If a key links a table to itself: "to" the row it names, or "from" those that name it.

    Examples
    --------
    >>> from mercer.kernels import Delta, Link
    >>> Link("atom", columns={"element": Delta()}, links=[Link("bond", on="atom1")]).labels
    ['bond']
    """

    table: str
    on: str | tuple | None = None
    columns: object = None
    links: tuple = ()
    how: str = "mean"
    weight: float = 1.0
    combine: str = "sum"
    direction: str | None = None

    def __post_init__(self) -> None:
        self._check_node()
        if self.how not in _WAYS:
            raise ParameterError(f"how must be one of {', '.join(_WAYS)}, got {self.how!r}")
        require_non_negative("weight", self.weight)
        is_pair = isinstance(self.on, tuple) and len(self.on) == 2
        if not (self.on is None or isinstance(self.on, str) or is_pair):
            raise ParameterError(f"on must be a column, or a pair of columns as a tuple, got {self.on!r}")
        if self.direction not in (None, "to", "from"):
            raise ParameterError(f"direction must be 'to' or 'from', got {self.direction!r}")
        require_links(self.links)

    def __hash__(self) -> int:
        return hash((self.table, self.on, self.how, self.weight))


def require_links(links: Iterable[object]) -> None:
    """Refuse anything but a list of links, or names of tables."""
    for link in links:
        if not isinstance(link, str | Link):
            raise ParameterError(f"links must hold Link(...) or names of tables, got {link!r}")
