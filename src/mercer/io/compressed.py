"""Open a file that may be compressed, judging by its extension."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, cast

OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


def open_bytes(path: str | PathLike[str]) -> IO[bytes]:
    """The uncompressed bytes of a file, from the beginning."""
    return cast(Callable[..., IO[bytes]], OPENERS.get(Path(path).suffix.lower(), open))(path, "rb")
