"""Work in another thread: whoever waits for it may leave, and hears what came of it otherwise."""

import threading
import time

import pytest

from mercer._jit.waiting import begin_force, end_force, is_any_apart, is_apart, run_apart


class Gone(Exception):
    pass


class Leaving:
    has_deadline = True

    def end_of_waiting(self):
        return Gone()


@pytest.fixture
def leaving():
    token = begin_force(Leaving())
    yield
    end_force(token)


def test_a_result_comes_back_from_another_thread():
    assert run_apart(lambda: (threading.get_ident(), is_apart()))[0] != threading.get_ident()
    assert run_apart(is_apart)
    assert not is_apart()


def test_an_error_is_raised_where_it_is_waited_for():
    def fail():
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        run_apart(fail)


def test_work_within_work_is_in_the_same_thread():
    assert run_apart(lambda: run_apart(threading.get_ident) == threading.get_ident())


@pytest.mark.usefixtures("leaving")
def test_whoever_waits_may_leave_and_the_work_goes_on():
    goes_on, done = threading.Event(), threading.Event()

    def work():
        goes_on.wait(60)
        done.set()

    with pytest.raises(Gone):
        run_apart(work)
    assert is_any_apart()
    goes_on.set()
    assert done.wait(60)
    while is_any_apart():
        time.sleep(0.001)


def test_without_room_for_a_thread_it_is_done_here(monkeypatch):
    monkeypatch.setattr("mercer._jit.waiting.room_for_a_thread", lambda: False)
    assert run_apart(threading.get_ident) == threading.get_ident()
    assert not is_apart()
