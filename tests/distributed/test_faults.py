"""What may happen to a cluster while it works: the same bits come of it, or a sentence that says what to do."""

import contextlib
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from distributed import Client

import mercer
from mercer import (
    SVC,
    SVCCV,
    SVRCV,
    ClusterError,
    DataError,
    LinearSVC,
    LowRank,
    MKLClassifier,
    ParameterError,
    Status,
    distributed,
)
from mercer.distributed import checkpoint as checkpoints
from mercer.distributed.crew import Crew
from mercer.io import Blocks
from mercer.solvers.limits import Limits
from tests.distributed.conftest import local_cluster
from tests.distributed.rows_of_files import bits_of, fit, read_rows


def read_slowly(path, block, dtype):
    time.sleep(0.02)
    return read_rows(path, block, dtype)


def take_memory(path, block, dtype):
    if block == 3:
        taken = [np.ones(2**23) for _ in range(64)]
        time.sleep(5)
        return taken
    return read_rows(path, block, dtype)


@pytest.mark.slow
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


# Fits that a callback hears of, and what must be the same in the end.
def linear(path, y, callback):
    X = np.load(path)
    words = np.select([X[:, 0] > 0.7, y > 0], ["a", "b"], "c")
    model = LinearSVC(loss="hinge", callbacks=[callback]).fit(Blocks((X, words), block_rows=600))
    return [model.coef_, model.intercept_, model.n_iter_, *(each.gap for each in model.certificate_)]


def low_rank(path, y, callback):
    model = SVC(approximation=LowRank(60), gap_tol=1e-3, callbacks=[callback]).fit(np.load(path), y)
    return [model.dual_coef_, model.intercept_, model.certificate_.gap]


def search(path, y, callback):
    model = SVCCV(Cs=[0.1, 1.0, 10.0], gammas=[0.05, 0.2], cv=3, callbacks=[callback]).fit(np.load(path)[:300], y[:300])
    return [model.cv_results_[f"split{k}_test_score"] for k in range(3)] + [model.dual_coef_]


def regression_search(path, y, callback):
    X = np.load(path)[:300]
    model = SVRCV(Cs=[0.1, 1.0], gammas=[0.05, 0.2], cv=3, callbacks=[callback]).fit(X[:, 1:], X[:, 0])
    return [model.cv_results_[f"split{k}_test_score"] for k in range(3)] + [model.dual_coef_]


@pytest.mark.parametrize(("kind", "moment"), [(linear, 9), (low_rank, 4), (search, 4), (regression_search, 3)])
def test_a_scheduler_that_dies_leaves_a_checkpoint_from_which_a_fit_goes_on(
    tmp_path, two_workers, rows, monkeypatch, kind, moment
):
    monkeypatch.setattr(checkpoints, "SELDOM", 0.0)
    path, y, _ = rows
    kept, steps, tasks, begin = tmp_path / "fit.checkpoint", [], [], Crew.begin

    def counted(self, what, chunk, *more, **given):
        tasks.extend(chunk if what in ("block", "task") else ())
        return begin(self, what, chunk, *more, **given)

    monkeypatch.setattr(Crew, "begin", counted)
    with LonelyScheduler(tmp_path) as lonely:

        def end(point):
            # In the middle of a pass there is nothing new to keep.
            steps.extend([point] if getattr(point, "stage", "") != "pass" else ())
            if len(steps) == moment:
                lonely.scheduler.kill()

        with (
            pytest.raises(
                ClusterError, match=r"the scheduler at tcp://127.0.0.1:\d+ is gone.*will continue from .*fit"
            ),
            distributed.cluster(lonely.address, checkpoint=kept),
        ):
            kind(path, y, end)
    assert kept.exists()
    with distributed.cluster(two_workers):
        tasks.clear()
        whole, of_whole = kind(path, y, lambda _: False), len(tasks)
    with distributed.cluster(two_workers, checkpoint=kept):
        tasks.clear()
        rest = kind(path, y, lambda _: False)
    assert len(tasks) < of_whole
    assert not kept.exists()
    for mine, theirs in zip(rest, whole, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_weights_of_kernels_go_on_too(two_workers, rows, tmp_path, monkeypatch):
    X, y, kept = np.load(rows[0])[:150], rows[1][:150], tmp_path / "kept"
    alone = MKLClassifier(method="cv", cv=3).fit(X, y)
    asked, each = [], Crew.each

    def counted(self, work, shared, items, *more):
        asked.append(len(items))
        if len(asked) == 2:
            raise ClusterError("gone")
        return each(self, work, shared, items, *more)

    monkeypatch.setattr(Crew, "each", counted)
    with pytest.raises(ClusterError, match="gone"), distributed.cluster(two_workers, checkpoint=kept):
        MKLClassifier(method="cv", cv=3).fit(X, y)
    assert asked == [3, 3]
    with distributed.cluster(two_workers, checkpoint=kept):
        again = MKLClassifier(method="cv", cv=3).fit(X, y)
    # Scores of the first round are those of the file.
    assert asked[2] == 0
    np.testing.assert_array_equal(again.weights_, alone.weights_)
    np.testing.assert_array_equal(again.dual_coef_, alone.dual_coef_)


def test_a_search_is_not_taken_up_for_other_rows_or_settings(two_workers, rows, tmp_path):
    X, y, kept = np.load(rows[0])[:120], rows[1][:120], tmp_path / "kept"

    def stopped(Cs, X):
        with distributed.cluster(two_workers, checkpoint=kept):
            SVCCV(Cs=Cs, gammas=[0.1], cv=3).fit(X, y)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped([1.0, 2.0], X)
    for Cs, given in (([1.0, 3.0], X), ([1.0, 2.0], 2.0 * X)):
        with pytest.raises(ParameterError, match="belongs to another problem: different rows"):
            stopped(Cs, given)


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
        with pytest.raises(
            ClusterError, match=r"worker tcp://\S+ \(\d\) has Mercer .*but the request is from Mercer 0.2.0 "
        ):
            fit(rows[0], rows[1])


def test_a_worker_that_dies_before_it_says_which_mercer_it_has_is_not_waited_for(two_workers, rows, monkeypatch):
    with Client(two_workers, set_as_default=False) as client, contextlib.ExitStack() as stack:
        known = client.scheduler_info()
        gone = {"tcp://127.0.0.1:9": {"name": "gone", "memory_limit": 2**30}}
        with monkeypatch.context() as patch:
            patch.setattr(client, "scheduler_info", lambda: {**known, "workers": {**known["workers"], **gone}})
            stack.enter_context(distributed.cluster(client))
        assert bits_of(fit(rows[0], rows[1])) == rows[2]


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
    with pytest.raises(ClusterError, match=r"at nonsense: missing port"), distributed.cluster("nonsense"):
        pass


def test_what_needs_a_cluster_says_so():
    with pytest.raises(ClusterError, match="no cluster is active"):
        distributed.gram(mercer.kernels.RBF(1.0), np.eye(3))
