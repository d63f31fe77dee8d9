"""Kernel logistic regression beside `SVC` on the same rows: ``python -m benchmarks.logistic --sets letter:5000``.

Both have the same C, the kernel exp(-gamma |x - x'|^2) and their own default tolerance. Seconds are the processor's,
the least of several fits that take turns in one process; errors are those on held-out rows.
"""

import argparse
import time

import numpy as np

from benchmarks.harness.environment import environment, headline
from benchmarks.harness.report import table
from benchmarks.sets.data import SEED, SETTINGS, DataSet, base_name, data_folder, load
from mercer import SVC, KernelLogisticRegression

SETS = (
    "spambase", "a9a:5000", "higgs11k:6000", "california", "ijcnn1:10000", "mnist2:3000", "mnist10:3000", "satimage",
    "letter:5000", "letter",
)  # fmt: skip
OTHERS = {"california": "regression/california_housing.npz", "satimage": "vectors/satimage.npz"}
HEADINGS = ("data", "rows", "classes", "C", "gamma", "SVC s", "logistic s", "times", "errors", "violation")


def main(arguments=None):
    """Print one line for each set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.logistic", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), help="names, each with :N for N training rows")
    parser.add_argument(
        "--setting", type=int, choices=(0, 1, 2), help="C and gamma of the races; C=1 and 'scale' unless told"
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    print(headline(environment()))
    print(table(HEADINGS, [compare(loaded(name), options.setting, options.repeats) for name in options.sets]))


def loaded(name):
    """A set of the races, or one of two others."""
    if name not in OTHERS:
        return load(name)
    with np.load(data_folder() / OTHERS[name]) as file:
        X, y = file["X"].astype(np.float32), file["y"]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    order = np.random.default_rng(SEED).permutation(len(y))[:12_000]
    y = y > np.median(y) if name == "california" else y
    test, train = np.split(order, [len(order) // 6])
    return DataSet(name, X[train], y[train], X[test], y[test])


def compare(data, setting, repeats):
    """A line of the table."""
    C, gamma = (1.0, "scale") if setting is None else SETTINGS[base_name(data.name)][setting]
    seconds = {SVC: [], KernelLogisticRegression: []}
    models = {}
    for _ in range(repeats + 1):
        for kind, taken in seconds.items():
            begin = time.process_time()
            models[kind] = kind(C=C, gamma=gamma).fit(data.X, data.y)
            taken.append(time.process_time() - begin)
    ours, theirs = min(seconds[SVC][1:]), min(seconds[KernelLogisticRegression][1:])
    errors = [1.0 - model.score(data.X_test, data.y_test) for model in models.values()]
    violation = models[KernelLogisticRegression].certificate_.kkt_violation
    return (
        data.name, str(len(data.y)), str(len(np.unique(data.y))), str(C), str(gamma), f"{ours:.3f}", f"{theirs:.3f}",
        f"{theirs / ours:.1f}", f"{errors[0]:.4f} {errors[1]:.4f}", f"{violation:.1e}",
    )  # fmt: skip


if __name__ == "__main__":
    main()
