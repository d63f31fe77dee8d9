"""How long one waits before anything happens: import, help, a command, the first fit, the first ever."""

import json
import os
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
import time; start = time.perf_counter()
import mercer
print(time.perf_counter() - start)
"""
FIRST_FIT = """
import time, numpy as np
from mercer import SVC
X = np.random.default_rng(0).normal(size=(1000, 20)); y = np.sign(X[:, 0] + 0.1)
start = time.perf_counter()
SVC(C=1.0, gamma=0.05).fit(X, y)
print(time.perf_counter() - start)
"""
GOALS = {
    "import mercer": 0.15,
    "mercer --help": 0.3,
    "mercer train, over its fit": 1.5,
    "first fit, warm disk cache": 1.0,
    "first fit ever": 8.0,
}


def startup_race(options):
    """Each wait beside its goal; the minimum of the repeats, but for the first ever."""
    with tempfile.TemporaryDirectory() as folder:
        # An empty cache is filled by the first fit ever, and is the warm one afterwards.
        ever, said = first_fit(folder)
        found = {
            "import mercer": min(in_child(IMPORT)[0] for _ in range(options.repeats)),
            "mercer --help": min(help_seconds() for _ in range(options.repeats)),
            "mercer train, over its fit": train_overhead(Path(folder), options.repeats),
            "first fit, warm disk cache": min(first_fit(folder)[0] for _ in range(options.repeats)),
            "first fit ever": ever,
        }
    rows = [
        (what, seconds(taken), GOALS[what], "yes" if taken <= GOALS[what] else "NO") for what, taken in found.items()
    ]
    print(table(("start-up", "seconds", "goal", "held"), rows))
    print(f"the first fit ever says: {said.strip() or '(nothing)'}")
    return [{"what": what, "seconds": taken, "goal": GOALS[what]} for what, taken in found.items()]


def first_fit(cache_folder):
    """Seconds of the first fit after imports, and what it said on standard error."""
    return in_child(FIRST_FIT, MERCER_CACHE_DIR=cache_folder)


def in_child(code, **variables):
    """The number that `code` prints in a new Python process, and its standard error."""
    done = _run([sys.executable, "-c", code], **variables)
    return float(done.stdout), done.stderr


def help_seconds():
    """Seconds of the whole `mercer --help`, process included."""
    start = time.perf_counter()
    _run([*_command(), "--help"])
    return time.perf_counter() - start


def train_overhead(folder, repeats):
    """Seconds of the whole `mercer train` on 150 rows of a CSV file less those of its fit, with warm caches."""
    rows = np.round(np.random.default_rng(SEED).normal(size=(150, 4)), 3)
    lines = [f"{','.join(map(str, row))},{'abc'[k % 3]}" for k, row in enumerate(rows)]
    (folder / "made.csv").write_text("\n".join(["p,q,r,s,kind", *lines]))
    files = [str(folder / "made.csv"), "--target", "kind", "--output", str(folder / "made.mercer")]
    return min([_train_once(files) for _ in range(repeats + 1)][1:])


def _train_once(files):
    start = time.perf_counter()
    # Empty means no: the bytecode of the package is kept, as it is where a package is installed.
    done = _run([*_command(), "train", *files, "--json"], PYTHONDONTWRITEBYTECODE="")
    return time.perf_counter() - start - json.loads(done.stdout)["seconds"]["fit"]


def _command():
    script = shutil.which("mercer", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-c", "from mercer.cli import main; main()"]


def _run(command, **variables):
    search = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(  # noqa: S603 - the commands above, nothing from outside
        command, env={**os.environ, "PYTHONPATH": search, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed:\n{done.stderr}")
    return done
