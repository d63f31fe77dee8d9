"""Numbers as people write them: what each word is worth, how a column is judged, and what is said of it."""

import io
import math
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import DataError, ParameterError
from mercer.io import Blocks, read_table
from mercer.io.column_notes import AmbiguousNumbersWarning
from mercer.io.csv.numbers import Form, value_of


@pytest.fixture(params=["pyarrow", "csv module"])
def read(request, monkeypatch):
    """Read text with pyarrow, and without."""
    if request.param == "csv module":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    return lambda content, **options: read_table(io.BytesIO(content.encode()), **options)


def values(found):
    return {name: array.tolist() for name, array in found.data.arrays.items()}


def said(found):
    return [(note.name, note.kind, note.text) for note in found.notes]


WORTH = {
    ("1,234.56", ".", ""): 1234.56,
    ("1.234,56", ",", ""): 1234.56,
    ("1.234.567", ",", ""): 1234567,
    ("1'234.5", ".", ""): 1234.5,
    ("1 234,5", ",", ""): 1234.5,
    ("12\u202f345", ".", ""): 12345,
    ("12,34,567", ".", ""): 1234567,
    ("$1,234.00", ".", "$"): 1234.0,
    ("-$5", ".", "$"): -5,
    ("$-5", ".", "$"): -5,
    ("12 €", ",", "€"): 12,
    ("EUR 7,50", ",", "EUR"): 7.5,
    ("7", ".", "$"): 7,
    ("12 %", ".", "%"): 0.12,
    ("12,3%", ",", "%"): 0.123,
    ("−4", ".", ""): -4,
    ("1e3", ",", ""): 1000.0,
    ("1,234", ".", ""): 1234,
    ("1,234", ",", ""): 1.234,
}
NONE = [
    ("1,23", ".", ""), ("0,123", ".", ""), ("1.5", ",", ""), ("12,345.6", ",", ""), ("1,234.567,8", ".", ""),
    ("12 34", ".", ""), ("0 123", ".", ""), ("$5", ".", ""), ("$5", ".", "€"), ("$5 €", ".", "€"), ("5", ".", "%"),
    ("--5", ".", ""), ("1,2,3", ".", ""), ("1 234'567", ".", ""), ("1e3 %", ".", "%"), ("12.05.2024", ",", ""),
    ("2024-01-02", ".", ""), ("", ".", ""), (".", ".", ""), (",", ",", ""), ("x", ".", ""),
    ("5 apples", ".", ""), ("9" * 65 + ",5", ",", ""),
]  # fmt: skip


@pytest.mark.parametrize(("word", "decimal", "unit"), WORTH)
def test_what_a_word_is_worth(word, decimal, unit):
    found = value_of(word, Form(decimal, unit))
    assert found == WORTH[word, decimal, unit]
    assert type(found) is type(WORTH[word, decimal, unit])


@pytest.mark.parametrize(("word", "decimal", "unit"), NONE)
def test_what_is_no_number(word, decimal, unit):
    assert value_of(word, Form(decimal, unit)) is None


@given(st.integers(-(10**15), 10**15), st.integers(0, 9999), st.sampled_from(["", "$", "%"]))
def test_a_number_written_by_the_rules_of_a_country_is_read_back(whole, rest, unit):
    """Python groups and rounds; English and German spelling differ by an exchange of marks."""
    english = f"{whole:,}.{rest:04}"
    german = english.translate(str.maketrans(",.", ".,"))
    expected = float(f"{whole}.{rest:04}" + ("e-2" if unit == "%" else ""))
    for word, mark in ((english, "."), (german, ",")):
        dressed = f"{word} %" if unit == "%" else f"{unit}{word}"
        assert value_of(dressed, Form(mark, unit)) == expected


def test_a_german_table(read):
    found = read("Preis;Anteil;Ort\n1.234,56;12 %;Ulm\n7,5;3,5 %;Bonn\n")
    assert values(found) == {"Preis": [1234.56, 7.5], "Anteil": [0.12, 0.035], "Ort": ["Ulm", "Bonn"]}
    assert said(found) == [
        ("Preis", "numbers", "read as numbers: 1.234,56 -> 1234.56"),
        ("Anteil", "numbers", "read as numbers: 3,5 % -> 0.035"),
    ]


@pytest.mark.parametrize(
    "words", [("0", "-0"), ("+0", "-0"), ("0.0", "-0.0"), ("1.5", "-0"), ("0 %", "-0 %"), ("", "-0.0")]
)
def test_a_zero_has_no_sign_however_it_is_written(read, words):
    """A whole number has none, and whether a column is one of whole numbers is not for the reader to decide."""
    found = read("a;b\n" + "".join(f"{word};x\n" for word in words), decimal=".")
    last = found.data.arrays["a"][-1]
    assert (last, math.copysign(1.0, last)) == (0, 1.0)


def test_currencies_and_thousands(read):
    found = read('price,paid\n"$1,234.00",12 €\n$7,"1,5 €"\n')
    assert values(found) == {"price": [1234.0, 7.0], "paid": [12.0, 1.5]}


def test_other_columns_tell_what_a_point_is(read):
    """Read alone, 1.234 would be a little more than one."""
    found = read("people;rate\n1.234;2,5\n5.678;3,5\n")
    assert values(found) == {"people": [1234, 5678], "rate": [2.5, 3.5]}
    assert said(found)[0] == ("people", "numbers", "read as numbers: 1.234 -> 1234")


def test_other_columns_tell_what_a_comma_is(read):
    assert values(read('a,b\n"1,234",2.5\n"5,678",3\n')) == {"a": [1234, 5678], "b": [2.5, 3.0]}


AMBIGUOUS = {
    "quoted": ('a,b\n"1,234",x\n"5,678",y\n', [1234, 5678], "1.234; for that, pass decimal=','"),
    "semicolons, comma": ("a;b\n1,234;x\n5,678;y\n", [1.234, 5.678], "1234; for that, pass decimal='.'"),
    "semicolons, point": ("a;b\n1.234;x\n5.678;y\n", [1.234, 5.678], "1234; for that, pass decimal=','"),
}


@pytest.mark.parametrize(("text", "expected", "other"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_what_nothing_tells_is_guessed_aloud(read, text, expected, other):
    with pytest.warns(AmbiguousNumbersWarning, match=f"though it may be {other}"):
        found = read(text)
    assert values(found)["a"] == expected
    assert found.notes[0].kind == "ambiguous"


@pytest.mark.parametrize(("decimal", "expected"), [(".", [1234, 5678]), (",", [1.234, 5.678])])
def test_a_decimal_mark_that_is_given_ends_the_doubt(read, decimal, expected):
    assert values(read("a\tb\n1,234\tx\n5,678\ty\n", decimal=decimal))["a"] == expected


def test_three_decimals_throughout_are_no_doubt_where_commas_separate(read):
    found = read("a,b\n1.234,x\n5.678,y\n")
    assert (values(found)["a"], found.notes) == ([1.234, 5.678], ())


MIXED = {
    "two currencies": ("a,b\n12 €,x\n$5,y\n", "$5 and 12 € are not of one kind"),
    "per cents beside numbers": ("a,b\n12 %,x\n5,y\n", "5 and 12 % are not of one kind"),
    "two marks": ('a,b\n1.5,x\n"1,5",y\n', "1.5 and 1,5 have different decimal marks"),
}


@pytest.mark.parametrize(("text", "why"), MIXED.values(), ids=MIXED)
def test_numbers_that_cannot_be_compared_stay_texts_and_that_is_said(read, text, why):
    found = read(text)
    assert all(isinstance(value, str) for value in values(found)["a"])
    assert said(found) == [("a", "mixed", f"looks like numbers, but read as texts: {why}")]


def test_a_decimal_mark_that_is_given_is_held_against_every_column(read):
    found = read("a;b\n1,5;2.5\n2,5;3.5\n", decimal=",")
    assert values(found) == {"a": [1.5, 2.5], "b": ["2.5", "3.5"]}
    assert said(found)[1][2].endswith("2.5 is not a number with the given decimal mark ','")


def test_blanks_are_no_value(read):
    """A field of blanks in a column of numbers, as a well-known table of customers has it."""
    found = read("charges,name\n29.85,a\n   ,b\n 7,  \n")
    assert values(found) == {
        "charges": pytest.approx([29.85, float("nan"), 7.0], nan_ok=True),
        "name": ["a", "b", None],
    }


def test_words_for_no_value_may_have_blanks_around_them(read):
    assert values(read("a,b\n1,x\n NA ,y\n2, ? \n"))["a"] == [1, None, 2]


def test_a_column_without_values_is_read_and_reported(read):
    found = read("a,b,c\n1,,x\n2, ,y\n")
    assert found.columns == ["a", "b", "c"]
    assert said(found) == [("b", "empty", "no row has a value")]


def test_a_word_among_currencies_is_named_with_its_line(read):
    with pytest.raises(DataError, match=r"line 22, column 'a': a number was expected, got 'free'"):
        read("a\n" + "$1.00\n" * 20 + "free\n")


def test_texts_stay_as_they_are_written(read):
    assert values(read("a;b\n1,5;x\n2,5;y\n", text=["a"]))["a"] == ["1,5", "2,5"]


def test_decimal_is_one_of_two_and_for_csv_only(read):
    with pytest.raises(ParameterError, match=r"decimal must be '\.' or ',', got ';'"):
        read("a\n1\n", decimal=";")
    with pytest.raises(ParameterError, match="delimiter and decimal must differ"):
        read("a,b\n1,2\n", delimiter=",", decimal=",")
    with pytest.raises(ParameterError, match="decimal must be left out, got ',': it is for CSV, and this is jsonl"):
        read('{"a": 1}\n', decimal=",")


# ------------------------------------------------------------------ blocks


def blocks_of(tmp_path, text, **options):
    (tmp_path / "table.csv").write_text(text)
    blocks = Blocks(tmp_path / "table.csv", block_rows=2, **options)
    return [value for i in range(len(blocks)) for value in blocks.block(i).rows.arrays["a"].tolist()]


@pytest.mark.parametrize("without", [False, True])
def test_blocks_are_read_alike_by_what_the_first_rows_show(tmp_path, monkeypatch, without):
    """By itself the second block would be thousands."""
    if without:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert blocks_of(tmp_path, "a;b\n1,5;x\n2,5;y\n1.234;x\n5.678;y\n7,25;z\n") == [1.5, 2.5, 1234, 5678, 7.25]
    assert blocks_of(tmp_path, "a;b\n10 %;x\n20 %;y\n30 %;x\n5 %;y\n") == [0.1, 0.2, 0.3, 0.05]


@pytest.mark.parametrize("without", [False, True])
def test_what_is_written_otherwise_further_on_is_no_number(tmp_path, monkeypatch, without):
    if without:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    rows = "x;10 %\n" * 30_000
    (tmp_path / "table.csv").write_text("b;a\n" + rows + "x;7\n")
    last = Blocks(tmp_path / "table.csv", block_rows=30_000)
    assert last.block(1).rows.arrays["a"].tolist() == ["7"]


def test_blocks_say_what_they_guess(tmp_path):
    with pytest.warns(AmbiguousNumbersWarning, match="1,234 -> 1.234, though it may be 1234"):
        blocks_of(tmp_path, "a;b\n1,234;x\n5,678;y\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert blocks_of(tmp_path, "a;b\n1,234;x\n5,678;y\n", decimal=".") == [1234, 5678]
