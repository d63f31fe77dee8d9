"""Which format a file has: by its first bytes, then by its name, then by its first line."""

import re
import zipfile
from typing import TYPE_CHECKING, cast

from mercer._errors import DataError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from mercer.io.source import Source

FORMATS = ("csv", "parquet", "arrow", "jsonl", "svmlight", "sqlite", "duckdb", "texts", "trees", "graphs")
_ENDINGS = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv",
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
    ".trees": "trees", ".mrg": "trees", ".ptb": "trees", ".brackets": "trees",
}  # fmt: skip
_SVMLIGHT = re.compile(rb"[+-]?[\d.]+(e[+-]?\d+)?[ \t]+(qid:\d+[ \t]+)?\d+:[+-]?[\d.]", re.IGNORECASE)
_TREE = re.compile(rb"[^\s()]*[ \t]*\(")
_KNOWN = "CSV, Parquet, Arrow, JSON lines, svmlight, SQLite, DuckDB, bracketed trees, a folder of texts or TU graphs"


def recognise(source: "Source") -> str:
    """The format of a `Source`, one of FORMATS."""
    if source.is_folder:
        return _of_folder(source)
    head = source.head()
    if not head.strip():
        raise DataError(f"{source.name}: the file is empty")
    return _by_magic(source, head) or _by_name_or_content(source, head)


def require_format(name: str | None) -> None:
    """Refuse a format that nobody knows."""
    if name is not None and name not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}, got {name!r}")


def _of_folder(source: "Source") -> str:
    if any(cast("Path", source.path).glob("*_A.txt")):
        return "graphs"
    if not any(cast("Path", source.path).iterdir()):
        raise DataError(f"{source.name}: the folder is empty")
    return "texts"


def _by_magic(source: "Source", head: bytes) -> str | None:
    """By bytes that only one format begins with."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    if head.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if head.startswith(b"PK\x03\x04") and _holds_graphs(source):
        return "graphs"
    return None


def _holds_graphs(source: "Source") -> bool:
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            return any(name.endswith("_A.txt") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def _by_name_or_content(source: "Source", head: bytes) -> str:
    named = _ENDINGS.get(source.ending)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{source.name}: is UTF-16; save it as UTF-8")
    if b"\0" in head or named in ("parquet", "arrow"):
        expected = {"parquet": "a Parquet file", "arrow": "an Arrow file"}.get(cast(str, named), _KNOWN)
        kind = "binary file" if b"\0" in head else "file"
        raise DataError(f"{source.name}: {expected} was expected, got a {kind} of no known format")
    return named or _by_first_line(head.lstrip(b"\xef\xbb\xbf").lstrip())


def _by_first_line(text: bytes) -> str:
    if text.startswith(b"{"):
        return "jsonl"
    if _SVMLIGHT.match(text):
        return "svmlight"
    return "trees" if _TREE.match(text) else "csv"
