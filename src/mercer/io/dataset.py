"""One function for data of any format: `read_table`."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._jit.memory import parse_bytes
from mercer._types import Array, FloatArray, IndexArray, Items
from mercer.io.arrow.files import read_arrow, read_parquet
from mercer.io.column_notes import AmbiguousNumbersWarning, ColumnNote
from mercer.io.csv.lines import MISSING
from mercer.io.csv.reader import read_delimited
from mercer.io.databases.address import Address, file_of, is_address
from mercer.io.databases.answers import QueryLimits
from mercer.io.databases.query import read_address, read_query
from mercer.io.formats import recognise, require_format
from mercer.io.items.graphs import read_graphs
from mercer.io.items.labelled_trees import read_labelled_trees
from mercer.io.items.texts import read_text_folder
from mercer.io.json_lines import read_json_lines
from mercer.io.sheets.table import read_spreadsheet
from mercer.io.source import Source
from mercer.io.svmlight.table import ANY_WIDTH, Layout, Table, tables_of, within
from mercer.io.texts_like_numbers import notes_on_texts

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from mercer.kernels.table.column import Column
    from mercer.kernels.table.column_frame import ColumnFrame

_SHEETS = ("xlsx", "ods")
_TEXTS = ("csv", "jsonl", "svmlight", "trees")
_TABLES = ("csv", "xlsx", "ods", "parquet", "arrow", "jsonl", "sqlite", "duckdb")


@dataclass(frozen=True)
class Dataset:
    """The result of `read_table`.

    Attributes
    ----------
    data : table, CSR matrix, or list of items
        In a form that estimators take, without the target column. A table is of Mercer's own type, whichever library
        read it, and the same for the same file: ``as_frame(data).rows()`` has its rows as dictionaries.
    target : ndarray or None
        The values to predict: numbers or texts.
    kind : {"table", "vectors", "texts", "trees", "graphs"}
    format : str
        One of "csv", "xlsx", "ods", "parquet", "arrow", "jsonl", "svmlight", "sqlite", "duckdb", "sql" (of an
        address), "texts", "trees", "graphs".
    name, target_name : str
    unlabeled : int
        Rows left out because the target had no value.
    notes : tuple of ColumnNote
        Notes on columns of a text file: how unusual numbers were understood, which can be read in two ways, and which
        columns are empty.
    """

    data: object = field(repr=False)
    target: np.ndarray | None = field(repr=False)
    kind: str
    format: str
    name: str
    target_name: str | None = None
    unlabeled: int = 0
    notes: tuple[ColumnNote, ...] = ()

    def __len__(self) -> int:
        return self.data.shape[0] if hasattr(self.data, "shape") else len(cast(Items, self.data))

    @property
    def columns(self) -> list[str] | None:
        """The names of a table's columns; None for anything else."""
        return cast("ColumnFrame", self.data).names if self.kind == "table" else None

    def rows(self, places: Sequence[int] | IndexArray) -> "Dataset":
        """The rows at these positions."""
        data = (
            cast(Any, self.data)[places] if hasattr(self.data, "shape") else [cast(Items, self.data)[k] for k in places]
        )
        return replace(self, data=data, target=None if self.target is None else self.target[places])

    def with_columns(self, names: Sequence[str]) -> "Dataset":
        """A table with only these columns, in this order; a DataError names missing and surplus ones."""
        known = cast(list[str], self.columns)
        gone = [name for name in names if name not in known]
        if gone:
            extra = [name for name in known if name not in names]
            raise DataError(
                f"{self.name}: the columns {_listed(gone)} are missing; "
                + (f"the model does not know {_listed(extra)}" if extra else "there are no others in their place")
            )
        return replace(self, data=cast("ColumnFrame", self.data).chosen(list(names)))

    def with_target(self, name: str, skip_unlabeled: bool = False) -> "Dataset":
        r"""A table without the column to predict, which becomes the target.

        Rows in which it has no value are refused, or left out with `skip_unlabeled`.

        Examples
        --------
        >>> import io
        >>> from mercer.io import read_table
        >>> found = read_table(io.BytesIO(b"age,buys\n31,yes\n60,\n35,no\n")).with_target("buys", skip_unlabeled=True)
        >>> found.target.tolist(), found.unlabeled
        (['yes', 'no'], 1)
        """
        if self.kind != "table":
            raise ParameterError(f"target must be left out, got {name!r}: {self.name} contains its own labels")
        whole, names = self, cast(list[str], self.columns)
        _known(name, names, self.name, "target")
        if len(names) == 1:
            raise DataError(f"{self.name}: there is no column besides the target {name!r}")
        gone = cast("ColumnFrame", self.data).column(name).missing
        if gone.all():
            raise DataError(f"{self.name}: the target {name!r} has no value in any row")
        if skip_unlabeled and gone.any():
            whole = replace(self.rows(np.flatnonzero(~gone)), unlabeled=int(gone.sum()))
        frame = cast("ColumnFrame", whole.data)
        target = _target(frame.column(name), self.name)
        beside = frame.chosen([one for one in names if one != name])
        return replace(whole, data=beside, target=target, target_name=name)

    def matrix(self) -> "Array | csr_matrix | None":
        """The data as rows of numbers; None if a column contains something else, or a value is missing."""
        if self.kind != "table":
            return self.data if self.kind == "vectors" else None
        columns = [cast("ColumnFrame", self.data).column(name) for name in cast("ColumnFrame", self.data).names]
        if not columns or any(column.kind != "number" or column.missing.any() for column in columns):
            return None
        return np.column_stack([column.numbers(~column.missing) for column in columns])


def read_table(  # noqa: PLR0913 - what can be said of any format, by name
    source: str | PathLike[str] | IO[bytes],
    *,
    target: str | None = None,
    format: str | None = None,  # noqa: A002 - the word for it
    table: str | None = None,
    query: str | None = None,
    text: Sequence[str] = (),
    header: bool = True,
    delimiter: str | None = None,
    missing: Sequence[str] = MISSING,
    decimal: str | None = None,
    encoding: str | None = None,
    n_features: int | None = None,
    memory_limit: int | str | None = None,
    time_limit: float | None = None,
    row_limit: int | None = None,
) -> Dataset:
    r"""Read data in any format that Mercer knows.

    Parameters
    ----------
    source : str, path or open binary file
        CSV (also with tabs, semicolons), a spreadsheet (.xlsx, .ods), Parquet, Arrow, JSON lines or svmlight, each also
        compressed (.gz, .xz, .bz2); "-" for standard input; a folder of Parquet files; a SQLite or DuckDB file; the
        address of a database such as ``postgresql://me@host/bank``; a folder of texts,
        with one folder per class; trees in brackets, one per line, each after its label; a folder or zip of graphs
        in TU format.
    target : str, optional
        The column to predict. Formats that are not tables contain their own labels.
    format : str, optional
        By default, recognised by content and name.
    table, query : str, optional
        What to read from a database; `table` is also the sheet of a spreadsheet.
    text : list of str
        Columns that contain texts even if they look like numbers.
    header : bool
        Whether the first line of a CSV file or a spreadsheet names the columns; otherwise they are x1, x2, ...
    delimiter : str, optional
        The delimiter of a CSV file; by default, found from the first line.
    missing : list of str
        Words for missing values in a CSV file or a spreadsheet, with or without blanks around them; a field of blanks
        is missing too.
    decimal : {".", ","}, optional
        The decimal mark in a CSV file, and in numbers stored as texts in a spreadsheet; by default, found from the
        numbers.
    encoding : str, optional
        The text encoding; by default UTF-8, or what the byte order mark says.
    n_features : int, optional
        The number of columns of svmlight data.
    memory_limit : int or str, optional
        Bytes (or "2GiB") that may be used; by default, the free memory.
    time_limit : float, optional
        Seconds that the query to a database may take; ten minutes by default.
    row_limit : int, optional
        Rows that the answer of a database may have; more are refused.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        Names the file, the line and the column if there are any, and what was expected.

    Warns
    -----
    AmbiguousNumbersWarning
        Numbers of a CSV file can be read in two ways, such as 1,234, and nothing in the file shows which was meant.

    Examples
    --------
    >>> import io
    >>> from mercer.io import read_table
    >>> found = read_table(io.BytesIO(b"age,town,buys\n31,Ulm,yes\n60,Bonn,no\n"), target="buys")
    >>> found.kind, found.columns, found.target
    ('table', ['age', 'town'], array(['yes', 'no'], dtype='<U3'))
    """
    require_format(format)
    limits = QueryLimits.of(memory_limit, time_limit, row_limit)
    if is_address(source):
        where = file_of(cast(str, source))
        if where is None:
            options = {"decimal": decimal, "encoding": encoding, "format": format}
            return _of_server(cast(str, source), target, table, query, text, options, limits)
        format, source = format or where[0], where[1]  # noqa: A001 - the word for it
    opened = Source(source, None if memory_limit is None else parse_bytes(memory_limit), encoding=encoding)
    kind = format or recognise(opened)
    _require_text(kind, decimal, encoding)
    notes: list[ColumnNote] = []
    if kind not in _TABLES:
        return _items(opened, kind, target, n_features)
    if kind == "csv":
        found, notes = read_delimited(
            opened, text=text, header=header, missing=missing, delimiter=delimiter, decimal=decimal
        )
    elif kind in _SHEETS:
        found, notes = read_spreadsheet(opened, kind, table, text=text, header=header, missing=missing, decimal=decimal)
    elif kind in ("sqlite", "duckdb"):
        found = read_query(opened, kind, limits, table, query)
    elif kind == "jsonl":
        found = read_json_lines(opened)
    else:
        found = {"parquet": read_parquet, "arrow": read_arrow}[kind](opened)
    if kind not in ("csv", *_SHEETS):
        found = found.with_texts([_known(name, found.names, opened.name, "text") for name in text])
        notes = notes_on_texts(found, tuple(text))
    whole = Dataset(found, None, "table", kind, opened.name, notes=tuple(notes))
    for note in notes:
        if note.kind == "ambiguous":
            warnings.warn(f"{opened.name}, {note}", AmbiguousNumbersWarning, stacklevel=2)
    return whole if target is None else whole.with_target(target)


def _of_server(
    source: str,
    target: str | None,
    table: str | None,
    query: str | None,
    text: Sequence[str],
    options: dict[str, Any],
    limits: QueryLimits,
) -> Dataset:
    """The table, or the answer to a query, of a database at an address."""
    given = next((name for name, value in options.items() if value is not None), None)
    if given is not None:
        raise ParameterError(
            f"{given} must be left out, got {options[given]!r}: it is for files, and this is a database"
        )
    address = Address(source)
    found = read_address(address, limits, table, query)
    if text:
        found = found.with_texts([_known(name, found.names, address.shown, "text") for name in text])
    whole = Dataset(found, None, "table", "sql", address.shown, notes=tuple(notes_on_texts(found, tuple(text))))
    return whole if target is None else whole.with_target(target)


def _require_text(kind: str, decimal: str | None, encoding: str | None) -> None:
    """Refuse options for text files where there is no text."""
    if decimal is not None and kind not in ("csv", *_SHEETS):
        raise ParameterError(f"decimal must be left out, got {decimal!r}: it is for CSV, and this is {kind}")
    if encoding is not None and kind not in _TEXTS:
        raise ParameterError(f"encoding must be left out, got {encoding!r}: it is for text files, and this is {kind}")


def _items(source: Source, kind: str, target: str | None, n_features: int | None) -> Dataset:
    """Data that contain their labels."""
    if target is not None:
        raise ParameterError(f"target must be left out, got {target!r}: {source.name} contains its own labels")
    if kind == "svmlight":
        X, y = _vectors(source, n_features)
        return Dataset(X, _whole(y), "vectors", kind, source.name)
    if kind == "texts":
        texts, labels, _ = read_text_folder(source)
        return Dataset(texts, labels, "texts", kind, source.name)
    if kind == "trees":
        return Dataset(*read_labelled_trees(source), "trees", kind, source.name)
    found = read_graphs(source.path or source.open(), memory_limit=source.most)
    labels = found.targets if found.labels is None else found.labels
    return Dataset(found.graphs, labels, "graphs", kind, source.name)


def _vectors(source: Source, n_features: int | None) -> "tuple[csr_matrix, FloatArray]":
    """(X, y) of svmlight lines, in one reading."""
    with source.open() as file:
        parts = within(
            tables_of(file, source.name, Layout(n_features=n_features or ANY_WIDTH)), source.most, source.name
        )
    if not parts:
        raise DataError(f"{source.name}: the file has no rows")
    whole = Table.joined(parts)
    shape = (len(whole), n_features or max(1, whole.width))
    return sparse.csr_matrix((whole.values, whole.indices, whole.indptr), shape=shape), whole.labels[:, 0]


def _whole(y: FloatArray) -> Array:
    """Labels as integers if they are."""
    is_whole = (y == np.rint(y)).all() and np.abs(y).max() < 2**53
    return y.astype(np.int64) if is_whole else y


def _target(column: "Column", name: str) -> Array:
    if column.missing.any():
        rows = np.flatnonzero(column.missing)
        raise DataError(
            f"{name}: the target {column.name!r} has no value in {len(rows):,} of {len(column):,} rows, the first of "
            f"them row {rows[0]}; --skip-unlabeled (in Python: with_target(..., skip_unlabeled=True)) leaves them out"
        )
    if column.kind == "number":
        # Integers stay integers: they are the labels of classes.
        values = np.asarray(column.as_came())
        return values if values.dtype.kind in "iuf" else np.asarray(column.values)
    if column.kind in ("text", "category"):
        return np.array([str(value) for value in column.as_came()])
    raise DataError(f"{name}: the target {column.name!r} must hold numbers or texts, got {column.kind}")


def _known(name: str, names: Sequence[str], source: str, argument: str) -> str:
    if name in names:
        return name
    close = get_close_matches(str(name), names, n=1, cutoff=0.5)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    raise DataError(
        f"{source}: there is no column {name!r}{meant}, which {argument} names; the columns are {_listed(names)}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
