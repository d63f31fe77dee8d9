"""A sheet as a table: its first row names the columns, and texts that are numbers are read by the rules for text."""

import datetime as dt
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mercer._errors import DataError, ParameterError
from mercer.io.column_notes import ColumnNote
from mercer.io.csv.judgement import SOME_NUMBERS, Verdict, Words, judged
from mercer.io.csv.lines import MISSING
from mercer.io.csv.numbers import value_of
from mercer.io.sheets.workbook import read_sheet
from mercer.kernels.table.column_frame import ColumnFrame

if TYPE_CHECKING:
    from mercer.io.source import Source


def read_spreadsheet(
    source: "Source",
    kind: str,
    table: str | None = None,
    *,
    text: Sequence[str] = (),
    header: bool = True,
    missing: Iterable[str] = MISSING,
    decimal: str | None = None,
) -> tuple[ColumnFrame, list[ColumnNote]]:
    """(the table of a sheet, notes on its columns)."""
    sheet = read_sheet(source, kind, table)
    where = f"{source.name}, sheet {sheet.name!r}"
    rows = [(sheet.first_row + k, row) for k, row in enumerate(sheet.rows) if any(cell != "" for cell in row)]
    if not rows:
        raise DataError(f"{where}: the sheet is empty")
    names, places = _names(rows[0][1], [row for _, row in rows], header, where)
    body = rows[1:] if header else rows
    if not body:
        raise DataError(f"{where}: there is a header, but no row below it")
    unknown = [name for name in text if name not in names]
    if unknown:
        raise ParameterError(f"text names {unknown[0]!r}; the columns of {where} are {', '.join(map(repr, names))}")
    gone = frozenset(missing)
    columns = {name: [_value(row[k], gone) for _, row in body] for name, k in zip(names, places, strict=True)}
    numbers = [number for number, _ in body]
    return _typed(columns, text, decimal, lambda k: f"{where}, row {numbers[k]}", source.name)


def _names(
    first: Sequence[Any], rows: Iterable[Sequence[Any]], header: bool, where: str
) -> tuple[list[str], list[int]]:
    """(the names of columns, the position of each in a row); columns without a name or a value are left out."""
    places = [k for k in range(len(first)) if any(row[k] != "" for row in rows)]
    if not header:
        return [f"x{k + 1}" for k in range(len(places))], places
    names = [str(_whole(first[k])).strip() or f"column_{k + 1}" for k in places]
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise DataError(f"{where}: the column {twice!r} occurs twice; rename one")
    return names, places


def _value(cell: Any, gone: Container[str]) -> Any:
    """A cell as a value of a table: a time of day is a text, as in every other format."""
    if isinstance(cell, str):
        return None if cell.strip() in gone or not cell.strip() else cell
    return cell.isoformat() if isinstance(cell, dt.time) else _whole(cell)


def _whole(cell: Any) -> Any:
    """A number as an integer if it is one: spreadsheets have only real numbers."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53 else cell


def _typed(
    columns: dict[str, list[Any]], text: Container[str], decimal: str | None, place: Any, source: str
) -> tuple[ColumnFrame, list[ColumnNote]]:
    words = {name: _words(values) for name, values in columns.items() if name not in text}
    written = {name: each for name, each in words.items() if each.words}
    verdicts = judged(written, decimal, "")
    notes = [ColumnNote(name, "empty", "no row has a value") for name in words if all(v is None for v in columns[name])]
    for name, verdict in verdicts.items():
        values = columns[name]
        fault = _fault(values, verdict)
        if fault is not None:
            raise DataError(
                f"{place(fault)}, column {name!r}: a number was expected, got {values[fault][:60]!r}; correct it, read "
                f"the column as text (--text {name}), or declare the word missing (--missing)"
            )
        if verdict.form is not None and not verdict.strangers and _are_numbers_or_texts(values):
            columns[name] = [value_of(each, verdict.form) if isinstance(each, str) else each for each in values]
            notes += [] if verdict.note is None else [verdict.note]
        elif verdict.note is not None and verdict.form is None:
            notes.append(verdict.note)
    frame = ColumnFrame.of_lists(columns, source)
    return (frame.with_texts([name for name in columns if name in text])), notes


def _words(values: Sequence[Any]) -> Words:
    counts = Counter(value for value in values if isinstance(value, str))
    return Words(list(counts), list(counts.values()))


def _are_numbers_or_texts(values: Iterable[Any]) -> bool:
    return all(
        value is None or isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool))
        for value in values
    )


def _fault(values: Sequence[Any], verdict: Verdict) -> int | None:
    """The first row of a word, in a column that was meant to contain only numbers; None if there is none."""
    if not _are_numbers_or_texts(values):
        return None
    strange = [
        k
        for k, value in enumerate(values)
        if isinstance(value, str) and (verdict.form is None or value in verdict.strangers)
    ]
    present = sum(value is not None for value in values)
    return strange[0] if strange and present - len(strange) >= SOME_NUMBERS * present else None
