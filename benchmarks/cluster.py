"""What a cluster costs and brings: no Dask against one worker, one worker against two, on the same linear machine.

Each worker has one thread, and so has the process without Dask. Rows are read from a file by whoever works on them, and
kept where there is room. Answers must be the same bits.

On a machine that others use too, the clock says little: "here + busiest" is what it would say on an idle one at the
worst, if client, scheduler and workers never worked at the same time. It counts what Dask's processes spend just by
being there, which grows with the clock.

    python -m benchmarks.cluster
    python -m benchmarks.cluster --rows 400000 --features 500 --repeats 5
    python -m benchmarks.cluster --cells disc:30000 celeba:30000
"""

import argparse
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from distributed import LocalCluster
from sklearn.base import clone

from benchmarks.harness.report import seconds, table
from benchmarks.sets.data import load_large
from benchmarks.sets.made import MADE
from mercer import SVC, distributed
from mercer.distributed import cells
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.newton import solve
from mercer.solvers.blocks.source import LocalBlocks

# Goals: one worker over no Dask, one worker over two.
OVER, FASTER = 1.2, 1.6


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


def timed(work, crew):
    """(seconds on the clock, processor seconds here, those of the busiest worker and of all, what came of it)."""
    before = crew.client.run(time.process_time) if crew else {}
    begin, here = time.perf_counter(), time.process_time()
    found = work()
    took, here = time.perf_counter() - begin, time.process_time() - here
    after = crew.client.run(time.process_time) if crew else {}
    there = [after[worker] - before[worker] for worker in after]
    return Times(took, here, max(there, default=0.0), sum(there)), found


@dataclass
class Times:
    """Seconds on the clock, and processor seconds: here, of the busiest worker, of all workers."""

    clock: float
    here: float
    busiest: float
    workers: float

    @property
    def path(self):
        """What the clock would say if nobody else used the machine and nothing went on side by side but workers."""
        return self.here + self.busiest


def compare_cells(name, rows, count):
    """A row of the table: an exact SVC from nothing, and from cells, in processor seconds of one process."""
    X, y = load_large(name, rows) if name in ("celeba", "donors") else MADE[name](rows)
    model = SVC(C=10.0, gamma=0.2 if name in MADE else 0.02, n_jobs=1)
    clone(model).fit(X[:1000], y[:1000])  # compiles
    cold, _ = processor(lambda: clone(model).fit(X, y))
    plan = cells.Cells(model, X, y)
    divided, members = processor(lambda: plan.divide(count))
    start, each = np.zeros(rows), []
    for own in members:
        took, start[own] = processor(lambda own=own: plan.solve(own))
        each.append(took)
    rest, _ = processor(lambda: cells.finish(clone(model), X, y, start))
    path = divided + max(each) + rest
    return (f"{name}:{rows}", count, *map(seconds, (cold, divided, max(each), rest)), f"{cold / path:.2f}")


def split(name):
    """(data, rows) of data:rows."""
    base, _, rows = name.partition(":")
    return base, int(rows)


def processor(work):
    """(processor seconds, what came of it)."""
    begin = time.process_time()
    found = work()
    return time.process_time() - begin, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", nargs="*", metavar="DATA:ROWS", help="an exact SVC from cells, against a cold start")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=300)
    parser.add_argument("--block", type=int, default=10_000)
    parser.add_argument("--loss", default="hinge")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.cells:
        found = [compare_cells(*each) for name in options.cells for each in ((*split(name), k) for k in (4, 8))]
        print(table(("data", "cells", "cold s", "divide", "longest cell", "finish", "times as fast"), found))
        return
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
                    is_local = name not in clusters
                    crew = None if is_local else inside.enter_context(distributed.cluster(clusters[name]))
                    took, found = timed(partial(fit, path, labels, options), crew)
                first = found if first is None else first
                assert (found.w == first.w).all()
                assert found.certificate.gap == first.certificate.gap
                if turn:  # the first one wakes workers and disks
                    kept.append(took)
    print(f"{options.rows} rows, {options.features} features, blocks of {options.block}, {options.loss}, "
          f"{first.iterations} steps, gap {first.certificate.relative_gap:.1e}; the same bits everywhere")  # fmt: skip
    print_times(times)


def print_times(times):
    """The best of each, and the two ratios beside their goals: by the clock, and by processor seconds."""
    best = {name: min(kept, key=lambda each: each.path) for name, kept in times.items()}
    clock = {name: min(each.clock for each in kept) for name, kept in times.items()}
    rows = [
        (name, *map(seconds, (clock[name], each.here, each.busiest, each.workers, each.path)))
        for name, each in best.items()
    ]
    print(table(("", "clock s", "processor s here", "busiest worker", "all workers", "here + busiest"), rows))
    for what, found in (("by the clock", clock), ("by processor s", {name: each.path for name, each in best.items()})):
        over, speed = found["1 worker"] / found["no Dask"], found["1 worker"] / found["2 workers"]
        print(f"{what}: one worker takes {over:.2f} times as long as no Dask (goal: at most {OVER}), two workers are "
              f"{speed:.2f} times as fast as one (goal: {FASTER} or more)")  # fmt: skip


if __name__ == "__main__":
    main()
