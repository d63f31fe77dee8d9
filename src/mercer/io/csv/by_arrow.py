"""Delimited text read by pyarrow at its own speed; anything but plain numbers is judged by `judgement`."""

import re
from collections.abc import Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import DataError
from mercer.io.column_notes import ColumnNote
from mercer.io.csv.judgement import SOME_NUMBERS, Verdict, Words, shows_comma
from mercer.io.csv.lines import Lines, not_a_number
from mercer.io.csv.numbers import PER_CENT, value_of
from mercer.io.csv.quotes import look_through
from mercer.io.tables import is_text, of_arrow, values_of
from mercer.kernels.table.column_frame import ColumnFrame

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyarrow import Array as ArrowArray
    from pyarrow import ChunkedArray, DataType, NativeFile
    from pyarrow import Table as ArrowTable

# Bytes that a thread of pyarrow takes at a time: twice the default leaves fewer pieces to join.
BLOCK = 2**21
# The largest block that pyarrow accepts.
_LONGEST_BLOCK = 2**31 - 1
# Roughly a number, currency included; most texts do not match, and need not be examined one by one.
_BLANKS = r"[\s\x{a0}\x{202f}\x{2009}]*"
_PERHAPS_NUMBER = (
    rf"^{_BLANKS}[+−-]?{_BLANKS}[^0-9\s]{{0,3}}{_BLANKS}[+−-]?[0-9.,][0-9.,'’eE+\-\s\x{{a0}}\x{{202f}}\x{{2009}}]*"
    rf"[^0-9\s]{{0,3}}{_BLANKS}$"
)
_CONVERSION = re.compile(r"column #(\d+).*conversion error to (\w+)", re.DOTALL)


def read_by_arrow(lines: Lines, names: list[str], text: Sequence[str]) -> tuple[ColumnFrame, list[ColumnNote]]:
    """(the table, notes on its columns), like `Lines.columns`."""
    import pyarrow as pa

    reading = _Reading(lines, names, dict.fromkeys(text, pa.string()))
    table = reading.settled()
    words = _words_of(lines, table, text)
    again = _to_be_spelled(lines, table, words)
    if again:
        # Their points may group thousands, so the words are needed.
        reading.types.update(dict.fromkeys(again, pa.string()))
        table = reading.settled()
        words = _words_of(lines, table, text)
    if not table.num_rows:
        raise DataError(f"{lines.source.name}: there is a header, but no row below it")
    return _typed(lines, table, lines.verdicts(words))


def _words_of(lines: Lines, table: "ArrowTable", text: Container[str]) -> dict[str, Words]:
    """The words of the columns that pyarrow did not read as numbers, but that may be."""
    from pyarrow import types

    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in text or not (is_text(column.type) or types.is_null(column.type)):
            continue
        words = _counted(lines, column)
        if words is not None:
            found[name] = words
    return found


def _counted(lines: Lines, column: "ChunkedArray") -> Words | None:
    """The words of a column; None if too few of them can be numbers."""
    from pyarrow import compute, types

    if types.is_null(column.type):
        return Words([], [])
    # Most columns of words have few distinct ones.
    counted = compute.value_counts(column.drop_null())
    words, counts = counted.field("values"), counted.field("counts")
    strange = compute.invert(compute.match_substring_regex(words, _PERHAPS_NUMBER))
    rows = counts.filter(strange).to_pylist()
    n_blank = sum(rows[k] for k in _gone_places(lines, words.filter(strange)))
    total = (compute.sum(counts).as_py() or 0) - n_blank
    # Rounded as in `judgement`: a fraction of exactly SOME_NUMBERS is enough.
    if total - (sum(rows) - n_blank) < SOME_NUMBERS * total:
        return None
    pairs = zip(words.to_pylist(), counts.to_pylist(), strict=True)
    kept = [(word, count) for word, count in pairs if not lines.is_gone(word)]
    return Words([word for word, _ in kept], [count for _, count in kept])


def _gone_places(lines: Lines, words: "ArrowArray") -> list[int]:
    """Which words mean a missing value: those with blanks around them, since pyarrow has found the others."""
    from pyarrow import compute

    edged = np.flatnonzero(compute.match_substring_regex(words, "^[^!-~]|[^!-~]$").to_pylist())
    return [k for k in edged.tolist() if lines.is_gone(words[k].as_py())]


def _to_be_spelled(lines: Lines, table: "ArrowTable", words: Mapping[str, Words]) -> list[str]:
    """Columns that pyarrow has read as real numbers, but whose words are needed to know their value."""
    from pyarrow import types

    real = [name for name in table.column_names if types.is_floating(table.column(name).type)]
    if lines.forms is not None:
        units = {name: lines.form(name).unit for name in table.column_names}
        whole = [name for name in table.column_names if types.is_integer(table.column(name).type)]
        beside = [name for name in (*real, *whole) if units[name] == PER_CENT]
        return [*beside, *(name for name in real if lines.form(name).decimal == "," and name not in beside)]
    if lines.decimal == "." or not real:
        return []
    if lines.decimal == "," or any(map(shows_comma, words.values())):
        return real
    return [name for name in real if lines.delimiter == ";" and _may_be_thousands(table.column(name))]


def _may_be_thousands(column: "ChunkedArray") -> bool:
    """Whether all numbers have at most three decimals, so that each may be meant to be a thousand times as large."""
    values = np.abs(values_of(column.drop_null()))
    with np.errstate(over="ignore"):
        has_three = np.rint(values * 1000.0) / 1000.0 == values
    return bool(((values >= 1.0) | (values == 0.0)).all() and has_three.all())


class _Reading:
    """One file read by pyarrow, in parallel unless a value contains a line break; `types` may change meanwhile."""

    if TYPE_CHECKING:
        has_hexadecimal: bool | None

    def __init__(self, lines: Lines, names: list[str], types: "dict[str, DataType]") -> None:
        self.lines, self.names, self.types = lines, names, types
        # Decompressed once, though it is read twice.
        self.content = lines.source.read() if lines.source.plain_path is None else None
        self.is_serial, self.has_hexadecimal, self.block = False, None, BLOCK

    def _opened(self) -> "NativeFile":
        import pyarrow as pa

        path = self.lines.source.plain_path
        return pa.memory_map(str(path)) if self.content is None else pa.BufferReader(self.content)

    def settled(self) -> "ArrowTable":
        """The table, each column of one type; a DataError names the line at fault."""
        import pyarrow as pa

        for _ in range(2 * len(self.names) + 4):
            try:
                table = self.table()
            except pa.ArrowInvalid as error:
                if not self._reads_on(pa, str(error)):
                    # The csv module finds the line; if it finds nothing wrong, Arrow's error stands.
                    self.lines.find_fault(())
                    raise DataError(f"{self.lines.source.name}: not a valid table of text: {error}") from error
            except (OSError, pa.ArrowException) as error:
                raise DataError(f"{self.lines.source.name}: cannot be read to its end: {error}") from error
            else:
                known = [name for name in self.names if self.types.get(name) != pa.string()]
                doubtful = [name for name in known if self.is_doubtful(table, name)]
                if not doubtful:
                    return table
                self.types.update(dict.fromkeys(doubtful, pa.string()))
        raise DataError(f"{self.lines.source.name}: the columns do not keep to one type")

    def _reads_on(self, pa: Any, message: str) -> bool:
        """Whether to read the file again in another way: a column as real numbers or texts, or in larger blocks."""
        if "straddl" in message and self.block < _LONGEST_BLOCK:
            # A row is longer than a block.
            self.block = min(16 * self.block, _LONGEST_BLOCK)
            return True
        found = _CONVERSION.search(message)
        name = None if found is None else self.names[int(found[1])]
        if found is None or name is None or self.types.get(name) == pa.string():
            return False
        is_whole = found[2].startswith("int") and name not in self.types
        self.types[name] = pa.float64() if is_whole else pa.string()
        return True

    def table(self) -> "ArrowTable":
        """The table; raises pyarrow's errors."""
        import pyarrow as pa

        with self._opened() as file:
            found = None if self.is_serial else self._in_parallel(pa, file)
            return self._read(file, True) if found is None else found

    def is_doubtful(self, table: "ArrowTable", name: str) -> bool:
        """Whether pyarrow may have read something as a number, a date or a time that the csv module would not, or
        as bytes: text that is not UTF-8."""
        import pyarrow as pa

        column = table.column(name)
        if pa.types.is_temporal(column.type) or pa.types.is_binary(column.type):
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
        """The table, or None if a line break in quotes, which is searched for meanwhile, makes it doubtful."""
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
            csv.ReadOptions(block_size=self.block, column_names=self.names, skip_rows_after_names=header),
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


def _typed(lines: Lines, table: "ArrowTable", verdicts: Mapping[str, Verdict]) -> tuple[ColumnFrame, list[ColumnNote]]:
    """(the table with the values of its words, notes); a few words among numbers are refused."""
    frame, arrays = of_arrow(table, lines.source), {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        arrays[name] = frame.arrays[name]
        if not is_text(column.type):
            arrays[name] = _unsigned_zeros(frame.arrays[name])
            continue
        verdict = verdicts.get(name, Verdict(None))
        if verdict.strangers:
            row = min(_first_row(column, word) for word in verdict.strangers)
            raise not_a_number(lines, name, row, column[row].as_py())
        unique = column.drop_null().unique()
        gone = {unique[k].as_py() for k in _gone_places(lines, unique)}
        if verdict.form is None and not gone:
            continue
        values = dict.fromkeys(gone)
        if verdict.form is not None:
            values |= {word: value_of(word, verdict.form) for word in unique.to_pylist() if word not in gone}
        changed = [None if word is None else values.get(word, word) for word in frame.arrays[name].tolist()]
        arrays.update(ColumnFrame.of_lists({name: changed}).arrays)
    return ColumnFrame(arrays), [verdict.note for verdict in verdicts.values() if verdict.note is not None]


def _unsigned_zeros(values: "NDArray[Any]") -> "NDArray[Any]":
    """Numbers like those of `value_of`, whose zeros have no sign; copied if one has."""
    if values.dtype.kind != "f" or not np.signbit(values[values == 0.0]).any():
        return values
    return cast("NDArray[Any]", values + 0.0)


def _first_row(column: "ChunkedArray", word: str) -> int:
    """The first row that has a word."""
    from pyarrow import compute

    return int(compute.index(column, word).as_py())
