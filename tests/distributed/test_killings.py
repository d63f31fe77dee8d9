"""Workers that are killed, end, run out of memory or are cut off: the same bits, or a sentence that says what to do."""

import contextlib
import itertools
import os
import resource
import signal
import threading
import time

import numpy as np
import pytest
from distributed import Client

from mercer import ClusterError, distributed
from mercer.solvers.limits import Limits
from tests.distributed.conftest import local_cluster
from tests.distributed.rows_of_files import bits_of, fit, read_rows

# Seconds after which a worker that says nothing is taken for lost, and after which a fit has hung.
TTL, HUNG = 4, 200.0


def read_slowly(path, block, dtype):
    time.sleep(0.03)
    return read_rows(path, block, dtype)


@pytest.fixture(scope="module")
def mortal():
    """Two workers who may come to harm; their keepers start others in their place."""
    with local_cluster(2, lost_after=f"{TTL}s", memory_limit="600MiB") as cluster:
        yield cluster


async def leave():
    os._exit(1)


async def take_all_memory():
    taken = [np.ones(2**23) for _ in range(16)]
    time.sleep(60)  # nobody else has a turn: the keeper ends it
    return len(taken)


async def have_no_more_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1, resource.RLIM_INFINITY))


def send(number):
    return lambda client, worker: os.kill(worker.pid, number)


def run(work):
    return lambda client, worker: client.run(work, workers=[worker.worker_address], wait=False)


HARMS = {
    "kill -9": send(signal.SIGKILL),
    "exit": run(leave),
    "SIGTERM": send(signal.SIGTERM),
    "more memory than a worker has": run(take_all_memory),
    "no memory from the system": run(have_no_more_memory),
    "cut off": send(signal.SIGSTOP),
}


class Moment:
    """A callback that does harm to a worker, once: at a step, or in the middle of the first pass."""

    def __init__(self, client, cluster, harm, number):
        self.client, self.cluster, self.harm, self.place = client, cluster, harm, number % 2
        # Moments 0 to 5 are in the first pass, in which blocks are read; each later one is half a step after the last.
        self.step, pause = max(0, (number - 5) // 2), 0.06 * (number if number < 6 else number % 2)
        self.timer = threading.Timer(pause, self.strike)
        self.seen, self.victim = itertools.count(1), None
        if self.step == 0:
            self.timer.start()

    def __call__(self, _point):
        if next(self.seen) == self.step:
            self.timer.start()

    def strike(self):
        living = [worker for worker in self.cluster.workers.values() if worker.pid is not None]
        self.victim = living[self.place % len(living)]
        self.pid = self.victim.pid
        with contextlib.suppress(ProcessLookupError):
            self.harm(self.client, self.victim)

    def is_over(self):
        """Whoever was hurt and still lives is ended, so that another takes the place."""
        self.timer.join()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)
            os.kill(self.pid, signal.SIGKILL)


def what_comes_of(mortal, rows, harm, number):
    """(the bits of a fit, or None; the error in words), a worker being harmed at some moment."""
    path, y, _ = rows
    with Client(mortal, set_as_default=False) as client:
        # A keeper gives up on a worker that was killed before it was there: another pair is asked for.
        mortal.scale(2)
        client.wait_for_workers(2, timeout=60)
        with distributed.cluster(client, patience=30):
            moment = Moment(client, mortal, HARMS[harm], number)
            begin = time.monotonic()
            try:
                limits = Limits(time_limit=HUNG, callbacks=[moment])
                return bits_of(fit(path, y, read=read_slowly, limits=limits)), ""
            except ClusterError as error:
                return None, str(error)
            finally:
                moment.is_over()
                assert time.monotonic() - begin < HUNG


@pytest.mark.parametrize(("harm", "number"), [("kill -9", 2), ("exit", 8), ("SIGTERM", 13)])
def test_a_worker_that_dies_costs_its_blocks_and_nothing_else(mortal, rows, harm, number):
    assert what_comes_of(mortal, rows, harm, number) == (rows[2], "")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_workers_that_come_to_harm_at_twenty_moments_do_not_show(mortal, rows, number):
    harm = list(HARMS)[number % len(HARMS)]
    bits, told = what_comes_of(mortal, rows, harm, number)
    if harm == "no memory from the system" and bits is None:
        assert "ran out of memory on a worker" in told
        assert "more memory" in told
    else:
        assert (bits == rows[2], told) == (True, "")
