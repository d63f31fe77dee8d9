"""Threads and processes of every kind: each fit gives the bits that it gives alone."""

import multiprocessing
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from mercer import SVC
from tests.faults.fits_elsewhere import fingerprint, overlapping_classes, put_fingerprint

pytestmark = pytest.mark.usefixtures("compiled")

SEEDS = range(6)


@pytest.fixture(scope="module")
def alone():
    """What each fit gives in this thread, with nothing else going on."""
    return {seed: fingerprint(seed) for seed in SEEDS}


def in_threads(fits_each):
    found, errors = [], []

    def fit_some(k):
        try:
            for i in range(fits_each):
                seed = (k + i) % len(SEEDS)
                found.append((seed, fingerprint(seed)))
        except BaseException as error:  # noqa: BLE001 - shown below, in the thread that asserts
            errors.append(error)

    threads = [threading.Thread(target=fit_some, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(found) == 8 * fits_each
    return found


def test_eight_threads_at_once(alone):
    assert set(in_threads(fits_each=6)) == set(alone.items())


@pytest.mark.slow
def test_eight_threads_at_once_for_long(alone):
    assert set(in_threads(fits_each=50)) == set(alone.items())


def test_a_large_fit_in_several_threads(alone):
    """Beyond one tile, so that callers share the pool's threads."""
    expected = fingerprint(1, n=2500)
    found = []
    threads = [threading.Thread(target=lambda: found.append(fingerprint(1, n=2500))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def in_processes(method, count=2):
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    processes = [context.Process(target=put_fingerprint, args=(queue, seed)) for seed in range(count)]
    for process in processes:
        process.start()
    try:
        found = dict(queue.get(timeout=600) for _ in processes)
        for process in processes:
            process.join(600)
            assert process.exitcode == 0
    finally:
        for process in processes:
            process.kill()  # does nothing to one that has ended
    return found


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", sorted(multiprocessing.get_all_start_methods()))
def test_processes_started_in_every_way_after_a_fit_here(method, alone):
    found = in_processes(method)
    assert found == {seed: alone[seed] for seed in found}


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forks_while_other_threads_are_fitting(alone):
    """A fork takes whatever locks are held at that moment with it.

    Python's own locks of modules that are being imported too, which nobody but Python could renew: so what such a fit
    imports is imported before.
    """
    fingerprint(0, n=900)
    stop = threading.Event()

    def fit_on():
        while not stop.is_set():
            fingerprint(0, n=900)

    threads = [threading.Thread(target=fit_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            assert in_processes("fork") == {seed: alone[seed] for seed in range(2)}
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib(backend, alone):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork in a process with threads
        found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(fingerprint)(seed) for seed in SEEDS)
    assert found == list(alone.values())


def test_a_grid_search_on_both_cores():
    X, y = overlapping_classes(200, 0)
    searches = [
        GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}, cv=3, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    ]
    first, second = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_array_equal(first, second)


# --- the cache of compiled code -------------------------------------------------------------

PROGRAM = "from tests.faults.fits_elsewhere import fingerprint; print(*map(fingerprint, range(3)))"


def start(cache, program=PROGRAM):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "MERCER_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(process):
    out, error = process.communicate(timeout=600)
    assert process.returncode == 0, error[-2000:]
    return out.split(), error


@pytest.fixture(scope="module")
def expected(alone):
    return [alone[seed] for seed in range(3)]


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path, expected):
    # Not by permissions, which the superuser does not notice: a file stands in the way.
    (tmp_path / "file").write_text("")
    found, said = outcome(start(tmp_path / "file" / "cache"))
    assert found == expected
    assert "not kept, for lack of a writable folder: set MERCER_CACHE_DIR" in said
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_two_processes_that_start_at_once_with_an_empty_cache(tmp_path, expected):
    found = [outcome(process)[0] for process in [start(tmp_path), start(tmp_path)]]
    assert found == [expected] * 2
    # What they left is whole: a third one compiles nothing, and says nothing. And it has the same
    # bits: code that was just compiled and code that was loaded do not differ.
    found, said = outcome(start(tmp_path))
    assert found == expected
    assert said == ""
