"""svmlight text as tables: chunk by chunk, exact, and with errors that name line and column."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError
from mercer.io.svmlight.nearest_double import powers_of_five
from mercer.io.svmlight.parser import LABEL, REASONS, VALUE, parse_lines

# Bytes of text read at a time, and the longest line that is accepted.
CHUNK = 4 * 2**20
LONGEST_LINE = 256 * 2**20
ANY_WIDTH = 2**31 - 1
_TOKEN = re.compile(rb"[^\s#]+")


@dataclass(frozen=True)
class Layout:
    """The layout of a line.

    Attributes
    ----------
    first : int
        Index of the first feature.
    n_features : int
        The largest number of features.
    n_labels : int
        How many numbers precede the features.
    label : str
        The word for them in messages.
    """

    first: int = 1
    n_features: int = ANY_WIDTH
    n_labels: int = 1
    label: str = "the label"


@dataclass(frozen=True)
class Table:
    """Rows of some lines: labels of shape (n, n_labels), and features as the arrays of a CSR matrix."""

    labels: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def joined(cls, tables: "list[Table]", dtype: DTypeLike = np.float64) -> "Table":
        """One table from several, each of which is released as soon as it has been copied."""
        ends = np.cumsum([0, *(len(table) for table in tables)])
        entries = np.cumsum([0, *(len(table.indices) for table in tables)])
        kind = np.int32 if entries[-1] < 2**31 else np.int64
        whole = cls(
            np.empty((ends[-1], tables[0].labels.shape[1])),
            np.zeros(ends[-1] + 1, kind),
            np.empty(entries[-1], np.int32),
            np.empty(entries[-1], dtype),
        )
        while tables:
            part, row, entry = tables.pop(), ends[len(tables)], entries[len(tables)]
            whole.labels[row : row + len(part)] = part.labels
            whole.indptr[row + 1 : row + len(part) + 1] = part.indptr[1:] + kind(entry)
            whole.indices[entry : entry + len(part.indices)] = part.indices
            whole.values[entry : entry + len(part.indices)] = part.values
        return whole

    @property
    def width(self) -> int:
        """One more than the largest index."""
        return int(self.indices.max(initial=-1)) + 1


def tables_of(
    file: IO[bytes], name: str, layout: Layout, chunk_bytes: int = CHUNK, lines_before: int = 0
) -> Iterator[Table]:
    """Tables of the lines of an open binary file, about `chunk_bytes` of text each.

    The rows before a malformed line are yielded; then a `DataError` names the line.
    """
    for text in chunks_of(file, name, chunk_bytes):
        table, lines, fault = _parse(text, layout)
        if len(table):
            yield table
        if fault:
            raise _refusal(text, fault, name, lines_before + lines + 1, layout)
        lines_before += lines


def within(tables: Iterable[Table], most: int, name: str) -> list[Table]:
    """The tables as a list, or a DataError as soon as they take more than `most` bytes."""
    found, size = [], 0
    for table in tables:
        size += sum(part.nbytes for part in (table.labels, table.indptr, table.indices, table.values))
        if size > most:
            raise DataError(
                f"{name}: its rows do not fit into {most:,} bytes of memory; learn from blocks "
                "(mercer.io.Blocks), or allow more (memory_limit, --memory-limit)"
            )
        found.append(table)
    return found


def chunks_of(file: IO[bytes], name: str, chunk_bytes: int) -> Iterator[bytes]:
    """Text of whole lines, each with its line end."""
    rest = b""
    try:
        while block := file.read(chunk_bytes):
            whole, newline, after = block.rpartition(b"\n")
            if newline:
                yield rest + whole + newline
                rest = after
            else:
                rest += block
            if len(rest) > LONGEST_LINE:
                raise DataError(f"{name}: a line is longer than {LONGEST_LINE} bytes")
    except (EOFError, OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{name}: the file cannot be read to its end: {error}") from error
    if rest:
        yield rest + b"\n"


@dataclass(frozen=True)
class _Fault:
    """Why a line is refused, where it begins in the text, and where the fault is."""

    reason: int
    line: int
    place: int


def _refusal(text: bytes, fault: _Fault, name: str, line: int, layout: Layout) -> DataError:
    shown = text[fault.line : fault.line + 200].split(b"\n")[0][:80].decode("latin-1")
    why = REASONS[fault.reason].format(first=layout.first, n_features=layout.n_features, label=layout.label)
    column = fault.place - fault.line + 1
    return DataError(f"{name}, line {line}, column {column}: {why}; the line begins {shown!r}")


def _parse(text: bytes, layout: Layout) -> tuple[Table, int, _Fault | None]:
    """(table, lines read, fault or None) of some whole lines."""
    n_rows, n_entries = text.count(b"\n"), text.count(b":")
    # No line has more labels than it has bytes, whatever was declared.
    n_labels = min(layout.n_labels, len(text))
    n_rows = min(n_rows, len(text) // max(1, 2 * n_labels - 1) + 1)
    labels, indptr = np.empty(n_rows * n_labels), np.empty(n_rows + 1, np.int32)
    values, indices = np.empty(n_entries), np.empty(n_entries, np.int32)
    slow, places = (np.empty(len(labels) + n_entries, np.int64) for _ in range(2))
    rows, lines, left, reason, line, place = parse_lines(
        np.frombuffer(text, np.uint8), n_labels, layout.first, layout.n_features, powers_of_five(),
        labels, indptr, indices, values, slow, places,
    )  # fmt: skip
    fault = _Fault(reason, line, place) if reason else None
    table = Table(
        labels[: rows * n_labels].reshape(rows, n_labels), indptr[: rows + 1], indices[: indptr[rows]], values
    )
    overflow = _read_slowly(text, table, slow[:left].tolist(), places[:left].tolist())
    if overflow:
        rows, kind, place = overflow
        lines, fault = text.count(b"\n", 0, place), _Fault(kind, text.rfind(b"\n", 0, place) + 1, place)
    used = int(indptr[rows])
    return Table(table.labels[:rows], indptr[: rows + 1], indices[:used], values[:used]), lines, fault


def _read_slowly(
    text: bytes, table: Table, numbers: Sequence[int], places: Sequence[int]
) -> tuple[int, int, int] | None:
    """Fill in the numbers that compiled code leaves to Python; (row, kind, place) of one that is not finite."""
    for number, place in zip(numbers, places, strict=True):
        is_label = number < 0
        if is_label:
            row = (-1 - number) // table.labels.shape[1]
        else:
            row = int(np.searchsorted(table.indptr, number, side="right")) - 1
        if row >= len(table):
            return None  # of the line that is refused
        value = float(cast(re.Match[bytes], _TOKEN.match(text, place)).group())
        if not np.isfinite(value):
            return row, LABEL if is_label else VALUE, place
        target, position = (table.labels.reshape(-1), -1 - number) if is_label else (table.values, number)
        target[position] = value
    return None
