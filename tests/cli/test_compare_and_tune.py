import json
import math
import subprocess
import sys

import pytest

import mercer as library
from mercer.cli import COMMANDS, app
from mercer.cli.terminal.progress import FitBar, shown_progress
from mercer.estimators.fitting.pace import Pace
from mercer.solvers.result import TracePoint
from mercer.workflow.run import watched


def test_solvers_are_set_side_by_side(files, answer, mercer):
    found = answer("compare", files / "crossings.csv", "--target", "late", "--solver", "smo", "--solver", "qp")
    assert [row["solver"] for row in found["solvers"]] == ["smo", "qp"]
    assert found["spread"] < 1e-2
    _, out, err = mercer("compare", files / "iris.csv", "--target", "species", "--solver", "smo", "--repeats", 1)
    assert "spread of objectives" in out
    assert "numbers           sl, sw, pl, pw" in err


def test_an_unknown_solver_is_wrong_usage(files, mercer):
    code, _, err = mercer("compare", files / "iris.csv", "--target", "species", "--solver", "smoo")
    assert code == 2
    assert "--solver must be one of auto, smo" in err


def test_tuning_finds_the_better_kernel_and_saves_it(files, answer, tmp_path):
    found = answer("tune", files / "iris.csv", "--target", "species", "--C", 1, "--C", 10, "--gammas", 2, "--cv", 3)
    assert found["scores"]["accuracy"] > 0.9
    (note,) = (note for note in found["notes"] if note.startswith("chosen from 2 settings in 3 folds"))
    assert "C = " in note
    assert library.load(tmp_path / "iris.mercer").C in (1, 10)


def test_tuning_a_mixed_table_and_a_quantity(files, answer, mercer):
    found = answer("tune", files / "crossings.csv", "--target", "late", "--C", 0.5, "--C", 5, "--cv", 3)
    assert found["scores"]["accuracy"] > 0.7
    assert mercer("predict", "crossings.mercer", files / "crossings.csv")[0] == 0
    found = answer("tune", files / "prices.csv", "--target", "price", "--C", 1, "--C", 10, "--gammas", 2, "--cv", 3)
    assert found["scores"]["r2"] > 0.9


# ------------------------------------------------------------------ the command as a whole


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_its_options(shell):
    script = app.generate_completion(shell=shell)
    for name in COMMANDS:
        assert name in script
    assert "memory-limit" in script
    assert "holdout" in script


def test_help_loads_nothing_that_is_slow():
    code = (
        "import sys\nfrom mercer.cli import run\nrun(['--help'])\n"
        "print([m for m in ('numpy', 'numba', 'sklearn', 'scipy', 'pyarrow', 'markdown_it') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_who_reads_may_stop_reading(files):
    code = "import sys; from mercer.cli import main; sys.argv = ['mercer', 'version']; main()"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=600) == 0
    assert b"Traceback" not in error


# ------------------------------------------------------------------ progress


class Bar:
    def __init__(self):
        self.said = []

    def update(self, _task, *, completed, description):
        self.said.append((completed, description))


def shown(*points, **options):
    bar = Bar()
    watcher = FitBar(bar, 0, Pace(1e-3, **options))
    assert not any(watcher(point) for point in points)
    return bar.said


def test_the_bar_moves_with_the_logarithm_of_the_violation():
    violations = (1.0, 1e-1, 1e-2, 5e-2)
    said = shown(*(TracePoint(3.0, 1, violation, -3.5, 10, 10, gap=violation**2) for violation in violations))
    assert [round(done) for done, _ in said] == [0, 33, 67, 67]
    assert [words for _, words in said] == [
        "gap 1.0e+00, time left unknown",
        "gap 1.0e-02, 6.0 s left",
        "gap 1.0e-04, 1.5 s left",
        "gap 2.5e-03, 1.5 s left",
    ]


def test_a_time_limit_bounds_the_time_left():
    point = TracePoint(3.0, 1, 1.0, 0.0, 10, 10)
    assert shown(point, time_limit=20.0) == [(0.0, "violation 1.0e+00, 17 s left")]


def test_the_bar_shows_the_kernel_matrix_and_counts_problems():
    said = shown(
        TracePoint(1.0, 0, math.inf, 0.0, 40, 100, "kernel"),
        TracePoint(2.0, 5, 1.0, 1.0, 9, 9, gap=0.5),
        TracePoint(3.0, 0, 0.0, 0.0, 1, 4, "problems"),
        TracePoint(4.0, 5, 1.0, 1.0, 9, 9, gap=0.25),
    )
    assert said == [
        (0.0, "kernel matrix 40%, time left unknown"),
        (0.0, "gap 5.0e-01, time left unknown"),
        (25.0, "gap 5.0e-01, 1 of 4 problems solved, 9.0 s left"),
        (25.0, "gap 2.5e-01, 1 of 4 problems solved, 12 s left"),
    ]


def test_no_bar_unless_somebody_looks(monkeypatch):
    model = library.SVC()
    with watched(model, 10**6, shown_progress):
        assert model.callbacks is None


def test_who_watched_a_fit_is_no_part_of_the_model(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    model = library.SVC()
    with watched(model, 10**6, shown_progress):
        (watcher,) = model.callbacks
        assert isinstance(watcher, FitBar)
    assert model.callbacks is None


def test_json_is_one_object(files, mercer):
    _, out, _ = mercer("train", files / "iris.csv", "--target", "species", "--json")
    assert json.loads(out)["version"] == library.__version__


def test_preflight_predicts_and_advises(files, answer, mercer):
    for name, target in (("iris", "species"), ("crossings", "late")):
        found = answer("preflight", files / f"{name}.csv", "--target", target, "--seconds", 0.2)
        assert found["n_rows"] in (120, 150)
        assert found["seconds"] > 0
        assert found["advice"] == "exact"
    _, out, err = mercer("preflight", files / "iris.csv", "--target", "species", "--seconds", 0.2)
    assert "advice: exact" in out
    assert "numbers           sl, sw, pl, pw" in err
