"""What there is to say about a fitted model: as a record for programs, and as a page for people.

``from mercer.report import Record, final_estimator, write_page``; the command and the Studio both use this package.
"""

from typing import Any

from mercer._lazy import load

_INDEX = {
    "Record": "record",
    "describe_model": "model_words",
    "final_estimator": "model_words",
    "page": "html_page",
    "score": "scores",
    "write_page": "html_page",
}

__all__ = sorted(_INDEX)  # noqa: PLE0605  (the index is the list)


def __getattr__(name: str) -> Any:
    return load(globals(), _INDEX, name)
