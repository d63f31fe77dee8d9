"""Ridge regression and principal components beside scikit-learn's: time, memory, test error.

``python -m benchmarks.kernel_methods [--rows N] [--sets california mnist]``. Every fit has a process of
its own, whose compiled code is loaded first; the peak is what the fit adds to it.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.harness.report import table
from benchmarks.harness.resident import peak_bytes, reset_peak
from benchmarks.sets.data import SEED, data_folder

GAMMA = {"california": 0.1, "mnist": 0.02}
HEADINGS = ("data", "rows", "method", "mercer s", "sklearn s", "ratio", "mercer MB", "sklearn MB", "errors")


def load(name, rows):
    """Training and test rows, and targets."""
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("the data were not found: set MERCER_DATA to their folder")
    if name == "california":
        with np.load(folder / "regression" / "california_housing.npz") as file:
            X, y = file["X"].astype(np.float64), file["y"].astype(np.float64)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    else:
        with np.load(folder / "vectors" / "mnist.npz") as file:
            X, y = file["X_train"][:30_000], np.eye(10)[file["y_train"][:30_000]]
        X = X.reshape(len(X), -1) / 255.0
    order = np.random.default_rng(SEED).permutation(len(X))
    train, test = order[:rows], order[rows:][:2000]
    return X[train], y[train], X[test], y[test]


def estimator(library, method, gamma):
    if library == "mercer":
        from mercer import KernelPCA, KernelRidge
    else:
        from sklearn.decomposition import KernelPCA
        from sklearn.kernel_ridge import KernelRidge
    if method == "ridge":
        return KernelRidge(alpha=1.0, kernel="rbf", gamma=gamma)
    return KernelPCA(n_components=8, kernel="rbf", gamma=gamma)


def measure(library, method, name, rows):
    """Seconds, megabytes added, and the test error (of the components: what they leave of the variance)."""
    X, y, X_test, y_test = load(name, rows)
    estimator(library, method, GAMMA[name]).fit(X[:3200], y[:3200])
    reset_peak()
    before = peak_bytes()
    begin = time.perf_counter()
    model = estimator(library, method, GAMMA[name]).fit(X, y)
    seconds, added = time.perf_counter() - begin, peak_bytes() - before
    if method == "ridge":
        error = float(((model.predict(X_test) - y_test) ** 2).mean())
    else:
        error = float(np.asarray(model.eigenvalues_).sum())
    return {"seconds": seconds, "megabytes": added / 1e6, "error": error}


def in_own_process(*arguments):
    command = [sys.executable, "-m", "benchmarks.kernel_methods", "--one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent)  # noqa: S603 - our own arguments
    return json.loads(done.stdout.splitlines()[-1])


def race(sets, rows):
    lines = []
    for name in sets:
        for method in ("ridge", "pca"):
            mine, theirs = (in_own_process(library, method, name, rows) for library in ("mercer", "sklearn"))
            lines.append((
                name, str(rows), method, f"{mine['seconds']:.2f}", f"{theirs['seconds']:.2f}",
                f"{theirs['seconds'] / mine['seconds']:.1f}", f"{mine['megabytes']:.0f}",
                f"{theirs['megabytes']:.0f}", f"{mine['error']:.6g} {theirs['error']:.6g}",
            ))  # fmt: skip
    print(table(HEADINGS, lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--sets", nargs="+", default=["california", "mnist"], choices=sorted(GAMMA))
    parser.add_argument("--one", nargs=4, metavar=("LIBRARY", "METHOD", "DATA", "ROWS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        library, method, name, rows = options.one
        print(json.dumps(measure(library, method, name, int(rows))))
    else:
        race(options.sets, options.rows)


if __name__ == "__main__":
    main()
