"""How time grows with n, at a fixed share of support vectors: the slope of log on log.

``python -m benchmarks.race growth`` is the race of small sizes; ``python -m benchmarks.growth --sizes 100000 200000``
fits each machine to 10^5 rows and more, each in a process of its own under a memory limit, and prints time, memory,
certificate and support vectors, with oneDAL beside it where that is installed and asked for.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.harness.entry import Plan, run_entry
from benchmarks.harness.peers import MERCER, contestants
from benchmarks.harness.report import seconds, table
from benchmarks.sets.data import SETTINGS

SIZES = (2000, 4000, 8000, 16_000, 32_000, 64_000)
GOALS = {"fit on n": 2.0, "predict on SVs": 1.05}


@dataclass(frozen=True)
class Slope:
    """time ~ size ** slope, for one contestant."""

    contestant: str
    of: str
    slope: float


def slope(sizes, times):
    """Least-squares slope of log time on log size.

    Examples
    --------
    >>> float(round(slope([10, 100], [1.0, 100.0]), 6))
    2.0
    """
    return np.polyfit(np.log(sizes), np.log(times), 1)[0]


def growth_race(options):
    """Fits of made data of 2,000 to 64,000 rows; Mercer alone unless peers are named."""
    C, gamma = SETTINGS["made"][1]
    plan = Plan(fits=options.repeats, predictions=options.repeats, cap=options.cap, certify=False)
    fighters = contestants(options.peers if options.peers_named else [])
    entries = []
    for size in options.sizes or SIZES:
        entries.append(run_entry(f"made:{size}", C, gamma, fighters, plan))
        print(f"made:{size} done", flush=True)
    print_growth(entries)
    return entries


def print_growth(entries):
    """Times and share of support vectors by n, then the slopes beside their goals."""
    rows = [_row(entry, name) for entry in entries for name in entry.results]
    print(table(("contestant", "n", "SVs", "share %", "fit s", "first s", "predict s", "fit/floor"), rows))
    for found in slopes(entries):
        goal = f" (goal: at most {GOALS[found.of]})" if found.contestant == MERCER.name else ""
        print(f"{found.contestant}: slope of {found.of} {found.slope:.2f}{goal}")


def _row(entry, name):
    result = entry.results[name]
    times = entry.over_floor("fit") if name == MERCER.name else None
    over = "-" if times is None else f"{times:.2f}"
    share = f"{100 * result.n_support / entry.n:.1f}"
    times = (seconds(result.fit.best), seconds(result.fit.first), seconds(result.predict.best))
    return (name, entry.n, result.n_support, share, *times, over)


def slopes(entries):
    """Slopes of each contestant that ran at two sizes at least."""
    found = []
    for name in dict.fromkeys(name for entry in entries for name in entry.results):
        ran = [entry for entry in entries if name in entry.results]
        if len(ran) > 1:
            results = [entry.results[name] for entry in ran]
            fits, predictions = [r.fit.best for r in results], [r.predict.best for r in results]
            found.append(Slope(name, "fit on n", slope([entry.n for entry in ran], fits)))
            found.append(Slope(name, "predict on SVs", slope([r.n_support for r in results], predictions)))
    return found


if __name__ == "__main__":
    from benchmarks.large_fits import main

    main()
