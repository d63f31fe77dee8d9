"""How long a model of 100 MB takes to save and to load: ``python -m benchmarks.model_file``."""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import mercer
from benchmarks.harness.report import seconds, table

GOALS = {"load, mapped": 0.1}


def a_model(megabytes):
    """A model whose support vectors take so much."""
    rows = np.random.default_rng(0).normal(size=(megabytes * 125, 1000))
    return mercer.KernelDensity(bandwidth=30.0).fit(rows), rows[:100]


def best(work, repeats):
    """The least seconds of some repeats; the file is in the system's cache after the first."""
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def race(megabytes, repeats):
    """Seconds of each, beside its goal."""
    model, points = a_model(megabytes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mercer"
        found = {
            "save, read back and flushed": best(lambda: mercer.save(model, path), max(1, repeats // 2)),
            "load, mapped": best(lambda: mercer.load(path, mapped=True), repeats),
            "load, read into memory": best(lambda: mercer.load(path, mapped=False), repeats),
            "load and predict 100 rows": best(lambda: mercer.load(path).score_samples(points), repeats),
        }
        size = path.stat().st_size
    rows = [(what, seconds(taken), GOALS.get(what, ""), _verdict(what, taken)) for what, taken in found.items()]
    print(f"a model file of {size / 1e6:.0f} MB")
    print(table(("what", "seconds", "goal", "held"), rows))
    return found


def _verdict(what, taken):
    return "" if what not in GOALS else "yes" if taken <= GOALS[what] else "NO"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    race(options.megabytes, options.repeats)
