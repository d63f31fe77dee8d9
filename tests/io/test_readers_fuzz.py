"""Readers meet bytes of any kind, and answer with data or with a DataError."""

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from mercer import DataError
from mercer.io import read_table
from mercer.kernels.table.frame import as_frame

CELLS = st.text(st.characters(codec="utf-8"), max_size=8) | st.integers().map(str) | st.floats().map(str)
ALMOST_CSV = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=6).map(
    lambda rows: "\n".join(",".join(row) for row in rows).encode()
)
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.lists(st.integers(), max_size=2)
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)
ALMOST_JSON = st.lists(OBJECTS, max_size=5).map(lambda rows: "\n".join(map(json.dumps, rows)).encode())
ROWS = st.lists(
    st.tuples(st.integers(-(10**6), 10**6), st.text("abcxyz ,;\"'", min_size=1, max_size=6)), min_size=1, max_size=8
)


def answer(content, kind=None):
    """The data, or None where a DataError was the answer; anything else fails the test."""
    try:
        return read_table(io.BytesIO(content), format=kind)
    except DataError:
        return None


def survives(content, kind):
    found = answer(content, kind)
    if found is None:
        return
    frame = as_frame(found.data)
    assert len(frame) == len(found) > 0
    for name in frame.names:
        assert len(frame.column(name).missing) == len(found)


@given(st.binary(max_size=200))
def test_any_bytes_are_no_crash(content):
    found = answer(content)
    assert found is None or len(found) > 0


@given(st.binary(max_size=120) | ALMOST_CSV)
def test_csv_of_any_kind(content):
    survives(content, "csv")


@given(st.binary(max_size=120) | ALMOST_JSON)
def test_json_lines_of_any_kind(content):
    survives(content, "jsonl")


@given(st.sampled_from(["parquet", "arrow", "trees", "svmlight"]), st.binary(max_size=120))
def test_other_formats_of_any_bytes(kind, content):
    found = answer(content, kind)
    assert found is None or len(found) > 0


@given(ROWS)
def test_what_the_csv_module_writes_is_read_back(rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([("number", "word"), *rows])
    found = as_frame(read_table(io.BytesIO(text.getvalue().encode()), delimiter=",", missing=[]).data).rows()
    assert [(row["number"], row["word"]) for row in found] == rows
