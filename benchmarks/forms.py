"""Race regression, one-class and nu-classification: ``python -m benchmarks.forms --sets cpusmall smtp``.

Each contestant has its own process; they fit in turns, and the minimum counts. Beside the times stand
what the fits are worth: the error on held-out rows (mean absolute error over deviation, share of wrong
labels, or area missing under the ROC curve of the anomaly labels), and the share of support vectors.
"""

import argparse
import multiprocessing
import time
import warnings
from importlib import import_module

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.harness.environment import environment, headline
from benchmarks.harness.peers import LIBSVM, MERCER, ONEDAL
from benchmarks.sets.data import NO_FOLDER, SEED, data_folder
from benchmarks.sets.data import load as load_labelled

CONTESTANTS = {each.name: each for each in (MERCER, LIBSVM, ONEDAL)}
# The form, and parameters that suit standardised columns and targets in the units below; "-nu" is the same set again.
SETS = {
    "cpusmall": ("SVR", {"C": 100.0, "epsilon": 1.0, "gamma": 0.05}),
    "california_housing": ("SVR", {"C": 10.0, "epsilon": 0.1, "gamma": 0.2}),
    "abalone_scale": ("SVR", {"C": 10.0, "epsilon": 0.5, "gamma": 0.2}),
    "cpusmall-nu": ("NuSVR", {"C": 100.0, "nu": 0.5, "gamma": 0.05}),
    "california_housing-nu": ("NuSVR", {"C": 10.0, "nu": 0.5, "gamma": 0.2}),
    "shuttle": ("OneClassSVM", {"nu": 0.07, "gamma": 0.1}),
    "smtp": ("OneClassSVM", {"nu": 0.01, "gamma": 0.3}),
    "mammography": ("OneClassSVM", {"nu": 0.05, "gamma": 0.2}),
    "spambase": ("NuSVC", {"nu": 0.2, "gamma": 0.02}),
    "higgs11k": ("NuSVC", {"nu": 0.7, "gamma": 0.03}),
}
# Prices in units of 100,000.
UNITS = {"california_housing": 1e5}


def _is_regression(name):
    return SETS[name][0] in ("SVR", "NuSVR")


def load(name):
    """Training rows, targets, held-out rows, their targets."""
    if SETS[name][0] == "NuSVC":
        data = load_labelled(name)
        return data.X, data.y, data.X_test, data.y_test
    kind, base = "regression" if _is_regression(name) else "anomaly", name.removesuffix("-nu")
    with np.load(data_folder() / kind / f"{base}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"] / UNITS.get(base, 1)
    deviation = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    order = np.random.default_rng(SEED).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    return X[train], y[train], X[test], y[test]


def offers(contestant, kind):
    """Whether a contestant has a form of its own (scikit-learn-intelex has no OneClassSVM)."""
    return hasattr(import_module(CONTESTANTS[contestant].module), kind)


def serve(connection, contestant, name):
    """Fit as often as asked; then tell what the last model is worth."""
    warnings.simplefilter("ignore")
    kind, parameters = SETS[name]
    X, y, X_test, y_test = load(name)
    X, X_test = contestant.prepare(X), contestant.prepare(X_test)
    make = getattr(import_module(contestant.module), kind)
    few = np.random.default_rng(SEED).permutation(len(y))[:300]
    model = make(**parameters, **dict(contestant.parameters))
    model.fit(X[few], y[few])  # imports and compiled code are loaded before anything is timed
    connection.send("ready")
    while connection.recv() == "fit":
        begin = time.perf_counter()
        model.fit(X, y)
        connection.send(time.perf_counter() - begin)
    share = len(model.support_) / len(y)
    connection.send((_error(kind, model, X_test, y_test), share))


def _error(kind, model, X, y):
    if kind in ("SVR", "NuSVR"):
        return float(np.abs(model.predict(X) - y).mean() / y.std())
    if kind == "NuSVC":
        return float((model.predict(X) != y).mean())
    return 1.0 - float(roc_auc_score(y == y.max(), -model.decision_function(X).ravel()))


def race(name, names, repeats):
    """{contestant: (seconds of each fit, error, share of support vectors)}."""
    context, lines = multiprocessing.get_context("spawn"), {}
    for each in names:
        ours, theirs = context.Pipe()
        context.Process(target=serve, args=(theirs, CONTESTANTS[each], name), daemon=True).start()
        theirs.close()
        ours.recv()
        lines[each] = ours
    seconds = {each: [] for each in names}
    for _ in range(repeats):
        for each, line in lines.items():
            line.send("fit")
            seconds[each].append(line.recv())
    for line in lines.values():
        line.send("end")
    return {each: (seconds[each], *line.recv()) for each, line in lines.items()}


def main(arguments=None):
    """Race the sets asked for and print a line each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forms", description=__doc__.split(":")[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--peers", nargs="*", choices=("sklearn", "intelex"), default=["sklearn", "intelex"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    if data_folder() is None:
        raise SystemExit(NO_FOLDER)
    print(headline(environment()))
    installed = [each for each in ("mercer", *options.peers) if CONTESTANTS[each].is_installed()]
    for name in options.sets:
        names = [each for each in installed if offers(each, SETS[name][0])]
        found = race(name, names, options.repeats)
        own, others = min(found["mercer"][0]), [min(found[each][0]) for each in names[1:]]
        told = "  ".join(f"{n} {min(s):7.3f} s (error {e:.4f}, sv {v:.1%})" for n, (s, e, v) in found.items())
        ratio = f"  {min(others) / own:5.1f} times the best peer" if others else ""
        print(f"{SETS[name][0]:12s} {name:21s} {told}{ratio}", flush=True)


if __name__ == "__main__":
    main()
