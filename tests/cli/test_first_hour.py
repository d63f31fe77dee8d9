"""The mistakes of a first hour: each is told in one sentence, with the right exit code, and nothing is written."""

import gzip
import os
import re
import sqlite3
import subprocess
import sys
from urllib.parse import quote

import numpy as np
import pytest

import mercer as library
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.exchange.model_file.container import MAGIC, VERSION
from tests.postgres import PASSWORD, USER

USAGE, DATA, FAILED = ExitCode.WRONG_USAGE, ExitCode.BAD_DATA, ExitCode.FAILED
GOOD = "age,town,buys\n" + "".join(
    f"{20 + k % 37},{'Ulm' if k % 3 else 'Bonn'},{'yes' if k % 4 else 'no'}\n" for k in range(40)
)


def lines(*rows):
    return "".join(f"{row}\n" for row in rows)


# Files of the folder in which the command is called; names in braces below are theirs.
FILES = {
    "people.csv": GOOD.encode(),
    "spaces.csv": lines("age town buys", "31 Ulm yes", "60 Bonn no").encode(),
    "ragged.csv": lines("age,town,buys", "31,Ulm,yes", "60,Bonn").encode(),
    "twice.csv": lines("age,age,buys", "31,30,yes", "60,61,no").encode(),
    "one_class.csv": lines("age,buys", *(f"{k},yes" for k in range(20))).encode(),
    "empty.csv": b"",
    "header.csv": b"age,town,buys\n",
    "no_header.csv": lines("31,60,1", "60,31,0", "35,33,1").encode(),
    "random.csv": np.random.default_rng(0).bytes(3000),
    "western.csv": lines("name,buys", "M\xfcller,yes", "Ander\xdfon,no").encode("cp1252"),
    "towns.csv": lines("a,b,town", *(f"{k % 7},{k % 11},town {k}" for k in range(1500))).encode(),
    "unlabelled.csv": lines("age,buys", *(f"{k},{'' if k % 5 == 0 else 'ny'[k % 2]}" for k in range(30))).encode(),
    "wordy.csv": lines("age,buys", *(f"{20 + k},{'ny'[k % 2]}" for k in range(50)), "thirty,n").encode(),
    "unclosed.csv": lines("note,buys", "fine,yes").encode() + b'"' + b"z" * 5_000_000 + b",no\n",
    "few.csv": lines("age,buys", "31,yes", "60,no").encode(),
    "damaged.csv.gz": gzip.compress(GOOD.encode())[:-20],
    "only_id.csv": lines("customer_id,buys", *(f"{k + 300},{'ny'[k % 2]}" for k in range(30))).encode(),
    "newer.mercer": MAGIC + (VERSION + 1).to_bytes(4, "little") + bytes(4096),
    "cut.mercer": MAGIC + VERSION.to_bytes(4, "little") + bytes(4),
    "in_the_way": b"",
}
TRAIN = ("train", "people.csv", "-t", "buys")
ASK = ("predict", "good.mercer", "people.csv")
MISTAKES = {
    # What to predict
    "no target": (("train", "people.csv"), USAGE, "--target must name the column to predict; .*'age', 'town', 'buys'"),
    "a target that is not there": (("train", "people.csv", "-t", "price"), DATA,
        "no column 'price'.* the columns are 'age'"),
    "a typo in the target": (("train", "people.csv", "-t", "buy"), DATA, "did you mean 'buys'"),
    "one class": (("train", "one_class.csv", "-t", "buys"), DATA, "the same value 'yes' in all 20 rows"),
    "1,500 classes": (("train", "towns.csv", "-t", "town"), DATA, "1,500 different values.*--task classification"),
    "rows without a label": (("train", "unlabelled.csv", "-t", "buys"), DATA, "6 of 30 rows.*--skip-unlabeled"),
    "quantities in words": ((*TRAIN, "--task", "regression"), DATA, "regression needs numbers.*'no'"),
    # Which columns
    "a typo in --drop": ((*TRAIN, "--drop", "twon"), USAGE, "--drop names the column 'twon' .did you mean 'town'"),
    "nothing but an id": (("train", "only_id.csv", "-t", "buys"), DATA, "no column left.*names the rows.*--keep"),
    # The file
    "a missing file": (("train", "people.cvs", "-t", "buys"), DATA, "no file 'people.cvs'; did you mean 'people.csv'"),
    "another separator": (("train", "spaces.csv", "-t", "buys"), DATA, "one column of 'age town buys'.*--delimiter"),
    "ragged rows": (("train", "ragged.csv", "-t", "buys"), DATA, "line 3: 3 fields were expected, got 2"),
    "a name twice": (("train", "twice.csv", "-t", "buys"), DATA, "column 'age' occurs twice"),
    "an empty file": (("train", "empty.csv", "-t", "buys"), DATA, "the file is empty"),
    "only a header": (("train", "header.csv", "-t", "buys"), DATA, "a header, but no row"),
    "no header": (("train", "no_header.csv", "-t", "1"), DATA, "names of columns were expected.*--no-header"),
    "a binary file": (("train", "random.csv", "-t", "buys"), DATA, "binary file of unknown format"),
    "another encoding": (("train", "western.csv", "-t", "buys"), DATA, "UTF-8 was expected.*--encoding cp1252"),
    "no encoding": ((*TRAIN, "--encoding", "latin-99"), USAGE, "encoding must be one that Python knows.*'latin-99'"),
    "a word among numbers": (("train", "wordy.csv", "-t", "buys"), DATA, "line 52.*'age'.*'thirty'"),
    "a quotation mark that never closes, 5 MB later": (("train", "unclosed.csv", "-t", "buys"), DATA, "quotation mark"),
    "too few rows": (("train", "few.csv", "-t", "buys"), DATA, "only 2 rows, too few to hold any out"),
    "a damaged archive": (("train", "damaged.csv.gz", "-t", "buys"), DATA, "damaged.csv.gz: cannot be read to its end"),
    "a table that does not exist": (("train", "shop.db", "-t", "buys", "--table", "peple"), DATA, "peple.*people"),
    # Models
    "arguments swapped": (("predict", "people.csv", "good.mercer"), USAGE,
        "the model must come first: good.mercer is a model"),
    "a model in place of data": (("train", "good.mercer", "-t", "buys"), DATA, "is a model, not data"),
    "data in place of a model": (("evaluate", "people.csv", "people.csv"), DATA, "not a Mercer model file"),
    "a typo in the model": (("predict", "god.mercer", "people.csv"), DATA, "no model file 'god.mercer'; did you mean"),
    "a newer model": (("predict", "newer.mercer", "people.csv"), DATA, "newer|version"),
    "half a model": (("predict", "cut.mercer", "people.csv"), DATA, "cut.mercer: "),
    "rows without a column": (("predict", "good.mercer", "few.csv"), DATA, "the columns 'town' are missing"),
    "probabilities that were not learnt": ((*ASK, "--proba"), USAGE, "--proba needs.*train it with --proba too"),
    "a column to keep that is not there": ((*ASK, "--keep", "id"), USAGE, "--keep names the column 'id', which"),
    # Options
    "one fold": ((*TRAIN, "--cv", "1"), USAGE, "--cv must be from 2"),
    "all rows held out": ((*TRAIN, "--holdout", "1"), USAGE, "--holdout must be at least 0 and below 1, got 1"),
    "a negative C": ((*TRAIN, "--C", "-1"), USAGE, "--C must be a positive number, got -1"),
    "no time": ((*TRAIN, "--time-limit", "0"), USAGE, "--time-limit must be positive, got 0"),
    "a kernel that is none": ((*TRAIN, "-k", "rfb"), USAGE, "did you mean 'rbf'"),
    "a weight of classes for quantities": (
        ("train", "people.csv", "-t", "age", "--class-weight", "balanced"), USAGE, "--class-weight and --proba need"),
    "an option that is none": ((*TRAIN, "--ouptut", "m.mercer"), USAGE, "--ouptut. Did you mean --output"),
    "a command that is none": (("trian", "people.csv"), USAGE, 'Did you mean "train"'),
    "nothing to train on": (("train",), USAGE, "train needs a data file; see `mercer train --help`"),
    "one word too many": (("train", "people.csv", "buys"), USAGE, "unexpected 'buys'; columns are named"),
    # Where it goes
    "a folder that is not there": ((*TRAIN, "-o", "no/where.mercer"), FAILED, "there is no folder 'no'"),
    "a file in the way": ((*TRAIN, "-o", "in_the_way/m.mercer"), FAILED, "in_the_way is a file, not a folder"),
    "a folder in place of a file": ((*TRAIN, "--report", "."), FAILED, "it is a folder; name a file in it"),
}  # fmt: skip


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with everything that goes wrong, a sound model, and a database."""
    folder = tmp_path_factory.mktemp("desk")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    found = library.read_table(folder / "people.csv", target="buys")
    model = library.SVC(kernel="auto").fit(found.data, found.target)
    library.save(model, folder / "good.mercer")
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("CREATE TABLE people (age INTEGER, buys TEXT)")
    database.close()
    return folder


@pytest.fixture
def at_the_desk(desk, mercer, monkeypatch):
    monkeypatch.chdir(desk)
    return mercer


def kept(folder):
    """What is there, and when it was last written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


@pytest.mark.parametrize(("arguments", "code", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_one_sentence_and_nothing_is_written(arguments, code, sentence, desk, at_the_desk):
    before = kept(desk)
    found, out, err = at_the_desk(*arguments)
    assert (found, out) == (code, ""), err
    *_, last = err.splitlines()
    assert re.fullmatch(rf"mercer: .*({sentence}).*", last), err
    assert [line for line in err.splitlines() if line.startswith("mercer: ")] == [last]
    assert "Traceback" not in err
    assert kept(desk) == before


def test_a_folder_that_may_not_be_written_is_refused_before_the_fit(desk, at_the_desk, monkeypatch):
    from mercer.workflow.run import Run

    monkeypatch.setattr(Run, "fit", lambda *_: pytest.fail("it has begun"))
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK and real(path, mode))
    code, out, err = at_the_desk(*TRAIN)
    assert (code, out) == (FAILED, "")
    assert err == "mercer: people.mercer cannot be written: no permission to write in '.'\n"


def test_a_folder_that_takes_no_files_is_refused_before_the_fit(desk, at_the_desk, monkeypatch):
    from mercer.workflow.run import Run

    monkeypatch.setattr(Run, "fit", lambda *_: pytest.fail("it has begun"))
    code, out, err = at_the_desk(*TRAIN, "-o", "/proc/people.mercer")
    assert (code, out) == (FAILED, "")
    assert err.startswith("mercer: /proc/people.mercer cannot be written: ")


WRONG = "tell-nobody"
# What is wrong with an address, whose password nobody is told.
ADDRESSES = {
    "a server that is down": ("postgresql://me:{secret}@127.0.0.1:1/bank", "no server answers there"),
    "a wrong password": ("postgresql://{user}:{secret}@127.0.0.1:{port}/postgres", "password"),
    "a database that is not there": ("postgresql://{user}:{right}@127.0.0.1:{port}/bnak", "bnak"),
    "a table that is not there": ("postgresql://{user}:{right}@127.0.0.1:{port}/postgres", "peple.*people"),
}


@pytest.mark.parametrize(("address", "sentence"), ADDRESSES.values(), ids=ADDRESSES)
def test_a_database_that_does_not_answer_is_told_without_its_password(address, sentence, postgres, at_the_desk, desk):
    right, before = quote(PASSWORD, safe=""), kept(desk)
    with postgres.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS people (age INTEGER, buys TEXT)")
    where = address.format(user=USER, port=postgres.port, secret=WRONG, right=right)
    code, out, err = at_the_desk("train", where, "--table", "peple", "-t", "buys")
    assert (code, out) == (DATA, ""), err
    assert re.fullmatch(rf"mercer: .*{sentence}.*\n", err), err
    assert WRONG not in err
    assert PASSWORD not in err
    assert right not in err
    assert kept(desk) == before


def test_a_table_of_a_server_is_learnt_from_and_its_password_stays_there(postgres, at_the_desk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with postgres.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS buyers")
        connection.execute("CREATE TABLE buyers (id INTEGER PRIMARY KEY, age REAL, buys TEXT)")
        rows = [(k, 20.0 + k % 40, "yes" if k % 40 > 19 else "no") for k in range(80)]
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO buyers VALUES (%s, %s, %s)", rows)
    where = (postgres.address(), "--table", "buyers")
    code, out, err = at_the_desk("train", *where, "-t", "buys", "-o", "m.mercer", "--report", "r.html")
    assert (code, out) == (ExitCode.DONE, "m.mercer\nr.html\n"), err
    assert "id (names the rows)" in err
    code, said, _ = at_the_desk("predict", "m.mercer", *where, "--keep", "id")
    assert code == ExitCode.DONE
    assert said.splitlines()[:2] == ["id,prediction", "0,no"]
    for told in (err, (tmp_path / "r.html").read_text(), (tmp_path / "m.mercer").read_bytes().decode("latin-1")):
        assert PASSWORD not in told
        assert quote(PASSWORD, safe="") not in told


def test_a_closed_pipe_is_no_failure(desk):
    code = "from mercer.cli import main; main()"
    command = [sys.executable, "-c", code, "predict", "good.mercer", "people.csv"]
    with subprocess.Popen(command, cwd=desk, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read().splitlines()
        assert process.wait() == ExitCode.DONE
    # The first of all processes after a change says that it compiles.
    assert [line for line in said if b"compiling for this machine" not in line] == []


def test_a_field_of_five_megabytes_is_a_field(at_the_desk, tmp_path):
    note = "a long remark " * 360_000
    rows = lines(
        "note,age,buys", *(f"remark {k} of a few words,{k % 9},{'ny'[k % 2]}" for k in range(30)), f"{note},3,n"
    )
    (tmp_path / "long.csv").write_text(rows)
    code, out, err = at_the_desk("describe", tmp_path / "long.csv", "-t", "buys")
    assert code == ExitCode.DONE, err
    assert "texts             note" in out
