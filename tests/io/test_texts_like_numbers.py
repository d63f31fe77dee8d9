"""Texts of a typed source that look like numbers are told of, and stay texts."""

import json
import sqlite3

import pytest

from mercer import read_table
from mercer.io.texts_like_numbers import notes_on_texts
from mercer.kernels.table.column_frame import ColumnFrame

ROWS = [("1.003,96", "10 %", "Ulm", "01234"), ("125,73", "1 %", "Bonn", "99999"), (None, "4 %", "Kiel", "00001")]
NAMES = ("amount", "rate", "town", "post_code")


@pytest.fixture(params=["sqlite", "jsonl"])
def file(request, tmp_path):
    path = tmp_path / f"table.{request.param}"
    if request.param == "jsonl":
        path.write_text("".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in ROWS))
    else:
        with sqlite3.connect(path) as connection:
            connection.execute(f"CREATE TABLE t ({', '.join(f'{name} TEXT' for name in NAMES)})")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
        connection.close()
    return path


def test_there_is_a_note_on_decimal_commas_and_per_cents_but_not_on_digits_alone(file):
    found = read_table(file)
    assert {note.name: note.text for note in found.notes} == {
        "amount": "looks like numbers, but holds texts: '1.003,96'",
        "rate": "looks like numbers, but holds texts: '10 %'",
    }
    assert found.data.column("rate").as_came() == ["10 %", "1 %", "4 %"]


def test_a_column_that_was_asked_for_as_text_has_no_note(file):
    assert [note.name for note in read_table(file, text=["rate"]).notes] == ["amount"]


def test_other_values_among_the_texts_leave_it_alone():
    frame = ColumnFrame.of_lists({"a": ["1 %", "2 %", "many"], "b": ["1 %", 2.0, "3 %"], "c": [None, None, None]}, "")
    assert notes_on_texts(frame) == []
