"""Compiled code on disk may be missing, damaged or someone else's: it is compiled again."""

import gc
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from mercer._jit import compile as compiling
from mercer._jit.compile import jit, jit_in_order


def doubled(x):
    return x + x


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_DIRECTORY", tmp_path)
    return tmp_path


def files(folder, ending):
    return sorted(folder.rglob(f"*.{ending}"))


def test_code_is_kept_for_each_type_and_found_again(folder):
    first = jit(doubled)
    assert (first(2), first(2.5)) == (4, 5.0)
    assert len(files(folder, "nbc")) == 2
    second = jit(doubled)
    assert (second(2), second(2.5)) == (4, 5.0)
    assert sum(second.stats.cache_hits.values()) == 2


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("text", [b"", b"\x80", b"not what it should be"], ids=["empty", "cut short", "wrong"])
def test_a_damaged_file_is_replaced(folder, ending, text):
    jit(doubled)(2)
    (damaged,) = files(folder, ending)
    damaged.write_bytes(text)
    assert jit(doubled)(2) == 4
    healed = jit(doubled)
    assert healed(2) == 4
    assert sum(healed.stats.cache_hits.values()) == 1


def test_code_for_other_types_is_never_used(folder):
    """Two processes that number their files at once can leave one type's code under another's name."""
    function = jit(doubled)
    function(2)
    function(2.5)
    one, other = files(folder, "nbc")
    one_bytes, other_bytes = one.read_bytes(), other.read_bytes()
    one.write_bytes(other_bytes)
    other.write_bytes(one_bytes)
    swapped = jit(doubled)
    assert (swapped(3), swapped(3.5)) == (6, 7.0)
    assert sum(swapped.stats.cache_hits.values()) == 0


def test_a_folder_that_went_away_does_no_harm(folder):
    function = jit(doubled)
    shutil.rmtree(folder)
    folder.write_text("a file where the folder was")
    assert function(2) == 4


def test_no_space_left_does_no_harm(folder, monkeypatch):
    def full(*_args, **_more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    assert jit(doubled)(2) == 4


def test_without_a_folder_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(compiling, "_DIRECTORY", None)
    function = jit(doubled)
    assert function(2) == 4
    assert function.stats.cache_path is None


@pytest.mark.parametrize("decorate", [jit, jit_in_order])
def test_compiled_code_runs_without_the_interpreter_lock(decorate):
    assert decorate(doubled).targetoptions["nogil"] is True


def cancelling(values):
    total = values[0] * 0
    for k in range(values.shape[0]):
        total += values[k]
    return total


def test_in_order_means_in_order():
    """Big, small, minus big: in this order the small one is lost, whatever the width of a vector."""
    values = np.tile(np.array([1e16, 1.0, -1e16]), 1000)
    total = 0.0
    for value in values:
        total += value
    assert jit_in_order(cancelling)(values) == total


def test_no_garbage_is_looked_for_while_the_compiler_works(folder, monkeypatch):
    seen, load = [], compiling.run_apart
    monkeypatch.setattr(compiling, "run_apart", lambda work: (seen.append(gc.isenabled()), load(work))[1])
    assert gc.isenabled()
    assert jit(doubled)(2) == 4
    assert seen == [False]
    assert gc.isenabled()


def test_compilation_is_announced_once_for_each_version(folder, monkeypatch, capsys):
    monkeypatch.setattr(compiling, "_UNSAID", ["compiling"])
    compiling._announce_compilation()
    compiling._announce_compilation()
    assert capsys.readouterr().err.count("mercer: compiling for this machine") == 1
    monkeypatch.setattr(compiling, "_UNSAID", ["compiling"])  # as in the next process
    compiling._announce_compilation()
    assert capsys.readouterr().err == ""


def test_what_has_been_said_otherwise_is_not_announced_again(folder, monkeypatch, capsys):
    monkeypatch.setattr(compiling, "_UNSAID", ["compiling"])
    compiling.announce_nothing()
    compiling._announce_compilation()
    monkeypatch.setattr(compiling, "_UNSAID", ["compiling"])  # as in the next process
    compiling._announce_compilation()
    assert capsys.readouterr().err == ""


def test_threads_that_wait_for_the_compiler_at_once_count_once(monkeypatch):
    monkeypatch.setattr(compiling, "_COMPILED", [("b", 5.0, 9.0), ("a", 1.0, 3.0), ("c", 6.0, 8.0), ("d", 8.0, 10.0)])
    assert compiling.seconds_compiling() == 7.0
    assert compiling.compiled_here() == ["b", "a", "c", "d"]


def test_the_announcement_says_how_to_get_a_cache(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "_UNSAID", ["compiling"])
    monkeypatch.setattr(compiling, "_DIRECTORY", None)
    compiling._announce_compilation()
    assert "MERCER_CACHE_DIR" in capsys.readouterr().err


def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    program = (
        "import numpy as np\n"
        "from mercer.kernels import Linear\nfrom mercer.kernels.evaluation import tiles\n"
        "K = Linear()(np.eye(600))\n"
        "print(sum(tiles._mirror.stats.cache_hits.values()), sum(tiles._mirror.stats.cache_misses.values()))\n"
    )
    environment = {**os.environ, "MERCER_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.split() for run in runs] == [["0", "1"], ["1", "0"]]
