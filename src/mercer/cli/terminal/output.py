"""Words for people, on standard error; lines, JSON and files for programs. NO_COLOR is rich's own affair."""

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

# Where the second of two columns begins.
_INDENT, _NAMES = 2, 18


def console() -> Console:
    """Where words for people go."""
    return Console(stderr=True, highlight=False)


def say(words: str, style: str = "dim", indent: int = 0) -> None:
    """One sentence, wrapped at words where there is a width to keep to."""
    print_text(console(), Text(words, style=style), indent)


def print_text(out: Console, text: Text, indent: int = 0) -> None:
    """Text, wrapped at words on a terminal (or at COLUMNS if that is set); one line in a file or a pipe."""
    if has_width(out):
        # Not padded with blanks to the width: they would be copied too.
        out.print(Padding(text, (0, 0, 0, indent), expand=False) if indent else text)
    else:
        out.print(Text(" " * indent).append(text), soft_wrap=True)


def print_row(out: Console, name: str, value: Any) -> None:
    """A name and what there is to say about it; lines after the first are indented to the words."""
    value = value if isinstance(value, Text) else Text(str(value))
    if not has_width(out):
        out.print(Text(f"{' ' * _INDENT}{name:<{_NAMES}}", style="dim").append(value), soft_wrap=True)
        return
    grid = Table.grid()
    grid.add_column(width=_INDENT + _NAMES, no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    grid.add_row(Text(f"{' ' * _INDENT}{name:.{_NAMES - 1}}", style="dim"), value)
    out.print(grid)


def say_rows(title: str, rows: Sequence[tuple[str, Any]], to_stdout: bool = False) -> None:
    """A title, and names with what there is to say about each; on standard output if that is what was asked for."""
    out = Console(highlight=False) if to_stdout else console()
    print_text(out, Text(title, style="bold"))
    for name, value in rows:
        print_row(out, name, value)


def has_width(out: Console) -> bool:
    """Whether there is a width to keep to."""
    return out.is_terminal or "COLUMNS" in os.environ


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
