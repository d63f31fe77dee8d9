import math
import os
import signal
import threading
import time

import pytest

from mercer import TimeLimitError
from mercer._jit.threads import Stopped
from mercer.solvers import limits as limits_module
from mercer.solvers.limits import SLICE_SECONDS, Limits, holding_interrupts
from mercer.solvers.result import Status, TracePoint

POINT = TracePoint(0.0, 1, 1.0, 0.0, 1, 1)


@pytest.fixture
def default_handler():
    """As in a plain program; whoever runs the tests may have set another."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def test_nothing_is_limited_by_default():
    limits = Limits()
    assert limits.reached() is None
    assert not limits.stop()
    assert limits.iterations_left(10**15) > 10**15


def test_iterations_are_counted_to_the_last():
    limits = Limits(max_iter=10)
    assert [limits.iterations_left(done) for done in (0, 9, 10)] == [10, 1, 0]


def test_what_is_left_of_the_iterations_is_never_no_limit():
    assert Limits(max_iter=5).after(3).max_iter == 2
    assert Limits(max_iter=5).after(7).max_iter == 0
    assert Limits(max_iter=0).after(0).max_iter == 0
    assert Limits().after(7).max_iter < 0
    assert Limits(max_iter=5).at_most(3).max_iter == 3
    assert Limits(max_iter=5).at_most(9).max_iter == 5
    assert Limits(max_iter=0).at_most(9).max_iter == 0
    assert Limits().at_most(9).max_iter == 9


def test_time_runs_from_the_beginning():
    limits = Limits(time_limit=0.05)
    assert limits.reached() is None
    time.sleep(0.06)
    assert limits.seconds >= 0.06
    assert limits.reached() is Status.TIME_LIMIT
    assert limits.stop()


def test_a_callback_that_answers_true_interrupts():
    seen = []
    limits = Limits(callbacks=[seen.append, lambda point: point.iterations >= 2])
    limits.report(POINT)
    assert limits.reached() is None
    limits.report(TracePoint(0.0, 2, 1.0, 0.0, 1, 1))
    assert limits.reached() is Status.INTERRUPTED
    assert [point.iterations for point in seen] == [1, 2]


def test_an_error_in_a_callback_is_the_users_to_see():
    def failing(point):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Limits(callbacks=[failing]).report(POINT)


def test_an_interruption_outranks_the_clock():
    limits = Limits(time_limit=1e-9, callbacks=[lambda _: True])
    limits.report(POINT)
    assert limits.reached() is Status.INTERRUPTED


@pytest.mark.usefixtures("default_handler")
def test_the_first_ctrl_c_is_remembered_and_the_second_raises():
    limits = Limits()
    with limits.in_force():
        press_ctrl_c()
        assert limits.reached() is Status.INTERRUPTED
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("default_handler")
def test_the_handler_is_put_back_after_an_error():
    def fail():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Limits().in_force():
        fail()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_application_with_a_handler_of_its_own_keeps_it():
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        limits = Limits()
        with limits.in_force():
            press_ctrl_c()
        assert pressed == [1]
        assert limits.reached() is None
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_handler")
def test_a_thread_leaves_signals_alone():
    found = []

    def body():
        with Limits().in_force():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


def test_seconds_begin_at_zero():
    assert 0.0 <= Limits().seconds < 1.0


def test_a_slice_is_short_enough_for_ctrl_c():
    assert SLICE_SECONDS <= 0.1


def test_callbacks_see_how_many_problems_are_solved():
    seen = []
    Limits(callbacks=[seen.append]).report_solved(3, 5)
    (point,) = seen
    assert (point.stage, point.working_set, point.active) == ("problems", 3, 5)
    assert (point.iterations, point.violation, point.dual) == (0, 0.0, 0.0)


def test_callbacks_see_a_kernel_matrix_in_the_making_after_some_silence(monkeypatch):
    seen = []
    limits = Limits(callbacks=[seen.append])
    assert not limits.stop(share=0.25)
    assert not seen
    monkeypatch.setattr(limits_module, "SILENCE_SECONDS", 0.0)
    assert not limits.stop(share=0.25)
    (point,) = seen
    assert (point.stage, point.working_set, point.active) == ("kernel", 25, 100)
    assert (point.iterations, point.violation, point.dual) == (0, math.inf, 0.0)


def held(done, has_model, presses, error=None):
    """Press Ctrl-C so many times while interrupts are held, then note that the file is written."""
    holding = holding_interrupts()
    with holding:
        holding.has_model = has_model
        for _ in range(presses):
            press_ctrl_c()
        if error:
            raise error
        done.append("written")


@pytest.mark.usefixtures("default_handler")
@pytest.mark.parametrize(("has_model", "presses", "expected"), [(True, 1, ["written"]), (True, 2, []), (False, 1, [])])
def test_ctrl_c_waits_for_the_file_of_a_model_that_is_there_and_a_second_one_does_not(has_model, presses, expected):
    done = []
    with pytest.raises(KeyboardInterrupt):
        held(done, has_model, presses)
    assert done == expected
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("default_handler")
def test_nobody_presses_and_nothing_is_raised_but_errors():
    done = []
    held(done, False, 0)
    assert done == ["written"]
    with pytest.raises(ZeroDivisionError):
        held(done, True, 1, ZeroDivisionError())


def test_after_a_held_interrupt_the_handler_is_the_old_one():
    before = signal.getsignal(signal.SIGINT)
    with holding_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_waiting_ends_with_an_error_before_there_is_a_model_and_quietly_after():
    limits = Limits(time_limit=0.0)
    assert isinstance(limits.end_of_waiting(), TimeLimitError)
    limits._so_far.has_begun = True
    assert isinstance(limits.end_of_waiting(), Stopped)
    assert limits.stop()  # and so a solver has been told
    assert limits.end_of_waiting() is None
    assert Limits().end_of_waiting() is None
