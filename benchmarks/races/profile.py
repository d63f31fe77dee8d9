"""Where the time of a fit goes: processor seconds on one thread, by what is being done, beside the floor.

Each share is the time of the compiled functions of its kind in a profile, over the time of a fit that is not profiled;
what is left of the fit is Python, which a profile would make dearer than it is. Checks are kernel entries and gradients
too, and have a column of their own as well: what the functions that certify a fit take. The first fit touches its
memory and loads its code: by how much longer it takes. A tenth is noise.
"""

import cProfile
import pstats
import time
import warnings

import numpy as np

from benchmarks.harness.floor import floor_seconds, seconds_per_entry
from benchmarks.harness.goals import CERTIFICATE, CERTIFICATE_NOISE
from benchmarks.harness.peers import MERCER
from benchmarks.harness.report import seconds, table
from benchmarks.races.grid import chosen_settings
from benchmarks.sets.data import load, race_names

# Parts of the paths of the files in which the work of each kind is done; what is nowhere here is Python.
KINDS = {
    "entries": ("kernels/items", "kernels/vector", "kernels/base", "evaluation/tiles", "evaluation/exact"),
    "steps": ("dual_qp/pair_steps", "dual_qp/block_steps", "newton", "class_pairs/"),
    "gradient": ("evaluation/row_cache",),
}
CHECKS = ("fitting/certificate", "fitting/certifiers")
HEADINGS = (
    "data",
    "C",
    "gamma",
    "fit s",
    "entries",
    "steps",
    "gradient",
    "Python",
    "checks",
    "first fit",
    "fit/floor",
)


def profile_race(options):
    """A row for each set and setting; missed where a certificate takes too much of its fit."""
    warnings.simplefilter("ignore")
    rows = [row for name in options.sets or race_names() for row in profiles(name, options)]
    print(table(HEADINGS, [_told(row) for row in rows]), flush=True)
    for row in rows:
        if row["checks"] > CERTIFICATE * (1 + CERTIFICATE_NOISE):
            where = f"{row['data']}, C={row['C']:g}, gamma={row['gamma']:g}"
            options.missed.append(f"certificate: {where}: {100 * row['checks']:.0f} %, goal {100 * CERTIFICATE:.0f} %")
            print(f"missed  {options.missed[-1]}")
    return rows


def profiles(name, options):
    """Shares of the time of the fits of a set."""
    data = load(name)
    X, few = MERCER.prepare(data.X), np.random.default_rng(0).permutation(len(data.y))[:1000]
    for C, gamma in chosen_settings(name, options.settings):
        model = MERCER.estimator(C, gamma, n_jobs=1)
        model.fit(X[few], data.y[few])
        first = _processor_seconds(lambda model=model: model.fit(X, data.y))
        again = _processor_seconds(lambda model=model: model.fit(X, data.y))
        profile = cProfile.Profile(time.process_time)
        profile.runcall(model.fit, X, data.y)
        floor = floor_seconds(X.shape[0], len(model.support_), seconds_per_entry(X, gamma, time.process_time))
        row = {"data": name, "C": C, "gamma": gamma, "seconds": again, "first": first, "floor": floor}
        yield row | shares(profile, again)


def shares(profile, whole):
    """Which share of `whole` each kind of work takes, by its own functions; of checks, with all they call."""
    stats = pstats.Stats(profile).stats
    found = dict.fromkeys(KINDS, 0.0)
    for (path, _, _), (_, _, own, _, _) in stats.items():
        for kind in (kind for kind, parts in KINDS.items() if any(part in path for part in parts)):
            found[kind] += own / whole
    checks = [each[3] for (path, *_), each in stats.items() if any(part in path for part in CHECKS)]
    return found | {"Python": max(0.0, 1.0 - sum(found.values())), "checks": max(checks, default=0.0) / whole}


def _processor_seconds(action):
    begin = time.process_time()
    action()
    return time.process_time() - begin


def _told(row):
    parts = [f"{100 * row[kind]:.0f} %" for kind in (*KINDS, "Python", "checks")]
    later = f"{100 * (row['first'] / row['seconds'] - 1):+.0f} %"
    over = f"{row['seconds'] / row['floor']:.1f}"
    return (row["data"], f"{row['C']:g}", f"{row['gamma']:g}", seconds(row["seconds"]), *parts, later, over)
