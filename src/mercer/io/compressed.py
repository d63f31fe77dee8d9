"""Open a file that may be compressed, by its ending."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, cast

OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


def open_bytes(path: str | PathLike[str]) -> IO[bytes]:
    """The uncompressed bytes of a file, to be read from the beginning."""
    return cast(Callable[..., IO[bytes]], OPENERS.get(Path(path).suffix.lower(), open))(path, "rb")
