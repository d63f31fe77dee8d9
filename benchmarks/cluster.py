"""What a cluster costs and brings: no Dask against one worker, one worker against two, on the same linear machine.

Each worker has one thread, and so has the process without Dask. Rows are read from a file by whoever works on them, and
kept where there is room. Answers must be the same bits.

    python -m benchmarks.cluster
    python -m benchmarks.cluster --rows 400000 --features 500 --loss hinge --repeats 5
"""

import argparse
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
from distributed import LocalCluster

from benchmarks.report import seconds, table
from mercer import distributed
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.newton import solve
from mercer.solvers.blocks.source import LocalBlocks

GOALS = {"one worker over no Dask": 1.2, "two workers over one": 1.6}


def write_rows(path, rows, features, seed=0):
    """Rows with a noisy linear target, written piece by piece; the labels."""
    rng = np.random.default_rng(seed)
    w, mapped = rng.normal(size=features), np.lib.format.open_memmap(path, "w+", np.float64, (rows, features))
    labels = np.empty(rows)
    for begin in range(0, rows, 10_000):
        part = rng.normal(size=(min(10_000, rows - begin), features))
        mapped[begin : begin + len(part)] = part
        labels[begin : begin + len(part)] = np.sign(part @ w + 3.0 * np.sqrt(features) * rng.normal(size=len(part)))
    mapped.flush()
    return labels


def read_rows(path, size, block, dtype):
    """The rows of a block."""
    return np.array(np.load(path, mmap_mode="r")[block * size : (block + 1) * size], dtype=dtype)


def fit(path, labels, options):
    sizes = [min(options.block, options.rows - k) for k in range(0, options.rows, options.block)]
    source = LocalBlocks(partial(read_rows, path, options.block), sizes, options.features, n_jobs=1)
    return solve(source, BlockMachine(labels, 0.01, options.loss), gap_tol=1e-4)


def timed(work):
    """(seconds on the clock, what came of it)."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=300)
    parser.add_argument("--block", type=int, default=10_000)
    parser.add_argument("--loss", default="squared_hinge")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = Path(folder) / "rows.npy"
        labels = write_rows(path, options.rows, options.features)
        clusters = {
            f"{count} worker{'s' * (count > 1)}": stack.enter_context(
                LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address="127.0.0.1:0")
            )
            for count in (1, 2)
        }
        times = {name: [] for name in ("no Dask", *clusters)}
        fit(path, labels, options)  # compiles
        first = None
        for turn in range(options.repeats + 1):
            for name, kept in times.items():
                with ExitStack() as inside:
                    if name in clusters:
                        inside.enter_context(distributed.cluster(clusters[name]))
                    took, found = timed(partial(fit, path, labels, options))
                first = found if first is None else first
                assert (found.w == first.w).all()
                assert found.certificate.gap == first.certificate.gap
                if turn:  # the first one wakes workers and disks
                    kept.append(took)
    print(f"{options.rows} rows, {options.features} features, blocks of {options.block}, {options.loss}, "
          f"{first.iterations} steps, gap {first.certificate.relative_gap:.1e}; the same bits everywhere")  # fmt: skip
    print(table(("", "best s", "all"), [(n, seconds(min(t)), " ".join(map(seconds, t))) for n, t in times.items()]))
    best = {name: min(kept) for name, kept in times.items()}
    over = best["1 worker"] / best["no Dask"]
    print(f"one worker takes {over:.2f} times as long as no Dask (goal: at most {GOALS['one worker over no Dask']})")
    speed = best["1 worker"] / best["2 workers"]
    print(f"two workers are {speed:.2f} times as fast as one (goal: {GOALS['two workers over one']} or more)")


if __name__ == "__main__":
    main()
