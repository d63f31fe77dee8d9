"""Tables of delimited text: CSV, tab-separated and the like.

pyarrow reads them where it is installed, at its own speed; Python's csv module does otherwise, and
also finds the line that is to blame when a file is refused. What a column holds is the same by both:
numbers where every value is one as `lines.NUMBER` has it, texts otherwise.
"""

import re
from collections.abc import Container, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer.io.csv.lines import MISSING, NUMBER, SOME_NUMBERS, Lines, as_number, not_a_number
from mercer.io.csv.quotes import look_through
from mercer.io.tables import has_arrow, is_text, of_arrow, values_of
from mercer.kernels.table.column_frame import ColumnFrame

if TYPE_CHECKING:
    from pyarrow import ChunkedArray, DataType, NativeFile
    from pyarrow import Table as ArrowTable

    from mercer.io.source import Source

# Bytes that a thread of pyarrow takes at a time: twice the default has fewer pieces to put together.
BLOCK = 2**21
DELIMITERS = (",", ";", "\t", "|")
# Bytes that a value takes while it is read: as Arrow's number and numpy's, or as Python's text, number and numpy's.
_CELL_OF_ARROW, _CELL_OF_PYTHON = 16, 110
_CONVERSION = re.compile(r"column #(\d+).*conversion error to (\w+)", re.DOTALL)


def read_delimited(
    source: "Source",
    *,
    text: Sequence[str] = (),
    header: bool = True,
    delimiter: str | None = None,
    missing: Iterable[str] = MISSING,
    is_part: bool = False,
) -> ColumnFrame:
    """The table of a `Source` of delimited text.

    Columns named in `text` are texts even where they look like numbers; `missing` are the words
    that stand for no value. In a part of a file (`is_part`) a few words among numbers are no fault, but make the
    column one of texts: whoever knows the other parts judges.
    """
    source.require_room()
    lines = Lines(source, delimiter or delimiter_of(source), header, missing)
    names = lines.names()
    unknown = [name for name in text if name not in names]
    if unknown:
        raise ParameterError(f"text names the column {unknown[0]!r}; {source.name} has {', '.join(map(repr, names))}")
    if not has_arrow():
        _require_room_for_cells(source, lines.delimiter, _CELL_OF_PYTHON)
        return ColumnFrame.of_lists(lines.columns(text, is_part), source.name)
    _require_room_for_cells(source, lines.delimiter, _CELL_OF_ARROW)
    table = _by_arrow(lines, names, text)
    if not table.num_rows:
        raise DataError(f"{source.name}: there is a header, but no row below it")
    return _with_numbers(lines, table, text, is_part)


def _require_room_for_cells(source: "Source", delimiter: str, each: int) -> None:
    """Refuse a file whose values would take more memory than there is, before they are read."""
    # A value and what ends it are two bytes at least: most files are small enough to need no count.
    if source.is_plain and source.size * each // 2 <= source.most:
        return
    marks, size = (delimiter.encode(), b"\n"), 0
    for piece in source.pieces():
        size += each * sum(map(piece.count, marks)) + (0 if source.is_plain else len(piece))
        source.require_room(size)


def delimiter_of(source: "Source") -> str:
    """The candidate that the first line has most of."""
    if source.ending in (".tsv", ".tab"):
        return "\t"
    first = source.head().split(b"\n")[0]
    return max(DELIMITERS, key=lambda mark: first.count(mark.encode()))


def _by_arrow(lines: Lines, names: list[str], text: Iterable[str]) -> "ArrowTable":
    import pyarrow as pa

    types = dict.fromkeys(text, pa.string())
    reading = _Reading(lines, names, types)
    for _ in range(len(names) + 2):
        try:
            table = reading.table()
        except pa.ArrowInvalid as error:
            if not _as_real_numbers(pa, str(error), names, types):
                # The csv module says where; if it finds nothing wrong, Arrow has the last word.
                lines.find_fault({name for name, kind in types.items() if kind == pa.float64()})
                raise DataError(f"{lines.source.name}: not a sound table of text: {error}") from error
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{lines.source.name}: cannot be read to its end: {error}") from error
        else:
            doubtful = [name for name in names if types.get(name) != pa.string() and reading.is_doubtful(table, name)]
            if not doubtful:
                return table
            types.update(dict.fromkeys(doubtful, pa.string()))
    raise DataError(f"{lines.source.name}: the columns do not keep to one type")


class _Reading:
    """One file read by pyarrow, in parallel where no value holds a line break; `types` may change between readings."""

    if TYPE_CHECKING:
        has_hexadecimal: bool | None

    def __init__(self, lines: Lines, names: list[str], types: "dict[str, DataType]") -> None:
        self.lines, self.names, self.types = lines, names, types
        # Unpacked once, though it is looked at twice.
        self.content = lines.source.read() if lines.source.plain_path is None else None
        self.is_serial, self.has_hexadecimal = False, None

    def _opened(self) -> "NativeFile":
        import pyarrow as pa

        path = self.lines.source.plain_path
        return pa.memory_map(str(path)) if self.content is None else pa.BufferReader(self.content)

    def table(self) -> "ArrowTable":
        """The table; raises what pyarrow does."""
        import pyarrow as pa

        with self._opened() as file:
            found = None if self.is_serial else self._in_parallel(pa, file)
            return self._read(file, True) if found is None else found

    def is_doubtful(self, table: "ArrowTable", name: str) -> bool:
        """Whether pyarrow may have read something as a number, a date or a time that is none for the csv module."""
        import pyarrow as pa

        column = table.column(name)
        if pa.types.is_temporal(column.type):
            return True
        if pa.types.is_floating(column.type):
            return not np.isfinite(values_of(column.drop_null())).all()
        return pa.types.is_integer(column.type) and self._may_be_hexadecimal()

    def _may_be_hexadecimal(self) -> bool:
        if self.has_hexadecimal is None:
            with self._opened() as file:
                content = memoryview(file.read_buffer())
                self.has_hexadecimal = re.search(rb"0[xX]", content) is not None
        return self.has_hexadecimal

    def _in_parallel(self, pa: Any, file: "NativeFile") -> "ArrowTable | None":
        """The table, or None if a line break in quotes makes it doubtful, which is looked for meanwhile."""
        content = np.frombuffer(file.read_buffer(), dtype=np.uint8)
        with ThreadPoolExecutor(1) as pool:
            looking, found = pool.submit(look_through, content), None
            try:
                found = self._read(file, False)
            except pa.ArrowInvalid:
                if looking.result() is None:
                    raise
        if looking.result() is None:
            return found
        is_odd, lines = cast(tuple[bool, int | None], looking.result())
        if is_odd:
            # pyarrow would not say where.
            self.lines.find_fault(set())
        self.is_serial = found is None or found.num_rows + self.lines.rows_of_header() != lines
        return None if self.is_serial else found

    def _read(self, file: "NativeFile", may_break: bool) -> "ArrowTable":
        from pyarrow import csv

        file.seek(0)
        header = self.lines.rows_of_header()
        return csv.read_csv(
            file,
            csv.ReadOptions(block_size=BLOCK, column_names=self.names, skip_rows_after_names=header),
            csv.ParseOptions(delimiter=self.lines.delimiter, newlines_in_values=may_break),
            csv.ConvertOptions(
                column_types=self.types,
                null_values=list(self.lines.missing),
                strings_can_be_null=True,
                # Truth values stay texts, see `mercer.io.tables`.
                true_values=[],
                false_values=[],
            ),
        )


def _as_real_numbers(pa: Any, message: str, names: Sequence[str], types: "dict[str, DataType]") -> bool:
    """Whether a column that began as whole numbers is to be read again, as real ones or as texts."""
    found = _CONVERSION.search(message)
    if found is None:
        return False
    name, kind = names[int(found[1])], found[2]
    if kind.startswith(("int", "null", "timestamp", "date", "time")) and name not in types:
        types[name] = pa.float64() if kind.startswith("int") else pa.string()
        return True
    return False


def _with_numbers(lines: Lines, table: "ArrowTable", text: Container[str], is_part: bool) -> ColumnFrame:
    """The table, where columns of texts that are all numbers hold numbers; a few words among numbers are refused."""
    frame = of_arrow(table, lines.source)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name not in text and is_text(column.type) and _holds_numbers(lines, name, column, is_part):
            values = {word: as_number(word) for word in column.unique().to_pylist() if word is not None}
            numbers = [values.get(word) for word in frame.arrays[name].tolist()]
            frame = ColumnFrame({**frame.arrays, **ColumnFrame.of_lists({name: numbers}).arrays})
    return frame


def _holds_numbers(lines: Lines, name: str, column: "ChunkedArray", is_part: bool) -> bool:
    """Whether every word of a column is a number; refused where most are, unless it is a part of one."""
    from pyarrow import compute

    # Most columns of words have few different ones.
    found = compute.value_counts(column.drop_null() if column.null_count else column)
    words, counts = found.field("values"), found.field("counts")
    is_number = compute.match_substring_regex(words, f"^{NUMBER}$")
    share = (compute.sum(counts.filter(is_number)).as_py() or 0) / max(1, compute.sum(counts).as_py() or 0)
    if SOME_NUMBERS <= share < 1.0 and not is_part:
        row = min(compute.index(column, word).as_py() for word in words.filter(compute.invert(is_number)))
        raise not_a_number(lines, name, row, column[row].as_py())
    return share == 1.0
