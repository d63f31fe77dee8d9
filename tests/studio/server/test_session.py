"""Requests with numbers, the last of which wins; tabs that do not mix; work that ends with its tab."""

import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer._errors import DataError
from mercer.studio.server import session
from mercer.studio.server.messages import pack, unpack
from mercer.studio.server.quiet_warnings import expected_warnings_ignored
from mercer.studio.server.worker import Channel, Job

TOY = {"points": [[0, 0, 0], [2, 2, 0], [2, 0, 1], [3, 0, 1]], "method": "hard", "kernel": "linear"}


def test_a_frame_comes_back_as_it_was():
    field = np.arange(6.0).reshape(2, 3)
    header, arrays = unpack(pack({"é": [np.float64(1.5), np.inf, None]}, {"field": field, "empty": np.zeros(0)}))
    assert header["é"] == [1.5, None, None]
    np.testing.assert_array_equal(arrays["field"], field)
    assert len(arrays["empty"]) == 0


@pytest.mark.parametrize("text", ["", "a", "ab", "abc", "é"])
def test_arrays_begin_at_a_multiple_of_four_bytes(text):
    frame = pack({"text": text}, {"x": np.ones(3)})
    assert (4 + int.from_bytes(frame[:4], "little")) % 4 == 0


def test_the_toy_set_has_its_margin(open_tab):
    with open_tab() as tab:
        header, arrays = tab.ask("fit", **TOY)
    assert header["numbers"]["margin"] == pytest.approx(1 / np.sqrt(2), abs=1e-9)
    assert arrays["field"].shape == (72, 96)
    np.testing.assert_allclose(arrays["alpha"], [0.5, 0.5, 1.0, 0.0], atol=1e-6)


def test_answers_are_refined_when_things_rest(open_tab):
    with open_tab() as tab:
        tab.ask("fit", **TOY)
        header, arrays = tab.receive()
    assert header["refined"]
    assert arrays["field"].shape == (216, 288)


def test_twenty_quick_drags_end_on_the_last_state(open_tab):
    with open_tab() as tab:
        for k in range(20):
            points = [[0, 0, 0], [2, 2, 0], [2, 0, 1], [3 + k, 0, 1], [2.0 + 0.05 * k, -1, 1]]
            last = tab.send("fit", **{**TOY, "points": points})
        answers = []
        while not answers or not (answers[-1][0]["n"] == last and answers[-1][0].get("refined")):
            answers.append(tab.receive())
        numbers = [header["n"] for header, _ in answers]
        assert numbers == sorted(numbers)
        assert [header.get("refined", False) for header, _ in answers].count(True) == 1
        whole = [header for header, _ in answers if header["n"] == last and not header.get("refined")]
        alone, _ = tab.ask("fit", **{**TOY, "points": points})
        assert whole[0]["numbers"] == alone["numbers"]


def test_two_tabs_do_not_mix(open_tab):
    with open_tab() as one, open_tab() as other:
        assert one.hello["tab"] != other.hello["tab"]
        one.send("fit", **TOY)
        other.send("fit", **{**TOY, "points": [[2 * x, 2 * y, k] for x, y, k in TOY["points"]]})
        margins = [tab.receive()[0]["numbers"]["margin"] for tab in (one, other)]
    assert margins[1] == pytest.approx(2 * margins[0])


def test_a_tab_that_comes_back_finds_its_name_and_a_copy_of_it_does_not(open_tab):
    with open_tab("tab-number-one") as tab:
        assert tab.hello["tab"] == "tab-number-one"
        with open_tab("tab-number-one") as copy:
            assert copy.hello["tab"] != "tab-number-one"
    with open_tab("tab-number-one") as again:
        assert again.hello["tab"] == "tab-number-one"


def test_different_requests_of_a_tab_do_not_cancel_each_other(open_tab):
    with open_tab() as tab:
        numbers = {tab.send("fit", **TOY), tab.send("code", **TOY), tab.send("losses")}
        seen = set()
        while seen != numbers:
            header, _ = tab.receive()
            assert "error" not in header
            seen.add(header["n"])


# --- channels ------------------------------------------------------------------------------------


def gather():
    frames, got = [], threading.Event()

    def send(frame):
        frames.append(unpack(frame)[0])
        got.set()

    return frames, got, send


def test_a_newer_request_cancels_the_one_at_work():
    frames, _, send = gather()
    begun = threading.Event()

    def work(request, job):
        begun.set()
        while request["n"] == 1 and not job.is_cancelled_within(0.01):
            pass
        yield {"value": request["n"]}, {}

    channel = Channel("work", work, send, {})
    channel.ask({"n": 1})
    assert begun.wait(5)
    channel.ask({"n": 2})
    deadline = time.monotonic() + 5
    while not frames and time.monotonic() < deadline:
        time.sleep(0.005)
    channel.close()
    assert channel.join(5)
    assert [frame["value"] for frame in frames] == [2]


def test_stop_ends_the_work_and_its_answer_is_sent():
    frames, got, send = gather()
    begun = threading.Event()

    def work(_request, job):
        begun.set()
        while not job.watch(None):
            time.sleep(0.005)
        yield {"stopped": job.stopped}, {}

    channel = Channel("work", work, send, {})
    channel.ask({"n": 1})
    assert begun.wait(5)
    channel.stop()
    assert got.wait(5)
    channel.close()
    assert frames[0]["stopped"] is True


def test_stop_is_heard_by_a_request_that_has_not_begun():
    frames, got, send = gather()
    held = threading.Event()

    def work(request, job):
        if request["n"] == 1:
            held.wait(5)
        yield {"stopped": job.stopped}, {}

    channel = Channel("work", work, send, {})
    channel.ask({"n": 1})
    time.sleep(0.05)
    channel.ask({"n": 2})
    channel.stop()
    held.set()
    assert got.wait(5)
    channel.close()
    assert frames[-1]["n"] == 2
    assert frames[-1]["stopped"] is True


def test_closing_the_tab_stops_its_work(open_tab, monkeypatch):
    ended, begun = threading.Event(), threading.Event()

    def endless(_request, job):
        begun.set()
        while not job.is_cancelled_within(0.01):
            pass
        ended.set()
        yield {}, {}

    before = session.Session.__init__

    def with_endless(self, socket, actions, memory):
        before(self, socket, {**actions, "endless": endless}, memory)

    monkeypatch.setattr(session.Session, "__init__", with_endless)
    with open_tab() as tab:
        tab.send("endless")
        assert begun.wait(5)
        assert not ended.is_set()
    assert ended.wait(5)


@pytest.mark.parametrize(
    "error", [DataError("bad data"), ValueError("bad value"), ZeroDivisionError("none"), RuntimeError("odd")]
)
def test_whatever_goes_wrong_is_a_sentence_and_the_thread_goes_on(error, caplog):
    frames, _, send = gather()

    def work(request, _job):
        if request["n"] == 1:
            raise error
        yield {"fine": True}, {}

    channel = Channel("work", work, send, {})
    channel.ask({"n": 1})
    deadline = time.monotonic() + 5
    while len(frames) < 1 and time.monotonic() < deadline:
        time.sleep(0.005)
    channel.ask({"n": 2})
    while len(frames) < 2 and time.monotonic() < deadline:
        time.sleep(0.005)
    channel.close()
    assert str(error) in frames[0]["error"]
    assert frames[1]["fine"]


def test_a_job_says_whether_it_was_cancelled():
    job = Job()
    assert not job.watch(None)
    job.cancel()
    assert job.watch(None)
    assert job.is_cancelled_within(0.0)


def test_warnings_are_kept_quiet_by_several_threads_and_heard_again_after_the_last():
    def warn():
        warnings.warn("unfinished", ConvergenceWarning, stacklevel=1)

    inside, go = threading.Event(), threading.Event()

    def other():
        with expected_warnings_ignored():
            inside.set()
            go.wait(5)

    thread = threading.Thread(target=other)
    with expected_warnings_ignored():
        thread.start()
        assert inside.wait(5)
    warn()  # the other thread is still inside
    go.set()
    thread.join(5)
    with pytest.warns(ConvergenceWarning):
        warn()
