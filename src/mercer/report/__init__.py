"""What is to be said of a fitted model: as a record for programs, and as a page for people.

``from mercer.report import Record, machine_of, write_page``; the command and the studio both use this room.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "Record": "mercer.report.record",
    "describe_model": "mercer.report.model_words",
    "machine_of": "mercer.report.model_words",
    "page": "mercer.report.html_page",
    "score": "mercer.report.scores",
    "write_page": "mercer.report.html_page",
}

__all__ = sorted(_HOME)  # noqa: PLE0605  (the index is the list)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mercer.report' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
