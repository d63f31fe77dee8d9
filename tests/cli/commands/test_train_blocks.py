"""`mercer train` and `mercer predict` on data that are read block by block."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

import mercer as library
from mercer.cli.terminal.progress import FitBar
from mercer.estimators.fitting.pace import Pace
from mercer.solvers.result import TracePoint


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X, town = rng.normal(size=(3000, 3)), rng.choice(["Ulm", "Bonn", "Kiel"], 3000)
    z = X @ [1.0, 2.0, -1.0] + 2.0 * (town == "Kiel") + 0.5 * rng.normal(size=3000)
    return pa.table(
        {
            "a": X[:, 0],
            "b": 100 * X[:, 1] + 1e4,
            "c": pa.array([None if k % 50 == 0 else value for k, value in enumerate(X[:, 2])]),
            "town": town,
            "late": np.where(z > 0, "yes", "no"),
            "delay": z,
        }
    )


@pytest.fixture
def folder(table, tmp_path):
    (tmp_path / "big").mkdir()
    for k in range(3):
        parquet.write_table(table.slice(1000 * k, 1000), tmp_path / "big" / f"{k}.parquet", row_group_size=250)
    (tmp_path / "big" / "_SUCCESS").write_text("")
    return tmp_path / "big"


def test_a_folder_is_learnt_out_of_core_and_predicted_block_by_block(folder, table, mercer):
    code, out, err = mercer("train", folder, "--target", "late", "--memory-limit", "2GiB")
    assert code == 0, err
    assert "is a folder of files: learning out of core from 3,000 rows" in err
    assert out.strip() == "big.mercer"
    model = library.load("big.mercer")
    truth = table["late"].to_numpy(zero_copy_only=False)
    assert np.mean(model.predict(table.drop(["late", "delay"]).append_column("delay", table["delay"])) == truth) > 0.9
    code, out, err = mercer("predict", "big.mercer", folder, "--scores")
    assert code == 0, err
    rows = list(csv.DictReader(out.splitlines()))
    assert len(rows) == 3000
    assert all((float(row["score yes"]) > 0) == (row["prediction"] == "yes") for row in rows)
    code, _, err = mercer("predict", "big.mercer", folder, "--output", "said.csv")
    assert code == 0, err
    written = list(csv.DictReader(Path("said.csv").read_text().splitlines()))
    assert [row["prediction"] for row in written] == [row["prediction"] for row in rows]


def test_the_record_says_how_it_was_learnt_and_scores_rows_that_were_not(folder, answer):
    found = answer("train", folder, "--target", "delay", "--holdout", "0.3")
    assert found["data"]["task"] == "regression"
    assert found["data"]["rows"] == 3000
    assert found["scores"]["rows"] + found["data"]["learnt_from"] == 3000
    assert 800 < found["scores"]["rows"] < 1000
    assert found["scores"]["r2"] > 0.8
    assert any(note.startswith("out of core: ") for note in found["notes"])
    assert found["model"]["status"] == "OPTIMAL"
    assert found["model"]["steps"] == ["TableFeatures"]
    assert found["model"]["certificate"]["relative_gap"] <= 1e-4


def test_a_file_is_learnt_out_of_core_where_the_limit_asks_for_it(table, mercer, tmp_path):
    arrow_csv.write_csv(table, tmp_path / "t.csv")
    size = (tmp_path / "t.csv").stat().st_size
    code, _, err = mercer("train", tmp_path / "t.csv", "--target", "late", "--memory-limit", str(size))
    assert "too large to read all at once" in err
    assert "learning out of core" in err
    assert code == 2
    assert "is too little for blocks" in err
    code, _, err = mercer("train", tmp_path / "t.csv", "--target", "late", "--kernel", "linear")
    assert "out of core" not in err
    assert code == 0


def test_what_a_folder_cannot_do_is_said(folder, mercer):
    for arguments, words in (
        ([], "--target must name the column to predict"),
        (["--target", "late", "--cv", "3"], "--cv needs data that are read all at once"),
        (["--target", "late", "--kernel", "spectrum(k=3)"], "kernel must be a kernel of rows of numbers"),
        (["--target", "late", "--landmarks", "50"], "--landmarks needs a kernel"),
        (["--target", "lat"], "no column 'lat' (did you mean 'late'?)"),
    ):
        code, _, err = mercer("train", folder, *arguments)
        assert code in (2, 3)
        assert words in err


def test_a_damaged_file_of_a_folder_is_named_and_nothing_is_written(folder, mercer, tmp_path):
    damaged = folder / "1.parquet"
    damaged.write_bytes(damaged.read_bytes()[:5000])
    code, _, err = mercer("train", folder, "--target", "late")
    assert code == 3
    assert "1.parquet: cannot be read" in err
    assert "cut short" in err
    assert not list(tmp_path.glob("*.mercer"))


def test_a_full_disk_leaves_the_old_model(folder, mercer, monkeypatch, tmp_path):
    assert mercer("train", folder, "--target", "late")[0] == 0
    before = (tmp_path / "big.mercer").read_bytes()

    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mercer.io.replace_file._write_all", full)
    code, _, err = mercer("train", folder, "--target", "late", "--C", "3")
    assert code != 0
    assert "No space left" in err
    assert (tmp_path / "big.mercer").read_bytes() == before
    code, _, err = mercer("predict", "big.mercer", folder, "--output", "said.csv")
    assert code != 0
    assert not (tmp_path / "said.csv").exists()


def test_the_bar_shows_the_rows_of_a_pass():
    shown = []

    class Bar:
        def update(self, _task, completed, description):
            shown.append((completed, description))

    bar = FitBar(Bar(), 0, Pace(1e-4))
    bar(TracePoint(0.1, 0, np.inf, 0.0, 250, 1000, "pass"))
    bar(TracePoint(0.2, 1, 1e-2, 0.0, 10, 1000, gap=1e-2))
    bar(TracePoint(0.3, 2, np.inf, 0.0, 500, 1000, "pass"))
    assert shown[0] == (25.0, "first look, 250 of 1,000 rows, beginning")
    assert shown[2] == (50.0, "pass 2, 500 of 1,000 rows, gap 1.0e-02")


def test_predictions_as_json(folder, mercer):
    assert mercer("train", folder, "--target", "late")[0] == 0
    code, out, err = mercer("predict", "big.mercer", folder, "--json")
    assert code == 0, err
    assert len(json.loads(out)["prediction"]) == 3000


@pytest.mark.parametrize("target", ["late", "delay"])
def test_a_kernel_is_learnt_from_a_folder_over_landmarks_and_evaluated_there(folder, table, mercer, target):
    code, _, err = mercer(
        "train", folder, "-t", target, "-k", "rbf(gamma=0.1)", "--landmarks", "60", "--memory-limit", "1GiB"
    )
    assert code == 0, err
    assert "RBF(gamma=0.1) over 60 landmarks" in err
    code, out, err = mercer("evaluate", "big.mercer", folder, "--json")
    assert code == 0, err
    scores = json.loads(out)["scores"]
    model = library.load("big.mercer")
    truth = table[target].to_numpy(zero_copy_only=False)
    predicted = model.predict(table)
    if target == "late":
        assert scores["accuracy"] == pytest.approx(np.mean(predicted == truth))
        assert scores["accuracy"] > 0.85
    else:
        assert scores["r2"] == pytest.approx(1.0 - np.mean((predicted - truth) ** 2) / np.var(truth))
    code, _, err = mercer("evaluate", "big.mercer", folder, "--report", "page.html")
    assert code != 0
    assert "--report needs data that are read all at once" in err


def test_the_strength_of_a_plane_is_chosen_over_a_folder(folder, mercer):
    code, _, err = mercer("tune", folder, "-t", "late", "--cv", "3", "--C", "1e-6", "--C", "1e-2")
    assert code == 0, err
    assert "C=0.01 was chosen from 2 values by 3 folds" in err
    assert library.load("big.mercer")[-1].C == 0.01
    code, _, err = mercer("tune", folder, "-t", "late", "-k", "rbf")
    assert code != 0
    assert "`mercer train --kernel` learns with any kernel through landmarks" in err


def test_landmarks_are_taken_where_data_are_read_at_once(files, mercer):
    code, _, err = mercer("train", files / "iris.csv", "-t", "species", "-k", "rbf", "--landmarks", "30", "--C", "1")
    assert code == 0, err
    assert "with 30 landmarks" in err
