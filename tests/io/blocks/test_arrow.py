"""Arrow tables, files and datasets as blocks of numbers: what `fit_stream` reads."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, feather, parquet

from mercer import DataError, ParameterError
from mercer.io import Blocks


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


@pytest.mark.parametrize("kind", ["table", "parquet", "feather", "dataset", "files", "batches"])
def test_every_source_gives_the_same_rows(table, tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    if kind in ("parquet", "files"):
        parquet.write_table(table, path, row_group_size=30)
    elif kind == "feather":
        feather.write_feather(table, path, compression="uncompressed")
    source = {
        "table": lambda: table,
        "parquet": lambda: path,
        "feather": lambda: path,
        "dataset": lambda: dataset.dataset(table),
        "files": lambda: dataset.dataset(path, format="parquet"),
        "batches": lambda: table.to_batches(max_chunksize=33),
    }[kind]()
    blocks = Blocks(source, target="y", columns=["a", "b", "c"], weight="s", block_rows=17)
    X, y, weights = joined(blocks)
    np.testing.assert_array_equal(X, np.column_stack([table[name].to_numpy() for name in ("a", "b", "c")]))
    assert (y == table["y"].to_numpy()).all()
    assert (weights == table["s"].to_numpy()).all()


def test_every_other_column_is_a_feature(table):
    blocks = Blocks(table, target="y", block_rows=40)
    assert blocks.sizes == [40, 40, 20]
    assert blocks.names == ["a", "b", "c", "s"]
    X = blocks.matrix(0, np.float32)
    assert X.dtype == np.float32
    assert X.flags.c_contiguous


def test_labels_are_found_in_their_column(table):
    assert Blocks(table, target="y", block_rows=7).labels().tolist() == ["no", "yes"]
    coded = table.set_column(3, "y", table["y"].dictionary_encode())
    assert Blocks(coded, target="y").labels().tolist() == ["no", "yes"]


def test_what_cannot_be_used_is_named(table, tmp_path):
    with pytest.raises(ParameterError, match=r"read more than once.*got RecordBatchReader"):
        Blocks(table.to_reader(), target="y")
    with pytest.raises(DataError, match="column 'y': numbers were expected, got texts"):
        list(Blocks(table, target="c"))
    holes = pa.table({"a": pa.array([1.0, 2.0, None]), "y": [0, 1, 1]})
    with pytest.raises(DataError, match="block 1, row 2, column 'a': a finite number was expected"):
        list(Blocks(holes, target="y", block_rows=2))
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 this is not a table")
    with pytest.raises(DataError, match="cannot be read"):
        Blocks(broken, target="y")


def test_a_column_whose_name_is_no_text_is_refused(tmp_path):
    forged = Path(__file__).parents[2] / "fuzz" / "corpus" / "any_table" / "parquet_name_not_utf8"
    (tmp_path / "rows.parquet").write_bytes(forged.read_bytes())
    with pytest.raises(DataError, match="cannot be read"):
        Blocks(tmp_path / "rows.parquet", target="y")
