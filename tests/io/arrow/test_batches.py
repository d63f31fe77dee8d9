"""Arrow and Parquet batches."""

import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, feather, parquet

from mercer import DataError, MissingExtraError, ParameterError
from mercer.io import ArrowBatches


@pytest.fixture
def table(rng):
    X = rng.normal(size=(100, 3))
    names = np.where(X[:, 0] > 0, "yes", "no")
    return pa.table(
        {"a": X[:, 0], "b": X[:, 1].astype(np.float32), "c": np.arange(100), "y": names, "s": rng.random(100)}
    )


def joined(source):
    parts = list(source)
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def columns(table, names):
    return np.column_stack([table[name].to_numpy() for name in names])


@pytest.mark.parametrize("kind", ["table", "parquet", "feather", "dataset", "reader", "batches"])
def test_every_source_gives_the_same_rows(table, tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=30)
    elif kind == "feather":
        feather.write_feather(table, path, compression="uncompressed")
    source = {
        "table": table,
        "parquet": path,
        "feather": path,
        "dataset": dataset.dataset(table),
        "reader": table.to_reader(),
        "batches": table.to_batches(max_chunksize=33),
    }[kind]
    X, y, weights = joined(ArrowBatches(source, features=["a", "b", "c"], weight="s", batch_rows=17))
    assert (columns(table, ["a", "b", "c"]) == X).all()
    assert (y == table["y"].to_numpy()).all()
    assert (weights == table["s"].to_numpy()).all()


def test_batches_are_no_longer_than_asked_for(table):
    assert [len(y) for _, y in ArrowBatches(table, batch_rows=40)] == [40, 40, 20]


def test_every_other_column_is_a_feature(table):
    [(X, _)] = ArrowBatches(table, dtype=np.float32)
    assert X.shape == (100, 4)
    assert X.dtype == np.float32
    assert X.flags.c_contiguous


def test_a_column_of_lists_is_as_many_features(rng):
    values = rng.normal(size=(10, 4))
    lists = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 4)
    [(X, y)] = ArrowBatches(pa.table({"x": lists, "y": np.arange(10) % 2}))
    assert (values == X).all()
    assert y.tolist() == [0, 1] * 5


def test_labels_are_found_in_their_column(table):
    assert ArrowBatches(table, batch_rows=7).labels().tolist() == ["no", "yes"]
    coded = table.set_column(3, "y", table["y"].dictionary_encode())
    assert ArrowBatches(coded).labels().tolist() == ["no", "yes"]
    with pytest.raises(ParameterError, match="can be read again"):
        ArrowBatches(table.to_reader()).labels()


def test_what_cannot_be_used_is_named(table, tmp_path):
    with pytest.raises(DataError, match="no column 'z'; they have a, b, c, y, s"):
        list(ArrowBatches(table, target="z"))
    path = tmp_path / "table.parquet"
    parquet.write_table(table, path)
    with pytest.raises(DataError, match="no column 'z'; they have a, b, c, y, s"):
        ArrowBatches(path, target="z").labels()
    with pytest.raises(DataError, match="column 'y' must hold numbers, got string"):
        list(ArrowBatches(table, target="c"))
    holes = pa.table({"a": pa.array([1.0, 2.0, None]), "y": [0, 1, 1]})
    with pytest.raises(DataError, match="column 'a' has no value in row 2"):
        list(ArrowBatches(holes, batch_rows=2))
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 this is not a table")
    with pytest.raises(DataError, match="cannot be read"):
        list(ArrowBatches(broken))
    with pytest.raises(DataError, match="is not a file"):
        ArrowBatches(tmp_path / "absent.parquet")
    for arguments in ({"dtype": int}, {"batch_rows": 0}):
        with pytest.raises(ParameterError, match=next(iter(arguments))):
            ArrowBatches(table, **arguments)


def test_without_pyarrow_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"mercer\[arrow\]"):
        ArrowBatches([])
