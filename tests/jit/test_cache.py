"""Where compiled code is kept, or nowhere, and which sources it is made from."""

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mercer
from mercer._jit import cache
from mercer._jit.cache import COMPILED_ROOMS, cache_directory, cache_root, one_writer, source_digest

PACKAGE = Path(mercer.__file__).parent


@pytest.fixture
def copy(tmp_path):
    """The package's sources, to be changed."""
    shutil.copytree(PACKAGE, tmp_path / "mercer", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "mercer"


def test_the_same_sources_have_the_same_digest(copy):
    assert source_digest(copy) == source_digest()


def test_times_do_not_matter(copy):
    before = source_digest(copy)
    for file in copy.rglob("*.py"):
        os.utime(file, (0, 0))
    assert source_digest(copy) == before


@pytest.mark.parametrize(
    "file", ["_jit/math.py", "kernels/vector/rbf.py", "problems/svm/signed_dual.py", "solvers/dual_qp/pair_steps.py"]
)
def test_a_change_in_a_file_that_compiles_or_is_inlined_changes_the_digest(copy, file):
    before = source_digest(copy)
    changed = copy / file
    changed.write_text(changed.read_text() + "\n")
    assert source_digest(copy) != before


def test_a_file_from_which_a_compiled_one_imports_is_in_the_digest(copy):
    (copy / "kernels" / "constants.py").write_text("WIDTH = 8\n")
    steps = copy / "solvers" / "dual_qp" / "pair_steps.py"
    steps.write_text(steps.read_text() + "\nfrom mercer.kernels import (\n    constants,\n)\n")
    before = source_digest(copy)
    (copy / "kernels" / "constants.py").write_text("WIDTH = 16\n")
    assert source_digest(copy) != before


def test_a_file_that_nothing_compiled_imports_may_change(copy):
    before = source_digest(copy)
    (copy / "kernels" / "new.py").write_text("WIDTH = 8\n")
    (copy / "solvers" / "interior_point.py").write_text("")
    assert source_digest(copy) == before


def test_a_new_a_renamed_and_a_removed_compiled_file_change_the_digest(copy):
    seen = {source_digest(copy)}
    (copy / "kernels" / "new.py").write_text("from mercer._jit.compile import jit\n")
    seen.add(source_digest(copy))
    (copy / "kernels" / "new.py").rename(copy / "kernels" / "newer.py")
    seen.add(source_digest(copy))
    (copy / "kernels" / "items" / "rows.py").unlink()
    seen.add(source_digest(copy))
    assert len(seen) == 4


def test_other_files_do_not_matter(copy):
    before = source_digest(copy)
    (copy / "notes.txt").write_text("anything")
    assert source_digest(copy) == before


def test_a_room_without_code_for_others_may_change(copy):
    before = source_digest(copy)
    (copy / "estimators" / "classify.py").write_text("")
    assert source_digest(copy) == before


def test_all_compiled_code_is_in_the_digest():
    """Numba sees a change in the file of a compiled function, but not in those from which it inlines."""
    compiling = [file for file in PACKAGE.rglob("*.py") if re.search(r"_jit.compile import .*\bjit", file.read_text())]
    assert {file.relative_to(PACKAGE).parts[0] for file in compiling} <= set(COMPILED_ROOMS)


def test_the_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("MERCER_CACHE_DIR", str(tmp_path / "chosen"))
    folder = cache_directory()
    assert folder.parent == tmp_path / "chosen"
    assert folder.is_dir()


def test_else_it_is_where_the_system_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("MERCER_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "mercer"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_root() == tmp_path / ".cache" / "mercer"


def test_a_folder_that_cannot_be_written_is_none(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MERCER_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert cache_directory() is None


def test_a_user_without_a_home_has_none(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("MERCER_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(cache.Path, "home", homeless)
    assert cache_root() is None
    assert cache_directory() is None


def _hold(folder, seconds, entered):
    with one_writer(Path(folder)):
        entered.set()
        time.sleep(seconds)
        (Path(folder) / "written").touch()


def test_writers_wait_for_each_other(tmp_path):
    context = multiprocessing.get_context("spawn")
    entered = context.Event()
    other = context.Process(target=_hold, args=(str(tmp_path), 0.5, entered))
    other.start()
    assert entered.wait(600)
    with one_writer(tmp_path):
        assert (tmp_path / "written").exists()
    other.join()


def test_a_file_system_without_locks_does_without(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError("no locks available")

    monkeypatch.setattr(cache.fcntl, "flock", unsupported)
    with one_writer(tmp_path):
        assert (tmp_path / "lock").exists()


def test_importing_the_package_makes_no_folder(tmp_path):
    chosen = tmp_path / "none"
    subprocess.run(
        [sys.executable, "-c", "import mercer"], env={**os.environ, "MERCER_CACHE_DIR": str(chosen)}, check=True
    )
    assert not chosen.exists()


@pytest.mark.parametrize("module", ["numba.typed.typeddict", "numba.np.arrayobj"])
def test_what_takes_part_in_compiling_alone_is_not_loaded_with_code_on_disk(tmp_path, module):
    program = (
        "import sys, numpy as np\n"
        "from mercer.solvers.class_pairs.solve_pairs import largest_pair, _of_pair\n"
        "assert largest_pair(np.array([0, 1, 3])) == 4\n"
        "assert _of_pair(np.arange(5.0), (1, 2, 3, 5)).tolist() == [1.0, 3.0, 4.0]\n"  # it allocates an array
        f"print({module!r} in sys.modules)\n"
    )
    environment = {**os.environ, "MERCER_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["True", "False"]
