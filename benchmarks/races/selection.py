"""Model selection against liquidSVM, which is known for it: a grid of 10 x 10, five folds, all cores.

liquidSVM has ranges of its own and keeps the machines of the folds; `SVCCV` and `SVRCV` have theirs, and refit the best
setting on all rows. Hence what counts beside the time is the error on rows that neither has seen: of classes the share,
of a regression the squares, or the sizes of the errors (":median", against the quantile machine at a half), as parts of
what the best constant errs. Each contestant has
its own process, which has searched something small before it is timed, and they take turns. Processor seconds are those
of a search on one thread, since liquidSVM's threads wait for each other in loops.
"""

import multiprocessing
import resource
import sys
import sysconfig
import time
import types
import warnings
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np

from benchmarks.forms import load as load_regression
from benchmarks.harness.environment import thread_count
from benchmarks.harness.goals import GOALS, spread_of
from benchmarks.harness.report import seconds, table
from benchmarks.sets.data import load

CLASSES = ("spambase", "higgs11k:5000", "a9a:5000", "ijcnn1:10000", "shuttle:5000", "letter:5000")
TARGETS = ("abalone_scale", "cpusmall", "abalone_scale:median")
FOLDS, SIZE, HELD_OUT = 5, 10, 4000
HEADINGS = ("data", "n", "classes", "mercer s", "liquidSVM s", "ratio", "mercer cpu", "liquidSVM cpu", "error", "its")


def selection_race(options):
    """A row for each set; missed where it is less than twice as fast, or its error larger by more than chance."""
    if find_spec("liquidSVM") is None:
        print("liquidSVM is not installed (extra `peers`); nothing to race against.")
        return []
    rows = [race(name, options.repeats) for name in options.sets or (*CLASSES, *TARGETS)]
    print(table(HEADINGS, [_row(row) for row in rows]), flush=True)
    goal = GOALS["selection"].least
    for row in rows:
        is_slower = row["ratio"] * (1 + row["noise"]) < goal
        if is_slower or row["mercer"]["error"] > row["liquidSVM"]["error"] + row["chance"]:
            options.missed.append(row["data"])
            print(f"missed  selection: {row['data']}: {row['ratio']:.2f} times, goal {goal:g} at no larger an error")
    return rows


def race(name, repeats):
    """Both contestants on a set: smallest seconds of all cores, processor seconds of one, held-out error."""
    context, lines = multiprocessing.get_context("spawn"), {}
    for each in SEARCHES:
        ours, theirs = context.Pipe()
        context.Process(target=serve, args=(theirs, each, name), daemon=True).start()
        lines[each] = (ours, ours.recv())
    found = {each: [] for each in lines}
    for turn in range(repeats + 1):  # the last on one thread, for its processor seconds
        for each, (line, _) in lines.items():
            line.send(thread_count() if turn < repeats else 1)
            found[each].append(line.recv())
    (n, kinds, chance), _ = next(iter(lines.values()))[1], [line.send(None) for line, _ in lines.values()]
    row = {"data": name, "n": n, "classes": kinds, "chance": chance}
    for each, turns in found.items():
        clock = min(turn["clock"] for turn in turns[:-1])
        row[each] = {"clock": clock, "processor": turns[-1]["processor"], "error": turns[0]["error"]}
    noise = np.hypot(*(spread_of([turn["clock"] for turn in turns[:-1]]) for turns in found.values()))
    return row | {"ratio": row["liquidSVM"]["clock"] / row["mercer"]["clock"], "noise": float(noise)}


def _row(row):
    times = [seconds(row[each][key]) for key in ("clock", "processor") for each in ("mercer", "liquidSVM")]
    errors = [f"{row[each]['error']:.4f}" for each in ("mercer", "liquidSVM")]
    return (row["data"], row["n"], row["classes"], *times[:2], f"{row['ratio']:.2f}", *times[2:], *errors)


def serve(line, contestant, name):
    """Search with as many threads as asked; each time tell seconds and error."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test, kind = _data(name)
    is_classes = kind == "classes"
    search, few = SEARCHES[contestant], np.random.default_rng(0).permutation(len(y))[:300]
    search(X[few], y[few], kind, 2)
    # Two standard errors of the difference of two shares, or two per cent of a squared error.
    chance = 2.0 * np.sqrt(0.1 / len(y_test)) if is_classes else 0.02
    line.send((len(y), len(np.unique(y)) if is_classes else "-", chance))
    while (threads := line.recv()) is not None:
        begin, spent = time.perf_counter(), _processor_seconds()
        predict = search(X, y, kind, threads)
        clock, processor = time.perf_counter() - begin, _processor_seconds() - spent
        found = np.ravel(predict(X_test))
        line.send({"clock": clock, "processor": processor, "error": float(_error(kind, found, y_test))})


def _error(kind, found, y_test):
    if kind == "classes":
        return np.mean(found != y_test)
    if kind == "median":
        return np.mean(np.abs(found - y_test)) / np.mean(np.abs(np.median(y_test) - y_test))
    return np.mean((found - y_test) ** 2) / np.var(y_test)


def _data(name):
    base, _, kind = name.partition(":")
    if base in TARGETS:
        return (*load_regression(base), kind or "mean")
    data = load(name)
    X, X_test = (np.asarray(part.toarray() if hasattr(part, "toarray") else part) for part in (data.X, data.X_test))
    # liquidSVM takes numbers as labels, and asks in `predict` that 0 be one of them.
    # A rare class may be among the held-out rows alone, where nobody can be right.
    codes = {label: float(k) for k, label in enumerate(np.unique(np.concatenate([data.y, data.y_test])))}
    y, y_test = (np.array([codes[label] for label in part.tolist()]) for part in (data.y, data.y_test))
    return X, y, X_test[:HELD_OUT], y_test[:HELD_OUT], "classes"


def _processor_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _mercer(X, y, kind, threads):
    from sklearn.model_selection import KFold, StratifiedKFold

    from mercer import SVCCV, SVRCV

    splitter = StratifiedKFold if kind == "classes" else KFold
    folds = splitter(FOLDS, shuffle=True, random_state=0)
    own = {"epsilon": 0.0, "scoring": "neg_mean_absolute_error"} if kind == "median" else {}
    machine = SVCCV if kind == "classes" else SVRCV
    return machine(SIZE, SIZE, cv=folds, n_jobs=threads, **own).fit(X, y).predict


def _liquid(X, y, kind, threads):
    with _as_it_knew_python():
        import liquidSVM

    machine = {"classes": liquidSVM.mcSVM, "mean": liquidSVM.lsSVM, "median": liquidSVM.qtSVM}[kind]
    own = {"weights": [0.5]} if kind == "median" else {}
    return machine(X.astype(np.float64), y, display=0, folds=FOLDS, threads=threads, **own).predict


@contextmanager
def _as_it_knew_python():
    """liquidSVM finds its library by a name of the configuration that Python 3.11 no longer has, and imports
    `pkg_resources`, which newer versions of setuptools lack, for data that are not asked for here."""
    known, resources = sysconfig.get_config_var, types.ModuleType("pkg_resources")
    sysconfig.get_config_var = lambda name: ".so" if name == "SO" else known(name)
    is_missing = find_spec("pkg_resources") is None
    if is_missing:
        sys.modules["pkg_resources"] = resources
    try:
        yield
    finally:
        sysconfig.get_config_var = known
        if is_missing:
            del sys.modules["pkg_resources"]


SEARCHES = {"mercer": _mercer, "liquidSVM": _liquid}
