"""Mutation tests: ``python -m tests.mutants problems --seconds 3600``, ``python -m tests.mutants --report``.

Mutants of a room are taken in a random order that depends on the seed alone, so whatever has been judged when time is
up is a random sample. What is known is kept in build/mutants, and the next run goes on from there.
"""

import argparse
import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.hunt import KILLED, SURVIVED, UNREACHED, Hunt, lines_of
from tests.mutants.in_memory import PACKAGE
from tests.mutants.interpreted import interpret, is_compiled
from tests.mutants.operators import Mutant, mutants

TESTS = {
    "problems": [
        "tests/problems",
        "tests/laws",
        "tests/estimators",
        "tests/oracles/test_forms.py",
        "tests/oracles/test_mkl_against_clarabel.py",
    ],
    "exchange": ["tests/exchange"],
    "solvers": ["tests/solvers", "tests/estimators", "tests/oracles", "tests/laws"],
}
"""Rooms, and where the tests of each are."""


def of_room(room: str, seed: int) -> list[Mutant]:
    """Its mutants, in a random order, which does not depend on what is left out of it as no fault at all."""
    found = [
        mutant
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for mutant in mutants(str(path.relative_to(PACKAGE)), path.read_text(encoding="utf-8"))
    ]
    random.Random(seed).shuffle(found)  # noqa: S311 - a sample, no secret
    return [mutant for mutant in found if not mutant.is_none]


def results(folder: Path, found: list[Mutant]) -> dict[str, dict]:
    """What is known of each mutant that there is; the last word counts."""
    names = {mutant.name for mutant in found}
    return {name: each for name, each in lines_of(folder / "results.jsonl").items() if name in names}


def report(build: Path) -> None:
    """A table of all rooms, and their survivors."""
    rooms = {room: of_room(room, 0) for room in TESTS}
    known = {room: results(build / room, found) for room, found in rooms.items()}
    print("| room | mutants | judged | killed | of them by time or crash | survived | no test reaches | killed, % |")
    print("|---|---|---|---|---|---|---|---|")
    for room, found in rooms.items():
        counts = Counter(each["outcome"] for each in known[room].values())
        judged = counts.total()
        alive = counts[SURVIVED] + counts[UNREACHED]
        share = f"{100 * (judged - alive) / judged:.1f}" if judged else ""
        other = judged - alive - counts[KILLED]
        row = (room, len(found), judged, judged - alive, other, counts[SURVIVED], counts[UNREACHED], share)
        print("|", " | ".join(map(str, row)), "|")
    for room in TESTS:
        for name, each in sorted(known[room].items()):
            if each["outcome"] in {SURVIVED, UNREACHED}:
                print(each["outcome"], name)


def main() -> None:
    """Judge mutants of some rooms, or report."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Mutation tests of Mercer.")
    parser.add_argument("room", nargs="?", choices=TESTS)
    parser.add_argument("--seconds", type=float, default=3600.0, help="on the clock")
    parser.add_argument("--seconds-each", type=float, default=20.0, help="of tests for a mutant, by processor time")
    parser.add_argument("--seconds-most", type=float, default=120.0, help="that a test may take without any fault")
    parser.add_argument("--cases", type=int, default=5, help="at most, of a test that has several")
    parser.add_argument("--sample", type=int, default=None, help="how many mutants; all unless given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--build", type=Path, default=Path("build/mutants"))
    parser.add_argument("--only", choices=("plain", "compiled"), help="faults of such functions, and no others")
    parser.add_argument("--interpreted", action="store_true", help="compiled functions of the room as plain Python")
    parser.add_argument("--tests", nargs="+", help="where the tests are, if not all of a room's are wanted")
    parser.add_argument("--again", action="store_true", help="judge the survivors anew, and nothing else")
    parser.add_argument("--report", action="store_true")
    chosen = parser.parse_args()
    if chosen.report or not chosen.room:
        report(chosen.build)
        return
    sys.exit(judge(chosen))


def wanted(mutant: Mutant, chosen: argparse.Namespace) -> bool:
    """Whether it is a fault of the functions that were asked for."""
    return chosen.only is None or (chosen.only == "compiled") == is_compiled(PACKAGE / mutant.file, mutant.function)


def judge(chosen: argparse.Namespace) -> int:
    """Judge what is not known yet of a room."""
    folder, found = chosen.build / chosen.room, of_room(chosen.room, chosen.seed)
    known = results(folder, found)
    alive = {name for name, each in known.items() if each["outcome"] in {SURVIVED, UNREACHED}}
    waiting = [
        each
        for each in found[: chosen.sample]
        if (each.name in alive if chosen.again else each.name not in known) and wanted(each, chosen)
    ]
    if chosen.interpreted:
        interpret(chosen.room)
    reached = folder / ("reached_interpreted.jsonl" if chosen.interpreted else "reached.jsonl")
    hunt = Hunt(waiting, reached, chosen.seconds, chosen.seconds_each, chosen.seconds_most, chosen.cases)
    if chosen.interpreted:
        hunt.as_interpreted(chosen.room, folder / "reached.jsonl")
    # A loop is ended by its processor time; the clock is for what waits and takes none.
    options = f"-q --timeout=120 -p no:cacheprovider -p no:xdist --basetemp={folder / f'files-{os.getpid()}'}".split()
    return pytest.main([*options, "-m", "not slow", *(chosen.tests or TESTS[chosen.room])], plugins=[hunt])


if __name__ == "__main__":
    main()
