"""Text models: a header line by line, then rows of numbers. Errors give the line and column."""

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._types import ArrayLike, Rows
from mercer.estimators.fitting.training import LARGEST_ENTRY
from mercer.io.compressed import open_bytes
from mercer.io.replace_file import replace_file
from mercer.io.svmlight.table import LONGEST_LINE, Table, tables_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from mercer.io.svmlight.table import Layout

_TOKEN = re.compile(r"\S+")
# Number of lines formatted at a time.
_BLOCK = 1000


class ModelText:
    """The lines of an open model file, counted.

    Parameters
    ----------
    file : binary file
    name : str
        For messages.
    """

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.file, self.name, self.line = file, name, 0

    def next_line(self, expected: str) -> str:
        """The next line without its end; `expected` says what it should contain."""
        try:
            text = self.file.readline(LONGEST_LINE + 1)
        except (EOFError, OSError, ValueError) as error:
            raise DataError(f"{self.name}: the file cannot be read to its end: {error}") from error
        self.line += 1
        if not text:
            raise DataError(f"{self.name}, line {self.line}: the file ends where {expected} should be")
        if len(text) > LONGEST_LINE:
            raise DataError(f"{self.name}, line {self.line}: the line is longer than {LONGEST_LINE} bytes")
        return text.decode("latin-1").rstrip("\r\n")

    def fields(self, expected: str) -> list[tuple[str, int]]:
        """The next line as (text, column) of each of its words."""
        return [(match.group(), match.start() + 1) for match in _TOKEN.finditer(self.next_line(expected))]

    def error(self, message: str, column: int | None = None) -> DataError:
        """A `DataError` at this line."""
        where = f", column {column}" if column is not None else ""
        return DataError(f"{self.name}, line {self.line}{where}: {message}")

    def number(self, field: tuple[str, int], what: str) -> float:
        """A finite number."""
        text, column = field
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in text:
            raise self.error(f"{what} must be a finite number, got {_shown(text)}", column)
        return value

    def whole(self, field: tuple[str, int], what: str, least: int = 0) -> int:
        """An integer of at most 18 digits, at least `least`."""
        text, column = field
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text) or int(text) < least:
            raise self.error(f"{what} must be a whole number, {least} or more, got {_shown(text)}", column)
        return int(text)

    def rows(self, layout: "Layout", count: int, what: str) -> Table:
        """The table of the remaining lines, of which there must be `count`."""
        parts, found = [], 0
        for table in tables_of(self.file, self.name, layout, lines_before=self.line):
            parts.append(table)
            found += len(table)
            if found > count:
                break
        if found != count:
            more = "or more " if found > count else ""
            raise DataError(f"{self.name}: the header promises {count} {what}, but there are {found} {more}of them")
        if not parts:
            return Table(np.empty((0, layout.n_labels)), np.zeros(1, np.int32), np.empty(0, np.int32), np.empty(0))
        table = Table.joined(parts)
        require_moderate(table, self.name)
        return table


@contextmanager
def open_model(path: str | PathLike[str]) -> Iterator[ModelText]:
    """A `ModelText` of the file at `path`, which may be compressed."""
    if not Path(path).is_file():
        raise DataError(f"{str(path)!r} is not a file")
    try:
        file = open_bytes(path)
    except OSError as error:
        raise DataError(f"{path}: the file cannot be opened: {error}") from error
    with file:
        yield ModelText(file, str(path))


def require_moderate(table: Table, name: str) -> None:
    """Refuse numbers whose products would overflow, as `fit` does."""
    for values, largest, what in ((table.values, LARGEST_ENTRY**0.5, "value"), (table.labels, LARGEST_ENTRY, "number")):
        if len(values) and not float(np.abs(values).max(initial=0.0)) < largest:
            raise DataError(f"{name}: a {what} of a row must be below {largest:g} in size, or decision values overflow")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


def csr_of(table: Table, n_features: int | None, name: str) -> "csr_matrix":
    """The features of a table as a CSR matrix; by default as wide as its largest index."""
    width = max(1, table.width) if n_features is None else n_features
    if table.width > width:
        raise DataError(f"{name}: a support vector has {table.width} features, more than n_features={n_features}")
    return sparse.csr_matrix((table.values, table.indices, table.indptr), shape=(len(table), width))


def exact(value: float) -> str:
    """The number in 17 digits, from which the same double is read back."""
    return f"{value:.17g}"


def lines_of_rows(coefficients: ArrayLike, rows: Rows, first: int = 1, end: str = " \n") -> Iterator[bytes]:
    """Pieces of text, a line for each row: its coefficients, and index:value of its nonzero entries."""
    rows = sparse.csr_matrix(rows)
    coefficients = np.asarray(coefficients, dtype=np.float64)
    for begin in range(0, rows.shape[0], _BLOCK):
        lines = []
        for i in range(begin, min(begin + _BLOCK, rows.shape[0])):
            inside = slice(rows.indptr[i], rows.indptr[i + 1])
            entries = zip((rows.indices[inside] + first).tolist(), rows.data[inside].tolist(), strict=True)
            words = [exact(value) for value in coefficients[i].tolist()]
            words += [f"{index}:{value:.17g}" for index, value in entries if value]
            lines.append(" ".join(words) + end)
        yield "".join(lines).encode()


def write_text(path: str | PathLike[str], header: str, pieces: Iterable[bytes] = ()) -> None:
    """Write a model completely, or not at all."""
    replace_file(path, [header.encode(), *pieces])
