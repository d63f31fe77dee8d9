"""Whether data must be read block by block: decided before anything large is imported or read."""

from pathlib import Path

from mercer._jit.memory import available_bytes, parse_bytes
from mercer.io.formats import recognise
from mercer.io.source import Source

_ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".csv", ".tsv", ".tab", ".svm", ".svmlight", ".libsvm")
_PACKED = (".gz", ".xz", ".bz2")
# Bytes of memory that a byte of a file may become: text as numbers and as rows; packed columns.
_GROWTH = {"csv": 2.0, "svmlight": 2.0, "parquet": 4.0, "arrow": 2.0}
# Less than the smallest block takes, a thousand rows or so of one number: learning by blocks is impossible.
_NO_BLOCK = 2**15


def why_out_of_core(source: str, memory_limit: int | str | None, format: str | None = None) -> str | None:  # noqa: A002
    """Why data must be read block by block, in a few words; None if they can be read at once, or if the limit leaves no
    room even for a block: the reader then says what is too large."""
    path = Path(source)
    if source == "-" or not path.exists():
        return None
    if path.is_dir():
        return "a folder of files" if _holds_blocks(path) else None
    if not path.is_file() or any(path.name.lower().endswith(packed) for packed in _PACKED):
        return None
    limit = available_bytes() if memory_limit is None else parse_bytes(memory_limit)
    if limit < _NO_BLOCK or path.stat().st_size * max(_GROWTH.values()) <= limit:
        return None
    kind = format or recognise(Source(path, limit))
    is_large = kind in _GROWTH and path.stat().st_size * _GROWTH[kind] > limit
    return f"too large to read all at once in {limit / 2**20:,.0f} MiB" if is_large else None


def _holds_blocks(folder: Path) -> bool:
    files = [each for each in folder.iterdir() if not each.name.startswith((".", "_"))]
    return bool(files) and all(each.is_file() and _ending(each) in _ENDINGS for each in files)


def _ending(path: Path) -> str:
    return Path(path.stem).suffix.lower() if path.suffix.lower() in _PACKED else path.suffix.lower()
