"""The progress of a fit in a notebook: a bar that is updated in place, where a terminal would get lines.

It is drawn with the notebook's own display and a ``<progress>`` element, which Jupyter, VS Code and Colab show without
any widgets installed.
"""

import re
import sys
import time
from contextlib import suppress
from html import escape
from importlib import import_module
from typing import Any

# Seconds between two updates: more often would be invisible.
BETWEEN = 0.1


def in_notebook() -> bool:
    """Whether output goes to a notebook, as opposed to IPython in a terminal."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return getattr(running, "kernel", None) is not None


class NotebookBar:
    """One bar with a line of words.

    Parameters
    ----------
    name : str
        What is being done.
    """

    def __init__(self, name: str) -> None:
        self._name, self._drawn = name, -BETWEEN
        self._handle: Any = None
        # Popped by the first thread to draw: solvers report from several.
        self._undrawn = ["the bar"]
        self._share: float | None = None
        self._words = ""

    def show(self, share: float | None, words: str) -> None:
        """Move the bar, at most ten times a second; None for an unknown share."""
        self._share, self._words = share, words
        if time.monotonic() - self._drawn >= BETWEEN:
            self._draw(self._share)

    def finish(self, has_ended_well: bool) -> None:
        """Draw the last state: full, or as an error or Ctrl-C left it."""
        if self._handle is not None:
            self._words = re.sub(r", [^,]* left$", "", self._words)
            self._draw(1.0 if has_ended_well else self._share or 0.0)

    def _draw(self, share: float | None) -> None:
        # Imported here: it exists only in a notebook.
        shown = import_module("IPython.display")
        value = "" if share is None else f' value="{share:.3f}"'
        html = shown.HTML(
            f'<div style="font-family:monospace;font-size:0.9em">{escape(self._name)} <progress max="1"{value} '
            f'style="width:14em;vertical-align:middle"></progress> {escape(self._words)}</div>'
        )
        if self._handle is not None:
            self._handle.update(html)
        else:
            with suppress(IndexError):
                self._undrawn.pop()
                self._handle = shown.display(html, display_id=True)
        self._drawn = time.monotonic()
