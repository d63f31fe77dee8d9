"""Reading svmlight files beside scikit-learn's reader, CSV and Parquet beside pyarrow's, on the same files, in turns.

``python -m benchmarks.reading`` unpacks the sparse sets of the data folder (or writes made rows where there is
none), reads each in turns by both, and prints the best times, their ratio and the memory that a reading in batches
takes. The goal is five times scikit-learn's speed at the same numbers. A made table of 150,000 rows and 21 columns is
read as CSV (with and without quotation marks) and Parquet, with a target, beside pyarrow told as much: its speed is
the goal.
"""

import argparse
import gzip
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from benchmarks.harness.report import table
from benchmarks.sets.data import SEED, data_folder
from mercer.io import SvmlightFile, read_svmlight, read_table

GOAL = 5.0
TABLE_ROWS = 150_000


def files(folder):
    """Plain svmlight files in `folder`: the sparse sets, and made rows with 16 digits a number."""
    made = folder / "made.svm"
    X = sparse.random(20_000, 1_000, 0.02, "csr", rng=np.random.default_rng(SEED))
    dump_svmlight_file(X, np.arange(X.shape[0]) % 3, str(made), zero_based=False)
    found = [made]
    source = data_folder()
    for packed in sorted((source / "sparse").glob("*.svm.gz")) if source else []:
        plain = folder / packed.stem
        plain.write_bytes(gzip.decompress(packed.read_bytes()))
        found.append(plain)
    return found


def seconds_of(read, path):
    start = time.perf_counter()
    result = read(path)
    return time.perf_counter() - start, result


def peak_of_batches(path):
    """Megabytes that a reading in batches takes beside the first batch of any reading."""
    tracemalloc.start()
    for _ in SvmlightFile(path, n_features=2**31 - 1, chunk_bytes=2**18):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def read_race(path, repeats):
    """Best seconds of both, and whether the numbers are the same."""
    ours, theirs = [], []
    for _ in range(repeats):
        taken, (X, y) = seconds_of(read_svmlight, path)
        ours.append(taken)
        taken, (expected, labels) = seconds_of(lambda name: load_svmlight_file(str(name)), path)
        theirs.append(taken)
    same = X.shape == expected.shape and (expected != X).nnz == 0 and (y == labels).all()
    return min(ours), min(theirs), X, same


def tables(folder):
    """(name, how Mercer reads it, how pyarrow does) of a made table: 20 numbers and a label of words."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(SEED)
    columns = {f"x{k}": rng.normal(size=TABLE_ROWS) for k in range(20)}
    made = pa.table({**columns, "label": rng.choice(["yes", "no", "perhaps"], TABLE_ROWS)})
    plain, quoted, packed = (str(folder / name) for name in ("plain.csv", "quoted.csv", "made.parquet"))
    csv.write_csv(made, plain, csv.WriteOptions(quoting_style="none"))
    csv.write_csv(made, quoted)
    parquet.write_table(made, packed)
    # What is in quotes may hold line breaks, of which pyarrow has to be told.
    breaks = csv.ParseOptions(newlines_in_values=True)
    return [
        ("CSV", plain, lambda: csv.read_csv(plain)),
        ("CSV in quotes", quoted, lambda: csv.read_csv(quoted, parse_options=breaks)),
        ("Parquet", packed, lambda: parquet.read_table(packed)),
    ]


def race_tables(folder, repeats):
    """Rows of the second table: best milliseconds of both, and the ratio."""
    rows = []
    for name, path, theirs in tables(folder):
        times = np.array(
            [
                (seconds_of(lambda _, path=path: read_table(path, target="label"), None)[0],
                 seconds_of(lambda _, read=theirs: read(), None)[0])
                for _ in range(repeats)
            ]
        ).min(axis=0)  # fmt: skip
        rows.append((name, *(f"{1e3 * value:.1f}" for value in times[::-1]), f"{times[1] / times[0]:.2f}"))
    return rows


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        paths = files(Path(folder))
        read_svmlight(paths[0])  # compiles, or loads what was compiled
        for path in paths:
            ours, theirs, X, same = read_race(path, options.repeats)
            rows.append(
                (
                    path.stem,
                    f"{path.stat().st_size / 1e6:.1f}",
                    f"{X.nnz:,}",
                    f"{1e3 * theirs:.1f}",
                    f"{1e3 * ours:.1f}",
                    f"{theirs / ours:.1f}",
                    "same" if same else "DIFFERENT",
                    f"{peak_of_batches(path):.1f}",
                )
            )
    head = ("file", "MB", "entries", "scikit-learn ms", "mercer ms", "times faster", "numbers", "batches MB")
    print(table(head, rows))
    print(f"goal: {GOAL:g} times on every file; the slowest is {min(float(row[5]) for row in rows):g}\n")
    with tempfile.TemporaryDirectory() as folder:
        print(table(("table", "pyarrow ms", "mercer ms", "times faster"), race_tables(Path(folder), options.repeats)))
    print("goal: 1, the speed of the library")


if __name__ == "__main__":
    main()
