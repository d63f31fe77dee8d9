"""svmlight files read in bounded memory: the same numbers as scikit-learn's, and errors that name the line."""

import bz2
import gzip
import lzma
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from mercer import DataError, ParameterError
from mercer.io import SvmlightFile, read_svmlight
from mercer.io.compressed import open_bytes
from mercer.io.svmlight import file as svmlight
from mercer.io.svmlight.nearest_double import powers_of_five
from mercer.io.svmlight.parser import number


def whole(source):
    parts = list(source)
    return sparse.vstack([X for X, _ in parts], format="csr"), np.concatenate([y for _, y in parts])


@pytest.fixture
def written(tmp_path):
    def write(text, name="data.svm"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


@pytest.mark.parametrize("chunk", [1, 7, 100, 10**6])
@pytest.mark.parametrize("zero_based", [True, False])
def test_the_numbers_are_those_that_scikit_learn_reads(tmp_path, rng, chunk, zero_based):
    X = sparse.csr_matrix(
        rng.normal(size=(30, 8)) * (rng.random((30, 8)) < 0.4) * 10.0 ** rng.integers(-30, 30, (30, 8))
    )
    path = tmp_path / "data.svm"
    dump_svmlight_file(X, rng.integers(3, size=30), str(path), zero_based=zero_based)
    source = SvmlightFile(path, n_features=8, zero_based=zero_based, chunk_bytes=chunk)
    theirs, labels = load_svmlight_file(str(path), n_features=8, zero_based=zero_based)
    ours, found = whole(source)
    assert (ours != theirs).nnz == 0
    assert (found == labels).all()
    assert (whole(source)[0] != theirs).nnz == 0  # a second reading begins anew


@pytest.mark.parametrize(("ending", "module"), [(".gz", gzip), (".xz", lzma), (".bz2", bz2)])
def test_compressed_files_are_read_as_they_are(written, ending, module):
    X, y = whole(SvmlightFile(written(module.compress(b"1 1:2\n-1 2:3\n"), f"data.svm{ending}")))
    assert X.toarray().tolist() == [[2.0, 0.0], [0.0, 3.0]]
    assert y.tolist() == [1.0, -1.0]


def test_blank_lines_comments_tabs_and_a_missing_last_newline(written):
    X, y = whole(SvmlightFile(written("# head\n\n+1\tqid:3 1:1  3:.5e1 # tail\r\n  \n-1 2:-2")))
    assert X.toarray().tolist() == [[1.0, 0.0, 5.0], [0.0, -2.0, 0.0]]
    assert y.tolist() == [1.0, -1.0]


def test_single_precision_on_request(written):
    [(X, _)] = SvmlightFile(written("1 1:0.1\n-1 2:1\n"), dtype=np.float32)
    assert X.dtype == np.float32


@pytest.mark.parametrize("chunk", [3, 50, 10**6])
def test_all_rows_in_one_reading(tmp_path, rng, chunk, monkeypatch):
    X = sparse.random(40, 9, 0.3, "csr", random_state=3)
    path = tmp_path / "data.svm"
    dump_svmlight_file(X, rng.integers(3, size=40), str(path), zero_based=False)
    theirs, labels = load_svmlight_file(str(path))
    opened = []
    monkeypatch.setattr(svmlight, "open_bytes", lambda path: opened.append(path) or open_bytes(path))
    ours, found = SvmlightFile(path, chunk_bytes=chunk).read()
    assert len(opened) == 1
    assert ours.shape == theirs.shape
    assert (ours != theirs).nnz == 0
    assert (found == labels).all()
    again, _ = read_svmlight(path, n_features=12, dtype=np.float32)
    assert again.shape == (40, 12)
    assert again.dtype == np.float32


def test_a_reading_at_once_refuses_what_batches_refuse(written):
    with pytest.raises(DataError, match=r"data.svm, line 2, column 3: an index must be"):
        read_svmlight(written("1 1:1\n1 x:2\n"))
    with pytest.raises(DataError, match="the file has no rows"):
        read_svmlight(written("# nothing\n"))
    X, _ = read_svmlight(written("1\n-1\n"))
    assert X.shape == (2, 1)


def test_numbers_that_compiled_code_leaves_to_python(written):
    texts = [
        "5e-324",
        "-2.5e-310",
        "1" * 25,
        "0." + "0" * 400 + "1",
        "9007199254740993",
        "1.7976931348623157e308",
        "1e-400",
    ]
    X, y = read_svmlight(written("\n".join(f"{text} 1:{text}" for text in texts)))
    expected = [float(text) for text in texts]
    assert y.tolist() == expected
    assert X.toarray().ravel().tolist() == expected


def test_labels_and_width_are_found_by_a_first_reading(written):
    source = SvmlightFile(written("2 7:1\n0 1:1\n2 3:1\n"), chunk_bytes=4)
    assert source.labels().tolist() == [0.0, 2.0]
    assert source.n_features == 7


BAD = [
    ("one 1:2", "the label must be a finite number"),
    ("nan 1:2", "the label must be a finite number"),
    ("1,2 1:2", "the label must be a finite number"),
    ("1 x:2", "an index must be a whole number followed by a colon"),
    ("1 3", "an index must be a whole number followed by a colon"),
    ("1 -3:1", "an index must be a whole number followed by a colon"),
    ("1 3:", "a value must be a finite number"),
    ("1 3:abc", "a value must be a finite number"),
    ("1 3:inf", "a value must be a finite number"),
    ("1 3:1e999", "a value must be a finite number"),
    ("1e999 3:1", "the label must be a finite number"),
    ("1 3:1e", "a value must be a finite number"),
    ("1 3:1.2.3", "a value must be a finite number"),
    ("1 3:--1", "a value must be a finite number"),
    ("1 0:1", "an index is too small; the first is 1"),
    ("1 3:1 2:1", "indices must ascend"),
    ("1 3:1 3:1", "indices must ascend"),
    ("1 10:1", "an index exceeds n_features=9"),
    ("1 99999999999999999999999:1", "an index exceeds n_features=9"),
    ("1 qid:x 1:1", "qid must be a whole number"),
    ("1 quid:3 1:1", "qid must be a whole number"),
    ("\x00\x01", "the label must be a finite number"),
]


@pytest.mark.parametrize("chunk", [3, 10**6])
@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_malformed_line_is_named_after_the_rows_before_it(written, line, message, chunk):
    path = written(f"1 1:1\n# comment\n-1 2:1\n{line}\n1 1:1\n")
    found = []
    with pytest.raises(DataError, match=rf"data.svm, line 4, column \d+: {message}"):  # noqa: PT012 - the loop is what raises
        for _, y in SvmlightFile(path, n_features=9, chunk_bytes=chunk):
            found.extend(y)
    # What follows is never reached, what came before is not lost.
    assert found == [1.0, -1.0]


def test_a_file_that_is_cut_short_is_refused(written):
    cut = gzip.compress(b"1 1:1\n-1 2:1\n" * 10_000)[:-20]
    with pytest.raises(DataError, match="cannot be read to its end"):
        list(SvmlightFile(written(cut, "cut.svm.gz"), n_features=2))


def test_a_file_without_rows_and_one_that_is_not_there(written, tmp_path):
    with pytest.raises(DataError, match="the file has no rows"):
        list(SvmlightFile(written("# nothing\n\n")))
    with pytest.raises(DataError, match="is not a file"):
        SvmlightFile(tmp_path / "absent.svm")


@pytest.mark.parametrize("arguments", [{"n_features": 0}, {"chunk_bytes": 0}, {"dtype": np.int64}])
def test_parameters_are_checked(written, arguments):
    with pytest.raises(ParameterError, match=f"{next(iter(arguments))} must be"):
        SvmlightFile(written("1 1:1\n"), **arguments)


@given(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["%r", "%.3f", "%.17g", "%e", "%+.6g", "%.25f"])
)
def test_every_number_is_the_nearest_double(value, form):
    text = (form % value).encode() + b" "
    found, known, end = number(np.frombuffer(text, np.uint8).ctypes.data, 0, powers_of_five().ctypes.data)
    assert end == len(text) - 1
    # What the compiled code leaves to Python is rare: more digits than a word holds, or a subnormal number.
    assert known or form == "%.25f" or len(text) > 20 or abs(value) < 1e-300
    if known:
        assert found == float(text)


@given(st.binary(max_size=60))
def test_any_bytes_give_rows_or_a_data_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "data.svm"
    path.write_bytes(content)
    try:
        for X, y in SvmlightFile(path, n_features=5, chunk_bytes=8):
            assert X.shape == (len(y), 5)
            assert np.isfinite(X.data).all()
    except DataError:
        pass


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "large.svm"
    line = b"1 " + b" ".join(b"%d:0.5" % k for k in range(1, 40)) + b"\n"
    path.write_bytes(line * 40_000)
    source = SvmlightFile(path, n_features=40, chunk_bytes=2**16)
    list(zip(range(2), source, strict=False))
    tracemalloc.start()
    assert sum(len(y) for _, y in source) == 40_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * 2**16 < path.stat().st_size / 2
