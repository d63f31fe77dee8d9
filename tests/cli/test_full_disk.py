"""No space left on the disk: each output says so and ends with exit code 1, and what was there before stays."""

import os
import resource
import signal
import sys
from pathlib import Path

import pytest

import mercer as library
from mercer.cli import run
from tests.io.test_replace_file import child, ended, names

FULL = "/dev/full"


@pytest.fixture
def trained(files, mercer, tmp_path):
    """A model in an empty folder."""
    code, _, err = mercer("train", files / "iris.csv", "--target", "species", "--output", "iris.mercer")
    assert code == 0, err
    return tmp_path / "iris.mercer"


def outcome(folder, arguments, largest=None, out=None):
    """(exit code, standard error) of the command in a process whose files cannot be larger than `largest` bytes."""
    said = folder / "said"

    def work():
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 2)
        sys.stderr = os.fdopen(2, "w", buffering=1)
        if out is not None:
            os.dup2(os.open(out, os.O_WRONLY), 1)
        sys.stdout = os.fdopen(1, "w")
        if largest is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
        code = run([str(argument) for argument in arguments])
        sys.stderr.flush()
        os._exit(code)

    with child(work) as pid:
        code = ended(pid)
    words = said.read_text()
    said.unlink()
    return code, words


def test_a_model_is_not_replaced_by_half_of_one(trained, files):
    before = trained.read_bytes()
    arguments = ["train", files / "iris.csv", "--target", "species", "--output", trained]
    code, words = outcome(trained.parent, arguments, largest=2_000)
    assert code == 1
    assert words.endswith(f"mercer: {trained}: File too large\n")
    assert trained.read_bytes() == before
    assert names(trained.parent) == [trained.name]
    assert library.load(trained).n_features_in_ == 4


def test_a_report_that_does_not_fit_leaves_the_model(trained, files):
    page, model = trained.parent / "report.html", trained.parent / "new.mercer"
    page.write_text("the old report")
    largest = 2 * trained.stat().st_size
    arguments = ["train", files / "iris.csv", "--target", "species", "--output", model, "--report", page]
    code, words = outcome(trained.parent, arguments, largest=largest)
    assert code == 1
    assert words.endswith(f"mercer: {page}: File too large\n")
    assert page.read_text() == "the old report"
    assert library.load(model).n_features_in_ == 4


def test_predictions_are_replaced_as_a_whole(trained, files):
    target = trained.parent / "said.csv"
    target.write_text("old")
    code, words = outcome(trained.parent, ["predict", trained, files / "iris.csv", "--output", target], largest=500)
    assert code == 1
    assert words == f"mercer: {target}: File too large\n"
    assert target.read_text() == "old"
    assert sorted(names(trained.parent)) == ["iris.mercer", "said.csv"]


@pytest.mark.skipif(not Path(FULL).exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "DATA", "--target", "species", "--json"],
        ["predict", "MODEL", "DATA"],
        ["predict", "MODEL", "DATA", "--json"],
        ["evaluate", "MODEL", "DATA", "--json"],
        ["inspect", "MODEL", "--json"],
        ["version"],
    ],
    ids=" ".join,
)
def test_standard_output_to_a_full_disk(arguments, trained, files, monkeypatch):
    monkeypatch.chdir(trained.parent)
    given = [{"MODEL": trained, "DATA": files / "iris.csv"}.get(one, one) for one in arguments]
    code, words = outcome(trained.parent, given, out=FULL)
    assert code == 1
    assert words.endswith("mercer: standard output: No space left on device\n")


@pytest.mark.skipif(not Path(FULL).exists(), reason="this system has no /dev/full")
def test_a_device_is_no_place_for_a_model(trained, files):
    arguments = ["train", files / "iris.csv", "--target", "species", "--output", FULL]
    code, words = outcome(trained.parent, arguments)
    assert code == 1
    assert "/dev/full: only a file can be replaced, not a device or a pipe" in words
