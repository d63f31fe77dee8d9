"""Dask's own data as blocks."""

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from mercer import DataError, ParameterError, distributed
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.newton import solve
from mercer.solvers.blocks.source import LocalBlocks


@pytest.fixture
def data(rng):
    X = rng.normal(size=(1000, 4))
    return X, np.sign(X[:, 0] + 0.5 * rng.normal(size=1000))


def assert_are(parts, X, y):
    np.testing.assert_array_equal(np.concatenate([np.asarray(part[0]) for part in parts]), X)
    np.testing.assert_array_equal(np.concatenate([np.asarray(part[1]) for part in parts]), y)
    again = pickle.loads(pickle.dumps(parts))  # noqa: S301 - what a worker is sent
    np.testing.assert_array_equal(np.asarray(again[-1][0]), np.asarray(parts[-1][0]))


def test_arrays_frames_and_delayed_blocks_are_their_numbers(data):
    X, y = data
    assert_are(distributed.blocks(da.from_array(X, chunks=(300, 4)), da.from_array(y, chunks=300)), X, y)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y, weight=2.0)
    parts = distributed.blocks(dd.from_pandas(frame, npartitions=3), "label", "weight")
    assert_are(parts, X, y)
    assert all((np.asarray(part[2]) == 2.0).all() for part in parts)
    pieces = [dask.delayed((X[k : k + 400], y[k : k + 400])) for k in (0, 400, 800)]
    assert_are(distributed.blocks(pieces), X, y)


def test_shapes_are_known_before_anything_is_computed():
    def refuse():
        raise AssertionError("computed")

    X = da.from_delayed(dask.delayed(refuse)(), (5, 2), dtype=float)
    (part,) = distributed.blocks(X)
    assert part[0].shape == (5, 2)
    assert part[0].ndim == 2


def test_blocks_without_rows_are_left_out():
    X = da.concatenate([da.ones((0, 2)), da.ones((3, 2))])
    assert [len(part[0]) for part in distributed.blocks(X)] == [3]


def read_later(parts, block, dtype):
    return np.ascontiguousarray(np.asarray(parts[block][0]), dtype=dtype)


class Reader:
    def __init__(self, parts):
        self.parts = parts

    def __call__(self, block, dtype):
        return read_later(self.parts, block, dtype)


def test_workers_compute_the_blocks_that_they_learn_from(two_workers, data):
    X, y = data
    parts = distributed.blocks(da.from_array(X, chunks=(128, 4)), da.from_array(y, chunks=128))

    def fit():
        source = LocalBlocks(Reader(parts), [len(part[0]) for part in parts], 4)
        return solve(source, BlockMachine(y, 1.0, "hinge"))

    alone = fit()
    with distributed.cluster(two_workers):
        assert (fit().w == alone.w).all()


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        (lambda X, y: (da.from_array(X, chunks=(300, 2)),), DataError, "rechunk"),
        (lambda X, y: (da.from_array(X, chunks=(300, 4)), da.from_array(y, chunks=200)), DataError, "y is divided"),
        (lambda X, y: (da.from_array(y, chunks=300),), DataError, "must be a matrix"),
        (
            lambda X, y: (da.from_array(X, chunks=(300, 4))[da.from_array(y, chunks=300) > 0],),
            DataError,
            "compute_chunk_sizes",
        ),
        (lambda X, y: (X,), ParameterError, "passed to mercer.io.Blocks directly"),
        (lambda X, y: ([dask.delayed((X, y))], y), ParameterError, "omit y"),
        (lambda X, y: ([dask.delayed((X, y, y, y))],), DataError, "block 0 must be"),
        (lambda X, y: (dd.from_pandas(pd.DataFrame(X), npartitions=2), "label"), ParameterError, "must name a column"),
        (
            lambda X, y: (dd.from_pandas(pd.DataFrame({"a": ["x", "y"]}), npartitions=1),),
            DataError,
            "must hold numbers",
        ),
    ],
)
def test_what_cannot_be_blocks_is_refused(data, given, error, why):
    with pytest.raises(error, match=why):
        distributed.blocks(*given(*data))


def test_a_block_that_is_not_what_it_says_is_refused():
    X = da.from_delayed(dask.delayed(np.ones)((4, 2)), (5, 2), dtype=float)
    with pytest.raises(DataError, match="was declared"):
        np.asarray(distributed.blocks(X)[0][0])
