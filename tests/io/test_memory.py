"""Files eat no memory: whatever a small file unpacks to, reading it takes at most twice what it may."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys

import numpy as np
import pytest

from mercer import DataError
from mercer.io import read_svmlight, read_table
from mercer.io.source import Source

# What a process takes at most is only its own where nothing else has run in it, and everything is imported.
MEASURED = """
import resource, sys
from pathlib import Path
if sys.argv[3] == "base":
    sys.modules["pyarrow"] = None
else:
    import pyarrow.csv, pyarrow.parquet, pyarrow.feather
from mercer import DataError, io
from mercer.io import read_table, dataset
from mercer.io.items import trees
from mercer.io.svmlight import file, table
reader, path, limit = sys.argv[1], Path(sys.argv[2]), int(sys.argv[4])
read_table(path.with_name("small.csv"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
try:
    getattr(io, reader)(path, memory_limit=limit)
except DataError as error:
    print(error)
else:
    print("read")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before)
"""
LIMIT = 30_000_000
ROWS = 6_000_000


def parquet_of_one_text(path):
    import pyarrow as pa
    from pyarrow import parquet

    codes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2000, np.int32)), pa.array(["x" * 1_000_000]))
    parquet.write_table(pa.table({"a": codes, "b": range(2000)}), path)


BOMBS = {
    "numbers.csv.gz": ("read_table", lambda: gzip.compress(b"a,b\n" + b"1,2\n" * ROWS)),
    "texts.csv.gz": ("read_table", lambda: gzip.compress(b"a\n" + b"".join(b"x%d\n" % k for k in range(500_000)))),
    "spread.csv.xz": ("read_table", lambda: lzma.compress(b"a\n" + b"1\n" * ROWS, preset=1)),
    "line.csv.bz2": ("read_table", lambda: bz2.compress(b"a\n" + b"x" * 200_000_000)),
    "plain.csv": ("read_table", lambda: b"a,b\n" + b"1,2\n" * ROWS),
    "rows.jsonl.gz": ("read_table", lambda: gzip.compress(b'{"a":1}\n' * ROWS)),
    "line.jsonl.gz": ("read_table", lambda: gzip.compress(b'{"a":"' + b"x" * 100_000_000 + b'"}')),
    "rows.svm.gz": ("read_table", lambda: gzip.compress(b"1 1:1\n" * ROWS)),
    "read.svm.gz": ("read_svmlight", lambda: gzip.compress(b"1 1:1\n" * ROWS)),
    "many.trees.gz": ("read_table", lambda: gzip.compress(b"a (S (A x))\n" * 300_000)),
    "wide.trees.gz": ("read_table", lambda: gzip.compress(b"a (S" + b" x" * 5_000_000 + b")")),
    "d.xml.gz": ("read_xml", lambda: gzip.compress(b"<a>" + b"<b/>" * ROWS + b"</a>")),
    "d.json.gz": ("read_json", lambda: gzip.compress(b"[" + b"[]," * ROWS + b"[]]")),
    "d.html.gz": ("read_html", lambda: gzip.compress(b"<p>" * ROWS)),
    "d.mrg.gz": ("read_brackets", lambda: gzip.compress(b"(S x)" * ROWS)),
    "text.parquet": ("read_table", None),
}


def said_and_taken(reader, path, extras="full"):
    (path.parent / "small.csv").write_text("a,b\n1,x\n2,y\n")
    command = [sys.executable, "-c", MEASURED, reader, str(path), extras, str(LIMIT)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    *said, taken = ran.stdout.strip().split("\n")
    return "\n".join(said), int(taken)


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_of_much_is_bounded(name, tmp_path):
    reader, make = BOMBS[name]
    path = tmp_path / name
    parquet_of_one_text(path) if make is None else path.write_bytes(make())
    said, taken = said_and_taken(reader, path)
    assert said == "read" or (str(path) in said and f"{LIMIT:,} bytes of memory" in said)
    assert (said == "read") == (name == "text.parquet")
    assert taken < 2 * LIMIT


@pytest.mark.parametrize("name", ["numbers.csv.gz", "texts.csv.gz", "plain.csv", "rows.jsonl.gz"])
def test_without_pyarrow_too(name, tmp_path):
    reader, make = BOMBS[name]
    (tmp_path / name).write_bytes(make())
    said, taken = said_and_taken(reader, tmp_path / name, "base")
    assert f"{LIMIT:,} bytes of memory" in said
    assert taken < 2 * LIMIT


def test_what_fits_is_read(tmp_path):
    content = b"a,b\n" + b"1,2\n" * 1000
    for limit in (200_000, "200 kB"):
        assert len(read_table(io.BytesIO(gzip.compress(content)), memory_limit=limit)) == 1000
    with pytest.raises(DataError, match=r"does not fit into 20,000 bytes of memory.*--memory-limit"):
        read_table(io.BytesIO(gzip.compress(content)), memory_limit=20_000)
    (tmp_path / "d.svm").write_text("1 1:1\n" * 1000)
    with pytest.raises(DataError, match="do not fit into 5,000 bytes"):
        read_svmlight(tmp_path / "d.svm", memory_limit=5000)
    assert read_svmlight(tmp_path / "d.svm", memory_limit="1MB")[0].shape == (1000, 1)


def test_lines_are_the_same_in_pieces_of_any_size(monkeypatch):
    content = "\ufeffone\n\nthree ä\r\nfour".encode()
    for size in (1, 2, 7, 100):
        monkeypatch.setattr("mercer.io.source.PIECE", size)
        assert list(Source(io.BytesIO(content)).lines()) == [(1, "one"), (2, ""), (3, "three ä\r"), (4, "four")]
    with pytest.raises(DataError, match="line 2, column 3: UTF-8 was expected, got byte 0xff"):
        list(Source(io.BytesIO(b"one\nab\xff\n")).lines())
