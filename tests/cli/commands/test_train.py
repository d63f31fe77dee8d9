import io
import os
import re
import signal
import sys
from contextlib import contextmanager

import numpy as np
import pytest

import mercer as library
from mercer import Status
from mercer.cli.terminal import progress
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.workflow import assemble
from mercer.workflow import run as workflow


def test_a_file_becomes_a_scored_and_saved_model(files, mercer, tmp_path):
    code, out, err = mercer("train", files / "iris.csv", "--target", "species")
    assert (code, out) == (ExitCode.DONE, "iris.mercer\n")
    for word in (
        "accuracy",
        "held out",
        "support vectors",
        "certificate",
        "OPTIMAL",
        "time to fit",
        "setosa",
        "on one scale",
    ):
        assert word in err
    model = library.load(tmp_path / "iris.mercer")
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert (model.kernel, model.C) == ("auto", "auto")


def test_the_record_says_everything(files, answer):
    found = answer("train", files / "iris.csv", "--target", "species", "--holdout", 0.4)
    assert found["data"]["learnt_from"] == 90
    assert found["scores"]["rows"] == 60
    assert found["scores"]["accuracy"] > 0.9
    assert np.sum(found["scores"]["confusion"]["counts"]) == 60
    assert found["model"]["certificate"]["relative_gap"] < 1e-2
    assert found["files"] == {"model": "iris.mercer"}
    assert set(found["seconds"]) == {"read", "fit", "save", "score"}


def test_the_score_is_of_rows_that_were_not_learnt_from(files, answer):
    """A model that knows its rows by heart is right on all of them, and on no others."""
    found = answer("train", files / "iris.csv", "--target", "species", "--kernel", "rbf(gamma=1e6)", "--C", 1e6)
    assert found["scores"]["accuracy"] < 0.6
    found = answer("evaluate", "iris.mercer", files / "iris.csv")
    assert found["scores"]["accuracy"] > 0.85


def test_folds_score_every_row_and_the_model_learns_from_all(files, answer):
    found = answer("train", files / "iris.csv", "--target", "species", "--cv", 4)
    assert found["data"]["learnt_from"] == found["scores"]["rows"] == 150
    assert len(found["scores"]["folds"]) == 4
    assert found["scores"]["how"] == "in 4-fold cross-validation"


def test_the_seed_decides_who_is_held_out(files, answer):
    scores = [answer("train", files / "prices.csv", "--target", "price", "--seed", s)["scores"] for s in (1, 1, 2)]
    assert scores[0] == scores[1]
    assert scores[0] != scores[2]


def test_columns_of_a_mixed_table_are_compared_jointly_and_told_of_one_by_one(files, answer):
    found = answer("train", files / "crossings.csv", "--target", "late")
    assert found["model"]["columns"] == ["wind", "town", "note"]
    assert "@[wind, town]" in found["model"]["kernel"]
    assert "spectrum" in found["model"]["kernel"]
    assert any(note.startswith("wind: its number") for note in found["notes"])
    assert found["scores"]["accuracy"] > 0.7


def test_bounds_are_those_of_theory(files, answer):
    found = answer("train", files / "crossings.csv", "--target", "late", "--holdout", 0)
    bounds = {one["key"]: one for one in found["bounds"]}
    share = found["model"]["n_support"] / found["data"]["learnt_from"]
    assert bounds["support_vectors"]["value"] == pytest.approx(share)
    assert found["scores"] is None


def test_a_kernel_is_written_as_an_expression(files, answer):
    expression = "rbf(gamma=0.5) + 2*spectrum(k=3).normalized()@note"
    found = answer("train", files / "crossings.csv", "--target", "late", "--kernel", expression)
    assert found["model"]["kernel"].startswith("standardized(rbf(gamma=0.5))@wind + 2*spectrum")


def test_quantities_are_regressed_in_units_of_their_spread(files, answer):
    found = answer("train", files / "prices.csv", "--target", "price")
    assert found["data"]["task"] == "regression"
    assert found["scores"]["r2"] > 0.9
    assert any("units of the target's standard deviation" in note for note in found["notes"])


def test_scaling_can_be_left_out(files, answer):
    found = answer("train", files / "iris.csv", "--target", "species", "--no-scale")
    assert found["model"]["steps"] == []
    assert "columns left unscaled" in found["notes"]


def test_texts_trees_graphs_and_vectors(mercer, tmp_path, answer):
    from mercer.cli.demo.data import write_graphs, write_texts, write_trees

    write_texts(tmp_path / "notes", 20)
    write_trees(tmp_path / "s.trees", 60)
    write_graphs(tmp_path / "rings", 40)
    (tmp_path / "v.svm").write_text("".join(f"{1 - 2 * (k % 2)} 1:{k % 2 + k / 99} 7:1\n" for k in range(40)))
    kinds = {}
    for name in ("notes", "s.trees", "rings", "v.svm"):
        found = answer("train", tmp_path / name, "--output", f"{name}.mercer")
        kinds[found["data"]["kind"]] = found["model"]["kernel"].removeprefix("0.5*").split("(")[0].split(".")[0]
        again = answer("evaluate", f"{name}.mercer", tmp_path / name)
        assert again["scores"]["accuracy"] > 0.8
    assert kinds == {"texts": "spectrum", "trees": "subset_tree", "graphs": "weisfeiler_lehman", "vectors": "rbf"}


def test_standard_input(files, answer, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((files / "iris.csv").read_bytes())))
    found = answer("train", "-", "--target", "species")
    assert found["data"]["name"] == "standard input"
    assert found["files"]["model"] == "model.mercer"


# ------------------------------------------------------------------ ends


def test_a_fit_that_did_not_converge_is_written_and_exits_with_four(files, mercer, monkeypatch, tmp_path):
    monkeypatch.setattr(assemble, "assemble", _with_max_iter(assemble.assemble, 1))
    code, out, err = mercer("train", files / "crossings.csv", "--target", "late")
    assert code == ExitCode.NOT_CONVERGED
    assert "ITERATION_LIMIT" in err
    assert library.load(tmp_path / out.strip()).status_ == Status.ITERATION_LIMIT


def _with_max_iter(function, steps):
    def limited(*arguments, **options):
        return function(*arguments, max_iter=steps, **options)

    return limited


@pytest.fixture
def noise(tmp_path):
    """Labels that are noise: with a large C, a fit of many rounds."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(1500, 6)), rng.integers(0, 2, 1500)])
    np.savetxt(tmp_path / "noise.csv", rows, fmt="%.5g", delimiter=",", header="a,b,c,d,e,f,y", comments="")
    return tmp_path / "noise.csv"


@pytest.fixture
def default_handler():
    """As in a plain program; whoever runs the tests may have set another, or ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_handler")
def test_control_c_keeps_the_best_model_and_exits_with_130(noise, answer, monkeypatch, tmp_path):
    @contextmanager
    def pressed(*_):
        yield lambda _: os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(progress, "shown_progress", pressed)
    found = answer("train", noise, "--target", "y", "--kernel", "rbf", "--C", "1e4", code=ExitCode.INTERRUPTED)
    assert found["model"]["status"] == "INTERRUPTED"
    assert found["scores"]["rows"] == 300
    assert library.load(tmp_path / "noise.mercer")["model"].status_ == Status.INTERRUPTED


@pytest.mark.usefixtures("default_handler")
def test_control_c_between_the_fit_and_its_file_waits_for_the_file(files, mercer, monkeypatch, tmp_path):
    def pressed(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return described(*arguments)

    described = workflow.Record.of_model
    monkeypatch.setattr(workflow.Record, "of_model", pressed)
    code, out, err = mercer("train", files / "iris.csv", "--target", "species")
    assert (code, out) == (ExitCode.INTERRUPTED, "iris.mercer\n")
    assert "the model has been saved" in err
    assert library.load(tmp_path / "iris.mercer").status_ == Status.OPTIMAL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("default_handler")
def test_control_c_before_the_fit_writes_nothing(files, mercer, monkeypatch, tmp_path):
    def pressed(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return rows(*arguments)

    rows = workflow.Run.rows
    monkeypatch.setattr(workflow.Run, "rows", pressed)
    code, out, _ = mercer("train", files / "iris.csv", "--target", "species")
    assert (code, out) == (ExitCode.INTERRUPTED, "")
    assert not (tmp_path / "iris.mercer").exists()


def test_the_time_limit_ends_a_fit_that_is_then_written(noise, answer, tmp_path):
    answer("train", noise, "--target", "y", "--kernel", "rbf")  # compiled before
    found = answer(
        "train",
        noise,
        "--target",
        "y",
        "--kernel",
        "rbf",
        "--C",
        "1e7",
        "--time-limit",
        "0.2",
        code=ExitCode.NOT_CONVERGED,
    )
    assert found["model"]["status"] == "TIME_LIMIT"
    assert (tmp_path / "noise.mercer").exists()


def test_control_c_while_scoring_keeps_the_model(files, mercer, monkeypatch, tmp_path):
    def give_up(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(workflow, "cross_validated", give_up)
    code, out, err = mercer("train", files / "iris.csv", "--target", "species", "--cv", 3)
    assert (code, out) == (ExitCode.INTERRUPTED, "iris.mercer\n")
    assert "the model has been saved" in err
    assert (tmp_path / "iris.mercer").exists()


def test_a_full_disk_is_a_failure_in_one_line(files, mercer, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(workflow, "save", full)
    code, out, err = mercer("train", files / "iris.csv", "--target", "species")
    assert (code, out) == (ExitCode.FAILED, "")
    assert "No space left on device" in err


# ------------------------------------------------------------------ bad input

WRONG = {
    "no target": (["{iris}"], 2, "--target must name the column to predict; .*'sl', 'sw'"),
    "misspelt target": (["{iris}", "--target", "specis"], 3, "did you mean 'species'"),
    "unknown kernel": (["{iris}", "--target", "species", "--kernel", "rfb"], 2, "did you mean 'rbf'"),
    "text kernel on numbers": (["{iris}", "--target", "species", "--kernel", "spectrum"], 2, "needs a column of texts"),
    "column of a kernel": (["{crossings}", "--target", "late", "--kernel", "delta@twon"], 3, "did you mean 'town'"),
    "C": (["{iris}", "--target", "species", "--C", "-1"], 2, "C must be a positive number, got -1.0"),
    "holdout": (["{iris}", "--target", "species", "--holdout", "1.5"], 2, "--holdout must be"),
    "both": (["{iris}", "--target", "species", "--holdout", "0.1", "--cv", "3"], 2, "--holdout or --cv, not both"),
    "cv": (["{iris}", "--target", "species", "--cv", "1"], 2, "--cv must be from 2"),
    "regression of words": (["{iris}", "--target", "species", "--task", "regression"], 3, "regression needs numbers"),
    "memory": (["{iris}", "--target", "species", "--memory-limit", "lots"], 2, "memory_limit must be"),
    "no file": (["{iris}x", "--target", "species"], 3, "there is no file .*iris.csvx.*did you mean"),
    "no room": (["{iris}", "--target", "species", "--memory-limit", "10B"], 3, "does not fit|memory"),
    "output": (["{iris}", "--target", "species", "--output", "no/such/folder/m.mercer"], 1, "No such file|folder"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_has_a_message_and_an_exit_code(arguments, code, message, files, mercer):
    given = [each.format(iris=files / "iris.csv", crossings=files / "crossings.csv") for each in arguments]
    found, out, err = mercer("train", *given)
    assert (found, out) == (code, ""), err
    assert re.search(message, err), err
    assert err.splitlines()[-1].startswith("mercer: ")
    assert err.count("mercer: ") == 1


BROKEN = {
    "ragged": (b"a,b\n1,2\n3,4,5\n", "line 3: 2 fields were expected, got 3"),
    "empty": (b"", "the file is empty"),
    "binary": (b"\x00\x01\x02" * 99, "binary file"),
    "one class": (b"a,b\n1,x\n2,x\n3,x\n4,x\n5,x\n", "at least two classes"),
    "infinite": (b"a,b\n1,x\n1e999,y\n3,x\n4,y\n", "finite|infinity"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_bad_data_exit_with_three(content, message, mercer, tmp_path):
    (tmp_path / "bad.csv").write_bytes(content)
    code, out, err = mercer("train", "bad.csv", "--target", "b", "--holdout", "0")
    assert (code, out) == (ExitCode.BAD_DATA, ""), err
    assert re.search(message, err), err


@pytest.mark.parametrize("scale", ["--scale", "--no-scale"])
@pytest.mark.parametrize(
    ("source", "target", "columns"),
    [("crossings.csv", "late", {"wind", "town", "note"}), ("iris.csv", "species", {"sl", "sw", "pl", "pw"})],
)
def test_a_kernel_for_each_column_can_be_asked_for(files, answer, tmp_path, source, target, columns, scale):
    asked = ("--target", target, "--kernel", "additive", "--C", 2, scale)
    answer("train", files / source, *asked, "--output", "by_columns.mercer")
    kernel = library.load(tmp_path / "by_columns.mercer").kernel
    assert isinstance(kernel, library.kernels.Columns)
    assert set(kernel.kernels) == columns
    assert kernel.standardize is (scale == "--scale")


def test_a_kernel_for_each_column_needs_columns(mercer, tmp_path):
    (tmp_path / "rows.svm").write_text("".join(f"{k % 2} 1:{k} 3:{k % 5}\n" for k in range(20)))
    code, _, err = mercer("train", "rows.svm", "--kernel", "additive")
    assert code == ExitCode.WRONG_USAGE
    assert "kernel 'additive' needs a table, as it is a kernel for each column; rows.svm holds vectors" in err
