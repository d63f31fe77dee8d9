import pytest

from mercer.cli.terminal.exit_codes import ExitCode

TABLE = "kunde_id;umsatz;fax;kauft\n" + "".join(
    f"{700 + k};1.{k + 100},5;;{'ja' if k % 2 else 'nein'}\n" for k in range(30)
)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "kunden.csv").write_text(TABLE)
    return tmp_path / "kunden.csv"


def test_what_a_file_holds_is_told_and_what_is_left_out_and_why(table, mercer):
    code, out, err = mercer("describe", table, "-t", "kauft")
    assert (code, err) == (ExitCode.DONE, "")
    for words in (
        "30 rows, 3 columns besides the target",
        "kauft: 2 classes",
        "kunde_id (names the rows), fax (no values)",
        "--keep NAME",
        "read as numbers: 1.100,5 -> 1100.5",
    ):
        assert words in out


def test_the_same_is_there_for_programs_and_in_python(table, answer):
    from mercer import describe

    found = answer("describe", table, "--target", "kauft")
    assert found == describe(table, target="kauft")
    assert {one["name"]: one["left_out"] for one in found["columns"]} == {
        "kunde_id": "names the rows", "umsatz": "", "fax": "no values"}  # fmt: skip


def test_train_says_it_before_it_fits(table, mercer, monkeypatch):
    from mercer.workflow.run import Run

    def never(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "fit", never)
    code, _, err = mercer("train", table, "-t", "kauft")
    assert code == ExitCode.INTERRUPTED
    assert "kunde_id (names the rows)" in err


@pytest.mark.parametrize("command", ["train", "tune", "preflight", "compare"])
def test_every_command_that_learns_leaves_out_the_same(table, mercer, command):
    code, _, err = mercer(command, table, "-t", "kauft", "--keep", "kunde_id", "--drop", "umsatz")
    assert code == ExitCode.DONE, err
    assert "umsatz (by --drop), fax (no values)" in err
    assert "numbers           kunde_id" in err


def test_the_model_knows_the_columns_it_learnt_from(table, answer):
    assert answer("train", table, "-t", "kauft", "-o", "m.mercer")["model"]["columns"] == ["umsatz"]
    assert answer("evaluate", "m.mercer", table)["data"]["columns"] == ["umsatz"]


def test_words_are_wrapped_at_words_where_there_is_a_width(table, mercer, monkeypatch):
    monkeypatch.setenv("COLUMNS", "48")
    code, out, _ = mercer("describe", table, "-t", "kauft")
    assert code == ExitCode.DONE
    assert max(map(len, out.splitlines())) <= 48
    assert "kunde_id (names the" in out
