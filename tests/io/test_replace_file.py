"""A model file is there as a whole or not at all: killed, without space, without permission."""

import contextlib
import errno
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer import SVC, KernelDensity
from mercer.io.replace_file import replace_file

NOBODY = 65534


@pytest.fixture(scope="module")
def models():
    """Two models that differ in size, and what they say of three points."""
    rows = np.random.default_rng(1).normal(size=(400, 20))
    old, new = KernelDensity(bandwidth=2.0).fit(rows[:60]), KernelDensity(bandwidth=3.0).fit(rows)
    return old, new, rows[:3]


@contextlib.contextmanager
def child(work):
    """A process that does `work` and says by its exit code whether that raised; yields its id."""
    with warnings.catch_warnings():
        # Newer Pythons warn of threads, which have nothing to do with what the child does.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - nothing may leave the child but its exit code
            traceback.print_exc()
        os._exit(code)
    yield pid


def names(folder):
    return [file.name for file in folder.iterdir()]


def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill_while_saving(models, path, moments):
    """Kill processes that save over and over; every time the old or the new model loads."""
    old, new, points = models
    answers = [model.score_samples(points) for model in (old, new)]
    mercer.save(old, path)
    found = []

    def save_for_ever(begun):
        while True:
            mercer.save(new, path)
            os.write(begun, b".")
            mercer.save(old, path)

    for moment in moments:
        ready, begun = os.pipe()
        with child(lambda begun=begun: save_for_ever(begun)) as pid:
            os.read(ready, 1)
            time.sleep(moment)
            os.kill(pid, signal.SIGKILL)
            assert ended(pid) == -signal.SIGKILL
        os.close(ready)
        os.close(begun)
        said = mercer.load(path).score_samples(points)
        matches = [np.array_equal(said, answer) for answer in answers]
        assert any(matches)
        found.append(matches.index(True))
    return found


def test_killed_at_random_moments(models, tmp_path):
    moments = np.random.default_rng(0).uniform(0.0, 0.04, 25)
    found = kill_while_saving(models, tmp_path / "m.mercer", moments)
    assert set(found) == {0, 1}


@pytest.mark.slow
def test_killed_at_two_hundred_random_moments(models, tmp_path):
    moments = np.random.default_rng(7).uniform(0.0, 0.1, 200)
    assert set(kill_while_saving(models, tmp_path / "m.mercer", moments)) == {0, 1}


def left_by_a_killed_writer(path):
    """The temporary file of a process that is killed while it writes to `path`; it looks old enough to be let go."""

    def write():
        replace_file(path, [b"half"], check=lambda _: time.sleep(60))

    before = set(path.parent.iterdir())
    with child(write) as pid:
        while not (found := [file for file in set(path.parent.iterdir()) - before if file.stat().st_size == 4]):
            time.sleep(0.01)
        os.utime(found[0], (0, 0))
        # As long as its writer lives, nobody else removes it.
        replace_file(path.with_name("other"), [b"whole"])
        assert found[0].exists()
        os.kill(pid, signal.SIGKILL)
        ended(pid)
    return found[0]


def test_what_a_killed_process_leaves_is_removed_by_the_next(tmp_path):
    left = left_by_a_killed_writer(tmp_path / "m")
    (tmp_path / ".mine.part").write_bytes(b"not ours")
    replace_file(tmp_path / "n", [b"new"])
    assert not left.exists()
    assert sorted(names(tmp_path)) == [".mine.part", "n", "other"]


def test_a_temporary_file_that_was_just_made_is_left_alone(tmp_path):
    """Its writer may not have locked it yet."""
    young = tmp_path / ".m.0123456789ab.mercer-part"
    young.write_bytes(b"")
    replace_file(tmp_path / "m", [b"new"])
    assert young.exists()
    os.utime(young, (0, 0))
    replace_file(tmp_path / "m", [b"newer"])
    assert names(tmp_path) == ["m"]


def test_no_space_left(models, tmp_path):
    """A limit on the size of files stands for a full disk: the write fails half-way."""
    old, new, points = models
    path = tmp_path / "m.mercer"
    mercer.save(old, path)

    def save():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
        with pytest.raises(OSError, match="too large"):
            mercer.save(new, path)
        assert names(tmp_path) == ["m.mercer"]

    with child(save) as pid:
        assert ended(pid) == 0
    assert np.array_equal(mercer.load(path).score_samples(points), old.score_samples(points))


@pytest.mark.parametrize("name", ["fsync", "open"])
def test_an_error_of_the_disk(name, models, tmp_path, monkeypatch):
    old, new, points = models
    path = tmp_path / "m.mercer"
    mercer.save(old, path)

    def broken(*_args, **_keywords):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, name, broken)
        with pytest.raises(OSError, match="Input/output error"):
            mercer.save(new, path)
    assert names(tmp_path) == ["m.mercer"]
    assert np.array_equal(mercer.load(path).score_samples(points), old.score_samples(points))


def test_no_permission(models):
    old, new, _ = models
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    mercer.save(old, folder / "m.mercer")
    mercer.save(old, folder / "secret.mercer")
    (folder / "secret.mercer").chmod(0o000)
    folder.chmod(0o555)

    def try_it():
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        with pytest.raises(PermissionError):
            mercer.save(new, folder / "m.mercer")
        with pytest.raises(PermissionError):
            mercer.save(new, folder / "other.mercer")
        with pytest.raises(PermissionError):
            mercer.load(folder / "secret.mercer")

    try:
        with child(try_it) as pid:
            assert ended(pid) == 0
        assert mercer.load(folder / "m.mercer").bandwidth == 2.0
    finally:
        folder.chmod(0o755)
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def test_a_model_that_would_not_load_does_not_replace_one(models, tmp_path):
    old, _, points = models
    mercer.save(old, tmp_path / "m")
    strange = KernelDensity(bandwidth=3.0).fit(np.ones((4, 2)))
    strange.n_features_in_ = 5
    with pytest.raises(mercer.ModelFileError, match="features"):
        mercer.save(strange, tmp_path / "m")
    assert names(tmp_path) == ["m"]
    assert np.array_equal(mercer.load(tmp_path / "m").score_samples(points), old.score_samples(points))


def test_what_is_flushed_and_in_which_order(tmp_path, monkeypatch):
    """The file before it gets its name, the folder after."""
    events = []
    flush, rename = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append(Path(f"/proc/self/fd/{fd}").resolve().name), flush(fd)))
    monkeypatch.setattr(Path, "replace", lambda own, to: (events.append("rename"), rename(own, to)))
    replace_file(tmp_path / "m", [b"x"])
    assert events[0].endswith(".mercer-part")
    assert events[1:] == ["rename", tmp_path.name]


def test_permissions_and_links_stay(tmp_path):
    (tmp_path / "m").write_bytes(b"old")
    (tmp_path / "m").chmod(0o640)
    (tmp_path / "link").symlink_to("m")
    replace_file(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "m").read_bytes() == b"new"
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o640


def test_only_files_are_replaced(toy, tmp_path):
    model = SVC().fit(*toy)
    with pytest.raises(IsADirectoryError):
        mercer.save(model, tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="only a file"):
        mercer.save(model, tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        mercer.save(model, tmp_path / "nowhere" / "m.mercer")


def test_a_mapped_model_outlives_a_newer_one_of_its_name(tmp_path):
    rows = np.random.default_rng(2).normal(size=(200, 30))
    model = KernelDensity(bandwidth=2.0).fit(rows)
    mercer.save(model, tmp_path / "m")
    mapped = mercer.load(tmp_path / "m", mapped=True)
    mercer.save(KernelDensity(bandwidth=3.0).fit(rows[:50]), tmp_path / "m")
    assert np.array_equal(mapped.score_samples(rows[:9]), model.score_samples(rows[:9]))
