"""Real clusters of processes on the loopback device, at ports that the system chooses."""

import contextlib
import logging

import dask
import pytest
from distributed import LocalCluster

from tests.distributed.rows_of_files import bits_of, fit, write_rows


@contextlib.contextmanager
def local_cluster(n_workers, lost_after="5 minutes", **options):
    """A cluster of processes; a worker that says nothing for so long is taken for lost."""
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": lost_after}),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            **{"memory_limit": "1GiB", **options},
        ) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="package")
def two_workers():
    """Two workers whom nobody harms."""
    with local_cluster(2) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def rows(tmp_path_factory):
    """(file of rows, labels, the bits of the machine that this process finds alone)."""
    path, y = write_rows(tmp_path_factory.mktemp("rows"))
    return path, y, bits_of(fit(path, y))
