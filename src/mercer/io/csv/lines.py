"""Delimited text read by Python's csv module: the reader without pyarrow, and the one that locates faults."""

import csv
import io
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mercer._errors import DataError
from mercer.io.column_notes import ColumnNote
from mercer.io.csv.judgement import Verdict, Words, judged
from mercer.io.csv.numbers import Form, is_plain, value_of
from mercer.io.encodings import decoded

if TYPE_CHECKING:
    from mercer.io.source import Source

# Words for missing values.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?")


class Lines:
    """The lines of a `Source`, read by the csv module.

    Parameters
    ----------
    source : Source
    delimiter : str
    header : bool
        Whether the first line names the columns.
    missing : iterable of str
        Words for missing values, with or without blanks around them.
    decimal : str, optional
        The decimal mark, if known.
    forms : dict of str to Form, optional
        How the numbers of columns are written, if known, for a part of a file. There, a few words among numbers are
        not a fault but make the column text: the caller, who knows the other parts, decides.
    """

    def __init__(
        self,
        source: "Source",
        delimiter: str,
        header: bool,
        missing: Iterable[str],
        decimal: str | None = None,
        forms: Mapping[str, Form] | None = None,
    ) -> None:
        self.source, self.delimiter, self.header = source, delimiter, header
        self.missing, self.decimal, self.forms = frozenset(missing), decimal, forms

    @contextmanager
    def _rows(self) -> Iterator[Any]:
        """Rows as lists of texts; errors of the csv module become a DataError."""
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
        if all(map(is_plain, names)):
            raise DataError(
                f"{self.source.name}, line 1: names of columns were expected, got the numbers "
                f"{', '.join(names[:4])}; pass header=False (--no-header)"
            )
        twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
        if twice is not None:
            raise DataError(f"{self.source.name}, line 1: the column {twice!r} occurs twice; rename one")
        return names

    def rows_of_header(self) -> int:
        """How many rows pyarrow should skip."""
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
        """Raise a DataError that names the first faulty line, if there is one; `numbers` are columns of numbers."""
        names = self.names()
        for line, row in self.body():
            for name, value in zip(names, row, strict=True):
                if name in numbers and not self.is_gone(value) and value_of(value, self.form(name)) is None:
                    raise self.fault(line, name, value)

    def fault(self, line: int, name: str, value: str) -> DataError:
        return DataError(
            f"{self.source.name}, line {line}, column {name!r}: a number was expected, got {value[:60]!r}; "
            f"correct it, read the column as text (--text {name}), or declare the word missing (--missing)"
        )

    def is_gone(self, word: str) -> bool:
        """Whether a word means a missing value, with or without blanks around it; so does a field of blanks."""
        return word in self.missing or word.strip() in self.missing

    def form(self, name: str) -> Form:
        """How the numbers of a column are written, if known, or else mostly."""
        return (self.forms or {}).get(name, Form(self.decimal or "."))

    def verdicts(self, words: Mapping[str, Words]) -> dict[str, Verdict]:
        """The contents of columns, from their words."""
        if self.forms is None:
            return judged(words, self.decimal, self.delimiter)
        found = {}
        for name, each in words.items():
            are_numbers = bool(each.words) and all(value_of(word, self.form(name)) is not None for word in each.words)
            found[name] = Verdict(self.form(name) if are_numbers else None)
        return found

    def words(self, text: Container[str] = ()) -> dict[str, Words]:
        """The words of all columns except texts, up to the first fault, which is left to a later reader."""
        rows = []
        with suppress(DataError):
            for _, row in self.body():
                rows.append(row)
        counts = _counted(self.names(), rows)
        return {
            name: _words(each, {word for word in each if self.is_gone(word)})
            for name, each in counts.items()
            if name not in text
        }

    def columns(self, text: Container[str] = ()) -> tuple[dict[str, list[Any]], list[ColumnNote]]:
        """All columns as lists, numbers if every value is one, and notes on them."""
        names, found = self.names(), [row for _, row in self.body()]
        if not found:
            raise DataError(f"{self.source.name}: there is a header, but no row below it")
        counts = _counted(names, found)
        gone = {name: {word for word in counts[name] if self.is_gone(word)} for name in names}
        words = {name: _words(counts[name], gone[name]) for name in names if name not in text}
        verdicts, columns = self.verdicts(words), {}
        for k, name in enumerate(names):
            verdict = verdicts.get(name, Verdict(None))
            if verdict.strangers:
                row = next(row for row, values in enumerate(found) if values[k] in verdict.strangers)
                raise not_a_number(self, name, row, found[row][k])
            values = {word: word if verdict.form is None else value_of(word, verdict.form) for word in counts[name]}
            values.update(dict.fromkeys(gone[name]))
            columns[name] = [values[row[k]] for row in found]
        return columns, [verdict.note for verdict in verdicts.values() if verdict.note is not None]


def _counted(names: Sequence[str], rows: Iterable[Sequence[str]]) -> dict[str, Counter[str]]:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: Counter(values) for name, values in zip(names, columns, strict=True)}


def _words(counts: Counter[str], gone: Container[str]) -> Words:
    kept = [word for word in counts if word not in gone]
    return Words(kept, [counts[word] for word in kept])


def not_a_number(lines: Lines, name: str, row: int, value: str) -> DataError:
    """The error that names the line of a row of the body."""
    for k, (line, _) in enumerate(lines.body()):
        if k == row:
            return lines.fault(line, name, value)
    return lines.fault(row + 1, name, value)


def _first_beyond(names: Sequence[str], row: Sequence[str]) -> str:
    if len(row) > len(names):
        return f"the first surplus one is {row[len(names)][:40]!r}"
    return f"there is none for {names[len(row)]!r}"
