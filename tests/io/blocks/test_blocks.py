"""Blocks of any source: what is read is what is there, block by block, in any order, from any process."""

import gzip
import pickle

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, ipc, parquet
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from mercer import DataError, MissingExtraError, ParameterError
from mercer.io import Blocks
from mercer.io.blocks import reader

N = 1000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "a": rng.normal(size=N),
            "b": rng.integers(0, 9, N),
            "town": rng.choice(["Ulm", 'Bonn, "am"\nRhein', "Köln", None], N),
            "w": rng.random(N),
            "y": rng.choice(["no", "yes"], N),
        }
    )


def written(table, folder, kind):
    """The table in two files of a format."""
    folder.mkdir()
    for k, part in enumerate((table.slice(0, 600), table.slice(600))):
        path = folder / f"part-{k}.{kind}"
        if kind == "parquet":
            parquet.write_table(part, path, row_group_size=90)
        elif kind == "arrow":
            with ipc.new_file(path, part.schema) as file:
                file.write_table(part, max_chunksize=90)
        else:
            csv.write_csv(part, path)
    return folder


def rows_of(blocks, order=None):
    """All rows as dictionaries, with their targets, read in some order."""
    found = {i: blocks.block(i) for i in (range(len(blocks)) if order is None else order)}
    rows = [row for i in range(len(blocks)) for row in found[i].rows.rows()]
    return rows, np.concatenate([found[i].targets for i in range(len(blocks))]).tolist()


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv"])
def test_a_folder_of_files_is_read_in_blocks_of_any_order(table, tmp_path, kind):
    blocks = Blocks(written(table, tmp_path / kind, kind), target="y", weight="w", block_rows=200)
    assert blocks.names == ["a", "b", "town"]
    assert sum(blocks.sizes) == blocks.n_rows == N
    assert max(blocks.sizes) <= 200
    assert len(blocks) >= 5
    rows, targets = rows_of(blocks, reversed(range(len(blocks))))
    assert rows == table.select(["a", "b", "town"]).to_pylist()
    assert targets == table["y"].to_pylist()
    weights = np.concatenate([blocks.block(i).weights for i in range(len(blocks))])
    np.testing.assert_array_equal(weights, table["w"].to_numpy())


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_copy_for_another_process_is_a_description(table, tmp_path, kind):
    blocks = Blocks(written(table, tmp_path / kind, kind), target="y", block_rows=100)
    rows_of(blocks)
    sent = pickle.dumps(blocks)
    assert len(sent) < 4000
    assert rows_of(pickle.loads(sent)) == rows_of(blocks)  # noqa: S301 - ours


def test_a_table_and_a_dataset_are_read_like_their_files(table, tmp_path):
    folder = written(table, tmp_path / "p", "parquet")
    want = rows_of(Blocks(folder, target="y"))
    assert rows_of(Blocks(table, target="y", block_rows=77)) == want
    assert rows_of(Blocks(dataset.dataset(folder), target="y", block_rows=77)) == want


def test_quoted_line_breaks_never_divide_a_row(table, tmp_path):
    folder = written(table, tmp_path / "c", "csv")
    for block_rows in (1, 7, 599, 600, 601):
        assert rows_of(Blocks(folder, target="y", block_rows=block_rows))[0] == table.drop(["y"]).to_pylist()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_any_way_and_may_be_empty(tmp_path, end):
    lines = ["a,b", "", *(f"{k},{k % 3}" for k in range(10)), "", "10,1"]
    path = tmp_path / "t.csv"
    path.write_bytes(end.join(lines).encode())
    for block_rows in (1, 3, 100):
        blocks = Blocks(path, target="b", block_rows=block_rows)
        assert blocks.n_rows == 11
        assert [row["a"] for row in rows_of(blocks)[0]] == list(range(11))


def test_a_quotation_mark_within_a_value_is_none(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('size,n\n5" pipe,1\n"a ""b""\nc",2\n7,3\n')
    rows, _ = rows_of(Blocks(path, target="n", block_rows=1))
    assert [row["size"] for row in rows] == ['5" pipe', 'a "b"\nc', 7]
    texts, _ = rows_of(Blocks(path, target="n", block_rows=1, text=["size"]))
    assert texts[2] == {"size": "7"}


def test_a_compressed_file_is_one_block(tmp_path):
    for k in range(2):
        (tmp_path / f"{k}.csv.gz").write_bytes(gzip.compress(b"a,y\n" + b"".join(b"%d,1\n" % i for i in range(50))))
    blocks = Blocks(tmp_path, target="y", block_rows=10)
    assert blocks.sizes == [50, 50]
    assert len(rows_of(blocks)[0]) == 100


def test_svmlight_blocks_are_the_file(tmp_path):
    X = sparse.random(400, 30, 0.2, random_state=0, format="csr")
    y = np.arange(400) % 3
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    for block_rows in (20, 150, 1000):
        blocks = Blocks(tmp_path / "a.svm", block_rows=block_rows, n_features=30)
        parts = [blocks.block(i) for i in range(len(blocks))]
        np.testing.assert_allclose(sparse.vstack([part.rows for part in parts]).toarray(), X.toarray(), rtol=1e-15)
        np.testing.assert_array_equal(np.concatenate([part.targets for part in parts]), y)
    assert len(Blocks(tmp_path / "a.svm", block_rows=20)) > 5


def test_arrays_on_disk_stay_there(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(500, 4)), np.arange(500) % 2
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    mapped = np.memmap(tmp_path / "raw", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    for blocks in (
        Blocks(tmp_path / "X.npy", target=str(tmp_path / "y.npy"), block_rows=99),
        Blocks(np.load(tmp_path / "X.npy", mmap_mode="r"), target=tmp_path / "y.npy", block_rows=99),
        Blocks(np.memmap(tmp_path / "raw", np.float64, "r", shape=X.shape), target=tmp_path / "y.npy", block_rows=99),
    ):
        sent = pickle.dumps(blocks)
        assert len(sent) < 1000
        again = pickle.loads(sent)  # noqa: S301 - ours
        np.testing.assert_array_equal(np.concatenate([again.matrix(i) for i in range(len(again))]), X)
        np.testing.assert_array_equal(np.concatenate([again.targets(i)[0] for i in range(len(again))]), y)


class Chunked:
    """An array in a store, as zarr and h5py have it: rows are read when they are asked for."""

    def __init__(self, array, chunks):
        self._array, self.chunks, self.asked = array, chunks, []
        self.shape, self.dtype, self.ndim, self.nbytes = array.shape, array.dtype, array.ndim, array.nbytes

    def __getitem__(self, key):
        self.asked.append(key)
        return self._array[key]

    def __array__(self, *_args, **_options):
        raise AssertionError("all of it was asked for at once")


@pytest.mark.parametrize("chunks", [(30, 3), None])
def test_an_array_of_chunks_is_read_by_whole_chunks(monkeypatch, chunks):
    X, y = np.random.default_rng(0).normal(size=(100, 3)), np.arange(100) % 2
    monkeypatch.setattr(reader, "MOST_ROWS", 70)
    monkeypatch.setattr(reader, "LEAST_ROWS", 1)
    stored = Chunked(X, chunks)
    blocks = Blocks((stored, Chunked(y, chunks and chunks[:1])))
    assert blocks.sizes == ([60, 40] if chunks else [70, 30])
    assert not stored.asked
    np.testing.assert_array_equal(np.concatenate([blocks.matrix(i) for i in range(2)]), X)
    np.testing.assert_array_equal(np.concatenate([blocks.targets(i)[0] for i in range(2)]), y)
    assert Blocks(stored).n_rows == 100


def test_a_sequence_of_blocks_may_be_lazy_and_some_empty():
    class Lazy:
        def __len__(self):
            return 4

        def __getitem__(self, k):
            if k >= 4:
                raise IndexError
            return np.full((k, 2), float(k)), np.full(k, k)

    blocks = Blocks(Lazy())
    assert blocks.sizes == [1, 2, 3]
    assert blocks.block(2).targets.tolist() == [3, 3, 3]
    assert "block 3" in blocks.place(2)


def test_parquet_files_and_row_groups_without_rows_add_no_block(tmp_path):
    full = pa.table({"x": np.arange(4.0), "y": ["a", "b", "a", "b"]})
    untyped = pa.table({"x": pa.array([], pa.null()), "y": pa.array([], pa.null())})
    parquet.write_table(untyped, tmp_path / "part-0.parquet")
    with parquet.ParquetWriter(tmp_path / "part-1.parquet", full.schema) as file:
        for part in (full, full.slice(0, 0)):
            file.write_table(part)
    parquet.write_table(full.slice(0, 0), tmp_path / "part-2.parquet")
    blocks = Blocks(tmp_path, target="y", block_rows=3)
    assert blocks.sizes == [4]
    assert blocks.labels().tolist() == ["a", "b"]
    assert "part-1.parquet" in blocks.place(0)


def test_lists_of_equal_length_are_as_many_columns():
    rows = np.arange(20.0).reshape(10, 2)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), 2)
    blocks = Blocks(pa.table({"x": lists, "y": np.arange(10) % 2}), target="y", block_rows=4)
    assert blocks.names == ["x[0]", "x[1]"]
    np.testing.assert_array_equal(np.concatenate([blocks.matrix(i) for i in range(len(blocks))]), rows)


def test_features_are_read_in_the_precision_and_room_asked_for(table):
    blocks = Blocks(table.select(["a", "b", "y"]), target="y", block_rows=300)
    kept = {}

    def room(name, shape, dtype):
        return kept.setdefault((name, shape), np.full(shape, np.nan, dtype))

    first = blocks.matrix(0, np.float32, room)
    assert first.dtype == np.float32
    assert first.flags.c_contiguous
    np.testing.assert_array_equal(first, np.column_stack([table["a"], table["b"]])[:300].astype(np.float32))
    assert blocks.matrix(1, np.float32, room) is first or blocks.matrix(1, np.float32, room).base is first.base


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        (iter([]), ParameterError, "more than once"),
        (3, ParameterError, "more than once"),
        ("absent.csv", DataError, "no file"),
        ([(np.zeros((2, 2)), np.zeros(3))], DataError, "block 0: X has 2 rows"),
        ([(np.zeros((2, 2)), np.zeros(2)), (np.zeros((2, 3)), np.zeros(2))], DataError, "block 1: 2 columns"),
        ([(np.zeros((0, 2)), np.zeros(0))], DataError, "no rows"),
        ([np.zeros((2, 2))], ParameterError, "block 0 must be"),
    ],
)
def test_what_cannot_be_read_again_or_does_not_fit_is_refused(source, error, words):
    with pytest.raises(error, match=words):
        Blocks(source)


def test_unknown_columns_are_named_with_what_was_meant(table):
    with pytest.raises(DataError, match=r"no column 'twon'.*did you mean 'town'"):
        Blocks(table, target="twon")
    with pytest.raises(DataError, match="which columns names"):
        Blocks(table, target="y", columns=["a", "c"])
    with pytest.raises(ParameterError, match="block_rows must be a positive integer"):
        Blocks(table, target="y", block_rows=0)


def test_files_that_differ_in_columns_or_types_are_named(tmp_path, table):
    folder = tmp_path / "p"
    folder.mkdir()
    parquet.write_table(table, folder / "0.parquet")
    parquet.write_table(table.drop(["b"]), folder / "1.parquet")
    with pytest.raises(DataError, match=r"block 1, .*1\.parquet: the file has no column 'b', unlike .*0\.parquet"):
        Blocks(folder, target="y")
    texts = table.set_column(1, "b", pa.array([str(each) for each in table["b"].to_pylist()]))
    parquet.write_table(texts, folder / "1.parquet")
    with pytest.raises(DataError, match=r"block 1, .*1\.parquet, column 'b': int64 was expected, .* got string"):
        Blocks(folder, target="y")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "0.csv").write_text("a,y\n1,2\n")
    (tmp_path / "c" / "1.csv").write_text("a,z\n1,2\n")
    with pytest.raises(DataError, match=r"1\.csv: the file has no column 'y'"):
        Blocks(tmp_path / "c", target="y")


def test_a_parquet_file_that_is_cut_short_is_named(tmp_path, table):
    path = tmp_path / "t.parquet"
    parquet.write_table(table, path, row_group_size=100)
    blocks, whole = Blocks(path, target="y", block_rows=100), path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"t\.parquet: cannot be read: .*cut short"):
        Blocks(path, target="y")
    with pytest.raises(DataError, match=r"block 3, .*t\.parquet, row groups 3 to 3: cannot be read"):
        blocks.block(3)
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"t\.parquet"):
        Blocks(path, target="y")


def test_a_csv_file_that_changes_meanwhile_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,2\n" * 100)
    blocks = Blocks(path, target="y", block_rows=10)
    path.write_text("a,y\n" + "1,2\n" * 35)
    with pytest.raises(DataError, match=r"block 3, .*10 rows were expected, got 5"):
        blocks.block(3)


def test_values_that_are_missing_are_named_by_block_file_row_and_column(tmp_path):
    X, y = np.zeros((6000, 3)), np.arange(6000.0) % 2
    X[5732, 1] = np.nan
    np.save(tmp_path / "X.npy", X)
    blocks = Blocks(tmp_path / "X.npy", target=y, block_rows=100)
    with pytest.raises(DataError, match=r"block 57, .*X\.npy, row 5732, column 1: a finite number .* got nan"):
        blocks.matrix(57)
    parquet.write_table(pa.table({"a": X[:, 1], "y": y}), tmp_path / "t.parquet", row_group_size=100)
    with pytest.raises(DataError, match=r"block 57, .*t\.parquet, row 5732, column 'a': a finite number"):
        Blocks(tmp_path / "t.parquet", target="y", block_rows=100).matrix(57)
    y[5700] = np.nan
    with pytest.raises(DataError, match=r"block 57, .*row 5700: the target has no value"):
        Blocks((X, y), block_rows=100).targets(57)


def test_the_line_of_a_fault_is_counted_from_the_beginning_of_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,2\n" * 57 + "1,2,3\n" + "1,2\n" * 20)
    with pytest.raises(DataError, match=r"block 5, .*t\.csv, line 59: 2 fields were expected, got 3"):
        Blocks(path, target="y", block_rows=10).block(5)


def test_files_of_several_formats_and_empty_folders_are_refused(tmp_path):
    with pytest.raises(DataError, match="no data files"):
        Blocks(tmp_path, target="y")
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    (tmp_path / "b.svm").write_text("1 1:2\n")
    (tmp_path / "_SUCCESS").write_text("")
    with pytest.raises(DataError, match=r"one format were expected, got .*a\.csv \(csv\)"):
        Blocks(tmp_path, target="y")
    (tmp_path / "b.svm").write_bytes(b"")
    with pytest.raises(DataError, match=r"b\.svm: the file is empty"):
        Blocks(tmp_path, target="y")
    (tmp_path / "b.svm").unlink()
    (tmp_path / "b.csv").write_text("a,y\n")
    assert Blocks(tmp_path, target="y").sizes == [1]


def test_without_pyarrow_the_extra_is_named(tmp_path, table, monkeypatch):
    parquet.write_table(table, tmp_path / "t.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"mercer\[arrow\]"):
        Blocks(tmp_path / "t.parquet", target="y")
