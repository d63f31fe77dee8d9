"""The command on tables as people have them: rare classes, ids beside predictions, probabilities, kills."""

import csv
import subprocess
import sys

import numpy as np
import pytest

import mercer as library
from mercer import Status
from mercer.cli.terminal.exit_codes import ExitCode


@pytest.fixture(scope="module")
def churn(tmp_path_factory):
    """800 rows of which 40 are positive; a cloud within another, so that no plane at zero finds many of them."""
    rng = np.random.default_rng(8)
    path = tmp_path_factory.mktemp("churn") / "churn.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["customer_id", "months", "calls", "leaves"])
        for k in range(800):
            leaves = k % 20 == 0
            months, calls = rng.normal(30 - 14 * leaves, 10), rng.normal(5 + 3 * leaves, 2)
            writer.writerow([f"C{k:04d}", f"{months:.2f}", f"{calls:.2f}", "=yes" if leaves else "no"])
    return path


def test_a_rare_class_is_set_beside_the_baseline_and_weighing_it_helps(churn, mercer, answer):
    code, _, err = mercer("train", churn, "-t", "leaves", "-k", "linear")
    assert code == ExitCode.DONE
    for words in ("baseline          95.0%  always predicting no", "curve 0.", "--class-weight balanced"):
        assert words in err
    plain = answer("train", churn, "-t", "leaves", "-k", "linear")["scores"]
    found = answer("train", churn, "-t", "leaves", "-k", "linear", "--class-weight", "balanced")
    assert found["scores"]["balanced_accuracy"] > plain["balanced_accuracy"] + 0.2
    assert found["model"]["parameters"]["class_weight"] == "balanced"
    assert not any("--class-weight" in note for note in found["notes"])


def test_a_search_and_folds_weigh_classes_too(churn, answer):
    found = answer("tune", churn, "-t", "leaves", "-k", "linear", "--C", "1", "--class-weight", "balanced", "--cv", 2)
    assert found["model"]["parameters"]["class_weight"] == "balanced"
    found = answer("train", churn, "-t", "leaves", "-k", "linear", "--cv", 3, "--class-weight", "balanced")
    assert found["scores"]["balanced_accuracy"] > 0.7
    assert 0.8 < found["scores"]["area_under_curve"] <= 1


def test_ids_and_probabilities_stand_beside_predictions_and_formulas_are_texts(churn, mercer, answer, tmp_path):
    assert mercer("train", churn, "-t", "leaves", "-k", "linear", "--proba", "-o", "m.mercer")[0] == ExitCode.DONE
    code, out, err = mercer("predict", "m.mercer", churn, "--keep", "customer_id,leaves", "--proba", "-o", "said.csv")
    assert (code, out) == (ExitCode.DONE, ""), err
    with open(tmp_path / "said.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["customer_id", "leaves", "prediction", "probability =yes", "probability no"]
    assert [row["customer_id"] for row in rows[:2]] == ["C0000", "C0001"]
    assert rows[0]["leaves"] == "'=yes"
    sums = [float(row["probability =yes"]) + float(row["probability no"]) for row in rows]
    assert sums == pytest.approx([1.0] * 800)
    said = answer("predict", "m.mercer", churn, "--keep", "leaves", "--proba")
    assert said["leaves"][0] == "=yes"
    found = library.read_table(churn)
    model = library.load(tmp_path / "m.mercer")
    expected = model.predict_proba(found.with_columns(["months", "calls"]).data)[:, 0]
    assert said["probability =yes"] == pytest.approx(expected.tolist())


def test_rows_without_a_label_are_left_out_where_asked(churn, mercer, answer, tmp_path):
    content = churn.read_text().replace(",no\n", ",\n", 5)
    (tmp_path / "some.csv").write_text(content)
    found = answer("train", "some.csv", "-t", "leaves", "-k", "linear", "--skip-unlabeled")
    assert found["data"]["rows"] == 795
    _, _, err = mercer("train", "some.csv", "-t", "leaves", "-k", "linear", "--skip-unlabeled")
    assert "5 rows have no value to predict" in err
    for spelling in ("--skip-unlabeled", "--skip-unlabelled"):
        assert answer("evaluate", "some.mercer", "some.csv", spelling)["scores"]["rows"] == 795
    assert answer("train", "some.csv", "-t", "leaves", "-k", "linear", "--skip-unlabelled")


def test_a_file_with_rows_without_a_label_is_described_all_the_same(churn, mercer, tmp_path):
    (tmp_path / "one.csv").write_text(churn.read_text().replace(",no\n", ",\n", 1))
    code, out, _ = mercer("describe", "one.csv", "-t", "leaves")
    assert code == ExitCode.DONE
    assert "799 rows" in out
    assert "1 row has no value to predict" in out


def test_what_the_compiler_takes_is_no_time_to_fit(monkeypatch):
    from mercer.workflow import clock

    waited = iter([1.0, 6.0])
    ticks = iter([10.0, 17.5])
    monkeypatch.setattr(clock, "seconds_compiling", lambda: next(waited))
    monkeypatch.setattr(clock.time, "perf_counter", lambda: next(ticks))
    seconds = {}
    with clock.timed(seconds, "fit"):
        pass
    assert seconds == {"fit": 2.5, "compile": 5.0}


KILLED = """
import os, signal, sys
from mercer.cli import main
from mercer.cli.terminal import progress
from mercer.workflow import run

kind = getattr(signal, sys.argv.pop(1))
if kind != signal.SIGINT:
    signal.signal(kind, signal.SIG_DFL)  # under nohup it is ignored, and would stay so
described = run.Record.of_model
def killed(*arguments):
    os.kill(os.getpid(), kind)  # the fit is done, its file is not written
    return described(*arguments)
run.Record.of_model = killed
main()
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_who_kills_between_fit_and_file_gets_the_file(name, churn, tmp_path):
    command = [sys.executable, "-c", KILLED, name, "train", churn, "-t", "leaves", "-k", "linear"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (ExitCode.INTERRUPTED, "churn.mercer\n"), done.stderr
    assert "the model has been saved" in done.stderr
    assert library.load(tmp_path / "churn.mercer")["model"].status_ == Status.OPTIMAL


def test_a_signal_that_was_ignored_stays_ignored():
    code = (
        "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from mercer.cli.terminal.start import heed_signals\nheed_signals()\n"
        "print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, callable(signal.getsignal(signal.SIGTERM)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"


def test_the_delimiter_has_the_name_that_people_know(tmp_path, mercer):
    path = tmp_path / "bars.csv"
    path.write_text("a|b\n" + "".join(f"{k}|{k % 2}\n" for k in range(30)))
    code, out, err = mercer("describe", path, "--sep", "|")
    assert code == ExitCode.DONE
    assert "30 rows, 2 columns" in out + err
