"""Files of delimited text as blocks: an index of the bytes where blocks begin, and each read by itself."""

import copy
import io
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from mercer._errors import DataError
from mercer._types import Array
from mercer.io.blocks.reader import rows_of_block
from mercer.io.column_notes import AmbiguousNumbersWarning
from mercer.io.csv.delimiters import delimiter_of, require_delimiter, require_marks
from mercer.io.csv.lines import MISSING, Lines
from mercer.io.csv.numbers import Form
from mercer.io.csv.reader import read_delimited
from mercer.io.csv.row_starts import first_state, scan_rows
from mercer.io.source import PIECE, Source

_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8


@dataclass(frozen=True)
class _Range:
    """A block: a range of bytes of a file (None for its end), the number of lines before it, its rows."""

    file: int
    begin: int
    end: int | None
    lines_before: int
    rows_before: int
    rows: int


@dataclass(frozen=True)
class _Head:
    """The lines up to the header, and their contents."""

    content: bytes
    lines: int
    delimiter: str
    names: tuple[str, ...]


class DelimitedFiles:
    """Blocks of CSV files with the same columns.

    A compressed file cannot be read from its middle, so it is one block. Columns named in `text` are text in every
    block; the kinds of the others are found block by block, and combined by `Blocks`.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        block_rows: int | None,
        *,
        text: Sequence[str] = (),
        header: bool = True,
        delimiter: str | None = None,
        missing: Sequence[str] = MISSING,
        decimal: str | None = None,
        encoding: str | None = None,
    ) -> None:
        self.paths, self.text = [Path(path) for path in paths], tuple(text)
        self.encoding = encoding
        require_marks(delimiter, decimal)
        self.header, self.missing = header, tuple(missing)
        self.kinds: dict[str, str] = {}  # nothing is declared
        self._heads: list[_Head] = []
        self._ranges: list[_Range] = []
        self.n_bytes = sum(path.stat().st_size for path in self.paths)
        for k, path in enumerate(self.paths):
            self._heads.append(self._head(path, delimiter))
            self._require_same(path)
            self._ranges += self._indexed(k, path, rows_of_block(block_rows, len(self._heads[0].names)))
        self.names = list(self._heads[0].names)
        self.sizes = [each.rows for each in self._ranges]
        self.forms = self._first_forms(decimal)

    def _head(self, path: Path, delimiter: str | None) -> _Head:
        source = Source(path, encoding=self.encoding)
        if not source.head().strip():
            raise DataError(f"{path}: the file is empty; leave it out, or write it again")
        mark = delimiter or delimiter_of(source)
        names = Lines(source, mark, self.header, self.missing).names()
        require_delimiter(source, mark, names)
        content, state = source.head(), first_state()
        begin, starts = len(_MARK) * content.startswith(_MARK), np.empty((len(content) + 1, 3), np.int64)
        found = scan_rows(np.frombuffer(content, np.uint8)[begin:], ord(mark), state, 1, starts)
        if not self.header:
            return _Head(b"", 0, mark, tuple(names))
        if not found:
            return _Head(content, int(state[2]), mark, tuple(names))
        return _Head(content[: begin + int(starts[0, 0])], int(starts[0, 2]), mark, tuple(names))

    def _first_forms(self, decimal: str | None) -> dict[str, Form]:
        """The notation of numbers, from the first rows of the first file: all blocks are read alike.

        A number in another notation further on is an error that names its line.
        """
        content = Source(self.paths[0], encoding=self.encoding).head()
        mark, state, starts = self._heads[0].delimiter, first_state(), np.empty((len(content) + 1, 3), np.int64)
        found = scan_rows(np.frombuffer(content, np.uint8), ord(mark), state, 1, starts)
        first = Source(io.BytesIO(content[: int(starts[found - 1, 0])] if found else content))
        lines = Lines(first, mark, self.header, self.missing, decimal)
        verdicts, default = lines.verdicts(lines.words(self.text)), decimal or "."
        for verdict in verdicts.values():
            if verdict.note is not None and verdict.note.kind == "ambiguous":
                warnings.warn(f"{self.paths[0]}, {verdict.note}", AmbiguousNumbersWarning, stacklevel=6)
        forms = {name: verdict.form for name, verdict in verdicts.items() if verdict.form is not None}
        if decimal is None and any(form.decimal == "," for form in forms.values()):
            default = ","
        return {name: forms.get(name, Form(default)) for name in self.names}

    def _require_same(self, path: Path) -> None:
        first, here = self._heads[0].names, self._heads[-1].names
        if set(here) == set(first):
            return
        gone = [name for name in first if name not in here]
        what = f"has no column {gone[0]!r}" if gone else f"has the column {set(here).difference(first).pop()!r}"
        raise DataError(
            f"{path}: the file {what}, unlike {self.paths[0]}; all files must have the same columns: correct it, or "
            "leave the file out"
        )

    def _indexed(self, k: int, path: Path, block_rows: int) -> list[_Range]:
        """The blocks of a file, from one pass over its bytes."""
        source, head = Source(path, encoding=self.encoding), self._heads[k]
        state, place, found = first_state(), len(head.content), [(len(head.content), 0, head.lines)]
        skip = place
        starts = np.empty((PIECE // block_rows + 2, 3), np.int64)
        state[2] = head.lines
        for piece in source.pieces():
            if len(piece) <= skip:
                skip -= len(piece)
                continue
            body, skip = np.frombuffer(piece, np.uint8)[skip:], 0
            count = scan_rows(body, ord(head.delimiter), state, block_rows, starts)
            found += [(place + int(a), int(b), int(c)) for a, b, c in starts[:count]]
            place += len(body)
        rows = int(state[1] + state[3])
        if not source.is_plain:
            return [_Range(k, 0, None, 0, 0, rows)] if rows else []
        found = [each for each in found if each[1] < rows]
        ends = [*found[1:], (place, rows, 0)][: len(found)]
        return [
            _Range(k, begin, end, lines, before, after - before)
            for (begin, before, lines), (end, after, _) in zip(found, ends, strict=True)
        ]

    def columns(self, i: int, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
        part = self._ranges[i]
        source, head = self._source(part), self._heads[part.file]
        try:
            frame, _ = read_delimited(
                source,
                text=self.text,
                header=self.header,
                delimiter=head.delimiter,
                missing=self.missing,
                forms=self.forms,
            )
        except DataError as error:
            raise DataError(f"block {i}, {error}") from error
        if len(frame) != part.rows:
            raise DataError(
                f"{self.place(i)}: {part.rows} rows were expected, got {len(frame)}; was the file changed meanwhile?"
            )
        return ((name, frame.arrays[name]) for name in names)

    def _source(self, part: _Range) -> Source:
        path, head = self.paths[part.file], self._heads[part.file]
        if part.end is None:
            return Source(path, encoding=self.encoding)
        with open(path, "rb") as file:
            file.seek(part.begin)
            content = io.BytesIO(head.content + file.read(part.end - part.begin))
        cast(Any, content).name = str(path)
        return Source(content, lines_before=part.lines_before - head.lines)

    def with_text(self, text: tuple[str, ...]) -> "DelimitedFiles":
        """The same with these columns as text: "01" is a word before it is a number."""
        other = copy.copy(self)
        other.text = text
        return other

    def find_fault(self, i: int, name: str) -> None:
        """Raise a DataError that names the first line of block i in which a column is not numeric."""
        part = self._ranges[i]
        head = self._heads[part.file]
        lines = Lines(self._source(part), head.delimiter, self.header, self.missing, forms=self.forms)
        lines.find_fault({name})

    def place(self, i: int, row: int | None = None) -> str:
        part = self._ranges[i]
        first = part.rows_before
        where = f"row {first + row}" if row is not None else f"rows {first} to {first + part.rows - 1}"
        return f"block {i}, {self.paths[part.file]}, {where}"
