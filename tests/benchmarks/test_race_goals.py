"""Goals, the noise within which they count as reached, and the figures of other days."""

import json

import pytest

from benchmarks import history
from benchmarks.harness.entry import Entry, Result
from benchmarks.harness.goals import missed, noise
from benchmarks.harness.protocol import Timing
from benchmarks.races import linear


def result(*seconds):
    return Result(Timing(seconds), Timing(seconds), 10, 0.05, 5_000_000)


def entry(mercer, peer):
    return Entry("made", 100, 5, 1.0, 0.1, 2, {"mercer": mercer, "sklearn": peer})


def test_noise_is_how_far_the_second_best_repeats_lie_above_the_best():
    assert noise(entry(result(9.0, 1.3, 1.0), result(4.0, 4.0, 5.6))) == pytest.approx(0.5)


def test_a_cold_first_run_is_no_noise():
    assert noise(entry(result(1.0), result(4.0))) == 0.0
    assert noise(entry(result(2.0, 1.0), result(8.0, 4.0))) == 0.0


def test_a_goal_that_is_reached_leaves_nothing_to_say():
    assert missed([entry(result(1.0, 1.0), result(5.0, 5.0))], "fit") == []


def test_a_goal_within_the_noise_is_not_missed():
    quiet, noisy = entry(result(1.0, 1.0), result(3.8, 3.8)), entry(result(3.0, 1.0, 1.2), result(3.8, 3.8))
    assert len(missed([quiet], "fit")) == 1
    assert missed([noisy], "fit") == []


def test_the_row_below_the_least_is_named():
    rows = [entry(result(1.0, 1.0), result(9.0, 9.0)), entry(result(1.0, 1.0), result(1.5, 1.5))]
    (sentence,) = [each for each in missed(rows, "fit") if "made" in each]
    assert "made, C=1, gamma=0.1: 1.50, goal 2" in sentence


def test_a_win_with_a_worse_answer_is_no_win():
    worse = entry(Result(Timing((1.0,)), Timing((1.0,)), 10, 0.5, 1), result(9.0))
    assert any("no: error" in sentence for sentence in missed([worse], "fit"))


def report(seconds):
    row = {"data": "made", "n": 100, "C": 1.0, "gamma": 0.1, "results": {}}
    for name, value in {"mercer": seconds, "sklearn": 3.0}.items():
        row["results"][name] = {measure: {"seconds": [2 * value, value]} for measure in history.MEASURES}
    return {"race": "fit", "environment": {"processor": "One", "level": "x86-64-v3"}, "rows": [row]}


def test_history_names_what_got_slower_on_the_same_processor(tmp_path, capsys):
    file = tmp_path / "history.jsonl"
    for day, seconds in (("2026-01-01", 1.0), ("2026-01-02", 2.0), ("2026-01-03", 1.05)):
        history.add(file, report(seconds), day)
    assert history.show(history.read(file)) == []
    (tmp_path / "race.json").write_text(json.dumps(report(1.5)))
    assert history.main([str(tmp_path / "race.json"), "--file", str(file)]) == 1
    assert "slower  made n=100 C=1 gamma=0.1, fit: 1.50 s, was 1.00 s" in capsys.readouterr().out


def test_another_processor_is_another_story(tmp_path):
    file = tmp_path / "history.jsonl"
    history.add(file, report(1.0), "2026-01-01")
    other = report(5.0)
    other["environment"]["processor"] = "Two"
    history.add(file, other, "2026-01-02")
    assert history.show(history.read(file)) == []


def test_a_prediction_far_above_its_floor_misses_the_goal():
    slow, fast = (entry(result(1.0, 1.0), result(9.0, 9.0)) for _ in range(2))
    slow.floors, fast.floors = {"predict": 0.5}, {"predict": 0.9}
    (sentence,) = missed([slow, fast], "predict", "predict")
    assert "2.00 of the floor, goal 1.25" in sentence


def linear_row(entries, peer, noise=0.0):
    row = {"data": "made", "n": 100, "loss": "hinge", "entries": entries, "mercer s": 1.0, "sklearn s": peer}
    return row | {"mercer noise": 0.0, "sklearn noise": noise}


def test_linear_machines_have_a_higher_goal_where_entries_are_many():
    assert linear._missed([linear_row(1000, 1.5), linear_row(100_000, 2.1), linear_row(100_000, 1.9, 0.2)]) == []
    (sentence,) = linear._missed([linear_row(100_000, 1.5)])
    assert sentence == "linear: made, hinge: 1.50 times sklearn, goal 2; noise 0 %"


def test_history_keeps_linear_machines_and_searches_too():
    search = {"data": "made", "n": 100, "mercer": {"clock": 2.0}, "liquidSVM": {"clock": 5.0}}
    kept = report(1.0) | {"rows": [linear_row(1000, 1.5), search]}
    told = history.figures(kept, "2026-01-01")
    found = [tuple(each[key] for key in ("row", "measure", "mercer", "peer")) for each in told]
    assert found == [("made n=100 hinge", "fit", 1.0, 1.5), ("made n=100", "search", 2.0, 5.0)]
