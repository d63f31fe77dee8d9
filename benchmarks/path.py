"""The regularisation path against the fits it replaces, and predictions of preflight against fits.

    python -m benchmarks.path                       # the exact path on 1000 rows in units of fits
    python -m benchmarks.path preflight             # predicted and measured time and memory
    python -m benchmarks.path leave-one-out         # exact leave-one-out in units of fits

Processor time of one process with one thread, so that other work on the machine does not count.
"""

import argparse
import json
import sys
import time
from multiprocessing import get_context

import numpy as np

import mercer
from benchmarks.harness.resident import peak_bytes, reset_peak, resident_bytes
from benchmarks.sets.data import SETTINGS, base_name, load
from mercer import SVC, leave_one_out, preflight
from mercer.selection.preflight.timer import CoreTimer

PATH_SETS = ("spambase:1000", "a9a:1000", "ijcnn1:1000", "higgs11k:1000", "mnist2:1000")
PREFLIGHT_SETS = ("spambase", "higgs11k", "shuttle", "letter", "ijcnn1", "a9a", "w8a", "mnist2", "mnist10")
GOAL_FITS = 10.0
GOAL_RATIO = 2.0
REPEATS = 7
FIT_CS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def timed(action, repeats=3, clock=time.process_time):
    """(the least time of several runs, what the last returned)."""
    best = np.inf
    for _ in range(repeats):
        begin = clock()
        out = action()
        best = min(best, clock() - begin)
    return best, out


def race_path(name):
    """The exact path up to C = 1000, and the mean fit along it."""
    data = load(name)
    gamma = SETTINGS[base_name(name)][1][1]
    X = np.asarray(data.X.toarray() if hasattr(data.X, "toarray") else data.X, dtype=np.float64)
    machine = SVC(gamma=gamma, n_jobs=1)
    seconds, path = timed(lambda: mercer.regularization_path(machine, X, data.y, method="exact"), REPEATS)
    fits = [timed(lambda C=C: SVC(C=C, gamma=gamma, n_jobs=1).fit(X, data.y), REPEATS)[0] for C in FIT_CS]
    gaps = [path.gap(C) for C in FIT_CS]
    row = {"set": name, "events": path.n_events, "path": seconds, "fit": float(np.mean(fits)), "gap": max(gaps)}
    return row | {"fits": row["path"] / row["fit"], "goal": GOAL_FITS}


def race_leave_one_out(name):
    """Exact leave-one-out, and how many fits it replaces."""
    data = load(name)
    C, gamma = SETTINGS[base_name(name)][1]
    X = np.asarray(data.X.toarray() if hasattr(data.X, "toarray") else data.X, dtype=np.float64)
    model = SVC(C=C, gamma=gamma, n_jobs=1)
    leave_one_out(model, X[:500], data.y[:500])  # compiled code is there before anything is timed
    seconds, found = timed(lambda: leave_one_out(model, X, data.y), 1)
    fit, _ = timed(lambda: model.fit(X, data.y))
    row = {"set": name, "error": found.error, "exact": seconds, "fit": fit, "fits": seconds / fit}
    return row | {"replaces": len(model.support_)}


def added_bytes(name, C, gamma):
    """Bytes that the first large fit of a process adds to what was resident before."""
    data = load(name)
    SVC(C=C, gamma=gamma).fit(data.X[:500], data.y[:500])
    before = resident_bytes()
    reset_peak()
    SVC(C=C, gamma=gamma).fit(data.X, data.y)
    return peak_bytes() - before


def alone(work):
    """Seconds that work takes, without what it waited for a core."""
    timer = CoreTimer()
    work()
    return timer.seconds()[0]


def race_preflight(name):
    """Predicted and measured time and memory, at the second setting of a set."""
    data = load(name)
    C, gamma = SETTINGS[base_name(name)][1]
    model = SVC(C=C, gamma=gamma)
    begin = time.perf_counter()
    record = preflight(model, data.X, data.y)
    took = time.perf_counter() - begin
    # As preflight measures: without what the fit waited for a core.
    seconds = min(alone(lambda: model.fit(data.X, data.y)) for _ in range(2))
    with get_context("spawn").Pool(1) as pool:
        added = pool.apply(added_bytes, (name, C, gamma))
    row = {"set": name, "rows": record.n_rows, "predicted": record.seconds, "measured": seconds}
    row |= {"ratio": record.seconds / seconds, "MiB predicted": record.bytes / 2**20, "MiB measured": added / 2**20}
    return row | {"exponent": record.exponent, "preflight took": took}


RACES = {
    "path": (race_path, PATH_SETS),
    "leave-one-out": (race_leave_one_out, PATH_SETS),
    "preflight": (race_preflight, PREFLIGHT_SETS),
}


def main(arguments=None):
    """Run one race and print a line a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("race", nargs="?", default="path", choices=RACES)
    parser.add_argument("--sets", nargs="+")
    given = parser.parse_args(arguments)
    race, names = RACES[given.race]
    for name in given.sets or names:
        row = race(name)
        told = {key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in row.items()}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
