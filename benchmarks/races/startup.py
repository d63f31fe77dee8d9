"""How long one waits before anything happens: import, help, a command, the first fit, the first ever."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.harness.report import seconds, table
from benchmarks.sets.data import ROOT, SEED

IMPORT = """
import time; start, spent = time.perf_counter(), time.process_time()
import mercer
print(time.perf_counter() - start, time.process_time() - spent)
"""
FIRST_FIT = """
import time, numpy as np
from mercer import {machine}
X = np.random.default_rng(0).normal(size=({rows}, 20)); y = np.sign(X[:, 0] + 0.1)
start, spent = time.perf_counter(), time.process_time()
{machine}().fit(X, y)
print(time.perf_counter() - start, time.process_time() - spent)
"""
# Imports and all, as a script of five lines.
SCRIPT = """
import numpy as np
from {package} import SVC
X = np.random.default_rng(0).normal(size=(100, 20)); y = np.sign(X[:, 0] + 0.1)
SVC().fit(X, y).predict(X)
"""
TRAIN_ROWS = 1_000
# Longer than scikit-learn's own.
BEHIND = 0.5
GOALS = {
    "import mercer": 0.15,
    "mercer --help": 0.3,
    f"mercer train on {TRAIN_ROWS} rows, over its fit": 1.5,
    f"SVC of 100 rows in a new process, over scikit-learn's {BEHIND:+g}": 0.0,
    "first fit, warm disk cache": 1.0,
    "first SVC ever, 1,000 rows": 5.0,
    "first SVC ever, 100 rows": 5.0,
    "first LinearSVC ever": 5.0,
}


def startup_race(options):
    """Each wait beside its goal, on the clock and by the processor; the least of several, but for the first ever."""
    with tempfile.TemporaryDirectory() as folder:
        # An empty cache is filled by the first fit ever, and is the warm one afterwards.
        firsts = [first_fit(Path(folder) / "large", "SVC", 1000)]
        firsts += [first_fit(Path(folder) / "small", "SVC", 100), first_fit(Path(folder) / "linear", "LinearSVC", 1000)]
        warm = Path(folder) / "large"
        found = [
            _least(lambda: in_child(IMPORT)[0], options.repeats),
            _least(lambda: _whole([*_command(), "--help"])[:2], options.repeats),
            _train_overhead(Path(folder), options.repeats),
            _behind_scikit_learn(options.repeats),
            _least(lambda: first_fit(warm, "SVC", 1000)[0], options.repeats),
            *(taken for taken, _ in firsts),
        ]
    rows = [
        (what, seconds(clock), seconds(processor), goal, "yes" if clock <= goal else "NO")
        for (what, goal), (clock, processor) in zip(GOALS.items(), found, strict=True)
    ]
    print(table(("start-up", "seconds", "processor", "goal", "held"), rows))
    print(f"the first fit ever says: {firsts[0][1].strip() or '(nothing)'}")
    names = ("what", "seconds", "processor", "goal", "held")
    return [dict(zip(names, row, strict=True)) for row in rows]


def first_fit(cache, machine, rows):
    """Seconds of the first fit after imports on the clock and of the processor, and what it said on standard error."""
    return in_child(FIRST_FIT.format(machine=machine, rows=rows), MERCER_CACHE_DIR=str(cache))


def in_child(code, **variables):
    """The two numbers that `code` prints in a new Python process, and its standard error."""
    done = _run([sys.executable, "-c", code], **variables)
    return tuple(map(float, done.stdout.split())), done.stderr


def _least(measured, repeats):
    """The least of so many measurements, of the clock and of the processor each for itself."""
    return tuple(np.min([measured() for _ in range(repeats)], axis=0))


def _whole(command, **variables):
    """Seconds of a whole command, process included, on the clock and of the processor; and what it printed."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = _run(command, **variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, spent, done.stdout


def _behind_scikit_learn(repeats):
    """What a script of five lines with Mercer takes longer than with scikit-learn, less what is allowed."""
    both = [[sys.executable, "-c", SCRIPT.format(package=package)] for package in ("mercer", "sklearn.svm")]
    _whole(both[0])  # compiles, where nobody has
    ours, theirs = (_least(lambda script=script: _whole(script)[:2], repeats) for script in both)
    return tuple(np.subtract(ours, theirs) - BEHIND)


def _train_overhead(folder, repeats):
    """Seconds of the whole `mercer train` on a CSV file less those of its fit, with warm caches."""
    rows = np.round(np.random.default_rng(SEED).normal(size=(TRAIN_ROWS, 4)), 3)
    lines = [f"{','.join(map(str, row))},{'abc'[k % 3]}" for k, row in enumerate(rows)]
    (folder / "made.csv").write_text("\n".join(["p,q,r,s,kind", *lines]))
    files = [str(folder / "made.csv"), "--target", "kind", "--output", str(folder / "made.mercer")]
    _train_once(files)
    return _least(lambda: _train_once(files), repeats)


def _train_once(files):
    clock, processor, said = _whole([*_command(), "train", *files, "--json"])
    return clock - json.loads(said)["seconds"]["fit"], processor  # of the whole command, for the fit's is not known


def _command():
    script = shutil.which("mercer", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-c", "from mercer.cli import main; main()"]


def _run(command, **variables):
    search = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    # Empty means no: the bytecode of the package is kept, as it is where a package is installed.
    variables = {"PYTHONPATH": search, "PYTHONDONTWRITEBYTECODE": "", **variables}
    done = subprocess.run(  # noqa: S603 - the commands above, nothing from outside
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed:\n{done.stderr}")
    return done
