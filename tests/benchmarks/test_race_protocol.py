"""Turns, caps and failures, with runners that only pretend to take time."""

from benchmarks.harness.protocol import Timing, alternate
from benchmarks.harness.worker import WorkerError


def recording(log, name, seconds):
    def run():
        log.append(name)
        return [seconds]

    return run


def test_contestants_alternate_and_take_turns_at_being_first():
    log = []
    alternate({"a": recording(log, "a", 1.0), "b": recording(log, "b", 1.0)}, repeats=3)
    assert log == ["a", "b", "b", "a", "a", "b"]


def test_a_slow_contestant_runs_once():
    log = []
    found = alternate({"slow": recording(log, "slow", 61.0), "fast": recording(log, "fast", 1.0)}, repeats=3, cap=60)
    assert log.count("slow") == 1
    assert log.count("fast") == 3
    assert found["slow"].best == 61.0


def test_the_minimum_counts_and_the_first_is_kept():
    timing = Timing((3.0, 1.0, 2.0))
    assert (timing.best, timing.first) == (1.0, 3.0)


def test_several_runs_in_a_turn_are_all_kept():
    found = alternate({"a": lambda: [2.0, 1.0]}, repeats=2)
    assert found["a"].seconds == (2.0, 1.0, 2.0, 1.0)


def test_a_contestant_that_fails_leaves_the_race(capsys):
    def broken():
        raise WorkerError("b: Traceback\nValueError: no such kernel")

    found = alternate({"a": lambda: [1.0], "b": broken}, repeats=3)
    assert list(found) == ["a"]
    assert "b failed: ValueError: no such kernel" in capsys.readouterr().out
