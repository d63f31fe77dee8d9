"""Work that can be told to stop: a thread for each kind of request of a tab; the last request wins.

A request that comes while another of its kind is at work cancels it: Mercer's solvers ask their callbacks
between slices of at most 100 ms, so a long fit ends soon after, and its answer is not sent. Twenty
quick drags are twenty requests of which the first and the last are answered, and perhaps some between.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from numpy.typing import NDArray

from mercer._errors import MercerError
from mercer.studio.server.messages import pack
from mercer.studio.server.quiet_warnings import expected_warnings_ignored

Request = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]
Answer = tuple[dict[str, Any], Arrays]
Action = Callable[[Request, "Job"], Iterable[Answer]]

_log = logging.getLogger("mercer.studio")


class Job:
    """One request at work.

    Attributes
    ----------
    cancelled : bool
        Nobody waits for the answer any more.
    stopped : bool
        The work is to end with the best there is, which is wanted.
    memory : dict
        What the tab keeps from one request to the next.
    """

    def __init__(
        self, memory: dict[str, Any] | None = None, send: Callable[[dict[str, Any], Arrays], None] | None = None
    ) -> None:
        self.memory = {} if memory is None else memory
        self._send = send
        self._cancelled, self._stopped = threading.Event(), threading.Event()

    def cancel(self) -> None:
        self._cancelled.set()

    def stop(self) -> None:
        self._stopped.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def send(self, header: dict[str, Any], arrays: Arrays | None = None) -> None:
        """Tell the page how the work stands, unless nobody listens any more."""
        if self._send is not None and not self.cancelled:
            self._send(header, arrays or {})

    def watch(self, _point: object) -> bool:
        """A callback for a fit: true ends it."""
        return self.cancelled or self.stopped

    def is_cancelled_within(self, seconds: float) -> bool:
        """Wait; true as soon as a newer request has come."""
        return self._cancelled.wait(seconds)


class Channel:
    """The thread that answers one kind of request.

    Parameters
    ----------
    name : str
    action : callable
        ``action(request, job)`` yields (header, arrays).
    send : callable
        Takes a frame; called from the thread.
    memory : dict
        Shared by the channels of a tab.
    """

    def __init__(self, name: str, action: Action, send: Callable[[bytes], None], memory: dict[str, Any]) -> None:
        self.name, self._action, self._send, self._memory = name, action, send, memory
        self._changed = threading.Condition()
        self._waiting: Request | None = None
        self._job: Job | None = None
        self._is_closed = self._is_next_stopped = False
        self._thread = threading.Thread(target=self._work, name=f"studio-{name}", daemon=True)
        self._thread.start()

    def ask(self, request: Request) -> None:
        """Answer this request, and none before it."""
        with self._changed:
            if self._job is not None:
                self._job.cancel()
            self._waiting, self._is_next_stopped = request, False
            self._changed.notify()

    def stop(self) -> None:
        """End what is at work with the best there is."""
        with self._changed:
            # What was asked for a moment ago may not have begun yet.
            self._is_next_stopped = self._waiting is not None
            if self._job is not None:
                self._job.stop()

    def close(self) -> None:
        """End the thread as soon as what it does can be ended."""
        with self._changed:
            self._is_closed = True
            if self._job is not None:
                self._job.cancel()
            self._changed.notify()

    def join(self, seconds: float) -> bool:
        """Wait for the thread; whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _next(self) -> tuple[Request, Job] | None:
        with self._changed:
            self._job = None
            while self._waiting is None and not self._is_closed:
                self._changed.wait()
            if self._waiting is None or self._is_closed:
                return None
            request, self._waiting = self._waiting, None
            self._job = Job(self._memory, partial(self._tell, request.get("n")))
            if self._is_next_stopped:
                self._job.stop()
            return request, self._job

    def _tell(self, number: Any, header: dict[str, Any], arrays: Arrays) -> None:
        self._send(pack({"n": number, "do": self.name, **header}, arrays))

    def _work(self) -> None:
        while (found := self._next()) is not None:
            request, job = found
            for header, arrays in self._answers(request, job):
                if job.cancelled:
                    break
                self._tell(request.get("n"), header, arrays)

    def _answers(self, request: Request, job: Job) -> Iterable[Answer]:
        """The answers, or one sentence that says why there are none; the thread goes on in any case."""
        try:
            with expected_warnings_ignored():
                yield from self._action(request, job)
        except MercerError as error:
            yield {"error": str(error), **_proof(error)}, {}
        except (ValueError, TypeError, KeyError, ArithmeticError, MemoryError) as error:
            yield {"error": str(error) or type(error).__name__}, {}
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the page goes on
            _log.exception("the request %r failed", self.name)
            yield {"error": f"{type(error).__name__}: {error}"}, {}


def _proof(error: MercerError) -> dict[str, Any]:
    """What a `NotSeparableError` carries: weights of a point that both hulls have in common."""
    proof = getattr(error, "proof", None)
    if proof is None:
        return {}
    point = proof.point
    return {
        "proof": {
            "indices": proof.indices,
            "weights": proof.weights,
            "signs": proof.signs,
            "distance": proof.distance,
            "bias": proof.bias,
            "point": point if point is not None and len(point) == 2 else None,
            "says": str(proof),
        }
    }
