"""Delimited text by Python's csv module: the reader without pyarrow, and the finder of faults."""

import csv
import io
import re
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mercer._errors import DataError
from mercer.io.source import decoded

if TYPE_CHECKING:
    from mercer.io.source import Source

# Words that stand for no value.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?")
# A column with at least this share of numbers was meant to hold nothing else.
SOME_NUMBERS = 0.9
# A number as CSV has it; also read by Arrow's expressions.
NUMBER = r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*"
_NUMBER = re.compile(NUMBER)
# Digits of a whole number of 64 bits; what is longer is a real one.
LONGEST_WHOLE = 19


class Lines:
    """The lines of a `Source`, read by the csv module."""

    def __init__(self, source: "Source", delimiter: str, header: bool, missing: Iterable[str]) -> None:
        self.source, self.delimiter, self.header, self.missing = source, delimiter, header, tuple(missing)

    @contextmanager
    def _rows(self) -> Iterator[Any]:
        """Rows as lists of texts; what the csv module refuses is a DataError."""
        before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        with self.source.open() as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            reader = csv.reader(text, delimiter=self.delimiter, strict=True)
            try:
                yield reader
            except csv.Error as error:
                why = "a closing quotation mark was expected" if "unexpected end" in str(error) else str(error)
                line = self.source.lines_before + reader.line_num
                raise DataError(f"{self.source.name}, line {line}: {why}") from error
            except UnicodeDecodeError as error:
                decoded(self.source.read(), self.source.name, self.source.lines_before)
                raise DataError(f"{self.source.name}: UTF-8 was expected: {error}") from error
            except (EOFError, OSError) as error:
                raise DataError(f"{self.source.name}: cannot be read to its end: {error}") from error
            finally:
                csv.field_size_limit(before)

    def names(self) -> list[str]:
        """The names of the columns."""
        with self._rows() as rows:
            first = next((row for row in rows if row), [])
        if not self.header:
            return [f"x{k + 1}" for k in range(len(first))]
        names = [name.strip() or f"column_{k + 1}" for k, name in enumerate(first)]
        if all(map(is_number, names)):
            raise DataError(
                f"{self.source.name}, line 1: names of columns were expected, got the numbers "
                f"{', '.join(names[:4])}; pass header=False (--no-header)"
            )
        twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
        if twice is not None:
            raise DataError(f"{self.source.name}, line 1: the column {twice!r} is there twice; rename one")
        return names

    def rows_of_header(self) -> int:
        """How many rows pyarrow is to leave out."""
        return 1 if self.header else 0

    def body(self) -> Iterator[tuple[int, list[str]]]:
        """(line, row) of each row below the header, each as wide as the first."""
        names = self.names()
        with self._rows() as rows:
            is_first = self.header
            for row in rows:
                if not row:
                    continue
                if is_first:
                    is_first = False
                    continue
                line = self.source.lines_before + rows.line_num
                if len(row) != len(names):
                    raise DataError(
                        f"{self.source.name}, line {line}: {len(names)} fields were expected, got {len(row)}"
                        f"; {_first_beyond(names, row)}"
                    )
                yield line, row

    def find_fault(self, numbers: Container[str]) -> None:
        """Raise a DataError that names the first line at fault, where there is one; `numbers` are columns of them."""
        names = self.names()
        for line, row in self.body():
            for name, value in zip(names, row, strict=True):
                if name in numbers and value not in self.missing and not is_number(value):
                    raise self.fault(line, name, value)

    def fault(self, line: int, name: str, value: str) -> DataError:
        return DataError(
            f"{self.source.name}, line {line}, column {name!r}: a number was expected, got {value[:60]!r}; "
            f"correct it, read the column as text (--text {name}), or let the word stand for no value (--missing)"
        )

    def columns(self, text: Container[str] = (), is_part: bool = False) -> dict[str, list[Any]]:
        """All columns as lists, numbers where every value is one; of a part, also a few words among numbers."""
        names, found = self.names(), []
        found = [row for _, row in self.body()]
        if not found:
            raise DataError(f"{self.source.name}: there is a header, but no row below it")
        columns = dict(zip(names, map(list, zip(*found, strict=True)), strict=True))
        return {name: self._typed(name, values, name in text, is_part) for name, values in columns.items()}

    def _typed(self, name: str, values: list[Any], is_text: bool, is_part: bool) -> list[Any]:
        values = [None if value in self.missing else value for value in values]
        present = [value for value in values if value is not None]
        count = sum(map(is_number, present))
        if not is_text and present and count == len(present):
            return [None if value is None else as_number(value) for value in values]
        if not is_text and not is_part and count and count >= SOME_NUMBERS * len(present):
            row = next(k for k, value in enumerate(values) if value is not None and not is_number(value))
            raise not_a_number(self, name, row, values[row])
        return values


def not_a_number(lines: Lines, name: str, row: int, value: str) -> DataError:
    """The error that names the line of a row of the body."""
    for k, (line, _) in enumerate(lines.body()):
        if k == row:
            return lines.fault(line, name, value)
    return lines.fault(row + 1, name, value)


def _first_beyond(names: Sequence[str], row: Sequence[str]) -> str:
    if len(row) > len(names):
        return f"the first too many is {row[len(names)][:40]!r}"
    return f"there is none for {names[len(row)]!r}"


def is_number(value: str) -> bool:
    """Whether a word is a number."""
    return _NUMBER.fullmatch(value) is not None


def as_number(word: str) -> int | float:
    """The number that a word is, whole where it is digits and no more (so pyarrow has it)."""
    digits = word.strip().removeprefix("-")
    return int(word) if digits.isdigit() and len(digits) <= LONGEST_WHOLE else float(word)
