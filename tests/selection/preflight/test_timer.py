"""What work takes by itself, on a machine that has other work."""

import time

import pytest

from mercer.selection.preflight import timer as core_time
from mercer.selection.preflight.timer import CoreTimer


def test_time_that_the_thread_waited_for_a_core_is_left_out(monkeypatch):
    waits = iter([5.0, 5.04])
    monkeypatch.setattr(core_time, "_waited", lambda: next(waits))
    timer = CoreTimer()
    time.sleep(0.05)
    took, left_out = timer.seconds()
    assert left_out == pytest.approx(0.04)
    assert took >= 0.009


def test_what_the_thread_has_used_it_has_not_waited(monkeypatch):
    waits = iter([5.0, 65.0])
    monkeypatch.setattr(core_time, "_waited", lambda: next(waits))
    timer, begin = CoreTimer(), time.thread_time()
    while time.thread_time() - begin < 0.02:
        pass
    assert timer.seconds()[0] >= 0.02


def test_waiting_for_anything_else_counts():
    timer = CoreTimer()
    time.sleep(0.03)
    assert timer.seconds()[0] >= 0.029


@pytest.mark.parametrize("text", [None, "", "1", "one two three"])
def test_where_the_system_does_not_tell_the_clock_counts(monkeypatch, tmp_path, text):
    if text is not None:
        (tmp_path / "schedstat").write_text(text)
    monkeypatch.setattr(core_time, "_OWN", tmp_path / "schedstat")
    timer = CoreTimer()
    time.sleep(0.02)
    took, waited = timer.seconds()
    assert waited == 0.0
    assert took >= 0.02
