"""Work that cannot be interrupted goes to another thread, and whoever waits for it may leave.

A call into the compiler takes seconds and cannot be interrupted. So it runs in a thread of its own,
while the thread that needs the result checks every few hundredths of a second whether a limit in
force here is over, or Ctrl-C was pressed (which Python notices in the main thread, only between two
steps of its own). Work that has been left continues to its end, and its result is kept.
"""

import contextvars
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from mercer._jit.memory import room_for_a_thread

PATIENCE_SECONDS = 0.03


class Ends(Protocol):
    """Who may end the work of this thread."""

    @property
    def has_deadline(self) -> bool:
        """Whether time ends it."""

    @property
    def seconds(self) -> float:
        """Time since it began."""

    def is_over(self) -> bool:
        """Whether the end has come; whoever asks leaves work undone that may be."""

    def stop(self) -> bool:
        """Whether to stop now."""

    def reached(self) -> Any:
        """The status that ends the work now, or None."""

    def raising_at_once(self) -> AbstractContextManager[None]:
        """In the body, Ctrl-C is raised where it is met."""

    def end_of_waiting(self) -> BaseException | None:
        """The error with which to leave now, or None."""


_in_force: contextvars.ContextVar[Ends | None] = contextvars.ContextVar("mercer_limits", default=None)
_here = threading.local()
_running: set["_Task"] = set()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)


def is_apart() -> bool:
    """Whether this thread does such work."""
    return getattr(_here, "is_apart", False)


def is_any_apart() -> bool:
    """Whether there is such work at the moment: waited for, or left to itself."""
    return bool(_running)


def ends_in_force() -> Ends | None:
    """The limits of the fit that this thread works for."""
    return _in_force.get()


def begin_force(ends: Ends) -> contextvars.Token[Ends | None]:
    """Let `ends` decide for how long this thread, and those that work for it, wait from now on."""
    return _in_force.set(ends)


def end_force(token: contextvars.Token[Ends | None]) -> None:
    """As it was before `begin_force`."""
    _in_force.reset(token)


def run_apart(work: Callable[[], Any], leave: Callable[[], BaseException | None] | None = None) -> Any:
    """``work()`` in another thread, until `leave` has an error to leave with; by default the limits in force.

    Work that itself asks for this is already apart. Without room for a thread it is done here.
    """
    if is_apart():
        return work()
    task = _Task(work)
    try:
        if not room_for_a_thread():
            raise RuntimeError
        # Not a daemon: ended by the interpreter in the middle of a library's call, a process may crash.
        threading.Thread(target=task.run, name="mercer-apart").start()
    except RuntimeError:  # as Python says when there can be no more threads
        task.run()
    return task.wait(leave or _end_of_patience)


def _end_of_patience() -> BaseException | None:
    ends = _in_force.get()
    return None if ends is None else ends.end_of_waiting()


class _Task:
    def __init__(self, work: Callable[[], Any]) -> None:
        self._work, self._is_done = work, threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        _here.is_apart = True
        _running.add(self)
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._error = error
        finally:
            _running.discard(self)
            _here.is_apart = False
            self._is_done.set()

    def wait(self, leave: Callable[[], BaseException | None]) -> Any:
        while not self._is_done.wait(PATIENCE_SECONDS):
            reason = leave()
            if reason is not None:
                raise reason
        if self._error is not None:
            raise self._error
        return self._result
