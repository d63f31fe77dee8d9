"""A contestant in its own process, on a set that takes milliseconds."""

import json

import pytest

from benchmarks.harness.entry import Plan, run_entry
from benchmarks.harness.peers import LIBSVM, Contestant
from benchmarks.harness.resident import peak_bytes, reset_peak, resident_bytes
from benchmarks.harness.worker import Worker, WorkerError
from benchmarks.race import main, parse

ABSENT = Contestant("absent", "no_such_package_here", "float32")


def test_a_row_is_timed_judged_and_predicted():
    row = run_entry("breast_cancer:100", 1, 0.03, [LIBSVM], Plan(fits=2, predictions=1, in_a_row=2))
    found = row.results["sklearn"]
    assert len(found.fit.seconds) == 4
    assert (row.n, row.d) == (100, 30)
    assert found.error < 0.15
    assert 0 <= found.optimality.relative_gap < 1e-2
    assert found.peak_bytes > 1e7


def test_a_missing_contestant_fails_alone_and_with_its_name():
    assert not ABSENT.is_installed()
    with (
        Worker(ABSENT, "breast_cancer:50") as worker,
        pytest.raises(WorkerError, match="No module named 'no_such_package_here'"),
    ):
        worker.ready()


def test_only_methods_of_the_bench_can_be_called():
    with Worker(LIBSVM, "breast_cancer:50") as worker, pytest.raises(AttributeError):
        worker.juggle()


def test_peak_is_at_least_what_is_resident():
    reset_peak()
    assert 0 < resident_bytes() <= peak_bytes() * 1.01


def test_options():
    options = parse(["fit", "--peers", "sklearn", "--sets", "digits"])
    assert (options.peers, options.peers_named, options.repeats) == (["sklearn"], True, 3)
    assert parse(["growth"]).peers == ["sklearn", "intelex"]
    with pytest.raises(SystemExit):
        parse(["fit", "--repeats", "0"])


def test_a_race_from_the_command_line_keeps_its_figures(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.races.grid.contestants", lambda names: [LIBSVM])
    file = tmp_path / "race.json"
    main(["fit", "--sets", "breast_cancer:60", "--settings", "1", "--repeats", "1", "--json", str(file)])
    (row,) = json.loads(file.read_text())["rows"]
    assert row["results"]["sklearn"]["n_support"] > 0
    assert "breast_cancer:60  n=60 d=30 C=1" in capsys.readouterr().out
