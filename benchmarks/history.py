"""What races measured before, by processor, and what got slower: ``python -m benchmarks.history race.json``.

A race writes its figures with ``--json FILE``; this adds them to a file of one line a figure, and shows how each
compares with the best that the same processor ever did. Without a FILE it only shows.
"""

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.harness.report import seconds, table
from benchmarks.sets.data import ROOT

HISTORY = ROOT / "benchmarks" / "history.jsonl"
MEASURES = ("fit", "predict")
# Between two days a machine differs by as much without anybody's doing.
SLOWER = 1.15


def figures(report, day):
    """One dictionary for each row and measure of a race's report: Mercer's seconds and the best peer's."""
    environment = report["environment"]
    common = {"day": day, "processor": environment["processor"], "level": environment["level"], "race": report["race"]}
    for row in report["rows"]:
        for what, measure, times in _times(row):
            ours = times.pop("mercer", None)
            if ours is not None:
                peer = min(times.values(), default=None)
                yield common | {"row": what, "measure": measure, "mercer": ours, "peer": peer}


def _times(row):
    """(what, measure, seconds of each contestant) of a row of any race that has peers."""
    if "results" in row:
        what = f"{row['data']} n={row['n']} C={row['C']:g} gamma={row['gamma']:g}"
        for measure in MEASURES:
            yield what, measure, {name: min(found[measure]["seconds"]) for name, found in row["results"].items()}
    elif "mercer s" in row:
        times = {key.removesuffix(" s"): value for key, value in row.items() if key.endswith(" s")}
        yield f"{row['data']} n={row['n']} {row['loss']}", "fit", times
    elif "liquidSVM" in row:
        yield f"{row['data']} n={row['n']}", "search", {name: row[name]["clock"] for name in ("mercer", "liquidSVM")}


def read(path):
    """All figures kept so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def add(path, report, day):
    """Append the figures of a report; returns how many."""
    new = list(figures(report, day))
    with path.open("a") as file:
        file.writelines(json.dumps(figure) + "\n" for figure in new)
    return len(new)


def compared(kept):
    """For each figure of the newest day of its processor: (figure, best before or None)."""
    latest, before = {}, {}
    for figure in kept:  # in the order in which they were kept
        key = tuple(figure[name] for name in ("processor", "level", "race", "row", "measure"))
        if key in latest:
            older = latest[key]["mercer"]
            before[key] = min(older, before.get(key, older))
        latest[key] = figure
    return [(figure, before.get(key)) for key, figure in latest.items()]


def show(kept):
    """A table for each processor; returns the rows that got slower by more than days differ."""
    found = compared(kept)
    slower = [(figure, best) for figure, best in found if best is not None and figure["mercer"] > SLOWER * best]
    for processor in dict.fromkeys((figure["processor"], figure["level"]) for figure, _ in found):
        rows = [
            (figure["row"], figure["measure"], figure["day"], seconds(figure["mercer"]), seconds(best), _ratio(figure))
            for figure, best in found
            if (figure["processor"], figure["level"]) == processor
        ]
        print(f"\n{processor[0]}, {processor[1]}")
        print(table(("row", "measure", "day", "Mercer s", "best before", "times peer"), rows))
    for figure, best in slower:
        print(f"slower  {figure['row']}, {figure['measure']}: {seconds(figure['mercer'])} s, was {seconds(best)} s")
    return slower


def _ratio(figure):
    return "-" if figure["peer"] is None else f"{figure['peer'] / figure['mercer']:.2f}"


def main(arguments=None):
    """Add the figures of a race, if one is named, and show what got slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__.split(":")[0])
    parser.add_argument("report", nargs="?", type=Path, help="what `python -m benchmarks.race NAME --json FILE` wrote")
    parser.add_argument("--file", type=Path, default=HISTORY, help="where figures are kept (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.report:
        add(options.file, json.loads(options.report.read_text()), datetime.now(UTC).date().isoformat())
    return 1 if show(read(options.file)) else 0


if __name__ == "__main__":
    raise SystemExit(main())
