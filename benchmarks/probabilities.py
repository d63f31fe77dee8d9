"""What probabilities cost, in fits: ``python -m benchmarks.probabilities --sets higgs11k:6000 letter:5000``.

Each machine is fitted without probabilities, with Platt's sigmoids and with isotonic ones, in turns in one process;
seconds are the processor's, the least of several. The goal is at most two fits more.
"""

import argparse
import time

from benchmarks.harness.environment import environment, headline
from benchmarks.logistic import loaded
from mercer import SVC, LinearSVC, NuSVC

SETS = ("spambase", "higgs11k:6000", "a9a:5000", "letter:5000", "mnist10:3000")
MACHINES = {"SVC": (SVC, {}), "NuSVC": (NuSVC, {"nu": 0.3}), "LinearSVC": (LinearSVC, {})}
KINDS = (False, "sigmoid", "isotonic")
HEADINGS = ("data", "rows", "machine", "fit s", "sigmoid: fits more", "isotonic: fits more")


def main(arguments=None):
    """Print one line for each set and machine."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probabilities", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), help="names, each with :N for N training rows")
    parser.add_argument("--machines", nargs="+", default=list(MACHINES), choices=list(MACHINES))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    print(headline(environment()))
    print("| " + " | ".join(HEADINGS) + " |\n" + "|---" * len(HEADINGS) + "|")
    for name in options.sets:
        for line in lines(loaded(name), options):
            print("| " + " | ".join(line) + " |", flush=True)


def lines(data, options):
    """One line for each machine."""
    for name in options.machines:
        seconds = costs(*MACHINES[name], data, options.repeats)
        more = [f"{(seconds[kind] - seconds[False]) / seconds[False]:.1f}" for kind in KINDS[1:]]
        yield data.name, str(len(data.y)), name, f"{seconds[False]:.3f}", *more


def costs(machine, parameters, data, repeats):
    """The least processor seconds of each kind of probability."""
    seconds = {kind: [] for kind in KINDS}
    for _ in range(repeats + 1):
        for kind, taken in seconds.items():
            begin = time.process_time()
            machine(**parameters, probability=kind).fit(data.X, data.y)
            taken.append(time.process_time() - begin)
    return {kind: min(taken[1:]) for kind, taken in seconds.items()}


if __name__ == "__main__":
    main()
