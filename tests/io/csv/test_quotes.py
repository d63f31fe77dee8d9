"""Line breaks in quotation marks: found wherever pyarrow would cut."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import DataError
from mercer.io import read_table
from mercer.io.csv.by_arrow import BLOCK
from mercer.io.csv.quotes import count_lines, has_odd_quotes, has_quotes

# More than pyarrow takes in one block.
LONG = BLOCK + 2**18


def as_bytes(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


def table_of(rows, ending="\n"):
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_NONNUMERIC, lineterminator=ending).writerows(rows)
    return io.BytesIO(written.getvalue().encode())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\r\nb\r\n", 2), ("a\rb\n", None), ("a\n\r", None), ("\r\n", 1)],
)
def test_lines_are_counted(text, expected):
    assert count_lines(as_bytes(text)) == expected


def test_a_return_at_the_end_of_a_block_is_followed_by_the_next():
    assert count_lines(as_bytes("a" * (2**17 - 1) + "\r\n")) == 1
    assert count_lines(as_bytes("a" * (2**17 - 1) + "\rb\n")) is None


def test_names_in_quotes_are_no_reason_to_look_twice():
    assert not has_quotes(as_bytes('"a","b"\n1,2\n'))
    assert has_quotes(as_bytes('a,b\n1,"2"\n'))
    assert not has_odd_quotes(as_bytes('"a",b\n'))
    assert has_odd_quotes(as_bytes('"a",b"\n'))


NOTES = ("plain", "two\nlines", 'he said ""yes"", and\n\nleft', "a,b\r\nc", "5\r")


@pytest.mark.parametrize(
    ("ending", "note"),
    # pyarrow takes no value with a return in it where returns end the lines.
    [(ending, note) for ending in ("\n", "\r\n", "\r") for note in NOTES if ending != "\r" or "\r" not in note],
)
def test_values_survive_wherever_a_block_ends(ending, note):
    count = LONG // (len(note) + 8)
    rows = [("n", "note"), *((k % 7, f"{note}{k % 3}") for k in range(count))]
    found = read_table(table_of(rows, ending), format="csv").data
    assert len(found) == count
    assert found.column("note").as_came() == [note for _, note in rows[1:]]
    assert found.column("n").as_came() == [n for n, _ in rows[1:]]


def test_a_tail_that_looks_like_a_row_is_not_taken_for_one():
    # Cut at any line break, each piece has two fields: only their number tells.
    rows = [("a", "b"), *(("1", 'x\n2,y"') for _ in range(LONG // 8))]
    found = read_table(table_of(rows), format="csv").data
    assert len(found) == len(rows) - 1
    assert set(found.column("b").as_came()) == {'x\n2,y"'}


def test_blank_lines_are_no_rows():
    text = b'a,b\n1,"x"\n\n2,"y"\n\n'
    assert read_table(io.BytesIO(text), format="csv").data.column("a").as_came() == [1, 2]


def test_a_mark_that_stays_open_is_named_by_its_line():
    with pytest.raises(DataError, match=r"line \d+: a closing quotation mark was expected"):
        read_table(io.BytesIO(b'a,b\n1,"x"\n2,"y'), format="csv")


@given(st.lists(st.tuples(st.sampled_from(["1", "22"]), st.text('ab",\n\r ', max_size=6)), min_size=1, max_size=12))
def test_what_was_written_is_read(values):
    rows = [("n", "note"), *((n, f"x{note}") for n, note in values)]
    found = read_table(table_of(rows), format="csv", text=("n", "note")).data
    assert list(zip(found.column("n").as_came(), found.column("note").as_came(), strict=True)) == rows[1:]


@pytest.mark.parametrize("first", ["yes", "inf", "nan", "2020-01-01", "-", "7", "NA"])
def test_a_target_is_what_it_would_be_without_codes(first):
    text = f"x,y\n1,{first}\n2,no\n3,yes\n4,no\n".encode()
    alone = read_table(io.BytesIO(text), format="csv").data.column("y").as_came()
    if None in alone:
        with pytest.raises(DataError, match="the target 'y' has no value in 1 of 4 rows, the first of them row 0"):
            read_table(io.BytesIO(text), target="y", format="csv")
    else:
        assert read_table(io.BytesIO(text), target="y", format="csv").target.tolist() == alone


def test_a_target_of_numbers_with_a_word_first_is_refused():
    text = "x,y\n1,abc\n" + "".join(f"{k},{k}\n" for k in range(30))
    with pytest.raises(DataError, match=r"line 2, column 'y': a number was expected, got 'abc'"):
        read_table(io.BytesIO(text.encode()), target="y", format="csv")
