"""The format of a file: from its first bytes, then its name, then its first line."""

import re
import zipfile
from typing import TYPE_CHECKING, cast

from mercer._errors import DataError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from mercer.io.source import Source

FORMATS = (
    "csv", "xlsx", "ods", "parquet", "arrow", "jsonl", "svmlight", "sqlite", "duckdb", "texts", "trees", "graphs",
)  # fmt: skip
_ENDINGS = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv",
    ".xlsx": "xlsx", ".xlsm": "xlsx", ".ods": "ods",
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
    ".trees": "trees", ".mrg": "trees", ".ptb": "trees", ".brackets": "trees",
}  # fmt: skip
_BINARY = {
    "parquet": "a Parquet file",
    "arrow": "an Arrow file",
    "xlsx": "a spreadsheet (.xlsx)",
    "ods": "a spreadsheet (.ods)",
}
_SVMLIGHT = re.compile(rb"[+-]?[\d.]+(e[+-]?\d+)?[ \t]+(qid:\d+[ \t]+)?\d+:[+-]?[\d.]", re.IGNORECASE)
_TREE = re.compile(rb"[^\s()]*[ \t]*\(")
_ODS = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
_KNOWN = (
    "CSV, .xlsx, .ods, Parquet, Arrow, JSON lines, svmlight, SQLite, DuckDB, bracketed trees, a folder of texts or TU "
    "graphs"
)


def recognise(source: "Source") -> str:
    """The format of a `Source`, one of FORMATS."""
    if source.is_folder:
        return _of_folder(source)
    stored = source.stored_head()
    if not stored.strip():
        raise DataError(f"{source.name}: the file is empty")
    return _by_magic(source, stored) or _by_name_or_content(source, source.head())


def require_format(name: str | None) -> None:
    """Refuse an unknown format."""
    if name is not None and name not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}, got {name!r}")


def _of_folder(source: "Source") -> str:
    if any(cast("Path", source.path).glob("*_A.txt")):
        return "graphs"
    inside = [each for each in cast("Path", source.path).iterdir() if not each.name.startswith((".", "_"))]
    if not inside:
        raise DataError(f"{source.name}: the folder is empty")
    kinds = {_ENDINGS.get(each.suffix.lower()) for each in inside if each.is_file()}
    return "parquet" if kinds == {"parquet"} and all(each.is_file() for each in inside) else "texts"


def _by_magic(source: "Source", head: bytes) -> str | None:
    """From bytes that are distinctive of a format."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    if head.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if head.startswith(b"PK\x03\x04"):
        return "ods" if _ODS in head[:128] else _of_archive(source)
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise DataError(
            f"{source.name}: is an old spreadsheet (.xls), or protected by a password; save it as .xlsx without one"
        )
    return None


def _of_archive(source: "Source") -> str | None:
    """The format of a zip file, from the names in it."""
    try:
        with source.open_stored() as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return None
    if "xl/workbook.bin" in names:
        raise DataError(f"{source.name}: is a binary spreadsheet (.xlsb); save it as .xlsx")
    if "xl/workbook.xml" in names:
        return "xlsx"
    return "graphs" if any(name.endswith("_A.txt") for name in names) else None


def _by_name_or_content(source: "Source", head: bytes) -> str:
    named = _ENDINGS.get(source.ending)
    if not head.strip():
        raise DataError(f"{source.name}: the file is empty")
    zeros = head[0::2].count(0), head[1::2].count(0)
    # One byte of a letter is zero; in a program both often are.
    if max(zeros) > len(head) // 4 and min(zeros) <= len(head) // 100:
        kind = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
        remedy = f"pass encoding={kind!r} (--encoding {kind})"
        raise DataError(f"{source.name}: looks like UTF-16 without a byte order mark; {remedy}")
    if b"\0" in head or named in _BINARY:
        expected = _BINARY.get(cast(str, named), _KNOWN)
        kind = "binary file" if b"\0" in head else "file"
        raise DataError(f"{source.name}: {expected} was expected, got a {kind} of unknown format")
    return named or _by_first_line(head.lstrip(b"\xef\xbb\xbf").lstrip())


def _by_first_line(text: bytes) -> str:
    if text.startswith(b"{"):
        return "jsonl"
    if _SVMLIGHT.match(text):
        return "svmlight"
    return "trees" if _TREE.match(text) else "csv"
