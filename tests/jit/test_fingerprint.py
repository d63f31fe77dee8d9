"""The key of compiled code: what a function is made of, and nothing else."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import typeof

from mercer._jit.compile import jit, jit_in_order
from mercer._jit.fingerprint import argument_layout, fingerprint
from mercer._jit.kept_code import KeptCode

PROGRAM = """
import numpy as np
from mercer._jit.compile import jit
from mercer._jit.math import exp
WIDTH = 8
TABLE = np.arange(3.0)

@jit
def innermost(x):
    return x * WIDTH + TABLE[1]

@jit
def inner(x):
    return innermost(x) + 1

@jit
def outer(x):  # calls what is defined below it
    return inner(x) + last(x)

@jit
def last(x):
    return exp(x)
"""


def mark(tmp_path: Path, text: str = PROGRAM, name: str = "outer") -> str:
    file = tmp_path / "program.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("program", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return fingerprint(getattr(module, name))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("WIDTH = 8", "WIDTH = 16"),
        ("np.arange(3.0)", "np.arange(4.0)"),
        ("x * WIDTH", "WIDTH - x"),
        ("innermost(x) + 1", "innermost(x) + 2"),
        ("return exp(x)", "return np.exp(x)"),
        ("@jit\ndef last", "@jit_in_order\ndef last"),
    ],
)
def test_whatever_a_function_reaches_is_in_its_fingerprint(tmp_path, old, new):
    changed = PROGRAM.replace(old, new).replace("import jit\n", "import jit, jit_in_order\n")
    assert changed != PROGRAM
    assert mark(tmp_path, changed) != mark(tmp_path)


def test_comments_lines_and_neighbours_are_not(tmp_path):
    moved = "# a remark\n\n" + PROGRAM.replace("  # calls what is defined below it", "") + "\nUNUSED = 3\n"
    assert mark(tmp_path, moved) == mark(tmp_path)
    assert mark(tmp_path, PROGRAM.replace("+ 1", "+ 2"), "last") == mark(tmp_path, name="last")


def added(a, b):
    return a + b


def test_permission_to_reorder_sums_is():
    assert fingerprint(jit(added)) != fingerprint(jit_in_order(added))


def test_every_process_finds_the_same(tmp_path):
    program = (
        "from mercer._jit.fingerprint import fingerprint\n"
        "from mercer.solvers.dual_qp.block_steps import solve_plain\n"
        "from mercer.kernels.vector.rbf import _rbf\n"
        "print(fingerprint(solve_plain), fingerprint(_rbf))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout for _ in "12"
    ]
    assert runs[0] == runs[1]


class Before(NamedTuple):
    low: np.ndarray
    high: np.ndarray


class After(NamedTuple):
    high: np.ndarray
    low: np.ndarray


def test_the_order_of_fields_of_an_argument_is_part_of_the_key():
    arrays = np.zeros(1), np.zeros(1)
    kinds = [typeof(kind(*arrays)) for kind in (Before, After)]
    assert argument_layout((kinds[0],)) != argument_layout((kinds[1],))
    assert "low,high" in argument_layout((kinds[0],))


def test_a_copy_of_the_sources_elsewhere_finds_the_code(tmp_path):
    """Numba's own cache knows a function by its path."""
    kept = tmp_path / "kept"
    kept.mkdir()
    for place in ("here", "there"):
        folder = tmp_path / place
        folder.mkdir()
        file = folder / "program.py"
        file.write_text(PROGRAM)
        spec = importlib.util.spec_from_file_location("program", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for function in (module.innermost, module.inner, module.outer, module.last):
            function._cache = KeptCode(function, kept)
        assert module.outer(1.0) == pytest.approx(1.0 * 8 + 1 + 1 + np.exp(1.0))
        shutil.rmtree(folder)
    assert sum(module.outer.stats.cache_hits.values()) == 1
