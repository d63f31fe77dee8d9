"""A value computed once: kept, by name, and with no lock that a forked child would wait for."""

import os
import threading

import pytest

from mercer._jit.once import computed_once


class Counted:
    def __init__(self):
        self.calls, self.begun, self.go_on = 0, threading.Event(), threading.Event()

    @computed_once
    def value(self):
        """What is asked for."""
        self.calls += 1
        return [self.calls]

    @computed_once
    def slow(self):
        self.begun.set()
        assert self.go_on.wait(60)
        return 1


def test_it_is_computed_when_asked_for_and_then_kept():
    counted = Counted()
    assert "value" not in vars(counted)
    assert counted.value is counted.value
    assert vars(counted)["value"] == [1]
    assert Counted.value.__doc__ == "What is asked for."


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forking is a way of Unix")
def test_a_child_forked_while_another_thread_computes_waits_for_nobody():
    first, second = Counted(), Counted()
    second.go_on.set()
    thread = threading.Thread(target=lambda: first.slow)
    thread.start()
    assert first.begun.wait(60)
    child = os.fork()
    if child == 0:
        threading.Timer(30, os._exit, (1,)).start()
        os._exit(0 if second.slow == 1 else 2)
    first.go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
