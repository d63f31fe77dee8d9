"""Machines as people write them, in a cluster: linear and low-rank ones on blocks of any source, and on rows."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mercer import SVC, SVR, DataError, LinearSVC, LinearSVR, LowRank, Status, distributed
from mercer.distributed.crew import Crew
from mercer.io import Blocks


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(6000, 4))
    return X, np.select([X[:, 0] + rng.normal(size=6000) > 1, X[:, 1] > 0.5], ["a", "b"], "c")


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    """Parquet files that workers read."""
    import pyarrow as pa
    from pyarrow import parquet

    X, y = data
    where = tmp_path_factory.mktemp("parquet")
    for k in range(3):
        part = slice(2000 * k, 2000 * (k + 1))
        columns = {name: X[part, j] for j, name in enumerate("pqrs")} | {"y": y[part]}
        parquet.write_table(pa.table(columns), where / f"{k}.parquet", row_group_size=500)
    return where


def rows_and_codes(X, y, k):
    """A block of six, as a function of a program of Dask's makes it."""
    part = slice(1000 * k, 1000 * (k + 1))
    return X[part], y[part]


def of_memory(X, y, _folder):
    return Blocks((X, y), block_rows=700)


def of_folder(_X, _y, folder):
    return Blocks(folder, target="y", block_rows=1000)


def of_array(X, y, _folder):
    codes = np.unique(y, return_inverse=True)[1]
    return Blocks(distributed.blocks(da.from_array(X, chunks=(1000, 4)), da.from_array(codes, chunks=1000)))


def of_frame(X, y, _folder):
    frame = pd.DataFrame(X, columns=list("pqrs")).assign(y=np.unique(y, return_inverse=True)[1])
    return Blocks(distributed.blocks(dd.from_pandas(frame, npartitions=5), "y"))


def of_delayed(X, y, _folder):
    codes = np.unique(y, return_inverse=True)[1]
    return Blocks(distributed.blocks([dask.delayed(rows_and_codes)(X, codes, k) for k in range(6)]))


@pytest.mark.parametrize("source", [of_memory, of_folder, of_array, of_frame, of_delayed])
def test_linear_machines_learn_from_blocks_that_workers_read(two_workers, data, folder, source):
    blocks = source(*data, folder)
    alone = LinearSVC(loss="hinge").fit(blocks)
    with distributed.cluster(two_workers):
        model = LinearSVC(loss="hinge").fit(blocks)
    assert model.status_ == Status.OPTIMAL
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    np.testing.assert_array_equal(model.intercept_, alone.intercept_)
    assert [c.gap for c in model.certificate_] == [c.gap for c in alone.certificate_]
    assert model.n_passes_ == alone.n_passes_


@pytest.mark.parametrize("source", [of_memory, of_folder, of_array, of_frame, of_delayed])
def test_low_rank_machines_learn_from_blocks_that_workers_read(two_workers, data, folder, source):
    blocks, machine = source(*data, folder), SVC(gamma=0.3, gap_tol=1e-2, approximation=LowRank(landmarks=40))
    alone = clone(machine).fit(blocks)
    with distributed.cluster(two_workers):
        model = clone(machine).fit(blocks)
        assert model.score(blocks) == alone.score(blocks)
    assert model.status_ == Status.OPTIMAL
    np.testing.assert_array_equal(model.dual_coef_, alone.dual_coef_)
    np.testing.assert_array_equal(model.intercept_, alone.intercept_)
    assert [c.gap for c in model.certificate_] == [c.gap for c in alone.certificate_]
    assert [d.value for d in model.distance_] == [d.value for d in alone.distance_]


def test_regressions_too(two_workers, data):
    X, _ = data
    blocks = Blocks((X[:, 1:], X[:, 0] + X[:, 1]), block_rows=1000)
    alone = LinearSVR().fit(blocks)
    with distributed.cluster(two_workers):
        np.testing.assert_array_equal(LinearSVR().fit(blocks).coef_, alone.coef_)


def test_what_is_wrong_in_a_block_is_named_by_whoever_reads_it(two_workers, data):
    X, y = data[0].copy(), data[1]
    X[4321, 2] = np.nan
    with distributed.cluster(two_workers), pytest.raises(DataError, match=r"block 4.*row 4321, column 2"):
        LinearSVC().fit(Blocks((X, y), block_rows=1000))


@pytest.mark.parametrize("make", [SVC, SVR])
def test_low_rank_machines_compute_their_kernel_values_on_workers(two_workers, data, make, monkeypatch):
    X, _ = data
    y = X[:, 0] * X[:, 1] > 0 if make is SVC else X[:, 0] * X[:, 1]
    how = {"approximation": LowRank(landmarks=60), "gap_tol": 1e-3}
    alone = make(**how).fit(X, y)
    passes, total = [], Crew.total
    monkeypatch.setattr(Crew, "total", lambda *given: passes.append(given[1]) or total(*given))
    with distributed.cluster(two_workers):
        model = make(**how).fit(X, y)
    assert len(passes) > 2
    np.testing.assert_array_equal(model.dual_coef_, alone.dual_coef_)
    np.testing.assert_array_equal(model.intercept_, alone.intercept_)
