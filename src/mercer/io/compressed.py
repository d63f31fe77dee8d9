"""Open a file that may be compressed, by its ending."""

import bz2
import gzip
import lzma
from pathlib import Path

OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


def open_bytes(path):
    """The uncompressed bytes of a file, to be read from the beginning."""
    return OPENERS.get(Path(path).suffix.lower(), open)(path, "rb")
