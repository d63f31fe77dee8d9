"""The page of the transcript is what the commands print."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "docs" / "make_transcript.py"
PAGE = (ROOT / "docs" / "transcript.md").read_text()


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


def test_the_page_has_every_command_of_the_script_in_its_order(script):
    commands = [command for _, _, block in script["SECTIONS"] for command, _ in block]
    places = [PAGE.index(f"$ {command}\n") for command in commands]
    assert places == sorted(places)
    assert PAGE.count("```console") == len(commands)


def test_five_kinds_of_data_are_trained(script):
    for words in ("digits.csv", "notes", "ferries.csv", "sentences.trees", "rings", "points.svm"):
        assert words in PAGE
    for command in ("demo", "train", "predict", "evaluate", "tune", "inspect", "convert", "compare"):
        assert f"mercer {command}" in PAGE


def test_only_times_and_last_digits_may_differ(script):
    same = script["comparable"]
    assert same("a 0.12345\n  time to fit 3 s") == same("a 0.12349\n  time to fit 9 s")
    assert same("from 202 rows in 1.4 s, 9 support vectors") == same("from 202 rows in 0.62 s, 9 support vectors")
    assert same("accuracy 91.2%") != same("accuracy 94.2%")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_page_is_what_the_commands_print_now():
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], check=False)
    assert done.returncode == 0, "run `python docs/make_transcript.py`"
