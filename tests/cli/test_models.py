"""predict, evaluate, inspect and convert: what is done with a saved model."""

import csv
import io
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import mercer as library
from mercer.cli import run
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.io import read_table
from mercer.workflow.hold_out import hold_out


@pytest.fixture(scope="module")
def models(files):
    """A model of each file, trained once."""
    for name, target in (("iris", "species"), ("crossings", "late"), ("prices", "price")):
        assert run(["train", str(files / f"{name}.csv"), "--target", target, "--output", str(files / f"{name}.mercer"),
                    "--json"]) == 0  # fmt: skip
    return files


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_are_those_of_the_model(models, mercer):
    code, out, err = mercer("predict", models / "iris.mercer", models / "iris.csv")
    assert (code, err) == (0, "")
    with open(models / "iris.csv", newline="") as file:
        truth = [row["species"] for row in csv.DictReader(file)]
    said = [row["prediction"] for row in rows_of(out)]
    table = read_table(models / "iris.csv", target="species")
    assert said == library.load(models / "iris.mercer").predict(table.data).tolist()
    assert np.mean([a == b for a, b in zip(said, truth, strict=True)]) > 0.9


def test_scores_have_a_column_for_each_class(models, mercer):
    _, out, _ = mercer("predict", models / "iris.mercer", models / "iris.csv", "--scores")
    first = rows_of(out)[0]
    assert list(first) == ["prediction", "score setosa", "score versicolor", "score virginica"]
    scores = {name.removeprefix("score "): float(value) for name, value in list(first.items())[1:]}
    assert max(scores, key=scores.get) == first["prediction"]


def test_predictions_may_go_to_a_file_and_to_json(models, mercer, tmp_path):
    assert mercer("predict", models / "prices.mercer", models / "prices.csv", "--output", "p.csv")[1] == ""
    written = [float(row["prediction"]) for row in rows_of((tmp_path / "p.csv").read_text())]
    said = json.loads(mercer("predict", models / "prices.mercer", models / "prices.csv", "--json")[1])
    assert said == {"prediction": written}


def test_intervals_are_those_of_the_rows_held_out(models, mercer):
    code, out, err = mercer("predict", models / "prices.mercer", models / "prices.csv", "--interval", "0.9")
    assert (code, err) == (0, "")
    rows = rows_of(out)
    assert list(rows[0]) == ["prediction", "low", "high"]
    data = read_table(models / "prices.csv", target="price")
    _, held = hold_out(data.target, 0.2, seed=0, is_stratified=False)
    said = np.array([float(row["prediction"]) for row in rows])
    # Of 24 errors, the ceil(0.9 * 25) = 23rd.
    half = np.sort(np.abs(said - data.target)[held])[22]
    np.testing.assert_allclose([float(row["low"]) for row in rows], said - half)
    np.testing.assert_allclose([float(row["high"]) for row in rows], said + half)


def test_classes_have_sets_that_hold_the_prediction(models, mercer):
    _, out, _ = mercer("predict", models / "crossings.mercer", models / "crossings.csv", "--interval", "0.95")
    rows = rows_of(out)
    assert list(rows[0]) == ["prediction", "set"]
    assert {row["set"] for row in rows} <= {"no", "yes", "no|yes"}
    assert all(row["prediction"] in row["set"].split("|") for row in rows)
    said = mercer("predict", models / "crossings.mercer", models / "crossings.csv", "--interval", "0.95", "--json")[1]
    assert json.loads(said)["set"] == [row["set"].split("|") for row in rows]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("90", "--interval must be above 0 and below 1, such as 0.9, got 90"),
        ("0.99", "needs at least 99 left-out rows"),
    ],
)
def test_an_interval_that_cannot_be_had_is_refused(asked, told, models, mercer):
    code, out, err = mercer("predict", models / "prices.mercer", models / "prices.csv", "--interval", asked)
    assert code != 0
    assert out == ""
    assert told in err


def test_a_model_without_rows_held_out_has_no_intervals(files, mercer):
    assert mercer("train", files / "prices.csv", "--target", "price", "--holdout", "0", "--output", "a.mercer")[0] == 0
    code, _, err = mercer("predict", "a.mercer", files / "prices.csv", "--interval", "0.9")
    assert code == ExitCode.WRONG_USAGE
    assert "without --cv or --holdout 0" in err


def test_wrong_columns_are_named(models, mercer, tmp_path):
    (tmp_path / "wrong.csv").write_text("sl,sw,pl,width\n1,2,3,4\n")
    code, out, err = mercer("predict", models / "iris.mercer", "wrong.csv")
    assert (code, out) == (ExitCode.BAD_DATA, "")
    assert "the columns 'pw' are missing; the model does not know 'width'" in err


def test_columns_may_stand_in_another_order_with_others_between(models, mercer, tmp_path):
    (tmp_path / "a.csv").write_text("sl,sw,pl,pw\n5.1,3.5,1.4,0.2\n6.3,3.3,6.0,2.5\n")
    (tmp_path / "b.csv").write_text("id,pw,pl,sw,sl\n1,0.2,1.4,3.5,5.1\n2,2.5,6.0,3.3,6.3\n")
    first = mercer("predict", models / "iris.mercer", "a.csv", "--scores")[1]
    assert first == mercer("predict", models / "iris.mercer", "b.csv", "--scores")[1]


def test_an_unseen_category_is_judged_by_the_other_columns(models, mercer, tmp_path):
    """Its kernel with every support vector is 0 in that column: as if the column were not there."""
    (tmp_path / "new.csv").write_text("wind,town,note\n18,Trier,fog and a heavy swell\n2,Trier,sun on a quiet sea\n")
    code, out, err = mercer("predict", models / "crossings.mercer", "new.csv")
    assert code == 0
    assert [row["prediction"] for row in rows_of(out)] == ["yes", "no"]
    assert "column 'town': 2 rows have a label that no support vector has (Trier)" in err


def test_a_label_that_looks_like_a_number_is_the_same_label(mercer, tmp_path, answer):
    """Codes beside words are texts; in a file with codes alone, they still are."""
    rows = [("7", "a"), ("x", "b")] * 30
    (tmp_path / "codes.csv").write_text("code,kind\n" + "".join(f"{code},{kind}\n" for code, kind in rows))
    answer("train", "codes.csv", "--target", "kind", "--holdout", 0)
    (tmp_path / "new.csv").write_text("code\n7\n7\n")
    code, out, err = mercer("predict", "codes.mercer", "new.csv")
    assert (code, err) == (0, "")
    assert [row["prediction"] for row in rows_of(out)] == ["a", "a"]


def test_a_word_where_the_model_needs_numbers_names_its_column(models, mercer, tmp_path):
    (tmp_path / "new.csv").write_text("wind,town,note\nstrong,Ulm,fog\nweak,Ulm,sun\n")
    code, out, err = mercer("predict", models / "crossings.mercer", "new.csv")
    assert (code, out) == (ExitCode.BAD_DATA, "")
    assert "column 'wind' must hold numbers" in err


def test_evaluation_uses_the_target_that_the_model_knows(models, answer):
    found = answer("evaluate", models / "crossings.mercer", models / "crossings.csv")
    assert any("trained on rows from this very file" in note for note in found["notes"])
    assert found["scores"]["rows"] == 120
    assert found["scores"]["accuracy"] > 0.8


def test_evaluation_of_quantities(models, answer):
    assert answer("evaluate", models / "prices.mercer", models / "prices.csv")["scores"]["r2"] > 0.9


def test_evaluation_without_labels_is_bad_data(models, mercer, tmp_path):
    (tmp_path / "new.csv").write_text("sl,sw,pl,pw\n1,2,3,4\n")
    code, _, err = mercer("evaluate", models / "iris.mercer", "new.csv")
    assert code == ExitCode.BAD_DATA
    assert "no column 'species'" in err


def test_classes_that_the_model_does_not_know_count_as_wrong(models, answer, tmp_path):
    (tmp_path / "new.csv").write_text("sl,sw,pl,pw,species\n5.1,3.5,1.4,0.2,setosa\n5.1,3.5,1.4,0.2,mirabilis\n")
    found = answer("evaluate", models / "iris.mercer", "new.csv")
    assert found["scores"]["correct"] == 1
    assert any("mirabilis" in note for note in found["notes"])


def test_a_report_of_an_evaluation(models, mercer, tmp_path):
    code, out, _ = mercer("evaluate", models / "iris.mercer", models / "iris.csv", "--report", "r.html")
    assert (code, out) == (0, "r.html\n")
    assert "versicolor" in (tmp_path / "r.html").read_text()


def test_inspection_says_what_the_file_holds(models, answer, mercer):
    found = answer("inspect", models / "crossings.mercer")
    assert found["file"]["metadata"]["target"] == "late"
    assert found["classes"] == ["no", "yes"]
    assert found["columns"] == ["wind", "town", "note"]
    # An exact solution has a gap of zero, up to rounding on either side.
    assert -1e-12 <= found["certificate"]["relative_gap"] <= 1e-3
    _, out, err = mercer("inspect", models / "crossings.mercer")
    assert err == ""
    assert "(wind, town), spectrum (note)" in out
    assert "@[wind, town]" in found["kernel"]
    assert "support vectors" in out


def test_a_decision_is_explained_by_columns_that_add_up(models, answer):
    found = answer("inspect", models / "crossings.mercer", models / "crossings.csv", "--row", 3)
    (parts,) = found["contributions"].values()
    assert set(parts) == {"wind, town jointly", "note"}
    assert sum(parts.values()) + found["intercept"][0] == pytest.approx(found["decision"][0])


def test_a_row_that_is_not_there(models, mercer):
    code, _, err = mercer("inspect", models / "iris.mercer", models / "iris.csv", "--row", 150)
    assert code == ExitCode.BAD_DATA
    assert "--row must be from 0 to 149, got 150" in err


BAD_MODELS = {
    "not there": (None, "there is no model file"),
    "empty": (b"", "not a Mercer model file"),
    "text": (b"a,b\n1,2\n", "not a Mercer model file"),
}


@pytest.mark.parametrize(("content", "message"), BAD_MODELS.values(), ids=BAD_MODELS)
def test_a_file_that_is_no_model_exits_with_three(content, message, models, mercer, tmp_path):
    if content is not None:
        (tmp_path / "m.mercer").write_bytes(content)
    code, out, err = mercer("predict", "m.mercer", models / "iris.csv")
    assert (code, out) == (ExitCode.BAD_DATA, "")
    assert message in err


def test_a_truncated_model_exits_with_three(models, mercer, tmp_path):
    whole = (models / "iris.mercer").read_bytes()
    for end in (20, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.mercer").write_bytes(whole[:end])
        code, out, err = mercer("inspect", "cut.mercer")
        assert (code, out) == (ExitCode.BAD_DATA, "")
        assert err.startswith("mercer: cut.mercer")


# ------------------------------------------------------------------ convert


@pytest.fixture
def vectors(tmp_path, answer):
    """A model of plain rows, as other tools have them."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)
    features = [" ".join(f"{k + 1}:{value:.6f}" for k, value in enumerate(row)) for row in X]
    (tmp_path / "v.svm").write_text("".join(f"{label} {row}\n" for label, row in zip(y, features, strict=True)))
    answer("train", "v.svm", "--no-scale")
    return tmp_path / "v.mercer"


@pytest.mark.parametrize("kind", ["libsvm", "svmlight"])
def test_models_of_other_tools_decide_alike(kind, vectors, mercer, tmp_path):
    assert mercer("convert", vectors, f"v.{kind}")[:2] == (0, f"v.{kind}\n")
    assert mercer("convert", f"v.{kind}", "back.mercer")[0] == 0
    given, back = (mercer("predict", name, "v.svm", "--scores")[1] for name in ("v.mercer", "back.mercer"))
    values = [[float(list(row.values())[1]) for row in rows_of(text)] for text in (given, back)]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


def test_onnx_is_written_and_runs(models, mercer, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    assert mercer("convert", models / "iris.mercer", "iris.onnx")[0] == 0
    session = runtime.InferenceSession(str(tmp_path / "iris.onnx"))
    labels = session.run(["label"], {"X": np.array([[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]])})[0]
    assert list(labels) == ["setosa", "virginica"]


WRONG = {
    "unknown ending": (["{m}", "m.xyz"], 2, "must end in one of .mercer, .onnx"),
    "reading ONNX": (["x.onnx", "m.mercer"], 2, "ONNX models can be written but not read"),
    "no such kernel there": (["{c}", "m.libsvm"], 2, "LIBSVM"),
    "no model": (["none.mercer", "m.onnx"], 3, "there is no model file"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_converted(arguments, code, message, models, mercer, tmp_path):
    (tmp_path / "x.onnx").write_bytes(b"x")
    given = [each.format(m=models / "iris.mercer", c=models / "crossings.mercer") for each in arguments]
    found, out, err = mercer("convert", *given)
    assert (found, out) == (code, ""), err
    assert message in err


def test_labels_that_are_formulas_are_texts_in_a_spreadsheet(mercer, answer, tmp_path):
    """Only texts get an apostrophe: a label such as "-1" is a number wherever it is read, and stays one."""
    labels = ['=HYPERLINK("http://example.org")', "@sum", "-1", "plain"]
    rows = [[k + 10 * (k % 4), labels[k % 4]] for k in range(40)]
    with open(tmp_path / "d.csv", "w", newline="") as file:
        csv.writer(file).writerows([["x", "label"], *rows])
    assert (
        mercer("train", "d.csv", "--target", "label", "--C", "1000", "--holdout", "0", "--output", "m.mercer")[0] == 0
    )
    code, out, _ = mercer("predict", "m.mercer", "d.csv")
    assert code == 0
    shown = {line[0] for line in list(csv.reader(out.splitlines()))[1:]}
    known = set(answer("predict", "m.mercer", "d.csv")["prediction"])
    assert known <= set(labels)
    assert shown == {f"'{label}" if label[0] in "=@" else label for label in known}
    assert any(label.startswith("'=") for label in shown)


def test_limits_reach_what_reads_the_data(mercer, tmp_path):
    """A view without end, and a small file of much, in commands that fit and in those that do not."""
    with closing(sqlite3.connect(tmp_path / "d.sqlite")) as connection:
        connection.execute("CREATE TABLE t (x REAL, y TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(k, "ab"[k > 9]) for k in range(20)])
        endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT"
        connection.execute(f"CREATE VIEW rows AS {endless} n AS x, 'a' AS y FROM c")
        connection.execute(f"CREATE VIEW slow AS {endless} count(*) AS x, 'a' AS y FROM c")
        connection.commit()
    train = ("train", "d.sqlite", "--target", "y", "--output", "m.mercer")
    assert mercer(*train, "--table", "t")[0] == ExitCode.DONE
    for command in (train, ("predict", "m.mercer", "d.sqlite"), ("evaluate", "m.mercer", "d.sqlite"),
                    ("inspect", "m.mercer", "d.sqlite")):  # fmt: skip
        code, _, said = mercer(*command, "--table", "rows", "--memory-limit", "2MB")
        assert (code, "2,000,000 bytes of memory" in said) == (ExitCode.BAD_DATA, True)
        code, _, said = mercer(*command, "--table", "slow", "--time-limit", "0.2")
        assert (code, "no answer within 0.2 seconds" in said) == (ExitCode.BAD_DATA, True)
