"""Fits over blocks on a cluster: what one process finds, to the last bit, whoever does how much of it."""

import numpy as np
import pytest
from scipy import sparse

from mercer import distributed
from mercer.distributed import crew as crews
from mercer.distributed.crew import TOGETHER, groups_of, reach_of
from mercer.solvers.blocks.source import tree_sum
from tests.distributed.conftest import local_cluster
from tests.distributed.rows_of_files import BLOCKS, bits_of, blocks_of, fit, process_of_worker, read_rows


def read_sparse_rows(path, block, dtype):
    X = read_rows(path, block, dtype)
    return sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "epsilon_insensitive"])
def test_a_cluster_finds_the_same_bits(two_workers, rows, loss):
    path, y, _ = rows
    alone = bits_of(fit(path, y, loss))
    with distributed.cluster(two_workers):
        assert bits_of(fit(path, y, loss)) == alone


@pytest.mark.parametrize("n_workers", [1, 3])
def test_the_number_of_workers_does_not_show(rows, n_workers):
    path, y, alone = rows
    with local_cluster(n_workers) as cluster, distributed.cluster(cluster):
        assert bits_of(fit(path, y)) == alone


def test_single_precision_and_sparse_rows_have_the_same_bits_too(two_workers, rows):
    path, y, _ = rows
    for how in ({"dtype": np.float32, "gap_tol": 1e-3}, {"read": read_sparse_rows}):
        alone = bits_of(fit(path, y, **how))
        with distributed.cluster(two_workers):
            assert bits_of(fit(path, y, **how)) == alone


def test_features_that_have_no_room_are_read_in_every_pass(two_workers, rows, monkeypatch):
    path, y, alone = rows
    monkeypatch.setattr(crews, "KEPT_SHARE", 0.0)
    with distributed.cluster(two_workers) as crew:
        assert bits_of(fit(path, y)) == alone
        assert not any(held.found for held in crew._held.values())


def test_blocks_are_worked_on_by_the_workers_and_not_here(two_workers, rows):
    with distributed.cluster(two_workers):
        total, places = blocks_of(rows[0]).total(process_of_worker, (), [(0,)] * BLOCKS, np.float64)
        each = list(blocks_of(rows[0]).map(process_of_worker, (), [(0,)] * BLOCKS, np.float64))
    workers = {worker.pid for worker in two_workers.workers.values()}
    assert total == [BLOCKS]
    assert set(places) <= workers
    assert {place for _, place in each} <= workers
    assert len(places) == len(each) == BLOCKS


@pytest.mark.parametrize("count", [1, 2, 3, 11, 12, 13, 31, 32, 33, 100, 700])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_groups_are_added_as_one_process_would_add_blocks(count, threads):
    # Sums of numbers of very different size: any other order of additions shows.
    parts = np.random.default_rng(count).normal(size=count) * 10.0 ** np.random.default_rng(1).integers(-8, 8, count)
    groups = groups_of(count, threads)
    assert [k for group in groups for k in group] == list(range(count))
    sums = [tree_sum(parts[k] for k in group) for group in groups]
    assert tree_sum(sums) == tree_sum(parts)
    # As workers join them.
    while len(sums) > 1:
        sums = [tree_sum(sums[k : k + TOGETHER]) for k in range(0, len(sums), TOGETHER)]
        assert tree_sum(sums) == tree_sum(parts)


@pytest.mark.parametrize(("groups", "reach"), [(1, 1), (16, 1), (17, 8), (128, 8), (129, 64), (6400, 512)])
def test_few_sums_are_left_for_this_process(groups, reach):
    assert reach_of(groups) == reach


def test_sums_that_workers_join_have_the_same_bits(two_workers, rows, monkeypatch):
    path, y, alone = rows
    monkeypatch.setattr(crews, "JOINED", 1)
    with distributed.cluster(two_workers):
        assert bits_of(fit(path, y)) == alone
