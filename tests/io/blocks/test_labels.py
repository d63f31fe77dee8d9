"""The distinct targets of a block and where they are: read without an object for each row where a format allows it."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from mercer import DataError
from mercer.io import Blocks
from mercer.io.blocks.choice import RowChoice
from mercer.io.blocks.reader import sorted_words


def table(n=300):
    rng = np.random.default_rng(0)
    towns = rng.choice(["Ulm", "Bonn", "Köln am Rhein"], n)
    return pa.table({
        "x": rng.normal(size=n), "town": towns, "coded": pa.array(towns).dictionary_encode(),
        "truth": towns == "Ulm", "count": rng.integers(3, 7, n), "w": rng.random(n),
    })  # fmt: skip


def written(found, folder, kind):
    path = folder / f"rows.{kind}"
    if kind == "parquet":
        parquet.write_table(found, path, row_group_size=90)
    else:
        with ipc.new_file(path, found.schema) as file:
            file.write_table(found, max_chunksize=90)
    return path


@pytest.mark.parametrize("kind", ["parquet", "arrow", "table"])
@pytest.mark.parametrize("target", ["town", "coded", "truth", "count"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_labels_and_places_are_the_targets(tmp_path, kind, target, weight):
    found = table()
    source = found if kind == "table" else written(found, tmp_path, kind)
    blocks = Blocks(source, target=target, columns=["x"], weight=weight, block_rows=100)
    for some in (blocks, blocks.chosen(RowChoice(0.3, seed=1))):
        for i in range(len(some)):
            labels, places, weights = some.labels_of(i)
            y, expected = some.targets(i)
            np.testing.assert_array_equal(labels[places], y)
            np.testing.assert_array_equal(labels, np.unique(y))
            assert labels.dtype.kind == y.dtype.kind
            assert (weights is None) == (expected is None)
    every = [blocks.targets(i)[0] for i in range(len(blocks))]
    np.testing.assert_array_equal(blocks.labels(), np.unique(np.concatenate(every)))


def test_no_object_is_made_for_each_row_of_texts(tmp_path, monkeypatch):
    blocks = Blocks(written(table(), tmp_path, "parquet"), target="town", columns=["x"], block_rows=100)
    monkeypatch.setattr(Blocks, "targets", None)
    assert blocks.labels_of(0)[0].tolist() == ["Bonn", "Köln am Rhein", "Ulm"]


def test_a_target_without_a_value_is_named(tmp_path):
    found = table().set_column(1, "town", pa.array(["Ulm", None] * 150))
    blocks = Blocks(written(found, tmp_path, "parquet"), target="town", columns=["x"], block_rows=100)
    with pytest.raises(DataError, match="row 1: the target 'town' has no value"):
        blocks.labels_of(0)


def test_words_that_do_not_occur_are_no_labels():
    labels, places = sorted_words(["b", "gone", "a", "b"], np.array([0, 2, 3, 3]))
    assert labels.tolist() == ["a", "b"]
    assert places.tolist() == [1, 0, 1, 1]
