"""A pytest session that runs its tests once for each mutant, in a copy of itself.

Tests are collected and modules imported once. Each mutant then lives in a forked child, which runs the tests that
reach its function until one fails. What a child may use is processor time, not time on the clock, so that a busy
machine makes no mutant look like a loop without an end.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.mutants.in_memory import PACKAGE, Imported
from tests.mutants.operators import Mutant

KILLED, SURVIVED, TIMEOUT, CRASHED, UNREACHED = "killed", "survived", "timeout", "crashed", "unreached"


def lines_of(file: Path) -> dict[str, dict]:
    """The last line about each name in a file of JSON lines."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {each["name"]: each for each in map(json.loads, lines)}


class Hunt:
    """Plugin: in the place of running the tests, run them against mutants."""

    def __init__(self, mutants: list[Mutant], folder: Path, seconds: float, seconds_each: float) -> None:
        self.mutants, self.folder = mutants, folder
        self.end, self.seconds_each = time.monotonic() + seconds, seconds_each
        self.failed: list[str] = []

    def pytest_collection(self, session: pytest.Session) -> None:
        from hypothesis import Phase, settings  # not before pytest has made ready to rewrite its assertions

        # A failing example need not be made small, only be found.
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", settings.get_profile("ci"), phases=phases)
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for room in {mutant.file.split("/")[0] for mutant in self.mutants}:
            for path in sorted((PACKAGE / room).rglob("*.py")):
                importlib.import_module(f"mercer.{'.'.join(path.relative_to(PACKAGE).with_suffix('').parts)}")
        self.imported = Imported()
        # Children share what is there with their parent, and need not look through it for garbage.
        gc.freeze()
        self.folder.mkdir(parents=True, exist_ok=True)
        items = {item.nodeid: item for item in session.items}
        reached = self._reached(items)
        # Tests that fail without any fault would notice every one.
        (self.folder / "left_out.txt").write_text("\n".join(sorted(items.keys() - reached.keys())))
        items = {name: item for name, item in items.items() if name in reached}
        with open(self.folder / "results.jsonl", "a", encoding="utf-8") as results:
            for mutant in self.mutants:
                if time.monotonic() > self.end:
                    break
                print(json.dumps(self._judge(mutant, items, reached)), file=results, flush=True)
        return True

    # ------------------------------------------------------------ which test reaches what

    def _reached(self, items: dict[str, pytest.Item]) -> dict[str, dict]:
        """Of each test: the functions it calls, and its seconds. Learned from one run without any fault, and kept."""
        kept = self.folder / "reached.jsonl"
        known = lines_of(kept)
        missing = [item for name, item in items.items() if name not in known]
        if missing:
            self._in_child(lambda: self._watch(missing, kept), seconds=7200)
        return lines_of(kept)

    def _watch(self, items: list[pytest.Item], kept: Path) -> int:
        called: set[tuple[str, str]] = set()

        def note(frame, event, _):
            code = frame.f_code
            if event == "call" and code.co_filename.startswith(str(PACKAGE)):
                called.add((code.co_filename, code.co_qualname.split(".<locals>")[0]))

        for item, following in zip(items, [*items[1:], None], strict=True):
            called.clear()
            start = time.process_time()
            sys.setprofile(note)
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            sys.setprofile(None)
            if item.nodeid in self.failed:  # it notices everything
                continue
            functions = defaultdict(list)
            for file, function in sorted(called):
                functions[str(Path(file).relative_to(PACKAGE))].append(function)
            line = {"name": item.nodeid, "seconds": time.process_time() - start, "functions": functions}
            with open(kept, "a", encoding="utf-8") as file:
                print(json.dumps(line), file=file)
        return 0

    def _tests_for(self, mutant: Mutant, items: dict[str, pytest.Item], reached: dict[str, dict]) -> list[str]:
        """Names of the tests that reach its function, as many of the quickest as there is time for.

        Calls from compiled code into compiled code cannot be seen; for functions that nobody is seen to call, the
        tests count that reach their file, and then those that reach a file that imports from it.
        """
        names = [name for name in items if mutant.function in reached[name]["functions"].get(mutant.file, ())]
        if not names:
            near = {str(Path(file).relative_to(PACKAGE)) for file in self.imported.importers(PACKAGE / mutant.file)}
            names = [name for name in items if near & set(reached[name]["functions"])]
        # Its own tests first; they know best.
        stem = Path(mutant.file).stem
        names.sort(key=lambda name: (f"test_{stem}.py" not in name, reached[name]["seconds"]))
        chosen, total = [], 0.0
        for name in names:
            total += reached[name]["seconds"]
            if chosen and total > self.seconds_each:
                break
            chosen.append(name)
        return chosen

    # ------------------------------------------------------------ one mutant

    def _judge(self, mutant: Mutant, items: dict[str, pytest.Item], reached: dict[str, dict]) -> dict:
        known = {"name": mutant.name, **asdict(mutant)}
        names = self._tests_for(mutant, items, reached)
        if not names:
            return {**known, "outcome": UNREACHED, "tests": 0}
        expected = sum(reached[name]["seconds"] for name in names)
        status, seconds = self._in_child(
            lambda: self._run(mutant, [items[name] for name in names]), 60.0 + 5.0 * expected
        )
        outcome = {0: SURVIVED, 1: KILLED, -signal.SIGXCPU: TIMEOUT, -signal.SIGKILL: TIMEOUT}.get(status, CRASHED)
        return {**known, "outcome": outcome, "tests": len(names), "seconds": round(seconds, 2)}

    def _run(self, mutant: Mutant, items: list[pytest.Item]) -> int:
        if not self.imported.put_in(PACKAGE / mutant.file, mutant.number):
            return 3
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return 1
        return 0

    def _in_child(self, work: Callable[[], int], seconds: float) -> tuple[int, float]:
        """(exit code, or minus the signal that ended it; seconds of processor time) of `work` in a forked child."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        child = os.fork()
        if not child:
            status = 2
            with contextlib.suppress(BaseException):
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 3))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                nowhere = os.open(os.devnull, os.O_RDWR)
                os.dup2(nowhere, 1)
                os.dup2(nowhere, 2)
                status = work()
            os._exit(status)
        _, code = os.waitpid(child, 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return os.waitstatus_to_exitcode(code), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
