"""Ratios, and when a win counts."""

import pytest

from benchmarks.harness.entry import WITH_SUMS, Entry, Result, as_record
from benchmarks.harness.objective import Optimality
from benchmarks.harness.protocol import Timing
from benchmarks.harness.report import print_entry, print_summary, table
from benchmarks.harness.verdict import geometric_mean, summary, verdict


def result(seconds, primal=100.0, error=0.05):
    timing = Timing((2 * seconds, seconds))
    return Result(timing, timing, 10, error, 5_000_000, optimality=Optimality(primal, primal - 0.01, 0.0, 0.0))


def entry(mercer, **peers):
    return Entry("made", 100, 5, 1.0, 0.1, 2, {"mercer": mercer, **peers}, floors={"fit": 0.1})


def test_the_ratio_is_to_the_fastest_peer():
    found = verdict(entry(result(1.0), sklearn=result(6.0), intelex=result(3.0)))
    assert (found.peer, found.ratio, found.counts) == ("intelex", 3.0, "yes")


@pytest.mark.parametrize(
    ("primal", "error", "counts"),
    [
        (99.0, 0.04, "yes"),
        (100.005, 0.05, "yes"),
        (100.05, 0.05, "tol"),
        (100.2, 0.05, "no: objective"),
        (100.0, 0.0515, "yes"),
        (100.0, 0.053, "no: error"),
    ],
)
def test_when_a_win_counts(primal, error, counts):
    assert verdict(entry(result(1.0, primal, error), sklearn=result(2.0))).counts == counts


def test_the_best_objective_of_any_peer_is_the_measure():
    found = verdict(entry(result(1.0, 100.0), sklearn=result(9.0, 99.0), intelex=result(3.0, 100.0)))
    assert found.counts == "no: objective"


def test_nobody_to_compare_with():
    assert verdict(entry(result(1.0))) is None
    assert "nothing to compare" in summary([None])


def test_geometric_mean_of_inverses_is_one():
    assert geometric_mean([0.25, 4.0]) == pytest.approx(1.0)


def test_summary_names_mean_and_minimum():
    rows = [entry(result(1.0), sklearn=result(2.0)), entry(result(1.0), sklearn=result(8.0))]
    assert "geometric mean 4.00, minimum 2.00; 2 of 2" in summary([verdict(row) for row in rows])


def test_a_report_shows_every_contestant_and_the_floor(capsys):
    row = entry(result(1.0), sklearn=result(2.0))
    print_entry(row)
    print_summary([row], "fit")
    text = capsys.readouterr().out
    assert "sklearn" in text
    assert "fit / floor = 10.00" in text


def test_predictions_are_compared_with_the_larger_floor_too(capsys):
    row = entry(result(1.0), sklearn=result(2.0))
    taken = row.results["mercer"].predict.best
    row.floors = {"predict": taken / 3.0, WITH_SUMS: taken / 1.5}
    print_summary([row], "predict")
    heading, line = (text for text in capsys.readouterr().out.splitlines() if text.startswith(("data", "made")))
    assert heading.endswith("predict/floor  with sums")
    assert line.split()[-2:] == ["3.00", "1.50"]


def test_table_aligns_columns():
    assert table(("a", "b"), [("xx", 1), ("y", 22)]).splitlines() == ["a    b", "xx   1", "y   22"]


def test_a_record_holds_the_gap():
    record = as_record(entry(result(1.0)))
    assert record["results"]["mercer"]["optimality"]["gap"] == pytest.approx(0.01)
