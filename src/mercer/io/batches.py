"""Choosing the reader of batches for a path."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mercer._errors import ParameterError
from mercer.io.blocks.blocks import Blocks
from mercer.io.compressed import OPENERS
from mercer.io.svmlight.file import SvmlightFile

SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".txt", ".dat")
ARROW = (".parquet", ".arrow", ".feather", ".ipc")


def open_batches(source: str | Path | Iterable[Any]) -> Iterable[Any]:
    """Batches from a path, by its extension; anything else must be iterable and is returned unchanged."""
    if not isinstance(source, (str, Path)):
        if not hasattr(source, "__iter__"):
            raise ParameterError(f"batches must be an iterable of (X, y), or a path, got {type(source).__name__}")
        return source
    ending = Path(source).suffix.lower()
    if ending in OPENERS:
        ending = Path(Path(source).stem).suffix.lower()
    if ending in SVMLIGHT:
        return SvmlightFile(source)
    if ending in ARROW:
        return Blocks(source, target="y")
    allowed = ", ".join((*SVMLIGHT, *ARROW))
    raise ParameterError(
        f"the path must end in one of {allowed}, got {str(source)!r}; open it with a reader of mercer.io"
    )
