"""The panel: `python -m benchmarks.panel`, `--aside` for the tables kept for the last run, `--tune` for the search too,
`--coverage` for intervals.

Accuracy of classes and R squared of quantities on the same fifth of the rows for everybody; processor seconds of
fitting and predicting in one thread. `--write` puts the tables and the picture into the documentation.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.panel import report
from benchmarks.panel.contestants import contestants
from benchmarks.panel.coverage import coverage_of
from benchmarks.panel.tables import MOST_ROWS, kept_aside, load, names


def judged(name, most, with_tune):
    """Scores and processor seconds of all contestants on a table."""
    table = load(name, most)
    found = {"table": name, "task": table.task, "rows": len(table.y), "is_text": table.is_text, "by": {}}
    for who, machine in contestants(table, with_tune).items():
        begin = time.process_time()
        try:
            said = machine.fit(table.X, table.y).predict(table.X_test)
        except Exception as error:  # noqa: BLE001 - a contestant that fails is told of, and the others go on
            found["by"][who] = {"score": None, "seconds": None, "error": str(error)[:200]}
            continue
        found["by"][who] = {"score": _score(table, said), "seconds": time.process_time() - begin}
    return found


def _score(table, said):
    if table.task == "classification":
        return float(np.mean(said == table.y_test))
    away = table.y_test - table.y_test.mean()
    return float(1.0 - np.sum((said - table.y_test) ** 2) / (away @ away))


def _tell_coverage(wanted, most):
    quantities = [name for name in wanted if load(name, most).task == "regression"]
    found = []
    for name in quantities:
        inside, width = coverage_of(name, most)
        found.append(inside)
        print(f"{name:20}  {inside:.3f} within the interval, which is {width:.2f} of the range wide", flush=True)
    print(f"{len(found)} tables: {np.mean(found):.3f} on average, {min(found):.3f} to {max(found):.3f}")


def main():
    """Run, and say what came out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.panel", description=__doc__)
    parser.add_argument("tables", nargs="*", help="these only")
    parser.add_argument("--aside", action="store_true", help="the tables kept for the last run, too")
    parser.add_argument("--tune", action="store_true", help="the search, too")
    parser.add_argument("--rows", type=int, default=MOST_ROWS, help="of a table, at most")
    parser.add_argument("--coverage", action="store_true", help="how often intervals of 90 %% hold the truth")
    parser.add_argument("--keep", type=Path, help="a file of lines of JSON, to which results are added")
    parser.add_argument("--write", type=Path, help="a file of results, from which docs/panel.md is written anew")
    asked = parser.parse_args()
    if asked.write:
        report.write(asked.write)
        return
    warnings.simplefilter("ignore")
    aside = kept_aside()
    wanted = asked.tables or [name for name in names() if asked.aside or name not in aside]
    if asked.coverage:
        _tell_coverage(wanted, asked.rows)
        return
    results = []
    for name in wanted:
        found = judged(name, asked.rows, asked.tune) | {"is_aside": name in aside}
        results.append(found)
        print(report.line(found), flush=True)
        if asked.keep:
            with asked.keep.open("a") as file:
                file.write(json.dumps(found) + "\n")
    print(report.summary(results))


if __name__ == "__main__":
    main()
