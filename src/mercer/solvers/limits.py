"""Limits of time and iterations, callbacks and Ctrl-C, all in one place.

A solver works in slices of at most 100 ms and consults `Limits` between them. While limits are in
force, Ctrl-C sets a flag instead of raising in the middle of an update, so the best model is
always intact; a second Ctrl-C raises KeyboardInterrupt as usual.

Work that cannot be sliced is waited for (`mercer._jit.waiting`, `mercer.solvers.other_process`).
If a limit expires meanwhile, the wait ends: with the solver's current state, once it has taken a
step, and with an error before. A solver that has been told to stop finishes up, and this
is waited for if there is a model to lose.
"""

# Its `signal` has no enumeration in which `signal.signal` looks for every handler, 4 microseconds each time.
import _signal  # type: ignore[import-not-found]
import copy
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from mercer._errors import CancelledError, TimeLimitError
from mercer._jit.compile import where_code_is_kept
from mercer._jit.threads import Stopped
from mercer._jit.waiting import begin_force, end_force, ends_in_force
from mercer.solvers.result import Status, TracePoint

if TYPE_CHECKING:
    from mercer.solvers._types import Handler

SLICE_SECONDS = 0.05
# Longest time without a report while a kernel matrix is computed.
SILENCE_SECONDS = 0.5


class _SoFar:
    """The events of a fit so far, shared by copies of its limits."""

    def __init__(self, begin: float) -> None:
        self.is_pressed = False  # Ctrl-C
        self.is_cancelled = False  # by a callback
        self.has_begun = False  # there is a first step worth keeping
        self.is_told = False  # a solver has been told to stop
        self.may_raise = False  # Ctrl-C would leave nothing half done
        self.spoken = begin


class Limits:
    """What may end a solver early. One object serves all problems of a fit.

    Limits that come into force while others are end with them too: those of a search hold for
    each of its fits.

    Parameters
    ----------
    max_iter : int
        Bound on the iterations of each problem; -1 for none.
    time_limit : float or None
        Seconds for the whole fit.
    callbacks : sequence of callables
        Called with a `TracePoint` after every round; a true answer ends the fit.
    """

    # Typed Any for None, here and in `reached`: callers that were told to stop ask again for the status.
    _around: "Limits | Any"

    def __init__(
        self, max_iter: int = -1, time_limit: float | None = None, callbacks: Sequence[Callable[[Any], Any]] | None = ()
    ) -> None:
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.begin = time.monotonic()
        self.deadline = None if time_limit is None else self.begin + time_limit
        self.callbacks = tuple(callbacks or ())
        self._around = None
        self._so_far = _SoFar(self.begin)
        self._thread = threading.get_ident()

    def with_max_iter(self, max_iter: int) -> Self:
        """The same limits with another bound on iterations, for a part of the work."""
        other = copy.copy(self)
        other.max_iter = max_iter
        return other

    def at_most(self, steps: int) -> Self:
        """The same limits with at most `steps` iterations."""
        return self.with_max_iter(steps if self.max_iter < 0 else min(steps, self.max_iter))

    def after(self, done: int) -> Self:
        """The same limits after `done` iterations."""
        return self.with_max_iter(self.max_iter if self.max_iter < 0 else max(0, self.max_iter - done))

    def unwatched(self) -> Self:
        """The same limits without callbacks, for a part of the work that reports separately."""
        quiet = copy.copy(self)
        quiet.callbacks = ()
        return quiet

    @property
    def seconds(self) -> float:
        """Time since the fit began."""
        return time.monotonic() - self.begin

    def iterations_left(self, done: int) -> int:
        """How many more iterations a problem may take."""
        return 2**62 if self.max_iter < 0 else self.max_iter - done

    def reached(self) -> Status | Any:
        """The status that ends the fit now, or None. A caller that gets one must wind up."""
        status = self._end()
        if status is not None:
            self._so_far.is_told = True
            if self._around is not None:
                self._around.reached()
        return status

    def is_over(self) -> bool:
        """Whether the fit should end, for optional work: unlike `reached`, it does not oblige the caller to wind up."""
        return self._end() is not None

    def _end(self) -> Status | None:
        if self._so_far.is_pressed or self._so_far.is_cancelled:
            return Status.INTERRUPTED
        if self.deadline is not None and time.monotonic() > self.deadline:
            return Status.TIME_LIMIT
        return None if self._around is None else self._around._end()

    def stop(self, share: float | None = None) -> bool:
        """Whether the fit should end now; polled between the tiles of long products.

        `share`, the part of a kernel matrix already computed, is shown to the callbacks now and then, in the fitting
        thread.
        """
        if share is not None and self.callbacks and threading.get_ident() == self._thread:
            self._tell(share)
        return self.reached() is not None

    def _tell(self, share: float) -> None:
        if time.monotonic() - self._so_far.spoken >= SILENCE_SECONDS:
            self.report(TracePoint(self.seconds, 0, math.inf, 0.0, int(100 * share), 100, "kernel"))

    def report_solved(self, done: int, total: int) -> None:
        """Show the callbacks how many of the fit's problems are solved."""
        if self.callbacks:
            self.report(TracePoint(self.seconds, 0, 0.0, 0.0, done, total, "problems"))

    def report(self, point: Any) -> None:
        """Show a round to the callbacks."""
        self._so_far.spoken = time.monotonic()
        if getattr(point, "stage", None) not in ("kernel", "pass"):
            self._so_far.has_begun = True
        for callback in self.callbacks:
            if callback(point):
                self._so_far.is_cancelled = True

    def in_force(self) -> "_InForce":
        """A context in which these limits apply to everything; the first Ctrl-C only sets a flag meanwhile.

        A Ctrl-C too late for any solver to see is raised at the end, when the model is complete.
        """
        return _InForce(self)

    @contextmanager
    def raising_at_once(self) -> Iterator[None]:
        """In the body, which is user code, Ctrl-C raises: none of our work is half done there."""
        outermost = self
        while outermost._around is not None:
            outermost = outermost._around
        if self.stop():
            raise Stopped
        outermost._so_far.may_raise = True
        try:
            yield
        finally:
            outermost._so_far.may_raise = False

    @property
    def has_deadline(self) -> bool:
        """Whether the time limit of this fit, or of one around it, has passed."""
        return self.deadline is not None or (self._around is not None and self._around.has_deadline)

    def end_of_waiting(self) -> BaseException | None:
        """The error to raise while waiting for a compiler, or None (`mercer._jit.waiting`)."""
        if self._end() is None:
            return None
        if not self._has_begun():
            return self._reason("Mercer's code was compiled for such data")
        # A solver that was told to stop is winding up, and has a model to lose.
        return None if self._so_far.is_told else Stopped()

    def _has_begun(self) -> bool:
        return self._so_far.has_begun or (self._around is not None and self._around._has_begun())

    def _reason(self, what: str) -> BaseException:
        """The error that ends a fit before there is a model."""
        if self._end() is Status.TIME_LIMIT:
            return TimeLimitError(
                f"time_limit={self._time_limit():g} ran out before {what}, so there is no model. Code is compiled "
                f"once for each machine, in some seconds, and {where_code_is_kept()}: fit once without time_limit, or "
                "again with it, and that fit will get further"
            )
        if self._is_cancelled():
            return CancelledError(f"a callback stopped the fit before {what}, so there is no model")
        return KeyboardInterrupt()

    def _time_limit(self) -> float:
        is_own = self.deadline is not None and time.monotonic() > self.deadline
        return cast(float, self.time_limit) if is_own else self._around._time_limit()

    def _is_cancelled(self) -> bool:
        return self._so_far.is_cancelled or (self._around is not None and self._around._is_cancelled())

    def _pressed(self, _number: int, _frame: FrameType | None) -> None:
        """Handler of the first Ctrl-C."""
        self._so_far.is_pressed = True
        _signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._so_far.may_raise:
            raise KeyboardInterrupt


def _install(handler: "Handler") -> "Handler":
    """Install `handler` for Ctrl-C; the previous handler, or None if Ctrl-C belongs to the application.

    Python handles signals in the main thread; an application with a handler of its own keeps it.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    before = _signal.signal(signal.SIGINT, handler)
    if before is signal.default_int_handler or _holder(before) is not None:
        return before
    _signal.signal(signal.SIGINT, before)
    return None


def _holder(handler: "Handler") -> "holding_interrupts | None":
    found = getattr(handler, "__self__", None)
    return found if isinstance(found, holding_interrupts) else None


class _InForce:
    """The context of `Limits.in_force`. A class, since a generator takes a noticeable part of a small fit's time."""

    _before: Any

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __enter__(self) -> None:
        limits = self._limits
        limits._around = ends_in_force()
        self._token = begin_force(limits)
        self._before = _install(limits._pressed)

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if self._before is not None:
            _signal.signal(signal.SIGINT, self._before)
        end_force(self._token)
        limits = self._limits
        if kind is not None and issubclass(kind, Stopped):
            # No solver had a result to keep.
            raise limits._reason("the first step") from None
        if kind is not None:
            return
        holder = _holder(self._before)
        if holder is not None:
            holder.has_model = True
        if limits._so_far.is_pressed and not limits._so_far.is_told:
            self._before(signal.SIGINT, None)


class holding_interrupts:  # noqa: N801 - read as a verb
    """A context for a fit and the file it writes: Ctrl-C after the fit is raised once the file is complete.

    During the fit it ends the fit, and before it is raised as usual. A second Ctrl-C raises at once.
    """

    def __enter__(self) -> None:
        self.has_model = self._is_pressed = False
        self._before = _install(self._pressed)

    def _pressed(self, _number: int, _frame: FrameType | None) -> None:
        _signal.signal(signal.SIGINT, signal.default_int_handler)
        if not self.has_model:
            raise KeyboardInterrupt
        self._is_pressed = True

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if self._before is not None:
            _signal.signal(signal.SIGINT, self._before)
        if kind is None and self._is_pressed:
            raise KeyboardInterrupt


def limits_in_force() -> Limits:
    """The limits of the fit this thread works for; unlimited outside a fit."""
    limits = ends_in_force()
    return Limits() if limits is None else cast(Limits, limits)
