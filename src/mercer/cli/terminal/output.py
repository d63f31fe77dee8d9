"""Words for people, on standard error; lines, JSON and files for programs. NO_COLOR is rich's own affair."""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text


def console() -> Console:
    """Where words for people go."""
    return Console(stderr=True, highlight=False)


def say(words: str, style: str = "dim") -> None:
    """One line."""
    console().print(Text(words, style=style), soft_wrap=True)


def write_json(value: Any) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_line(line: object) -> None:
    """One line for programs on standard output."""
    sys.stdout.write(f"{line}\n")


@contextmanager
def replaced(path: Path) -> Iterator[Any]:
    """A text file that takes the place of `path` as a whole, or not at all."""
    from mercer.io.replace_file import replace_file

    text = io.StringIO(newline="")
    yield text
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [text.getvalue().encode()])
