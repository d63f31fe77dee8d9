"""Spreadsheets: the same table from .xlsx, .ods and CSV, dates as dates, and every fault by name."""

import datetime as dt
import gzip
import io
import random
import re
import sys
import zipfile
from contextlib import suppress

import pytest

from mercer import DataError, MissingExtraError, ParameterError
from mercer.io import read_table
from mercer.kernels.table.frame import as_frame
from tests.io.sheets.books import WRITERS, ods, xlsx

PEOPLE = [
    ["age", "town", "joined", "buys"],
    [31, "Ulm", dt.date(2021, 5, 1), "yes"],
    [60, None, dt.date(2023, 1, 15), "no"],
    [None, "Bonn", None, "yes"],
]


@pytest.fixture(params=sorted(WRITERS))
def written(request):
    return WRITERS[request.param]


def read(content, **options):
    return read_table(io.BytesIO(content), **options)


def values(found):
    return {name: array.tolist() for name, array in found.data.arrays.items()}


def test_a_sheet_is_a_table(written):
    found = read(written({"People": PEOPLE}), target="buys")
    assert (found.kind, found.format) == ("table", written.__name__)
    assert values(found) == {
        "age": [31, 60, None],
        "town": ["Ulm", None, "Bonn"],
        "joined": [dt.date(2021, 5, 1), dt.date(2023, 1, 15), None],
    }
    assert found.target.tolist() == ["yes", "no", "yes"]
    assert as_frame(found.data).column("joined").kind == "date"


def test_a_sheet_and_its_csv_are_one_table(written):
    rows = [["n", "price", "share", "town"], [1, "1.234,56", "12 %", "Ulm"], [2, "7,5", "3,5 %", "Bonn"]]
    text = "\n".join(";".join(map(str, row)) for row in rows).encode()
    sheet, csv = read(written({"a": rows})), read(text)
    assert values(sheet) == values(csv)
    assert sheet.notes == csv.notes


def test_whole_numbers_are_labels(written):
    assert read(written({"a": [["x", "y"], [0.5, 1], [1.5, 2]]}), target="y").target.tolist() == [1, 2]


def test_a_sheet_is_found_by_its_name(written):
    book = written({"People": PEOPLE, "Other": [["x"], [1]], "None": []})
    assert values(read(book, table="Other")) == {"x": [1]}
    with pytest.raises(DataError, match="has several sheets; choose one of 'People', 'Other' with table"):
        read(book)
    with pytest.raises(
        DataError, match=r"has no sheet 'Peple' \(did you mean 'People'\?\); choose one of 'People', 'O"
    ):
        read(book, table="Peple")


def test_the_only_sheet_that_holds_anything_needs_no_name(written):
    assert read(written({"Empty": [], "People": PEOPLE})).columns == PEOPLE[0]


def test_empty_rows_and_columns_around_a_table_are_none_of_it(written):
    rows = [[None], [None, None, "a", None, "b"], [None], [None, None, 1, None, "x"], [None, None, 2, None, "y"]]
    assert values(read(written({"s": rows}))) == {"a": [1, 2], "b": ["x", "y"]}


def test_a_column_without_values_is_reported_and_one_without_a_name_counted(written):
    found = read(written({"s": [["a", "b", None], [1, None, "x"], [2, " ", "y"]]}))
    assert values(found) == {"a": [1, 2], "b": [None, None], "column_3": ["x", "y"]}
    assert [(note.name, note.kind) for note in found.notes] == [("b", "empty")]


def test_without_a_header(written):
    assert values(read(written({"s": [[1, "x"], [2, "y"]]}), header=False)) == {"x1": [1, 2], "x2": ["x", "y"]}


def test_texts_where_asked_and_words_for_no_value(written):
    book = written({"s": [["zip", "n"], [123, "none"], [456, 7]]})
    assert values(read(book, text=["zip"], missing=["none"])) == {"zip": ["123", "456"], "n": [None, 7]}


def test_errors_of_formulas_are_no_value():
    book = io.BytesIO(xlsx({"s": [["a", "b"], [1, "=1/0"], [2, 5]]}))
    changed = io.BytesIO()
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            failed = b'<c r="B2" t="e"><v>#DIV/0!</v></c>'
            part, changes = re.subn(rb'<c r="B2".*?</c>', failed, old.read(name))
            assert changes == ("sheet1" in name)
            new.writestr(name, part)
    assert values(read(changed.getvalue()))["b"] == [None, 5]


def test_a_word_among_numbers_names_its_row(written):
    rows = [["a"], *[[k] for k in range(30)], ["x"]]
    with pytest.raises(DataError, match=r"sheet 's', row 32, column 'a': a number was expected, got 'x'"):
        read(written({"s": rows}))


FAULTS = {
    "empty": ({"s": []}, "the spreadsheet is empty"),
    "header only": ({"s": [["a", "b"]]}, "there is a header, but no row below it"),
    "twice": ({"s": [["a", "a"], [1, 2]]}, "the column 'a' occurs twice; rename one"),
}


@pytest.mark.parametrize(("sheets", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named(written, sheets, message):
    with pytest.raises(DataError, match=message):
        read(written(sheets))


def test_a_path_and_a_compressed_one(written, tmp_path):
    content = written({"People": PEOPLE})
    (tmp_path / "p.bin").write_bytes(content)
    (tmp_path / "p.gz").write_bytes(gzip.compress(content))
    assert values(read_table(tmp_path / "p.bin")) == values(read_table(tmp_path / "p.gz")) == values(read(content))


def test_the_extra_that_is_missing_is_named(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"needs python-calamine: pip install 'mercer\[sheets\]'"):
        read(written({"People": PEOPLE}))


def test_spreadsheets_of_other_kinds_say_what_to_do():
    with pytest.raises(DataError, match=r"old spreadsheet \(\.xls\), or protected by a password; save it as \.xlsx"):
        read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    file = io.BytesIO(b"a,b\n1,2\n")
    file.name = "table.xlsx"
    with pytest.raises(DataError, match=r"a spreadsheet \(\.xlsx\) was expected"):
        read_table(file)
    with pytest.raises(ParameterError, match="encoding must be left out"):
        read(xlsx({"People": PEOPLE}), encoding="cp1252")


def test_a_cell_far_away_takes_no_memory(tmp_path):
    """A library that makes a table of it would be ended by the system."""
    content, changed = io.BytesIO(xlsx({"s": PEOPLE})), io.BytesIO()
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
            new.writestr(name, old.read(name).replace(b"</sheetData>", far))
    with pytest.raises(
        DataError, match=r"extends over 17,179,869,184 cells with \d+ characters, which do not fit into"
    ):
        read(changed.getvalue(), memory_limit="8GiB")


def test_a_row_that_is_there_a_million_times_takes_no_memory():
    cell = '<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="16384"/>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    with pytest.raises(DataError, match=r"extends over 17,179,\d{3},\d{3} cells"):
        read(ods({"s": PEOPLE}, row), memory_limit="8GiB")


def test_a_long_text_in_every_cell_takes_no_memory():
    """It is stored once in both formats."""
    row = "".join(f'<row r="{k}"><c r="A{k}" t="s"><v>0</v></c></row>' for k in range(1, 20_001))
    strings = (
        f'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>{"x" * 30_000}</t></si></sst>'
    )
    content, changed = io.BytesIO(xlsx({"s": PEOPLE})), io.BytesIO()
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = re.sub(rb"<sheetData>.*</sheetData>", f"<sheetData>{row}</sheetData>".encode(), old.read(name))
            if name != "xl/sharedStrings.xml":
                new.writestr(name, part)
        new.writestr("xl/sharedStrings.xml", strings)
    long = f'<table:table-cell office:value-type="string"><text:p>{"x" * 30_000}</text:p></table:table-cell>'
    also = f'<table:table-row table:number-rows-repeated="20000">{long}</table:table-row>'
    for book in (changed.getvalue(), ods({"s": PEOPLE}, also)):
        assert len(book) < 200_000
        with pytest.raises(
            DataError, match=r"with 600,\d{3},\d{3} characters, which do not fit into 100,000,000 bytes"
        ):
            read(book, memory_limit=100_000_000)


def test_empty_rows_to_the_end_of_a_sheet_are_no_cells():
    """As office programs write them."""
    cell = '<table:table-cell table:number-columns-repeated="16384"/>'
    row = f'<table:table-row table:number-rows-repeated="1048572">{cell}</table:table-row>'
    assert values(read(ods({"s": PEOPLE}, row)))["age"] == [31, 60, None]


def test_damaged_spreadsheets_are_refused_and_nothing_else_happens(written):
    """Bytes changed in any place: data or a DataError."""
    content, draw = written({"People": PEOPLE}), random.Random(5)  # noqa: S311 - not for secrets
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 12)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        with suppress(DataError):
            read(bytes(damaged[: draw.choice([None, len(damaged) // 2])]), memory_limit="200MB")
