"""The delimiter of delimited text: found in its first lines, and doubted if it makes only one column."""

import csv
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from mercer._errors import DataError, ParameterError
from mercer.io.csv.numbers import DECIMALS, Form, is_plain, value_of
from mercer.io.source import HEAD

if TYPE_CHECKING:
    from mercer.io.source import Source

DELIMITERS = (",", ";", "\t", "|")
# Rows examined.
_ROWS = 20


def require_marks(delimiter: str | None, decimal: str | None) -> None:
    """Refuse invalid delimiters and decimal marks."""
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or not delimiter.isascii()):
        raise ParameterError(f"delimiter must be one character, such as ';' or '\\t', got {delimiter!r}")
    if decimal is not None and decimal not in DECIMALS:
        raise ParameterError(f"decimal must be '.' or ',', got {decimal!r}")
    if delimiter is not None and delimiter == decimal:
        raise ParameterError(f"delimiter and decimal must differ, got {decimal!r} for both")


def delimiter_of(source: "Source") -> str:
    """The candidate that divides the first rows into equally many fields, or else the most frequent in the first line.

    If several do (a header `weight, kg;height, m` over decimal commas), the one that leaves more numbers whole.
    """
    if source.ending in (".tsv", ".tab"):
        return "\t"
    rows = {mark: _first_rows(source, mark) for mark in DELIMITERS}
    return max(DELIMITERS, key=lambda mark: _merit(rows[mark]))


def _merit(rows: Sequence[Sequence[str]]) -> tuple[bool, float, int]:
    """How well rows were divided: equal lengths, fraction of numbers, length of the first."""
    if not rows or not _are_equal([len(row) for row in rows]):
        return False, 0.0, len(rows[0]) if rows else 0
    fields = [field for row in rows[1:] for field in row]
    numbers = sum(any(value_of(field, Form(mark)) is not None for mark in DECIMALS) for field in fields)
    return True, numbers / max(1, len(fields)), len(rows[0])


def require_delimiter(source: "Source", delimiter: str, names: Sequence[str]) -> None:
    """Refuse a delimiter that makes a single column where another makes several."""
    if len(names) > 1:
        return
    other = next((mark for mark in DELIMITERS if mark != delimiter and mark in names[0]), None)
    if other is None and _are_words_and_numbers(_first_rows(source, " ")):
        other = " "
    if other is not None:
        raise DataError(
            f"{source.name}, line 1: the delimiter {delimiter!r} makes one column of {names[0][:60]!r}; "
            f"is it {other!r}? Pass that as delimiter (--delimiter)"
        )


def _first_rows(source: "Source", delimiter: str) -> list[list[str]]:
    """The first nonempty whole rows."""
    head = source.head()
    lines = head.decode("utf-8-sig", "replace").splitlines(keepends=True)
    rows = csv.reader(lines[:-1] if len(head) >= HEAD else lines, delimiter=delimiter)
    try:
        return [row for row in islice(rows, _ROWS) if row]
    except csv.Error:
        return []


def _are_equal(widths: Sequence[int]) -> bool:
    return len(set(widths)) == 1 and widths[0] > 1


def _are_words_and_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows are equally long, and each below the first has a number."""
    return _are_equal([len(row) for row in rows]) and all(any(map(is_plain, row)) for row in rows[1:])
