"""A machine learnt from Parquet files within a limit of memory: time, passes, and peak memory of its process.

    python -m benchmarks.out_of_core --rows 1000000 --memory-limit 2GiB
    python -m benchmarks.out_of_core --rows 10000000 --losses squared_hinge low_rank --landmarks 200

Linear machines by their loss, and `low_rank`: an SVC with a Gaussian kernel over landmarks.

The data are made and written a part at a time, to a temporary folder or to `--folder`, where they stay for the next
time. One child process reads them as often as asked and does nothing else; another fits. Both begin with a warm disk
cache where the files fit into it.
"""

import argparse
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.harness.report import table
from benchmarks.harness.resident import resident_bytes

PART = 50_000
LOSSES = ("squared_hinge", "logistic", "hinge")


def write(folder, rows, columns, noise=0.5, seed=0):
    """Rows of a linear teacher and noise, on columns of different scales, in files of ten row groups each."""
    import pyarrow as pa
    from pyarrow import parquet

    teacher = np.random.default_rng(seed).normal(size=columns) / np.sqrt(columns)
    scales = np.geomspace(0.01, 100.0, columns)
    writer = None
    for part in range(-(-rows // PART)):
        rng = np.random.default_rng([seed, part])
        n = min(PART, rows - part * PART)
        X = rng.normal(size=(n, columns))
        y = np.where(X @ teacher + noise * rng.normal(size=n) > 0, "yes", "no")
        arrays = {f"x{k}": X[:, k] * scales[k] for k in range(columns)}
        block = pa.table({**arrays, "y": y})
        if part % 10 == 0:
            if writer is not None:
                writer.close()
            writer = parquet.ParquetWriter(folder / f"part-{part // 10:04d}.parquet", block.schema)
        writer.write_table(block, row_group_size=PART)
    writer.close()


def read_once(folder):
    """(seconds, processor seconds) to read all row groups as Arrow, one a core, and do nothing with them."""
    from concurrent.futures import ThreadPoolExecutor

    from pyarrow import parquet

    parts = [(path, k) for path in sorted(folder.glob("*.parquet"))
             for k in range(parquet.ParquetFile(path).num_row_groups)]  # fmt: skip

    def read(part):
        path, k = part
        parquet.ParquetFile(path, read_dictionary=["y"]).read_row_group(k, use_threads=False)

    begin, worked = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(multiprocessing.cpu_count()) as pool:
        list(pool.map(read, parts))
    return time.perf_counter() - begin, time.process_time() - worked


def machine(options):
    """The machine that is to be fitted."""
    from mercer import SVC, LinearSVC, LowRank

    [loss], shared = options.losses, {"C": options.C, "memory_limit": options.memory_limit}
    if loss != "low_rank":
        return LinearSVC(loss=loss, **shared)
    return SVC(gamma=0.5 / options.columns, approximation=LowRank(options.landmarks), **shared)


def fit(folder, options):
    """One fit; what it took. To be run in a process of its own."""
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    from mercer import LowRank, TableFeatures
    from mercer.io import Blocks

    # Compiled code is loaded, and made if need be, before the clock begins.
    rng = np.random.default_rng(0)
    few, asked = rng.normal(size=(400, 3)), machine(options)
    small = {"approximation": LowRank(20)} if options.losses == ["low_rank"] else {}
    clone(asked).set_params(**small).fit(Blocks((few, (few[:, 0] > 0).astype(int)), block_rows=100))
    held, begin, worked = resident_bytes(), time.perf_counter(), time.process_time()
    blocks = Blocks(folder, target="y", block_rows=PART)
    features = TableFeatures().fit(blocks)
    learnt = time.perf_counter()
    model = asked.fit(features.transform(blocks))
    fitted, worked = time.perf_counter(), time.process_time() - worked
    score = make_pipeline(features, model).score(blocks)
    return {
        "first": learnt - begin,
        "fit": fitted - learnt,
        "worked": worked,
        "score": time.perf_counter() - fitted,
        "passes": model.n_passes_,
        "rows_read": model.rows_read_,
        "status": model.status_.name,
        "gap": model.certificate_.relative_gap,
        "accuracy": score,
        "distance": model.distance_.relative if small else 0.0,
        "held": held,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def in_child(folder, loss, options):
    """`fit` in a process of its own, so that its peak of memory is its own."""
    call = [sys.executable, "-m", "benchmarks.out_of_core", "--child", str(folder), "--losses", loss,
            "--memory-limit", options.memory_limit, "--C", str(options.C), "--columns", str(options.columns),
            "--landmarks", str(options.landmarks)]  # fmt: skip
    done = subprocess.run(call, stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603 - ourselves
    return json.loads(done.stdout.splitlines()[-1])


def report(options):
    """Write, read, fit, and print a table."""
    with tempfile.TemporaryDirectory(prefix="mercer-out-of-core-") as name:
        folder = options.folder or Path(name)
        if not list(folder.glob("*.parquet")):
            folder.mkdir(parents=True, exist_ok=True)
            write(folder, options.rows, options.columns)
        size = sum(path.stat().st_size for path in folder.iterdir())
        once, once_worked = (min(each) for each in zip(*(read_once(folder) for _ in range(2)), strict=True))
        print(f"{options.rows:,} rows of {options.columns} columns, {size / 2**30:.2f} GiB; read once in {once:.2f} s "
              f"({once_worked:.2f} processor seconds), "
              f"memory_limit={options.memory_limit}", flush=True)  # fmt: skip
        rows = []
        for loss in options.losses:
            found = in_child(folder, loss, options)
            print(f"{loss}: {json.dumps(found)}", flush=True)  # a long run may be ended before its table
            readings = found["rows_read"] / options.rows + 1
            seconds = found["first"] + found["fit"]
            rows.append([
                loss, f"{found['first']:.1f}", f"{found['fit']:.1f}", str(found["passes"]), f"{readings:.1f}",
                f"{readings * once:.1f}", f"{seconds / (readings * once):.2f}", f"{found['worked']:.1f}",
                f"{found['worked'] / (readings * once_worked):.2f}", f"{found['peak'] / 2**30:.2f}",
                f"{(found['peak'] - found['held']) / 2**30:.2f}",
                found["status"], f"{found['gap']:.1e}", f"{found['distance']:.1e}", f"{100 * found['accuracy']:.2f}",
            ])  # fmt: skip
        head = ("loss", "first pass s", "fit s", "passes", "readings", "to read as often s", "ratio", "processor s",
                "its ratio", "peak GiB", "added GiB", "status", "gap", "distance", "accuracy %")  # fmt: skip
        print(table(head, rows))


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--memory-limit", default="2GiB")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--losses", nargs="+", choices=(*LOSSES, "low_rank"), default=LOSSES)
    parser.add_argument("--landmarks", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=None, help="where the rows are, or are written and stay")
    parser.add_argument("--child", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is None:
        report(options)
    else:
        print(json.dumps(fit(options.child, options)))


if __name__ == "__main__":
    main()
