"""One run over data that were read: held out, fitted while somebody watches, saved, scored, reported."""

import io
from contextlib import contextmanager

import numpy as np
import pytest

import mercer
from mercer import DataError, ParameterError
from mercer.io import read_table
from mercer.workflow.assemble import assemble
from mercer.workflow.run import Run, cross_validated, machine_and_rows
from mercer.workflow.tune import Tuning, Wanted

ROWS = "x,z,town,kind\n" + "".join(
    f"{k % 10},{(7 * k) % 5},{'Ulm' if k % 3 else 'Bonn'},{'high' if k % 10 > 4 else 'low'}\n" for k in range(60)
)


@pytest.fixture
def data():
    return read_table(io.BytesIO(ROWS.encode()), target="kind")


def test_a_run_goes_from_data_to_a_model_that_is_scored_saved_and_shown(data, tmp_path):
    run = Run(data, assemble(data), holdout=0.25, seconds={"read": 0.5})
    run.fit()
    run.save(tmp_path / "m.mercer")
    run.score()
    run.write_report(tmp_path / "r.html")
    assert (len(run.learnt), len(run.held)) == (45, 15)
    assert np.array_equal(np.sort(np.concatenate([run.learnt, run.held])), np.arange(60))
    assert run.record.scores["how"] == "held out"
    assert run.record.scores["correct"] == np.sum(run.predicted == run.assembly.y[run.held])
    assert list(run.record.seconds) == ["read", "fit", "save", "score"]
    assert set(run.record.files) == {"model", "report"}
    loaded = mercer.load(tmp_path / "m.mercer")
    assert np.array_equal(loaded.predict(run.rows(run.held)[0]), run.predicted)


def test_who_watches_is_called_and_is_no_part_of_the_model(data):
    seen = []

    @contextmanager
    def watch(machine, rows):
        seen.append((type(machine).__name__, rows))
        yield seen.append

    run = Run(data, assemble(data), holdout=0)
    run.fit(watch)
    assert seen[0] == ("SVC", 60)
    assert len(seen) > 1
    assert run.model.callbacks is None


def test_a_true_answer_of_who_watches_ends_the_fit(rng):
    # Three classes are three problems, and who watches is asked before the first. The problem of two classes may be
    # solved in its first round, so that an answer comes too late to end anything.
    X = rng.normal(size=(60, 4))
    lines = ["a,b,c,d,y", *(",".join([*map(str, row), "uvw"[k % 3]]) for k, row in enumerate(X))]
    noise = read_table(io.BytesIO("\n".join(lines).encode()), target="y")

    @contextmanager
    def watching(answer):
        yield lambda _: answer

    run = Run(noise, assemble(noise, C=1e4))
    with pytest.warns(Warning, match="INTERRUPTED"):
        run.fit(lambda *_: watching(True))
    assert run.status == "INTERRUPTED"
    run.fit(lambda *_: watching(False))
    assert run.status == "OPTIMAL"


def test_folds_score_every_row_by_a_model_that_had_not_seen_it(data):
    run = Run(data, assemble(data), holdout=0)
    run.fit()
    run.score(folds=3)
    predicted, each, area = cross_validated(run.assembly, 3, 0)
    assert run.record.scores["area_under_curve"] == area
    assert run.record.scores["rows"] == 60
    assert run.record.scores["folds"] == each
    assert run.record.scores["accuracy"] == pytest.approx(np.mean(predicted == run.assembly.y))


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_a_share_that_is_none_is_refused(data, share):
    with pytest.raises(ParameterError, match="holdout must be at least 0 and below 1"):
        Run(data, assemble(data), holdout=share)


def test_of_three_rows_none_can_be_held_out(data):
    few = data.rows(np.array([0, 5, 6]))
    with pytest.raises(DataError, match="only 3 rows, too few to hold any out; with a holdout of 0"):
        Run(few, assemble(few))
    assert len(Run(few, assemble(few), holdout=0).learnt) == 3


def test_folds_are_from_two_to_the_number_of_rows(data):
    with pytest.raises(ParameterError, match="folds must be from 2 to the number of rows, 60, got 61"):
        cross_validated(assemble(data), 61, 0)


def test_the_machine_alone_takes_rows_that_are_scaled_and_can_be_chosen(data):
    machine, rows = machine_and_rows(assemble(data).estimator, data.data)
    assert rows[0] == {"x": 0, "z": 0, "town": "Bonn"}
    assert machine.fit(rows, data.target).score(rows, data.target) == 1.0
    numbers = data.with_columns(["x", "z"])
    _, scaled = machine_and_rows(assemble(numbers, "rbf").estimator, numbers.data)
    assert scaled.mean(axis=0) == pytest.approx([0.0, 0.0])


def test_a_search_stands_in_the_place_of_the_fit(data):
    numbers = data.with_columns(["x", "z"])
    run = Tuning(numbers, assemble(numbers, "rbf"), Wanted(3, Cs=[0.1, 10.0], gammas=2), holdout=0.2)
    run.fit()
    run.score()
    assert run.model[-1].C in (0.1, 10.0)
    assert run.record.notes[-2].startswith("chosen from 4 settings in 3 folds: C = ")
    assert "corrected for the luck" in run.record.notes[-1]
    assert run.record.scores["accuracy"] > 0.8


def test_a_search_of_a_quantity_counts_C_in_its_deviation():
    text = "x,y\n" + "".join(f"{k / 10},{1000 * np.sin(k / 10):.3f}\n" for k in range(60))
    data = read_table(io.BytesIO(text.encode()), target="y")
    assembly = assemble(data, "rbf", C=7.0)
    run = Tuning(data, assembly, Wanted(3, Cs=[1.0], gammas=0), holdout=0)
    run.fit()
    assert run.model[-1].C == assembly.unit == pytest.approx(np.std(data.target))


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_a_column_that_gives_the_target_away_is_named(rng, kind):
    values = rng.normal(size=80) if kind == "regression" else 2.0 * rng.integers(0, 2, size=80) + 5.0
    target = np.round(3.0 * values + 1.0, 4) if kind == "regression" else np.where(values > 6.0, "high", "low")
    rows = "x,copy,y\n" + "".join(f"{k % 9},{values[k]:.4f},{target[k]}\n" for k in range(80))
    data = read_table(io.BytesIO(rows.encode()), target="y")
    run = Run(data, assemble(data, task=kind))
    run.fit()
    run.score()
    (said,) = [note for note in run.record.notes if "alone" in note]
    assert said.startswith("'copy' alone predicts the target")
    assert said.endswith("leave it out (--drop)")
