"""Run a race by name: ``python -m benchmarks.race fit --sets spambase letter``."""

import argparse
import json
from dataclasses import is_dataclass
from pathlib import Path

from benchmarks.growth import growth_race
from benchmarks.harness.entry import as_record
from benchmarks.harness.environment import environment, headline
from benchmarks.harness.peers import PEERS
from benchmarks.harness.protocol import CAP
from benchmarks.races.grid import fit_race, predict_race, short_race, small_race
from benchmarks.races.linear import linear_growth_race, linear_race
from benchmarks.races.memory import memory_race
from benchmarks.races.pegasos import pegasos_race
from benchmarks.races.profile import profile_race
from benchmarks.races.selection import selection_race
from benchmarks.races.startup import startup_race
from benchmarks.races.studio import studio_race

RACES = {
    "fit": fit_race,
    "predict": predict_race,
    "small": small_race,
    "pegasos": pegasos_race,
    "growth": growth_race,
    "linear": linear_race,
    "linear_growth": linear_growth_race,
    "memory": memory_race,
    "profile": profile_race,
    "selection": selection_race,
    "startup": startup_race,
    "studio": studio_race,
    "short": short_race,
}
_NAMES = ", ".join(RACES) + " (default: short)"


def _parser():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.race", description=__doc__.split(":")[0])
    parser.add_argument("race", nargs="?", default="short", choices=RACES, metavar="NAME", help=_NAMES)
    parser.add_argument("--sets", nargs="+", metavar="SET", help="data sets; SET:N keeps N training rows")
    parser.add_argument("--settings", nargs="+", metavar="S", help="1, 2, 3 (of the set's three) or C:gamma")
    parser.add_argument("--peers", nargs="*", choices=PEERS, help="peers to race against (default: all)")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each contestant (default 3)")
    parser.add_argument("--cap", type=float, default=CAP, help=f"slower first runs are the last (default {CAP:g} s)")
    parser.add_argument("--sizes", nargs="+", type=int, help="rows, for the growth race")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured to FILE")
    return parser


def parse(arguments=None):
    """Options from the command line, checked."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {options.repeats}")
    options.peers_named = options.peers is not None
    options.missed = []  # sentences, by the races that have goals
    options.peers = list(PEERS) if options.peers is None else options.peers
    return options


def main(arguments=None):
    """Run one race and, where asked, keep its figures; 1 where a goal was missed by more than the noise."""
    options = parse(arguments)
    found = environment()
    print(headline(found), flush=True)
    try:
        rows = RACES[options.race](options)
    except (ValueError, FileNotFoundError) as error:  # an unknown set, a folder that is not there
        raise SystemExit(str(error)) from error
    if options.json:
        records = [as_record(row) if is_dataclass(row) else row for row in rows]
        report = {"race": options.race, "environment": found, "rows": records}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=1, default=float) + "\n")
    return 1 if options.missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
