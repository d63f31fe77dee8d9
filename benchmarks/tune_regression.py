"""Race model selection for regression: ``python -m benchmarks.tune_regression --sets abalone_scale cpusmall``.

Five folds, five values of C, four of gamma, two of epsilon: `SVRCV` against scikit-learn's `GridSearchCV` over its own
SVR and over scikit-learn-intelex's, with two jobs, after a small search of each. ``--peer-folds 1`` gives the peers one
of the five folds, without a refit, and multiplies their time by five; the line says so. Beside the times stands the
largest difference between scores of a setting on a fold.
"""

import argparse
import time
import warnings
from importlib import import_module

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from benchmarks.forms import load
from benchmarks.harness.environment import environment, headline
from benchmarks.harness.peers import PEERS
from mercer import SVRCV

FOLDS, ROWS = 5, 3000
GRID = {"C": [0.5, 2.0, 8.0, 32.0, 128.0], "gamma": [0.01, 0.05, 0.2, 0.8], "epsilon": [0.1, 1.0]}
SETS = ("abalone_scale", "cpusmall")


def timed(search, X, y):
    """(seconds, {setting: scores of its folds}) of a search."""
    begin = time.perf_counter()
    search.fit(X, y)
    seconds, found = time.perf_counter() - begin, search.cv_results_
    folds = np.stack([found[f"split{k}_test_score"] for k in range(search.n_splits_)], axis=1)
    keys = [tuple(float(setting[name]) for name in sorted(GRID)) for setting in found["params"]]
    return seconds, dict(zip(keys, folds, strict=True))


def ours(folds):
    """The search of Mercer."""
    return SVRCV(GRID["C"], GRID["gamma"], epsilons=GRID["epsilon"], cv=folds)


def theirs(peer, folds, grid=None):
    """The search of a peer; what is given some of the folds is not refitted."""
    estimator = import_module(peer.module).SVR(**dict(peer.parameters))
    return GridSearchCV(estimator, grid or GRID, cv=folds, n_jobs=2, refit=len(folds) == FOLDS)


def race(name, options):
    """A line for each contestant."""
    X, y = (part[:ROWS] for part in load(name)[:2])
    folds = list(KFold(FOLDS).split(X))
    few = [(train[train < 300], test[test < 300]) for train, test in KFold(2).split(X[:300])]
    SVRCV([1.0], [0.1], epsilons=[0.1], cv=few).fit(X[:300], y[:300])
    own, scores = min((timed(ours(folds), X, y) for _ in range(options.repeats)), key=lambda found: found[0])
    print(f"{name}: {len(scores)} settings x {FOLDS} folds, {len(y)} rows\n  mercer   {own:8.2f} s", flush=True)
    for peer in (PEERS[each] for each in options.peers if PEERS[each].is_installed()):
        rows, some = peer.prepare(X), folds[: options.peer_folds]
        theirs(peer, few, {"C": [1.0]}).fit(rows[:300], y[:300])
        seconds, found = timed(theirs(peer, some), rows, y)
        seconds *= FOLDS / len(some)
        apart = max(np.abs(scores[key][: len(some)] - found[key]).max() for key in found)
        estimated = "" if len(some) == FOLDS else f" (from {len(some)} of {FOLDS} folds)"
        ratio = f"{seconds / own:5.1f} times as long; scores differ by {apart:.1e}{estimated}"
        print(f"  {peer.name:8s} {seconds:8.2f} s  {ratio}", flush=True)


def main(arguments=None):
    """Race the sets asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune_regression", description=__doc__.split(":")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--peers", nargs="*", choices=tuple(PEERS), default=list(PEERS))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--peer-folds", type=int, default=FOLDS, choices=range(1, FOLDS + 1))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(headline(environment()))
    for name in options.sets:
        race(name, options)


if __name__ == "__main__":
    main()
