"""Text is read by pyarrow where it is installed, and by Python's csv module elsewhere: to the same table."""

import io
import random

import numpy as np
import pytest

from mercer import DataError, ParameterError
from mercer.io import read_table

# What people write in cells, by what they mean; a column has one to three of these.
CELLS = {
    "whole": ["1", "2", "30", "-4", "+5", "007", "0", "9007199254740993", "123456789012345678901"],
    "real": [
        "1.5",
        "2.25",
        "-.5",
        "1e3",
        "1E-4",
        "3.",
        "1.7976931348623157e308",
        "1e400",
        "4.9e-324",
        "0.3000000000000001",
    ],
    "comma": ["1,5", "2,25", "1.234,5", "1.234", "12.345", "-3,0"],
    "thousands": ["1,234", "12,345", "1,234,567", "1,234.5", "999", "1'234", "1 234", "1\u00a0234"],
    "money": ["€ 5", "5 €", "$1,200", "$3.50", "£7", "-$4", "EUR 5"],
    "per cent": ["5%", "12.5 %", "3,5%", "100 %"],
    "nothing": ["", "NA", "nan", "NULL", "n/a", "-", "?", " ", "None", "  "],
    "truth": ["true", "false", "True", "FALSE", "yes", "no", "0", "1"],
    "date": ["2024-01-02", "2024-02-30", "2024-01-02 03:04:05", "2024-01-02T03:04:05Z", "01/02/2024", "2.1.2024"],
    "time": ["12:30", "03:04:05"],
    "word": [
        "a",
        "x y",
        "Ulm",
        "ß",
        "=1",
        "'q",
        '"said"',
        "two\nlines",
        "inf",
        "Infinity",
        "0x1F",
        "1_000",
        "1e",
        "+",
        "٣",
    ],
    "blanks": [" 1", "2 ", " 3.5 ", "\t4", " a "],
}
OPTIONS = [{}, {}, {}, {"decimal": ","}, {"decimal": "."}, {"text": ("c0",)}, {"target": "c0"}]


def quoted(cell, delimiter):
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in (delimiter, '"', "\n")) else cell


def drawn(seed):
    """(bytes of a table, options to read it with)."""
    rng = random.Random(seed)  # noqa: S311 - tables, not keys
    delimiter, end = rng.choice([",", ",", ";", "\t", "|"]), rng.choice(["\n", "\n", "\r\n"])
    n, k = rng.randint(1, 12), rng.randint(1, 4)
    kinds = [rng.sample(list(CELLS), rng.choice([1, 1, 1, 2, 2, 3])) for _ in range(k)]
    rows = [[f"c{j}" for j in range(k)]]
    rows += [[rng.choice(CELLS[rng.choice(own)]) for own in kinds] for _ in range(n)]
    text = end.join(delimiter.join(quoted(cell, delimiter) for cell in row) for row in rows) + rng.choice(
        [end, end, ""]
    )
    encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
    return text.encode(encoding, "replace"), rng.choice(OPTIONS)


def found(content, options, has_arrow, monkeypatch):
    """Everything about the table that is read, or the error."""
    monkeypatch.setattr("mercer.io.csv.reader.has_arrow", lambda: has_arrow)
    file = io.BytesIO(content)
    file.name = "table.csv"
    try:
        read = read_table(file, format="csv", **options)
    except (DataError, ParameterError) as error:
        return type(error), str(error)
    columns = [read.data.column(name) for name in read.data.names]
    target = None if read.target is None else (read.target.dtype.kind, [shown(value) for value in read.target.tolist()])
    return [
        [
            (column.name, column.kind, column.missing.tolist(), [shown(v) for v in column.as_came()])
            for column in columns
        ],
        target,
        [str(note) for note in read.notes],
    ]


def shown(value):
    return float(value).hex() if isinstance(value, float | np.floating) else (type(value).__name__, value)


@pytest.mark.parametrize("first", range(0, 1000, 100))
@pytest.mark.filterwarnings("ignore::mercer.io.column_notes.AmbiguousNumbersWarning")
def test_any_table_is_the_same_by_both(first, monkeypatch):
    for seed in range(first, first + 100):
        content, options = drawn(seed)
        by_arrow, by_csv = (found(content, options, each, monkeypatch) for each in (True, False))
        assert by_arrow == by_csv, (seed, content, options)


CASES = {
    # Nine numbers and a word: as many numbers as it takes for the word to be a mistake.
    "a word among nine numbers": b"x,y\n" + b"1 ,2\n" * 9 + b" a ,2\n",
    # pyarrow takes text that is not UTF-8 for bytes, where the line does not end.
    "a last line in another encoding": b"x|y\n1|a\n2|\xdf",
}


@pytest.mark.parametrize("name", CASES)
def test_a_case_that_was_not(name, monkeypatch):
    by_arrow, by_csv = (found(CASES[name], {}, each, monkeypatch) for each in (True, False))
    assert by_arrow == by_csv
    assert by_arrow[0] is DataError
