"""Both cores, without a threading layer: nogil functions on a pool of Python threads.

Numba's own layers abort when two Python threads enter them (workqueue) or hang after a
fork (omp). A plain pool does neither: it is made anew in a forked child, and callers
from several threads share it. While a parallel region runs, BLAS is held to one thread,
because its threads and ours would fight for the same cores.
"""

import contextvars
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ContextDecorator, contextmanager, nullcontext
from typing import Any, cast

from threadpoolctl import ThreadpoolController

from mercer._jit.memory import room_for_a_thread

# Up to this many unknowns, one thread solves a system of equations.
ONE_THREAD = 2000

_state_lock = threading.RLock()
_pools = {}
_blas = cast(dict[str, Any], {"depth": 0, "found_with": None, "libraries": [], "before": []})


def available_cores() -> int:
    """Cores this process may run on (respects affinity and containers' cpusets)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def thread_count(n_jobs: int | None) -> int:
    """Resolve scikit-learn's n_jobs convention; None means every core."""
    if n_jobs is None or n_jobs == 0:
        return available_cores()
    if n_jobs < 0:
        return max(1, available_cores() + 1 + n_jobs)
    # Threads beyond this only wait for each other, and a system has only so many.
    return min(int(n_jobs), 4 * available_cores())


def _pool(workers: int) -> ThreadPoolExecutor:
    with _state_lock:
        if workers not in _pools:
            _pools[workers] = ThreadPoolExecutor(workers, thread_name_prefix="mercer")
        return _pools[workers]


def _find_libraries() -> None:
    """Look for BLAS libraries, once, and again when scipy.linalg has brought its own."""
    found_with = "scipy.linalg" in sys.modules
    if _blas["found_with"] != found_with:
        libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        _blas.update(found_with=found_with, libraries=libraries)


def _begin_anew_in_child() -> None:
    """After a fork: the parent's threads are gone, and the pools with them."""
    _pools.clear()
    if _blas["depth"]:
        _restore_blas()
    _blas["depth"] = 0
    _state_lock.release()


def _hold_again_in_parent() -> None:
    """OpenBLAS ends its threads before a fork and begins with all of them after it."""
    if _blas["depth"]:
        for library in _blas["libraries"]:
            library.set_num_threads(1)
    _state_lock.release()


def _restore_blas() -> None:
    for library, count in zip(_blas["libraries"], _blas["before"], strict=True):
        library.set_num_threads(count)


if hasattr(os, "register_at_fork"):
    # Held while there is a fork: a thread that is telling BLAS its number of threads holds a lock of BLAS too.
    os.register_at_fork(
        before=_state_lock.acquire,
        after_in_child=_begin_anew_in_child,
        after_in_parent=_hold_again_in_parent,
    )


class one_blas_thread(ContextDecorator):  # noqa: N801 - read as a phrase; a generator takes twice as long
    """Hold BLAS to one thread; nested and concurrent uses count, the last one restores."""

    def __enter__(self) -> None:
        with _state_lock:
            if _blas["depth"] == 0:
                _find_libraries()
                _blas["before"] = [library.get_num_threads() for library in _blas["libraries"]]
                for library in _blas["libraries"]:
                    library.set_num_threads(1)
            _blas["depth"] += 1

    def __exit__(self, *_error: object) -> None:
        with _state_lock:
            # A body that forks comes here in the child too, where the count has begun anew.
            _blas["depth"] = max(0, _blas["depth"] - 1)
            if _blas["depth"] == 0:
                _restore_blas()


def blas_threads_for(m: int) -> AbstractContextManager[None]:
    """Hold BLAS to one thread for equations with at most a few thousand unknowns, a tenth of a second's work.

    Where cores are busy with other work, its threads wait for each other as long as all else takes.
    """
    return one_blas_thread() if m <= ONE_THREAD else nullcontext()


class Stopped(Exception):
    """Raised in the caller of `run_parallel` when `stop` asked for an end."""


def run_parallel(
    work: Callable[[Any], object], jobs: Iterable[Any], workers: int, stop: Callable[[], bool] | None = None
) -> None:
    """Call work(job) for every job on `workers` threads; the first error is raised.

    `stop`, if given, is asked before each job; when it answers True the jobs that have not
    begun are dropped and `Stopped` is raised. With one job or one worker, and inside another
    parallel region, everything runs in the calling thread, which is what small problems want.
    """
    jobs = list(jobs)
    with one_blas_thread():
        crew = _Crew(work, jobs, stop)
        if workers == 1 or len(jobs) <= 1 or getattr(_inside, "a_region", False) or not room_for_a_thread():
            crew.work_on()
        else:
            crew.work_together(min(workers, len(jobs)))


_inside = threading.local()


@contextmanager
def as_one_of_several() -> Iterator[None]:
    """The body runs in one thread, because others work side by side with it: the tasks of a cluster's worker."""
    before, _inside.a_region = getattr(_inside, "a_region", False), True
    try:
        with one_blas_thread():
            yield
    finally:
        _inside.a_region = before


class _Crew:
    """Threads that take the next job when they are done with one, the caller among them.

    A future for each job would cost as much as a small job does, and a caller that only
    waits would leave its core idle until another thread is awake.
    """

    def __init__(self, work: Callable[[Any], object], jobs: Iterable[Any], stop: Callable[[], bool] | None) -> None:
        self.work, self.waiting, self.stop = work, iter(jobs), stop
        self.is_abandoned = False

    def work_on(self) -> None:
        for job in self.waiting:
            if self.is_abandoned:
                return
            if self.stop is not None and self.stop():
                raise Stopped
            self.work(job)

    def work_together(self, count: int) -> None:
        # Each in a context of its own: whose limits are in force is known to all who work for a fit.
        contexts = [contextvars.copy_context() for _ in range(count - 1)]
        others = [_pool(count).submit(context.run, self._work_in_region) for context in contexts]
        try:
            self._work_in_region()
        finally:
            # Nothing may still write to the caller's arrays after the end, an error or Ctrl-C.
            # Who has not begun by now finds nothing to do.
            wait([other for other in others if not other.cancel()])
        for other in others:
            if not other.cancelled():
                other.result()

    def _work_in_region(self) -> None:
        _inside.a_region = True
        try:
            self.work_on()
        except BaseException:
            self.is_abandoned = True
            raise
        finally:
            _inside.a_region = False
