"""A table over regression and anomaly sets: ``python -m benchmarks.family --sets airfoil cardio``.

Every estimator of the kernel family stands beside scikit-learn's equivalent: the error on held-out rows (mean
absolute error over deviation, or the area missing under the ROC curve of the anomaly labels), the seconds
of the best of two fits (of a density, with the held-out rows judged by it), and the megabytes that this
adds at its peak. Each fit has a process of its own.
On one core (``taskset -c 0 python -m benchmarks.family``) the seconds are the processor's, which other work on
the machine hardly changes.
"""

import argparse
import multiprocessing
import os
import time
import warnings
from importlib import import_module

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.harness.environment import environment, headline
from benchmarks.harness.resident import peak_bytes, reset_peak, resident_bytes
from benchmarks.sets.data import SEED, data_folder

REGRESSION = ("airfoil", "boston", "concrete", "energy", "mg_scale", "abalone_scale", "cpusmall", "california_housing")
ANOMALY = ("cardio", "musk", "satellite", "thyroid", "mammography", "shuttle", "smtp")
# For each row of the table: what Mercer fits, where scikit-learn's equivalent is, and their parameters. Columns are
# standardised, and so are the targets.
REGRESSORS = {
    "SVR": ("sklearn.svm", "SVR", {"C": 10.0, "epsilon": 0.1}),
    "NuSVR": ("sklearn.svm", "NuSVR", {"C": 10.0, "nu": 0.5}),
    "KernelRidge": ("sklearn.kernel_ridge", "KernelRidge", {"alpha": 0.1, "kernel": "rbf"}),
}
DETECTORS = {
    "OneClassSVM": ("sklearn.svm", "OneClassSVM", {"nu": 0.1}),
    "KernelDensity": ("sklearn.neighbors", "KernelDensity", {"bandwidth": 1.0}),
    "SVDD": (None, None, {"nu": 0.1}),
}
# Rows above which a matrix of all pairs is too much for scikit-learn's ridge on a small machine.
MOST_ROWS = 12_000


def load(name):
    """Training rows and targets, held-out rows and targets; at most MOST_ROWS to learn from."""
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("The races' data were not found: set MERCER_DATA to their folder.")
    kind = "regression" if name in REGRESSION else "anomaly"
    with np.load(folder / kind / f"{name}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"].astype(np.float64)
    deviation = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    if kind == "regression":
        y = (y - y.mean()) / y.std()
    order = np.random.default_rng(SEED).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    return X[train[:MOST_ROWS]], y[train[:MOST_ROWS]], X[test], y[test]


def error(model, X, y, is_regression):
    """Of held-out rows."""
    if is_regression:
        return float(np.abs(model.predict(X) - y).mean())
    scores = model.decision_function(X) if hasattr(model, "decision_function") else model.score_samples(X)
    return 1.0 - float(roc_auc_score(y == y.max(), -np.ravel(scores)))


def measure(connection, module, kind, parameters, name):
    """Fit twice in this process; (error, seconds, megabytes added)."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = load(name)
    if "gamma" not in parameters and kind != "KernelDensity":
        parameters = {**parameters, "gamma": 1.0 / X.shape[1]}
    model = getattr(import_module(module), kind)(**parameters)
    model.fit(X[:300], y[:300])  # imports and compiled code are loaded before anything is measured
    before = resident_bytes()
    reset_peak()
    seconds = []
    clock = time.process_time if _is_one_core() else time.perf_counter
    for _ in range(2):
        begin = clock()
        model.fit(X, y)
        if kind == "KernelDensity":
            model.score_samples(X_test)  # a fit is a tree, or nothing: the work is here
        seconds.append(clock() - begin)
    added = max(0, peak_bytes() - before) / 1e6
    connection.send((error(model, X_test, y_test, name in REGRESSION), min(seconds), added))


def _is_one_core():
    return hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) == 1


def fresh(module, kind, parameters, name):
    """`measure` in a process of its own; None where that failed."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=measure, args=(theirs, module, kind, parameters, name))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        return None
    finally:
        process.join()


def told(found):
    """One cell of the table."""
    return "- | - | -" if found is None else f"{found[0]:.4f} | {found[1]:.3f} | {found[2]:.0f}"


def main(arguments=None):
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.family", description=__doc__.split(":")[0])
    parser.add_argument("--sets", nargs="+", choices=(*REGRESSION, *ANOMALY), default=[*REGRESSION, *ANOMALY])
    options = parser.parse_args(arguments)
    print(headline(environment()))
    print("Seconds of the processor, on one core." if _is_one_core() else "Seconds on the clock.")
    print("\n| set | estimator | error | s | MB | scikit-learn: error | s | MB |\n|---|---|---|---|---|---|---|---|")
    for name in options.sets:
        for kind, (module, theirs, parameters) in (REGRESSORS if name in REGRESSION else DETECTORS).items():
            ours = fresh("mercer", kind, parameters, name)
            peer = fresh(module, theirs, parameters, name) if module else None
            print(f"| {name} | {kind} | {told(ours)} | {told(peer)} |", flush=True)


if __name__ == "__main__":
    main()
