import os
import subprocess
import sys
import threading
import time

import pytest
from threadpoolctl import threadpool_info

from mercer._jit import threads
from mercer._jit.threads import Stopped, available_cores, one_blas_thread, run_parallel, thread_count


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.fixture
def four_blas_threads():
    """Whatever the environment says, begin with BLAS at four threads."""
    threads._find_libraries()
    before = [library.get_num_threads() for library in threads._blas["libraries"]]
    for library in threads._blas["libraries"]:
        library.set_num_threads(4)
    yield blas_threads()
    for library, count in zip(threads._blas["libraries"], before, strict=True):
        library.set_num_threads(count)


@pytest.mark.parametrize(
    ("n_jobs", "expected"),
    [(None, 8), (1, 1), (3, 3), (8, 8), (20, 20), (10**6, 32), (-1, 8), (-2, 7), (-8, 1), (-99, 1)],
)
def test_jobs_are_counted_as_scikit_learn_counts_them(n_jobs, expected, monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    assert thread_count(n_jobs) == expected


def test_cores_are_those_that_this_process_may_use():
    assert available_cores() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 37])
def test_every_job_is_done_once(workers, count):
    done = []
    run_parallel(done.append, range(count), workers)
    assert sorted(done) == list(range(count))


def test_several_workers_work_at_once():
    barrier = threading.Barrier(2, timeout=600)
    run_parallel(lambda _: barrier.wait(), range(2), workers=2)


def test_one_worker_is_the_caller():
    seen = set()
    run_parallel(lambda _: seen.add(threading.current_thread()), range(5), workers=1)
    assert seen == {threading.current_thread()}


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_error_is_raised_and_the_rest_is_dropped(workers):
    done = []

    def work(job):
        if job == 3:
            raise ZeroDivisionError
        done.append(job)
        time.sleep(0.001)

    # Seconds of work: on a busy machine the thread that fails may have to wait for a core.
    with pytest.raises(ZeroDivisionError):
        run_parallel(work, range(20_000), workers)
    assert len(done) < 10_000


def test_nothing_writes_to_the_callers_arrays_after_an_error():
    finished = []

    def work(job):
        if job == 0:
            raise ZeroDivisionError
        time.sleep(0.1)
        finished.append(job)

    with pytest.raises(ZeroDivisionError):
        run_parallel(work, range(8), workers=2)
    count = len(finished)
    time.sleep(0.2)
    assert len(finished) == count


@pytest.mark.parametrize("workers", [1, 2])
def test_stop_is_asked_before_every_job(workers):
    done = []
    with pytest.raises(Stopped):
        run_parallel(done.append, range(100), workers, stop=lambda: len(done) >= 5)
    assert 5 <= len(done) <= 5 + workers


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_that_never_comes_does_no_harm(workers):
    done = []
    run_parallel(done.append, range(20), workers, stop=lambda: False)
    assert len(done) == 20


def test_work_inside_work_does_not_wait_for_itself():
    """Two workers whose jobs each ask for two workers: with one pool they would wait for ever."""
    done = []
    run_parallel(lambda i: run_parallel(lambda j: done.append((i, j)), range(3), workers=2), range(6), workers=2)
    assert len(done) == 18


@pytest.mark.parametrize("workers", [1, 2])
def test_blas_is_held_to_one_thread_and_let_go(workers, four_blas_threads):
    seen = []
    run_parallel(lambda _: seen.append(blas_threads()), range(4), workers)
    assert seen == [{1}] * 4
    assert blas_threads() == four_blas_threads


def test_the_last_of_several_users_lets_blas_go(four_blas_threads):
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == four_blas_threads


def test_an_error_lets_blas_go(four_blas_threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert blas_threads() == four_blas_threads


def test_callers_in_many_threads_share_the_workers(four_blas_threads):
    totals = []

    def caller(k):
        done = []
        for _ in range(20):
            run_parallel(done.append, range(10), workers=2)
        totals.append((k, len(done)))

    callers = [threading.Thread(target=caller, args=(k,)) for k in range(8)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert sorted(totals) == [(k, 200) for k in range(8)]
    assert blas_threads() == four_blas_threads


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forking is a way of Unix")
def test_a_child_forked_in_the_middle_of_work_starts_afresh(four_blas_threads):
    """The parent's lock is held, its pool is busy and BLAS is at one thread when the child begins."""
    child = None

    def work(job):
        nonlocal child
        if job == 0:
            with threads._state_lock:
                child = os.fork()
                if child == 0:
                    os._exit(_work_in_child(four_blas_threads))
        time.sleep(0.01)

    run_parallel(work, range(4), workers=2)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.02)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child waits for a lock that nobody holds")
    assert os.waitstatus_to_exitcode(status) == 0


def _work_in_child(expected):
    """0 if all is well, in a process in which nothing may be raised."""
    try:
        done = []
        threading.current_thread().name = "a thread of the user"
        run_parallel(done.append, range(10), workers=2)
        return 0 if len(done) == 10 and blas_threads() == expected else 3
    except BaseException:  # noqa: BLE001 - whatever it is, the parent must hear of it
        return 4


def test_a_blas_that_comes_later_is_held_too():
    """scipy.linalg has one of its own, which is loaded when it is first imported."""
    program = (
        "import sys\n"
        "from threadpoolctl import threadpool_info\n"
        "from mercer._jit.threads import one_blas_thread\n"
        "with one_blas_thread(): pass\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "import scipy.linalg\n"
        "with one_blas_thread():\n"
        "    print({info['num_threads'] for info in threadpool_info() if info['user_api'] == 'blas'})\n"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{1}"
