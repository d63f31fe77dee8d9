import io
import uuid

import numpy as np
import pytest

from mercer import DataError, ParameterError
from mercer.io import read_table
from mercer.workflow.columns import Wanted, choose, look, sentences

N = 60
RNG = np.random.default_rng(5)


def column(values, name="thing"):
    return look([{name: value} for value in values])[0]


NAMES_ROWS = {
    "a column called id": ("id", [17 * k + 4 for k in range(N)]),
    "an id in camel case": ("PassengerId", [k + 1 for k in range(N)]),
    "an id that comes back now and then": ("customer_id", [1000 + k // 2 for k in range(N)]),
    "an index without a name": ("column_1", list(range(N))),
    "an index that pandas wrote": ("Unnamed: 0", list(range(N))),
    "a running number in any order": ("thing", RNG.permutation(N).tolist()),
    "numbers of accounts": ("account_number", RNG.choice(10**7, N, replace=False).tolist()),
    "codes of one make": ("thing", [f"C{k:05d}" for k in range(N)]),
    "addresses": ("contact", [f"ann{k}@example.org" for k in range(N)]),
    "keys in hexadecimal": ("thing", [str(uuid.UUID(int=int(v))) for v in RNG.integers(1, 2**62, N)]),
}
TELLS_SOMETHING = {
    "a store with few ids": ("store_id", [k % 7 for k in range(N)]),
    "measurements that all differ": ("weight", RNG.normal(size=N).tolist()),
    "whole numbers that all differ": ("income", RNG.choice(10**6, N, replace=False).tolist()),
    "years": ("year", [1950 + k for k in range(N)]),
    "a time from zero": ("t", list(range(N))),
    "sequences": ("dna", ["".join(RNG.choice(list("acgt"), 30)) for _ in range(N)]),
    "molecules": ("smiles", [f"C{'C' * (k % 9)}1=CC{'(O)' * (k // 9)}=CC=C1{'N' * (k % 5)}{k}" for k in range(N)]),
    "remarks": ("note", [f"remark {k} about the weather" for k in range(N)]),
    "few rows": ("thing", list(range(8))),
    "a truth value": ("paid", [k % 2 == 0 for k in range(N)]),
}


@pytest.mark.parametrize(("name", "values"), NAMES_ROWS.values(), ids=NAMES_ROWS)
def test_what_only_names_the_rows_is_left_out(name, values):
    assert column(values, name).left_out == "names the rows"


@pytest.mark.parametrize(("name", "values"), TELLS_SOMETHING.values(), ids=TELLS_SOMETHING)
def test_what_may_tell_something_is_kept(name, values):
    assert column(values, name).left_out == ""


def test_columns_without_news_are_left_out():
    assert column([None, None, float("nan")]).left_out == "no values"
    assert column([3, 3, 3]).left_out == "the same value everywhere"
    assert column(["x", None, "x"]).left_out == "", "where it is missing may tell something"
    assert column([3]).left_out == "", "one row is no reason"


def test_kinds_values_and_gaps_are_counted():
    assert column([1.5, 2.5, None, 2.5])[1:4] == ("numbers", 2, 1)
    assert column(["2024-01-01", "2024-01-02"])[1:4] == ("dates", 2, 0)
    assert column(["a", "b", "a"])[1:4] == ("categories", 2, 0)
    assert column(["a long and winding text", "another one of these"])[1:4] == ("texts", 2, 0)


@pytest.fixture
def people():
    rows = "".join(f"{k + 1},{k % 5},{'xy'[k % 2]},7,,{k % 3}\n" for k in range(30))
    return read_table(io.BytesIO(f"id,age,town,one,none,y\n{rows}".encode()), target="y")


def test_a_table_is_left_with_what_is_learnt_from(people):
    found, seen = choose(people)
    assert found.columns == ["age", "town"]
    assert found.target is people.target
    assert sentences(seen) == [
        "left out: 'id' (names the rows)",
        "left out: 'one' (the same value everywhere)",
        "left out: 'none' (no values)",
    ]


WANTED = {
    "keep": (Wanted(keep=["id"]), ["id", "age", "town"]),
    "drop": (Wanted(drop=["age"]), ["town"]),
    "columns": (Wanted(columns=["town", "one"]), ["town", "one"]),
    "columns with commas": (Wanted(columns=["town,age"]), ["age", "town"]),
    "columns and one more": (Wanted(columns=["town"], keep=["id"]), ["id", "town"]),
    "a column of nothing cannot be kept": (Wanted(keep=["none"]), ["age", "town"]),
}


@pytest.mark.parametrize(("wanted", "left"), WANTED.values(), ids=WANTED)
def test_what_was_asked_is_done(people, wanted, left):
    assert choose(people, wanted)[0].columns == left


def test_a_name_with_a_comma_is_a_name():
    found = read_table(io.BytesIO(b'"a,b",c\n1,2\n2,3\n'))
    assert choose(found, Wanted(drop=["a,b"]))[0].columns == ["c"]


REFUSED = {
    "unknown": (Wanted(drop=["agee"]), "--drop names the column 'agee' .did you mean 'age'.., which .* does not have"),
    "the target": (Wanted(columns=["y"]), "--columns names 'y', which is the target"),
    "both": (Wanted(drop=["age"], keep=["age"]), "--drop and --keep both name 'age'"),
}


@pytest.mark.parametrize(("wanted", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_asked_is_refused(people, wanted, message):
    with pytest.raises(ParameterError, match=message):
        choose(people, wanted)


def test_nothing_left_is_an_error_that_says_why(people):
    with pytest.raises(DataError, match=r"no column left to learn from: 'id' \(names the rows\).*--keep"):
        choose(people, Wanted(drop=["age", "town"]))


def test_texts_have_no_columns_to_choose(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.txt").write_text("words")
    found = read_table(tmp_path)
    assert choose(found) == (found, [])
    with pytest.raises(ParameterError, match=r"--drop needs a table, and .* holds texts"):
        choose(found, Wanted(drop=["x"]))
