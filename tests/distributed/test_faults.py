"""What may happen to a cluster while it works: the same bits come of it, or a sentence that says what to do."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from distributed import Client

import mercer
from mercer import ClusterError, DataError, Status, distributed
from mercer.distributed import checkpoint as checkpoints
from mercer.solvers.limits import Limits
from tests.distributed.conftest import local_cluster
from tests.distributed.rows_of_files import bits_of, fit, read_rows


def read_slowly(path, block, dtype):
    time.sleep(0.02)
    return read_rows(path, block, dtype)


@pytest.fixture(scope="module")
def mortal():
    """Two workers who may be killed; their keepers start others in their place."""
    with local_cluster(2) as cluster:
        yield cluster


def kill_one(cluster, place, how=signal.SIGKILL):
    """Send a signal to a worker that lives."""
    with contextlib.suppress(ProcessLookupError, TypeError):
        os.kill(list(cluster.workers.values())[place].pid, how)


def bits_with_a_killing(cluster, rows, seconds, place, how=signal.SIGKILL):
    """The bits of a fit during which a worker dies, so many seconds after its beginning."""
    path, y, _ = rows
    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        with distributed.cluster(client):
            timer = threading.Timer(seconds, kill_one, (cluster, place, how))
            timer.start()
            try:
                return bits_of(fit(path, y, read=read_slowly))
            finally:
                timer.join()


def seconds_of_a_fit(cluster, rows):
    begin = time.monotonic()
    with distributed.cluster(cluster):
        fit(rows[0], rows[1], read=read_slowly)
    return time.monotonic() - begin


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_a_worker_that_dies_costs_its_blocks_and_nothing_else(mortal, rows, share):
    assert bits_with_a_killing(mortal, rows, 0.2 + share, place=0) == rows[2]


@pytest.mark.slow
def test_workers_killed_at_twenty_moments_do_not_show(mortal, rows):
    whole = seconds_of_a_fit(mortal, rows)
    for moment in range(20):
        how = signal.SIGTERM if moment % 4 == 3 else signal.SIGKILL
        assert bits_with_a_killing(mortal, rows, whole * moment / 20, moment % 2, how) == rows[2], moment


def test_a_worker_that_is_cut_off_is_taken_for_lost(rows):
    path, y, alone = rows
    with local_cluster(2) as cluster, distributed.cluster(cluster):
        pid = next(iter(cluster.workers.values())).pid
        timer = threading.Timer(0.3, os.kill, (pid, signal.SIGSTOP))
        timer.start()
        try:
            assert bits_of(fit(path, y, read=read_slowly)) == alone
        finally:
            timer.join()
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def take_memory(path, block, dtype):
    if block == 3:
        taken = [np.ones(2**23) for _ in range(64)]
        time.sleep(5)
        return taken
    return read_rows(path, block, dtype)


def test_a_block_that_takes_all_memory_is_named(rows):
    with (
        local_cluster(1) as cluster,
        distributed.cluster(cluster),
        pytest.raises(ClusterError, match=r"blocks? \d.*ended \d workers.*smaller blocks"),
    ):
        fit(rows[0], rows[1], read=take_memory)


def has_no_memory(path, block, dtype):
    if block == 3:
        raise MemoryError("640 GiB")
    return read_rows(path, block, dtype)


def has_a_fault(path, block, dtype):
    if block == 3:
        raise DataError("block 3, row 17, column 2: a finite number was expected, got nan")
    return read_rows(path, block, dtype)


def test_errors_of_blocks_are_those_of_one_process(two_workers, rows):
    path, y, alone = rows
    with distributed.cluster(two_workers):
        with pytest.raises(ClusterError, match=r"ran out of memory on a worker \(640 GiB\)"):
            fit(path, y, read=has_no_memory)
        with pytest.raises(DataError, match="row 17, column 2"):
            fit(path, y, read=has_a_fault)
        assert bits_of(fit(path, y)) == alone


def test_limits_hold_while_others_work(two_workers, rows):
    path, y, _ = rows
    with distributed.cluster(two_workers):
        limits = Limits(time_limit=0.3)
        begin = time.monotonic()
        with limits.in_force():
            ended = fit(path, y, read=read_slowly, limits=limits, gap_tol=1e-12)
        assert ended.status == Status.TIME_LIMIT
        assert time.monotonic() - begin < 30
        told = []
        limits = Limits(callbacks=[lambda point: told.append(point.gap) or len(told) == 3])
        with limits.in_force():
            ended = fit(path, y, limits=limits)
        assert ended.status == Status.INTERRUPTED
        assert len(told) == 3


class LonelyScheduler:
    """A scheduler, and a worker, in processes of their own."""

    def __init__(self, folder, environment=None):
        self.processes = []
        address = folder / "address.json"
        flags = ["--scheduler-file", str(address), "--host", "127.0.0.1"]
        self.scheduler = self._start("dask_scheduler", *flags, "--port", "0", "--no-dashboard")
        deadline = time.monotonic() + 60
        while not address.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        self._start("dask_worker", *flags, "--no-dashboard", "--nthreads", "1", environment=environment)
        self.file = str(address)

    def _start(self, name, *flags, environment=None):
        command = [sys.executable, "-m", f"distributed.cli.{name}", *flags]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes.append(subprocess.Popen(command, env={**os.environ, **(environment or {})}, **quiet))
        return self.processes[-1]

    def __enter__(self):
        self.client = Client(scheduler_file=self.file, set_as_default=False, timeout=60)
        self.address = self.client.scheduler.address
        self.client.wait_for_workers(1, timeout=60)
        return self

    def __exit__(self, *_):
        self.client.close(timeout=2)
        for process in self.processes:
            process.kill()
            process.wait()


def test_a_scheduler_that_dies_leaves_a_checkpoint_from_which_a_fit_goes_on(tmp_path, two_workers, rows, monkeypatch):
    monkeypatch.setattr(checkpoints, "SELDOM", 0.0)
    path, y, _ = rows
    kept = tmp_path / "fit.checkpoint"
    seen = []
    with LonelyScheduler(tmp_path) as lonely:

        def end(point):
            seen.append(point)
            if len(seen) == 6:
                lonely.scheduler.kill()

        with (
            pytest.raises(ClusterError, match=r"the scheduler at tcp://127.0.0.1:\d+ is gone.*goes on from .*fit"),
            distributed.cluster(lonely.address, checkpoint=kept),
        ):
            fit(path, y, limits=Limits(callbacks=[end]))
    assert kept.exists()
    with distributed.cluster(two_workers, checkpoint=kept):
        again = fit(path, y)
    assert again.status == Status.OPTIMAL
    whole = fit(path, y)
    assert again.iterations < whole.iterations
    assert again.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-4)
    assert not kept.exists()


def test_a_worker_with_another_mercer_is_refused_by_name(tmp_path):
    (tmp_path / "other" / "mercer").mkdir(parents=True)
    (tmp_path / "other" / "mercer" / "__init__.py").write_text('__version__ = "0.0.9"\n')
    paths = os.pathsep.join([str(tmp_path / "other"), os.environ.get("PYTHONPATH", "")])
    with (
        LonelyScheduler(tmp_path, {"PYTHONPATH": paths}) as lonely,
        pytest.raises(ClusterError, match=rf"worker tcp://\S+ \(\S+\) has Mercer 0.0.9.*{mercer.__version__}"),
        distributed.cluster(lonely.client),
    ):
        pass


def test_a_worker_that_comes_late_with_another_mercer_is_refused_by_its_first_task(two_workers, rows, monkeypatch):
    from mercer.distributed import crew as crews

    with distributed.cluster(two_workers):
        monkeypatch.setattr(crews, "mercer_here", lambda: ("0.2.0", "abc"))
        with pytest.raises(ClusterError, match=r"worker tcp://\S+ \(\d\) has Mercer .*Mercer 0.2.0 .* asks"):
            fit(rows[0], rows[1])


def test_a_cluster_without_workers_is_waited_for_and_then_told(rows):
    with local_cluster(1) as cluster, distributed.cluster(cluster, patience=3):

        def end(_point):
            cluster.scale(0)

        with pytest.raises(ClusterError, match=r"no worker for 3 s, and blocks? 0"):
            fit(rows[0], rows[1], limits=Limits(callbacks=[end]))


def test_an_empty_cluster_and_an_empty_address_are_told():
    with (
        local_cluster(0) as cluster,
        pytest.raises(ClusterError, match="has no worker after"),
        distributed.cluster(cluster, patience=0.5),
    ):
        pass
    with pytest.raises(ClusterError, match="give the scheduler"), distributed.cluster():
        pass


def test_nobody_at_an_address_is_told(monkeypatch):
    from mercer.distributed import connection

    monkeypatch.setattr(connection, "CONNECT", 0.5)
    with (
        pytest.raises(ClusterError, match=r"no scheduler .* answers at tcp://127.0.0.1:9"),
        distributed.cluster("tcp://127.0.0.1:9"),
    ):
        pass


def test_what_needs_a_cluster_says_so():
    with pytest.raises(ClusterError, match="no cluster is in force"):
        distributed.gram(mercer.kernels.RBF(1.0), np.eye(3))
