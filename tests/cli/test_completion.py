"""Completion as a shell does it: the script that is installed, sourced and asked."""

import shutil
import subprocess

import pytest

from mercer.cli import app

BASH = """
source completion
COMP_WORDS=({words}"{last}")
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_mercer mercer "{last}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "last", "offered"),
    [
        ("mercer ", "t", ["train", "tune"]),
        ("mercer train ", "--ta", ["--table", "--target", "--task"]),
        ("mercer train --format ", "par", ["parquet"]),
        *((f"mercer {name} ", "fl", ["flowers.csv"]) for name in ("train", "tune", "preflight", "compare", "convert")),
        *((f"mercer {name} m.mercer ", "fl", ["flowers.csv"]) for name in ("predict", "evaluate", "inspect")),
    ],
)
def test_bash_offers_commands_options_and_files(tmp_path, words, last, offered):
    (tmp_path / "completion").write_text(app.generate_completion(shell="bash"))  # noqa: S604 - the name of one
    (tmp_path / "flowers.csv").touch()
    asked = [shutil.which("bash"), "-c", BASH.format(words=words, last=last)]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600)
    assert sorted(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_scripts_with_every_command(shell):
    script = app.generate_completion(shell=shell)
    assert all(name in script for name in ("train", "predict", "convert", "--target", "--kernel"))
