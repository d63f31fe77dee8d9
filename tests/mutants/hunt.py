"""A pytest session that runs its tests once for each mutant, in a copy of itself.

Tests are collected, modules imported, and fixtures that several tests share set up once. Each mutant then lives in a
forked child, which runs the tests that reach its line until one fails. What a child may use is processor time, not
time on the clock, so that a busy machine makes no mutant look like a loop without an end.
"""

import contextlib
import gc
import importlib
import json
import mmap
import os
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import CodeType

import pytest

import mercer
from tests.mutants.callers import Callers, names_in
from tests.mutants.in_memory import PACKAGE, Imported
from tests.mutants.operators import Mutant

KILLED, SURVIVED, TIMEOUT, CRASHED, UNREACHED = "killed", "survived", "timeout", "crashed", "unreached"
# How a child says that its fault is in no function: it compiles to the same code, or refers to other variables of the
# function around it, which Python does not allow. Nobody has noticed such a fault.
NOT_PUT_IN = 3
OUTCOMES = {0: SURVIVED, NOT_PUT_IN: SURVIVED, 1: KILLED, -signal.SIGXCPU: TIMEOUT, -signal.SIGKILL: TIMEOUT}
# Seconds of processor time that a test may take besides five times what it takes without a fault: it may compile.
MORE_SECONDS, MORE_SECONDS_TO_COMPILE = 3, 30

# A test that takes longer is timed once more, with nothing to compile or to note.
WORTH_TIMING_ALONE = 0.5

# Of a compiled function that runs as plain Python: how many tests that reach a line are enough, and how many are tried.
ENOUGH, TRIES = 16, 20


def _too_slow(*_: object) -> None:
    raise TimeoutError("too slow to be of use")


class _Within:
    """Stands for some other test of a module."""

    def __init__(self, module: pytest.Collector) -> None:
        self.listchain = module.listchain


def _shared_fixtures(item: pytest.Item) -> Iterator[pytest.FixtureDef]:
    """The fixtures of a test that are set up for several."""
    for some in item._fixtureinfo.name2fixturedefs.values():
        # Those of pytest and its plugins are at home nowhere: they are left alone.
        yield from (each for each in some if each.scope != "function" and each.baseid)


def _lines(code: CodeType) -> set[int]:
    return {line for *_, line in code.co_lines() if line}


def _reaches(each: dict, mutant: Mutant) -> bool:
    return not each["lines"].get(mutant.file, set()).isdisjoint(range(mutant.first, mutant.last + 1))


def _with_sets(file: Path) -> dict[str, dict]:
    """The lines that each test reaches; one that fails without any fault would notice every one, and is left out."""
    found = {name: each for name, each in lines_of(file).items() if "lines" in each}
    for each in found.values():
        each["lines"] = {file: set(lines) for file, lines in each["lines"].items()}
    return found


def lines_of(file: Path) -> dict[str, dict]:
    """The last line about each name in a file of JSON lines."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {each["name"]: each for each in map(json.loads, lines)}


class Hunt:
    """Plugin: in the place of running the tests, run them against mutants."""

    def __init__(
        self, mutants: list[Mutant], kept: Path, seconds: float, seconds_each: float, most: float, cases: int
    ) -> None:
        self.mutants, self.kept, self.folder, self.cases = mutants, kept, kept.parent, cases
        self.end, self.seconds_each, self.most = time.monotonic() + seconds, seconds_each, most
        self.failed: list[str] = []
        self.ran: Counter[str] = Counter()
        self.noticed: Counter[str] = Counter()
        self.sets_up = False
        self.compiled_reach: dict[str, dict] = {}
        self.tried: set[str] = set(lines_of(kept))
        self.callers: Callers | None = None

    def as_interpreted(self, room: str, reached: Path) -> None:
        """Compiled functions are plain Python: learn which tests reach a line when a mutant asks, and not of all.

        `reached` is what a run with compiled functions has learned; it says which tests are worth a try.
        """
        self.callers, self.compiled_reach = Callers(room), _with_sets(reached)

    def pytest_collection(self, session: pytest.Session) -> None:
        from hypothesis import Phase, settings  # not before pytest has made ready to rewrite its assertions

        # A failing example need not be made small, only be found.
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", settings.get_profile("ci"), phases=phases)
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Of the cases of one test keep a few: what the others reach is much the same."""
        cases = defaultdict(list)
        for item in items:
            cases[item.nodeid.partition("[")[0]].append(item)
        kept = {
            some[i * (len(some) - 1) // max(1, self.cases - 1)] for some in cases.values() for i in range(self.cases)
        }
        items[:] = [item for item in items if item in kept]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> pytest.TestReport:
        """Whether it failed; nobody will read where, and to say so takes longer than most tests."""
        is_skipped = call.excinfo is not None and call.excinfo.errisinstance(pytest.skip.Exception)
        outcome = "skipped" if is_skipped else "failed" if call.excinfo else "passed"
        where = (str(item.path), 0, "skipped") if is_skipped else None
        return pytest.TestReport(item.nodeid, item.location, item.keywords, outcome, where, call.when)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef) -> None:
        self.sets_up |= fixturedef.scope != "function" and bool(fixturedef.baseid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for room in {mutant.file.split("/")[0] for mutant in self.mutants}:
            for path in sorted((PACKAGE / room).rglob("*.py")):
                importlib.import_module(f"mercer.{'.'.join(path.relative_to(PACKAGE).with_suffix('').parts)}")
        for name in mercer.__all__:  # which are imported when they are asked for, and would be in every child
            getattr(mercer, name)
        self.imported = Imported()
        self.folder.mkdir(parents=True, exist_ok=True)
        items = {item.nodeid: item for item in session.items}
        reached = self._reached({} if self.callers else items)
        # What is compiled by now would be loaded by every child.
        self.imported.load_compiled()
        # Children share what is there with their parent, and need not look through it for garbage.
        gc.freeze()
        if not self.callers:
            items = {name: item for name, item in items.items() if name in reached}
            self._set_up(session, items.values())
        with open(self.folder / "results.jsonl", "a", encoding="utf-8") as results:
            for mutant in self.mutants:
                if time.monotonic() > self.end:
                    break
                if self.callers:
                    self._learn(mutant, items, reached)
                print(json.dumps(self._judge(mutant, items, reached)), file=results, flush=True)
        return True

    # ------------------------------------------------------------ which test reaches what

    def _reached(self, items: dict[str, pytest.Item]) -> dict[str, dict]:
        """Of each test: the lines it runs, and its seconds. Learned from one run without any fault, and kept."""
        known = lines_of(self.kept)
        missing = [item for name, item in items.items() if name not in known]
        if missing:
            self._in_child(lambda _: self._watch(missing))
        return _with_sets(self.kept)

    def _learn(self, mutant: Mutant, items: dict[str, pytest.Item], reached: dict[str, dict]) -> None:
        """Run tests that lead to a compiled function, the quickest first, until enough of them reach the mutant."""
        room = mutant.file.partition("/")[0]
        leading, names = self.callers.lines(mutant.function), self.callers.names(mutant.function)
        seconds = {}
        for name, each in self.compiled_reach.items():
            if name not in items:
                continue
            # Its own room's tests call it by name; elsewhere the name is likely to be another's.
            is_direct = name.startswith(f"tests/{room}/") and not names.isdisjoint(names_in(items[name].path))
            if is_direct or any(line in each["lines"].get(file, ()) for file, line in leading):
                seconds[name] = (not is_direct, each["seconds"])
        tries = TRIES
        for name in sorted(seconds, key=seconds.get):
            if tries == 0 or sum(_reaches(each, mutant) for each in reached.values()) >= ENOUGH:
                break
            if name not in self.tried:
                tries -= 1
                self.tried.add(name)
                self._in_child(lambda _, item=items[name]: self._watch([item]))
                reached.update(_with_sets(self.kept))

    def _watch(self, items: list[pytest.Item]) -> int:
        rooms = tuple({f"{PACKAGE / mutant.file.split('/')[0]}{os.sep}" for mutant in self.mutants})
        unseen: dict[CodeType, set[int]] = {}

        def note(frame, event, _):
            code = frame.f_code
            left = unseen.get(code)
            if left is None:
                left = unseen[code] = _lines(code) if code.co_filename.startswith(rooms) else set()
            left.discard(frame.f_lineno)
            # Of what has been seen in full nothing more is noted: loops of plain Python are slow enough.
            frame.f_trace_lines = bool(left)
            return note if left else None

        signal.signal(signal.SIGPROF, _too_slow)
        for item, following in zip(items, [*items[1:], None], strict=True):
            unseen.clear()
            self.sets_up = False
            item.add_marker(pytest.mark.timeout(0))  # it may have to compile, on a machine that is busy
            seconds = self._seconds(item, following, note)
            if seconds > WORTH_TIMING_ALONE and item.nodeid not in self.failed:
                # It had to compile, or to note many lines: the second time is the true one.
                self._forget(item, self.sets_up)
                seconds = min(seconds, self._seconds(item, following, None))
            lines = defaultdict(list)
            for code, left in unseen.items():
                if code.co_filename.startswith(rooms):
                    lines[str(Path(code.co_filename).relative_to(PACKAGE))] += _lines(code) - left
            found = {"seconds": seconds, "sets_up": self.sets_up, "lines": lines}
            found = {"fails": True} if item.nodeid in self.failed else found
            with open(self.kept, "a", encoding="utf-8") as file:
                print(json.dumps({"name": item.nodeid, **found}), file=file)
        return 0

    def _seconds(self, item: pytest.Item, following: pytest.Item | None, note: Callable | None) -> float:
        """Of processor time that a test takes, while every line is noted, if it is."""
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, self.most)
        sys.settrace(note)
        try:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        finally:
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        return time.process_time() - start

    # ------------------------------------------------------------ fixtures that several tests share

    def _set_up(self, session: pytest.Session, items: Iterable[pytest.Item]) -> None:
        """Set up here what tests share, so that it is there in every child."""
        first = {item.parent: item for item in items if any(_shared_fixtures(item))}
        for item in first.values():
            item.ihook.pytest_runtest_protocol(item=item, nextitem=_Within(item.parent))
            # What is left is the module and its fixtures: they stay as they are, and nobody is told to take them down.
            session._setupstate.stack.clear()

    def _forget(self, item: pytest.Item, sets_up: bool) -> None:
        """Have a test set up what it shares with others, if it is the one that did when lines were noted."""
        for fixture in _shared_fixtures(item) if sets_up else ():
            fixture.cached_result = None
            fixture._finalizers.clear()

    def _tests_for(self, mutant: Mutant, items: dict[str, pytest.Item], reached: dict[str, dict]) -> list[str]:
        """Names of the tests that reach its statement, as many of the quickest as there is time for.

        Lines of compiled code cannot be seen; of a compiled function, the tests count that reach its file or one that
        imports from it.
        """
        names = [name for name in items if name in reached and _reaches(reached[name], mutant)]
        if not names and not self.callers and self._compiles(mutant):
            near = {str(Path(file).relative_to(PACKAGE)) for file in self.imported.importers(PACKAGE / mutant.file)}
            names = [name for name in items if near & set(reached[name]["lines"])]
        # Its own tests first; they know best.
        room, stem = Path(mutant.file).parts[0], Path(mutant.file).stem
        names.sort(
            key=lambda name: (
                f"{room}/test_{stem}.py" not in name,
                f"test_{stem}.py" not in name,
                reached[name]["seconds"],
            )
        )
        chosen, total = [], 0.0
        for name in names:
            if not chosen or total + reached[name]["seconds"] <= self.seconds_each:
                total += reached[name]["seconds"]
                chosen.append(name)
        # Whichever test has noticed most faults for its time has its turn before the others.
        return sorted(
            chosen, key=lambda name: reached[name]["seconds"] * (2 + self.ran[name]) / (1 + self.noticed[name])
        )

    def _compiles(self, mutant: Mutant) -> bool:
        return self.imported.compiles_anew(PACKAGE / mutant.file, mutant.function)

    # ------------------------------------------------------------ one mutant

    def _judge(self, mutant: Mutant, items: dict[str, pytest.Item], reached: dict[str, dict]) -> dict:
        known = {"name": mutant.name, **asdict(mutant)}
        names = self._tests_for(mutant, items, reached)
        if not names:
            return {**known, "outcome": UNREACHED, "tests": 0}
        tests = [(items[name], reached[name]["seconds"], reached[name]["sets_up"]) for name in names]
        status, seconds, last = self._in_child(lambda say: self._run(mutant, tests, say))
        outcome = OUTCOMES.get(status, CRASHED)
        if status == NOT_PUT_IN:
            return {**known, "outcome": outcome, "tests": 0}
        self.ran.update(names[: last + 1])
        by = names[last] if outcome != SURVIVED else None
        self.noticed.update([by] if by else [])
        return {**known, "outcome": outcome, "tests": len(names), "seconds": round(seconds, 2), "by": by}

    def _run(self, mutant: Mutant, tests: list[tuple[pytest.Item, float, bool]], say: Callable[[int], None]) -> int:
        try:
            is_in = self.imported.put_in(PACKAGE / mutant.file, mutant.number)
        except ValueError:
            is_in = False
        if not is_in:
            return NOT_PUT_IN
        more = MORE_SECONDS_TO_COMPILE if self._compiles(mutant) else MORE_SECONDS
        for place, (item, seconds, sets_up) in enumerate(tests):
            say(place)
            self._forget(item, sets_up)
            end = int(time.process_time() + more + 5.0 * seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
            following = tests[place + 1][0] if place + 1 < len(tests) else None
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return 1
        return 0

    def _in_child(self, work: Callable[[Callable[[int], None]], int]) -> tuple[int, float, int]:
        """(exit code, or minus the signal that ended it; seconds of processor time; the last number that it said)."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = mmap.mmap(-1, 8)  # which a child shares
        child = os.fork()
        if not child:
            status = 2
            with contextlib.suppress(BaseException):
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                nowhere = os.open(os.devnull, os.O_RDWR)
                os.dup2(nowhere, 1)
                os.dup2(nowhere, 2)
                status = work(lambda number: said.__setitem__(slice(8), number.to_bytes(8)))
            os._exit(status)
        _, code = os.waitpid(child, 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return os.waitstatus_to_exitcode(code), seconds, int.from_bytes(said[:])
